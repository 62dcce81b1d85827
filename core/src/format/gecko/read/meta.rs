//! What the file says about itself.

use super::super::extension;
use super::super::schema::{Meta, Str, Wide};
use super::repair::Repairs;
use super::rows::{length, moment};
use crate::model::{self, Machine, Nanos, Quality, Spread, Warning};

/// Of a file of our own.
pub(super) fn ours(meta: &extension::Meta) -> model::Meta {
    let warning = |warning: &extension::Warning| Warning {
        code: warning.code.clone(),
        message: warning.message.clone(),
        count: warning.count,
        first: warning.first.clone(),
    };
    model::Meta {
        name: meta.name.clone(),
        command_line: meta.command_line.clone(),
        start_unix_ns: meta.start_unix,
        start_monotonic_ns: meta.start_monotonic,
        recording_start: moment(meta.recording_start),
        recording_end: moment(meta.recording_end),
        interval: length(meta.interval),
        recorder: meta.recorder.clone(),
        machine: Machine {
            os: meta.os.clone(),
            arch: meta.arch.clone(),
            cpu_name: meta.cpu_name.clone(),
            logical_cpus: meta.logical_cpus,
            physical_cpus: meta.physical_cpus,
            memory: meta.memory,
        },
        rustc: meta.rustc.clone(),
        quality: meta.quality.as_ref().map(|quality| Quality {
            ticks: quality.ticks,
            missed_ticks: quality.missed_ticks,
            lost_samples: quality.lost_samples,
            stopped: Nanos(quality.stopped),
            recorder_cpu: Nanos(quality.recorder_cpu),
            stops: quality.stops.map(spread),
            lateness: quality.lateness.map(spread),
        }),
        warnings: meta.warnings.iter().map(warning).collect(),
        extra: meta.extra.clone(),
    }
}

fn spread((median, p99): (i64, i64)) -> Spread {
    Spread { median: Nanos(median), p99: Nanos(p99) }
}

/// Of a file of another tool.
pub(super) fn of_other_tool(meta: &Meta<'_>, repairs: &mut Repairs) -> model::Meta {
    let text = |text: &Option<Str<'_>>| text.as_ref().map(|text| text.0.to_string()).filter(|text| !text.is_empty());
    let interval = meta.interval.and_then(|millis| repairs.nanos(millis, || "meta.interval".to_owned()));
    let interval = interval.filter(|interval| interval.0 > 0);
    if interval.is_none() {
        repairs.note("no-interval", "the time between samples is not given", || "meta.interval".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, reason = "a clock that is beyond i64 ns is clamped")]
    let monotonic = meta.start_monotonic.filter(|ns| ns.is_finite()).map(|ns| ns as i64);
    let count = |count: Option<Wide>| count.and_then(|count| count.0).and_then(|count| u32::try_from(count).ok());
    model::Meta {
        name: text(&meta.product).unwrap_or_default(),
        command_line: text(&meta.arguments).into_iter().collect(),
        start_unix_ns: repairs.optional_time(meta.start_time, || "meta.startTime".to_owned()).map(|time| time.0),
        start_monotonic_ns: monotonic,
        recording_start: repairs.optional_time(meta.profiling_start_time, || "meta.profilingStartTime".to_owned()),
        recording_end: repairs.optional_time(meta.profiling_end_time, || "meta.profilingEndTime".to_owned()),
        interval,
        recorder: text(&meta.imported_from),
        machine: Machine {
            os: text(&meta.oscpu),
            arch: text(&meta.abi),
            cpu_name: text(&meta.cpu_name),
            logical_cpus: count(meta.logical_cpus).filter(|cpus| *cpus > 0),
            physical_cpus: count(meta.physical_cpus).filter(|cpus| *cpus > 0),
            memory: meta.main_memory.and_then(|memory| memory.0),
        },
        rustc: None,
        quality: None,
        warnings: Vec::new(),
        extra: Vec::new(),
    }
}

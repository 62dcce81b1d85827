//! What the file says about itself.

use super::super::extension;
use super::super::old_schema::Meta;
use super::rows::{length, moment, optional_time, wrong};
use crate::format::ReadError;
use crate::format::gecko::number::{Number, Text};
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
pub(super) fn of_other_tool(meta: &Meta, warnings: Vec<Warning>) -> Result<model::Meta, ReadError> {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.0.clone()).filter(|text| !text.is_empty());
    let interval = Nanos::from_millis_f64(meta.interval).filter(|interval| interval.0 > 0);
    let not_positive = || wrong(format_args!("meta.interval"), format_args!("{} is not positive", meta.interval));
    let monotonic = match meta.start_time_as_clock_monotonic_nanoseconds_since_boot {
        Some(Number::Integer(ns)) => Some(ns),
        _ => None,
    };
    Ok(model::Meta {
        name: text(&meta.product).unwrap_or_default(),
        command_line: text(&meta.arguments).into_iter().collect(),
        start_unix_ns: optional_time(meta.start_time, format_args!("meta.startTime"))?.map(|time| time.0),
        start_monotonic_ns: monotonic,
        recording_start: optional_time(meta.profiling_start_time, format_args!("meta.profilingStartTime"))?,
        recording_end: optional_time(meta.profiling_end_time, format_args!("meta.profilingEndTime"))?,
        interval: Some(interval.ok_or_else(not_positive)?),
        recorder: text(&meta.imported_from),
        machine: Machine {
            os: text(&meta.oscpu),
            arch: text(&meta.abi),
            cpu_name: text(&meta.cpu_name),
            logical_cpus: meta.logical_cpus.filter(|cpus| *cpus > 0),
            physical_cpus: meta.physical_cpus.filter(|cpus| *cpus > 0),
            memory: meta.main_memory,
        },
        rustc: None,
        quality: None,
        warnings,
        extra: Vec::new(),
    })
}

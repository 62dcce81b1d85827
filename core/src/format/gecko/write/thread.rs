//! Threads: what they are, their samples with waits among them, their markers.

use super::extension::{finite, float_patch, id, optional_millis, time_patch};
use super::layout::{Layout, row, shows_waits};
use super::samples::{Origin, Row, merge, wait_weight};
use super::shared::index;
use super::{Out, Written, allocation, kept, marker, millis};
use crate::format::gecko::extension::{
    Patch, Samples, Slices, Thread as ThreadExtension, Usage, ValueColumn as ValuesExtension, ValueKind, Waits,
};
use crate::format::gecko::names::{WAIT_REASONS, WEIGHT_UNITS, word};
use crate::format::gecko::number::Exact;
use crate::format::gecko::read::VALUE_COLUMNS;
use crate::format::json_value::Number;
use crate::model::{CpuDelta, OsId, Profile, SampleTable, SliceTable, Thread, ValueColumn, Values, WaitTable};

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct PausedRange<'a> {
    start_time: Option<f64>,
    end_time: Option<f64>,
    reason: &'a str,
}

pub(super) fn write(json: &mut Out<'_>, layout: &mut Layout<'_>, index: usize) -> Written {
    let profile = layout.profile;
    let thread = &profile.threads[index];
    let process = &profile.processes[thread.process.index()];
    let rows = merge(layout, thread);
    let layout = &*layout;
    json.object(None, |json| {
        json.field("name", profile.string(thread.name))?;
        json.field("processName", profile.string(process.name))?;
        json.field("pid", &layout.pids[thread.process.index()])?;
        match &thread.tid {
            OsId::Number(number) => json.field("tid", number)?,
            OsId::Text(text) => json.field("tid", text)?,
        }
        json.field("isMainThread", &layout.main_threads[index])?;
        if !kept::has_thread_key(thread, "processType") {
            json.field("processType", "default")?;
        }
        json.field("processStartupTime", &millis(process.start.unwrap_or_default()))?;
        json.field("processShutdownTime", &optional_millis(process.end))?;
        let first = thread.start.or(process.start).unwrap_or_default();
        json.field("registerTime", &millis(first))?;
        json.field("unregisterTime", &optional_millis(thread.end))?;
        json.column(
            "pausedRanges",
            thread.paused.iter().map(|pause| PausedRange {
                start_time: optional_millis(pause.start),
                end_time: optional_millis(pause.end),
                reason: profile.string(pause.reason),
            }),
        )?;
        if !layout.of_firefox && !kept::has_thread_key(thread, "showMarkersInTimeline") {
            json.field("showMarkersInTimeline", &true)?;
        }
        kept::thread(json, thread, "")?;
        json.object(Some("samples"), |json| samples(json, layout, thread, &rows))?;
        json.object(Some("markers"), |json| marker::write(json, layout, index))?;
        allocation::write(json, profile, thread)?;
        json.field("traceview", &extension(layout, thread, &rows))
    })
}

fn samples(json: &mut Out<'_>, layout: &Layout<'_>, thread: &Thread, rows: &[Row]) -> Written {
    let samples = &thread.samples;
    json.column("stack", rows.iter().map(|row| row.stack))?;
    json.column("time", rows.iter().map(|row| millis(row.time)))?;
    if samples.weight == Values::Ones && !shows_waits(thread) {
        json.field("weight", &())?;
    } else {
        json.column("weight", rows.iter().map(|row| weight(layout, thread, row)))?;
    }
    json.field("weightType", word(&WEIGHT_UNITS, &samples.weight_unit))?;
    if shows_cpu(samples) {
        json.column("threadCPUDelta", rows.iter().map(|row| cpu(samples, row)))?;
    }
    for column in samples.values.iter().filter(|column| in_file(layout.profile, thread, column)) {
        let key = layout.profile.string(layout.profile.value_types[column.value_type.index()].name);
        match &column.values {
            Values::Ones => json.column(key, rows.iter().map(|row| row.sample().map(|_| 1)))?,
            Values::Integer(values) => json.column(key, rows.iter().map(|row| row.sample().map(|row| values[row])))?,
            Values::Float(values) => {
                let value = |row: &Row| row.sample().map(|row| values[row]).filter(|value| !value.is_nan());
                json.column(key, rows.iter().map(value))?;
            }
        }
    }
    kept::thread(json, thread, "samples")?;
    json.field("length", &rows.len())
}

/// Whether the file has a column of its own for a kind of values: one that other tools know, or have known.
fn in_file(profile: &Profile, thread: &Thread, column: &ValueColumn) -> bool {
    let same = |other: &&ValueColumn| other.value_type == column.value_type;
    let first = thread.samples.values.iter().find(same).is_some_and(|first| std::ptr::eq(first, column));
    let value_type = profile.value_types[column.value_type.index()];
    let known = VALUE_COLUMNS.contains(&(profile.string(value_type.name), profile.string(value_type.unit)));
    let finite = !matches!(&column.values, Values::Float(values) if values.iter().any(|value| value.is_infinite()));
    first && known && finite
}

fn weight(layout: &Layout<'_>, thread: &Thread, row: &Row) -> Number {
    match row.origin {
        Origin::Nothing => Number::Integer(0),
        Origin::WaitStart(wait) => {
            let duration = thread.waits.duration[wait as usize];
            Number::Float(wait_weight(duration, layout.interval, thread.samples.weight_unit))
        }
        Origin::Sample(sample) => match &thread.samples.weight {
            Values::Ones => Number::Integer(1),
            Values::Integer(values) => Number::Integer(values[sample as usize]),
            Values::Float(values) => Number::Float(finite(values[sample as usize])),
        },
    }
}

/// A column in which nothing is known has to be left out.
fn shows_cpu(samples: &SampleTable) -> bool {
    samples.cpu.iter().any(|cpu| cpu.get().is_some())
}

/// CPU time of a row. Other tools compare it with the time since the row before, so that it cannot be negative.
fn cpu(samples: &SampleTable, row: &Row) -> Option<i64> {
    match row.origin {
        Origin::Sample(sample) => samples.cpu_of(sample as usize).map(|cpu| cpu.0.max(0)),
        Origin::WaitStart(_) | Origin::Nothing => Some(0),
    }
}

fn extension(layout: &Layout<'_>, thread: &Thread, rows: &[Row]) -> ThreadExtension {
    ThreadExtension {
        process: id(thread.process),
        is_main: thread.is_main,
        timed: thread.timed,
        start: thread.start.map(|time| time.0),
        end: thread.end.map(|time| time.0),
        earlier_names: thread.earlier_names.iter().map(|(time, name)| (time.0, id(*name))).collect(),
        usage: thread.usage.map(|usage| Usage {
            cpu: usage.cpu.0,
            user: usage.user.map(|cpu| cpu.0),
            system: usage.system.map(|cpu| cpu.0),
            run_queue_wait: usage.run_queue_wait.0,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            stopped: usage.stopped.map(|time| time.0),
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
        }),
        samples: samples_extension(layout.profile, thread, rows),
        waits: (!thread.waits.is_empty()).then(|| waits(&thread.waits)),
        slices: (!thread.slices.is_empty()).then(|| slices(&thread.slices)),
        markers: marker::extension(layout, thread),
        native_allocations: allocation::extension(&thread.native_allocations),
        script_allocations: allocation::extension(&thread.script_allocations),
        script_trace: allocation::trace_extension(&thread.script_trace),
        paused: thread
            .paused
            .iter()
            .map(|pause| (pause.start.map(|time| time.0), pause.end.map(|time| time.0), id(pause.reason)))
            .collect(),
        kept: kept::of_thread(thread),
    }
}

fn samples_extension(profile: &Profile, thread: &Thread, rows: &[Row]) -> Samples {
    let samples = &thread.samples;
    let added = (0..).zip(rows).filter(|(_, row)| row.sample().is_none()).map(|(row, _)| row);
    let mut cpu = Patch::default();
    for (row, delta) in (0..).zip(&samples.cpu) {
        if let Some(delta) = delta.get().filter(|delta| delta.0 < 0) {
            cpu.push(row, delta.0);
        }
    }
    Samples {
        added: added.collect(),
        weight_kind: kind(&samples.weight),
        cpu_unknown: !samples.cpu.is_empty() && samples.cpu.iter().all(|cpu| *cpu == CpuDelta::UNKNOWN),
        time: time_patch(samples.time.iter().copied()),
        weight: if let Values::Float(values) = &samples.weight { float_patch(values) } else { Patch::default() },
        cpu,
        values: samples.values.iter().map(|column| value_column(profile, thread, column)).collect(),
        labels: samples.labels.iter().copied().map(index).collect(),
        flags: samples.flags.iter().map(|flags| flags.0).collect(),
    }
}

fn value_column(profile: &Profile, thread: &Thread, column: &ValueColumn) -> ValuesExtension {
    let in_file = in_file(profile, thread, column);
    let (mut integer, mut float) = (Vec::new(), Vec::new());
    match &column.values {
        Values::Integer(values) if !in_file => integer.clone_from(values),
        Values::Float(values) if !in_file => float = values.iter().copied().map(Exact).collect(),
        _ => {}
    }
    ValuesExtension { value_type: id(column.value_type), kind: kind(&column.values), in_file, integer, float }
}

pub(super) const fn kind(values: &Values) -> ValueKind {
    match values {
        Values::Ones => ValueKind::Ones,
        Values::Integer(_) => ValueKind::Integer,
        Values::Float(_) => ValueKind::Float,
    }
}

fn waits(waits: &WaitTable) -> Waits {
    Waits {
        start: waits.start.iter().map(|time| time.0).collect(),
        duration: waits.duration.iter().map(|duration| duration.0).collect(),
        stack: waits.stack.iter().copied().map(index).collect(),
        reason: waits.reason.iter().map(|reason| word(&WAIT_REASONS, reason)).collect(),
        syscall: waits.syscall.iter().copied().map(index).collect(),
        target: waits.target.iter().copied().map(index).collect(),
        inferred: marked(&waits.inferred),
    }
}

/// The rows of a column that are true: few, usually.
fn marked(column: &[bool]) -> Vec<u32> {
    column.iter().enumerate().filter(|(_, marked)| **marked).map(|(index, _)| row(index)).collect()
}

fn slices(slices: &SliceTable) -> Slices {
    Slices {
        start: slices.start.iter().map(|time| time.0).collect(),
        duration: slices.duration.iter().map(|duration| duration.0).collect(),
        name: slices.name.iter().copied().map(id).collect(),
        category: slices.category.iter().copied().map(id).collect(),
        parent: slices.parent.iter().copied().map(index).collect(),
        depth: slices.depth.clone(),
        lane: slices.lane.clone(),
        args: slices.args.iter().copied().map(index).collect(),
        incomplete: marked(&slices.incomplete),
        cpu: slices.cpu.iter().map(|cpu| (cpu.start().map(|at| at.0), cpu.duration().map(|cpu| cpu.0))).collect(),
    }
}

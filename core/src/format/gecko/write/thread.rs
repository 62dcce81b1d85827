//! Threads: what they are, their samples with waits among them, their markers.

use super::extension::{finite, float_patch, id, optional_millis, time_patch};
use super::layout::{Layout, row, shows_waits};
use super::samples::{Origin, Row, merge, wait_weight};
use super::shared::index;
use super::{Out, Written, marker, millis};
use crate::format::gecko::extension::{
    Patch, Samples, Slices, Thread as ThreadExtension, Usage, ValueColumn, ValueKind, Waits,
};
use crate::format::gecko::names::{WAIT_REASONS, WEIGHT_UNITS, word};
use crate::format::gecko::number::{Exact, Number};
use crate::model::{CpuDelta, OsId, SampleTable, SliceTable, Thread, Values, WaitTable};

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
        json.field("processType", "default")?;
        json.field("processStartupTime", &millis(process.start.unwrap_or_default()))?;
        json.field("processShutdownTime", &optional_millis(process.end))?;
        let first = thread.start.or(process.start).unwrap_or_default();
        json.field("registerTime", &millis(first))?;
        json.field("unregisterTime", &optional_millis(thread.end))?;
        json.column::<u32>("pausedRanges", [])?;
        json.field("showMarkersInTimeline", &true)?;
        json.object(Some("samples"), |json| samples(json, layout, thread, &rows))?;
        json.object(Some("markers"), |json| marker::write(json, layout, thread))?;
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
    json.field("length", &rows.len())
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
        samples: samples_extension(&thread.samples, rows),
        waits: (!thread.waits.is_empty()).then(|| waits(&thread.waits)),
        slices: (!thread.slices.is_empty()).then(|| slices(&thread.slices)),
        markers: marker::extension(layout, thread),
    }
}

fn samples_extension(samples: &SampleTable, rows: &[Row]) -> Samples {
    let added = (0..).zip(rows).filter(|(_, row)| !matches!(row.origin, Origin::Sample(_))).map(|(row, _)| row);
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
        values: samples
            .values
            .iter()
            .map(|column| ValueColumn {
                value_type: id(column.value_type),
                kind: kind(&column.values),
                integer: if let Values::Integer(values) = &column.values { values.clone() } else { Vec::new() },
                float: if let Values::Float(values) = &column.values {
                    values.iter().copied().map(Exact).collect()
                } else {
                    Vec::new()
                },
            })
            .collect(),
        labels: samples.labels.iter().copied().map(index).collect(),
        flags: samples.flags.iter().map(|flags| flags.0).collect(),
    }
}

const fn kind(values: &Values) -> ValueKind {
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
    }
}

//! Allocations and traced calls of a thread.

use super::extension::{finite, float_patch, id, time_patch};
use super::layout::row;
use super::shared::index;
use super::thread::kind;
use super::{Out, Written, millis};
use crate::format::gecko::extension::{Allocations, Patch, ScriptTrace as TraceExtension};
use crate::format::gecko::names::{WEIGHT_UNITS, word};
use crate::model::{AllocationTable, Nanos, Profile, ScriptTrace, StringId, Thread, Time, Values};

pub(super) fn write(json: &mut Out<'_>, profile: &Profile, thread: &Thread) -> Written {
    let tables = [("jsAllocations", &thread.script_allocations), ("nativeAllocations", &thread.native_allocations)];
    for (key, table) in tables {
        if !table.is_empty() {
            json.object(Some(key), |json| allocations(json, profile, table))?;
        }
    }
    if !thread.script_trace.is_empty() {
        json.object(Some("jsTracer"), |json| trace(json, &thread.script_trace))?;
    }
    Ok(())
}

fn allocations(json: &mut Out<'_>, profile: &Profile, table: &AllocationTable) -> Written {
    json.column("time", table.time.iter().map(|time| millis(*time)))?;
    match &table.weight {
        Values::Ones => json.column("weight", table.time.iter().map(|_| 1))?,
        Values::Integer(values) => json.column("weight", values)?,
        Values::Float(values) => json.column("weight", values.iter().map(|value| finite(*value)))?,
    }
    json.field("weightType", word(&WEIGHT_UNITS, &table.weight_unit))?;
    json.column("stack", table.stack.iter().copied().map(index))?;
    if !table.address.is_empty() {
        json.column("memoryAddress", &table.address)?;
    }
    if !table.thread.is_empty() {
        json.column("threadId", &table.thread)?;
    }
    let texts = [("className", &table.class), ("typeName", &table.type_name), ("coarseType", &table.coarse_type)];
    for (key, column) in texts {
        if !column.is_empty() {
            let text = |id: &Option<StringId>| id.map(|id| profile.string(id));
            json.column(key, column.iter().map(text))?;
        }
    }
    if !table.in_nursery.is_empty() {
        json.column("inNursery", &table.in_nursery)?;
    }
    json.field("length", &table.len())
}

/// What the columns cannot say.
pub(super) fn extension(table: &AllocationTable) -> Option<Allocations> {
    (!table.is_empty()).then(|| Allocations {
        weight_kind: kind(&table.weight),
        time: time_patch(table.time.iter().copied()),
        weight: if let Values::Float(values) = &table.weight { float_patch(values) } else { Patch::default() },
    })
}

fn trace(json: &mut Out<'_>, trace: &ScriptTrace) -> Written {
    json.column("events", trace.name.iter().map(|name| id(*name)))?;
    json.column("timestamps", trace.start.iter().map(|start| micros(start.0)))?;
    json.column("durations", trace.duration.iter().map(|duration| duration.map(|duration| micros(duration.0))))?;
    json.column("line", &trace.line)?;
    json.column("column", &trace.column)?;
    json.field("length", &trace.len())
}

/// Microseconds, as the reader divides and multiplies them back.
fn micros(ns: i64) -> f64 {
    millis(Time(ns)) * 1e3
}

/// What the columns cannot say.
pub(super) fn trace_extension(trace: &ScriptTrace) -> Option<TraceExtension> {
    if trace.is_empty() {
        return None;
    }
    let read_back = |ns: i64| Time::from_millis_f64(micros(ns) / 1e3).map(|time| time.0);
    let mut extension = TraceExtension { start: Patch::default(), duration: Patch::default() };
    for (index, (start, duration)) in trace.start.iter().zip(&trace.duration).enumerate() {
        if read_back(start.0) != Some(start.0) {
            extension.start.push(row(index), start.0);
        }
        if let Some(Nanos(duration)) = *duration
            && read_back(duration) != Some(duration)
        {
            extension.duration.push(row(index), Some(duration));
        }
    }
    Some(extension)
}

//! Allocations and traced calls of a thread.

use super::super::extension as key;
use super::super::number::Exact;
use super::super::schema::{Allocations, JsTracer, Real, Str, Strings, Wide, stored_numbers};
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, apply, wrong};
use super::samples::{exactly, select, weight_unit};
use super::times::Timed;
use crate::format::ReadError;
use crate::model::{AllocationTable, Nanos, ProfileBuilder, ScriptTrace, StackId, StringId, Time, Values};

pub(super) fn read(
    builder: &mut ProfileBuilder,
    stacks: &Rows<StackId>,
    mut table: Allocations<'_>,
    own: Option<&key::Allocations>,
    at: &str,
    repairs: &mut Repairs,
) -> Result<AllocationTable, ReadError> {
    // Before version 29 the weight was called a duration.
    let weight = table.weight.take().or(table.duration.take()).unwrap_or_default();
    let required = [("time", stored(table.time.as_ref())), ("stack", stored(table.stack.as_ref()))];
    let optional = [
        ("weight", stored_numbers(Some(&weight))),
        ("memoryAddress", stored(table.memory_address.as_ref())),
        ("threadId", stored(table.thread_id.as_ref())),
        ("className", stored(table.class_name.as_deref())),
        ("typeName", stored(table.type_name.as_deref())),
        ("coarseType", stored(table.coarse_type.as_deref())),
        ("inNursery", stored(table.in_nursery.as_ref())),
    ];
    let rows = repairs.rows(at, table.length, &required, &optional);
    let timed = Timed::read(repairs, at, rows, table.time.take(), None);
    for (key, _) in &table.kept {
        let message = "columns of allocations that no version of the format has are left out";
        repairs.note("column-unknown", message, || format!("{at}.{key}"));
    }
    if timed.len() == 0 {
        return Ok(AllocationTable::default());
    }
    let mut allocations = AllocationTable {
        weight_unit: weight_unit(table.weight_type.as_ref().map(|kind| &*kind.0).or(Some("bytes")), at, repairs),
        ..AllocationTable::default()
    };
    for row in timed.file_rows() {
        let stack = entry(table.stack.as_ref(), row);
        allocations.stack.push(repairs.row(stacks, stack, || format!("{at}.stack[{row}]")));
    }
    let wide = |column: &Option<Vec<Wide>>| match column {
        Some(column) => timed.file_rows().map(|row| entry(Some(column), row).0).collect(),
        None => Vec::new(),
    };
    allocations.address = wide(&table.memory_address);
    allocations.thread = wide(&table.thread_id);
    let mut texts = |column: &Option<Strings<'_>>| match column {
        Some(column) => timed.file_rows().map(|row| text(builder, column, row)).collect(),
        None => Vec::new(),
    };
    allocations.class = texts(&table.class_name);
    allocations.type_name = texts(&table.type_name);
    allocations.coarse_type = texts(&table.coarse_type);
    if let Some(column) = &table.in_nursery {
        allocations.in_nursery = timed.file_rows().map(|row| entry(Some(column), row).0).collect();
    }
    match own {
        None => allocations.weight = select(weight, &timed, &format!("{at}.weight"), repairs),
        Some(own) => {
            if timed.rows.is_some() {
                return Err(wrong(
                    format_args!("{at}.time"),
                    "these are not the times that were written with traceview",
                ));
            }
            let rows: Vec<usize> = timed.file_rows().collect();
            allocations.weight = exactly(Some(&weight), own.weight_kind, &rows, format_args!("{at}.weight"))?;
            if let Values::Float(values) = &mut allocations.weight {
                let exact = own.weight.with(own.weight.value.iter().map(|Exact(weight)| *weight).collect());
                apply(&exact, values, format_args!("{at} (traceview).weight"))?;
            }
        }
    }
    allocations.time = timed.time;
    if let Some(own) = own {
        let moments = own.time.with(own.time.value.iter().map(|ns| Time(*ns)).collect());
        apply(&moments, &mut allocations.time, format_args!("{at} (traceview).time"))?;
    }
    Ok(allocations)
}

fn text(builder: &mut ProfileBuilder, column: &[Option<Str<'_>>], row: usize) -> Option<StringId> {
    column.get(row).and_then(Option::as_ref).map(|text| builder.string(&text.0))
}

pub(super) fn trace(
    builder: &mut ProfileBuilder,
    strings: &Rows<StringId>,
    table: &JsTracer<'_>,
    own: Option<&key::ScriptTrace>,
    at: &str,
    repairs: &mut Repairs,
) -> Result<ScriptTrace, ReadError> {
    let required = [("events", stored(table.events.as_ref())), ("timestamps", stored(table.timestamps.as_ref()))];
    let optional = [
        ("durations", stored(table.durations.as_ref())),
        ("line", stored(table.line.as_ref())),
        ("column", stored(table.column.as_ref())),
    ];
    let rows = repairs.rows(at, table.length, &required, &optional);
    let mut trace = ScriptTrace::default();
    for row in 0..rows {
        let place = |column: &'static str| move || format!("{at}.{column}[{row}]");
        let Real(micros) = entry(table.timestamps.as_ref(), row);
        // Microseconds, as milliseconds a thousandth.
        let Some(start) = repairs.time(micros / 1e3, place("timestamps")) else {
            if own.is_some() {
                return Err(wrong(format_args!("{at}.timestamps[{row}]"), "not a time"));
            }
            continue;
        };
        let name = repairs.row(strings, entry(table.events.as_ref(), row), place("events"));
        trace.name.push(name.unwrap_or_else(|| builder.string("(unknown)")));
        trace.start.push(start);
        let Real(duration) = entry(table.durations.as_ref(), row);
        let duration = if duration.is_nan() { None } else { repairs.nanos(duration / 1e3, place("durations")) };
        let forward = duration.filter(|duration| duration.0 >= 0);
        if forward != duration {
            repairs.not_a_number(place("durations"));
        }
        trace.duration.push(forward);
        trace.line.push(repairs.line(entry(table.line.as_ref(), row), place("line")));
        trace.column.push(repairs.line(entry(table.column.as_ref(), row), place("column")));
    }
    if let Some(own) = own {
        let starts = own.start.with(own.start.value.iter().map(|ns| Time(*ns)).collect());
        apply(&starts, &mut trace.start, format_args!("{at} (traceview).start"))?;
        let durations = own.duration.with(own.duration.value.iter().map(|ns| ns.map(Nanos)).collect());
        apply(&durations, &mut trace.duration, format_args!("{at} (traceview).duration"))?;
    }
    Ok(trace)
}

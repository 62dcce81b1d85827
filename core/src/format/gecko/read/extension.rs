//! Tables that only `meta.traceview` has.

use super::super::extension::{self as key, Extension, Mappings, OsId};
use super::super::names::{FLOW_PHASES, value};
use super::code::Code;
use super::rows::{Rows, moment, ranges, same_length, unchecked, wrong};
use crate::format::ReadError;
use crate::model::{
    self, ExitStatus, FlowAnchor, FlowMember, Label, LabelSetId, LabelValue, Mapping, Process, ProcessId,
    ProfileBuilder, ThreadId, Time, ValueType, ValueTypeId,
};

pub(super) fn os_id(id: &OsId) -> model::OsId {
    match id {
        OsId::Number(number) => model::OsId::Number(*number),
        OsId::Text(text) => model::OsId::Text(text.as_str().into()),
    }
}

pub(super) fn processes(
    builder: &mut ProfileBuilder,
    code: &Code,
    processes: &[key::Process],
) -> Result<Rows<ProcessId>, ReadError> {
    let mut rows = Rows::new("meta.traceview.processes");
    for (row, process) in processes.iter().enumerate() {
        let at = format!("meta.traceview.processes[{row}]");
        let exit = match (process.exit_code, process.exit_signal) {
            (Some(code), _) => Some(ExitStatus::Code(code)),
            (None, signal) => signal.map(ExitStatus::Signal),
        };
        rows.push(builder.add_process(Process {
            pid: os_id(&process.pid),
            parent: None,
            name: code.strings.get(process.name, format_args!("{at}.name"))?,
            command_line: code.strings.all(&process.command_line, format_args!("{at}.commandLine"))?,
            start: moment(process.start),
            end: moment(process.end),
            exit,
        }));
    }
    // A parent can stand behind its children.
    for (row, process) in processes.iter().enumerate() {
        let parent = rows.optional(process.parent, format_args!("meta.traceview.processes[{row}].parent"))?;
        builder.process_mut(ProcessId::new(row)).parent = parent;
    }
    Ok(rows)
}

pub(super) fn mappings(
    builder: &mut ProfileBuilder,
    code: &Code,
    processes: &Rows<ProcessId>,
    table: &Mappings,
) -> Result<(), ReadError> {
    let at = "meta.traceview.mappings";
    let count = table.process.len();
    let columns = [
        ("library", table.library.len()),
        ("start", table.start.len()),
        ("end", table.end.len()),
        ("fileOffset", table.file_offset.len()),
        ("base", table.base.as_ref().map_or(count, Vec::len)),
        ("from", table.from.len()),
        ("until", table.until.len()),
    ];
    same_length(format_args!("{at}"), count, &columns)?;
    for row in 0..count {
        builder.add_mapping(Mapping {
            process: processes.get(table.process[row], format_args!("{at}.process[{row}]"))?,
            library: code.libraries.get(table.library[row], format_args!("{at}.library[{row}]"))?,
            start: table.start[row],
            end: table.end[row],
            file_offset: table.file_offset[row],
            base: table.base.as_ref().and_then(|base| base[row]),
            from: Time(table.from[row]),
            until: moment(table.until[row]),
        });
    }
    Ok(())
}

pub(super) fn value_types(
    builder: &mut ProfileBuilder,
    code: &Code,
    extension: Option<&Extension>,
) -> Result<Rows<ValueTypeId>, ReadError> {
    let mut rows = Rows::new("meta.traceview.valueTypes");
    if let Some(table) = extension.map(|extension| &extension.value_types) {
        let at = "meta.traceview.valueTypes";
        same_length(format_args!("{at}"), table.name.len(), &[("unit", table.unit.len())])?;
        let names = code.strings.all(&table.name, format_args!("{at}.name"))?;
        let units = code.strings.all(&table.unit, format_args!("{at}.unit"))?;
        for (name, unit) in names.into_iter().zip(units) {
            rows.push(builder.value_type(ValueType { name, unit }));
        }
    }
    Ok(rows)
}

pub(super) fn label_sets(
    builder: &mut ProfileBuilder,
    code: &Code,
    extension: Option<&Extension>,
) -> Result<Rows<LabelSetId>, ReadError> {
    let mut rows = Rows::new("meta.traceview.labelSets");
    let Some(table) = extension.map(|extension| &extension.label_sets) else { return Ok(rows) };
    let at = "meta.traceview.labelSets";
    let count = table.key.len();
    same_length(format_args!("{at}"), count, &[("value", table.value.len()), ("unit", table.unit.len())])?;
    let string = |value: i64, column: &str, row: usize| {
        let at = format_args!("{at}.{column}[{row}]").to_string();
        let in_range = u32::try_from(value);
        let index = in_range.map_err(|_| wrong(format_args!("{at}"), format_args!("{value} is not a string")))?;
        code.strings.get(index, format_args!("{at}"))
    };
    for range in ranges(&table.first, count, format_args!("{at}.first"))? {
        let mut set = Vec::with_capacity(range.len());
        for row in range {
            let value = match table.unit[row] {
                -2 => LabelValue::Text(string(table.value[row], "value", row)?),
                -1 => LabelValue::Number(table.value[row], None),
                unit => LabelValue::Number(table.value[row], Some(string(unit, "unit", row)?)),
            };
            set.push(Label { key: code.strings.get(table.key[row], format_args!("{at}.key[{row}]"))?, value });
        }
        rows.push(builder.label_set(set));
    }
    Ok(rows)
}

pub(super) fn flows(
    builder: &mut ProfileBuilder,
    code: &Code,
    threads: &Rows<ThreadId>,
    table: &key::Flows,
) -> Result<(), ReadError> {
    let at = "meta.traceview.flows";
    let count = table.thread.len();
    let columns = [
        ("time", table.time.len()),
        ("phase", table.phase.len()),
        ("slice", table.slice.len()),
        ("marker", table.marker.len()),
    ];
    same_length(format_args!("{at}"), count, &columns)?;
    let columns = [("category", table.category.len()), ("id", table.id.len()), ("first", table.first.len())];
    same_length(format_args!("{at}"), table.name.len(), &columns)?;
    let string = |row, column: &str, flow| code.strings.get(row, format_args!("{at}.{column}[{flow}]"));
    for (flow, range) in ranges(&table.first, count, format_args!("{at}.first"))?.into_iter().enumerate() {
        let mut members = Vec::with_capacity(range.len());
        for row in range {
            let word = table.phase[row];
            let unknown = || wrong(format_args!("{at}.phase[{row}]"), format_args!("unknown phase {word}"));
            let anchor = match (table.slice[row], table.marker[row]) {
                (Some(slice), _) => FlowAnchor::Slice(unchecked(slice, format_args!("{at}.slice[{row}]"))?),
                (None, Some(marker)) => FlowAnchor::Marker(unchecked(marker, format_args!("{at}.marker[{row}]"))?),
                (None, None) => FlowAnchor::Thread,
            };
            members.push(FlowMember {
                thread: threads.get(table.thread[row], format_args!("{at}.thread[{row}]"))?,
                time: Time(table.time[row]),
                phase: value(&FLOW_PHASES, &word).ok_or_else(unknown)?,
                anchor,
            });
        }
        let name = string(table.name[flow], "name", flow)?;
        let category = string(table.category[flow], "category", flow)?;
        let id = string(table.id[flow], "id", flow)?;
        builder.add_flow(name, category, id, &members);
    }
    Ok(())
}

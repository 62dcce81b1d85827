//! What the file's own tables cannot say, for `meta.traceview`.

use super::kept;
use super::layout::{Layout, row};
use super::shared::{file_address, file_inline_depth, file_subcategory, index};
use super::{is_exact, millis};
use crate::format::gecko::extension::{
    Category, Counter, Crates, EXTENSION_VERSION, Extension, Flows, Frames, Functions, LabelSets, Mappings,
    MarkerField, MarkerGraph, MarkerSchema, Meta, OsId, Patch, Payloads, Process, Quality, Rows, ValueTypes, Warning,
};
use crate::format::gecko::names::{COLORS, FLOW_PHASES, FUNCTION_KINDS, SYMBOL_STATUSES, word};
use crate::format::gecko::number::Exact;
use crate::model::{self, Color, FieldValue, FlowAnchor, FunctionId, Id, LabelValue, Profile, Time};

pub(super) fn extension(layout: &Layout<'_>) -> Extension {
    let profile = layout.profile;
    Extension {
        version: EXTENSION_VERSION,
        rows: Rows {
            strings: row(profile.strings.len()),
            categories: row(layout.own_categories),
            functions: row(layout.functions.len()),
            frames: row(profile.frames.len()),
            stacks: row(profile.stacks.len()),
        },
        meta: meta(&profile.meta),
        categories: profile.categories.iter().map(category).collect(),
        symbol_status: profile.libraries.iter().map(|library| word(&SYMBOL_STATUSES, &library.symbols)).collect(),
        mappings: mappings(profile),
        crates: Crates {
            name: profile.crates.iter().map(|origin| id(origin.name)).collect(),
            version: profile.crates.iter().map(|origin| index(origin.version)).collect(),
        },
        functions: functions(layout),
        frames: frames(layout),
        value_types: ValueTypes {
            name: profile.value_types.iter().map(|value_type| id(value_type.name)).collect(),
            unit: profile.value_types.iter().map(|value_type| id(value_type.unit)).collect(),
        },
        label_sets: label_sets(profile),
        marker_schemas: profile.marker_schemas.iter().map(marker_schema).collect(),
        payloads: payloads(profile),
        processes: profile.processes.iter().map(process).collect(),
        counters: profile.counters.iter().map(|one| counter(layout, one)).collect(),
        flows: flows(profile),
        kept: kept::of_profile(layout),
    }
}

/// Where the file's milliseconds lose a nanosecond.
pub(super) fn time_patch(times: impl Iterator<Item = Time>) -> Patch<i64> {
    let mut patch = Patch::default();
    for (row, time) in (0..).zip(times) {
        if !is_exact(time) {
            patch.push(row, time.0);
        }
    }
    patch
}

/// A number as JSON can hold it; what is not finite becomes 0 (and is corrected by `traceview`).
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Where [`finite`] changed a number.
pub(super) fn float_patch(values: &[f64]) -> Patch<Exact> {
    let mut patch = Patch::default();
    for (row, value) in (0..).zip(values) {
        if !value.is_finite() {
            patch.push(row, Exact(*value));
        }
    }
    patch
}

pub(super) fn id<I: Id>(id: I) -> u32 {
    row(id.index())
}

fn ns(time: Option<Time>) -> Option<i64> {
    time.map(|time| time.0)
}

fn color_name(color: Color) -> String {
    word(&COLORS, &color).to_owned()
}

fn meta(meta: &model::Meta) -> Meta {
    let machine = meta.machine.clone();
    Meta {
        name: meta.name.clone(),
        command_line: meta.command_line.clone(),
        start_unix: meta.start_unix_ns,
        start_monotonic: meta.start_monotonic_ns,
        recording_start: ns(meta.recording_start),
        recording_end: ns(meta.recording_end),
        interval: meta.interval.map(|interval| interval.0),
        recorder: meta.recorder.clone(),
        os: machine.os,
        arch: machine.arch,
        cpu_name: machine.cpu_name,
        logical_cpus: machine.logical_cpus,
        physical_cpus: machine.physical_cpus,
        memory: machine.memory,
        rustc: meta.rustc.clone(),
        quality: meta.quality.map(|quality| Quality {
            ticks: quality.ticks,
            missed_ticks: quality.missed_ticks,
            lost_samples: quality.lost_samples,
            stopped: quality.stopped.0,
            recorder_cpu: quality.recorder_cpu.0,
            stops: quality.stops.map(|spread| (spread.median.0, spread.p99.0)),
            lateness: quality.lateness.map(|spread| (spread.median.0, spread.p99.0)),
        }),
        warnings: meta.warnings.iter().cloned().map(warning).collect(),
        extra: meta.extra.clone(),
    }
}

fn warning(warning: model::Warning) -> Warning {
    let model::Warning { code, message, count, first } = warning;
    Warning { code, message, count, first }
}

fn category(category: &model::Category) -> Category {
    Category {
        name: id(category.name),
        color: color_name(category.color),
        subcategories: category.subcategories.iter().copied().map(id).collect(),
    }
}

fn mappings(profile: &Profile) -> Mappings {
    let bases = profile.mappings.iter().map(|mapping| mapping.base);
    let mut columns = Mappings { base: Some(bases.collect()), ..Mappings::default() };
    for mapping in &profile.mappings {
        columns.process.push(id(mapping.process));
        columns.library.push(id(mapping.library));
        columns.start.push(mapping.start);
        columns.end.push(mapping.end);
        columns.file_offset.push(mapping.file_offset);
        columns.from.push(mapping.from.0);
        columns.until.push(ns(mapping.until));
    }
    columns
}

fn functions(layout: &Layout<'_>) -> Functions {
    let functions = &layout.profile.functions;
    let in_file = |function: usize| &layout.functions[layout.function_rows[function] as usize];
    let rows = || 0..functions.len();
    let merged = layout.functions.len() < functions.len();
    Functions {
        file_row: merged.then(|| layout.function_rows.clone()),
        full_name: functions.full_name.iter().copied().map(index).collect(),
        origin: functions.origin.iter().copied().map(index).collect(),
        kind: functions.kind.iter().map(|kind| word(&FUNCTION_KINDS, kind)).collect(),
        line: Patch::between(rows().map(|row| in_file(row).line), functions.line.iter().copied()),
        column: Patch::between(rows().map(|row| in_file(row).column), functions.column.iter().copied()),
        relevant_for_script: Patch::between(
            rows().map(|row| in_file(row).relevant_for_script),
            functions.relevant_for_script.iter().copied(),
        ),
        original_location: Patch::between(
            rows().map(|row| index(in_file(row).original_location)),
            functions.original_location.iter().copied().map(index),
        ),
    }
}

fn frames(layout: &Layout<'_>) -> Frames {
    let profile = layout.profile;
    let frames = &profile.frames;
    // A reader takes the first function that has the file's row.
    let mut first = vec![None; layout.functions.len()];
    for (function, file_row) in layout.function_rows.iter().enumerate() {
        first[*file_row as usize].get_or_insert(row(function));
    }
    let read_as = |function: FunctionId| first[layout.function_rows[function.index()] as usize].unwrap_or_default();
    let library = |function: FunctionId| {
        let resource = profile.functions.resource[function.index()];
        resource.and_then(|resource| profile.resources[resource.index()].library)
    };
    let category = |frame: usize| frames.category[frame].map(|category| layout.category(category));
    Frames {
        function: Patch::between(
            frames.function.iter().map(|function| read_as(*function)),
            frames.function.iter().copied().map(id),
        ),
        library: Patch::between(
            frames.function.iter().map(|function| index(library(*function))),
            frames.library.iter().copied().map(index),
        ),
        address: Patch::between(
            frames.address.iter().map(|address| file_address(*address).map(u64::from)),
            frames.address.iter().copied(),
        ),
        inline_depth: Patch::between(
            frames.inline_depth.iter().map(|depth| file_inline_depth(*depth).into()),
            frames.inline_depth.iter().copied(),
        ),
        category: Patch::between((0..frames.len()).map(category), frames.category.iter().copied().map(index)),
        subcategory: Patch::between(
            (0..frames.len()).map(|frame| file_subcategory(layout, frame)),
            frames.subcategory.iter().copied(),
        ),
    }
}

fn label_sets(profile: &Profile) -> LabelSets {
    let mut columns = LabelSets::default();
    for set in &profile.label_sets.sets {
        columns.first.push(row(columns.key.len()));
        for label in set {
            let (value, unit) = match label.value {
                LabelValue::Text(text) => (id(text).into(), -2),
                LabelValue::Number(number, unit) => (number, unit.map_or(-1, |unit| id(unit).into())),
            };
            columns.key.push(id(label.key));
            columns.value.push(value);
            columns.unit.push(unit);
        }
    }
    columns
}

fn marker_schema(schema: &model::MarkerSchema) -> MarkerSchema {
    let field = |field: &model::MarkerField| MarkerField {
        key: id(field.key),
        label: index(field.label),
        format: id(field.format),
        hidden: field.hidden,
    };
    let graph = |graph: &model::MarkerGraph| MarkerGraph {
        key: id(graph.key),
        kind: id(graph.kind),
        color: graph.color.map(color_name),
    };
    MarkerSchema {
        name: id(schema.name),
        display: schema.display.iter().copied().map(id).collect(),
        chart_label: index(schema.chart_label),
        tooltip_label: index(schema.tooltip_label),
        table_label: index(schema.table_label),
        description: index(schema.description),
        color_field: index(schema.color_field),
        stack_based: schema.stack_based,
        fields: schema.fields.iter().map(field).collect(),
        graphs: schema.graphs.iter().map(graph).collect(),
    }
}

fn payloads(profile: &Profile) -> Payloads {
    let mut columns = Payloads::default();
    for set in &profile.payloads.sets {
        columns.first.push(row(columns.key.len()));
        for field in set {
            let (kind, value) = match field.value {
                FieldValue::Text(text) => ('s', id(text).into()),
                FieldValue::Integer(value) => ('i', value),
                FieldValue::Bool(value) => ('b', value.into()),
                FieldValue::Json(text) => ('j', id(text).into()),
                FieldValue::Float(value) => {
                    columns.float.push(Exact(value));
                    ('f', i64::from(row(columns.float.len() - 1)))
                }
            };
            columns.key.push(id(field.key));
            columns.kind.push(kind);
            columns.value.push(value);
        }
    }
    columns
}

pub(super) fn os_id(id: &model::OsId) -> OsId {
    match id {
        model::OsId::Number(number) => OsId::Number(*number),
        model::OsId::Text(text) => OsId::Text(text.to_string()),
    }
}

fn process(process: &model::Process) -> Process {
    let (exit_code, exit_signal) = match process.exit {
        Some(model::ExitStatus::Code(code)) => (Some(code), None),
        Some(model::ExitStatus::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    Process {
        pid: os_id(&process.pid),
        parent: index(process.parent),
        name: id(process.name),
        command_line: process.command_line.iter().copied().map(id).collect(),
        start: ns(process.start),
        end: ns(process.end),
        exit_code,
        exit_signal,
    }
}

/// Whether a row has to stand before a counter's first: tools ignore the change of the first row.
/// A file of another tool keeps its rows.
pub(super) fn needs_lead(layout: &Layout<'_>, counter: &model::Counter) -> bool {
    let counts =
        counter.delta.first().is_some_and(|first| *first != 0.0) || counter.operations.first().is_some_and(|n| *n != 0);
    counts && !layout.of_firefox
}

fn counter(layout: &Layout<'_>, counter: &model::Counter) -> Counter {
    Counter {
        process: id(counter.process),
        main_thread: index(counter.main_thread),
        color: counter.display.color.map(color_name),
        lead: needs_lead(layout, counter),
        time: time_patch(counter.time.iter().copied()),
        delta: float_patch(&counter.delta),
    }
}

fn flows(profile: &Profile) -> Flows {
    let flows = &profile.flows;
    let mut columns = Flows {
        name: flows.name.iter().copied().map(id).collect(),
        category: flows.category.iter().copied().map(id).collect(),
        id: flows.id.iter().copied().map(id).collect(),
        first: flows.first_member.clone(),
        ..Flows::default()
    };
    for member in &flows.members {
        let (slice, marker) = match member.anchor {
            FlowAnchor::Slice(slice) => (Some(id(slice)), None),
            FlowAnchor::Marker(marker) => (None, Some(id(marker))),
            FlowAnchor::Thread => (None, None),
        };
        columns.thread.push(id(member.thread));
        columns.time.push(member.time.0);
        columns.phase.push(word(&FLOW_PHASES, &member.phase));
        columns.slice.push(slice);
        columns.marker.push(marker);
    }
    columns
}

/// The milliseconds that the file gives for a moment.
pub(super) fn optional_millis(time: Option<Time>) -> Option<f64> {
    time.map(millis)
}

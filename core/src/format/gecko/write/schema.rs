//! Marker schemas: how other tools show markers, and which values of a field they can show.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde::Serialize;
use serde_json::Value;

use super::flows::Kind;
use super::layout::{Layout, PLAIN_TYPE, SLICE_TYPE};
use super::{Out, Written};
use crate::format::gecko::names::{MARKER_VIEWS, graph_color};
use crate::model::{MarkerField, MarkerSchema, MarkerSchemaId, StringId};

/// What a field's format demands of its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldShape {
    Text,
    /// A row of the string table.
    StringRow,
    Number,
    Array,
}

/// Keys of a marker's data that mean the same for all types.
pub(super) const OWN_KEYS: [&str; 2] = ["type", "cause"];

const FORMATS: [(&str, FieldShape); 21] = [
    ("string", FieldShape::Text),
    ("sanitized-string", FieldShape::Text),
    ("url", FieldShape::Text),
    ("file-path", FieldShape::Text),
    ("unique-string", FieldShape::StringRow),
    ("flow-id", FieldShape::StringRow),
    ("terminating-flow-id", FieldShape::StringRow),
    ("duration", FieldShape::Number),
    ("time", FieldShape::Number),
    ("seconds", FieldShape::Number),
    ("milliseconds", FieldShape::Number),
    ("microseconds", FieldShape::Number),
    ("nanoseconds", FieldShape::Number),
    ("bytes", FieldShape::Number),
    ("percentage", FieldShape::Number),
    ("integer", FieldShape::Number),
    ("decimal", FieldShape::Number),
    ("hexadecimal", FieldShape::Number),
    ("pid", FieldShape::Text),
    ("tid", FieldShape::Text),
    ("list", FieldShape::Array),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileSchema<'a> {
    name: &'a str,
    display: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chart_label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tooltip_label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    fields: Vec<FileField<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    graphs: Vec<FileGraph<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    color_field: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_stack_based: bool,
}

#[derive(Serialize)]
pub(super) struct FileField<'a> {
    key: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    format: FileFormat<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum FileFormat<'a> {
    Name(&'a str),
    Table(Value),
}

#[derive(Serialize)]
struct FileGraph<'a> {
    key: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    color: &'a str,
}

impl<'a> FileField<'a> {
    /// A field whose format is one of a name.
    pub(super) fn of(key: impl Into<Cow<'a, str>>, label: &'a str, format: &'a str) -> Self {
        Self { key: key.into(), label: Some(label), format: FileFormat::Name(format), hidden: false }
    }
}

pub(super) fn write(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    for (row, (schema, name)) in layout.profile.marker_schemas.iter().zip(&layout.schema_names).enumerate() {
        let mut in_file = file_schema(layout, schema, name);
        in_file.fields.extend(layout.flows.of_schema(Kind::Marker(Some(MarkerSchemaId::new(row)))));
        json.element(&in_file)?;
    }
    let plain = |name, fields| FileSchema {
        name,
        display: vec!["marker-chart", "marker-table", "timeline-overview"],
        chart_label: None,
        tooltip_label: Some("{marker.name}"),
        table_label: Some("{marker.name}"),
        description: None,
        fields,
        graphs: Vec::new(),
        color_field: None,
        is_stack_based: false,
    };
    if layout.has_slices() {
        let mut fields = vec![FileField::of("args", "Arguments", "string")];
        fields.extend(layout.flows.of_schema(Kind::Slice));
        json.element(&plain(SLICE_TYPE, fields))?;
    }
    let threads = &layout.profile.threads;
    if threads.iter().any(|thread| thread.markers.schema.contains(&None)) {
        json.element(&plain(PLAIN_TYPE, layout.flows.of_schema(Kind::Marker(None))))?;
    }
    Ok(())
}

/// What the values of `field` have to be in the file.
pub(super) fn shape(layout: &Layout<'_>, field: &MarkerField) -> FieldShape {
    let format = layout.profile.string(field.format);
    match FORMATS.iter().find(|(name, _)| *name == format) {
        Some((_, shape)) => *shape,
        None if table_format(format).is_some() => FieldShape::Array,
        None => FieldShape::Text,
    }
}

fn file_schema<'a>(layout: &Layout<'a>, schema: &MarkerSchema, name: &'a str) -> FileSchema<'a> {
    let profile = layout.profile;
    let text = |id: StringId| profile.string(id);
    let optional = |id: Option<StringId>| id.map(text);
    let mut keys = FxHashSet::default();
    let fields = schema.fields.iter().filter(|field| keys.insert(field.key) && !OWN_KEYS.contains(&text(field.key)));
    let fields = fields.map(|field| FileField {
        key: text(field.key).into(),
        label: optional(field.label),
        format: file_format(text(field.format)),
        hidden: field.hidden,
    });
    let graphs = schema.graphs.iter().filter(|graph| ["bar", "line", "line-filled"].contains(&text(graph.kind)));
    FileSchema {
        name,
        display: schema.display.iter().map(|id| text(*id)).filter(|view| MARKER_VIEWS.contains(view)).collect(),
        chart_label: optional(schema.chart_label),
        tooltip_label: optional(schema.tooltip_label),
        table_label: optional(schema.table_label),
        description: optional(schema.description),
        fields: fields.collect(),
        graphs: graphs
            .map(|graph| FileGraph { key: text(graph.key), kind: text(graph.kind), color: graph_color(graph.color) })
            .collect(),
        color_field: optional(schema.color_field),
        is_stack_based: schema.stack_based,
    }
}

/// A format by its name, or a table's columns; what other tools do not know is shown as text.
fn file_format(format: &str) -> FileFormat<'_> {
    if FORMATS.iter().any(|(name, _)| *name == format) {
        return FileFormat::Name(format);
    }
    table_format(format).map_or(FileFormat::Name("string"), FileFormat::Table)
}

fn table_format(format: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(format).ok()?;
    (value.get("type")?.as_str()? == "table" && value.get("columns")?.is_array()).then_some(value)
}

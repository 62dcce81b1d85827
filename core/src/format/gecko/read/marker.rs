//! Markers, their schemas and their data.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::super::extension::{self as key, Extension};
use super::super::names::{COLORS, color_of_graph, value};
use super::super::old_schema::{self as schema, File, MarkerData};
use super::code::Code;
use super::rows::{Rows, apply, optional_time, ranges, same_length, wrong};
use crate::format::ReadError;
use crate::format::gecko::number::Text;
use crate::model::{
    Field, FieldValue, Marker, MarkerField, MarkerGraph, MarkerSchema, MarkerSchemaId, MarkerTable, MarkerTiming,
    PayloadId, ProfileBuilder, StackId, StringId, Time,
};

/// What all threads' markers share.
pub(super) struct Markers {
    schemas: Rows<MarkerSchemaId>,
    by_name: FxHashMap<String, MarkerSchemaId>,
    payloads: Rows<PayloadId>,
}

impl Markers {
    pub(super) fn read(builder: &mut ProfileBuilder, code: &Code, file: &File) -> Result<Self, ReadError> {
        let mut markers = Self {
            schemas: Rows::new("meta.traceview.markerSchemas"),
            by_name: FxHashMap::default(),
            payloads: Rows::new("meta.traceview.payloads"),
        };
        match &file.meta.traceview {
            Some(extension) => {
                for (row, schema) in extension.marker_schemas.iter().enumerate() {
                    let schema = own_schema(code, schema, row)?;
                    markers.schemas.push(builder.add_marker_schema(schema));
                }
                markers.read_payloads(builder, code, extension)?;
            }
            None => {
                for schema in &file.meta.marker_schema {
                    let of_model = file_schema(builder, schema);
                    let id = builder.add_marker_schema(of_model);
                    markers.by_name.insert(schema.name.0.clone(), id);
                }
            }
        }
        Ok(markers)
    }

    /// A set of fields of `traceview`.
    pub(super) fn payload(
        &self,
        row: Option<u32>,
        at: std::fmt::Arguments<'_>,
    ) -> Result<Option<PayloadId>, ReadError> {
        self.payloads.optional(row, at)
    }

    /// The markers of the thread at `at`.
    pub(super) fn of_thread(
        &self,
        builder: &mut ProfileBuilder,
        code: &Code,
        table: &schema::Markers,
        extension: Option<&key::Markers>,
        at: &str,
    ) -> Result<MarkerTable, ReadError> {
        let columns = [
            ("data", table.data.len()),
            ("name", table.name.len()),
            ("startTime", table.start_time.len()),
            ("endTime", table.end_time.len()),
            ("phase", table.phase.len()),
            ("category", table.category.len()),
        ];
        same_length(format_args!("{at}.markers"), table.length, &columns)?;
        let rows = extension.map_or(table.length, |extension| extension.rows as usize);
        if rows > table.length {
            let message = format!("{rows} rows, but the file has only {}", table.length);
            return Err(wrong(format_args!("{at}.traceview.markers.rows"), message));
        }
        let times = |column: &[Option<f64>], name: &str| {
            let one = |(row, millis): (usize, &Option<f64>)| {
                optional_time(*millis, format_args!("{at}.markers.{name}[{row}]"))
            };
            column.iter().take(rows).enumerate().map(one).collect::<Result<Vec<_>, _>>()
        };
        let mut starts = times(&table.start_time, "startTime")?;
        let mut ends = times(&table.end_time, "endTime")?;
        let mut categories = table.category[..rows].to_vec();
        if let Some(extension) = extension {
            let at = format!("{at}.traceview.markers");
            let columns = [("schema", extension.schema.len()), ("payload", extension.payload.len())];
            same_length(format_args!("{at}"), rows, &columns)?;
            let moments = |values: &[i64]| values.iter().map(|ns| Some(Time(*ns))).collect();
            apply(&extension.start.with(moments(&extension.start.value)), &mut starts, format_args!("{at}.start"))?;
            apply(&extension.end.with(moments(&extension.end.value)), &mut ends, format_args!("{at}.end"))?;
            apply(&extension.category, &mut categories, format_args!("{at}.category"))?;
        }
        let mut markers = MarkerTable::default();
        for row in 0..rows {
            let data = table.data[row].as_ref();
            let stack = cause(code, data, format_args!("{at}.markers.data[{row}].cause.stack"))?;
            let (schema, payload) = match extension {
                Some(extension) => {
                    let schema = extension.schema[row];
                    let payload = extension.payload[row];
                    (
                        self.schemas.optional(schema, format_args!("{at}.traceview.markers.schema[{row}]"))?,
                        self.payloads.optional(payload, format_args!("{at}.traceview.markers.payload[{row}]"))?,
                    )
                }
                None => data.map_or(Ok((None, None)), |data| {
                    self.file_data(builder, code, data, format_args!("{at}.markers.data[{row}]"))
                })?,
            };
            markers.push(Marker {
                name: code.strings.get(table.name[row], format_args!("{at}.markers.name[{row}]"))?,
                timing: timing(table.phase[row], starts[row], ends[row], format_args!("{at}.markers.phase[{row}]"))?,
                category: code.categories.get(categories[row], format_args!("{at}.markers.category[{row}]"))?,
                schema,
                payload,
                stack,
            });
        }
        Ok(markers)
    }

    fn read_payloads(
        &mut self,
        builder: &mut ProfileBuilder,
        code: &Code,
        extension: &Extension,
    ) -> Result<(), ReadError> {
        let table = &extension.payloads;
        let at = "meta.traceview.payloads";
        let count = table.key.len();
        let kinds = table.kind.as_bytes();
        same_length(format_args!("{at}"), count, &[("kind", kinds.len()), ("value", table.value.len())])?;
        for range in ranges(&table.first, count, format_args!("{at}.first"))? {
            let mut fields = Vec::with_capacity(range.len());
            for row in range {
                let number = table.value[row];
                let bad = || wrong(format_args!("{at}.value[{row}]"), format_args!("{number} is not a row"));
                let index = || u32::try_from(number).map_err(|_| bad());
                let string = || code.strings.get(index()?, format_args!("{at}.value[{row}]"));
                let value = match kinds[row] {
                    b's' => FieldValue::Text(string()?),
                    b'j' => FieldValue::Json(string()?),
                    b'i' => FieldValue::Integer(number),
                    b'b' => FieldValue::Bool(number != 0),
                    b'f' => FieldValue::Float(table.float.get(index()? as usize).ok_or_else(bad)?.0),
                    kind => {
                        let message = format!("unknown kind {:?}", char::from(kind));
                        return Err(wrong(format_args!("{at}.kind[{row}]"), message));
                    }
                };
                fields.push(Field { key: code.strings.get(table.key[row], format_args!("{at}.key[{row}]"))?, value });
            }
            self.payloads.push(builder.add_payload(fields));
        }
        Ok(())
    }

    /// Schema and fields of a marker of another tool.
    fn file_data(
        &self,
        builder: &mut ProfileBuilder,
        code: &Code,
        data: &MarkerData,
        at: std::fmt::Arguments<'_>,
    ) -> Result<(Option<MarkerSchemaId>, Option<PayloadId>), ReadError> {
        let kind = data.0.iter().find(|(key, _)| key.0 == "type").and_then(|(_, value)| value.as_str());
        let schema = kind.and_then(|kind| self.by_name.get(kind).copied());
        let mut fields = Vec::new();
        for (key, value) in data.0.iter().filter(|(key, _)| key.0 != "cause" && (key.0 != "type" || schema.is_none())) {
            let key_id = builder.string(&key.0);
            let value = match (value.as_u64(), self.is_string_row(builder, schema, key_id)) {
                (Some(row), true) => {
                    let at = format_args!("{at}.{}", key.0).to_string();
                    let row = u32::try_from(row)
                        .map_err(|_| wrong(format_args!("{at}"), format_args!("{row} is not a string")))?;
                    FieldValue::Text(code.strings.get(row, format_args!("{at}"))?)
                }
                _ => field_value(builder, value),
            };
            fields.push(Field { key: key_id, value });
        }
        let payload = (!fields.is_empty()).then(|| builder.add_payload(fields));
        Ok((schema, payload))
    }

    /// Whether the values of a field are rows of the string table.
    fn is_string_row(&self, builder: &ProfileBuilder, schema: Option<MarkerSchemaId>, key: StringId) -> bool {
        let tables = builder.tables();
        let fields = schema.map_or(&[][..], |schema| &tables.marker_schemas[schema.index()].fields);
        fields.iter().filter(|field| field.key == key).any(|field| {
            ["unique-string", "flow-id", "terminating-flow-id"].contains(&tables.strings.get(field.format))
        })
    }
}

fn field_value(builder: &mut ProfileBuilder, value: &Value) -> FieldValue {
    match value {
        Value::String(text) => FieldValue::Text(builder.string(text)),
        Value::Bool(value) => FieldValue::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => FieldValue::Integer(integer),
            (None, Some(float)) if number.is_f64() => FieldValue::Float(float),
            _ => FieldValue::Json(builder.string(&number.to_string())),
        },
        other => FieldValue::Json(builder.string(&other.to_string())),
    }
}

/// The stack that a marker's data names as its cause.
fn cause(code: &Code, data: Option<&MarkerData>, at: std::fmt::Arguments<'_>) -> Result<Option<StackId>, ReadError> {
    let cause = data.and_then(|data| data.0.iter().find(|(key, _)| key.0 == "cause"));
    match cause.and_then(|(_, cause)| cause.get("stack")) {
        None | Some(Value::Null) => Ok(None),
        Some(stack) => {
            let row = stack.as_u64().and_then(|row| u32::try_from(row).ok());
            let row = row.ok_or_else(|| wrong(at, format_args!("{stack} is not a stack")))?;
            code.stacks.get(row, at).map(Some)
        }
    }
}

fn timing(
    phase: u8,
    start: Option<Time>,
    end: Option<Time>,
    at: std::fmt::Arguments<'_>,
) -> Result<MarkerTiming, ReadError> {
    match (phase, start, end) {
        (0, Some(start), _) => Ok(MarkerTiming::Instant(start)),
        (1, Some(start), Some(end)) => Ok(MarkerTiming::Interval(start, end)),
        (2, Some(start), _) => Ok(MarkerTiming::Start(start)),
        (3, _, Some(end)) => Ok(MarkerTiming::End(end)),
        (0..=3, ..) => Err(wrong(at, format_args!("a marker of phase {phase} lacks its time"))),
        _ => Err(wrong(at, format_args!("unknown phase {phase}"))),
    }
}

fn own_schema(code: &Code, schema: &key::MarkerSchema, row: usize) -> Result<MarkerSchema, ReadError> {
    let at = format!("meta.traceview.markerSchemas[{row}]");
    let string = |row: u32| code.strings.get(row, format_args!("{at}"));
    let optional = |row: Option<u32>| code.strings.optional(row, format_args!("{at}"));
    let field = |field: &key::MarkerField| {
        Ok(MarkerField {
            key: string(field.key)?,
            label: optional(field.label)?,
            format: string(field.format)?,
            hidden: field.hidden,
        })
    };
    let graph = |graph: &key::MarkerGraph| {
        let color = graph.color.as_deref().map(|name| {
            value(&COLORS, &name).ok_or_else(|| wrong(format_args!("{at}.graphs"), format!("unknown colour {name:?}")))
        });
        Ok(MarkerGraph { key: string(graph.key)?, kind: string(graph.kind)?, color: color.transpose()? })
    };
    Ok(MarkerSchema {
        name: string(schema.name)?,
        display: code.strings.all(&schema.display, format_args!("{at}.display"))?,
        chart_label: optional(schema.chart_label)?,
        tooltip_label: optional(schema.tooltip_label)?,
        table_label: optional(schema.table_label)?,
        description: optional(schema.description)?,
        fields: schema.fields.iter().map(field).collect::<Result<_, ReadError>>()?,
        graphs: schema.graphs.iter().map(graph).collect::<Result<_, ReadError>>()?,
        color_field: optional(schema.color_field)?,
        stack_based: schema.stack_based,
    })
}

fn file_schema(builder: &mut ProfileBuilder, schema: &schema::MarkerSchema) -> MarkerSchema {
    let mut string = |text: &Text| builder.string(&text.0);
    let name = string(&schema.name);
    let display = schema.display.iter().map(&mut string).collect();
    let mut optional = |text: &Option<Text>| text.as_ref().map(&mut string);
    let chart_label = optional(&schema.chart_label);
    let tooltip_label = optional(&schema.tooltip_label);
    let table_label = optional(&schema.table_label);
    let description = optional(&schema.description);
    let color_field = optional(&schema.color_field);
    let mut fields = Vec::with_capacity(schema.fields.len());
    for field in &schema.fields {
        let format = field.format.as_str().map_or_else(|| field.format.to_string(), str::to_owned);
        fields.push(MarkerField {
            key: builder.string(&field.key.0),
            label: field.label.as_ref().map(|label| builder.string(&label.0)),
            format: builder.string(&format),
            hidden: field.hidden,
        });
    }
    let graphs = schema.graphs.iter().flatten().map(|graph| MarkerGraph {
        key: builder.string(&graph.key.0),
        kind: builder.string(&graph.kind.0),
        color: graph.color.as_deref().and_then(color_of_graph),
    });
    let graphs = graphs.collect();
    MarkerSchema {
        name,
        display,
        chart_label,
        tooltip_label,
        table_label,
        description,
        fields,
        graphs,
        color_field,
        stack_based: schema.is_stack_based,
    }
}

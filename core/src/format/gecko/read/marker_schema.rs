//! Schemas of markers.

use super::super::extension as key;
use super::super::names::{COLORS, color_of_graph, value};
use super::super::schema::{self, Str};
use super::code::Code;
use super::kept::compact;
use super::repair::Repairs;
use super::rows::wrong;
use crate::format::ReadError;
use crate::model::{MarkerField, MarkerGraph, MarkerSchema, ProfileBuilder};

/// A schema of a file of our own.
pub(super) fn ours(code: &Code, schema: &key::MarkerSchema, row: usize) -> Result<MarkerSchema, ReadError> {
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

/// A schema of a file of another tool.
pub(super) fn foreign(
    builder: &mut ProfileBuilder,
    schema: &schema::MarkerSchema<'_>,
    at: &str,
    repairs: &mut Repairs,
) -> MarkerSchema {
    let mut optional = |text: &Option<Str<'_>>| text.as_ref().map(|text| builder.string(&text.0));
    let chart_label = optional(&schema.chart_label);
    let tooltip_label = optional(&schema.tooltip_label);
    let table_label = optional(&schema.table_label);
    let description = optional(&schema.description);
    let color_field = optional(&schema.color_field);
    let name = builder.string(schema.name.as_ref().map_or("", |name| &name.0));
    let display = schema.display.iter().flatten().flatten().map(|view| builder.string(&view.0)).collect();
    let mut fields = Vec::new();
    for (row, field) in schema.fields.iter().flatten().enumerate() {
        let Some(Str(key)) = &field.key else {
            repairs.note("schema-field-unnamed", "fields of marker schemas without a key are left out", || {
                format!("{at}.fields[{row}]")
            });
            continue;
        };
        let format = field.format.map_or_else(
            || "string".to_owned(),
            |format| {
                serde_json::from_str::<Str<'_>>(format.get())
                    .map_or_else(|_| compact(format.get()), |name| name.0.into_owned())
            },
        );
        fields.push(MarkerField {
            key: builder.string(key),
            label: field.label.as_ref().map(|label| builder.string(&label.0)),
            format: builder.string(&format),
            hidden: field.hidden.is_some_and(|flag| flag.0),
        });
    }
    let mut graphs = Vec::new();
    for (row, graph) in schema.graphs.iter().flatten().enumerate() {
        let color = graph.color.as_ref().map(|color| color_of_graph(&color.0));
        if color == Some(None) {
            let message = "graphs with colours that no tool knows are drawn in the usual one";
            repairs.note("graph-colour-unknown", message, || format!("{at}.graphs[{row}].color"));
        }
        let mut text = |text: &Option<Str<'_>>| builder.string(text.as_ref().map_or("", |text| &text.0));
        graphs.push(MarkerGraph { key: text(&graph.key), kind: text(&graph.kind), color: color.flatten() });
    }
    for (key, _) in &schema.kept {
        let message = "keys of marker schemas that no version of the format has are left out";
        repairs.note("schema-key-unknown", message, || format!("{at}.{key}"));
    }
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
        stack_based: schema.is_stack_based.is_some_and(|flag| flag.0),
    }
}

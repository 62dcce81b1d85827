//! Schemas of markers.

use super::super::read::Repairs;
use super::super::schema::{File, MarkerField, MarkerSchema, Str};
use super::{fields_with, threads_mut};

/// What Firefox's markers were before files said so.
const USUAL: &str = include_str!("usual_schemas.json");

const CYCLE_COLLECTION: &str = "tracingCCFrom52Upgrader";

/// The schemas of a file, which some tools leave out.
fn schemas_mut<'f, 'a>(file: &'f mut File<'a>) -> &'f mut Vec<MarkerSchema<'a>> {
    &mut file.meta.get_or_insert_default().marker_schema.get_or_insert_default().0
}

fn text(text: &'static str) -> Option<Str<'static>> {
    Some(Str(text.into()))
}

fn field(key: &'static str, label: &'static str) -> MarkerField<'static> {
    MarkerField { key: text(key), label: text(label), ..MarkerField::default() }
}

/// 33: files say how markers are shown.
pub(super) fn add_usual_schemas(file: &mut File<'_>, _repairs: &mut Repairs) {
    // Constant; a test reads it.
    if let Ok(usual) = serde_json::from_str(USUAL) {
        file.meta.get_or_insert_default().marker_schema = Some(usual);
    }
}

/// 44: fields that tools had shown without being told are told.
pub(super) fn add_shown_fields(file: &mut File<'_>, _repairs: &mut Repairs) {
    for schema in schemas_mut(file) {
        let added = match schema.name.as_ref().map(|name| &*name.0) {
            Some("FileIO") => field("threadId", "Thread ID"),
            Some("DOMEvent") => field("eventType", "Event Type"),
            _ => continue,
        };
        schema.data.get_or_insert_default().push(added);
    }
}

/// 52: the type of the data alone says how a marker is shown; tracing markers had been told by their names.
pub(super) fn add_tracing_schemas(file: &mut File<'_>, _repairs: &mut Repairs) {
    let has = |file: &mut File<'_>, wanted: &str| {
        schemas_mut(file).iter().any(|schema| schema.name.as_ref().is_some_and(|name| name.0 == wanted))
    };
    let has_cycle_collection = has(file, "CC");
    let (mut tracing, mut cycle_collection) = (false, false);
    for fields in threads_mut(file).flat_map(|thread| fields_with(thread, "\"tracing\"")) {
        let category = fields.str("category").filter(|category| !category.is_empty());
        let Some(category) = category.filter(|_| fields.str("type").as_deref() == Some("tracing")) else { continue };
        tracing = true;
        if has_cycle_collection && category == "CC" {
            cycle_collection = true;
            fields.set("type", CYCLE_COLLECTION);
            fields.remove("interval");
        }
    }
    let has_tracing = has(file, "tracing");
    let added = [
        (tracing && !has_tracing, "tracing", "timeline-overview"),
        (cycle_collection, CYCLE_COLLECTION, "timeline-memory"),
    ];
    for (_, name, view) in added.into_iter().filter(|(needed, ..)| *needed) {
        schemas_mut(file).push(MarkerSchema {
            name: text(name),
            display: Some(["marker-chart", "marker-table", view].map(text).to_vec().into()),
            data: Some(vec![field("category", "Type")]),
            ..MarkerSchema::default()
        });
    }
}

/// 55: fields without a key said something about the type: one of them is its description.
pub(super) fn split_static_fields(file: &mut File<'_>, repairs: &mut Repairs) {
    for (row, schema) in schemas_mut(file).iter_mut().enumerate() {
        let (fields, mut others): (Vec<_>, Vec<_>) =
            schema.data.take().unwrap_or_default().into_iter().partition(|field| field.key.is_some());
        if schema.fields.is_none() {
            schema.fields = Some(fields);
        }
        let is_label =
            |field: &MarkerField<'_>, label: &str| field.label.as_ref().is_some_and(|known| known.0 == label);
        let described = others.iter().position(|field| is_label(field, "Description"));
        if !others.is_empty() {
            schema.description = others.remove(described.unwrap_or(0)).value;
        }
        let lost = others.iter().filter(|field| !is_label(field, "Marker")).count() as u64;
        let message = "texts about marker types besides their descriptions are left out";
        repairs.count("schema-text", message, lost, || format!("meta.markerSchema[{row}].data"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_schemas_can_be_read() {
        let schemas: Vec<MarkerSchema<'_>> = serde_json::from_str(USUAL).expect("valid JSON");
        assert_eq!(schemas.len(), 18);
        assert!(schemas.iter().all(|schema| schema.name.is_some() && schema.data.is_some() && schema.kept.is_empty()));
    }
}

//! What a file says about itself: its schemas of markers and its extensions.

use rustc_hash::FxHashSet;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::schema::{MarkerField, MarkerSchema, Str};
use super::notes::{SCHEMA_TWICE, STATIC_FIELD};
use super::schema::Extension;
use super::table::Table;
use crate::format::import_report::ImportReport;

/// The schemas of all processes, each name once.
#[derive(Default)]
pub(super) struct Schemas<'a> {
    pub list: Vec<MarkerSchema<'a>>,
    names: FxHashSet<String>,
}

impl<'a> Schemas<'a> {
    pub(super) fn add(
        &mut self,
        version: u64,
        schemas: Option<Vec<MarkerSchema<'a>>>,
        at: &str,
        report: &mut ImportReport,
    ) {
        for (index, mut schema) in schemas.into_iter().flatten().enumerate() {
            let name = schema.name.as_ref().map(|name| name.0.clone().into_owned()).unwrap_or_default();
            if !self.names.insert(name.clone()) {
                // Processes have the schemas of the markers that they used; the same ones, as a rule.
                if !at.contains("processes") {
                    report.note(SCHEMA_TWICE, || format!("{at}meta.markerSchema[{index}]"));
                }
                continue;
            }
            fields_of_data(&mut schema, || format!("{at}meta.markerSchema[{index}].data"), report);
            if (22..26).contains(&version) {
                add_missing_field(&name, &mut schema);
            }
            self.list.push(schema);
        }
    }
}

/// Splits `data` into fields and texts about the markers, of which one becomes the description.
fn fields_of_data(schema: &mut MarkerSchema<'_>, at: impl FnOnce() -> String, report: &mut ImportReport) {
    let Some(data) = schema.data.take() else { return };
    let (fields, texts): (Vec<_>, Vec<_>) = data.into_iter().partition(|field| field.key.is_some());
    schema.fields.get_or_insert_default().extend(fields);
    let is = |text: &Option<Str<'_>>, word: &str| text.as_ref().is_some_and(|text| text.0 == word);
    let description = texts.iter().position(|field| is(&field.label, "Description")).unwrap_or(0);
    let mut left_out = 0;
    for (index, text) in texts.into_iter().enumerate() {
        if index == description {
            schema.description = text.value;
        } else if !is(&text.label, "Marker") && !is(&text.value, "UserTiming") {
            left_out += 1;
        }
    }
    report.count(STATIC_FIELD, left_out, at);
}

/// What two types of markers always had, but did not list before version 26.
fn add_missing_field(name: &str, schema: &mut MarkerSchema<'_>) {
    let (key, label) = match name {
        "FileIO" => ("threadId", "Thread ID"),
        "DOMEvent" => ("eventType", "Event Type"),
        _ => return,
    };
    schema.fields.get_or_insert_default().push(MarkerField {
        key: Some(Str(key.into())),
        label: Some(Str(label.into())),
        format: word(r#""string""#),
        ..MarkerField::default()
    });
}

/// A constant as a value of the file.
pub(super) fn word(text: &'static str) -> Option<&'static RawValue> {
    serde_json::from_str(text).ok()
}

/// The extensions as columns.
pub(super) fn extensions(table: &Table<Extension<'_>>) -> Option<Box<RawValue>> {
    let column = |of: fn(&Extension<'_>) -> String| table.rows.iter().map(of).collect::<Vec<_>>();
    let columns = json!({
        "length": table.rows.len(),
        "id": column(|row| row.id.0.clone().into_owned()),
        "name": column(|row| row.name.0.clone().into_owned()),
        "baseURL": column(|row| row.base_url.0.clone().into_owned()),
    });
    serde_json::value::to_raw_value(&columns).ok()
}

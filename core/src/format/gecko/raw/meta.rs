//! What a file says about itself: its schemas of markers and its extensions.

use rustc_hash::FxHashSet;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::schema::MarkerSchema;
use super::notes::SCHEMA_TWICE;
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
    pub(super) fn add(&mut self, schemas: Option<Vec<MarkerSchema<'a>>>, at: &str, report: &mut ImportReport) {
        for (index, schema) in schemas.into_iter().flatten().enumerate() {
            let name = schema.name.as_ref().map(|name| name.0.clone().into_owned()).unwrap_or_default();
            if !self.names.insert(name) {
                // Processes have the schemas of the markers that they used; the same ones, as a rule.
                if !at.contains("processes") {
                    report.note(SCHEMA_TWICE, || format!("{at}meta.markerSchema[{index}]"));
                }
                continue;
            }
            self.list.push(schema);
        }
    }
}

/// A constant as a value of the file.
pub(super) fn word(text: &'static str) -> Option<&'static RawValue> {
    serde_json::from_str(text).ok()
}

/// The extensions as columns.
pub(super) fn extensions(table: &Table<Extension<'_>>) -> Value {
    let column = |of: fn(&Extension<'_>) -> String| table.rows.iter().map(of).collect::<Vec<_>>();
    json!({
        "length": table.rows.len(),
        "id": column(|row| row.id.0.clone().into_owned()),
        "name": column(|row| row.name.0.clone().into_owned()),
        "baseURL": column(|row| row.base_url.0.clone().into_owned()),
    })
}

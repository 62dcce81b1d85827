//! A node as files have it, in both shapes.

use serde::Deserialize;

use crate::format::import_report::ImportReport;
use crate::format::json_value::{Index, Number, Text};
use crate::format::v8_profile::{CallFrame, Row, V8Profile};
use crate::model::ProfileBuilder;

/// What it runs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Call {
    pub function_name: Option<Text>,
    pub url: Option<Text>,
    pub line_number: Option<Number>,
    pub column_number: Option<Number>,
}

/// How often one of its lines was met.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tick {
    line: Index,
    ticks: Index,
}

/// A node without the nodes below it.
#[derive(Default)]
pub(super) struct Node {
    pub id: Index,
    pub hits: Index,
    pub call: Call,
    /// Whether its lines count from 1.
    pub is_one_based: bool,
    pub ticks: Vec<Tick>,
}

impl Node {
    /// Makes it the announced node `row`.
    pub(super) fn fill(
        self,
        row: Row,
        v8: &mut V8Profile,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
        place: impl FnOnce() -> String,
    ) {
        let number = |number: Option<Number>| match number? {
            Number::Integer(value) => value.checked_sub(i64::from(self.is_one_based)),
            Number::Float(_) => None,
        };
        let call = CallFrame {
            name: self.call.function_name.as_ref().map_or("", |text| &text.0),
            url: self.call.url.as_ref().map_or("", |text| &text.0),
            line: number(self.call.line_number),
            column: number(self.call.column_number),
        };
        v8.fill(row, (self.id, self.hits.0.unwrap_or(0)), &call, builder, report, place);
        for tick in &self.ticks {
            v8.add_ticks(row, tick.line, tick.ticks.0.unwrap_or(0));
        }
    }
}

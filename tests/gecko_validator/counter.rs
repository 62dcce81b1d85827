//! Counters.

use serde_json::Value;

use super::{Sizes, Violations, ascending, is_row, is_string_or_null, list, marker};

const SOURCES: [&str; 9] = [
    "count",
    "rate",
    "cpu-ratio",
    "accumulated",
    "count-range",
    "selection-total",
    "selection-rate",
    "committed-range-total",
    "sample-number",
];

pub(super) fn check(found: &mut Violations, file: &Value, sizes: &Sizes) {
    found.optional(file, "", "counters", "an array", Value::is_array);
    for (index, counter) in list(file, "counters").iter().enumerate() {
        let path = format!("counters[{index}]");
        for key in ["name", "category", "description", "pid"] {
            found.field(counter, &path, key, "a string", Value::is_string);
        }
        found.field(counter, &path, "mainThreadIndex", "a thread", |thread| is_row(thread, sizes.threads));
        samples(found, &counter["samples"], &format!("{path}.samples"));
        found.field(counter, &path, "display", "an object", Value::is_object);
        display(found, &counter["display"], &format!("{path}.display"));
    }
}

fn samples(found: &mut Violations, samples: &Value, path: &str) {
    let times = if samples.get("timeDeltas").is_some() { "timeDeltas" } else { "time" };
    found.column(samples, path, times, "a time", |_, time| time.is_number());
    if let Some(row) = ascending(list(samples, "time")) {
        found.add(format_args!("{path}.time[{row}]"), "before the one before it");
    }
    // The front end takes the first change for 0, so anything else is lost.
    let first_is_zero = |row: usize, value: &Value| row > 0 || value.as_f64() == Some(0.0);
    found.column(samples, path, "count", "a number, the first 0", |row, value| {
        value.is_number() && first_is_zero(row, value)
    });
    if samples.get("number").is_some() {
        found.column(samples, path, "number", "a number, the first 0", |row, value| {
            value.is_i64() && first_is_zero(row, value)
        });
    }
}

fn display(found: &mut Violations, display: &Value, path: &str) {
    found.field(display, path, "graphType", "a graph", |kind| kind == "line-accumulated" || kind == "line-rate");
    found.field(display, path, "unit", "a string", Value::is_string);
    found.field(display, path, "color", "a graph's colour", marker::is_graph_color);
    found.field(display, path, "markerSchemaLocation", "a view or null", is_string_or_null);
    found.field(display, path, "sortWeight", "a number", Value::is_number);
    found.field(display, path, "label", "a string", Value::is_string);
    found.field(display, path, "tooltipRows", "an array", Value::is_array);
    for (index, row) in list(display, "tooltipRows").iter().enumerate() {
        let path = format!("{path}.tooltipRows[{index}]");
        found.field(row, &path, "type", "a type of row", |kind| kind == "value" || kind == "separator");
        if row["type"] != "value" {
            continue;
        }
        found.field(row, &path, "source", "a source", |source| SOURCES.iter().any(|known| source == known));
        found.field(row, &path, "label", "a string", Value::is_string);
        found.field(row, &path, "format", "a format", |format| {
            ["bytes", "bytes-per-second", "percent", "number"].iter().any(|unit| format["unit"] == *unit)
        });
    }
}

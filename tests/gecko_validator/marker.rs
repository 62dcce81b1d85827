//! Markers and their schemas.

use std::collections::HashSet;

use serde_json::Value;

use super::{Sizes, Violations, is_number_or_null, is_row, list};

/// Types that the front end has code of its own for, which expects fields of its own.
const RESERVED: [&str; 13] = [
    "Network",
    "CompositorScreenshot",
    "IPC",
    "GCMajor",
    "GCMinor",
    "GCSlice",
    "Log",
    "FileIO",
    "UserTiming",
    "Text",
    "tracing",
    "Jank",
    "BHR-detected hang",
];

const VIEWS: [&str; 8] = [
    "marker-chart",
    "marker-table",
    "timeline-overview",
    "timeline-memory",
    "timeline-ipc",
    "timeline-fileio",
    "timeline-network",
    "stack-chart",
];

const TEXT_FORMATS: [&str; 6] = ["string", "sanitized-string", "url", "file-path", "pid", "tid"];
const ROW_FORMATS: [&str; 3] = ["unique-string", "flow-id", "terminating-flow-id"];
const NUMBER_FORMATS: [&str; 11] = [
    "duration",
    "time",
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "bytes",
    "percentage",
    "integer",
    "decimal",
    "hexadecimal",
];
const GRAPH_COLORS: [&str; 10] =
    ["blue", "green", "grey", "ink", "magenta", "orange", "purple", "red", "teal", "yellow"];

pub(super) fn is_format(format: &Value) -> bool {
    let named = TEXT_FORMATS.iter().chain(&ROW_FORMATS).chain(&NUMBER_FORMATS).chain(&["list"]);
    let table = format["type"] == "table" && format["columns"].is_array();
    table || named.into_iter().any(|name| format == name)
}

pub(super) fn is_graph_color(color: &Value) -> bool {
    GRAPH_COLORS.iter().any(|known| color == known)
}

pub(super) fn schemas(found: &mut Violations, meta: &Value) {
    found.field(meta, "meta", "markerSchema", "an array", Value::is_array);
    let mut names = HashSet::new();
    for (row, schema) in list(meta, "markerSchema").iter().enumerate() {
        let path = format!("meta.markerSchema[{row}]");
        found.field(schema, &path, "name", "a string that is not reserved", |name| {
            name.as_str().is_some_and(|name| !RESERVED.contains(&name))
        });
        if !names.insert(schema["name"].to_string()) {
            found.add(format_args!("{path}.name"), "the same name again");
        }
        found.field(schema, &path, "display", "a list of views", |views| {
            let known = |view: &Value| VIEWS.iter().any(|known| view == known);
            views.as_array().is_some_and(|views| views.iter().all(known))
        });
        for key in ["tooltipLabel", "tableLabel", "chartLabel", "description", "colorField"] {
            found.optional(schema, &path, key, "a string", Value::is_string);
        }
        found.optional(schema, &path, "isStackBased", "true or false", Value::is_boolean);
        found.field(schema, &path, "fields", "an array", Value::is_array);
        let mut keys = HashSet::new();
        for (index, field) in list(schema, "fields").iter().enumerate() {
            let path = format!("{path}.fields[{index}]");
            found.field(field, &path, "key", "a string", Value::is_string);
            found.field(field, &path, "format", "a format", is_format);
            found.optional(field, &path, "label", "a string", Value::is_string);
            found.optional(field, &path, "hidden", "true or false", Value::is_boolean);
            if !keys.insert(field["key"].to_string()) {
                found.add(format_args!("{path}.key"), "the same key again");
            }
        }
        for (index, graph) in list(schema, "graphs").iter().enumerate() {
            let path = format!("{path}.graphs[{index}]");
            found.field(graph, &path, "key", "a string", Value::is_string);
            let kinds = ["bar", "line", "line-filled"];
            found.field(graph, &path, "type", "a graph", |kind| kinds.iter().any(|known| kind == known));
            found.optional(graph, &path, "color", "a graph's colour", is_graph_color);
        }
    }
}

pub(super) fn of_thread(found: &mut Violations, file: &Value, thread: &Value, path: &str, sizes: &Sizes) {
    found.field(thread, path, "markers", "an object", Value::is_object);
    let path = &format!("{path}.markers");
    let markers = &thread["markers"];
    found.column(markers, path, "name", "a string", |_, name| is_row(name, sizes.strings));
    found.column(markers, path, "category", "a category", |_, category| is_row(category, sizes.categories.len()));
    found.column(markers, path, "phase", "0 to 3", |_, phase| is_row(phase, 4));
    found.column(markers, path, "data", "an object or null", |_, data| data.is_null() || data.is_object());
    // Phases 0, 1, 2 have a start, 1 and 3 an end.
    let phase = |row: usize| markers["phase"][row].as_u64();
    found.column(markers, path, "startTime", "the time that its phase needs", |row, time| {
        time.is_number() || (time.is_null() && phase(row) == Some(3))
    });
    found.column(markers, path, "endTime", "the time that its phase needs", |row, time| {
        time.is_number() || (time.is_null() && !matches!(phase(row), Some(1 | 3)))
    });
    times(found, file, markers, path);
    for (row, data) in list(markers, "data").iter().enumerate().filter(|(_, data)| data.is_object()) {
        payload(found, file, data, &format!("{path}.data[{row}]"), sizes);
    }
}

/// What lies outside the recording is cut off.
fn times(found: &mut Violations, file: &Value, markers: &Value, path: &str) {
    let limit = |key: &str| file["meta"][key].as_f64();
    let (from, to) = (limit("profilingStartTime"), limit("profilingEndTime"));
    for (row, phase) in list(markers, "phase").iter().enumerate() {
        let [start, end] = ["startTime", "endTime"].map(|key| markers[key][row].as_f64());
        let used: &[Option<f64>] = match phase.as_u64() {
            Some(1) => &[start, end],
            Some(3) => &[end],
            _ => &[start],
        };
        let outside = |time: f64| from.is_some_and(|from| time < from) || to.is_some_and(|to| time > to);
        if used.iter().flatten().any(|time| outside(*time)) {
            found.add(format_args!("{path}[{row}]"), "outside profilingStartTime to profilingEndTime: cut off");
        }
        if phase.as_u64() == Some(1) && end < start {
            found.add(format_args!("{path}[{row}]"), "ends before it starts");
        }
    }
}

fn payload(found: &mut Violations, file: &Value, data: &Value, path: &str, sizes: &Sizes) {
    found.field(data, path, "type", "a string", Value::is_string);
    let schema = list(&file["meta"], "markerSchema").iter().find(|schema| schema["name"] == data["type"]);
    let Some(schema) = schema else {
        return found.add(format_args!("{path}.type"), format_args!("no schema is called {}", data["type"]));
    };
    if let Some(cause) = data.get("cause") {
        found.field(cause, &format!("{path}.cause"), "stack", "a stack", |stack| is_row(stack, sizes.stacks));
        found.optional(cause, &format!("{path}.cause"), "time", "a time", is_number_or_null);
    }
    for field in list(schema, "fields") {
        let (Some(key), Some(format)) = (field["key"].as_str(), field.get("format")) else { continue };
        let among = |names: &[&str]| names.iter().any(|name| format == name);
        let (expected, fits): (_, fn(&Value, usize) -> bool) = if among(&TEXT_FORMATS) {
            ("text", |value, _| value.is_string())
        } else if among(&ROW_FORMATS) {
            ("a row of the string table", is_row)
        } else if among(&NUMBER_FORMATS) {
            ("a number", |value, _| value.is_number())
        } else {
            ("an array", |value, _| value.is_array())
        };
        found.optional(data, path, key, expected, |value| fits(value, sizes.strings));
    }
}

//! `meta` and `libs`.

use serde_json::Value;

use super::{Sizes, Violations, is_string_or_null, list, marker};

const COLORS: [&str; 13] = [
    "transparent",
    "purple",
    "green",
    "orange",
    "yellow",
    "lightblue",
    "blue",
    "brown",
    "magenta",
    "red",
    "lightred",
    "darkgrey",
    "grey",
];

pub(super) fn check(found: &mut Violations, file: &Value, sizes: &Sizes) {
    let meta = &file["meta"];
    found.field(file, "", "meta", "an object", Value::is_object);
    found.field(meta, "meta", "preprocessedProfileVersion", "64", |value| value.as_u64() == Some(64));
    found.field(meta, "meta", "interval", "positive", |value| value.as_f64().is_some_and(|ms| ms > 0.0));
    for key in ["startTime", "processType", "version", "profilingStartTime", "profilingEndTime"] {
        found.field(meta, "meta", key, "a number", Value::is_number);
    }
    found.field(meta, "meta", "product", "a string", Value::is_string);
    found.field(meta, "meta", "stackwalk", "0 or 1", |value| value.as_u64().is_some_and(|flag| flag < 2));
    found.field(meta, "meta", "symbolicated", "true: symbols would be asked for", |value| value == true);
    for key in ["usesOnlyOneStackType", "sourceCodeIsNotOnSearchfox", "keepProfileThreadOrder"] {
        found.field(meta, "meta", key, "true", |value| value == true);
    }
    if let (Some(start), Some(end)) = (meta["profilingStartTime"].as_f64(), meta["profilingEndTime"].as_f64())
        && end < start
    {
        found.add("meta.profilingEndTime", "before profilingStartTime");
    }
    for key in ["oscpu", "platform", "abi", "CPUName", "arguments", "importedFrom"] {
        found.optional(meta, "meta", key, "a string", is_string_or_null);
    }
    for key in ["logicalCPUs", "physicalCPUs", "mainMemory", "startTimeAsClockMonotonicNanosecondsSinceBoot"] {
        found.optional(meta, "meta", key, "a number", Value::is_number);
    }
    for key in ["initialVisibleThreads", "initialSelectedThreads"] {
        for thread in list(meta, key) {
            if !super::is_row(thread, sizes.threads) {
                found.add(format_args!("meta.{key}"), format_args!("{thread} is not a thread"));
            }
        }
    }
    sample_units(found, file);
    categories(found, meta);
    extra(found, meta);
    marker::schemas(found, meta);
    libs(found, file);
}

fn sample_units(found: &mut Violations, file: &Value) {
    let units = &file["meta"]["sampleUnits"];
    let used = list(file, "threads").iter().any(|thread| thread["samples"].get("threadCPUDelta").is_some());
    if units.is_null() {
        if used {
            found.add("meta.sampleUnits", "missing, so CPU deltas are ignored");
        }
        return;
    }
    found.field(units, "meta.sampleUnits", "time", "a unit", |unit| unit == "ms" || unit == "bytes");
    found.field(units, "meta.sampleUnits", "eventDelay", "a unit", |unit| unit == "ms");
    // The µ has to be U+00B5.
    let known = ["ns", "\u{b5}s", "variable CPU cycles"];
    found.field(units, "meta.sampleUnits", "threadCPUDelta", "a unit", |unit| known.iter().any(|known| unit == known));
}

fn categories(found: &mut Violations, meta: &Value) {
    let categories = list(meta, "categories");
    if !categories.iter().any(|category| category["color"] == "grey") {
        found.add("meta.categories", "no grey category: the call tree throws");
    }
    if categories.len() > 256 {
        found.add("meta.categories", format_args!("{} categories, at most 256 can be told apart", categories.len()));
    }
    for (row, category) in categories.iter().enumerate() {
        let path = format!("meta.categories[{row}]");
        found.field(category, &path, "name", "a string", Value::is_string);
        found.field(category, &path, "color", "a colour", |color| COLORS.iter().any(|known| color == known));
        found.field(category, &path, "subcategories", "strings that begin with \"Other\"", |value| {
            let names = value.as_array().map_or(&[][..], Vec::as_slice);
            names.first().is_some_and(|first| first == "Other") && names.iter().all(Value::is_string)
        });
    }
}

fn extra(found: &mut Violations, meta: &Value) {
    for (row, section) in list(meta, "extra").iter().enumerate() {
        let path = format!("meta.extra[{row}]");
        found.field(section, &path, "label", "a string", Value::is_string);
        found.field(section, &path, "entries", "an array", Value::is_array);
        for (entry, value) in list(section, "entries").iter().enumerate() {
            let path = format!("{path}.entries[{entry}]");
            found.field(value, &path, "label", "a string", Value::is_string);
            found.field(value, &path, "format", "a format", marker::is_format);
            found.field(value, &path, "value", "a value", |value| !value.is_null());
        }
    }
}

fn libs(found: &mut Violations, file: &Value) {
    found.field(file, "", "libs", "an array", Value::is_array);
    for (row, lib) in list(file, "libs").iter().enumerate() {
        let path = format!("libs[{row}]");
        for key in ["arch", "name", "path", "debugName", "debugPath", "breakpadId"] {
            found.field(lib, &path, key, "a string", Value::is_string);
        }
        found.field(lib, &path, "codeId", "a string or null", is_string_or_null);
    }
}

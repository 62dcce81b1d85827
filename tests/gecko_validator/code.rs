//! `shared`: strings, stacks, frames, functions and what they refer to.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    Sizes, Violations, is_number_or_null, is_position_or_null, is_row, is_row_or_null, is_string_or_null, list,
};

pub(super) fn check(found: &mut Violations, file: &Value, sizes: &Sizes) {
    found.field(file, "", "shared", "an object", Value::is_object);
    let shared = &file["shared"];
    strings(found, shared);
    let stacks = &shared["stackTable"];
    found.column(stacks, "shared.stackTable", "frame", "a frame", |_, frame| is_row(frame, sizes.frames));
    // A caller stands before its callee.
    found.column(stacks, "shared.stackTable", "prefix", "an earlier stack", |row, stack| is_row_or_null(stack, row));
    frames(found, &shared["frameTable"], sizes);
    functions(found, &shared["funcTable"], sizes);
    other_tables(found, shared, sizes);
    inline_frames(found, shared);
}

fn strings(found: &mut Violations, shared: &Value) {
    found.field(shared, "shared", "stringArray", "an array", Value::is_array);
    let mut known = HashSet::new();
    for (row, string) in list(shared, "stringArray").iter().enumerate() {
        match string.as_str() {
            None => found.add(format_args!("shared.stringArray[{row}]"), "not a string"),
            Some(text) if !known.insert(text) => {
                found.add(format_args!("shared.stringArray[{row}]"), format_args!("{text:?} again"));
            }
            Some(_) => {}
        }
    }
}

fn frames(found: &mut Violations, table: &Value, sizes: &Sizes) {
    let path = "shared.frameTable";
    found.column(table, path, "func", "a function", |_, value| is_row(value, sizes.functions));
    found.column(table, path, "address", "-1 or an address below 2^31", |_, value| {
        value.as_i64().is_some_and(|address| (-1..1 << 31).contains(&address))
    });
    found.column(table, path, "inlineDepth", "0 to 255", |_, value| value.as_u64().is_some_and(|depth| depth <= 255));
    let categories = &sizes.categories;
    found.column(table, path, "category", "a category", |_, value| is_row_or_null(value, categories.len()));
    found.column(table, path, "subcategory", "a subcategory of the frame's category", |row, value| {
        let category = table["category"].get(row).and_then(Value::as_u64);
        let count = category.and_then(|category| categories.get(usize::try_from(category).ok()?));
        is_row(value, count.copied().unwrap_or(1))
    });
    found.column(table, path, "nativeSymbol", "a symbol", |_, value| is_row_or_null(value, sizes.symbols));
    found.column(table, path, "innerWindowID", "a number", |_, value| value.is_number());
    found.column(table, path, "line", "a line", |_, value| is_position_or_null(value));
    found.column(table, path, "column", "a column", |_, value| is_position_or_null(value));
    found.column(table, path, "originalLocation", "a location", |_, value| is_row_or_null(value, sizes.locations));
}

fn functions(found: &mut Violations, table: &Value, sizes: &Sizes) {
    let path = "shared.funcTable";
    found.column(table, path, "name", "a string", |_, value| is_row(value, sizes.strings));
    found.column(table, path, "isJS", "true or false", |_, value| value.is_boolean());
    found.column(table, path, "relevantForJS", "true or false", |_, value| value.is_boolean());
    found.column(table, path, "resource", "-1 or a resource", |_, value| {
        value.as_i64() == Some(-1) || is_row(value, sizes.resources)
    });
    found.column(table, path, "source", "a source", |_, value| is_row_or_null(value, sizes.sources));
    found.column(table, path, "lineNumber", "a line", |_, value| is_position_or_null(value));
    found.column(table, path, "columnNumber", "a column", |_, value| is_position_or_null(value));
    found.column(table, path, "originalLocation", "a location", |_, value| is_row_or_null(value, sizes.locations));
    // Call trees are keyed by function: the same function twice is two nodes.
    let mut known = HashSet::new();
    for row in 0..sizes.functions {
        let key = ["name", "resource", "source", "lineNumber"].map(|column| table[column][row].to_string());
        if !known.insert(key) {
            found.add(format_args!("{path}[{row}]"), "the same name, resource, source and line again");
        }
    }
}

fn other_tables(found: &mut Violations, shared: &Value, sizes: &Sizes) {
    let (table, path) = (&shared["resourceTable"], "shared.resourceTable");
    found.column(table, path, "name", "a string", |_, value| is_row(value, sizes.strings));
    found.column(table, path, "lib", "a library", |_, value| is_row_or_null(value, sizes.libs));
    found.column(table, path, "host", "a string", |_, value| is_row_or_null(value, sizes.strings));
    found.column(table, path, "type", "0 to 5", |_, value| is_row(value, 6));

    let (table, path) = (&shared["nativeSymbols"], "shared.nativeSymbols");
    found.column(table, path, "libIndex", "a library", |_, value| is_row(value, sizes.libs));
    found.column(table, path, "address", "an address", |_, value| value.is_u64());
    found.column(table, path, "name", "a string", |_, value| is_row(value, sizes.strings));
    found.column(table, path, "functionSize", "a size", |_, value| value.is_null() || value.is_u64());

    let (table, path) = (&shared["sources"], "shared.sources");
    found.column(table, path, "filename", "a string", |_, value| is_row(value, sizes.strings));
    found.column(table, path, "id", "a string or null", |_, value| is_string_or_null(value));
    found.column(table, path, "startLine", "a line", |_, value| value.as_u64().is_some_and(|line| line >= 1));
    found.column(table, path, "startColumn", "a column", |_, value| value.as_u64().is_some_and(|column| column >= 1));
    found.column(table, path, "sourceMapURL", "a string or null", |_, value| is_row_or_null(value, sizes.strings));
    found.column(table, path, "content", "text or null", |_, value| is_string_or_null(value));

    let (table, path) = (&shared["sourceLocationTable"], "shared.sourceLocationTable");
    found.column(table, path, "source", "a source", |_, value| is_row(value, sizes.sources));
    found.column(table, path, "line", "a number", |_, value| is_number_or_null(value));
    found.column(table, path, "column", "a number", |_, value| is_number_or_null(value));
}

/// An inlined frame is called by the frame that it was inlined into, one less deep, at the same address.
fn inline_frames(found: &mut Violations, shared: &Value) {
    let (frames, functions) = (&shared["frameTable"], &shared["funcTable"]);
    let index = |value: &Value| value.as_u64().and_then(|row| usize::try_from(row).ok());
    let place = |frame: usize| {
        let function = index(&frames["func"][frame]);
        let resource = function.and_then(|function| index(&functions["resource"][function]));
        let lib = resource.map(|resource| &shared["resourceTable"]["lib"][resource]).filter(|lib| !lib.is_null());
        (&frames["address"][frame], lib, &frames["nativeSymbol"][frame])
    };
    for (row, frame) in list(&shared["stackTable"], "frame").iter().enumerate() {
        let Some(frame) = index(frame) else { continue };
        let depth = frames["inlineDepth"][frame].as_u64().unwrap_or_default();
        if depth == 0 {
            continue;
        }
        let caller = index(&shared["stackTable"]["prefix"][row]);
        let caller = caller.and_then(|caller| index(&shared["stackTable"]["frame"][caller]));
        let fits = caller.is_some_and(|caller| {
            frames["inlineDepth"][caller].as_u64() == Some(depth - 1) && place(caller) == place(frame)
        });
        if !fits {
            let message = "the caller of an inlined frame is not what it was inlined into";
            found.add(format_args!("shared.stackTable[{row}]"), message);
        }
    }
}

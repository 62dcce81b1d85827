//! Checks a Firefox Profiler file of version 64 against the rules of the format, knowing nothing of our writer.
//!
//! The front end itself checks hardly anything: a file that breaks a rule loads and is silently wrong, or a panel
//! throws later. So every rule that a file can be checked for is checked here.

mod code;
mod counter;
mod marker;
mod meta;
mod thread;

use std::fmt::Display;

use serde_json::Value;

/// All violations in `file`, each with its path.
pub fn violations(file: &Value) -> Vec<String> {
    let mut found = Violations(Vec::new());
    let sizes = Sizes::of(file);
    meta::check(&mut found, file, &sizes);
    code::check(&mut found, file, &sizes);
    thread::check(&mut found, file, &sizes);
    counter::check(&mut found, file, &sizes);
    found.0
}

struct Violations(Vec<String>);

/// How many rows the tables have that others refer to.
struct Sizes {
    strings: usize,
    categories: Vec<usize>,
    libs: usize,
    stacks: usize,
    frames: usize,
    functions: usize,
    resources: usize,
    symbols: usize,
    sources: usize,
    locations: usize,
    threads: usize,
}

impl Sizes {
    fn of(file: &Value) -> Self {
        let rows = |pointer: &str| file.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
        let categories = file.pointer("/meta/categories").and_then(Value::as_array);
        let subcategories = |category: &Value| category["subcategories"].as_array().map_or(0, Vec::len);
        Self {
            strings: rows("/shared/stringArray"),
            categories: categories.map_or(Vec::new(), |list| list.iter().map(subcategories).collect()),
            libs: rows("/libs"),
            stacks: rows("/shared/stackTable/frame"),
            frames: rows("/shared/frameTable/func"),
            functions: rows("/shared/funcTable/name"),
            resources: rows("/shared/resourceTable/name"),
            symbols: rows("/shared/nativeSymbols/name"),
            sources: rows("/shared/sources/filename"),
            locations: rows("/shared/sourceLocationTable/source"),
            threads: rows("/threads"),
        }
    }
}

impl Violations {
    fn add(&mut self, path: impl Display, message: impl Display) {
        self.0.push(format!("{path}: {message}"));
    }

    /// That `value[key]` is there and `fits`.
    fn field(&mut self, value: &Value, path: &str, key: &str, expected: &str, fits: impl Fn(&Value) -> bool) {
        match value.get(key) {
            None => self.add(format_args!("{path}.{key}"), "missing"),
            Some(value) if !fits(value) => {
                self.add(format_args!("{path}.{key}"), format_args!("{value} is not {expected}"));
            }
            Some(_) => {}
        }
    }

    /// That `value[key]`, if it is there, `fits`.
    fn optional(&mut self, value: &Value, path: &str, key: &str, expected: &str, fits: impl Fn(&Value) -> bool) {
        if value.get(key).is_some() {
            self.field(value, path, key, expected, fits);
        }
    }

    /// That `table[key]` is an array of `table.length` values that `fit`.
    fn column(&mut self, table: &Value, path: &str, key: &str, expected: &str, fits: impl Fn(usize, &Value) -> bool) {
        let Some(column) = table.get(key) else {
            return self.add(format_args!("{path}.{key}"), "missing");
        };
        let Some(column) = column.as_array() else {
            return self.add(format_args!("{path}.{key}"), "not an array");
        };
        let length = table["length"].as_u64();
        if length != Some(column.len() as u64) {
            self.add(format_args!("{path}.{key}"), format_args!("{} rows, but length is {length:?}", column.len()));
        }
        for (row, value) in column.iter().enumerate() {
            if !fits(row, value) {
                self.add(format_args!("{path}.{key}[{row}]"), format_args!("{value} is not {expected}"));
            }
        }
    }
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_row(value: &Value, rows: usize) -> bool {
    value.as_u64().is_some_and(|row| row < rows as u64)
}

fn is_row_or_null(value: &Value, rows: usize) -> bool {
    value.is_null() || is_row(value, rows)
}

fn is_number_or_null(value: &Value) -> bool {
    value.is_null() || value.is_number()
}

fn is_string_or_null(value: &Value) -> bool {
    value.is_null() || value.is_string()
}

/// Lines and columns count from 1.
fn is_position_or_null(value: &Value) -> bool {
    value.is_null() || value.as_u64().is_some_and(|position| position >= 1)
}

/// That times ascend; `column` of numbers.
fn ascending(column: &[Value]) -> Option<usize> {
    let times: Vec<f64> = column.iter().filter_map(Value::as_f64).collect();
    times.windows(2).position(|pair| pair[1] < pair[0]).map(|row| row + 1)
}

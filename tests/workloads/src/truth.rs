//! The line of JSON that a workload ends with.
#![expect(clippy::print_stdout, reason = "the truth is printed for the tests")]

use std::fmt::Write as _;

/// Collects names and values in the order in which they are added.
#[derive(Debug, Default)]
pub struct Truth {
    fields: String,
}

impl Truth {
    /// Nothing known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number.
    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, &value.to_string())
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        let quoted = quoted(value);
        self.raw(name, &quoted)
    }

    /// Adds an object.
    #[must_use]
    pub fn object(self, name: &str, value: &Self) -> Self {
        let value = value.to_json();
        self.raw(name, &value)
    }

    /// The object as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{{{}}}", self.fields)
    }

    /// Prints the line.
    pub fn print(&self) {
        println!("{}", self.to_json());
    }

    fn raw(mut self, name: &str, value: &str) -> Self {
        if !self.fields.is_empty() {
            self.fields.push(',');
        }
        write!(self.fields, "{}:{value}", quoted(name)).expect("a String takes any text");
        self
    }
}

/// The text as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if u32::from(c) < 0x20 => write!(json, "\\u{:04x}", u32::from(c)).expect("a String takes any text"),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

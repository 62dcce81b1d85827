//! Objects in a trace, by the names of their fields.

use super::scan::{self, Fault, Text, Value};

/// The fields of an object, by name.
pub(super) struct Arguments<'a>(Vec<(Text<'a>, Value<'a>)>);

impl<'a> Arguments<'a> {
    /// Of an object as written; of nothing: none.
    pub(super) fn of(object: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        if object.starts_with(b"{") {
            let _damage = scan::fields_into(object, &mut fields);
        }
        Self(fields)
    }

    /// Of an object that has to be whole.
    pub(super) fn of_whole(object: &'a [u8]) -> Result<Self, Fault> {
        scan::fields(object).map(Self)
    }

    /// The value of a field, of equal ones the last.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.0.iter().rev().find(|(name, _)| name.raw == key.as_bytes()).map(|(_, value)| *value)
    }

    /// All fields in the order of the text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Text<'a>, Value<'a>)> {
        self.0.iter().copied()
    }

    /// The fields of an object in it; none of anything else.
    pub(super) fn object(&self, key: &str) -> Self {
        match self.get(key) {
            Some(Value::Object(object)) => Self::of(object),
            _ => Self(Vec::new()),
        }
    }

    /// The elements of an array in it; none of anything else.
    pub(super) fn list(&self, key: &str) -> Vec<Value<'a>> {
        match self.get(key) {
            Some(Value::Array(array)) => scan::elements(array).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// A string, or a number as written.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::Text(text) => Some(text.decode().into_owned()),
            Value::Number(number) => Some(String::from_utf8_lossy(number).into_owned()),
            _ => None,
        }
    }

    /// A finite number, also one in a string.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        number(self.get(key)?)
    }
}

/// A finite number, also one in a string.
pub(super) fn number(value: Value<'_>) -> Option<f64> {
    let text = match value {
        Value::Number(text) => text,
        Value::Text(text) => text.raw.trim_ascii(),
        _ => return None,
    };
    std::str::from_utf8(text).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
}

//! The data of markers. Most of it is never looked at before it goes into the model, so it stays as text of the file until
//! then; what an upgrade changes is taken apart first.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Str;
use crate::format::json_scan::{Scan, Scanner};

/// The data of a marker.
#[derive(Default)]
pub(in super::super) enum Payload<'a> {
    #[default]
    None,
    /// As it stands in the file; an object, if the file is right.
    Text(&'a RawValue),
    /// Taken apart.
    Fields(Fields<'a>),
}

/// The fields of an object in the order of the file.
#[derive(Default)]
pub(in super::super) struct Fields<'a>(pub Vec<(Cow<'a, str>, Cow<'a, RawValue>)>);

impl<'a> Payload<'a> {
    /// The fields, without changing anything; `None` if it is no object.
    pub(in super::super) fn fields(&self) -> Option<Cow<'_, Fields<'a>>> {
        match self {
            Self::None => None,
            Self::Text(text) => serde_json::from_str(text.get()).ok().map(Cow::Owned),
            Self::Fields(fields) => Some(Cow::Borrowed(fields)),
        }
    }

    /// The fields, to change them; `None` if there are none.
    pub(in super::super) fn fields_mut(&mut self) -> Option<&mut Fields<'a>> {
        if let Self::Text(text) = self {
            *self = Self::Fields(serde_json::from_str(text.get()).ok()?);
        }
        match self {
            Self::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    /// Whether its text holds `word` somewhere; also true when it was taken apart.
    pub(in super::super) fn may_hold(&self, word: &str) -> bool {
        match self {
            Self::None => false,
            Self::Text(text) => memchr::memmem::find(text.get().as_bytes(), word.as_bytes()).is_some(),
            Self::Fields(_) => true,
        }
    }
}

impl Clone for Fields<'_> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a> Fields<'a> {
    /// The JSON text of a field. Of several with one name the last counts, as in JavaScript.
    pub(in super::super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.get())
    }

    pub(in super::super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(in super::super) fn str(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    pub(in super::super) fn number(&self, key: &str) -> Option<f64> {
        serde_json::from_str(self.get(key)?).ok()
    }

    pub(in super::super) fn value(&self, key: &str) -> Option<Value> {
        serde_json::from_str(self.get(key)?).ok()
    }

    pub(in super::super) fn remove(&mut self, key: &str) -> Option<Cow<'a, RawValue>> {
        let at = self.0.iter().rposition(|(known, _)| known == key)?;
        Some(self.0.remove(at).1)
    }

    /// Sets a field, in its place if it is there, else at the end.
    pub(in super::super) fn set(&mut self, key: &'a str, value: &(impl Serialize + ?Sized)) {
        // What a number of JSON cannot say (NaN) becomes null; nothing else can fail in memory.
        if let Ok(value) = serde_json::value::to_raw_value(value) {
            self.put(key, Cow::Owned(value));
        }
    }

    pub(in super::super) fn put(&mut self, key: &'a str, value: Cow<'a, RawValue>) {
        match self.0.iter_mut().rev().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => self.0.push((Cow::Borrowed(key), value)),
        }
    }

    /// Gives a field another name.
    pub(in super::super) fn rename(&mut self, from: &str, to: &'a str) {
        if let Some(value) = self.remove(from) {
            self.put(to, value);
        }
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Payload<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Option<&'de RawValue> = Deserialize::deserialize(deserializer)?;
        Ok(text.map_or(Self::None, Self::Text))
    }
}

impl<'a> Scan<'a> for Payload<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        Option::<&RawValue>::scan(scanner).map(|text| text.map_or(Self::None, Self::Text))
    }
}

impl<'a> Scan<'a> for Fields<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.by_serde()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the data of a marker")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((key, value)) = map.next_entry::<Str<'de>, &'de RawValue>()? {
                    fields.push((key.0, Cow::Borrowed(value)));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_text() {
        let text = r#"{"type": "A", "n": 1.50, "deep": {"b": 1, "a": [2]}}"#;
        let mut payload: Payload<'_> = serde_json::from_str(text).expect("an object");
        assert!(payload.may_hold("\"deep\"") && !payload.may_hold("other"));
        let fields = payload.fields_mut().expect("an object");
        assert_eq!(
            (fields.str("type").as_deref(), fields.get("n"), fields.number("n")),
            (Some("A"), Some("1.50"), Some(1.5))
        );
        fields.set("n", &2);
        fields.rename("deep", "other");
        fields.set("last", "x");
        let keys: Vec<_> = fields.0.iter().map(|(key, value)| (&**key, value.get())).collect();
        assert_eq!(keys, [("type", "\"A\""), ("n", "2"), ("other", r#"{"b": 1, "a": [2]}"#), ("last", "\"x\"")]);
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        for text in ["5", "[1]", "null", "\"x\""] {
            let mut payload: Payload<'_> = serde_json::from_str(text).expect("a value");
            assert!(payload.fields().is_none() && payload.fields_mut().is_none(), "{text}");
        }
    }
}

//! The different strings of a trace.

use std::borrow::Cow;
use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use super::Scalar;
use crate::format::chrome::scan::{Text, Value};

/// A string of an [`EventTable`](super::EventTable); equal strings have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TextId(NonZeroU32);

/// Different strings in the order of their first use. Those without escapes are not copied.
#[derive(Debug, Default)]
pub(super) struct Texts<'a> {
    texts: Vec<Cow<'a, str>>,
    /// By how they are written.
    by_raw: FxHashMap<&'a [u8], TextId>,
    /// Those that are written otherwise than they read.
    by_meaning: FxHashMap<Box<str>, TextId>,
}

impl TextId {
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl<'a> Texts<'a> {
    pub(super) fn get(&self, id: TextId) -> &str {
        &self.texts[id.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Lets go of what finds equal strings: there come no more.
    pub(super) fn forget(&mut self) {
        (self.by_raw, self.by_meaning) = (FxHashMap::default(), FxHashMap::default());
    }

    /// The id of a string.
    pub(super) fn of(&mut self, text: Text<'a>) -> TextId {
        if let Some(id) = self.by_raw.get(text.raw) {
            return *id;
        }
        let decoded = text.decode();
        let is_plain = matches!(decoded, Cow::Borrowed(_));
        let known = self.by_meaning.get(&*decoded).copied().or_else(|| {
            // What is written plainly is written as it reads, unless a backslash makes it another string.
            let may_be_plain = !is_plain && !decoded.contains('\\');
            may_be_plain.then(|| self.by_raw.get(decoded.as_bytes()).copied()).flatten()
        });
        let id = known.unwrap_or_else(|| {
            let next = u32::try_from(self.texts.len() + 1).ok().and_then(NonZeroU32::new);
            let id =
                TextId(next.expect("a text has fewer strings than bytes, and its table of events fewer than 2^32"));
            if !is_plain {
                self.by_meaning.insert((*decoded).into(), id);
            }
            self.texts.push(decoded);
            id
        });
        self.by_raw.insert(text.raw, id);
        id
    }

    /// The id of what a name or category is: a string, or else the value as written. `null` is none.
    pub(super) fn of_value(&mut self, value: Value<'a>) -> Option<TextId> {
        match value {
            Value::Text(text) => Some(self.of(text)),
            Value::Word(b"null") => None,
            other => Some(self.of(Text { raw: other.written(), is_escaped: false })),
        }
    }

    pub(super) fn scalar(&mut self, value: Option<Value<'a>>) -> Scalar {
        let plain = |raw| Text { raw, is_escaped: false };
        match value {
            None => Scalar::Missing,
            Some(Value::Text(text)) => Scalar::Text(self.of(text)),
            Some(Value::Number(number)) => match whole_number(number) {
                Some(number) => Scalar::Integer(number),
                None => Scalar::Number(self.of(plain(number))),
            },
            Some(other) => Scalar::Other(self.of(plain(other.written()))),
        }
    }
}

/// The number that `text` is, if it is whole and fits, however it is written.
fn whole_number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = text.parse().ok()?;
    // Where a double is exact.
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_have_one_id_however_they_are_written() {
        let mut texts = Texts::default();
        let mut of = |raw: &'static str| texts.of(Text { raw: raw.as_bytes(), is_escaped: raw.contains('\\') });
        let (plain, escaped) = (of("ab"), of("a\\u0062"));
        assert_eq!(plain, escaped);
        let (escaped, plain) = (of("c\\u0064"), of("cd"));
        assert_eq!(plain, escaped);
        let (tab, backslash) = (of("a\\tb"), of("a\\\\tb"));
        assert_ne!(tab, backslash, "a tab is no backslash with a t");
        assert_eq!(tab, of("a\\u0009b"));
        assert_eq!(backslash, of("a\\u005ctb"));
    }

    #[test]
    fn numbers_are_equal_by_value_and_to_no_string() {
        let mut texts = Texts::default();
        let mut of = |value| texts.scalar(Some(value));
        for text in ["12", "12.0", "1.2e1"] {
            assert_eq!(of(Value::Number(text.as_bytes())), Scalar::Integer(12), "{text}");
        }
        assert_eq!(of(Value::Number(b"-0")), Scalar::Integer(0));
        assert_eq!(of(Value::Number(b"9223372036854775807")), Scalar::Integer(i64::MAX));
        assert!(matches!(of(Value::Number(b"9223372036854775808")), Scalar::Number(_)));
        assert!(matches!(of(Value::Number(b"1.5")), Scalar::Number(_)));
        assert!(matches!(of(Value::Text(Text { raw: b"12", is_escaped: false })), Scalar::Text(_)));
        assert!(matches!(of(Value::Word(b"null")), Scalar::Other(_)));
        assert_eq!(texts.scalar(None), Scalar::Missing);
    }
}

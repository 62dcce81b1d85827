//! Values of JSON files that serde's own types would refuse or change.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use super::json_scan::{Scalar, Scan, Scanner};

/// A JSON number as it was written: whole or fractional.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::format) enum Number {
    Integer(i64),
    Float(f64),
}

/// A string that may have halves of surrogate pairs (JavaScript writes them); they become U+FFFD. Not copied where the file
/// has it without escapes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::format) struct Str<'a>(pub Cow<'a, str>);

/// The same, copied, for what outlives the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::format) struct Text(pub String);

/// An index or id that may be anything a table does not have: then it is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::format) struct Index(pub Option<u32>);

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "numbers of the file are doubles to all other tools")]
    pub(in crate::format) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// As a whole number of units of which this one has `scale`; the nearest that there is.
    pub(in crate::format) fn scaled(self, scale: i64) -> i64 {
        self.scaled_if_fits(scale).0
    }

    /// The same, and whether it is that number and not just the nearest that there is.
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and what does not fit is told")]
    pub(in crate::format) fn scaled_if_fits(self, scale: i64) -> (i64, bool) {
        match self {
            Self::Integer(value) => (value.saturating_mul(scale), value.checked_mul(scale).is_some()),
            Self::Float(value) => {
                let scaled = (value * Self::Integer(scale).as_f64()).round_ties_even();
                // The first number beyond.
                (scaled as i64, scaled.abs() < 9_223_372_036_854_775_808.0)
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Integer(value) => serializer.serialize_i64(value),
            Self::Float(value) => serializer.serialize_f64(value),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;

        impl Visitor<'_> for Numbers {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Integer(value))
            }

            #[expect(clippy::cast_precision_loss, reason = "beyond i64 only the double is left")]
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(i64::try_from(value).map_or(Number::Float(value as f64), Number::Integer))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Float(value))
            }
        }

        deserializer.deserialize_any(Numbers)
    }
}

impl<'a> Scan<'a> for Str<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        match scanner.plain_string() {
            Some(text) => Some(Self(Cow::Borrowed(text))),
            None => scanner.by_serde(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(value)))
            }

            fn visit_str<E>(self, value: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(value.to_owned())))
            }

            fn visit_borrowed_bytes<E>(self, value: &'de [u8]) -> Result<Str<'de>, E> {
                Ok(Str(String::from_utf8_lossy(value)))
            }

            fn visit_bytes<E>(self, value: &[u8]) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(String::from_utf8_lossy(value).into_owned())))
            }
        }

        // serde_json gives lone surrogates as bytes, and refuses them where a `str` is asked for.
        deserializer.deserialize_bytes(Texts)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer).map(|text| Self(text.0.into_owned()))
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Indices;

        impl Visitor<'_> for Indices {
            type Value = Index;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index")
            }

            fn visit_u64<E>(self, value: u64) -> Result<Index, E> {
                Ok(Index(u32::try_from(value).ok()))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Index, E> {
                Ok(Index(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Index, E> {
                Ok(Index(None))
            }

            fn visit_unit<E>(self) -> Result<Index, E> {
                Ok(Index(None))
            }
        }

        deserializer.deserialize_any(Indices)
    }
}

impl<'a> Scan<'a> for Number {
    #[inline]
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        match scanner.scalar() {
            Some(Scalar::Whole(value)) => Some(Self::Integer(value)),
            Some(Scalar::Real(value)) => Some(Self::Float(value)),
            Some(Scalar::Null | Scalar::Bool(_)) => None,
            None => scanner.by_serde(),
        }
    }
}

impl<'a> Scan<'a> for Text {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        match scanner.plain_string() {
            Some(text) => Some(Self(text.to_owned())),
            None => scanner.by_serde(),
        }
    }
}

impl<'a> Scan<'a> for Index {
    #[inline]
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        match scanner.scalar() {
            Some(Scalar::Whole(value)) => Some(Self(u32::try_from(value).ok())),
            Some(Scalar::Real(_) | Scalar::Null) => Some(Self(None)),
            Some(Scalar::Bool(_)) => None,
            None => scanner.by_serde(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::json_scan;

    #[test]
    fn numbers_keep_their_kind_and_every_bit() {
        for text in ["0", "-5", "9223372036854775807", "-9223372036854775808", "0.1", "1e-7", "123.456789"] {
            let number: Number = serde_json::from_str(text).expect(text);
            assert_eq!(serde_json::to_string(&number).expect("a number"), text);
        }
        assert_eq!(
            serde_json::from_str::<Number>("18446744073709551615").expect("large"),
            Number::Float(2f64.powi(64))
        );
        assert!(serde_json::from_str::<Number>("\"5\"").is_err());
    }

    #[test]
    fn times_are_scaled_to_the_nearest_whole_number() {
        let scaled = |number: Number| number.scaled(1_000);
        assert_eq!([0.0005, 0.0015, -2.0006].map(Number::Float).map(scaled), [0, 2, -2_001]);
        assert_eq!([7, i64::MAX, i64::MIN].map(Number::Integer).map(scaled), [7_000, i64::MAX, i64::MIN]);
        assert_eq!([1e300, f64::NAN].map(Number::Float).map(scaled), [i64::MAX, 0]);
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_plain_text_borrowed() {
        let text: Str<'_> = serde_json::from_str(r#""a\ud800b""#).expect("a string");
        assert!(text.0.starts_with('a') && text.0.ends_with('b') && text.0.contains('\u{fffd}'), "{text:?}");
        assert_eq!(serde_json::from_str::<Str<'_>>(r#""\ud83e\udd80""#).expect("a pair").0, "🦀");
        assert!(matches!(serde_json::from_str::<Str<'_>>(r#""plain""#).expect("a string").0, Cow::Borrowed("plain")));
        assert!(serde_json::from_str::<Str<'_>>("7").is_err());
        assert_eq!(serde_json::from_str::<Text>(r#""plain""#).expect("a string").0, "plain");
    }

    #[test]
    fn what_is_no_index_is_none() {
        let text = "[0, 4294967295, 4294967296, -1, 0.5, null, 1e3, -0]";
        let indices: Vec<Index> = serde_json::from_str(text).expect("numbers");
        assert_eq!(
            indices.iter().map(|index| index.0).collect::<Vec<_>>(),
            [Some(0), Some(u32::MAX), None, None, None, None, None, None]
        );
        assert_eq!(json_scan::scan_all::<Vec<Index>>(text), Some(indices));
        assert!(serde_json::from_str::<Index>("\"0\"").is_err());
    }
}

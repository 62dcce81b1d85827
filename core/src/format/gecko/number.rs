//! Values of the file that serde's own types would refuse or change.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// A JSON number as it was written: whole or fractional.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

/// A fractional number that may also be infinite or not a number, which JSON cannot say: then it is a string.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Exact(pub f64);

/// A string that may have halves of surrogate pairs (JavaScript writes them); they become U+FFFD.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Text(pub String);

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "numbers of the file are doubles to all other tools")]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
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

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Doubles;

        impl Visitor<'_> for Doubles {
            type Value = Exact;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a number, "inf", "-inf" or "NaN""#)
            }

            #[expect(clippy::cast_precision_loss, reason = "written as a double")]
            fn visit_i64<E>(self, value: i64) -> Result<Exact, E> {
                Ok(Exact(value as f64))
            }

            #[expect(clippy::cast_precision_loss, reason = "written as a double")]
            fn visit_u64<E>(self, value: u64) -> Result<Exact, E> {
                Ok(Exact(value as f64))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Exact, E> {
                Ok(Exact(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Exact, E> {
                match value {
                    "inf" => Ok(Exact(f64::INFINITY)),
                    "-inf" => Ok(Exact(f64::NEG_INFINITY)),
                    "NaN" => Ok(Exact(f64::NAN)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
                }
            }
        }

        deserializer.deserialize_any(Doubles)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl Visitor<'_> for Texts {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, value: &str) -> Result<Text, E> {
                Ok(Text(value.to_owned()))
            }

            fn visit_bytes<E>(self, value: &[u8]) -> Result<Text, E> {
                Ok(Text(String::from_utf8_lossy(value).into_owned()))
            }
        }

        // serde_json gives lone surrogates as bytes, and refuses them where a `str` is asked for.
        deserializer.deserialize_bytes(Texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for value in [0.1 + 0.2, 1e300, -0.0, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY] {
            let text = serde_json::to_string(&Exact(value)).expect("a double");
            assert_eq!(serde_json::from_str::<Exact>(&text).expect("a double").0.to_bits(), value.to_bits());
        }
        assert!(serde_json::from_str::<Exact>("\"NaN\"").expect("not a number").0.is_nan());
        assert!(serde_json::from_str::<Exact>("\"nan\"").is_err());
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let text: Text = serde_json::from_str(r#""a\ud800b""#).expect("a string");
        assert!(text.0.starts_with('a') && text.0.ends_with('b') && text.0.contains('\u{fffd}'), "{text:?}");
        assert_eq!(serde_json::from_str::<Text>(r#""\ud83e\udd80""#).expect("a pair").0, "🦀");
        assert!(serde_json::from_str::<Text>("7").is_err());
    }
}

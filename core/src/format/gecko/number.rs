//! Numbers of the file that JSON has no form for.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// A fractional number that may also be infinite or not a number, which JSON cannot say: then it is a string.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Exact(pub f64);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_keep_every_bit() {
        for value in [0.1 + 0.2, 1e300, -0.0, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY] {
            let text = serde_json::to_string(&Exact(value)).expect("a double");
            assert_eq!(serde_json::from_str::<Exact>(&text).expect("a double").0.to_bits(), value.to_bits());
        }
        assert!(serde_json::from_str::<Exact>("\"NaN\"").expect("not a number").0.is_nan());
        assert!(serde_json::from_str::<Exact>("\"nan\"").is_err());
    }
}

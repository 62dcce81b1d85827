//! How objects of the file are read: known keys into typed fields, all others kept as text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;

use crate::format::json_scan::{Scan, Scanner};

/// What an object has besides the keys that are known, in the order of the file.
pub(in super::super) type Kept<'a> = Vec<(Cow<'a, str>, Cow<'a, RawValue>)>;

/// The id of a process or thread.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in super::super) enum Id {
    #[default]
    Missing,
    Number(i64),
    Text(String),
}

/// A struct whose fields are what some keys of an object hold; a key that is missing leaves its field as it is by default.
/// Of a key that is there twice the last value counts, as in JavaScript. Read by a scanner, or by serde to the same result.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal,)* }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(in super::super) struct $name<'a> {
            $($(#[$field_doc])* pub $field: $type,)*
            /// All other keys.
            pub kept: $crate::format::gecko::schema::object::Kept<'a>,
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object;

                impl<'de> serde::de::Visitor<'de> for Object {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object (", stringify!($name), ")"))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name<'de>, A::Error> {
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<$crate::format::json_value::Str<'de>>()? {
                            match &*key.0 {
                                $($key => object.$field = map.next_value()?,)*
                                _ => object.kept.push((key.0, std::borrow::Cow::Borrowed(map.next_value::<&'de serde_json::value::RawValue>()?))),
                            }
                        }
                        Ok(object)
                    }
                }

                deserializer.deserialize_map(Object)
            }
        }

        impl<'a> $crate::format::json_scan::Scan<'a> for $name<'a> {
            fn scan(scanner: &mut $crate::format::json_scan::Scanner<'a>) -> Option<Self> {
                use $crate::format::json_scan::Scan;

                let mut object = Self::default();
                scanner.object(|scanner, key: $crate::format::json_value::Str<'a>| {
                    match &*key.0 {
                        $($key => object.$field = Scan::scan(scanner)?,)*
                        _ => object.kept.push((key.0, std::borrow::Cow::Borrowed(Scan::scan(scanner)?))),
                    }
                    Some(())
                })?;
                Some(object)
            }
        }
    };
}

pub(super) use object;

impl<'a> Scan<'a> for Id {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.by_serde()
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ids;

        impl Visitor<'_> for Ids {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a string")
            }

            fn visit_unit<E>(self) -> Result<Id, E> {
                Ok(Id::Missing)
            }

            fn visit_i64<E>(self, value: i64) -> Result<Id, E> {
                Ok(Id::Number(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Id, E> {
                Ok(i64::try_from(value).map_or_else(|_| Id::Text(value.to_string()), Id::Number))
            }

            #[expect(clippy::cast_possible_truncation, reason = "only whole numbers that fit stay numbers")]
            #[expect(clippy::float_cmp, reason = "exact on purpose")]
            #[expect(clippy::cast_precision_loss, reason = "the range is checked")]
            fn visit_f64<E>(self, value: f64) -> Result<Id, E> {
                let whole = value as i64;
                let same = whole as f64 == value && value.abs() < 9e15;
                Ok(if same { Id::Number(whole) } else { Id::Text(value.to_string()) })
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Id, E> {
                Ok(Id::Text(value.to_owned()))
            }
        }

        deserializer.deserialize_any(Ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_or_text() {
        let ids: Vec<Id> = serde_json::from_str(r#"[5, -1, 2.0, 0.5, "123.1", null]"#).expect("ids");
        let text = |text: &str| Id::Text(text.to_owned());
        assert_eq!(ids, [Id::Number(5), Id::Number(-1), Id::Number(2), text("0.5"), text("123.1"), Id::Missing]);
    }
}

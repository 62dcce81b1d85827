//! Values of JSON text as fields of the model.

use super::super::schema::Str;
use super::kept::compact;
use crate::model::{FieldValue, ProfileBuilder};

/// The value of JSON text. What is neither text, number nor truth value stays text of JSON.
pub(super) fn field_value(builder: &mut ProfileBuilder, text: &str) -> FieldValue {
    match text.as_bytes().first() {
        Some(b'"') => {
            if let Ok(Str(text)) = serde_json::from_str::<Str<'_>>(text) {
                return FieldValue::Text(builder.string(&text));
            }
        }
        Some(b't') => return FieldValue::Bool(true),
        Some(b'f') => return FieldValue::Bool(false),
        Some(b'-' | b'0'..=b'9') => {
            if let Some(number) = number(text) {
                return number;
            }
        }
        _ => {}
    }
    FieldValue::Json(builder.string(&compact(text)))
}

fn number(text: &str) -> Option<FieldValue> {
    if let Ok(whole) = text.parse::<i64>()
        && text != "-0"
    {
        return Some(FieldValue::Integer(whole));
    }
    // A whole number that only 64 bits without a sign hold would lose digits.
    if text.parse::<u64>().is_ok() {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(FieldValue::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_json_has_its_kind() {
        let mut builder = ProfileBuilder::new();
        let mut value = |text: &str| field_value(&mut builder, text);
        assert_eq!(value("-5"), FieldValue::Integer(-5));
        assert_eq!(value("1.50"), FieldValue::Float(1.5));
        assert_eq!(value("-0"), FieldValue::Float(-0.0));
        assert_eq!(value("true"), FieldValue::Bool(true));
        assert_eq!(value("false"), FieldValue::Bool(false));
        let texts = [r#""a\ud800""#, "null", "[1, 2]", "18446744073709551615", "1e999"].map(&mut value);
        let texts = texts.map(|value| match value {
            FieldValue::Text(id) | FieldValue::Json(id) => builder.tables().strings.get(id).to_owned(),
            other => panic!("{other:?}"),
        });
        assert_eq!(
            texts.each_ref().map(|text| text.trim_end_matches('\u{fffd}')),
            ["a", "null", "[1,2]", "18446744073709551615", "1e999"]
        );
    }
}

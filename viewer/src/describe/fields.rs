//! Values of arguments and of markers' data as text.

use traceview_core::analysis::Unit;
use traceview_core::model::{FieldValue, Nanos, Profile};
use traceview_core::report::{format_amount, format_duration, format_percent};

/// A value of which no more is known.
pub(super) fn plain(profile: &Profile, value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) | FieldValue::Json(text) => profile.string(*text).to_owned(),
        FieldValue::Integer(number) => number.to_string(),
        FieldValue::Float(number) => number.to_string(),
        FieldValue::Bool(truth) => truth.to_string(),
    }
}

/// A value in a format of marker schemas; as it is, where the format does not fit it.
pub(super) fn formatted(profile: &Profile, value: &FieldValue, format: &str) -> String {
    let formatted = match value {
        FieldValue::Integer(number) => integer(*number, format),
        FieldValue::Float(number) => float(*number, format),
        FieldValue::Text(_) | FieldValue::Bool(_) | FieldValue::Json(_) => None,
    };
    formatted.unwrap_or_else(|| plain(profile, value))
}

/// A template of marker schemas, `{marker.data.url} ({marker.name})`, with what `of_key` gives for each key in braces.
pub(super) fn filled_in(template: &str, of_key: impl Fn(&str) -> String) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, key, after)) = rest.split_once('{').and_then(|(before, from)| {
        let (key, after) = from.split_once('}')?;
        Some((before, key, after))
    }) {
        text.push_str(before);
        text.push_str(&of_key(key));
        rest = after;
    }
    text + rest
}

fn integer(number: i64, format: &str) -> Option<String> {
    match format {
        "nanoseconds" => Some(format_duration(Nanos(number))),
        "microseconds" => number.checked_mul(1000).map(|nanos| format_duration(Nanos(nanos))),
        "hexadecimal" => Some(format!("{number:#x}")),
        "integer" | "pid" | "tid" => None,
        #[expect(clippy::cast_precision_loss, reason = "it is shown with a few digits")]
        _ => float(number as f64, format),
    }
}

fn float(number: f64, format: &str) -> Option<String> {
    let duration = |millis: f64| Nanos::from_millis_f64(millis).map(format_duration);
    match format {
        "duration" | "time" | "milliseconds" => duration(number),
        "seconds" => duration(number * 1e3),
        "microseconds" => duration(number / 1e3),
        "nanoseconds" => duration(number / 1e6),
        "bytes" => Some(format_amount(number, Unit::Bytes)),
        "percentage" => Some(format_percent(number * 100.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestProfile;

    #[test]
    fn templates_are_filled_in() {
        let fill = |template: &str| filled_in(template, str::to_uppercase);
        assert_eq!(fill("{a} – {b.c}!"), "A – B.C!");
        assert_eq!([fill("plain"), fill("{open"), fill("}{}"), fill("")], ["plain", "{open", "}", ""]);
    }

    #[test]
    fn values_are_shown_in_their_formats() {
        let mut profile = TestProfile::new();
        let text = FieldValue::Text(profile.builder.string("src/main.rs"));
        let profile = profile.finish();
        for (value, format, expected) in [
            (FieldValue::Float(1.5), "duration", "1.50 ms"),
            (FieldValue::Integer(2), "seconds", "2.00 s"),
            (FieldValue::Integer(1500), "microseconds", "1.50 ms"),
            (FieldValue::Integer(1500), "nanoseconds", "1.50 µs"),
            (FieldValue::Integer(i64::MAX), "microseconds", "9223372036854775807"),
            (FieldValue::Integer(12_300_000), "bytes", "12.30 MB"),
            (FieldValue::Float(0.25), "percentage", "25.0 %"),
            (FieldValue::Integer(4711), "pid", "4711"),
            (FieldValue::Integer(255), "hexadecimal", "0xff"),
            (FieldValue::Bool(true), "string", "true"),
            (FieldValue::Float(f64::NAN), "duration", "NaN"),
            (text, "file-path", "src/main.rs"),
        ] {
            assert_eq!(formatted(&profile, &value, format), expected, "{format}");
        }
    }
}

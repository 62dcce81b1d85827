//! What the CPU clock of a thread says at an event (`tts`, `tdur`), as fields of markers; slices have a column for it.

use crate::model::FieldValue;

/// The fields of an event and of a marker, by which both are called: what the clock showed, and how much it went on.
pub(super) const KEYS: [&str; 2] = ["tts", "tdur"];

/// Nanoseconds as the field of a marker: microseconds, as they are in a trace.
#[expect(clippy::cast_precision_loss, reason = "a double is exact up to three months of nanoseconds")]
pub(super) fn field(nanos: i64) -> FieldValue {
    match nanos % 1000 {
        0 => FieldValue::Integer(nanos / 1000),
        _ => FieldValue::Float(nanos as f64 / 1000.0),
    }
}

/// Whether a field of a marker can be such a one.
pub(super) fn is_clock(value: &FieldValue) -> bool {
    matches!(value, FieldValue::Integer(_) | FieldValue::Float(_))
}

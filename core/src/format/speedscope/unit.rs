//! What the values of a profile count.

use serde::Deserialize;

use crate::model::WeightUnit;

/// A unit of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Unit {
    /// Anything: samples, lines, …
    #[default]
    None,
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
    Bytes,
    /// One that the format does not have.
    #[serde(other)]
    Unknown,
}

impl Unit {
    /// How many nanoseconds it is; `None` if it is no time.
    pub(super) const fn nanos(self) -> Option<i64> {
        match self {
            Self::Nanoseconds => Some(1),
            Self::Microseconds => Some(1_000),
            Self::Milliseconds => Some(1_000_000),
            Self::Seconds => Some(1_000_000_000),
            Self::None | Self::Bytes | Self::Unknown => None,
        }
    }

    /// What weights of this unit count.
    pub(super) const fn of_weights(self) -> WeightUnit {
        match self {
            Self::Nanoseconds | Self::Microseconds | Self::Milliseconds | Self::Seconds => WeightUnit::TracingMs,
            Self::Bytes => WeightUnit::Bytes,
            Self::None | Self::Unknown => WeightUnit::Samples,
        }
    }

    /// Its name in a file.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None | Self::Unknown => "none",
            Self::Nanoseconds => "nanoseconds",
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
        }
    }
}

/// `nanos`, or the whole number that it is but for the rounding of doubles.
pub(super) fn near_whole(nanos: f64) -> f64 {
    let whole = nanos.round_ties_even();
    if (nanos - whole).abs() <= whole.abs() * 4.0 * f64::EPSILON { whole } else { nanos }
}

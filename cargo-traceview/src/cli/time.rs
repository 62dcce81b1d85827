//! Times as people type them: `10s`, `1.5m`, and ranges `500ms..3s`. Exact, in nanoseconds; no floating point.

use std::time::Duration;

use thiserror::Error;

/// The units, and how many nanoseconds each is.
const UNITS: [(&str, u128); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A stretch of time, counted from a profile's start; an end that is `None` is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// Where it begins.
    pub start: Option<Duration>,
    /// Where it ends.
    pub end: Option<Duration>,
}

/// What is wrong with a time or range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimeError {
    /// No number in front.
    #[error("`{0}` does not start with a number")]
    NoNumber(String),
    /// Something else than a unit behind the number.
    #[error("unknown unit `{0}`: write ns, us, ms, s, m or h")]
    UnknownUnit(String),
    /// A unit is required here.
    #[error("`{0}` has no unit: write for example {0}s or {0}ms")]
    NoUnit(String),
    /// More than a `Duration` holds.
    #[error("`{0}` is too long")]
    TooLong(String),
    /// A duration of nothing.
    #[error("the time must be more than zero")]
    Zero,
    /// Not of the form A..B.
    #[error("`{0}` is not a range: write for example 1.2s..3s, 500ms.. or ..2s")]
    NotRange(String),
    /// The end is not after the start.
    #[error("the range `{0}` is empty: its end must be after its start")]
    EmptyRange(String),
}

/// Reads a duration; a bare number counts seconds.
///
/// # Errors
/// When it is no duration, or zero.
pub fn parse_duration(text: &str) -> Result<Duration, TimeError> {
    match parse(text, Some(NANOS_PER_SECOND))? {
        Duration::ZERO => Err(TimeError::Zero),
        duration => Ok(duration),
    }
}

/// Reads `A..B`, `A..` or `..B`, with units.
///
/// # Errors
/// When it is no range, has no unit, or is empty.
pub fn parse_range(text: &str) -> Result<TimeRange, TimeError> {
    let (start, end) = text.split_once("..").ok_or_else(|| TimeError::NotRange(text.to_owned()))?;
    if start.is_empty() && end.is_empty() {
        return Err(TimeError::NotRange(text.to_owned()));
    }
    let side = |side: &str| if side.is_empty() { Ok(None) } else { parse(side, None).map(Some) };
    let range = TimeRange { start: side(start)?, end: side(end)? };
    match range {
        TimeRange { start: Some(start), end: Some(end) } if end <= start => Err(TimeError::EmptyRange(text.to_owned())),
        TimeRange { start: None, end: Some(Duration::ZERO) } => Err(TimeError::EmptyRange(text.to_owned())),
        _ => Ok(range),
    }
}

/// Reads a decimal number and its unit; `bare` is the size of the unit that a bare number has.
fn parse(text: &str, bare: Option<u128>) -> Result<Duration, TimeError> {
    let text = text.trim();
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let unit = unit.trim_start();
    let scale = if unit.is_empty() {
        bare.ok_or_else(|| TimeError::NoUnit(text.to_owned()))?
    } else {
        let known = UNITS.iter().find(|(name, _)| *name == unit || (*name == "us" && unit == "µs"));
        known.map(|(_, scale)| *scale).ok_or_else(|| match number {
            "" => TimeError::NoNumber(text.to_owned()),
            _ => TimeError::UnknownUnit(unit.to_owned()),
        })?
    };
    let nanos = decimal_times(number, scale, text)?;
    let seconds = u64::try_from(nanos / NANOS_PER_SECOND).map_err(|_| TimeError::TooLong(text.to_owned()))?;
    let rest = u32::try_from(nanos % NANOS_PER_SECOND).expect("a remainder of 10^9 fits 32 bits");
    Ok(Duration::new(seconds, rest))
}

/// `number` × `scale`, cut to whole units; `text` is what errors show.
fn decimal_times(number: &str, scale: u128, text: &str) -> Result<u128, TimeError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(TimeError::NoNumber(text.to_owned()));
    }
    let too_long = || TimeError::TooLong(text.to_owned());
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
    let mut nanos = whole.checked_mul(scale).ok_or_else(too_long)?;
    let mut digit_scale = scale;
    for digit in fraction.bytes() {
        // Digits below a nanosecond no longer count.
        nanos = nanos.checked_add(u128::from(digit - b'0') * digit_scale / 10).ok_or_else(too_long)?;
        digit_scale /= 10;
    }
    Ok(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_or_are_seconds() {
        for (text, millis) in [
            ("10", 10_000),
            ("10s", 10_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1.5", 1_500),
            ("0.25s", 250),
            (".5s", 500),
            ("1h", 3_600_000),
            ("1500000us", 1_500),
            ("1.25m", 75_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(parse_duration("0.000000001"), Ok(Duration::from_nanos(1)));
    }

    #[test]
    fn wrong_durations_say_what_is_wrong() {
        assert_eq!(parse_duration("0"), Err(TimeError::Zero));
        assert_eq!(parse_duration(""), Err(TimeError::NoNumber(String::new())));
        assert_eq!(parse_duration("s"), Err(TimeError::NoNumber("s".to_owned())));
        assert_eq!(parse_duration("-1s"), Err(TimeError::NoNumber("-1s".to_owned())));
        assert_eq!(parse_duration("1..2"), Err(TimeError::NoNumber("1..2".to_owned())));
        assert_eq!(parse_duration("10 parsecs"), Err(TimeError::UnknownUnit("parsecs".to_owned())));
        let huge = "9".repeat(60);
        assert_eq!(parse_duration(&huge), Err(TimeError::TooLong(huge.clone())));
        let large = "99999999999999999999h";
        assert_eq!(parse_duration(large), Err(TimeError::TooLong(large.to_owned())));
    }

    #[test]
    fn ranges_need_units_and_order() {
        let range = |start: Option<u64>, end: Option<u64>| TimeRange {
            start: start.map(Duration::from_millis),
            end: end.map(Duration::from_millis),
        };
        assert_eq!(parse_range("1.2s..3s"), Ok(range(Some(1_200), Some(3_000))));
        assert_eq!(parse_range("500ms.."), Ok(range(Some(500), None)));
        assert_eq!(parse_range("..2s"), Ok(range(None, Some(2_000))));
        assert_eq!(parse_range("1..2"), Err(TimeError::NoUnit("1".to_owned())));
        assert_eq!(parse_range(".."), Err(TimeError::NotRange("..".to_owned())));
        assert_eq!(parse_range("3s"), Err(TimeError::NotRange("3s".to_owned())));
        assert_eq!(parse_range("3s..3s"), Err(TimeError::EmptyRange("3s..3s".to_owned())));
    }
}

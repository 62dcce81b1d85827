//! Times of a trace: microseconds as decimal text, read to whole nanoseconds without a double between.
//!
//! At the times of day that many writers use (1.7e15 µs since 1970) a double holds quarters of microseconds: slices that
//! follow each other would overlap.

/// The nanoseconds of `text` microseconds, rounded half to even. `None` if that is no decimal number (with fraction and
/// exponent, as JSON has them), or more than 292 years.
pub(super) fn nanos_of_micros(text: &[u8]) -> Option<i64> {
    plain(text).or_else(|| any(text))
}

/// The same for what nearly all times are: up to 15 digits, and perhaps up to three behind a point.
fn plain(text: &[u8]) -> Option<i64> {
    let mut digits = text.iter().map(|byte| byte.wrapping_sub(b'0'));
    let (mut nanos, mut length) = (0_i64, 0);
    for digit in digits.by_ref().take(16) {
        if digit > 9 {
            break;
        }
        nanos = nanos * 10 + i64::from(digit);
        length += 1;
    }
    if !(1..=15).contains(&length) {
        return None;
    }
    match text.get(length) {
        None => return Some(nanos * 1000),
        Some(b'.') if text.len() <= length + 4 => {}
        Some(_) => return None,
    }
    for place in length + 1..length + 4 {
        let digit = text.get(place).map_or(0, |byte| byte.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        nanos = nanos * 10 + i64::from(digit);
    }
    Some(nanos)
}

fn any(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    let (mantissa, exponent) = match digits.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&digits[..at], exponent(&digits[at + 1..])?),
        None => (digits, 0),
    };
    let (whole, fraction) = match mantissa.iter().position(|byte| *byte == b'.') {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &[][..]),
    };
    let are_digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    if (whole.is_empty() && fraction.is_empty()) || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    // The point, as it stands in ns, counted from the first digit.
    let point = i64::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(3)?;
    let mut nanos = 0_i64;
    let mut all = whole.iter().chain(fraction).map(|digit| i64::from(digit - b'0'));
    let mut taken = 0_i64;
    while taken < point {
        let Some(digit) = all.next() else { break };
        nanos = nanos.checked_mul(10)?.checked_add(digit)?;
        taken += 1;
    }
    // Zeros that the exponent adds; of nothing they make nothing.
    while taken < point && nanos != 0 {
        nanos = nanos.checked_mul(10)?;
        taken += 1;
    }
    let is_up = match if point < 0 { Some(0) } else { all.next() } {
        None | Some(0..=4) => false,
        Some(5) => all.any(|digit| digit != 0) || nanos % 2 == 1,
        Some(_) => true,
    };
    let nanos = nanos.checked_add(i64::from(is_up))?;
    Some(if is_negative { -nanos } else { nanos })
}

fn exponent(text: &[u8]) -> Option<i64> {
    // Behind five digits every number is nothing or too large.
    let (sign, digits) = match text.split_first()? {
        (b'-', digits) => (-1, digits),
        (b'+', digits) => (1, digits),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(100_000));
    Some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<i64> {
        nanos_of_micros(text.as_bytes())
    }

    #[test]
    fn every_digit_down_to_the_nanosecond_counts() {
        for (text, expected) in [
            ("0", 0),
            ("12", 12_000),
            ("12.3", 12_300),
            ("12.34", 12_340),
            ("12.345", 12_345),
            ("123456789012345", 123_456_789_012_345_000),
            ("1234567890123456", 1_234_567_890_123_456_000),
            ("123456789012345.6", 123_456_789_012_345_600),
            ("-12.5", -12_500),
            ("1732561094000123.457", 1_732_561_094_000_123_457),
            ("1732561094000123.456", 1_732_561_094_000_123_456),
            (".5", 500),
            ("5.", 5_000),
            ("1.5e3", 1_500_000),
            ("15e-1", 1_500),
            ("1E2", 100_000),
            ("+3", 3_000),
            ("0e99999999999", 0),
            ("1e-99999999999", 0),
            ("0000000000000000000000000000001", 1_000),
        ] {
            assert_eq!(nanos(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn halves_of_nanoseconds_go_to_the_even_one() {
        for (text, expected) in [
            ("0.0005", 0),
            ("0.00050000000000000001", 1),
            ("0.0015", 2),
            ("0.0025", 2),
            ("-0.0015", -2),
            ("0.00049999", 0),
            ("0.0006", 1),
            ("6e-4", 1),
            ("5e-4", 0),
            ("9e-5", 0),
        ] {
            assert_eq!(nanos(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "12a",
            "1.2.3",
            "NaN",
            "Infinity",
            " 1",
            "0x10",
            "1e19",
            "9300000000000000",
        ] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }
}

//! The parts of a line.

/// How often a stack was seen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Count {
    Whole(i64),
    Fraction(f64),
    /// More than a whole number here can be.
    Large(f64),
}

/// A line taken apart, the outermost frame first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Parts<'a> {
    pub stack: &'a [u8],
    pub count: Count,
}

impl Count {
    pub(super) fn as_float(self) -> f64 {
        match self {
            Self::Whole(whole) => to_float(whole),
            Self::Fraction(float) | Self::Large(float) => float,
        }
    }
}

/// Takes the count off the end of a line; `None` if there is none, or nothing before it.
pub(super) fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let line = line.trim_ascii();
    let space = memchr::memrchr2(b' ', b'\t', line)?;
    let count = count(&line[space + 1..])?;
    Some(Parts { stack: line[..space].trim_ascii_end(), count })
}

/// Whether it says something to people only.
pub(super) fn is_comment(line: &[u8]) -> bool {
    line.strip_prefix(b"#").is_some_and(|rest| rest.first().is_none_or(|byte| b" \t#!".contains(byte)))
}

/// Whether it begins as a JSON file does. A frame, too, can begin with a bracket: `[unknown]`, `{closure}`.
pub(super) fn is_json(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let behind = line.strip_prefix(b"{").or_else(|| line.strip_prefix(b"["));
    behind.is_some_and(|rest| rest.first().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'"'))
        || line.starts_with(b"[{\"")
}

/// The number that `text` is: digits with a sign, a fraction or an exponent (which `awk` writes), if any.
pub(super) fn count(text: &[u8]) -> Option<Count> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    let mut is_number = whole > 0;
    if let Some(behind) = rest.strip_prefix(b".") {
        let fraction = digits(behind);
        is_number |= fraction > 0;
        rest = &behind[fraction..];
    }
    if let Some(behind) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let unsigned = behind.strip_prefix(b"-").or_else(|| behind.strip_prefix(b"+")).unwrap_or(behind);
        is_number &= !unsigned.is_empty();
        rest = &unsigned[digits(unsigned)..];
    }
    if !is_number || !rest.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(whole) = text.parse() {
        return Some(Count::Whole(whole));
    }
    let float = text.parse::<f64>().ok()?.clamp(f64::MIN, f64::MAX);
    Some(match exact_whole(float) {
        Some(whole) => Count::Whole(whole),
        None if float.fract() == 0.0 => Count::Large(float),
        None => Count::Fraction(float),
    })
}

/// The whole number that `float` is, where it is beyond doubt which.
fn exact_whole(float: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
}

#[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 are not exact in any tool")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number_of_any_spelling() {
        for (text, expected) in [
            ("0", Count::Whole(0)),
            ("-17", Count::Whole(-17)),
            ("+3", Count::Whole(3)),
            ("12.0", Count::Whole(12)),
            ("12.", Count::Whole(12)),
            (".5", Count::Fraction(0.5)),
            ("1e+06", Count::Whole(1_000_000)),
            ("2.5E-1", Count::Fraction(0.25)),
            ("9223372036854775807", Count::Whole(i64::MAX)),
            ("9223372036854775808", Count::Large(9_223_372_036_854_775_808.0)),
            ("-1e999", Count::Large(f64::MIN)),
        ] {
            assert_eq!(count(text.as_bytes()), Some(expected), "{text}");
        }
        for text in ["", "-", ".", "e5", "1e", "1e+", "0x10", "1,000", "1_000", "NaN", "inf", "5;", "1.2.3", "1-2"] {
            assert_eq!(count(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_count_is_what_follows_the_last_space() {
        let stack = |line: &'static str| parts(line.as_bytes()).map(|parts| std::str::from_utf8(parts.stack).unwrap());
        assert_eq!(stack("a;b c d 5"), Some("a;b c d"));
        assert_eq!(stack(" a;b\t 5 "), Some("a;b"));
        assert_eq!(stack("a 1 2"), Some("a 1"));
        for line in ["5", " 5", "a;b", "a;b five", ""] {
            assert_eq!(stack(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_name_that_begins_with_a_hash_is_no_comment() {
        assert!(["#", "# a;b 5", "#!x", "## x"].iter().all(|line| is_comment(line.as_bytes())));
        assert!(!["#secret;b 5", "a # 5", ""].iter().any(|line| is_comment(line.as_bytes())));
    }
}

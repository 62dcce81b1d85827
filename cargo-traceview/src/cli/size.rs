//! Sizes as people type them: `500M`, `8GiB`, `1000000`.

use thiserror::Error;

/// The units, and how many bytes each is. As everywhere where memory is meant, a `K` is 1024.
const UNITS: [(&str, u64); 5] = [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40)];

/// What is wrong with a size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// No number in front.
    #[error("`{0}` does not start with a whole number")]
    NoNumber(String),
    /// Something else than a unit behind the number.
    #[error("unknown unit `{0}`: write K, M, G or T (of 1024), or nothing for bytes")]
    UnknownUnit(String),
    /// Too much to count.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// Reads a size in bytes: `4G`, `4GB` and `4GiB` are the same.
///
/// # Errors
/// When it is no size.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(SizeError::NoNumber(text.to_owned()));
    }
    let lower = unit.trim().to_ascii_lowercase();
    let short = lower.strip_suffix("ib").or(lower.strip_suffix('b')).unwrap_or(&lower);
    let known = UNITS.iter().find(|(name, _)| *name == short);
    let (_, bytes) = known.ok_or_else(|| SizeError::UnknownUnit(unit.to_owned()))?;
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*bytes));
    size.ok_or_else(|| SizeError::TooLarge(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_usual_units() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("17b", 17),
            ("10k", 10 << 10),
            ("500M", 500 << 20),
            ("4 GiB", 4 << 30),
            ("8gb", 8 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_reason() {
        assert_eq!(parse_size("G"), Err(SizeError::NoNumber("G".to_owned())));
        assert_eq!(parse_size("-1"), Err(SizeError::NoNumber("-1".to_owned())));
        assert_eq!(parse_size("1.5G"), Err(SizeError::UnknownUnit(".5G".to_owned())));
        assert_eq!(parse_size("20000000T"), Err(SizeError::TooLarge("20000000T".to_owned())));
    }
}

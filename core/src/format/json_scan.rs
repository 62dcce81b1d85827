//! JSON text to typed values, for what large files are made of: objects of columns, and columns of numbers.
//!
//! Serde has each value pass through a visitor that could take any kind of value, and serde_json looks at each byte on
//! its own. A [`Scanner`] knows what it looks for and takes eight digits at once: a column of numbers costs a third of the
//! time.
//!
//! It takes the plain forms of values and leaves all else to serde_json: an odd value (a long number, a string with an
//! escape) for itself, a fault with the whole text, so that there is one authority for what JSON is and for what is said
//! about what is none. So a scanner may refuse what it likes; what it takes must be what serde_json makes of it.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A place in a text from which values are read.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// A type whose values can be read from JSON text.
pub(super) trait Scan<'a>: Sized {
    /// The value that comes next. `None` leaves it to serde_json to say what is wrong with the text.
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self>;
}

/// A value that is no string, array or object.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Scalar {
    Whole(i64),
    Real(f64),
    Null,
    Bool(bool),
}

/// What a run of digits says.
struct Digits {
    value: u64,
    count: usize,
}

/// A run of more digits than these is left to serde_json.
const MOST_DIGITS: usize = 16;

/// Powers of ten, which doubles hold exactly.
const POWERS: [u64; MOST_DIGITS + 1] = {
    let mut powers = [1; MOST_DIGITS + 1];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// The value that the whole of `text` is.
///
/// # Errors
/// What serde_json says.
pub(super) fn from_str<'a, T: Scan<'a> + Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    scan_all(text).map_or_else(|| serde_json::from_str(text), Ok)
}

/// The value that the whole of `text` is, if all of it can be scanned.
pub(super) fn scan_all<'a, T: Scan<'a>>(text: &'a str) -> Option<T> {
    scan_with(text, T::scan)
}

/// What `read` makes of the value that the whole of `text` is.
pub(super) fn scan_with<'a, T>(text: &'a str, read: impl FnOnce(&mut Scanner<'a>) -> Option<T>) -> Option<T> {
    let mut scanner = Scanner { text, at: 0 };
    let value = read(&mut scanner)?;
    scanner.peek().is_none().then_some(value)
}

impl<'a> Scanner<'a> {
    /// The next value as serde_json reads it.
    pub(super) fn by_serde<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.text.get(self.at..)?).into_iter();
        let value = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(value)
    }

    /// Reads an object; `member` is called behind the colon of each key and has to read the value.
    pub(super) fn object<K: Scan<'a>>(&mut self, mut member: impl FnMut(&mut Self, K) -> Option<()>) -> Option<()> {
        if self.open(b'{', b'}')? {
            return Some(());
        }
        loop {
            let key = K::scan(self)?;
            if self.next()? != b':' {
                return None;
            }
            member(self, key)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads an array; `element` has to read each value.
    #[inline]
    pub(super) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.open(b'[', b']')? {
            return Some(());
        }
        loop {
            element(self)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Passes `null`, if that comes next.
    pub(super) fn null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.word("null")
    }

    /// The next value, if it is a plain number, `null`, `true` or `false`.
    #[inline]
    pub(super) fn scalar(&mut self) -> Option<Scalar> {
        match self.peek()? {
            b'0'..=b'9' => self.number(false),
            b'-' => self.number(true),
            b'n' => self.word("null").then_some(Scalar::Null),
            b't' => self.word("true").then_some(Scalar::Bool(true)),
            b'f' => self.word("false").then_some(Scalar::Bool(false)),
            _ => None,
        }
    }

    /// The next value, if it is a string without escapes.
    pub(super) fn plain_string(&mut self) -> Option<&'a str> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let end = start + plain_length(&self.text.as_bytes()[start..])?;
        if self.text.as_bytes()[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Passes the bracket `open`; whether the bracket `close` follows, which is passed too.
    fn open(&mut self, open: u8, close: u8) -> Option<bool> {
        if self.next()? != open {
            return None;
        }
        let is_empty = self.peek()? == close;
        self.at += usize::from(is_empty);
        Some(is_empty)
    }

    fn word(&mut self, word: &str) -> bool {
        let is_there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// The byte behind white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Passes the byte behind white space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// A number whose sign or first digit comes next.
    #[expect(clippy::cast_precision_loss, reason = "checked: doubles hold both numbers")]
    #[inline]
    fn number(&mut self, is_negative: bool) -> Option<Scalar> {
        let bytes = self.text.as_bytes();
        let start = self.at + usize::from(is_negative);
        let whole = digits(bytes, start)?;
        // JSON has no zeros in front.
        if whole.count > 1 && bytes[start] == b'0' {
            return None;
        }
        let mut end = start + whole.count;
        let mut number = Scalar::Whole(i64::try_from(whole.value).ok()?);
        if *bytes.get(end)? == b'.' {
            let fraction = digits(bytes, end + 1)?;
            end += 1 + fraction.count;
            let power = POWERS[fraction.count];
            let mantissa = whole.value.checked_mul(power)?.checked_add(fraction.value)?;
            // Where a double holds both exactly, their quotient is the one nearest to the decimal number.
            if mantissa > 1 << 53 {
                return None;
            }
            number = Scalar::Real(mantissa as f64 / power as f64);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E' | b'.' | b'0'..=b'9')) {
            return None;
        }
        if is_negative {
            number = match number {
                // The whole number has no sign then, the double that serde_json makes of it has.
                Scalar::Whole(0) => return None,
                Scalar::Whole(value) => Scalar::Whole(-value),
                Scalar::Real(value) => Scalar::Real(-value),
                other => other,
            };
        }
        self.at = end;
        Some(number)
    }
}

/// The digits at `start`: at least one, and not more than are left to serde_json. `None` as well if less than eight bytes
/// follow.
#[inline]
fn digits(bytes: &[u8], start: usize) -> Option<Digits> {
    let first = eight_digits(bytes, start)?;
    if first.count < 8 {
        return (first.count > 0).then_some(first);
    }
    let second = eight_digits(bytes, start + 8)?;
    let value = first.value * POWERS[second.count] + second.value;
    Some(Digits { value, count: 8 + second.count })
}

/// As many of the eight bytes at `start` as are digits.
#[inline]
fn eight_digits(bytes: &[u8], start: usize) -> Option<Digits> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (eight, _) = bytes.get(start..)?.split_first_chunk::<8>()?;
    let digits = u64::from_le_bytes(*eight) ^ (ONES * 0x30);
    // The high bits of the bytes that are above 9.
    let others = (((digits & (ONES * 0x7f)) + ONES * 0x76) | digits) & (ONES * 0x80);
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return Some(Digits { value: 0, count });
    }
    // The digits behind as many zeros; then pairs, fours and eights of them become numbers.
    let digits = digits << (64 - 8 * count);
    let pairs = (digits * 10).wrapping_add(digits >> 8);
    let value = ((pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32)))
        .wrapping_add(((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32)))
        >> 32;
    Some(Digits { value, count })
}

/// How many bytes of `text` stand before the first that is not plain in a string: a quote, a backslash, a control character.
fn plain_length(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// High bits at the bytes of `word` that are below `limit`, at most 128; those behind the first are not certain.
    const fn below(word: u64, limit: u64) -> u64 {
        word.wrapping_sub(ONES * limit) & !word & (ONES * 0x80)
    }
    let (eights, rest) = text.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        let found = below(word ^ (ONES * 0x22), 1) | below(word ^ (ONES * 0x5c), 1) | below(word, 0x20);
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
    Some(eights.len() * 8 + length)
}

impl<'a, T: Scan<'a>> Scan<'a> for Option<T> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        if scanner.null() { Some(None) } else { T::scan(scanner).map(Some) }
    }
}

impl<'a, T: Scan<'a>> Scan<'a> for Vec<T> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let mut values = Self::new();
        scanner.array(|scanner| {
            values.push(T::scan(scanner)?);
            Some(())
        })?;
        // Others will be made before this one goes.
        values.shrink_to_fit();
        Some(values)
    }
}

impl<'a> Scan<'a> for f64 {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.by_serde()
    }
}

impl<'a> Scan<'a> for &'a RawValue {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.by_serde()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserializer;
    use serde::de::Visitor;

    use super::*;

    /// A value as serde_json tells it to a visitor.
    #[derive(Clone, Debug)]
    struct Told(Scalar);

    struct Tell;

    impl Visitor<'_> for Tell {
        type Value = Told;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a number, null, true or false")
        }

        fn visit_bool<E>(self, value: bool) -> Result<Told, E> {
            Ok(Told(Scalar::Bool(value)))
        }

        fn visit_i64<E>(self, value: i64) -> Result<Told, E> {
            Ok(Told(Scalar::Whole(value)))
        }

        fn visit_u64<E>(self, value: u64) -> Result<Told, E> {
            Ok(Told(i64::try_from(value).map_or(Scalar::Real(value as f64), Scalar::Whole)))
        }

        fn visit_f64<E>(self, value: f64) -> Result<Told, E> {
            Ok(Told(Scalar::Real(value)))
        }

        fn visit_unit<E>(self) -> Result<Told, E> {
            Ok(Told(Scalar::Null))
        }
    }

    impl<'de> Deserialize<'de> for Told {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(Tell)
        }
    }

    /// The same bits: zero has a sign.
    impl PartialEq for Told {
        fn eq(&self, other: &Self) -> bool {
            match (self.0, other.0) {
                (Scalar::Real(left), Scalar::Real(right)) => left.to_bits() == right.to_bits(),
                (left, right) => left == right,
            }
        }
    }

    /// A value that is plain, and nothing else.
    #[derive(PartialEq, Debug)]
    struct Plain<T>(T);

    impl<'a> Scan<'a> for Plain<Told> {
        fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
            scanner.scalar().map(|scalar| Self(Told(scalar)))
        }
    }

    impl<'a> Scan<'a> for Plain<&'a str> {
        fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
            scanner.plain_string().map(Self)
        }
    }

    /// Plain values for themselves, others by serde_json.
    impl<'a> Scan<'a> for Told {
        fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
            scanner.scalar().map(Self).or_else(|| scanner.by_serde())
        }
    }

    impl<'a> Scan<'a> for &'a str {
        fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
            scanner.plain_string().or_else(|| scanner.by_serde())
        }
    }

    /// What a scanner takes serde_json takes, and makes the same of it.
    fn check<'a, P, T>(text: &'a str)
    where
        Plain<P>: Scan<'a>,
        P: PartialEq + std::fmt::Debug + Deserialize<'a>,
        T: Scan<'a> + Deserialize<'a> + PartialEq + std::fmt::Debug,
    {
        if let Some(Plain(plain)) = scan_all::<Plain<P>>(text) {
            assert_eq!(serde_json::from_str::<P>(text).expect("what was taken"), plain, "{text}");
        }
        let (scanned, expected) = (scan_all::<Vec<T>>(text), serde_json::from_str::<Vec<T>>(text));
        assert_eq!(scanned, expected.ok(), "{text}");
    }

    /// As it is and with room behind it, as in the middle of a file.
    fn check_any(text: &str) {
        check_one(text);
        check_one(&format!("{text}{:24}", ""));
    }

    fn check_one(text: &str) {
        check::<Told, Option<Told>>(text);
        check::<&str, Option<&str>>(text);
        let scanned = scan_all::<Vec<&RawValue>>(text).map(|values| values.iter().map(|value| value.get()).collect());
        let expected = serde_json::from_str::<Vec<&RawValue>>(text).ok();
        assert_eq!(scanned, expected.map(|values| values.iter().map(|value| value.get()).collect::<Vec<_>>()));
    }

    proptest! {
        #[test]
        fn doubles_are_those_of_serde_json(value: f64, digits in 0..18_usize) {
            check_any(&format!("[{value},{value:.digits$} ]"));
        }

        #[test]
        fn decimals_are_those_of_serde_json(numbers in proptest::collection::vec("-?[0-9]{1,19}(\\.[0-9]{1,18})?", 0..5)) {
            check_any(&format!("[{}]", numbers.join(",")));
            check_any(numbers.first().map_or("", |number| number));
        }

        #[test]
        fn what_is_nearly_json_is_taken_or_refused_alike(
            text in "\\[( |\n|,|-|\\.|[0-9]{1,9}|e|E|\\+|null|true|false|nul|\"[a-z\\\\\u{1}\u{e9}]{0,9}\"|\\[|\\]|\\{|\\}|:){0,9}\\]? ?",
        ) {
            check_any(&text);
        }

        #[test]
        fn strings_are_plain_up_to_their_ends(text in "[ -~\u{1}\u{1f}\u{7f}\u{20ac}\u{1f980}]{0,40}") {
            check_any(&serde_json::to_string(&[&text]).expect("text"));
            check_any(&format!("[\"{text}\"]"));
        }
    }

    #[test]
    fn most_values_are_plain() {
        for (text, expected) in [
            ("0", Scalar::Whole(0)),
            ("12345678", Scalar::Whole(12_345_678)),
            ("-123456789012345", Scalar::Whole(-123_456_789_012_345)),
            ("12.5", Scalar::Real(12.5)),
            ("-1234567.125", Scalar::Real(-1_234_567.125)),
            ("0.1", Scalar::Real(0.1)),
            ("null", Scalar::Null),
            ("true", Scalar::Bool(true)),
            ("false", Scalar::Bool(false)),
        ] {
            let text = format!("  {text}{:24}", "");
            assert_eq!(scan_all(&text), Some(Plain(Told(expected))), "{text}");
        }
        assert_eq!(scan_all("\"plain é\""), Some(Plain("plain é")));
    }

    #[test]
    fn odd_values_are_left_to_serde_json() {
        for text in ["-0", "1e5", "12345678901234567", "01", "1.", "nul", "+1"] {
            let padded = format!("{text}{:24}", "");
            assert_eq!(scan_all::<Plain<Told>>(&padded), None, "{text}");
        }
        for text in ["\"a\\n\"", "\"a\n\"", "\"a", "\"", "7"] {
            assert_eq!(scan_all::<Plain<&str>>(text), None, "{text}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        for text in ["[".repeat(1_000_000), format!("[{}", "{\"a\":".repeat(1_000_000))] {
            assert!(scan_all::<Vec<&RawValue>>(&text).is_none());
            assert!(scan_all::<Vec<Told>>(&text).is_none());
        }
    }
}

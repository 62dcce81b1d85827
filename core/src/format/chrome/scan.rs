//! The text of a trace, read as tolerantly as it can be without guessing: what crashed, buggy and impatient writers leave
//! behind is read as far as its events are whole.
//!
//! Besides JSON these are taken: a byte order mark; an array or object that is not closed; commas that are missing or too
//! many; `NaN`, `Infinity` and any other bare word as a value; control characters in strings; bytes that are not UTF-8;
//! `traceEvents` several times; anything behind the end. What ends inside an event loses that event only. What is no value
//! at all ends the events there; the ones before it are whole. [`Events::end`] says how it ended.
//!
//! Nothing is copied: an event is its fields as slices of the text. Numbers stay text, because a double does not hold a
//! time of nanoseconds since 1970.

use memchr::{memchr, memchr2};

/// How many keys are taken that stand beside the events: files have a dozen.
const MOST_OTHERS: usize = 1000;

/// A value as it stands in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    /// A string, between its quotes.
    Text(Text<'a>),
    /// A number, or what begins like one.
    Number(&'a [u8]),
    /// `true`, `false`, `null`, `NaN`, …
    Word(&'a [u8]),
    /// An object with its braces.
    Object(&'a [u8]),
    /// An array with its brackets.
    Array(&'a [u8]),
}

/// The inside of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Text<'a> {
    /// As written.
    pub raw: &'a [u8],
    /// Whether a backslash is in it.
    pub is_escaped: bool,
}

/// How the events of a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// As they should.
    Closed,
    /// The text ended before the array or object around them did, but behind a whole event.
    Unclosed,
    /// The text ended inside the event that begins here.
    InsideEvent(usize),
    /// Here is something that is no value.
    Damaged(usize),
}

/// The events of a text, one after the other.
pub(super) struct Events<'a> {
    cursor: Cursor<'a>,
    place: Place,
    others: Vec<(Text<'a>, Value<'a>)>,
    end: End,
    /// Whether an event of the array came before.
    is_inside: bool,
    extra_commas: u64,
    missing_commas: u64,
    trailing: Option<usize>,
    others_left_out: u64,
}

/// Where the cursor stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Among the keys of the outermost object.
    Keys,
    /// In an array of events; `in_object`: that of `traceEvents`.
    Array {
        in_object: bool,
    },
    Behind,
}

/// The key of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key<'a> {
    pub text: Text<'a>,
    /// Its bytes as [`short`] has them; 0 also where it is longer or has escapes.
    pub short: u64,
}

/// Up to seven bytes as a number, the first the lowest: what few keys are called is compared at once.
pub(super) const fn short(text: &[u8]) -> u64 {
    let (mut word, mut at) = (0, text.len());
    while at > 0 {
        at -= 1;
        word = word << 8 | text[at] as u64;
    }
    word
}

/// An event: its fields in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Event<'a> {
    /// Where it begins.
    pub offset: usize,
    /// The key of each field and its value.
    pub fields: Vec<(Text<'a>, Value<'a>)>,
}

/// An event that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Where it begins.
    pub offset: usize,
    /// Whether it is an object, and not some other value in the array of events.
    pub is_object: bool,
}

impl<'a> Events<'a> {
    /// The events of `text`, which begins with `[` or `{`.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let mut cursor = Cursor { text, at: 0 };
        if text.starts_with(b"\xef\xbb\xbf") {
            cursor.at = 3;
        }
        cursor.skip_blanks();
        let place = match cursor.take() {
            Some(b'[') => Place::Array { in_object: false },
            Some(b'{') => Place::Keys,
            _ => Place::Behind,
        };
        let (others, end) = (Vec::new(), End::Closed);
        Self {
            cursor,
            place,
            others,
            end,
            is_inside: false,
            extra_commas: 0,
            missing_commas: 0,
            trailing: None,
            others_left_out: 0,
        }
    }

    /// Reads the next event into `event`; `false` when there is none any more.
    pub(super) fn next(&mut self, event: &mut Event<'a>) -> bool {
        event.fields.clear();
        match self.next_with(&mut |key, value| event.fields.push((key.text, value))) {
            Some(found) => {
                event.offset = found.offset;
                true
            }
            None => false,
        }
    }

    /// Reads the next event, if there is one, and gives its fields one by one. Those of an event that the text breaks off are
    /// given too, although it is none.
    pub(super) fn next_with(&mut self, field: &mut impl FnMut(Key<'a>, Value<'a>)) -> Option<Found> {
        loop {
            match self.place {
                Place::Behind => return None,
                Place::Keys => self.next_key(),
                Place::Array { in_object } => {
                    if let Some(found) = self.next_in_array(field, in_object) {
                        return Some(found);
                    }
                }
            }
        }
    }

    /// How the events ended; to be asked when there are none any more.
    pub(super) fn end(&self) -> End {
        self.end
    }

    /// All other keys of the outermost object with their values, as far as they are not too many, and how many further ones
    /// there are.
    pub(super) fn into_others(self) -> (Vec<(Text<'a>, Value<'a>)>, u64) {
        (self.others, self.others_left_out)
    }

    /// How many commas between events there were too many, and too few.
    pub(super) fn odd_commas(&self) -> (u64, u64) {
        (self.extra_commas, self.missing_commas)
    }

    /// Where something begins that stands behind the end.
    pub(super) fn trailing(&self) -> Option<usize> {
        self.trailing
    }

    fn next_key(&mut self) {
        self.cursor.skip_blanks_and_commas();
        let start = self.cursor.at;
        match self.cursor.peek() {
            None => self.finish(End::Unclosed),
            Some(b'}') => {
                self.cursor.at += 1;
                self.finish(End::Closed);
            }
            Some(b'"') => match self.cursor.key() {
                Err(reason) => self.fail(reason, start),
                Ok(key) if key.text.raw == b"traceEvents" && self.cursor.peek() == Some(b'[') => {
                    self.cursor.at += 1;
                    self.place = Place::Array { in_object: true };
                }
                Ok(key) => match self.cursor.value() {
                    Ok(value) if self.others.len() < MOST_OTHERS => self.others.push((key.text, value)),
                    Ok(_) => self.others_left_out += 1,
                    Err(reason) => self.fail(reason, start),
                },
            },
            Some(_) => self.finish(End::Damaged(start)),
        }
    }

    /// The event that comes next, if one does.
    fn next_in_array(&mut self, field: &mut impl FnMut(Key<'a>, Value<'a>), in_object: bool) -> Option<Found> {
        let commas = self.cursor.skip_blanks_and_commas();
        let start = self.cursor.at;
        match self.cursor.peek() {
            None => self.finish(End::Unclosed),
            Some(b']') => {
                self.cursor.at += 1;
                self.is_inside = false;
                self.extra_commas += commas;
                if in_object { self.place = Place::Keys } else { self.finish(End::Closed) }
            }
            Some(b'{') => {
                let meant = u64::from(std::mem::replace(&mut self.is_inside, true));
                self.missing_commas += meant.saturating_sub(commas);
                self.extra_commas += commas.saturating_sub(meant);
                match self.cursor.fields(field) {
                    Ok(()) => return Some(Found { offset: start, is_object: true }),
                    Err(reason) => self.fail(reason, start),
                }
            }
            // What is no object is no event; others of the array may be.
            Some(_) => match self.cursor.value() {
                Ok(_) => {
                    self.is_inside = true;
                    return Some(Found { offset: start, is_object: false });
                }
                Err(reason) => self.fail(reason, start),
            },
        }
        None
    }

    fn fail(&mut self, reason: Fault, start: usize) {
        self.finish(match reason {
            Fault::End => End::InsideEvent(start),
            Fault::Bad(at) => End::Damaged(at),
        });
    }

    fn finish(&mut self, end: End) {
        self.end = end;
        self.place = Place::Behind;
        if end == End::Closed {
            self.cursor.skip_blanks();
            self.trailing = self.cursor.peek().map(|_| self.cursor.at);
        }
    }
}

impl<'a> Value<'a> {
    /// The value as written; a string without its quotes.
    pub(super) fn written(self) -> &'a [u8] {
        match self {
            Self::Text(text) => text.raw,
            Self::Number(text) | Self::Word(text) | Self::Object(text) | Self::Array(text) => text,
        }
    }
}

/// Why there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The text ends.
    End,
    /// Here is something else.
    Bad(usize),
}

/// The fields of an object, as written: of [`Value::Object`], whose end is known.
pub(super) fn fields(object: &[u8]) -> Result<Vec<(Text<'_>, Value<'_>)>, Fault> {
    let mut fields = Vec::new();
    fields_into(object, &mut fields)?;
    Ok(fields)
}

/// The same into `fields`; what stands before a fault is in it.
pub(super) fn fields_into<'a>(object: &'a [u8], fields: &mut Vec<(Text<'a>, Value<'a>)>) -> Result<(), Fault> {
    fields.clear();
    each_field(object, &mut |key, value| fields.push((key, value)))
}

/// Gives them one by one.
pub(super) fn each_field<'a>(object: &'a [u8], field: &mut impl FnMut(Text<'a>, Value<'a>)) -> Result<(), Fault> {
    Cursor { text: object, at: 0 }.fields(&mut |key, value| field(key.text, value))
}

/// The field that `text` is, from the quote of its key to the end of its value.
pub(super) fn field(text: &[u8]) -> Option<(Text<'_>, Value<'_>)> {
    let mut cursor = Cursor { text, at: 0 };
    let key = cursor.key().ok()?;
    let rest = text.get(cursor.at..)?;
    let value = match rest.first()? {
        b'"' => Value::Text(cursor.string().ok()?),
        b'{' => Value::Object(rest),
        b'[' => Value::Array(rest),
        _ if is_number(rest) => Value::Number(rest),
        _ => Value::Word(rest),
    };
    Some((key.text, value))
}

/// Whether a word is a number, or begins like one.
fn is_number(word: &[u8]) -> bool {
    word.iter().find(|byte| **byte != b'-').is_some_and(u8::is_ascii_digit)
}

/// The elements of an array, as written: of [`Value::Array`], whose end is known.
pub(super) fn elements(array: &[u8]) -> Result<Vec<Value<'_>>, Fault> {
    let mut cursor = Cursor { text: array, at: 1 };
    let mut elements = Vec::new();
    loop {
        cursor.skip_blanks_and_commas();
        match cursor.peek() {
            None => return Err(Fault::End),
            Some(b']') => return Ok(elements),
            Some(_) => elements.push(cursor.value()?),
        }
    }
}

/// A place in the text.
#[derive(Clone, Copy, Debug)]
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Gives how many commas there were.
    fn skip_blanks_and_commas(&mut self) -> u64 {
        let mut commas = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b',' => commas += 1,
                _ if is_blank(byte) => {}
                _ => break,
            }
            self.at += 1;
        }
        commas
    }

    /// The fields of the object that begins here.
    fn fields(&mut self, field: &mut impl FnMut(Key<'a>, Value<'a>)) -> Result<(), Fault> {
        self.at += 1;
        loop {
            // A comma and the next key, as most writers have them.
            match self.text.get(self.at..).and_then(<[u8]>::first_chunk) {
                Some(b",\"") => self.at += 1,
                _ => _ = self.skip_blanks_and_commas(),
            }
            match self.peek() {
                None => return Err(Fault::End),
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'"') => {
                    let key = self.key()?;
                    field(key, self.value()?);
                }
                Some(_) => return Err(Fault::Bad(self.at)),
            }
        }
    }

    /// The key that begins here, and the colon behind it.
    #[inline]
    fn key(&mut self) -> Result<Key<'a>, Fault> {
        let (text, short) = self.short_string()?;
        if self.peek() != Some(b':') {
            self.skip_blanks();
        }
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(Fault::Bad(self.at)),
            None => return Err(Fault::End),
        }
        self.skip_blanks();
        Ok(Key { text, short })
    }

    fn value(&mut self) -> Result<Value<'a>, Fault> {
        let start = self.at;
        match self.peek() {
            None => Err(Fault::End),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'{') => self.container().map(Value::Object),
            Some(b'[') => self.container().map(Value::Array),
            Some(byte) if byte == b'-' || byte.is_ascii_alphanumeric() => {
                let rest = &self.text[start..];
                let digits = digits(rest);
                let more = rest[digits..].iter().position(|byte| !WORD[usize::from(*byte)]);
                let length = more.map_or(rest.len(), |more| digits + more);
                let word = &rest[..length];
                self.at += length;
                // What the end of the text cuts could have gone on.
                if self.at == self.text.len() {
                    return Err(Fault::End);
                }
                let is_number = digits > 0 || is_number(word);
                Ok(if is_number { Value::Number(word) } else { Value::Word(word) })
            }
            Some(_) => Err(Fault::Bad(start)),
        }
    }

    /// A string, and its bytes if they are few: most keys are so.
    #[inline]
    fn short_string(&mut self) -> Result<(Text<'a>, u64), Fault> {
        let start = self.at + 1;
        if let Some(bytes) = self.text.get(start..).and_then(<[u8]>::first_chunk::<8>) {
            let word = u64::from_le_bytes(*bytes);
            let length = quotes_and_backslashes(word).trailing_zeros() as usize / 8;
            if length < 8 && bytes[length] == b'"' {
                self.at = start + length + 1;
                let text = Text { raw: &self.text[start..start + length], is_escaped: false };
                return Ok((text, word & ((1 << (8 * length)) - 1)));
            }
        }
        // Longer, or so near the end of the text that there are no eight bytes.
        let text = self.string()?;
        Ok((text, if text.raw.len() < 8 && !text.is_escaped { short(text.raw) } else { 0 }))
    }

    fn string(&mut self) -> Result<Text<'a>, Fault> {
        let start = self.at + 1;
        let mut at = start + quote_or_backslash(self.text.get(start..).ok_or(Fault::End)?).ok_or(Fault::End)?;
        let is_escaped = self.text[at] == b'\\';
        while self.text[at] == b'\\' {
            let rest = self.text.get(at + 2..).ok_or(Fault::End)?;
            at += 2 + quote_or_backslash(rest).ok_or(Fault::End)?;
        }
        self.at = at + 1;
        Ok(Text { raw: &self.text[start..at], is_escaped })
    }

    /// The object or array that begins here, with all that is in it.
    fn container(&mut self) -> Result<&'a [u8], Fault> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let rest = &self.text[self.at..];
            let skipped = rest.iter().position(|byte| STRUCTURE[usize::from(*byte)]).ok_or(Fault::End)?;
            self.at += skipped;
            match rest[skipped] {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Ok(&self.text[start..self.at]);
            }
        }
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// High bits at the quotes and backslashes of eight bytes; those above the first are not certain.
const fn quotes_and_backslashes(word: u64) -> u64 {
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGHS
    }
    zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5c))
}

/// Where the first quote or backslash is. Most strings are short: their few words are looked through at once, where setting up
/// a search would take longer.
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const WORDS: usize = 4;
    let (words, _) = text.as_chunks::<8>();
    for (index, word) in words.iter().take(WORDS).enumerate() {
        let found = quotes_and_backslashes(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let seen = words.len().min(WORDS) * 8;
    memchr2(b'"', b'\\', &text[seen..]).map(|at| seen + at)
}

/// How many digits `text` begins with, as far as they are whole words of it.
fn digits(text: &[u8]) -> usize {
    let mut count = 0;
    for word in text.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*word) ^ (ONES * 0x30);
        let others = (word.wrapping_add(ONES * 0x76) | word) & HIGHS;
        count += others.trailing_zeros() as usize / 8;
        if others != 0 {
            break;
        }
    }
    count
}

/// The bytes that numbers and words are of.
const WORD: [bool; 256] = {
    let mut is_word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_word[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'+' | b'-' | b'.' | b'_');
        byte += 1;
    }
    is_word
};

/// The bytes at which the structure of a text changes.
const STRUCTURE: [bool; 256] = {
    let mut is_structure = [false; 256];
    let mut index = 0;
    while index < 5 {
        is_structure[b"\"{}[]"[index] as usize] = true;
        index += 1;
    }
    is_structure
};

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0)
}

impl<'a> Text<'a> {
    /// The string that is meant. Halves of surrogate pairs and bytes that are not UTF-8 become U+FFFD.
    pub(super) fn decode(self) -> std::borrow::Cow<'a, str> {
        if !self.is_escaped {
            return String::from_utf8_lossy(self.raw);
        }
        let mut bytes = Vec::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while let Some(at) = memchr(b'\\', rest) {
            bytes.extend_from_slice(&rest[..at]);
            rest = unescape(&rest[at + 1..], &mut bytes);
        }
        bytes.extend_from_slice(rest);
        match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        }
    }
}

/// Adds what the escape whose letter `rest` begins with means; gives what follows it.
fn unescape<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some((letter, behind)) = rest.split_first() else { return rest };
    let plain = match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'u' => {
            let (unit, behind) = utf16_unit(rest).unwrap_or((0xfffd, behind));
            let (c, behind) = match unit {
                0xd800..0xdc00 => match behind.strip_prefix(b"\\").and_then(utf16_unit) {
                    Some((low @ 0xdc00..0xe000, behind)) => {
                        (char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)), behind)
                    }
                    _ => (None, behind),
                },
                unit => (char::from_u32(unit), behind),
            };
            out.extend_from_slice(c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]).as_bytes());
            return behind;
        }
        // `\"`, `\\`, `\/`, and what no writer should have escaped.
        other => *other,
    };
    out.push(plain);
    behind
}

/// The number of `uXXXX`, which `text` begins with, and what follows it.
fn utf16_unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, behind) = text.strip_prefix(b"u")?.split_at_checked(4)?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all events, and how they ended.
    fn names(text: &str) -> (Vec<String>, End) {
        let mut events = Events::new(text.as_bytes());
        let mut event = Event::default();
        let mut names = Vec::new();
        while events.next(&mut event) {
            let name = event.fields.iter().find_map(|(key, value)| match value {
                Value::Text(text) if key.raw == b"name" => Some(text.decode().into_owned()),
                _ => None,
            });
            names.push(name.unwrap_or_else(|| "-".to_owned()));
        }
        (names, events.end())
    }

    #[test]
    fn whole_events_of_broken_texts_are_kept() {
        const A: &str = r#"{"name":"a","args":{"x":[1,{"y":"}]"}]}}"#;
        const B: &str = r#"{"name":"b"}"#;
        for (text, expected, end) in [
            (format!("[{A},{B}]"), "ab", End::Closed),
            (format!("\u{feff} [ {A} , {B} ] "), "ab", End::Closed),
            (format!("[{A},{B}"), "ab", End::Unclosed),
            (format!("[{A},{B},\n"), "ab", End::Unclosed),
            (format!("[{A},{B},]"), "ab", End::Closed),
            (format!("[,{A}{B}]"), "ab", End::Closed),
            (format!("[{A},{{}}]"), "a-", End::Closed),
            (format!("[{A},{{\"name\":\"b"), "a", End::InsideEvent(A.len() + 2)),
            (format!("[{A},{{\"name\":\"b\\"), "a", End::InsideEvent(A.len() + 2)),
            (format!("[{A},{{\"name\":\"b\",\"ts\":1"), "a", End::InsideEvent(A.len() + 2)),
            (format!("[{A},{{\"name\" \"b\"}}]"), "a", End::Damaged(A.len() + 10)),
            (format!("[{A}] and more"), "a", End::Closed),
            (format!("{{\"traceEvents\":[{A}],\"x\":1,\"traceEvents\":[{B}]}}"), "ab", End::Closed),
            (format!("{{\"x\":{A},\"traceEvents\":[{A},{B}]"), "ab", End::Unclosed),
            (format!("{{\"x\":{A},\"traceEvents\":[{A}"), "a", End::Unclosed),
            (format!("[{{\"name\":\"a\",\"args\":{{\"n\":NaN,\"m\":-Infinity,}}}},{B}]"), "ab", End::Closed),
            ("[{\"name\":\"a\u{1}\n\"}]".to_owned(), "a\u{1}\n", End::Closed),
            ("[7,null]".to_owned(), "--", End::Closed),
            ("[]".to_owned(), "", End::Closed),
            ("[".to_owned(), "", End::Unclosed),
        ] {
            let (found, how) = names(&text);
            assert_eq!((found.concat().as_str(), how), (expected, end), "{text}");
        }
    }

    #[test]
    fn what_surrounds_the_events_is_kept_and_counted() {
        let text = br#"{"displayTimeUnit":"ns","traceEvents":[,{} {},,{},],"displayTimeUnit":"ms"} x"#;
        let (mut events, mut event, mut count) = (Events::new(text), Event::default(), 0);
        while events.next(&mut event) {
            count += 1;
        }
        assert_eq!((count, events.odd_commas(), events.trailing()), (3, (3, 1), Some(text.len() - 1)));
        let (others, left_out) = events.into_others();
        assert_eq!((others.len(), left_out), (2, 0));
        assert_eq!(others[1].1, Value::Text(Text { raw: b"ms", is_escaped: false }));
    }

    #[test]
    fn keys_beside_the_events_are_taken_up_to_a_number() {
        let text = format!("{{{}\"traceEvents\":[]}}", "\"\":1,".repeat(MOST_OTHERS + 3));
        let mut events = Events::new(text.as_bytes());
        assert!(!events.next(&mut Event::default()));
        let (others, left_out) = events.into_others();
        assert_eq!((others.len(), left_out), (MOST_OTHERS, 3));
    }

    #[test]
    fn keys_are_compared_as_they_are_wherever_they_stand() {
        for (key, expected) in
            [("tid", short(b"tid")), ("bind_id", short(b"bind_id")), ("flow_out", 0), ("t\\u0073", 0)]
        {
            for behind in ["", "          "] {
                let text = format!("{{\"{key}\":1}}{behind}");
                let mut found = Vec::new();
                let end =
                    Cursor { text: text.as_bytes(), at: 0 }.fields(&mut |key, _| found.push((key.text.raw, key.short)));
                assert_eq!((end, &found[..]), (Ok(()), &[(key.as_bytes(), expected)][..]), "{text}");
            }
        }
    }

    #[test]
    fn a_field_that_was_cut_out_is_the_same_field() {
        for (text, expected) in [
            (r#""a":1"#, Value::Number(b"1")),
            (r#""a" : -1.5e3"#, Value::Number(b"-1.5e3")),
            (r#""a":"x\"y""#, Value::Text(Text { raw: br#"x\"y"#, is_escaped: true })),
            (r#""a":{"b":[1]}"#, Value::Object(br#"{"b":[1]}"#)),
            (r#""a":[1,2]"#, Value::Array(b"[1,2]")),
            (r#""a":true"#, Value::Word(b"true")),
            (r#""a":-Infinity"#, Value::Word(b"-Infinity")),
        ] {
            assert_eq!(field(text.as_bytes()), Some((Text { raw: b"a", is_escaped: false }, expected)), "{text}");
        }
        assert_eq!([field(b""), field(b"\"a"), field(b"\"a\":"), field(b"7")], [None; 4]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = format!("[{{\"args\":{}", "[{\"a\":".repeat(1_000_000));
        assert_eq!(names(&text), (Vec::new(), End::InsideEvent(1)));
    }

    #[test]
    fn escapes_mean_what_json_says() {
        let decode = |raw: &[u8]| Text { raw, is_escaped: true }.decode().into_owned();
        assert_eq!(decode(br#"a\n\t\"\\\/b"#), "a\n\t\"\\/b");
        assert_eq!(decode(br"\u00e9\ud83e\udd80\ud83ex\udd80"), "é🦀\u{fffd}x\u{fffd}");
        assert_eq!(decode(br"\u12\q\"), "\u{fffd}12q");
        assert_eq!(decode(b"\xff\\n"), "\u{fffd}\n");
    }
}

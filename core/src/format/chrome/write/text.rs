//! The text of a trace on its way out, in large pieces.

use std::io::{self, Write};

use crate::format::decimal::digits;
pub(super) use crate::format::decimal::integer;
use crate::model::{Nanos, Time};

const FULL: usize = 1 << 16;

/// A trace in the making.
pub(super) struct Text<'a> {
    out: &'a mut dyn Write,
    pub buffer: Vec<u8>,
    /// What [`Time::ZERO`] is in the file, in ns.
    base: i64,
    is_first: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(out: &'a mut dyn Write, base: i64) -> Self {
        Self { out, buffer: Vec::with_capacity(FULL + (1 << 12)), base, is_first: true }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }

    /// Begins an event: its phase, name, category, and process and thread.
    pub(super) fn event(&mut self, phase: u8, name: &str, category: &[u8], ids: &[u8]) {
        self.begin();
        self.raw("{\"ph\":\"");
        self.buffer.push(phase);
        self.raw("\",\"name\":");
        string(&mut self.buffer, name);
        self.buffer.extend_from_slice(category);
        self.buffer.extend_from_slice(ids);
    }

    /// The moment of an event.
    pub(super) fn time(&mut self, time: Time) {
        self.raw(",\"ts\":");
        self.moment(time);
    }

    /// A moment as the file has it.
    pub(super) fn moment(&mut self, time: Time) {
        micros(&mut self.buffer, time.0.saturating_add(self.base));
    }

    /// What the CPU clock of an event's thread says: when it began, and how much it went on.
    pub(super) fn thread_clock(&mut self, start: Option<Nanos>, duration: Option<Nanos>) {
        for (key, nanos) in [(",\"tts\":", start), (",\"tdur\":", duration)] {
            if let Some(nanos) = nanos {
                self.raw(key);
                micros(&mut self.buffer, nanos.0);
            }
        }
    }

    /// Ends an event.
    pub(super) fn end(&mut self) {
        self.buffer.push(b'}');
    }

    /// Separates an event from the one before.
    pub(super) fn begin(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.raw(",\n");
        }
    }

    /// Text as it is.
    pub(super) fn raw(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Lets go of what is full.
    pub(super) fn flush_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FULL {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Appends a JSON string.
pub(super) fn string(buffer: &mut Vec<u8>, text: &str) {
    buffer.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte >= b' ' && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        buffer.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match *byte {
            b'"' => buffer.extend_from_slice(b"\\\""),
            b'\\' => buffer.extend_from_slice(b"\\\\"),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            b'\r' => buffer.extend_from_slice(b"\\r"),
            b'\t' => buffer.extend_from_slice(b"\\t"),
            control => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let (high, low) = (HEX[usize::from(control >> 4)], HEX[usize::from(control & 15)]);
                buffer.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        }
    }
    buffer.extend_from_slice(&bytes[from..]);
    buffer.push(b'"');
}

/// Appends nanoseconds as microseconds, with all digits that say something.
pub(super) fn micros(buffer: &mut Vec<u8>, nanos: i64) {
    if nanos < 0 {
        buffer.push(b'-');
    }
    let nanos = nanos.unsigned_abs();
    digits(buffer, nanos / 1000);
    let rest = (nanos % 1000) as u16;
    if rest > 0 {
        let digits = [rest / 100, rest / 10 % 10, rest % 10].map(|digit| b'0' + digit as u8);
        let length = if digits[2] != b'0' { 3 } else { 1 + usize::from(digits[1] != b'0') };
        buffer.push(b'.');
        buffer.extend_from_slice(&digits[..length]);
    }
}

/// Appends a double with all its digits; what JSON has no number for as a string.
pub(super) fn float(buffer: &mut Vec<u8>, value: f64) {
    match serde_json::Number::from_f64(value) {
        Some(number) => buffer.extend_from_slice(number.to_string().as_bytes()),
        None => string(buffer, &value.to_string()),
    }
}

/// Appends `"0x…"`.
pub(super) fn hexadecimal(buffer: &mut Vec<u8>, value: u64) {
    buffer.extend_from_slice(format!("\"0x{value:x}\"").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(make: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut buffer = Vec::new();
        make(&mut buffer);
        String::from_utf8(buffer).expect("text")
    }

    #[test]
    fn microseconds_have_every_nanosecond_and_no_digit_too_many() {
        for (nanos, expected) in [
            (0, "0"),
            (1, "0.001"),
            (10, "0.01"),
            (100, "0.1"),
            (1_000, "1"),
            (12_345, "12.345"),
            (12_050, "12.05"),
            (-1, "-0.001"),
            (-12_300, "-12.3"),
            (i64::MAX, "9223372036854775.807"),
            (i64::MIN, "-9223372036854775.808"),
        ] {
            assert_eq!(made(|buffer| micros(buffer, nanos)), expected);
        }
    }

    #[test]
    fn strings_are_those_that_parsers_give_back() {
        for text in ["", "plain", "\"\\/", "\0\u{1}\u{1f}\u{7f}\n\r\t\u{2028}", "ä€😀\u{fffd}"] {
            let written = made(|buffer| string(buffer, text));
            assert_eq!(serde_json::from_str::<String>(&written).expect("a string"), text, "{written}");
        }
    }

    #[test]
    fn numbers_are_written_in_full() {
        assert_eq!(made(|buffer| integer(buffer, i64::MIN)), i64::MIN.to_string());
        for (value, expected) in [(1.0, "1.0"), (0.1, "0.1"), (-1e300, "-1e+300"), (f64::NAN, "\"NaN\"")] {
            assert_eq!(made(|buffer| float(buffer, value)), expected);
        }
    }
}

//! JSON text on its way out, in large pieces.

use std::io::{self, Write};

use crate::format::WriteError;
use crate::format::decimal::integer;
use crate::format::json_value::Number;

const FULL: usize = 1 << 16;

/// A JSON text in the making.
pub(super) struct Text<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl<'a> Text<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: Vec::with_capacity(FULL + (1 << 12)) }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.flush()
    }

    /// Text as it is.
    pub(super) fn raw(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Text as it is.
    pub(super) fn bytes(&mut self, text: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(text);
        if self.buffer.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// A field of an object that has others before it.
    pub(super) fn field(&mut self, key: &str, value: &str) -> Result<(), WriteError> {
        self.raw(",")?;
        self.first_field(key, value)
    }

    /// The first field of an object.
    pub(super) fn first_field(&mut self, key: &str, value: &str) -> Result<(), WriteError> {
        serde_json::to_writer(&mut self.buffer, key)?;
        self.raw(":")?;
        serde_json::to_writer(&mut self.buffer, value)?;
        Ok(())
    }

    pub(super) fn number(&mut self, number: Number) -> Result<(), WriteError> {
        match number {
            Number::Integer(value) => integer(&mut self.buffer, value),
            Number::Float(_) => serde_json::to_writer(&mut self.buffer, &number)?,
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        for number in [0, 9, 10, i64::MAX, -1, i64::MIN] {
            text.number(Number::Integer(number)).expect("memory does not fail");
            text.raw(" ").expect("memory does not fail");
        }
        text.number(Number::Float(0.25)).expect("memory does not fail");
        text.finish().expect("memory does not fail");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "0 9 10 9223372036854775807 -1 -9223372036854775808 0.25");
    }
}

//! Writing a message in parts.
//!
//! Protocol Buffers define that a message may be cut between its fields: encoded one after the other, messages that each
//! hold some of the rows of one decode as that one. So a few hundred rows at a time are made, encoded and forgotten.

use std::io::{self, Write};

use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint};

use super::super::schema::{Label, Profile};

/// So many rows go out at a time.
const ROWS: usize = 512;
/// So many bytes of samples go out at a time.
const BYTES: usize = 1 << 16;

/// The file in the making.
pub(super) struct Stream<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    /// A message in the making, and a field of it.
    body: Vec<u8>,
    numbers: Vec<u8>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: Vec::new(), body: Vec::new(), numbers: Vec::new() }
    }

    /// Adds the fields of `part`.
    pub(super) fn part(&mut self, part: &Profile) -> io::Result<()> {
        part.encode(&mut self.buffer).expect("a Vec has room");
        self.flush()
    }

    /// Adds a sample. There are many more of these than of anything else, so they are encoded without making a message
    /// first; they go out when there are some, or with [`flush`](Self::flush).
    pub(super) fn sample(&mut self, locations: &[u64], values: &[i64], labels: &[Label]) -> io::Result<()> {
        self.body.clear();
        self.packed(1, locations.iter().copied());
        self.packed(2, values.iter().map(|value| value.cast_unsigned()));
        for label in labels {
            encode_key(3, WireType::LengthDelimited, &mut self.body);
            label.encode_length_delimited(&mut self.body).expect("a Vec has room");
        }
        encode_key(2, WireType::LengthDelimited, &mut self.buffer);
        encode_varint(self.body.len() as u64, &mut self.buffer);
        self.buffer.extend_from_slice(&self.body);
        if self.buffer.len() < BYTES { Ok(()) } else { self.flush() }
    }

    /// Lets all samples out.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Adds a field of numbers to the message in the making.
    fn packed(&mut self, field: u32, numbers: impl Iterator<Item = u64>) {
        self.numbers.clear();
        for number in numbers {
            // Most numbers are short.
            if number < 0x80 {
                self.numbers.push(number as u8);
            } else {
                encode_varint(number, &mut self.numbers);
            }
        }
        if !self.numbers.is_empty() {
            encode_key(field, WireType::LengthDelimited, &mut self.body);
            encode_varint(self.numbers.len() as u64, &mut self.body);
            self.body.extend_from_slice(&self.numbers);
        }
    }

    /// Adds rows of one kind; `field` is where a part has them.
    pub(super) fn rows<T>(
        &mut self,
        rows: impl IntoIterator<Item = T>,
        field: impl Fn(&mut Profile) -> &mut Vec<T>,
    ) -> io::Result<()> {
        let mut part = Profile::default();
        for row in rows {
            field(&mut part).push(row);
            if field(&mut part).len() == ROWS {
                self.part(&part)?;
                field(&mut part).clear();
            }
        }
        self.part(&part)
    }
}

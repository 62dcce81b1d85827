//! Writing a message in parts.
//!
//! Protocol Buffers define that a message may be cut between its fields: encoded one after the other, messages that each
//! hold some of the rows of one decode as that one. So a few hundred rows at a time are made, encoded and forgotten.

use std::io::{self, Write};

use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};

use super::super::schema::Profile;
use super::packed::Packed;

/// So many rows go out at a time.
const ROWS: usize = 512;
/// So many bytes of samples go out at a time.
const BYTES: usize = 1 << 16;

/// The file in the making.
pub(super) struct Stream<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: Vec::new() }
    }

    /// Adds the fields of `part`.
    pub(super) fn part(&mut self, part: &Profile) -> io::Result<()> {
        part.encode(&mut self.buffer).expect("a Vec has room");
        self.flush()
    }

    /// Adds a sample; its labels are encoded. There are many more of these than of anything else, so no message is made
    /// first; they go out when there are some, or with [`flush`](Self::flush).
    pub(super) fn sample(&mut self, locations: &Packed, values: &Packed, labels: &[u8]) -> io::Result<()> {
        let numbers = [(1, locations.as_slice()), (2, values.as_slice())];
        // A key is one byte.
        let len_of = |len: usize| if len == 0 { 0 } else { 1 + encoded_len_varint(len as u64) + len };
        let len = numbers.iter().map(|(_, numbers)| len_of(numbers.len())).sum::<usize>() + labels.len();
        self.begin(2, len);
        for (field, numbers) in numbers {
            if !numbers.is_empty() {
                self.begin(field, numbers.len());
                self.buffer.extend_from_slice(numbers);
            }
        }
        self.buffer.extend_from_slice(labels);
        if self.buffer.len() < BYTES { Ok(()) } else { self.flush() }
    }

    /// Lets all samples out.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Begins a field of so many bytes.
    fn begin(&mut self, field: u32, len: usize) {
        encode_key(field, WireType::LengthDelimited, &mut self.buffer);
        encode_varint(len as u64, &mut self.buffer);
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

//! Writing a message in parts.
//!
//! Protocol Buffers define that a message may be cut between its fields: encoded one after the other, messages that each
//! hold some of the rows of one decode as that one. So a few hundred rows at a time are made, encoded and forgotten.

use std::io::{self, Write};

use prost::Message as _;

use super::super::schema::Profile;

/// So many rows go out at a time.
const ROWS: usize = 512;

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
        self.buffer.clear();
        part.encode(&mut self.buffer).expect("a Vec has room");
        self.out.write_all(&self.buffer)
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

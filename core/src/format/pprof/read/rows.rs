//! Tables whose rows have ids: read where they stand, when they are needed.

use prost::Message;
use rustc_hash::FxHashMap;

use super::super::super::ReadError;
use super::super::wire::{Field, Fields, Part, Value, syntax};
use super::value_error;

/// A table.
pub(super) struct Rows<'a> {
    file: &'a [u8],
    /// What a row is called.
    what: &'static str,
    /// Where the field of each begins.
    starts: Vec<u64>,
    /// So many of the first rows have their number, counted from 1, as their id. In most files all have.
    dense: usize,
    /// The rows of all other ids.
    others: FxHashMap<u64, u32>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(file: &'a [u8], what: &'static str) -> Self {
        Self { file, what, starts: Vec::new(), dense: 0, others: FxHashMap::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Adds a row. Its id is its field 1, whatever the table.
    pub(super) fn push(&mut self, field: Field<'a>) -> Result<(), ReadError> {
        let mut fields = Fields::of(field.bytes()?);
        let mut id = 0;
        while let Some(field) = fields.next()? {
            if field.number == 1 {
                id = field.number()?;
            }
        }
        let row = self.starts.len();
        let refuse = |message: String| Err(value_error(&format!("{} {}", self.what, row + 1), field.offset, message));
        if id == 0 {
            return refuse("its id is 0, which means none".to_owned());
        }
        let Ok(short) = u32::try_from(row) else {
            return refuse("there are too many".to_owned());
        };
        if self.row(id).is_some() {
            return refuse(format!("its id {id} is that of another {} before", self.what));
        }
        if self.others.is_empty() && id == row as u64 + 1 {
            self.dense += 1;
        } else {
            self.others.insert(id, short);
        }
        self.starts.push(field.offset as u64);
        Ok(())
    }

    /// The row with this id.
    #[inline]
    pub(super) fn row(&self, id: u64) -> Option<usize> {
        let index = id.wrapping_sub(1);
        if index < self.dense as u64 {
            return Some(index as usize);
        }
        if self.others.is_empty() { None } else { self.others.get(&id).map(|row| *row as usize) }
    }

    /// A row, decoded, and where in the file it is.
    pub(super) fn decode<M: Message + Default>(&self, row: usize) -> Result<(M, usize), ReadError> {
        let part = bytes_at(self.file, self.starts[row]);
        match M::decode(part.bytes) {
            Ok(message) => Ok((message, part.offset)),
            Err(error) => Err(syntax(part.offset, format!("{} {}: {error}", self.what, row + 1))),
        }
    }
}

/// The content of the field of bytes that begins at `start`, where one was found before.
pub(super) fn bytes_at(file: &[u8], start: u64) -> Part<'_> {
    let offset = usize::try_from(start).unwrap_or(usize::MAX).min(file.len());
    let field = Fields::of(Part { bytes: &file[offset..], offset }).next();
    match field {
        Ok(Some(Field { value: Value::Bytes(part), .. })) => part,
        _ => Part { bytes: &[], offset },
    }
}

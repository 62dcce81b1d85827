//! The file's table of texts: read where it stands, and kept in the model as far as it is used.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::super::super::ReadError;
use super::super::super::import_report::{ImportReport, Note};
use super::super::wire::Field;
use super::rows::bytes_at;
use super::value_error;
use crate::model::{ProfileBuilder, StringId};

const NOT_UTF8: Note =
    Note { code: "text-not-utf8", message: "texts are not UTF-8; what is no character in them is shown as \u{fffd}" };

/// The texts.
pub(super) struct Texts<'a> {
    file: &'a [u8],
    /// Where the field of each begins. An empty text is two bytes of the file, so a row must not be much larger.
    starts: Vec<u64>,
    /// Those that are in the model already.
    known: FxHashMap<i64, StringId>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(file: &'a [u8]) -> Self {
        Self { file, starts: Vec::new(), known: FxHashMap::default() }
    }

    /// Adds the next text; the first must be the empty one.
    pub(super) fn push(&mut self, field: Field<'a>) -> Result<(), ReadError> {
        let text = field.bytes()?;
        if self.starts.is_empty() && !text.bytes.is_empty() {
            let found = String::from_utf8_lossy(text.bytes);
            let message = format!("{found:?} stands where the empty text must");
            return Err(value_error("string_table[0]", text.offset, message));
        }
        self.starts.push(field.offset as u64);
        Ok(())
    }

    /// That the text of `row` exists; else the error is about `what`.
    pub(super) fn check(&self, row: i64, offset: usize, what: impl FnOnce() -> String) -> Result<(), ReadError> {
        if usize::try_from(row).is_ok_and(|row| row < self.starts.len()) {
            return Ok(());
        }
        let message = format!("text {row} is not in the table, which has {}", self.starts.len());
        Err(value_error(&what(), offset, message))
    }

    /// The text of `row`, which was checked.
    pub(super) fn get(&self, row: i64) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes(row))
    }

    /// The text of `row`, which was checked, in the model.
    pub(super) fn id(&mut self, row: i64, builder: &mut ProfileBuilder, report: &mut ImportReport) -> StringId {
        if let Some(id) = self.known.get(&row) {
            return *id;
        }
        let text = self.noted(row, report);
        let id = builder.string(&text);
        self.known.insert(row, id);
        id
    }

    /// The text of `row`, which was checked, for a place that is not shared.
    pub(super) fn noted(&self, row: i64, report: &mut ImportReport) -> Cow<'a, str> {
        let text = self.get(row);
        if let Cow::Owned(repaired) = &text {
            report.note(NOT_UTF8, || format!("string_table[{row}]: {repaired:?}"));
        }
        text
    }

    fn bytes(&self, row: i64) -> &'a [u8] {
        let start = usize::try_from(row).ok().and_then(|row| self.starts.get(row));
        start.map_or(&[], |start| bytes_at(self.file, *start).bytes)
    }
}

//! A list of strings that rows of a thread name by number, with what became of each, so that each is looked up once however
//! often it is named.

use std::cell::Cell;

use super::super::schema::{self, Row, Str};
use super::collect::Collector;

/// The strings of a thread, or of the JavaScript tracer.
pub(super) struct Strings<'a> {
    list: schema::Strings<'a>,
    /// In the shared table; none as long as it is not needed there.
    rows: Vec<Cell<Row>>,
}

impl<'a> Strings<'a> {
    pub(super) fn new(list: schema::Strings<'a>) -> Self {
        let rows = vec![Cell::new(Row::NONE); list.len()];
        Self { list, rows }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// String `row`, if there is one.
    pub(super) fn get(&self, row: Row) -> Option<&Str<'a>> {
        self.list.get(row.get()? as usize)?.as_ref()
    }

    /// The row in the shared table of string `row`.
    pub(super) fn shared(&self, collector: &mut Collector<'a>, row: Row) -> Option<Row> {
        let text = self.get(row)?;
        let known = &self.rows[row.0 as usize];
        if known.get() == Row::NONE {
            known.set(collector.string(text));
        }
        Some(known.get())
    }
}

//! Rows of the file by number, and checks of its columns.

use std::fmt::{Arguments, Display};
use std::ops::Range;

use super::super::extension::Patch;
use crate::format::ReadError;
use crate::model::{Id, Nanos, Time};

/// The ids that the rows of a table of the file became.
pub(super) struct Rows<I> {
    /// This many rows are those with their own numbers,
    same: usize,
    /// and behind them come these.
    ids: Vec<I>,
    table: &'static str,
}

impl<I: Id> Rows<I> {
    pub(super) const fn new(table: &'static str) -> Self {
        Self { same: 0, ids: Vec::new(), table }
    }

    /// Rows that became `ids`.
    pub(super) const fn of(table: &'static str, ids: Vec<I>) -> Self {
        Self { same: 0, ids, table }
    }

    /// Rows each of which became the one with its own number.
    pub(super) const fn same(table: &'static str, count: usize) -> Self {
        Self { same: count, ids: Vec::new(), table }
    }

    pub(super) fn push(&mut self, id: I) {
        self.ids.push(id);
    }

    /// The id of row `row`, if it exists.
    pub(super) fn find(&self, row: u32) -> Option<I> {
        match (row as usize).checked_sub(self.same) {
            None => Some(I::new(row as usize)),
            Some(row) => self.ids.get(row).copied(),
        }
    }

    /// The id of row `row`, which the file gives at `at`.
    pub(super) fn get(&self, row: u32, at: Arguments<'_>) -> Result<I, ReadError> {
        self.find(row).ok_or_else(|| {
            let rows = self.same + self.ids.len();
            wrong(at, format_args!("row {row} does not exist: {} has {rows} rows", self.table))
        })
    }

    pub(super) fn optional(&self, row: Option<u32>, at: Arguments<'_>) -> Result<Option<I>, ReadError> {
        row.map(|row| self.get(row, at)).transpose()
    }

    /// A column of row numbers.
    pub(super) fn all(&self, column: &[u32], at: Arguments<'_>) -> Result<Vec<I>, ReadError> {
        column.iter().enumerate().map(|(row, value)| self.get(*value, format_args!("{at}[{row}]"))).collect()
    }

    /// A column of row numbers and nulls.
    pub(super) fn all_optional(&self, column: &[Option<u32>], at: Arguments<'_>) -> Result<Vec<Option<I>>, ReadError> {
        column.iter().enumerate().map(|(row, value)| self.optional(*value, format_args!("{at}[{row}]"))).collect()
    }
}

/// A value that is not what it has to be.
pub(super) fn wrong(at: Arguments<'_>, message: impl Display) -> ReadError {
    ReadError::Value { path: at.to_string(), message: message.to_string() }
}

/// Checks that all columns of the table at `at` have `length` rows.
pub(super) fn same_length(at: Arguments<'_>, length: usize, columns: &[(&str, usize)]) -> Result<(), ReadError> {
    match columns.iter().find(|(_, rows)| *rows != length) {
        Some((column, rows)) => {
            Err(wrong(format_args!("{at}.{column}"), format_args!("{rows} rows instead of {length}")))
        }
        None => Ok(()),
    }
}

/// The number of rows that are the profile's own, of those that the file has.
pub(super) fn own(rows: Option<u32>, in_file: usize, name: &str) -> Result<usize, ReadError> {
    match rows {
        Some(rows) if rows as usize > in_file => {
            let at = format_args!("meta.traceview.rows.{name}");
            Err(wrong(at, format_args!("{rows} rows, but the file has only {in_file}")))
        }
        Some(rows) => Ok(rows as usize),
        None => Ok(in_file),
    }
}

/// An id of a table that is checked later.
pub(super) fn unchecked<I: Id>(row: u32, at: Arguments<'_>) -> Result<I, ReadError> {
    if row == u32::MAX { Err(wrong(at, format_args!("row {row} does not exist"))) } else { Ok(I::new(row as usize)) }
}

/// Applies what `traceview` says about `column`.
pub(super) fn apply<T: Clone>(patch: &Patch<T>, column: &mut [T], at: Arguments<'_>) -> Result<(), ReadError> {
    same_length(at, patch.row.len(), &[("value", patch.value.len())])?;
    for (index, (row, value)) in patch.row.iter().zip(&patch.value).enumerate() {
        let rows = column.len();
        let entry = column.get_mut(*row as usize).ok_or_else(|| {
            wrong(format_args!("{at}.row[{index}]"), format_args!("row {row} does not exist: there are {rows}"))
        })?;
        *entry = value.clone();
    }
    Ok(())
}

/// Where each set begins and ends in columns of `total` rows, by the rows at which they begin.
pub(super) fn ranges(first: &[u32], total: usize, at: Arguments<'_>) -> Result<Vec<Range<usize>>, ReadError> {
    if first.first().map_or(total != 0, |first| *first != 0) {
        return Err(wrong(at, "the first set does not begin at the first row"));
    }
    let mut ranges = Vec::with_capacity(first.len());
    for (set, start) in first.iter().enumerate() {
        let start = *start as usize;
        let end = first.get(set + 1).map_or(total, |next| *next as usize);
        if start > end || end > total {
            return Err(wrong(format_args!("{at}[{set}]"), format_args!("rows {start} to {end} of {total}")));
        }
        ranges.push(start..end);
    }
    Ok(ranges)
}

/// Times or lengths of `traceview`.
pub(super) fn moment(ns: Option<i64>) -> Option<Time> {
    ns.map(Time)
}

pub(super) fn length(ns: Option<i64>) -> Option<Nanos> {
    ns.map(Nanos)
}

//! What is wrong in a file of another tool and how it is repaired: each kind is noted once with its place and counted.

use super::super::schema::{Row, Wide};
use super::rows::Rows;
use crate::format::import_report::{ImportReport, Note};
use crate::model::{Id, Nanos, Time};

const NO_ROW: Note = Note { code: "row-missing", message: "references to rows that do not exist are left out" };
const LENGTH: Note = Note {
    code: "column-length",
    message: "columns are longer or shorter than their tables: cut, or taken as empty there",
};
const COLUMN: Note =
    Note { code: "column-missing", message: "columns that every file should have are missing: taken as empty" };
const NO_NUMBER: Note = Note { code: "no-number", message: "values that are no numbers of their kind are left out" };
const TIME: Note = Note { code: "time-impossible", message: "times that are none are left out" };

/// The repairs of one file.
#[derive(Default)]
pub(in super::super) struct Repairs(pub ImportReport);

impl Repairs {
    pub(in super::super) fn note(&mut self, code: &'static str, message: &'static str, place: impl FnOnce() -> String) {
        self.0.note(Note { code, message }, place);
    }

    pub(in super::super) fn count(
        &mut self,
        code: &'static str,
        message: &'static str,
        count: u64,
        place: impl FnOnce() -> String,
    ) {
        self.0.count(Note { code, message }, count, place);
    }

    /// The id of a row; `None` if there is none or it does not exist.
    pub(super) fn row<I: Id>(&mut self, rows: &Rows<I>, row: Row, place: impl FnOnce() -> String) -> Option<I> {
        match row.get() {
            Some(number) => {
                let found = rows.find(number);
                if found.is_none() {
                    self.0.note(NO_ROW, place);
                }
                found
            }
            None => {
                if row == Row::BAD {
                    self.0.note(NO_ROW, place);
                }
                None
            }
        }
    }

    /// The same for a table some of whose rows came to nothing.
    pub(super) fn optional_row<I: Copy>(
        &mut self,
        rows: &[Option<I>],
        row: Row,
        place: impl FnOnce() -> String,
    ) -> Option<I> {
        let found = row.get().and_then(|number| rows.get(number as usize));
        if found.is_none() && row != Row::NONE {
            self.0.note(NO_ROW, place);
        }
        found.copied().flatten()
    }

    /// A small number, for example a line; `None` if there is none.
    pub(super) fn number(&mut self, number: Row, place: impl FnOnce() -> String) -> Option<u32> {
        if number == Row::BAD {
            self.0.note(NO_NUMBER, place);
        }
        number.get()
    }

    /// A line or column, which count from 1. Some tools write 0 for none.
    pub(super) fn line(&mut self, number: Row, place: impl FnOnce() -> String) -> Option<u32> {
        self.number(number, place).filter(|number| *number > 0)
    }

    pub(super) fn not_a_number(&mut self, place: impl FnOnce() -> String) {
        self.0.note(NO_NUMBER, place);
    }

    /// A moment given in milliseconds.
    pub(super) fn time(&mut self, millis: f64, place: impl FnOnce() -> String) -> Option<Time> {
        let time = Time::from_millis_f64(millis);
        if time.is_none() {
            self.0.note(TIME, place);
        }
        time
    }

    pub(super) fn optional_time(&mut self, millis: Option<f64>, place: impl FnOnce() -> String) -> Option<Time> {
        millis.and_then(|millis| self.time(millis, place))
    }

    /// A length of time given in milliseconds.
    pub(super) fn nanos(&mut self, millis: f64, place: impl FnOnce() -> String) -> Option<Nanos> {
        self.time(millis, place).map(|time| Nanos(time.0))
    }

    /// The number of rows of the table at `at`: what it says, but not more than its longest column has. `required` columns
    /// must be there, others need not.
    pub(super) fn rows(
        &mut self,
        at: &str,
        length: Option<Wide>,
        required: &[(&str, Option<usize>)],
        optional: &[(&str, Option<usize>)],
    ) -> usize {
        let all = || required.iter().chain(optional);
        let longest = all().filter_map(|(_, rows)| *rows).max().unwrap_or(0);
        let said = length.and_then(|length| length.0).map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        let rows = said.map_or(longest, |said| said.min(longest));
        if said.is_some_and(|said| said != longest) {
            self.0.note(LENGTH, || format!("{at}.length"));
        }
        for (column, stored) in all() {
            if stored.is_some_and(|stored| stored != rows) {
                self.0.note(LENGTH, || format!("{at}.{column}"));
            }
        }
        if rows > 0 {
            for (column, _) in required.iter().filter(|(_, stored)| stored.is_none()) {
                self.0.note(COLUMN, || format!("{at}.{column}"));
            }
        }
        rows
    }

    /// A table whose length is not that of its columns.
    pub(in super::super) fn wrong_length(&mut self, place: impl FnOnce() -> String) {
        self.0.note(LENGTH, place);
    }

    /// A table that is not there.
    pub(super) fn missing(&mut self, place: impl FnOnce() -> String) {
        self.0.note(COLUMN, place);
    }
}

/// Entry `row` of a column, the usual one where the column is missing or too short.
pub(super) fn entry<T: Copy + Default>(column: Option<&Vec<T>>, row: usize) -> T {
    column.and_then(|column| column.get(row)).copied().unwrap_or_default()
}

/// How many rows a column has, for [`Repairs::rows`].
pub(super) fn stored<T>(column: Option<&Vec<T>>) -> Option<usize> {
    column.map(Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_never_longer_than_its_columns() {
        let mut repairs = Repairs::default();
        assert_eq!(repairs.rows("a", Some(Wide(Some(3))), &[("x", Some(3))], &[("y", None)]), 3);
        assert!(repairs.0.into_warnings().is_empty());
        let mut repairs = Repairs::default();
        assert_eq!(repairs.rows("a", Some(Wide(Some(u64::MAX))), &[("x", Some(3)), ("z", None)], &[("y", Some(2))]), 3);
        let warnings = repairs.0.into_warnings();
        assert_eq!(
            (&*warnings[0].code, warnings[0].count, warnings[0].first.as_deref()),
            ("column-length", 2, Some("a.length"))
        );
        assert_eq!((&*warnings[1].code, warnings[1].first.as_deref()), ("column-missing", Some("a.z")));
    }
}

//! Adding up: one row for each distinct stack and set of labels.

use rustc_hash::FxHashMap;

use crate::analysis::Worth;
use crate::model::Values;

/// Stack and set of labels, as rows of their tables.
pub(super) type Key = (u32, Option<u32>);

/// Rows in the order in which they were first added to.
pub(super) struct Sums {
    /// Whether equal rows are one, and those that count nothing are none.
    merges: bool,
    keys: Vec<Key>,
    index: FxHashMap<Key, usize>,
    columns: Vec<Column>,
}

enum Column {
    Whole(Vec<i64>),
    Fractional(Vec<f64>),
}

/// What had to be changed to make whole numbers of all values.
#[derive(Clone, Copy, Default)]
pub(super) struct Changes {
    /// Sums that were rounded.
    pub rounded: u64,
    /// Values that are no numbers.
    pub not_finite: u64,
    /// Values that made a sum larger than a number of the file can be.
    pub too_large: u64,
}

impl Changes {
    /// What was computed, or the largest number in place of what has no place: that of the sign of `value`.
    pub(super) fn or_largest(&mut self, exact: Option<i64>, value: i64) -> i64 {
        exact.unwrap_or_else(|| {
            self.too_large += 1;
            if value < 0 { i64::MIN } else { i64::MAX }
        })
    }
}

impl Sums {
    /// No rows; for each column it is said whether fractional numbers are added to it.
    pub(super) fn new(fractional: impl Iterator<Item = bool>, merges: bool) -> Self {
        let column = |fractional| if fractional { Column::Fractional(Vec::new()) } else { Column::Whole(Vec::new()) };
        Self { merges, keys: Vec::new(), index: FxHashMap::default(), columns: fractional.map(column).collect() }
    }

    /// The row of `key`.
    pub(super) fn row(&mut self, key: Key) -> usize {
        if !self.merges {
            return self.add_row(key);
        }
        if let Some(row) = self.index.get(&key) {
            return *row;
        }
        let row = self.add_row(key);
        self.index.insert(key, row);
        row
    }

    fn add_row(&mut self, key: Key) -> usize {
        self.keys.push(key);
        for column in &mut self.columns {
            match column {
                Column::Whole(sums) => sums.push(0),
                Column::Fractional(sums) => sums.push(0.0),
            }
        }
        self.keys.len() - 1
    }

    /// Adds what `sample` is worth in each column.
    pub(super) fn add_sample(
        &mut self,
        row: usize,
        worths: &[Option<Worth<'_>>],
        sample: usize,
        changes: &mut Changes,
    ) {
        for (index, worth) in worths.iter().enumerate() {
            let Some(worth) = worth else { continue };
            match worth {
                Worth::Cpu(deltas) => self.add(row, index, deltas[sample].get().map_or(0, |delta| delta.0), changes),
                Worth::Values(Values::Ones, factor) => self.add(row, index, *factor, changes),
                Worth::Values(Values::Integer(values), factor) => {
                    let value = changes.or_largest(values[sample].checked_mul(*factor), values[sample]);
                    self.add(row, index, value, changes);
                }
                Worth::Values(Values::Float(values), factor) if values[sample].is_finite() => {
                    self.add_fraction(row, index, values[sample] * to_float(*factor));
                }
                Worth::Values(Values::Float(_), _) => changes.not_finite += 1,
            }
        }
    }

    /// Adds to one column.
    pub(super) fn add(&mut self, row: usize, column: usize, value: i64, changes: &mut Changes) {
        match &mut self.columns[column] {
            Column::Whole(sums) => sums[row] = changes.or_largest(sums[row].checked_add(value), value),
            Column::Fractional(sums) => sums[row] += to_float(value),
        }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// How many numbers each has.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Adds the numbers of a row to `values`; `None` if they add up to nothing where rows are merged.
    pub(super) fn get(&self, row: usize, values: &mut Vec<i64>, changes: &mut Changes) -> Option<Key> {
        let start = values.len();
        values.extend(self.columns.iter().map(|column| column.value(row, changes)));
        if self.merges && values[start..].iter().all(|value| *value == 0) {
            values.truncate(start);
            return None;
        }
        Some(self.keys[row])
    }

    fn add_fraction(&mut self, row: usize, column: usize, value: f64) {
        match &mut self.columns[column] {
            Column::Whole(_) => unreachable!("columns with fractional numbers are known beforehand"),
            Column::Fractional(sums) => sums[row] += value,
        }
    }
}

impl Column {
    fn value(&self, row: usize, changes: &mut Changes) -> i64 {
        match self {
            Self::Whole(sums) => sums[row],
            Self::Fractional(sums) => {
                let rounded = sums[row].round();
                // 2^63 is the first number that is too large.
                let is_in_range = (to_float(i64::MIN)..-to_float(i64::MIN)).contains(&rounded);
                changes.too_large += u64::from(!is_in_range);
                changes.rounded += u64::from(is_in_range && rounded != sums[row]);
                to_whole(rounded)
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "weights beyond 2^53 are not exact in any format")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

#[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest number")]
fn to_whole(float: f64) -> i64 {
    float as i64
}

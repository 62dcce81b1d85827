//! Times of a table, and the order of its rows.

use super::super::schema::Real;
use super::repair::Repairs;
use crate::model::Time;

/// The rows of a table that have times, in order of time.
pub(super) struct Timed {
    pub time: Vec<Time>,
    /// The row of the file of each; `None` where all of them are there in the order of the file.
    pub rows: Option<Vec<usize>>,
}

/// Stands for a time that is none until its row goes: no time of a file is so early.
const LOST: Time = Time(i64::MIN);

impl Timed {
    /// Reads the times of `rows` rows, which are given as they are or as differences. `others` keeps rows without a time out
    /// of the table and the rest in order, both noted.
    pub(super) fn read(
        repairs: &mut Repairs,
        at: &str,
        rows: usize,
        time: Option<Vec<Real>>,
        deltas: Option<Vec<Real>>,
    ) -> Self {
        let mut millis = match (time, deltas) {
            (Some(time), _) => time,
            (None, Some(deltas)) => sums(deltas),
            (None, None) => Vec::new(),
        };
        millis.truncate(rows);
        let mut some_lost = false;
        let times = millis.into_iter().enumerate().map(|(row, Real(millis))| {
            repairs.time(millis, || format!("{at}.time[{row}]")).unwrap_or_else(|| {
                some_lost = true;
                LOST
            })
        });
        // In the memory of the column.
        let mut times: Vec<Time> = times.collect();
        let mut kept: Option<Vec<usize>> = None;
        if some_lost {
            kept = Some((0..times.len()).filter(|row| times[*row] != LOST).collect());
            times.retain(|time| *time != LOST);
        }
        if times.len() < rows && kept.is_none() {
            kept = Some((0..times.len()).collect());
            let lost = (rows - times.len()) as u64;
            repairs.count("row-untimed", "rows without a time are left out", lost, || format!("{at}.time"));
        }
        let mut timed = Self { time: times, rows: kept };
        timed.sort(repairs, at);
        timed
    }

    pub(super) fn len(&self) -> usize {
        self.time.len()
    }

    /// The row of the file of each.
    pub(super) fn file_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).map(|row| self.file_row(row))
    }

    pub(super) fn file_row(&self, row: usize) -> usize {
        self.rows.as_ref().map_or(row, |rows| rows[row])
    }

    fn sort(&mut self, repairs: &mut Repairs, at: &str) {
        let descents = || (1..).zip(self.time.windows(2)).filter(|(_, pair)| pair[0] > pair[1]).map(|(row, _)| row);
        let Some(first) = descents().next() else { return };
        let count = descents().count() as u64;
        let message = "rows are not in order of time: sorted";
        repairs.count("row-order", message, count, || format!("{at}.time[{}]", self.file_row(first)));
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|row| self.time[*row]);
        self.rows = Some(order.iter().map(|row| self.file_row(*row)).collect());
        self.time = order.iter().map(|row| self.time[*row]).collect();
    }
}

/// The times that differences lead to.
fn sums(deltas: Vec<Real>) -> Vec<Real> {
    let mut now = 0.0;
    let sums = deltas.into_iter().map(|Real(delta)| {
        // A difference that is none does not lose the rest.
        now += if delta.is_nan() { 0.0 } else { delta };
        Real(now)
    });
    sums.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_time_go_and_the_rest_is_sorted() {
        let mut repairs = Repairs::default();
        let time = [3.0, f64::NAN, 1.0, 2.0].map(Real).to_vec();
        let timed = Timed::read(&mut repairs, "samples", 5, Some(time), None);
        assert_eq!(timed.time, [1, 2, 3].map(|ms| Time(ms * 1_000_000)));
        assert_eq!(timed.rows, Some(vec![2, 3, 0]));
        let codes: Vec<_> =
            repairs.0.into_warnings().into_iter().map(|warning| (warning.code, warning.first)).collect();
        let expected = [("time-impossible", "samples.time[1]"), ("row-order", "samples.time[2]")];
        assert_eq!(codes, expected.map(|(code, first)| (code.to_owned(), Some(first.to_owned()))));
    }

    #[test]
    fn differences_are_added_up() {
        let mut repairs = Repairs::default();
        let deltas = [5.0, 0.000_001, 2.0].map(Real).to_vec();
        let timed = Timed::read(&mut repairs, "samples", 3, None, Some(deltas));
        assert_eq!(timed.time, [Time(5_000_000), Time(5_000_001), Time(7_000_001)]);
        assert_eq!((timed.rows, repairs.0.into_warnings()), (None, Vec::new()));
    }
}

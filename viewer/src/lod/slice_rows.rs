//! The slices of a thread as rows: one for each depth of each lane.

use std::borrow::Borrow;
use std::ops::Range;

use traceview_core::model::{Nanos, SliceTable, Time};

use super::spans::Spans;

/// The slices of one thread as [`Spans`]: all depths of the first lane, then those of the next. Items are slice rows.
///
/// `T` is what holds the table: a reference, or what shares a whole profile and borrows as one of its tables.
#[derive(Clone, Debug)]
pub struct SliceRows<T> {
    slices: T,
    /// In order of their numbers, which need not be 0, 1, 2, …
    lanes: Vec<Lane>,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    number: u32,
    first_row: u32,
    rows: u32,
}

impl<T: Borrow<SliceTable>> SliceRows<T> {
    /// Finds the lanes of `slices` and how deep they are.
    pub fn new(slices: T) -> Self {
        let table: &SliceTable = slices.borrow();
        let mut lanes: Vec<Lane> = Vec::new();
        let mut current = 0;
        for (&number, &depth) in table.lane.iter().zip(&table.depth) {
            if lanes.get(current).is_none_or(|lane| lane.number != number) {
                current = lanes.binary_search_by_key(&number, |lane| lane.number).unwrap_or_else(|place| {
                    lanes.insert(place, Lane { number, first_row: 0, rows: 0 });
                    place
                });
            }
            lanes[current].rows = lanes[current].rows.max(depth.saturating_add(1));
        }
        let mut first_row = 0u32;
        for lane in &mut lanes {
            lane.first_row = first_row;
            first_row = first_row.saturating_add(lane.rows);
        }
        Self { slices, lanes }
    }

    /// The table.
    pub fn slices(&self) -> &SliceTable {
        self.slices.borrow()
    }

    /// Each lane's number and its rows, outermost depth first.
    pub fn lanes(&self) -> impl ExactSizeIterator<Item = (u32, Range<u32>)> {
        self.lanes.iter().map(|lane| (lane.number, lane.first_row..lane.first_row + lane.rows))
    }

    #[inline]
    fn lane(&self, number: u32) -> Lane {
        match self.lanes.get(number as usize) {
            // Lanes are nearly always numbered without holes.
            Some(&lane) if lane.number == number => lane,
            _ => {
                let place = self.lanes.binary_search_by_key(&number, |lane| lane.number);
                self.lanes[place.expect("the lanes of all slices were collected")]
            }
        }
    }
}

impl<T: Borrow<SliceTable>> Spans for SliceRows<T> {
    fn len(&self) -> usize {
        self.slices().len()
    }

    fn rows(&self) -> u32 {
        self.lanes.last().map_or(0, |lane| lane.first_row + lane.rows)
    }

    #[inline]
    fn row(&self, item: usize) -> u32 {
        self.lane(self.slices().lane[item]).first_row + self.slices().depth[item]
    }

    #[inline]
    fn start(&self, item: usize) -> Time {
        self.slices().start[item]
    }

    #[inline]
    fn duration(&self, item: usize) -> Nanos {
        self.slices().duration[item]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_without_consecutive_numbers_get_rows_of_their_own() {
        let slices = SliceTable { lane: vec![7, 0, 7, 0, 7], depth: vec![0, 0, 1, 1, 2], ..SliceTable::default() };
        let rows = SliceRows::new(&slices);
        assert_eq!(rows.lanes().collect::<Vec<_>>(), [(0, 0..2), (7, 2..5)]);
        assert_eq!(rows.rows(), 5);
        let row_of = (0..5).map(|item| rows.row(item)).collect::<Vec<_>>();
        assert_eq!(row_of, [2, 0, 3, 1, 4]);
    }
}

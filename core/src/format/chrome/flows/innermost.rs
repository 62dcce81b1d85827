//! The slices that moments lie in.

use crate::model::{SliceId, SliceTable, Time};

/// Finds the innermost slices around moments, which come in order. Both ends of a slice belong to it.
pub(in crate::format::chrome) struct Innermost<'a> {
    slices: &'a SliceTable,
    next: usize,
    /// Those that have started and may not have ended, in the order of the table: whatever the lanes are, the last of them
    /// that has not ended started last.
    open: Vec<usize>,
}

impl<'a> Innermost<'a> {
    pub(in crate::format::chrome) fn of(slices: &'a SliceTable) -> Self {
        Self { slices, next: 0, open: Vec::new() }
    }

    pub(in crate::format::chrome) fn at(&mut self, time: i64) -> Option<SliceId> {
        let end = |slice: usize| self.slices.start[slice] + self.slices.duration[slice];
        while self.next < self.slices.len() && self.slices.start[self.next] <= Time(time) {
            // What ended before is of no use any more, wherever it lies.
            while self.open.last().is_some_and(|last| end(*last) < Time(time)) {
                self.open.pop();
            }
            self.open.push(self.next);
            self.next += 1;
        }
        while self.open.last().is_some_and(|last| end(*last) < Time(time)) {
            self.open.pop();
        }
        self.open.last().map(|slice| SliceId::new(*slice))
    }
}

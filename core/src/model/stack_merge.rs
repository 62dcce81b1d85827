//! Makes one row of equal rows of a whole table of stacks.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::ids::{FrameId, StackId};
use super::stack::StackTable;

/// So many callees of a row stand in a list, where looking is fast: rows stand near their callers, and few have more
/// callees than that.
const LISTED: usize = 6;

/// Finds rows by their callers while they come in order, in the memory near them. [`StackIndex`](super::stack_index) finds
/// any row at any time, and takes three times the memory and a wait for it at nearly every row.
struct Callees {
    /// The first callee of each row, the first root in front.
    first: Vec<Option<StackId>>,
    /// The next callee of the same caller.
    next: Vec<Option<StackId>>,
    /// The callees that are not in lists.
    others: FxHashMap<(Option<StackId>, FrameId), StackId>,
}

/// Removes the rows of `table` that are equal to an earlier one. Gives the row that each row became; `None` if all of them
/// stay where they are.
///
/// # Panics
/// If a caller does not stand before its callee, or one column is longer than the other.
pub(super) fn merge_equal(table: &mut StackTable) -> Option<Vec<StackId>> {
    let count = table.len();
    assert_eq!(table.prefix.len(), count, "columns of one table");
    let mut callees = Callees { first: vec![None; count + 1], next: vec![None; count], others: FxHashMap::default() };
    let mut moved: Option<Vec<StackId>> = None;
    let mut len = 0;
    for row in 0..count {
        let (prefix, frame) = (table.prefix[row], table.frame[row]);
        assert!(prefix.is_none_or(|prefix| prefix.index() < row), "callers stand before their callees");
        let prefix = match &moved {
            Some(moved) => prefix.map(|prefix| moved[prefix.index()]),
            None => prefix,
        };
        let new = StackId::new(len);
        let found = callees.find_or_add(&table.frame, prefix, frame, new);
        match (&mut moved, found) {
            (Some(moved), found) => moved.push(found.unwrap_or(new)),
            (None, Some(found)) => {
                let mut all = Vec::with_capacity(count);
                all.extend((0..row).map(StackId::new));
                all.push(found);
                moved = Some(all);
            }
            (None, None) => {}
        }
        if found.is_none() {
            (table.prefix[len], table.frame[len]) = (prefix, frame);
            len += 1;
        }
    }
    table.prefix.truncate(len);
    table.frame.truncate(len);
    moved
}

impl Callees {
    /// The row in which `prefix` calls `frame`, or none: then `new` is from now on. `frames` has the frames of the rows so far.
    fn find_or_add(
        &mut self,
        frames: &[FrameId],
        prefix: Option<StackId>,
        frame: FrameId,
        new: StackId,
    ) -> Option<StackId> {
        let mut place = &mut self.first[prefix.map_or(0, |prefix| prefix.index() + 1)];
        for _ in 0..LISTED {
            match *place {
                Some(callee) if frames[callee.index()] == frame => return Some(callee),
                Some(callee) => place = &mut self.next[callee.index()],
                None => {
                    *place = Some(new);
                    return None;
                }
            }
        }
        match self.others.entry((prefix, frame)) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(vacant) => {
                vacant.insert(new);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::stack_index::StackIndex;

    /// The same, one row after the other.
    fn one_by_one(table: &StackTable) -> (StackTable, Vec<StackId>) {
        let (mut index, mut merged, mut ids) = (StackIndex::default(), StackTable::default(), Vec::<StackId>::new());
        for (prefix, frame) in table.prefix.iter().zip(&table.frame) {
            let prefix = prefix.map(|prefix| ids[prefix.index()]);
            ids.push(index.intern(&mut merged, prefix, *frame));
        }
        (merged, ids)
    }

    fn check(table: &StackTable) {
        let (merged, ids) = one_by_one(table);
        let mut found = table.clone();
        let moved = merge_equal(&mut found);
        assert_eq!(found, merged);
        let stay = merged.len() == table.len();
        assert_eq!(moved, (!stay).then_some(ids));
    }

    proptest::proptest! {
        #[test]
        fn the_rows_are_those_that_an_index_finds(
            rows in proptest::collection::vec((0.0..1.0, 0..20_usize), 0..200),
            frames in 1..20_usize,
        ) {
            let mut table = StackTable::default();
            for (row, (prefix, frame)) in rows.iter().enumerate() {
                let prefix = (prefix * (row + 1) as f64) as usize;
                table.push(prefix.checked_sub(1).map(StackId::new), FrameId::new(frame % frames));
            }
            check(&table);
        }
    }

    #[test]
    fn many_callees_of_one_row_are_found_in_no_more_time() {
        let mut table = StackTable::default();
        for row in 0..200_000 {
            table.push((row > 0).then(|| StackId::new(0)), FrameId::new(row % 150_000));
        }
        check(&table);
    }
}

//! Finds a row of a table of distinct rows again.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;

use rustc_hash::FxHasher;

use super::ids::Id;

/// The rows of a table by their hashes.
///
/// A hash map would hold each row once more, and much room for further ones: that is more than the table itself. Here
/// a row takes eight bytes, and what is in it is only looked at if its hash is that of the row that is sought.
#[derive(Debug, Default)]
pub(super) struct RowIndex {
    /// Rows at or behind the place that their hash chooses, in the first that was free. As many as a power of two.
    places: Vec<Option<Place>>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of the row + 1.
    row: NonZeroU32,
    hash: u32,
}

/// Places of the smallest table.
const FEWEST: usize = 16;

impl RowIndex {
    /// The id of `row` if `is_it` knows it; else it is known from now on as the one that `add` gives.
    #[inline]
    pub(super) fn intern<T, R: Hash, I: Id>(
        &mut self,
        table: &mut T,
        row: &R,
        is_it: impl Fn(&T, I, &R) -> bool,
        add: impl FnOnce(&mut T) -> I,
    ) -> I {
        if self.len >= self.places.len() / 4 * 3 {
            self.grow();
        }
        let hash = hash(row);
        let mask = self.places.len() - 1;
        let mut index = hash as usize & mask;
        while let Some(place) = self.places[index] {
            let known = I::new(place.row.get() as usize - 1);
            if place.hash == hash && is_it(table, known, row) {
                return known;
            }
            index = (index + 1) & mask;
        }
        let id = add(table);
        let row = u32::try_from(id.index() + 1).ok().and_then(NonZeroU32::new);
        self.places[index] = Some(Place { row: row.expect("ids are of fewer than u32::MAX rows"), hash });
        self.len += 1;
        id
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.places.len() * 2).max(FEWEST);
        let old = std::mem::replace(&mut self.places, vec![None; len]);
        for place in old.into_iter().flatten() {
            let mut index = place.hash as usize & (len - 1);
            while self.places[index].is_some() {
                index = (index + 1) & (len - 1);
            }
            self.places[index] = Some(place);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is as good as any")]
fn hash(row: &impl Hash) -> u32 {
    let mut hasher = FxHasher::default();
    row.hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FrameId;

    fn intern(index: &mut RowIndex, table: &mut Vec<u64>, row: u64) -> usize {
        let is_it = |table: &Vec<u64>, id: FrameId, row: &u64| table[id.index()] == *row;
        let add = |table: &mut Vec<u64>| {
            table.push(row);
            FrameId::new(table.len() - 1)
        };
        index.intern(table, &row, is_it, add).index()
    }

    #[test]
    fn rows_are_found_again_however_many_there_are() {
        let (mut index, mut table) = (RowIndex::default(), Vec::new());
        for _ in 0..2 {
            for row in 0..5_000 {
                assert_eq!(intern(&mut index, &mut table, row * row) as u64, row);
            }
        }
        assert_eq!((table.len(), index.len), (5_000, 5_000));
        assert_eq!(size_of::<Option<Place>>(), 8);
    }
}

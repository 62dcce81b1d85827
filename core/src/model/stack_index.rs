//! Finds the row of a stack again.

use super::ids::{FrameId, StackId};
use super::stack::StackTable;

/// The rows of a [`StackTable`] by what is in them.
///
/// A profile can have tens of millions of stack nodes, in no order that a cache could foresee. So each place holds all that
/// it takes to compare: a row is found by looking at one place in memory, nearly always.
#[derive(Debug, Default)]
pub(super) struct StackIndex {
    /// Rows at or behind the place that their hash chooses, in the first that was free. As many as a power of two; none as
    /// long as no row had to be found.
    places: Vec<Option<Place>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    row: StackId,
    prefix: Option<StackId>,
    frame: FrameId,
}

/// Places of the smallest table.
const FEWEST: usize = 64;

impl StackIndex {
    /// The row of `stacks` in which `prefix` calls `frame`, added if new. All other rows were added here too, or before the
    /// first one was.
    #[inline]
    pub(super) fn intern(&mut self, stacks: &mut StackTable, prefix: Option<StackId>, frame: FrameId) -> StackId {
        if stacks.len() >= self.places.len() / 5 * 4 {
            self.rebuild((self.places.len() * 2).max(places_for(stacks.len() + 1)), stacks);
        }
        let mask = self.places.len() - 1;
        let mut index = hash(prefix, frame) & mask;
        while let Some(place) = self.places[index] {
            if place.prefix == prefix && place.frame == frame {
                return place.row;
            }
            index = (index + 1) & mask;
        }
        let row = stacks.push(prefix, frame);
        self.places[index] = Some(Place { row, prefix, frame });
        row
    }

    /// Reads the places that [`intern`](Self::intern) is going to look at for these stacks. The processor waits for many
    /// places in memory at once, if nothing depends on one before the next is asked for.
    pub(super) fn warm(&self, callers: &[Option<StackId>], frames: &[FrameId]) {
        let mask = self.places.len().wrapping_sub(1);
        let rows = callers.iter().zip(frames).map(|(prefix, frame)| {
            let place = self.places.get(hash(*prefix, *frame) & mask).copied().flatten();
            place.map_or(0, |place| place.row.index())
        });
        std::hint::black_box(rows.fold(0, |all, row| all ^ row));
    }

    /// Makes the table anew with `len` places.
    #[cold]
    fn rebuild(&mut self, len: usize, stacks: &StackTable) {
        // The old table goes first: both at once would be the most memory that reading takes.
        self.places = Vec::new();
        self.places.resize(len, None);
        let mask = len - 1;
        for (row, (prefix, frame)) in stacks.prefix.iter().copied().zip(stacks.frame.iter().copied()).enumerate() {
            let mut index = hash(prefix, frame) & mask;
            while self.places[index].is_some() {
                index = (index + 1) & mask;
            }
            self.places[index] = Some(Place { row: StackId::new(row), prefix, frame });
        }
    }
}

/// How many places `rows` rows need: at most four of five are taken.
fn places_for(rows: usize) -> usize {
    (rows / 4 * 5 + 5).next_power_of_two().max(FEWEST)
}

/// Spreads what differs in a few low bits over all bits (the finalizer of MurmurHash3).
fn hash(prefix: Option<StackId>, frame: FrameId) -> usize {
    let prefix = prefix.map_or(0, |prefix| prefix.index() as u64 + 1);
    let mut hash = (prefix << 32) | frame.index() as u64;
    for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    (hash ^ (hash >> 33)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_three_numbers() {
        assert_eq!(size_of::<Option<Place>>(), 12);
    }

    #[test]
    fn rows_are_found_again_however_many_there_are() {
        let (mut index, mut stacks) = (StackIndex::default(), StackTable::default());
        let rows: Vec<(Option<StackId>, FrameId)> = (0..5_000_usize)
            .map(|row| ((row > 0).then(|| StackId::new((row - 1) / 3)), FrameId::new(row % 3)))
            .collect();
        for _ in 0..2 {
            for (row, (prefix, frame)) in rows.iter().enumerate() {
                assert_eq!(index.intern(&mut stacks, *prefix, *frame).index(), row);
            }
        }
        assert_eq!(stacks.len(), rows.len());
        assert!(index.places.len() < 4 * rows.len());
    }
}

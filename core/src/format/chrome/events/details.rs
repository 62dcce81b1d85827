//! What events say that is in no column: their arguments, and fields that only their writers know.
//!
//! It stays text. Many events say the same, so equal ones are one: that is found out while the text is at hand, and what is
//! made of it later is made once.

use std::hash::Hasher;
use std::num::NonZeroU32;

use rustc_hash::{FxHashMap, FxHasher};

/// How many of them are remembered to find equal ones.
const REMEMBERED: usize = 1 << 15;

/// What an event says that is in no column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::format::chrome) struct DetailId(NonZeroU32);

/// Each is a list of pieces of text: the object of its arguments, if it has one, and then fields, from the quote of the
/// key to the end of the value.
#[derive(Debug, Default)]
pub(super) struct Details<'a> {
    pieces: Vec<&'a [u8]>,
    /// Where the pieces of each end; the one before (or the beginning) begins them.
    ends: Vec<u32>,
    /// By hash the last one with that.
    known: FxHashMap<u64, DetailId>,
}

impl DetailId {
    pub(in crate::format::chrome) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl<'a> Details<'a> {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, id: DetailId) -> &[&'a [u8]] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pieces[start as usize..self.ends[id.index()] as usize]
    }

    /// Lets go of what finds equal ones: there come no more.
    pub(super) fn forget(&mut self) {
        self.known = FxHashMap::default();
    }

    /// The id of `pieces`; of none: `None`.
    pub(super) fn of(&mut self, pieces: &[&'a [u8]]) -> Option<DetailId> {
        if pieces.is_empty() {
            return None;
        }
        let hash = hash(pieces);
        if let Some(known) = self.known.get(&hash)
            && self.get(*known) == pieces
        {
            return Some(*known);
        }
        self.pieces.extend_from_slice(pieces);
        self.ends.push(u32::try_from(self.pieces.len()).ok()?);
        let id = u32::try_from(self.ends.len()).ok().and_then(NonZeroU32::new).map(DetailId)?;
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(hash, id);
        Some(id)
    }
}

fn hash(pieces: &[&[u8]]) -> u64 {
    let mut hasher = FxHasher::default();
    for piece in pieces {
        hasher.write(piece);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_details_are_one_and_pieces_keep_their_bounds() {
        let mut details = Details::default();
        let pieces: [&[&[u8]]; 4] = [&[b"{}"], &[b"{}", b"\"a\":1"], &[b"{}", b"\"a\":1", b"\"b\":2"], &[b"\"a\":1"]];
        let ids = pieces.map(|pieces| details.of(pieces).expect("there are pieces"));
        assert_eq!(ids.map(DetailId::index), [0, 1, 2, 3]);
        assert_eq!(pieces.map(|pieces| details.of(pieces).expect("there are pieces")), ids);
        assert_eq!(ids.map(|id| details.get(id).to_vec()), pieces.map(<[&[u8]]>::to_vec));
        assert_eq!(details.of(&[]), None);
    }

    #[test]
    fn what_is_forgotten_comes_anew() {
        let text: Vec<String> = (0..=REMEMBERED).map(|number| number.to_string()).collect();
        let mut details = Details::default();
        for text in &text {
            details.of(&[text.as_bytes()]);
        }
        let again = details.of(&[b"0"]).expect("a piece");
        assert_eq!((details.get(again), again.index()), (&[&b"0"[..]][..], text.len()));
    }
}

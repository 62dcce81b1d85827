//! Stacks of threads that sleep, without stopping them.
//!
//! Of such a thread the kernel tells program counter and stack pointer, but not the frame pointer. Code without frame
//! pointers is walked by its rules alone; where a function needs its frame pointer, it can be found: the function's prologue
//! says how far above the stack pointer it lies, or else there is a place on the stack with a return address above it,
//! from which the walk leads on to the root. Such places are left over from earlier calls too; the
//! right one is told by the call instructions, which must go to the functions that stand there.

use gimli::X86_64;

use super::instructions::{frame_size, is_call};
use super::recording::RawFrame;
use super::stack_copy::StackCopy;
use super::walk::{Start, WalkEnd};
use super::{Unwinder, frame};
use crate::sampler::event::{ProcessIndex, Snapshot};

/// Where frame pointers are looked for, in bytes above the stack pointer.
const REACH: u64 = 16 << 10;

/// How many places are tried.
const MOST_TRIES: usize = 64;

impl Unwinder<'_> {
    /// Completes a walk that came to a frame whose frame pointer is not known, if a place can be found that leads on to
    /// the root in a way that the code allows. Whether it could.
    pub(super) fn infer(&mut self, process: ProcessIndex, snapshot: &Snapshot, last: Start) -> bool {
        let code = &self.spaces[process].code;
        let RawFrame::Code { image, svma } = frame(code, last.at.lookup()) else { return false };
        let Some(table) = self.images.table(image) else { return false };
        let Some(function) = table.function(svma) else { return false };
        let size = table.code(function.start).and_then(frame_size);
        let copy = StackCopy::of(snapshot);
        let images = &self.images;
        let is_after_call = |avma: u64| images.code_before(frame(code, avma.wrapping_sub(1))).is_some_and(is_call);
        let places = places(last.registers.sp(), size, |address| copy.copied_word(address), is_after_call);
        let inner = std::mem::take(&mut self.addresses);
        let right = places.into_iter().find(|place| {
            let mut start = last;
            start.registers.set(X86_64::RBP, place.address);
            let (walked, _) = self.walk_copy(process, snapshot, start);
            walked.end == WalkEnd::Root && (place.exact || self.calls_fit(process))
        });
        let outer = std::mem::replace(&mut self.addresses, inner);
        if right.is_some() {
            self.addresses.extend(&outer[1..]);
        }
        right.is_some()
    }

    /// Whether each call in `self.addresses` goes to the function that stands there, as far as the instructions tell.
    fn calls_fit(&self, process: ProcessIndex) -> bool {
        let code = &self.spaces[process].code;
        let images = &self.images;
        self.addresses.windows(2).all(|pair| !images.calls_another(frame(code, pair[1]), frame(code, pair[0])))
    }
}

/// A place on the stack that can be where a frame pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Its address.
    pub(super) address: u64,
    /// Whether the function's prologue names it; else it only looks like one.
    pub(super) exact: bool,
}

/// Places that the frame pointer can point to that the walk needs at stack pointer `sp`, the likeliest first: where the
/// prologue says (`size`), then all others within reach. Each has a return address above it.
///
/// What is saved in the place itself tells nothing: it is whatever the caller had in that register.
///
/// `read` gives the word at an address of the stack, if it can be read; `is_after_call` whether an address can be a return
/// address.
pub(super) fn places(
    sp: u64,
    size: Option<u64>,
    read: impl Fn(u64) -> Option<u64>,
    mut is_after_call: impl FnMut(u64) -> bool,
) -> Vec<Place> {
    let mut is_place = |address: u64| address.checked_add(8).and_then(&read).is_some_and(&mut is_after_call);
    let exact = size.and_then(|size| sp.checked_add(size)).filter(|address| is_place(*address));
    if let Some(address) = exact {
        return vec![Place { address, exact: true }];
    }
    // The stack pointer can be anything, such as −1.
    let Some(start) = sp.checked_next_multiple_of(8) else { return Vec::new() };
    let end = sp.saturating_add(REACH);
    let found = (start..end).step_by(8).filter(|address| is_place(*address)).take(MOST_TRIES);
    found.map(|address| Place { address, exact: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_the_prologue_names_is_the_only_one_if_it_fits() {
        // Return addresses at 0x1018 and 0x1038.
        let words = [0, 0, 0x1030, 7, 0, 0, 0xbad, 7, 0, 0];
        let read = |address: u64| words.get(usize::try_from((address - 0x1000) / 8).ok()?).copied();
        let found = |size| places(0x1000, size, read, |address| address == 7);
        let place = |address, exact| Place { address, exact };
        assert_eq!(found(Some(0x10)), [place(0x1010, true)]);
        assert_eq!(found(Some(0x20)), [place(0x1010, false), place(0x1030, false)], "a wrong size is not trusted");
        assert_eq!(found(None), [place(0x1010, false), place(0x1030, false)]);
    }

    #[test]
    fn nothing_is_found_at_the_end_of_all_addresses() {
        for sp in [u64::MAX, u64::MAX - 7, u64::MAX - 20] {
            assert_eq!(places(sp, Some(0), |_| Some(7), |_| false), []);
            assert_eq!(places(sp, None, |_| None, |_| true), []);
        }
    }
}

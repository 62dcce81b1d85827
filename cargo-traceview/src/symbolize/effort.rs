//! How much work reading debug information may be.
//!
//! Parts of it are shared: lists of address ranges, tables of lines, declarations and strings are referred to, each from
//! anywhere and any number of times. What compilers make takes work in proportion to its size all the same. A file made to
//! harm can take the product of two of its parts instead, which is hours and all memory for one of a megabyte. So work is
//! counted, in steps of about the same time, and a file that takes more than a generous multiple of its size is not read.
//!
//! Names are looked up in rounds, and each reads units again that others have read. So each may take that much: what the
//! work of one is bounded by must not depend on how many there were. A file that has once taken more is not read again.

use gimli::Section as _;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::source::Reader;

/// Steps for any file.
const FLOOR: u64 = 16 << 20;
/// Steps for each byte that functions and lines are described in. Real programs take one or two.
const PER_BYTE: u64 = 8;
/// Steps for each address: functions inlined at it, and their names.
const PER_ADDRESS: u64 = 4096;
/// Bytes of text that take a step.
const TEXT: usize = 16;
/// Steps that one thread takes from the budget at a time.
const SHARE: u64 = 1 << 16;

/// The work would be more than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exceeded;

/// The work that is left for one file, for all threads.
#[derive(Debug)]
pub(super) struct Budget {
    left: AtomicU64,
    is_exceeded: AtomicBool,
    /// What was allowed in all.
    #[cfg(test)]
    allowed: AtomicU64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            left: AtomicU64::new(FLOOR),
            is_exceeded: AtomicBool::new(false),
            #[cfg(test)]
            allowed: AtomicU64::new(FLOOR),
        }
    }
}

impl Budget {
    /// Begins a round: allows what reading this debug information can take, and looking up that many addresses. What an earlier
    /// round has left is not for this one.
    pub(super) fn renew(&mut self, dwarf: &gimli::Dwarf<Reader<'_>>, addresses: usize) {
        *self = Budget { is_exceeded: mem::take(&mut self.is_exceeded), ..Budget::default() };
        self.allow_for(dwarf);
        self.allow_for_addresses(addresses);
    }

    /// Allows what reading this debug information can take.
    pub(super) fn allow_for(&self, dwarf: &gimli::Dwarf<Reader<'_>>) {
        self.allow(PER_BYTE.saturating_mul(size(dwarf)));
    }

    /// Allows what reading one unit can take, that is in a file with others: what they share is not allowed for each.
    pub(super) fn allow_for_split(&self, dwarf: &gimli::Dwarf<Reader<'_>>) {
        self.allow((4 * PER_BYTE).saturating_mul(dwarf.debug_info.reader().len() as u64));
    }

    /// Allows what looking up that many addresses can take.
    pub(super) fn allow_for_addresses(&self, count: usize) {
        self.allow(PER_ADDRESS.saturating_mul(count as u64));
    }

    fn allow(&self, steps: u64) {
        #[cfg(test)]
        self.allowed.fetch_add(steps, Ordering::Relaxed);
        self.left.fetch_add(steps, Ordering::Relaxed);
    }

    /// Begins to work, on one thread.
    pub(super) fn effort(&self) -> Effort<'_> {
        Effort { budget: self, own: 0 }
    }

    /// Whether somebody wanted more than there was.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// How many of how many steps are gone.
    #[cfg(test)]
    pub(super) fn spent(&self) -> (u64, u64) {
        let allowed = self.allowed.load(Ordering::Relaxed);
        (allowed - self.left.load(Ordering::Relaxed), allowed)
    }

    /// Takes at least `steps`, and more where there is plenty.
    fn take(&self, steps: u64) -> Result<u64, Exceeded> {
        let taken = |left: u64| left.min(steps.max(SHARE));
        let take = |left| Some(left - taken(left)).filter(|_| left >= steps);
        // Once is for all: a file is read or it is not.
        if !self.is_exceeded()
            && let Ok(left) = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        {
            return Ok(taken(left));
        }
        self.is_exceeded.store(true, Ordering::Relaxed);
        Err(Exceeded)
    }
}

/// Work on one thread.
#[derive(Debug)]
pub(super) struct Effort<'b> {
    budget: &'b Budget,
    /// Steps taken from the budget and not spent.
    own: u64,
}

impl Effort<'_> {
    /// Counts work that is about to be done, or was just done.
    #[inline]
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Exceeded> {
        let steps = steps as u64;
        if let Some(rest) = self.own.checked_sub(steps) {
            self.own = rest;
            return Ok(());
        }
        // What is left of the own steps is taken into account, so that nothing is lost by many small shares.
        self.own += self.budget.take(steps - self.own)?;
        self.own -= steps;
        Ok(())
    }

    /// Counts reading a text, and keeping it.
    pub(super) fn spend_text(&mut self, len: usize) -> Result<(), Exceeded> {
        self.spend(1 + len / TEXT)
    }
}

impl Drop for Effort<'_> {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.own, Ordering::Relaxed);
    }
}

/// Bytes of the sections that functions, their addresses and their lines are described in.
fn size(dwarf: &gimli::Dwarf<Reader<'_>>) -> u64 {
    let sections = [
        dwarf.debug_info.reader(),
        dwarf.debug_abbrev.reader(),
        dwarf.debug_line.reader(),
        dwarf.ranges.debug_ranges().reader(),
        dwarf.ranges.debug_rnglists().reader(),
    ];
    let own: u64 = sections.iter().map(|section| section.len() as u64).sum();
    own + dwarf.sup().map_or(0, size)
}

#[cfg(test)]
mod tests {
    use super::{Budget, Exceeded, FLOOR, PER_ADDRESS, PER_BYTE, SHARE};
    use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
    use std::thread;

    #[test]
    fn all_of_a_budget_can_be_spent_and_not_a_step_more() {
        let budget = Budget::default();
        budget.allow_for_addresses(3);
        let all = FLOOR + 3 * PER_ADDRESS;
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut effort = budget.effort();
                    for _ in 0..all / 4 - SHARE {
                        effort.spend(1).unwrap();
                    }
                });
            }
        });
        assert_eq!(budget.spent(), (all / 4 * 4 - 4 * SHARE, all));
        let mut effort = budget.effort();
        effort.spend(usize::try_from(4 * SHARE).unwrap()).unwrap();
        assert!(!budget.is_exceeded());
        assert_eq!((effort.spend(1), effort.spend(usize::MAX)), (Err(Exceeded), Err(Exceeded)));
        assert!(budget.is_exceeded());
        drop(effort);
        assert_eq!(budget.effort().spend(1), Err(Exceeded), "for good");
    }

    #[test]
    fn each_round_may_take_as_much_until_one_takes_more() {
        let sections = |id| if id == SectionId::DebugInfo { &[0; 100][..] } else { &[] };
        let dwarf = Dwarf::load(|id| Ok::<_, Exceeded>(EndianSlice::new(sections(id), LittleEndian))).unwrap();
        let all = FLOOR + 100 * PER_BYTE + PER_ADDRESS;
        let mut budget = Budget::default();
        for spent in [0, all, 1, all / 2, all] {
            budget.renew(&dwarf, 1);
            budget.effort().spend(usize::try_from(spent).unwrap()).unwrap();
            assert_eq!(budget.spent(), (spent, all));
        }
        budget.renew(&dwarf, 1);
        assert_eq!(budget.effort().spend(usize::try_from(all + 1).unwrap()), Err(Exceeded));
        budget.renew(&dwarf, 1);
        assert!(budget.is_exceeded());
        assert_eq!(budget.effort().spend(1), Err(Exceeded), "in later rounds, too");
    }
}

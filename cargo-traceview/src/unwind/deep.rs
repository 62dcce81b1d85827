//! Stacks that are too large to copy (deep recursion, huge frames) are walked while the thread is held, reading only the
//! pages that are needed, for a limited time.

use std::cell::RefCell;
use std::fmt;

use super::address_space::AddressSpace;
use super::registers::RegisterFile;
use super::walk::{CutReason, Memory, RuleCache, Start, WalkEnd, walk};
use crate::sampler::ptrace::sys::{self, Tid};

/// No thread is held for longer than this to walk its stack.
const HOLD_NS: i64 = 500_000;

/// Memory is read in pieces of this size.
const PIECE: usize = 16 << 10;

/// A piece starts so many bytes below what is needed first: the return address of a frame is, and the registers that were
/// saved below it are next.
const BELOW: u64 = 128;

/// What is needed to walk stacks of a process elsewhere than in the unwinder: its rules as they were at some moment.
pub(crate) struct DeepRules {
    code: AddressSpace,
    cache: RefCell<RuleCache>,
}

/// A stack that was walked while its thread was held.
pub(crate) struct HeldWalk {
    /// As [`walk`] gives them.
    pub(crate) addresses: Vec<u64>,
    /// How it ended.
    pub(crate) end: WalkEnd,
    /// By whose rules.
    code: AddressSpace,
}

impl HeldWalk {
    /// Whether it was walked by the rules of another map than that of `code`.
    pub(super) fn is_outdated(&self, code: &AddressSpace) -> bool {
        !self.code.is(code)
    }
}

impl DeepRules {
    /// The rules of `code`.
    pub(super) fn of(code: &AddressSpace) -> Self {
        code.prepare();
        Self { code: code.clone(), cache: RefCell::new(RuleCache::new()) }
    }

    /// Walks the stack of `tid`, which is held, from these registers on.
    pub(crate) fn walk_held(&self, tid: Tid, registers: RegisterFile) -> HeldWalk {
        let until = sys::monotonic_ns() + HOLD_NS;
        let mut memory = Held { pieces: Pieces::of(tid), until };
        let mut addresses = Vec::new();
        let walked =
            walk((&self.code, &mut self.cache.borrow_mut()), Start::innermost(registers), &mut memory, &mut addresses);
        HeldWalk { addresses, end: walked.end, code: self.code.clone() }
    }
}

impl fmt::Debug for HeldWalk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldWalk").field("addresses", &self.addresses).field("end", &self.end).finish_non_exhaustive()
    }
}

/// Memory of a thread that is held.
struct Held {
    pieces: Pieces,
    until: i64,
}

impl Memory for Held {
    fn word(&mut self, address: u64) -> Result<u64, CutReason> {
        self.pieces.read(address)
    }

    fn code(&self, address: u64, code: &mut [u8]) -> usize {
        sys::read_memory(self.pieces.tid, address, code)
    }

    fn goes_on(&self) -> bool {
        sys::monotonic_ns() < self.until
    }
}

/// Memory of another thread, of which the piece that was read last is kept: walks go upwards.
pub(super) struct Pieces {
    tid: Tid,
    start: u64,
    bytes: Vec<u8>,
    len: usize,
}

impl Pieces {
    /// Nothing of it yet.
    pub(super) fn of(tid: Tid) -> Self {
        Self { tid, start: 0, bytes: Vec::new(), len: 0 }
    }

    /// Whether anything was looked for.
    pub(super) fn were_read(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// The word at `address`.
    pub(super) fn read(&mut self, address: u64) -> Result<u64, CutReason> {
        if let Some(word) = self.word(address) {
            return Ok(word);
        }
        self.bytes.resize(PIECE, 0);
        // Nothing may be mapped below.
        for start in [address.saturating_sub(BELOW), address] {
            self.start = start & !7;
            self.len = sys::read_memory(self.tid, self.start, &mut self.bytes);
            if let Some(word) = self.word(address) {
                return Ok(word);
            }
        }
        Err(CutReason::Unreadable)
    }

    fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let word = self.bytes[..self.len].get(offset..offset.checked_add(8)?)?;
        word.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::proc_fs;
    use crate::unwind::images::Images;

    #[test]
    fn a_frames_return_address_and_registers_are_read_at_once() {
        let us = Tid::try_from(std::process::id()).unwrap();
        let words: Vec<u64> = (0..8192).collect();
        let address = |index: usize| (&raw const words[index]) as u64;
        let mut pieces = Pieces::of(us);
        assert_eq!(pieces.read(address(4000)), Ok(4000));
        let start = pieces.start;
        assert_eq!([3999, 3994, 4100].map(|index| pieces.read(address(index))), [Ok(3999), Ok(3994), Ok(4100)]);
        assert_eq!(pieces.start, start, "nothing was read again");
        assert_eq!(pieces.read(8), Err(CutReason::Unreadable));
    }

    #[test]
    fn walks_know_when_their_rules_are_of_another_map() {
        let us = Tid::try_from(std::process::id()).unwrap();
        let maps = proc_fs::parse_maps(&proc_fs::read_thread_file(us, us, "maps").unwrap());
        let (mut code, mut images) = (AddressSpace::default(), Images::default());
        assert!(code.update(&maps, &mut images, us));
        let walk = DeepRules::of(&code).walk_held(us, RegisterFile::at(8, 8));
        assert!(!walk.is_outdated(&code));
        assert!(!code.update(&maps, &mut images, us) && !walk.is_outdated(&code), "nothing changed");
        let is_last = |map: &&proc_fs::MapEntry| map.executable && map.inode != 0;
        let unloaded = maps.iter().rfind(is_last).unwrap().start;
        let fewer: Vec<_> = maps.into_iter().filter(|map| map.start != unloaded).collect();
        assert!(!code.update(&fewer, &mut images, us), "there is no code that was not known before");
        assert!(walk.is_outdated(&code));
    }
}

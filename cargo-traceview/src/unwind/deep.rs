//! Stacks that are too large to copy (deep recursion, huge frames) are walked while the thread is held, reading only the
//! pages that are needed, for a limited time.

use framehop::FrameAddress;

use super::address_space::{AddressSpace, Region, region_at};
use super::walk::{CutReason, RuleCache, Rules, Start, WalkEnd, walk};
use crate::sampler::ptrace::sys::{self, Tid};

/// No thread is held for longer than this to walk its stack.
const HOLD_NS: i64 = 500_000;

/// Memory is read in pieces of this size, aligned to it.
const PIECE: usize = 16 << 10;

/// What is needed to walk stacks of a process elsewhere than in the unwinder: its rules as they were at some moment.
pub(crate) struct DeepRules {
    rules: Rules,
    regions: Vec<Region>,
}

/// A stack that was walked while its thread was held.
#[derive(Debug)]
pub(crate) struct HeldWalk {
    /// As [`walk`] gives them.
    pub(crate) addresses: Vec<u64>,
    /// How it ended.
    pub(crate) end: WalkEnd,
}

impl DeepRules {
    /// The rules of `code`.
    pub(super) fn of(code: &AddressSpace) -> Self {
        Self { rules: code.rules().clone(), regions: code.regions().to_vec() }
    }

    /// Walks the stack of `tid`, which is held, from program counter, stack pointer and frame pointer on.
    pub(crate) fn walk_held(&self, tid: Tid, pc: u64, sp: u64, fp: u64) -> HeldWalk {
        let until = sys::monotonic_ns() + HOLD_NS;
        let mut memory = Pieces { tid, start: 0, bytes: vec![0; PIECE], len: 0 };
        let mut addresses = Vec::new();
        let walked = walk(
            (&self.rules, &mut RuleCache::new()),
            Start { frame: FrameAddress::from_instruction_pointer(pc), sp, fp: Some(fp) },
            |address| memory.read(address),
            |avma| region_at(&self.regions, avma.wrapping_sub(1)).is_some(),
            || sys::monotonic_ns() < until,
            &mut addresses,
        );
        HeldWalk { addresses, end: walked.end }
    }
}

/// Memory of another thread, of which the piece that was read last is kept: walks go upwards.
struct Pieces {
    tid: Tid,
    start: u64,
    bytes: Vec<u8>,
    len: usize,
}

impl Pieces {
    fn read(&mut self, address: u64) -> Result<u64, CutReason> {
        if let Some(word) = self.word(address) {
            return Ok(word);
        }
        self.start = address & !7;
        self.len = sys::read_memory(self.tid, self.start, &mut self.bytes);
        self.word(address).ok_or(CutReason::Unreadable)
    }

    fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let word = self.bytes[..self.len].get(offset..offset.checked_add(8)?)?;
        word.try_into().ok().map(u64::from_le_bytes)
    }
}

//! Walks of a stack of this process, or of one that is made up: for what wants to know how long they take, and what they
//! survive.

use std::fmt;
use std::sync::Arc;

use gimli::{Register, X86_64};

use super::address_space::AddressSpace;
use super::images::Images;
use super::registers::RegisterFile;
use super::stack_copy::StackCopy;
use super::walk::{RuleCache, Start, walk};
use crate::image::Image;
use crate::sampler::proc_fs::{self, Whereabouts};
use crate::sampler::ptrace::sys::{self, Tid};

/// No more of a stack is copied.
const LARGEST: usize = 8 << 20;

/// The copied stack of a thread.
pub struct OwnStack {
    code: AddressSpace,
    cache: RuleCache,
    start: Start,
    bytes: Vec<u8>,
    addresses: Vec<u64>,
}

impl OwnStack {
    /// That of thread `tid`; `None` if it does not sleep in a system call. Its frame pointer is not known, so the walk
    /// ends where code needs that.
    #[must_use]
    pub fn of_sleeper(tid: i32) -> Option<Self> {
        let us = Tid::try_from(std::process::id()).ok()?;
        let text = proc_fs::read_thread_file(us, tid, "syscall").ok()?;
        let Whereabouts::Asleep { number: Some(_), arguments, sp, pc } = proc_fs::parse_syscall(&text)? else {
            return None;
        };
        let maps = proc_fs::parse_maps(&proc_fs::read_thread_file(us, us, "maps").ok()?);
        let stack = maps.iter().find(|map| (map.start..map.end).contains(&sp))?;
        let mut bytes = vec![0; usize::try_from(stack.end - sp).ok()?.min(LARGEST)];
        let len = sys::read_memory(us, sp, &mut bytes);
        bytes.truncate(len);
        let mut code = AddressSpace::default();
        code.update(&maps, &mut Images::default(), us);
        let start = Start::innermost(RegisterFile::in_call(pc, sp, arguments));
        Some(Self { code, cache: RuleCache::new(), start, bytes, addresses: Vec::new() })
    }

    /// A stack of these bytes, from `sp` on, of a thread that runs at `pc` of a file which is mapped where it says.
    #[must_use]
    pub fn made_up(image: &Arc<Image>, (pc, sp): (u64, u64), bytes: Vec<u8>) -> Self {
        let start =
            Start::innermost(RegisterFile::all(std::array::from_fn(|register| match Register(register as u16) {
                X86_64::RA => pc,
                X86_64::RSP => sp,
                // Near enough to lead somewhere.
                _ => sp.wrapping_add(16 * register as u64),
            })));
        Self { code: AddressSpace::of_image(image), cache: RuleCache::new(), start, bytes, addresses: Vec::new() }
    }

    /// Walks it; how many frames that were.
    pub fn walk(&mut self) -> usize {
        let sp = self.start.registers.sp();
        let mut copy = StackCopy::of_bytes(sp, &self.bytes, sp.saturating_add(self.bytes.len() as u64));
        walk((&self.code, &mut self.cache), self.start, &mut copy, &mut self.addresses);
        self.addresses.len()
    }

    /// Forgets the rules that walks found.
    pub fn forget_rules(&mut self) {
        self.cache = RuleCache::new();
    }
}

impl fmt::Debug for OwnStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnStack").field("start", &self.start).field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

//! Walks of a stack of this process, for what wants to know how long they take.

use std::fmt;

use super::address_space::AddressSpace;
use super::images::Images;
use super::registers::RegisterFile;
use super::stack_copy::StackCopy;
use super::walk::{RuleCache, Start, walk};
use crate::sampler::proc_fs::{self, Whereabouts};
use crate::sampler::ptrace::sys::{self, Tid};

/// No more of a stack is copied.
const LARGEST: usize = 8 << 20;

/// The copied stack of a thread of this process that slept.
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

    /// Walks it; how many frames that were.
    pub fn walk(&mut self) -> usize {
        let sp = self.start.registers.sp();
        let mut copy = StackCopy::of_bytes(sp, &self.bytes, sp + self.bytes.len() as u64);
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

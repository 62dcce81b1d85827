//! The stack of a thread as the tracer copied it, as memory for a walk.

use super::deep::Pieces;
use super::walk::{CutReason, Memory};
use crate::sampler::event::{Copied, Snapshot, Stack};
use crate::sampler::proc_fs::{self, Whereabouts};
use crate::sampler::ptrace::sys::{self, Tid};

/// A copy of the innermost part of a stack, and of others that it goes on in.
pub(super) struct StackCopy<'a> {
    /// Its parts, the one from the stack pointer on first: where each starts, and its bytes.
    parts: Vec<(u64, &'a [u8])>,
    /// First address behind the memory that the stack pointer is in.
    end: u64,
    tid: Option<Tid>,
    /// Memory of a thread that sleeps, for what was not copied.
    asleep: Option<Pieces>,
    used: usize,
    /// Which of the other parts were needed.
    used_others: Vec<u64>,
    missed: Option<u64>,
}

impl<'a> StackCopy<'a> {
    /// What a snapshot holds.
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let sp = snapshot.registers.sp();
        let (parts, end) = match &snapshot.stack {
            Stack::Copied(copied) => (parts(sp, copied), copied.end),
            Stack::Walked(_) => (vec![(sp, &[][..])], sp),
        };
        let asleep = (!snapshot.was_held).then(|| Pieces::of(snapshot.tid));
        Self { parts, end, tid: Some(snapshot.tid), asleep, used: 0, used_others: Vec::new(), missed: None }
    }

    /// These bytes from `start` on, of memory up to `end`.
    pub(super) fn of_bytes(start: u64, bytes: &'a [u8], end: u64) -> Self {
        Self {
            parts: vec![(start, bytes)],
            end,
            tid: None,
            asleep: None,
            used: 0,
            used_others: Vec::new(),
            missed: None,
        }
    }

    /// How many bytes from the stack pointer on were needed so far.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Where the other parts start that were needed.
    pub(super) fn used_others(self) -> Vec<u64> {
        self.used_others
    }

    /// The last address that was needed, but not copied.
    pub(super) fn missed(&self) -> Option<u64> {
        self.missed
    }

    /// Whether what was read beyond the copy may belong to another moment: the thread slept at `snapshot`, and does not
    /// sleep there any more.
    pub(super) fn is_outdated(&self, snapshot: &Snapshot) -> bool {
        if self.asleep.as_ref().is_none_or(|pieces| !pieces.were_read()) {
            return false;
        }
        let text = proc_fs::read_thread_file(snapshot.tid, snapshot.tid, "syscall").unwrap_or_default();
        let (sp, pc) = (snapshot.registers.sp(), snapshot.registers.pc());
        !matches!(proc_fs::parse_syscall(&text), Some(Whereabouts::Asleep { sp: now, pc: at, .. }) if (now, at) == (sp, pc))
    }

    /// The word at `address`, if the copy has it.
    pub(super) fn copied_word(&self, address: u64) -> Option<u64> {
        self.parts.iter().find_map(|(start, bytes)| word(*start, bytes, address))
    }
}

impl Memory for StackCopy<'_> {
    fn word(&mut self, address: u64) -> Result<u64, CutReason> {
        if let Some(&(start, bytes)) = self.parts.first()
            && let Some(word) = word(start, bytes, address)
        {
            let end = usize::try_from(address - start).unwrap_or(usize::MAX).saturating_add(8);
            self.used = self.used.max(end);
            return Ok(word);
        }
        let other = self.parts.iter().skip(1).find_map(|(start, bytes)| Some((*start, word(*start, bytes, address)?)));
        if let Some((start, word)) = other {
            if !self.used_others.contains(&start) {
                self.used_others.push(start);
            }
            return Ok(word);
        }
        if let Some(word) = self.asleep.as_mut().and_then(|pieces| pieces.read(address).ok()) {
            return Ok(word);
        }
        self.missed = Some(address);
        let start = self.parts.first().map_or(self.end, |(start, _)| *start);
        Err(if (start..self.end).contains(&address) { CutReason::TooDeep } else { CutReason::Elsewhere })
    }

    fn code(&self, address: u64, code: &mut [u8]) -> usize {
        self.tid.map_or(0, |tid| sys::read_memory(tid, address, code))
    }
}

fn parts(sp: u64, copied: &Copied) -> Vec<(u64, &[u8])> {
    let (own, mut rest) = copied.bytes.split_at(copied.len.min(copied.bytes.len()));
    let mut parts = Vec::with_capacity(1 + copied.others.len());
    parts.push((sp, own));
    for (start, len) in &copied.others {
        let (part, behind) = rest.split_at((*len).min(rest.len()));
        parts.push((*start, part));
        rest = behind;
    }
    parts
}

fn word(start: u64, bytes: &[u8], address: u64) -> Option<u64> {
    let offset = usize::try_from(address.checked_sub(start)?).ok()?;
    bytes.get(offset..offset.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_its_parts_and_says_what_it_lacks() {
        let bytes: Vec<u8> = [1_u64, 2, 3, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
        let copied = Copied { bytes, len: 16, end: 0x2000, others: vec![(0x7000, 16)] };
        let mut copy = StackCopy { parts: parts(0x1000, &copied), ..StackCopy::of_bytes(0, &[], 0x2000) };
        assert_eq!((copy.word(0x1008), copy.word(0x7008), copy.used()), (Ok(2), Ok(4), 16));
        assert_eq!((copy.word(0x1010), copy.missed()), (Err(CutReason::TooDeep), Some(0x1010)));
        assert_eq!((copy.word(0x7010), copy.missed()), (Err(CutReason::Elsewhere), Some(0x7010)));
        assert_eq!(copy.word(0x0ff8), Err(CutReason::Elsewhere));
        assert_eq!(copy.word(u64::MAX - 3), Err(CutReason::Elsewhere));
        assert_eq!(copy.used_others(), [0x7000]);
    }
}

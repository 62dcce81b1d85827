//! Walking one stack: registers and memory in, code addresses out. No I/O, so it is tested on literal stacks.

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Unwinder as _};

use crate::image::SharedBytes;
use crate::sampler::event::{Snapshot, Stack};

/// The unwinding rules of a process's code.
pub(super) type Rules = UnwinderX86_64<SharedBytes>;

/// Rules that were used lately.
pub(super) type RuleCache = CacheX86_64;

/// A frame pointer that is not known. No address of user memory is near it, so code that needs it shows by its reads.
const UNKNOWN_FRAME_POINTER: u64 = 0x7eed_0000_0000_0000;

/// No stack is walked further than this.
pub(super) const DEEPEST: usize = 1_000_000;

/// Where a walk starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Program counter, or the return address into the frame that the walk goes on from.
    pub(super) frame: FrameAddress,
    /// Stack pointer.
    pub(super) sp: u64,
    /// Frame pointer, if known.
    pub(super) fp: Option<u64>,
}

/// How a walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WalkEnd {
    /// At code that has no caller, as far as the unwinding rules say.
    Root,
    /// It was cut short.
    Cut(CutReason),
}

/// Why a stack could not be followed to its root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CutReason {
    /// It is larger than what was copied of it.
    TooDeep,
    /// A part of it could not be read.
    Unreadable,
    /// The thread slept and was not stopped, and the code of the next frame needs a register that is known only then.
    NotStopped,
    /// A return address led out of all code.
    LeftCode,
    /// The rules led in a circle, backwards, or nowhere.
    NoRule,
}

impl CutReason {
    /// What the reader of a profile sees as the root of such a stack.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooDeep => "[stack cut: deeper than was copied]",
            Self::Unreadable => "[stack cut: memory not readable]",
            Self::NotStopped => "[stack cut: thread slept and was not stopped]",
            Self::LeftCode => "[stack cut: return address outside of code]",
            Self::NoRule => "[stack cut: no way to unwind]",
        }
    }
}

/// What became of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked {
    /// How it ended.
    pub(super) end: WalkEnd,
    /// The last frame that was reached, and the stack pointer in it.
    pub(super) last: (FrameAddress, u64),
}

/// Walks a stack. `addresses` receives the address of the code in each frame, innermost first: the program counter, then
/// for each caller a byte inside the call (return address − 1).
///
/// `read` gives the word of memory at an address, or why that cannot be had; `is_code` tells whether a return address can
/// be one; `goes_on` is asked now and then whether there is time for more.
pub(super) fn walk(
    (rules, cache): (&Rules, &mut RuleCache),
    start: Start,
    mut read: impl FnMut(u64) -> Result<u64, CutReason>,
    is_code: impl Fn(u64) -> bool,
    goes_on: impl Fn() -> bool,
    addresses: &mut Vec<u64>,
) -> Walked {
    addresses.clear();
    let mut failed_read = None;
    let mut read = |address: u64| {
        read(address).map_err(|reason| {
            let unknown = start.fp.is_none() && address.abs_diff(UNKNOWN_FRAME_POINTER) < 1 << 40;
            failed_read = Some(if unknown { CutReason::NotStopped } else { reason });
        })
    };
    let fp = start.fp.unwrap_or(UNKNOWN_FRAME_POINTER);
    let mut registers = UnwindRegsX86_64::new(start.frame.address(), start.sp, fp);
    let mut last = (start.frame, start.sp);
    let end = loop {
        addresses.push(last.0.address_for_lookup());
        if addresses.len() >= DEEPEST || (addresses.len().is_multiple_of(64) && !goes_on()) {
            break WalkEnd::Cut(CutReason::TooDeep);
        }
        match rules.unwind_frame(last.0, &mut registers, cache, &mut read) {
            Ok(None) => break WalkEnd::Root,
            Ok(Some(return_address)) if !is_code(return_address) => break WalkEnd::Cut(CutReason::LeftCode),
            Ok(Some(return_address)) => match FrameAddress::from_return_address(return_address) {
                Some(next) => last = (next, registers.sp()),
                None => break WalkEnd::Root,
            },
            Err(_) => break WalkEnd::Cut(failed_read.unwrap_or(CutReason::NoRule)),
        }
    };
    Walked { end, last }
}

/// A copy of the innermost part of a stack, as memory for [`walk`].
pub(super) struct StackCopy<'a> {
    /// Where it starts: the stack pointer.
    pub(super) start: u64,
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Whether the real stack goes on behind it.
    pub(super) has_more: bool,
    /// How many of its bytes were needed so far.
    pub(super) used: usize,
}

impl<'a> StackCopy<'a> {
    /// The copy that a snapshot holds.
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let (bytes, has_more) = match &snapshot.stack {
            Stack::Copied { bytes, has_more } => (&bytes[..], *has_more),
            Stack::Walked(_) => (&[][..], false),
        };
        Self { start: snapshot.sp, bytes, has_more, used: 0 }
    }

    /// The word at `address`, if the copy has it.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        self.bytes.get(offset..offset.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// The word at `address`, or why there is none.
    pub(super) fn read(&mut self, address: u64) -> Result<u64, CutReason> {
        match self.word(address) {
            Some(word) => {
                let end = usize::try_from(address - self.start).unwrap_or(usize::MAX).saturating_add(8);
                self.used = self.used.max(end);
                Ok(word)
            }
            None if address >= self.start && self.has_more => Err(CutReason::TooDeep),
            None => Err(CutReason::Unreadable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SP: u64 = 0x7ffc_0000_0000;

    fn walk_literal(start: Start, words: &[u64], has_more: bool) -> (Vec<u64>, WalkEnd, usize) {
        let stack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut addresses = Vec::new();
        let mut copy = StackCopy { start: SP, bytes: &stack, has_more, used: 0 };
        let is_code = |address| (0x1000..0x9000).contains(&address);
        let rules = (&Rules::new(), &mut RuleCache::new());
        let walked = walk(rules, start, |address| copy.read(address), is_code, || true, &mut addresses);
        (addresses, walked.end, copy.used)
    }

    #[test]
    fn code_without_rules_is_walked_by_frame_pointers() {
        // Frames at SP+8 and SP+32: (caller's frame pointer, return address).
        let words = [7, SP + 32, 0x2005, 7, 0, 0x3005];
        let start = Start { frame: FrameAddress::from_instruction_pointer(0x1000), sp: SP, fp: Some(SP + 8) };
        let (addresses, end, used) = walk_literal(start, &words, false);
        assert_eq!(addresses, [0x1000, 0x2004, 0x3004]);
        assert_eq!(end, WalkEnd::Root, "a frame pointer of 0 is the outermost");
        assert_eq!(used, 48);
    }

    #[test]
    fn each_way_to_fail_has_its_reason() {
        let start = Start { frame: FrameAddress::from_instruction_pointer(0x1000), sp: SP, fp: Some(SP + 8) };
        let (addresses, end, _) = walk_literal(start, &[7, SP + 32, 0xdead_0000], false);
        assert_eq!((addresses.len(), end), (1, WalkEnd::Cut(CutReason::LeftCode)));
        let (_, end, _) = walk_literal(start, &[7, SP + 320, 0x2005], true);
        assert_eq!(end, WalkEnd::Cut(CutReason::TooDeep));
        let (_, end, _) = walk_literal(start, &[7, SP + 320, 0x2005], false);
        assert_eq!(end, WalkEnd::Cut(CutReason::Unreadable));
        let (_, end, _) = walk_literal(start, &[7, SP - 64, 0x2005, 7], false);
        assert_eq!(end, WalkEnd::Cut(CutReason::NoRule), "a frame below the one it calls");
        let (_, end, _) = walk_literal(Start { fp: None, ..start }, &[7, SP + 32, 0x2005], false);
        assert_eq!(end, WalkEnd::Cut(CutReason::NotStopped));
    }
}

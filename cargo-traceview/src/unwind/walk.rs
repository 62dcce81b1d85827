//! Walking one stack: registers and memory in, code addresses out. No I/O, so it is tested on literal stacks.

use gimli::X86_64;

use super::address_space::AddressSpace;
use super::frame_table::{Context, Found};
use super::hole;
use super::images::ImageIndex;
use super::registers::RegisterFile;
use super::rule::{self, Rule};

/// No stack is walked further than this.
pub(super) const DEEPEST: usize = 1_000_000;

/// How often a stack may go on at a lower address: handlers and coroutines have stacks anywhere, but a stack whose
/// memory was overwritten could lead in a circle.
const MOST_SWITCHES: u32 = 64;

/// Rules that are kept.
const CACHED_RULES: usize = 1 << 12;

/// Memory of the thread whose stack is walked.
pub(super) trait Memory {
    /// The word at an address, or why that cannot be had.
    fn word(&mut self, address: u64) -> Result<u64, CutReason>;

    /// Reads code at an address; how much of it there was.
    fn code(&self, address: u64, code: &mut [u8]) -> usize;

    /// Asked now and then: whether there is time for more.
    fn goes_on(&self) -> bool {
        true
    }
}

/// What a rule is for: a file, an address in it, and whether that is of a call.
type Key = (ImageIndex, u64, bool);

/// Rules that were used lately.
pub(super) struct RuleCache {
    entries: Vec<Option<(Key, Found)>>,
    context: Context,
}

impl RuleCache {
    pub(super) fn new() -> Self {
        Self { entries: vec![None; CACHED_RULES], context: Context::new() }
    }

    fn found(&mut self, key: Key, find: impl FnOnce(&mut Context) -> Found) -> Found {
        let (image, svma, is_return) = key;
        let mixed = (svma << 1 | u64::from(is_return)) ^ (image as u64) << 40;
        let slot = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % CACHED_RULES;
        match self.entries[slot] {
            Some((known, found)) if known == key => found,
            _ => {
                let found = find(&mut self.context);
                self.entries[slot] = Some((key, found));
                found
            }
        }
    }
}

/// An address of code in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    /// The instruction that comes next there.
    pub(super) address: u64,
    /// Whether it comes next because a call returns, so that the frame is in what stands before it.
    pub(super) is_return: bool,
}

impl At {
    /// The address of a byte of the instruction that the frame is in.
    pub(super) fn lookup(self) -> u64 {
        self.address.wrapping_sub(self.is_return.into())
    }
}

/// A frame that a walk starts at, or came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Where its code is.
    pub(super) at: At,
    /// Its registers.
    pub(super) registers: RegisterFile,
}

impl Start {
    /// The innermost frame.
    pub(super) fn innermost(registers: RegisterFile) -> Self {
        Self { at: At { address: registers.pc(), is_return: false }, registers }
    }
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
    /// It goes on in other memory, which was not copied.
    Elsewhere,
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
            Self::Elsewhere => "[stack cut: it goes on in other memory]",
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
    /// The last frame that was reached.
    pub(super) last: Start,
}

/// Walks a stack. `addresses` receives the address of the code in each frame, innermost first: the program counter, then
/// for each caller a byte inside the call (return address − 1), or where a signal interrupted it the next instruction's.
pub(super) fn walk(
    (code, cache): (&AddressSpace, &mut RuleCache),
    start: Start,
    memory: &mut impl Memory,
    addresses: &mut Vec<u64>,
) -> Walked {
    addresses.clear();
    let mut last = start;
    let mut switches = 0;
    let end = loop {
        let (found, lookup) = find(code, cache, last.at);
        addresses.push(lookup);
        if addresses.len() >= DEEPEST || (addresses.len().is_multiple_of(64) && !memory.goes_on()) {
            break WalkEnd::Cut(CutReason::TooDeep);
        }
        let next = match step((code, cache), found, lookup, &last, memory) {
            Ok(Some(next)) => next,
            Ok(None) => break WalkEnd::Root,
            // What a walk does not know any more was never to be had.
            Err(CutReason::NotStopped) if start.registers.get(X86_64::RBP).is_some() => {
                break WalkEnd::Cut(CutReason::NoRule);
            }
            Err(reason) => break WalkEnd::Cut(reason),
        };
        if next.at.address == 0 {
            break WalkEnd::Root;
        }
        if next.registers.sp() <= last.registers.sp() {
            switches += 1;
            let stands = (next.at, next.registers.sp()) == (last.at, last.registers.sp());
            if stands || switches > MOST_SWITCHES {
                break WalkEnd::Cut(CutReason::NoRule);
            }
        }
        if code.region_at(next.at.lookup()).is_none() {
            // Where a stack was made to begin there is something else in the place of a return address.
            break if found.is_start { WalkEnd::Root } else { WalkEnd::Cut(CutReason::LeftCode) };
        }
        last = next;
    };
    Walked { end, last }
}

/// The rule for a frame's code, and the address to look that up by.
fn find(code: &AddressSpace, cache: &mut RuleCache, at: At) -> (Found, u64) {
    let lookup = at.lookup();
    let rule = |rule| (Found { rule, is_start: false }, lookup);
    let Some((region, image)) = code.region_at(lookup).and_then(|region| Some((region, region.image?))) else {
        return rule(Rule::FramePointer);
    };
    let Some(table) = code.table(image) else { return rule(Rule::Unknown) };
    let svma = lookup.wrapping_sub(region.bias);
    let found = cache.found((image, svma, at.is_return), |context| table.rule(svma, at.is_return, context));
    (found, lookup.wrapping_add(found.is_start.into()))
}

/// The frame that called the one of `last`, whose code is at `lookup`; `None` if nobody did.
fn step(
    (code, cache): (&AddressSpace, &mut RuleCache),
    found: Found,
    lookup: u64,
    last: &Start,
    memory: &mut impl Memory,
) -> Result<Option<Start>, CutReason> {
    let is_first = !last.at.is_return;
    let (registers, interrupted) = match found.rule {
        Rule::Plain(plain) => (plain.step(&last.registers, is_first, memory)?, false),
        Rule::Interrupted => (rule::interrupted(&last.registers, memory)?, true),
        Rule::FramePointer => match rule::by_frame_pointer(&last.registers, is_first, memory)? {
            Some(registers) => (registers, false),
            None => return Ok(None),
        },
        Rule::Intricate => {
            let region = code.region_at(lookup).ok_or(CutReason::LeftCode)?;
            let table = region.image.and_then(|image| code.table(image)).ok_or(CutReason::NoRule)?;
            table.step(lookup.wrapping_sub(region.bias), &mut cache.context, &last.registers, memory)?
        }
        Rule::Outermost => return Ok(None),
        Rule::Unknown => {
            match hole::caller(code, &mut cache.context, (lookup, last.at.is_return), &last.registers, memory)? {
                Some(registers) => (registers, false),
                None => return Ok(None),
            }
        }
    };
    Ok(Some(Start { at: At { address: registers.pc(), is_return: !interrupted }, registers }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unwind::stack_copy::StackCopy;

    const SP: u64 = 0x7ffc_0000_0000;

    fn start(fp: Option<u64>) -> Start {
        let mut registers = RegisterFile::at(0x1000, SP);
        registers.set_or_forget(X86_64::RBP, fp);
        Start::innermost(registers)
    }

    /// Walks through code that belongs to no file.
    fn walk_literal(start: Start, words: &[u64], has_more: bool) -> (Vec<u64>, WalkEnd, usize) {
        let stack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = SP + stack.len() as u64 + if has_more { 0x1000 } else { 0 };
        let mut copy = StackCopy::of_bytes(SP, &stack, end);
        let mut addresses = Vec::new();
        let code = AddressSpace::without_files(std::slice::from_ref(&(0x1000..0x9000)));
        let walked = walk((&code, &mut RuleCache::new()), start, &mut copy, &mut addresses);
        (addresses, walked.end, copy.used())
    }

    #[test]
    fn code_of_no_file_is_walked_by_frame_pointers() {
        // Frames at SP+8 and SP+32: (caller's frame pointer, return address).
        let words = [7, SP + 32, 0x2005, 7, 0, 0x3005];
        let (addresses, end, used) = walk_literal(start(Some(SP + 8)), &words, false);
        assert_eq!(addresses, [0x1000, 0x2004, 0x3004]);
        assert_eq!(end, WalkEnd::Root, "a frame pointer of 0 is the outermost");
        assert_eq!(used, 48);
    }

    #[test]
    fn each_way_to_fail_has_its_reason() {
        let first = start(Some(SP + 8));
        let (addresses, end, _) = walk_literal(first, &[7, SP + 32, 0xdead_0000], false);
        assert_eq!((addresses.len(), end), (1, WalkEnd::Cut(CutReason::LeftCode)));
        let (_, end, _) = walk_literal(first, &[7, SP + 320, 0x2005], true);
        assert_eq!(end, WalkEnd::Cut(CutReason::TooDeep));
        let (_, end, _) = walk_literal(first, &[7, SP + 320, 0x2005], false);
        assert_eq!(end, WalkEnd::Cut(CutReason::Elsewhere));
        let (_, end, _) = walk_literal(first, &[7, SP - 64, 0x2005, 7], false);
        assert_eq!(end, WalkEnd::Cut(CutReason::NoRule), "a frame below the one it calls");
        let (_, end, _) = walk_literal(start(None), &[7, SP + 32, 0x2005], false);
        assert_eq!(end, WalkEnd::Cut(CutReason::NotStopped));
    }
}

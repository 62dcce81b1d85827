//! Code of files that no call frame information is for: hand-written functions, the first instructions of a thread, and the
//! `main` that rustc makes for programs that abort at a panic. Who called it is only believed with proof.
//!
//! Compilers that make no such information keep frame pointers instead. Those of large parts without any are believed where
//! they lead to a place behind a call.

use gimli::{Register, X86_64};

use super::address_space::{AddressSpace, Region};
use super::frame_table::{Context, FrameTable};
use super::instructions;
use super::registers::{KEPT, RegisterFile};
use super::rule;
use super::walk::{CutReason, Memory};

/// Such code has no more words on the stack below its return address, or is not understood.
const MOST_WORDS: u64 = 32;

/// The registers in the caller of the code at `lookup`, which has no rule. The proof is a return address behind a call that
/// goes straight there, or one behind any call in the place that the function's first instructions say. `None` where a new
/// thread begins.
pub(super) fn caller(
    code: &AddressSpace,
    context: &mut Context,
    (lookup, is_return): (u64, bool),
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Result<Option<RegisterFile>, CutReason> {
    let region = code.region_at(lookup).ok_or(CutReason::LeftCode)?;
    let table = region.image.and_then(|image| code.table(image)).ok_or(CutReason::NoRule)?;
    let svma = lookup.wrapping_sub(region.bias);
    if table.is_in_part_without_rules(svma) {
        return by_frame_pointer(code, is_return, registers, memory);
    }
    let hole = table.hole(svma, context);
    let by_prologue = by_prologue(code, table.code_in_hole(svma), registers, memory);
    for index in 0..MOST_WORDS {
        let place = registers.sp().wrapping_add(8 * index);
        let Ok(word) = memory.word(place) else { break };
        if target(code, (region, table), word, memory).is_some_and(|target| hole.is_reached_from(target)) {
            let mut caller = registers.of_caller(word, place.wrapping_add(8));
            if let Some(known) = by_prologue.ok().filter(|known| known.sp() == caller.sp()) {
                caller = known;
            } else if index > 0 {
                // What it saved, and where, is not known.
                KEPT.iter().for_each(|register| caller.set_or_forget(*register, None));
            }
            return Ok(Some(caller));
        }
    }
    match by_prologue {
        // Before `clone` returns twice: in the thread that called it there is a return address, which a new one lacks.
        Ok(caller) => Ok(Some(caller)),
        Err(_) if hole.leads_to_outermost => Ok(None),
        Err(reason) => Err(reason),
    }
}

/// By the frame pointer. A function that was not left by a call can be one without a frame of its own: then the stack
/// pointer is at its return address, and the frame pointer is its caller's.
fn by_frame_pointer(
    code: &AddressSpace,
    is_return: bool,
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Result<Option<RegisterFile>, CutReason> {
    if !is_return {
        let top = memory.word(registers.sp())?;
        if is_behind_call(code, top, memory) {
            return Ok(Some(registers.of_caller(top, registers.sp().wrapping_add(8))));
        }
    }
    match rule::by_frame_pointer(registers, !is_return, memory)? {
        // The outermost returns to where nothing was called from, with a frame pointer of 0.
        Some(caller) if caller.get(X86_64::RBP) == Some(0) || is_behind_call(code, caller.pc(), memory) => {
            Ok(Some(caller))
        }
        // Of a library that was loaded since, perhaps.
        Some(caller) if code.region_at(caller.pc().wrapping_sub(1)).is_none() => Err(CutReason::LeftCode),
        Some(_) => Err(CutReason::NoRule),
        None => Ok(None),
    }
}

/// Whether `address` can be where a call returns to.
fn is_behind_call(code: &AddressSpace, address: u64, memory: &impl Memory) -> bool {
    let mut before = [0; 7];
    code.region_at(address.wrapping_sub(1)).is_some()
        && memory.code(address.wrapping_sub(before.len() as u64), &mut before) == before.len()
        && instructions::is_call(&before)
}

/// Where in the file around it the call before return address `word` goes to, as far as that can be told.
fn target(
    code: &AddressSpace,
    (region, table): (&Region, &FrameTable),
    word: u64,
    memory: &impl Memory,
) -> Option<u64> {
    code.region_at(word).filter(|of| (of.image, of.bias) == (region.image, region.bias))?;
    let svma = word.wrapping_sub(region.bias);
    let before = table.code_before(svma)?;
    instructions::call_target(before, svma).or_else(|| {
        let slot = instructions::call_slot(before, svma)?;
        let mut target = [0; 8];
        let read = memory.code(slot.wrapping_add(region.bias), &mut target);
        (read == target.len()).then(|| u64::from_le_bytes(target).wrapping_sub(region.bias))
    })
}

/// By what the function, whose `before` was executed, pushed first. Where that leads out of all code that is known there can
/// be a library that was loaded since.
fn by_prologue(
    code: &AddressSpace,
    before: Option<&[u8]>,
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Result<RegisterFile, CutReason> {
    let (pushed, room) = instructions::prologue(before.ok_or(CutReason::NoRule)?);
    let words = pushed.len() as u64;
    let place = registers.sp().wrapping_add(room + 8 * words);
    let return_address = memory.word(place)?;
    let region = code.region_at(return_address).ok_or(CutReason::LeftCode)?;
    let table = region.image.and_then(|image| code.table(image)).ok_or(CutReason::NoRule)?;
    let before = table.code_before(return_address.wrapping_sub(region.bias)).ok_or(CutReason::NoRule)?;
    if !instructions::is_call(before) {
        return Err(CutReason::NoRule);
    }
    let mut caller = registers.of_caller(return_address, place.wrapping_add(8));
    for (register, below) in pushed.into_iter().map(Register).zip(1..) {
        if KEPT.contains(&register) {
            caller.set(register, memory.word(place.wrapping_sub(8 * below))?);
        }
    }
    Ok(caller)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SP: u64 = 0x7ffc_0000_0000;

    /// A stack from `SP` on, and code in which there is a call before each address that ends in 5.
    struct Literal<'a>(&'a [u64]);

    impl Memory for Literal<'_> {
        fn word(&mut self, address: u64) -> Result<u64, CutReason> {
            let index = usize::try_from((address - SP) / 8).ok();
            index.and_then(|index| self.0.get(index)).copied().ok_or(CutReason::TooDeep)
        }

        fn code(&self, address: u64, code: &mut [u8]) -> usize {
            let is_before_call = (address + code.len() as u64) & 0xf == 5;
            code.fill(0x90);
            if is_before_call && code.len() == 7 {
                code[2] = 0xe8;
            }
            code.len()
        }
    }

    fn caller_of(words: &[u64], fp: u64, is_return: bool) -> Result<Option<(u64, u64, Option<u64>)>, CutReason> {
        let code = AddressSpace::without_files(std::slice::from_ref(&(0x1000..0x9000)));
        let mut registers = RegisterFile::at(0x1008, SP);
        registers.set(X86_64::RBP, fp);
        let caller = by_frame_pointer(&code, is_return, &registers, &mut Literal(words))?;
        Ok(caller.map(|caller| (caller.pc(), caller.sp(), caller.get(X86_64::RBP))))
    }

    #[test]
    fn frame_pointers_are_believed_where_they_lead_behind_a_call() {
        let words = [7, SP + 32, 0x2005, 7, 0, 0x3000];
        assert_eq!(caller_of(&words, SP + 8, true), Ok(Some((0x2005, SP + 24, Some(SP + 32)))));
        assert_eq!(caller_of(&words, SP + 8, false), Ok(Some((0x2005, SP + 24, Some(SP + 32)))));
        assert_eq!(caller_of(&words, SP + 32, true), Ok(Some((0x3000, SP + 48, Some(0)))), "where a thread begins");
        assert_eq!(caller_of(&words, 0, true), Ok(None));
        let wrong = [7, SP + 32, 0x2004, 7];
        assert_eq!(caller_of(&wrong, SP + 8, true), Err(CutReason::NoRule), "no call is before that");
        assert_eq!(caller_of(&[7, SP + 32, 0xdead_0005, 7], SP + 8, true), Err(CutReason::LeftCode), "no code");
    }

    #[test]
    fn the_caller_of_a_function_without_a_frame_is_not_left_out() {
        let words = [0x2005, SP + 32, 0x3005, 7];
        assert_eq!(caller_of(&words, SP + 8, false), Ok(Some((0x2005, SP + 8, Some(SP + 8)))));
        assert_eq!(caller_of(&words, SP + 8, true), Ok(Some((0x3005, SP + 24, Some(SP + 32)))));
    }
}

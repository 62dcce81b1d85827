//! Code of files that no call frame information is for: hand-written functions, the first instructions of a thread, and the
//! `main` that rustc makes for programs that abort at a panic. Who called it is only believed with proof.

use gimli::Register;

use super::address_space::{AddressSpace, Region};
use super::frame_table::{Context, FrameTable};
use super::instructions;
use super::registers::{KEPT, RegisterFile};
use super::walk::{CutReason, Memory};

/// Such code has no more words on the stack below its return address, or is not understood.
const MOST_WORDS: u64 = 32;

/// The registers in the caller of the code at `lookup`, which has no rule. The proof is a return address behind a call that
/// goes straight there, or one behind any call in the place that the function's first instructions say. `None` where a new
/// thread begins.
pub(super) fn caller(
    code: &AddressSpace,
    context: &mut Context,
    lookup: u64,
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Result<Option<RegisterFile>, CutReason> {
    let region = code.region_at(lookup).ok_or(CutReason::LeftCode)?;
    let table = region.image.and_then(|image| code.table(image)).ok_or(CutReason::NoRule)?;
    let svma = lookup.wrapping_sub(region.bias);
    let hole = table.hole(svma, context);
    let by_prologue = by_prologue(code, table.code_in_hole(svma), registers, memory);
    for index in 0..MOST_WORDS {
        let place = registers.sp().wrapping_add(8 * index);
        let Ok(word) = memory.word(place) else { break };
        if target(code, (region, table), word, memory).is_some_and(|target| hole.is_reached_from(target)) {
            let mut caller = registers.of_caller(word, place.wrapping_add(8));
            if let Some(known) = by_prologue.filter(|known| known.sp() == caller.sp()) {
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
        Some(caller) => Ok(Some(caller)),
        None if hole.leads_to_outermost => Ok(None),
        None => Err(CutReason::NoRule),
    }
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

/// By what the function, whose `before` was executed, pushed first.
fn by_prologue(
    code: &AddressSpace,
    before: Option<&[u8]>,
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Option<RegisterFile> {
    let (pushed, room) = instructions::prologue(before?);
    let words = pushed.len() as u64;
    let place = registers.sp().wrapping_add(room + 8 * words);
    let return_address = memory.word(place).ok()?;
    let region = code.region_at(return_address)?;
    let table = region.image.and_then(|image| code.table(image))?;
    table.code_before(return_address.wrapping_sub(region.bias)).filter(|code| instructions::is_call(code))?;
    let mut caller = registers.of_caller(return_address, place.wrapping_add(8));
    for (register, below) in pushed.into_iter().map(Register).zip(1..) {
        if KEPT.contains(&register) {
            caller.set(register, memory.word(place.wrapping_sub(8 * below)).ok()?);
        }
    }
    Some(caller)
}

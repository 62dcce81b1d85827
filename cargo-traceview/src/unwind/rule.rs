//! One step of a walk: from the registers in a frame to those in its caller.

use gimli::{
    CfaRule, Encoding, EndianSlice, Evaluation, EvaluationResult, LittleEndian, Location, Register, RegisterRule,
    UnwindExpression, UnwindSection, UnwindTableRow, Value, X86_64,
};

use super::instructions;
use super::registers::{self, KEPT, RegisterFile};
use super::walk::{CutReason, Memory};

/// How the sections of call frame information are read.
pub(super) type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Expressions in real files take a handful of operations.
const MOST_OPERATIONS: u32 = 1000;

/// Where the kernel keeps the registers that it interrupted for a handler, as offsets from the stack pointer that the
/// handler returns with (`struct ucontext`), in the order of their numbers.
const INTERRUPTED: [u64; registers::COUNT] =
    [144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168];

/// What to do in a frame to come to its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// By offsets, with the return address in the word below the frame's end.
    Plain(Plain),
    /// By more than that: it is looked up anew at each step.
    Intricate,
    /// By the kernel's frame of a signal, which stands where the stack pointer points to.
    Interrupted,
    /// By the frame pointer: code of no file, which says nothing of itself.
    FramePointer,
    /// It has no caller.
    Outermost,
    /// Nothing is known.
    Unknown,
}

/// A rule of offsets: the frame ends ("canonical frame address") at a register's value and an offset, and registers are
/// saved at fixed places below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plain {
    base: u8,
    offset: i32,
    /// Of each register that functions keep: how many words below the frame's end it is saved; 0 if it is not, and
    /// [`LOST`] if its value is.
    saved: [u16; KEPT.len()],
}

const LOST: u16 = u16::MAX;

impl Rule {
    /// The frame ends so many bytes above the stack pointer, and no register was saved.
    pub(super) const fn above_stack_pointer(offset: i32) -> Self {
        Self::Plain(Plain { base: X86_64::RSP.0 as u8, offset, saved: [0; KEPT.len()] })
    }

    /// The rule of a row of the table, unless its frame is that of a signal.
    pub(super) fn of_row(row: &UnwindTableRow<usize>) -> Self {
        match row.register(X86_64::RA) {
            None | Some(RegisterRule::Undefined) => return Self::Outermost,
            Some(RegisterRule::Offset(-8)) => {}
            Some(_) => return Self::Intricate,
        }
        let &CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return Self::Intricate };
        let (Ok(base), Ok(offset)) = (u8::try_from(register.0), i32::try_from(offset)) else { return Self::Intricate };
        let mut saved = [0; KEPT.len()];
        for (register, words) in KEPT.into_iter().zip(&mut saved) {
            let known = match row.register(register) {
                None | Some(RegisterRule::SameValue) => Some(0),
                Some(RegisterRule::Undefined) => Some(LOST),
                Some(RegisterRule::Offset(offset)) if offset < 0 && offset % 8 == 0 => {
                    u16::try_from(-(offset / 8)).ok().filter(|words| *words != LOST)
                }
                Some(_) => None,
            };
            let Some(known) = known else { return Self::Intricate };
            *words = known;
        }
        if row.register(X86_64::RSP).is_some() { Self::Intricate } else { Self::Plain(Plain { base, offset, saved }) }
    }
}

impl Plain {
    /// The registers in the caller of a frame. `is_first` says that no call was made from there.
    pub(super) fn step(
        &self,
        registers: &RegisterFile,
        is_first: bool,
        memory: &mut impl Memory,
    ) -> Result<RegisterFile, CutReason> {
        let base = registers.get(Register(self.base.into())).ok_or(CutReason::NotStopped)?;
        let end = base.wrapping_add_signed(self.offset.into());
        let mut caller = registers.of_caller(memory.word(end.wrapping_sub(8))?, end);
        for (register, words) in KEPT.into_iter().zip(self.saved) {
            let place = end.wrapping_sub(u64::from(words) * 8);
            if words == LOST {
                caller.set_or_forget(register, None);
            } else if words != 0 && !(is_first && place < registers.sp()) {
                // What lies below the stack pointer was taken back already.
                caller.set(register, memory.word(place)?);
            }
        }
        Ok(caller)
    }
}

/// The registers that a signal interrupted.
pub(super) fn interrupted(registers: &RegisterFile, memory: &mut impl Memory) -> Result<RegisterFile, CutReason> {
    let mut values = [0; registers::COUNT];
    for (value, offset) in values.iter_mut().zip(INTERRUPTED) {
        *value = memory.word(registers.sp().wrapping_add(offset))?;
    }
    Ok(RegisterFile::all(values))
}

/// The registers in the caller of code that keeps a frame pointer, or is just about to set it.
pub(super) fn by_frame_pointer(
    registers: &RegisterFile,
    is_first: bool,
    memory: &mut impl Memory,
) -> Result<Option<RegisterFile>, CutReason> {
    const BEFORE: u64 = 1;
    let sp = registers.sp();
    if is_first {
        let mut code = [0; 8];
        let len = memory.code(registers.pc().wrapping_sub(BEFORE), &mut code);
        if let Some(pushed) = instructions::pushed_by_frame_code(&code[..len], BEFORE as usize) {
            let mut caller = registers.of_caller(memory.word(sp.wrapping_add(pushed))?, sp.wrapping_add(pushed + 8));
            if pushed == 8 {
                caller.set(X86_64::RBP, memory.word(sp)?);
            }
            return Ok(Some(caller));
        }
    }
    let fp = registers.get(X86_64::RBP).ok_or(CutReason::NotStopped)?;
    if fp == 0 {
        return Ok(None);
    }
    if fp < sp || fp % 8 != 0 {
        return Err(CutReason::NoRule);
    }
    let mut caller = registers.of_caller(memory.word(fp.wrapping_add(8))?, fp.wrapping_add(16));
    caller.set(X86_64::RBP, memory.word(fp)?);
    // It can have saved the others anywhere.
    for register in KEPT.into_iter().filter(|register| *register != X86_64::RBP) {
        caller.set_or_forget(register, None);
    }
    Ok(Some(caller))
}

/// The registers in the caller as a row of the table says, by expressions and whatever else it has.
pub(super) fn intricate<'a, S: UnwindSection<Bytes<'a>>>(
    (section, encoding): (&S, Encoding),
    row: &UnwindTableRow<usize>,
    registers: &RegisterFile,
    memory: &mut impl Memory,
) -> Result<RegisterFile, CutReason> {
    let evaluate = |expression: &UnwindExpression<usize>, end: Option<u64>, memory: &mut _| {
        let expression = expression.get(section).map_err(|_| CutReason::NoRule)?;
        evaluate(expression.evaluation(encoding), registers, end, memory)
    };
    let end = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            registers.get(*register).ok_or(CutReason::NotStopped)?.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(expression) => evaluate(expression, None, memory)?,
    };
    let mut caller = registers.of_caller(0, end);
    for number in 0..registers::COUNT {
        let register = Register(u16::try_from(number).unwrap_or(u16::MAX));
        let value = match row.register(register) {
            None => continue,
            Some(RegisterRule::SameValue) => registers.get(register),
            Some(RegisterRule::Offset(offset)) => memory.word(end.wrapping_add_signed(offset)).ok(),
            Some(RegisterRule::ValOffset(offset)) => Some(end.wrapping_add_signed(offset)),
            Some(RegisterRule::Register(other)) => registers.get(other),
            Some(RegisterRule::Expression(expression)) => {
                evaluate(&expression, Some(end), memory).and_then(|place| memory.word(place)).ok()
            }
            Some(RegisterRule::ValExpression(expression)) => evaluate(&expression, Some(end), memory).ok(),
            Some(RegisterRule::Constant(value)) => Some(value),
            Some(_) => None,
        };
        caller.set_or_forget(register, value);
    }
    let is_whole = caller.get(X86_64::RA).is_some() && caller.get(X86_64::RSP).is_some();
    if is_whole { Ok(caller) } else { Err(CutReason::NoRule) }
}

/// The value of an expression that starts with the frame's end `end` on its stack, if there is one.
fn evaluate<'a>(
    mut evaluation: Evaluation<Bytes<'a>>,
    registers: &RegisterFile,
    end: Option<u64>,
    memory: &mut impl Memory,
) -> Result<u64, CutReason> {
    if let Some(end) = end {
        evaluation.set_initial_value(end);
    }
    evaluation.set_max_iterations(MOST_OPERATIONS);
    let no_rule = |_: gimli::Error| CutReason::NoRule;
    let mut state = evaluation.evaluate().map_err(no_rule)?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.get(register).ok_or(CutReason::NotStopped)?;
                evaluation.resume_with_register(Value::Generic(value)).map_err(no_rule)?
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let word = memory.word(address)?;
                let value = if size < 8 { word & ((1 << (8 * size)) - 1) } else { word };
                evaluation.resume_with_memory(Value::Generic(value)).map_err(no_rule)?
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(end.ok_or(CutReason::NoRule)?).map_err(no_rule)?
            }
            _ => return Err(CutReason::NoRule),
        };
    }
    match evaluation.as_result() {
        [piece] => match piece.location {
            Location::Address { address } => Ok(address),
            Location::Value { value: Value::Generic(value) } => Ok(value),
            _ => Err(CutReason::NoRule),
        },
        _ => Err(CutReason::NoRule),
    }
}

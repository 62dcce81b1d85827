//! The registers of a frame, as far as they are known. Numbers are DWARF's for x86_64.

use gimli::{Register, X86_64};

/// How many there are: the general ones, and the program counter (which DWARF calls the return address).
pub(crate) const COUNT: usize = 17;

/// What a function leaves to its caller as it was.
pub(super) const KEPT: [Register; 6] = [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15];

/// Registers, some of which can be unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterFile {
    values: [u64; COUNT],
    known: u32,
}

impl RegisterFile {
    /// All of them, in the order of their numbers.
    pub(crate) const fn all(values: [u64; COUNT]) -> Self {
        Self { values, known: (1 << COUNT) - 1 }
    }

    /// Program counter and stack pointer only.
    pub(crate) fn at(pc: u64, sp: u64) -> Self {
        let mut registers = Self { values: [0; COUNT], known: 0 };
        registers.set(X86_64::RA, pc);
        registers.set(X86_64::RSP, sp);
        registers
    }

    /// Those of a thread that sleeps in a system call with these first arguments.
    pub(crate) fn in_call(pc: u64, sp: u64, arguments: [u64; 3]) -> Self {
        let mut registers = Self::at(pc, sp);
        for (register, value) in [X86_64::RDI, X86_64::RSI, X86_64::RDX].into_iter().zip(arguments) {
            registers.set(register, value);
        }
        registers
    }

    /// The value of a register.
    pub(super) fn get(&self, register: Register) -> Option<u64> {
        let index = usize::from(register.0);
        (index < COUNT && self.known & 1 << index != 0).then(|| self.values[index])
    }

    pub(super) fn set(&mut self, register: Register, value: u64) {
        let index = usize::from(register.0);
        if index < COUNT {
            self.values[index] = value;
            self.known |= 1 << index;
        }
    }

    /// Sets a register, or forgets it.
    pub(super) fn set_or_forget(&mut self, register: Register, value: Option<u64>) {
        match value {
            Some(value) => self.set(register, value),
            None => self.known &= !(1_u32.checked_shl(register.0.into()).unwrap_or(0)),
        }
    }

    /// Program counter.
    pub(crate) const fn pc(&self) -> u64 {
        self.values[X86_64::RA.0 as usize]
    }

    /// Stack pointer.
    pub(crate) const fn sp(&self) -> u64 {
        self.values[X86_64::RSP.0 as usize]
    }

    /// What is known of them in the caller before anything is restored: those that functions keep.
    pub(super) fn of_caller(&self, pc: u64, sp: u64) -> Self {
        let kept = KEPT.iter().fold(0, |mask, register| mask | 1_u32 << register.0);
        let mut caller = Self { values: self.values, known: self.known & kept };
        caller.set(X86_64::RA, pc);
        caller.set(X86_64::RSP, sp);
        caller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_knows_what_functions_keep() {
        let mut registers = RegisterFile::all(std::array::from_fn(|index| index as u64 + 100));
        registers.set_or_forget(X86_64::R12, None);
        let caller = registers.of_caller(1, 2);
        assert_eq!((caller.pc(), caller.sp()), (1, 2));
        assert_eq!(caller.get(X86_64::RBX), Some(103));
        assert_eq!(caller.get(X86_64::RBP), Some(106));
        assert_eq!(caller.get(X86_64::R12), None, "it was not known before");
        assert_eq!(caller.get(X86_64::RAX), None, "functions use it as they like");
        assert_eq!(caller.get(Register(40)), None, "no general register");
    }
}

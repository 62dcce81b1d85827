//! What differs between processors: registers at a stop, and the numbers of system calls. One file each with the same
//! items in the same order.

#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod current;

mod syscalls_x86_64;

use std::borrow::Cow;

use current::syscall_name;
pub(crate) use current::{RESTART_SYSCALL, Registers, call_target};

/// What people call system call `number`.
pub(crate) fn syscall_label(number: u64) -> Cow<'static, str> {
    syscall_name(number).map_or_else(|| format!("syscall {number}").into(), Cow::Borrowed)
}

/// The system call that a stopped thread is in, or just came out of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SyscallState {
    /// Its number.
    pub(crate) number: u64,
    /// What it is about to return; the kernel's own restart codes (−512 and below) are still visible here.
    pub(crate) result: i64,
}

impl SyscallState {
    /// Whether the kernel will go on with the call as [`RESTART_SYSCALL`], because it has a deadline.
    pub(crate) const fn goes_on_as_restart(self) -> bool {
        self.result == -ERESTART_RESTARTBLOCK
    }
}

/// What says on what a system call waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallTarget {
    /// The first argument is a descriptor.
    Descriptor,
    /// The first argument is the address of a word that is waited for (`futex`).
    Word,
    /// The first argument is the address of a list of `struct pollfd`, the second its length.
    PollList,
    /// The first argument is one more than the largest descriptor in the sets at the others (`select`).
    SelectSets,
}

/// The timeout of a system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timeout {
    /// This many.
    Milliseconds(u32),
    /// The `struct timespec` at this address of the thread's memory.
    Timespec(u64),
}

/// The kernel's own error code for "to be gone on with"; the same on all processors.
const ERESTART_RESTARTBLOCK: i64 = 516;

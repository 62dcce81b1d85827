//! What differs between processors: registers at a stop, and the numbers of system calls. One file each with the same
//! items in the same order.

#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod current;

mod syscalls_x86_64;

pub(crate) use current::{RESTART_SYSCALL, Registers, restarts_by_itself, syscall_name};

/// The system call that a stopped thread is in, or just came out of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SyscallState {
    /// Its number.
    pub(crate) number: u64,
    /// What it is about to return; the kernel's own restart codes (−512 and below) are still visible here.
    pub(crate) result: i64,
}

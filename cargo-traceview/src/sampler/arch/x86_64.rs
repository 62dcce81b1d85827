//! x86_64.

use super::syscalls_x86_64::SYSCALLS;
use super::{CallTarget, SyscallState, Timeout};
use crate::unwind::registers::RegisterFile;

/// The call that redoes an interrupted one that has a deadline.
pub(crate) const RESTART_SYSCALL: u64 = 219;

const EINTR: i64 = 4;

const EAGAIN: i64 = 11;

/// The kernel's own error code for "to be made again unless a handler runs": then it becomes EINTR.
const ERESTARTNOHAND: i64 = 514;

const VFORK: u64 = 58;

const EXECVE: u64 = 59;

const EXECVEAT: u64 = 322;

/// The highest number of a signal.
const MOST_SIGNALS: u64 = 64;

/// Bytes of the instruction that makes a system call.
const SYSCALL_LEN: u64 = 2;

/// The general registers of a stopped thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers(libc::user_regs_struct);

impl Registers {
    /// Takes what ptrace read.
    pub(crate) const fn new(raw: libc::user_regs_struct) -> Self {
        Self(raw)
    }

    /// What ptrace writes.
    pub(crate) const fn raw(&self) -> &libc::user_regs_struct {
        &self.0
    }

    /// Program counter.
    pub(crate) const fn pc(&self) -> u64 {
        self.0.rip
    }

    /// Stack pointer.
    pub(crate) const fn sp(&self) -> u64 {
        self.0.rsp
    }

    /// All of them, as the unwinder has them.
    pub(crate) const fn file(&self) -> RegisterFile {
        let r = &self.0;
        RegisterFile::all([
            r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14,
            r.r15, r.rip,
        ])
    }

    /// What points to the thread's own descriptor, with most C libraries.
    pub(crate) const fn thread_pointer(&self) -> u64 {
        self.0.fs_base
    }

    /// The system call that the stop cut into, if it did: the kernel keeps its number in `orig_rax`, which is −1 when
    /// the thread was in user code.
    pub(crate) fn syscall(&self) -> Option<SyscallState> {
        let number = self.0.orig_rax;
        (number.cast_signed() >= 0).then(|| SyscallState { number, result: self.0.rax.cast_signed() })
    }

    /// The system call whose work the thread does at the stop. Where the kernel has set it up to run a handler next, the number
    /// is still that of the call that the signal ended: but the instruction of a call leaves the address behind it in `rcx`,
    /// and a handler starts elsewhere.
    pub(crate) fn running_syscall(&self) -> Option<u64> {
        let starts_elsewhere = self.0.rcx != self.0.rip && self.0.rcx != self.0.rip.wrapping_add(SYSCALL_LEN);
        let call = self.syscall()?;
        // A new program starts elsewhere, too.
        (!starts_elsewhere || call.number == EXECVE || call.number == EXECVEAT).then_some(call.number)
    }

    /// Whether the kernel has just set the thread up to run a signal's handler, of which no instruction was executed: the
    /// arguments are what the kernel puts there, with the third in the frame at the stack pointer.
    pub(crate) fn is_at_start_of_handler(&self) -> bool {
        let r = &self.0;
        r.rax == 0 && (1..=MOST_SIGNALS).contains(&r.rdi) && r.rdx == r.rsp.wrapping_add(8)
    }

    /// Whether the thread is in the vfork call itself, where its caller's address is in no memory: parent and child return
    /// by the same stack.
    pub(crate) const fn is_in_vfork(&self) -> bool {
        self.0.orig_rax == VFORK
    }

    /// The registers in the call of vfork, given the first byte of the instruction behind the system call: it says which
    /// register the C library keeps the caller's address in, and the stack is as the caller left it.
    pub(crate) fn in_caller_of_vfork(&self, next: u8) -> Option<Self> {
        let return_address = match next {
            // push %rdi, push %rdx
            0x57 => self.0.rdi,
            0x52 => self.0.rdx,
            _ => return None,
        };
        let mut raw = self.0;
        // Inside of the call, which can be the last instruction of its line, or function.
        raw.rip = return_address.checked_sub(1)?;
        Some(Self(raw))
    }

    /// Whether the call that the stop cut into is about to fail with EINTR.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.syscall().is_some_and(|call| call.result == -EINTR)
    }

    /// The registers with which the kernel makes the call again from its start. If a signal with a handler comes first it
    /// fails with EINTR after all: the kernel decides when the thread goes on, so that no such signal can be missed.
    pub(crate) fn made_again(&self) -> Self {
        self.with_result(-ERESTARTNOHAND)
    }

    /// Whether the call that the stop cut into is about to be made again as [`made_again`](Self::made_again) says.
    pub(crate) fn is_made_again(&self) -> bool {
        self.syscall().is_some_and(|call| call.result == -ERESTARTNOHAND)
    }

    /// The registers with which the call is over with this result.
    pub(crate) fn with_result(&self, result: i64) -> Self {
        let mut raw = self.0;
        raw.rax = result.cast_unsigned();
        Self(raw)
    }

    /// For calls that fail with EINTR at a stop: where their timeout is, and what they return when it is over. `None` if
    /// the call has none, or not in its arguments.
    pub(crate) fn timeout(&self) -> Option<(Timeout, i64)> {
        let registers = &self.0;
        let timespec = |address: u64| (address != 0).then_some(Timeout::Timespec(address));
        match registers.orig_rax {
            // epoll_wait epoll_pwait
            232 | 281 => {
                // An `int`, of which the upper half of the register is no part.
                let milliseconds = registers.r10 as i32;
                u32::try_from(milliseconds).ok().map(|milliseconds| (Timeout::Milliseconds(milliseconds), 0))
            }
            // epoll_pwait2
            441 => Some((timespec(registers.r10)?, 0)),
            // io_getevents io_pgetevents
            208 | 333 => Some((timespec(registers.r8)?, 0)),
            // rt_sigtimedwait
            128 => Some((timespec(registers.rdx)?, -EAGAIN)),
            // semtimedop
            220 => Some((timespec(registers.r10)?, -EAGAIN)),
            _ => None,
        }
    }

    /// Whether these are of the same call as `other`: made at one place with one set of arguments.
    pub(crate) fn are_of_call(&self, other: &Self) -> bool {
        let call = |registers: &libc::user_regs_struct| {
            let arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9];
            let kept = [registers.rbx, registers.rbp, registers.r12, registers.r13, registers.r14, registers.r15];
            (registers.orig_rax, registers.rip, registers.rsp, arguments, kept)
        };
        call(&self.0) == call(&other.0)
    }
}

/// What says on what call `number` waits; `None` if it waits on nothing of that kind.
pub(crate) const fn call_target(number: u64) -> Option<CallTarget> {
    Some(match number.cast_signed() {
        libc::SYS_read
        | libc::SYS_write
        | libc::SYS_ioctl
        | libc::SYS_pread64
        | libc::SYS_pwrite64
        | libc::SYS_readv
        | libc::SYS_writev
        | libc::SYS_preadv
        | libc::SYS_pwritev
        | libc::SYS_preadv2
        | libc::SYS_pwritev2
        | libc::SYS_sendfile
        | libc::SYS_splice
        | libc::SYS_copy_file_range
        | libc::SYS_connect
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_sendto
        | libc::SYS_recvfrom
        | libc::SYS_sendmsg
        | libc::SYS_recvmsg
        | libc::SYS_sendmmsg
        | libc::SYS_recvmmsg
        | libc::SYS_fcntl
        | libc::SYS_flock
        | libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_ftruncate
        | libc::SYS_fallocate
        | libc::SYS_getdents64
        | libc::SYS_epoll_wait
        | libc::SYS_epoll_pwait
        | libc::SYS_epoll_pwait2
        | libc::SYS_io_uring_enter => CallTarget::Descriptor,
        libc::SYS_futex => CallTarget::Word,
        libc::SYS_poll | libc::SYS_ppoll => CallTarget::PollList,
        libc::SYS_select | libc::SYS_pselect6 => CallTarget::SelectSets,
        _ => return None,
    })
}

/// The name of system call `number`.
pub(crate) fn syscall_name(number: u64) -> Option<&'static str> {
    let number = u16::try_from(number).ok()?;
    SYSCALLS.binary_search_by_key(&number, |(number, _)| *number).ok().map(|row| SYSCALLS[row].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(orig_rax: i64, rax: i64) -> Registers {
        // A register file is plain numbers; `user_regs_struct` has no `Default`.
        let mut raw = libc::user_regs_struct {
            r15: 0,
            r14: 0,
            r13: 0,
            r12: 0,
            rbp: 0x30,
            rbx: 0,
            r11: 0,
            r10: 0,
            r9: 0,
            r8: 0,
            rax: rax.cast_unsigned(),
            rcx: 0,
            rdx: 0,
            rsi: 0,
            rdi: 0,
            orig_rax: orig_rax.cast_unsigned(),
            rip: 0x1002,
            cs: 0,
            eflags: 0,
            rsp: 0x20,
            ss: 0,
            fs_base: 0,
            gs_base: 0,
            ds: 0,
            es: 0,
            fs: 0,
            gs: 0,
        };
        raw.cs = 0x33;
        Registers::new(raw)
    }

    #[test]
    fn a_call_is_made_again_only_when_it_would_fail_with_eintr() {
        let cut = registers(232, -4);
        assert!(cut.is_cut_short(), "epoll_wait with EINTR");
        let again = cut.made_again();
        assert_eq!((again.raw().rax.cast_signed(), again.raw().orig_rax, again.pc()), (-514, 232, 0x1002));
        assert!(again.are_of_call(&cut) && !registers(281, -4).are_of_call(&cut));
        assert!(!registers(232, -516).is_cut_short(), "the kernel restarts that by itself");
        assert!(!registers(232, 3).is_cut_short(), "it has a result");
        assert!(!registers(-1, -4).is_cut_short(), "not in a call at all");
    }

    #[test]
    fn timeouts_are_where_each_call_has_them() {
        let with = |number: i64, r10: u64| {
            let mut raw = *registers(number, -4).raw();
            (raw.r10, raw.rdx) = (r10, 0x40);
            Registers::new(raw).timeout()
        };
        assert_eq!(with(232, 30), Some((Timeout::Milliseconds(30), 0)));
        assert_eq!(with(232, 0xffff_ffff), None, "-1 is for ever");
        assert_eq!(with(441, 0x50), Some((Timeout::Timespec(0x50), 0)));
        assert_eq!(with(441, 0), None);
        assert_eq!(with(128, 0), Some((Timeout::Timespec(0x40), -11)));
        assert_eq!(with(0, 30), None, "read has none");
    }

    #[test]
    fn who_called_vfork_is_told_by_the_instruction_behind_the_call() {
        let mut raw = *registers(58, 7).raw();
        (raw.rdi, raw.rdx) = (0x5001, 0x6001);
        let vfork = Registers::new(raw);
        assert!(vfork.is_in_vfork() && !registers(56, 7).is_in_vfork());
        let caller = |next| vfork.in_caller_of_vfork(next).map(|caller| (caller.pc(), caller.sp(), caller.raw().rbp));
        assert_eq!(caller(0x57), Some((0x5000, 0x20, 0x30)));
        assert_eq!(caller(0x52), Some((0x6000, 0x20, 0x30)));
        assert_eq!(caller(0xc3), None);
    }

    #[test]
    fn a_handler_is_not_in_the_call_that_its_signal_ended() {
        let at = |number: i64, rcx: u64, rip: u64| {
            let mut raw = *registers(number, 0).raw();
            (raw.rcx, raw.rip) = (rcx, rip);
            Registers::new(raw).running_syscall()
        };
        assert_eq!(at(234, 0x1002, 0x1002), Some(234));
        assert_eq!(at(0, 0x1002, 0x1000), Some(0), "about to be made again");
        assert_eq!(at(234, 0x1002, 0x5000), None, "at the start of a handler");
        assert_eq!(at(59, 0, 0x5000), Some(59), "at the start of a new program");
        assert_eq!(at(-1, 0x5000, 0x5000), None, "in user code");
    }

    #[test]
    fn handlers_start_with_the_arguments_of_the_kernel() {
        let with = |change: fn(&mut libc::user_regs_struct)| {
            let mut raw = *registers(-1, 0).raw();
            (raw.rdi, raw.rdx) = (10, raw.rsp + 8);
            change(&mut raw);
            Registers::new(raw).is_at_start_of_handler()
        };
        assert!(with(|_| {}));
        assert!(!with(|raw| raw.rdi = 0), "no signal");
        assert!(!with(|raw| raw.rsp -= 8), "it pushed something");
        assert!(!with(|raw| raw.rax = 5), "it computed something");
    }

    #[test]
    fn calls_have_names() {
        assert_eq!(syscall_name(0), Some("read"));
        assert_eq!(syscall_name(202), Some("futex"));
        assert_eq!(syscall_name(RESTART_SYSCALL), Some("restart_syscall"));
        assert_eq!(syscall_name(9999), None);
        assert_eq!(syscall_name(u64::MAX), None);
        assert!(SYSCALLS.is_sorted_by_key(|(number, _)| *number));
    }
}

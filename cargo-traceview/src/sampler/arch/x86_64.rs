//! x86_64.

use super::SyscallState;
use super::syscalls_x86_64::SYSCALLS;

/// The call that redoes an interrupted one that has a deadline.
pub(crate) const RESTART_SYSCALL: u64 = 219;

const EINTR: i64 = 4;

const VFORK: u64 = 58;

/// Length of the `syscall` instruction.
const SYSCALL_INSTRUCTION: u64 = 2;

/// The general registers of a stopped thread.
#[derive(Clone, Copy)]
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

    /// Frame pointer (or whatever the code keeps in its register).
    pub(crate) const fn fp(&self) -> u64 {
        self.0.rbp
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

    /// The registers with which the interrupted call is made again, if it is about to fail with EINTR.
    pub(crate) fn wound_back(&self) -> Option<Self> {
        let call = self.syscall()?;
        (call.result == -EINTR).then(|| {
            let mut raw = self.0;
            raw.rax = call.number;
            raw.rip -= SYSCALL_INSTRUCTION;
            Self(raw)
        })
    }
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
    fn a_call_is_wound_back_only_when_it_would_fail_with_eintr() {
        let wound = registers(232, -4).wound_back().expect("epoll_wait with EINTR");
        assert_eq!((wound.raw().rax, wound.pc()), (232, 0x1000));
        assert!(registers(232, -516).wound_back().is_none(), "the kernel restarts that by itself");
        assert!(registers(232, 3).wound_back().is_none(), "it has a result");
        assert!(registers(-1, -4).wound_back().is_none(), "not in a call at all");
    }

    #[test]
    fn who_called_vfork_is_told_by_the_instruction_behind_the_call() {
        let mut raw = *registers(58, 7).raw();
        (raw.rdi, raw.rdx) = (0x5001, 0x6001);
        let vfork = Registers::new(raw);
        assert!(vfork.is_in_vfork() && !registers(56, 7).is_in_vfork());
        let caller = |next| vfork.in_caller_of_vfork(next).map(|caller| (caller.pc(), caller.sp(), caller.fp()));
        assert_eq!(caller(0x57), Some((0x5000, 0x20, 0x30)));
        assert_eq!(caller(0x52), Some((0x6000, 0x20, 0x30)));
        assert_eq!(caller(0xc3), None);
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

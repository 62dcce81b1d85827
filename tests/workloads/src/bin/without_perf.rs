//! Not a workload but a door: forbids itself and all that it starts to call perf_event_open (`EPERM`, as container
//! runtimes do) by a seccomp filter, then becomes the program that its arguments name.
//!
//! Usage: `without_perf PROGRAM [ARGS…]`; `without_perf --check` exits with 0 if the call is forbidden
#![expect(unsafe_code, reason = "the filter is installed by a raw system call, and the check makes the forbidden one")]

use std::env;
use std::io;
use std::mem::offset_of;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::ptr;

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let program = args.next().expect("the first argument is a program");
    if program == "--check" {
        // SAFETY: the attributes' address is null: the call fails in any case, with EFAULT if it is allowed.
        let result = unsafe { libc::syscall(libc::SYS_perf_event_open, ptr::null::<u8>(), 0, -1, -1, 0) };
        let forbidden = result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
        return if forbidden { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    forbid_perf();
    let error = Command::new(&program).args(args).exec();
    panic!("{}: {error}", program.display());
}

fn forbid_perf() {
    let code = |class: u32, mode: u32| u16::try_from(class | mode).expect("BPF codes are small");
    let number_at = u32::try_from(offset_of!(libc::seccomp_data, nr)).expect("small");
    let perf = u32::try_from(libc::SYS_perf_event_open).expect("system calls have small numbers");
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let instruction = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        instruction(code(libc::BPF_LD, libc::BPF_W | libc::BPF_ABS), 0, 0, number_at),
        instruction(code(libc::BPF_JMP, libc::BPF_JEQ | libc::BPF_K), 0, 1, perf),
        instruction(code(libc::BPF_RET, libc::BPF_K), 0, 0, refuse),
        instruction(code(libc::BPF_RET, libc::BPF_K), 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the filter's four instructions live during the calls; the kernel copies them.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    assert!(installed, "seccomp: {}", io::Error::last_os_error());
}

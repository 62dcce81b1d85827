//! Not a workload but a door: forbids itself and all that it starts to call perf_event_open (`EPERM`, as container
//! runtimes do) by a seccomp filter, then becomes the program that its arguments name.
//!
//! Usage: `without_perf PROGRAM [ARGS…]`; `without_perf --check` exits with 0 if the call is forbidden
#![expect(unsafe_code, reason = "the check makes the forbidden call")]

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::ptr;

use traceview_workloads::system::forbid_call;

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let program = args.next().expect("the first argument is a program");
    if program == "--check" {
        // SAFETY: the attributes' address is null: the call fails in any case, with EFAULT if it is allowed.
        let result = unsafe { libc::syscall(libc::SYS_perf_event_open, ptr::null::<u8>(), 0, -1, -1, 0) };
        let forbidden = result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
        return if forbidden { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    forbid_call(libc::SYS_perf_event_open);
    let error = Command::new(&program).args(args).exec();
    panic!("{}: {error}", program.display());
}

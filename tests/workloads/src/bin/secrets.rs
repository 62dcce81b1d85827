//! Known truth: programs that are hard to look at, by mode. Each works for a time (ms of CPU, the second argument) in the
//! function `guarded`, and prints what it used:
//! - `secrets hidden MS`: forbids others to look into its memory (`PR_SET_DUMPABLE`) before
//! - `secrets strict MS`: allows itself no system calls but `read`, `write` and `exit` before (seccomp's strict mode), so it
//!   can't ask a clock: it does as much work as was measured to take so long
//! - `secrets rights MS`: prints its effective user as `user`
#![expect(unsafe_code, reason = "std neither hides processes nor restricts them, and its exit makes other calls")]

use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;

use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::system::exit_thread;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn, churn_for, steps_per_us};
use traceview_workloads::{arg_or, mode};

fn main() -> ExitCode {
    let wanted = arg_or::<u64>(2, 300) * 1_000_000;
    match mode("hidden, strict, rights").as_str() {
        "hidden" => {
            // SAFETY: numbers only.
            assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) }, 0, "prctl: {}", io::Error::last_os_error());
            guarded(wanted);
            Truth::new().number("cpu_ns", thread_cpu_ns()).print();
        }
        "strict" => strict(wanted),
        "rights" => {
            guarded(wanted);
            // SAFETY: it takes nothing and always succeeds.
            let user = unsafe { libc::geteuid() };
            Truth::new().number("user", user.into()).number("cpu_ns", thread_cpu_ns()).print();
        }
        other => panic!("unknown mode `{other}`"),
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn guarded(cpu_ns: u64) {
    churn_for(3, cpu_ns);
}

#[inline(never)]
fn guarded_steps(steps: u64) {
    black_box(churn(5, steps));
}

fn strict(wanted: u64) {
    let steps = wanted / 1_000 * steps_per_us();
    let truth = Truth::new().number("wanted_ns", wanted).to_json() + "\n";
    // SAFETY: numbers only.
    let restricted = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT) };
    assert_eq!(restricted, 0, "prctl: {}", io::Error::last_os_error());
    guarded_steps(steps);
    // Ends in a line break, so it is written at once, into a buffer that is there already.
    let written = io::stdout().write_all(truth.as_bytes());
    // Anything else kills it.
    if written.is_ok() {
        exit_thread()
    }
}

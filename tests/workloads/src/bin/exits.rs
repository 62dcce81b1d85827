//! Known truth: how it ends, by mode:
//! - `exits code N`: exit status N
//! - `exits abort`, `segfault`: killed by SIGABRT, SIGSEGV; `exits panic`: exit status 101
//! - `exits signal N`: killed by signal N, sent to itself
//! - `exits echo`: copies stdin to stdout, writes the number of bytes to stderr, exits with 0
//! - `exits daemon FILE`: leaves a grandchild behind in a session of its own, which waits until FILE exists (at most a
//!   minute), writes its process id into FILE.done, and ends; exits with 5 at once
//! - `exits wait_for_signal N`: prints `ready`, then waits until signal N came, prints `came`, exits with 9
//!
//! All but `echo` and `daemon` work in `work_before_the_end` for 100 ms of CPU time first.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it prints is part of its truth")]

use std::ffi::{c_int, c_void};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};

use traceview_workloads::signal::{handle, set_default};
use traceview_workloads::system::{Page, close_standard_files, fork, nap, new_session, own_pid, signal, wait_for};
use traceview_workloads::work::churn_for;
use traceview_workloads::{arg_or, mode};

static CAME: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let mode = mode("code, abort, panic, segfault, signal, echo, daemon, wait_for_signal");
    if !matches!(mode.as_str(), "echo" | "daemon") {
        work_before_the_end();
    }
    match mode.as_str() {
        "code" => return ExitCode::from(arg_or::<u8>(2, 0)),
        "abort" => process::abort(),
        "panic" => panic!("as asked for"),
        "segfault" => {
            // std's handler would only add a message about stack overflow.
            set_default(libc::SIGSEGV);
            std::hint::black_box(Page::forbidden().read());
        }
        "signal" => {
            let number = arg_or(2, libc::SIGTERM);
            if number != libc::SIGKILL {
                set_default(number);
            }
            signal(own_pid(), number);
        }
        "echo" => echo().expect("stdin and stdout are open"),
        "daemon" => {
            leave_daemon_behind();
            return ExitCode::from(5);
        }
        "wait_for_signal" => {
            wait_for_signal();
            return ExitCode::from(9);
        }
        other => panic!("unknown mode `{other}`"),
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn work_before_the_end() {
    churn_for(1, 100_000_000);
}

fn echo() -> io::Result<()> {
    let mut stdout = io::stdout();
    let copied = io::copy(&mut io::stdin(), &mut stdout)?;
    stdout.flush()?;
    eprintln!("{copied} bytes");
    Ok(())
}

fn leave_daemon_behind() {
    let file: PathBuf = arg_or::<String>(2, "daemon-may-end".to_owned()).into();
    let child = fork(|| {
        new_session();
        fork(|| {
            close_standard_files();
            for _ in 0..6_000 {
                if file.exists() {
                    let done = file.with_extension("done");
                    return c_int::from(fs::write(done, process::id().to_string()).is_err());
                }
                nap(10);
            }
            1
        });
        0
    });
    assert_eq!(wait_for(child, 0), Some(0), "the first child ends at once");
}

extern "C" fn note(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    CAME.store(true, Ordering::SeqCst);
}

fn wait_for_signal() {
    handle(arg_or(2, libc::SIGINT), note, false);
    println!("ready");
    // At most a minute, lest a test that failed leaves it behind.
    for _ in 0..6_000 {
        if CAME.load(Ordering::SeqCst) {
            println!("came");
            return;
        }
        nap(10);
    }
}

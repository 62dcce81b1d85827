//! Known truth, by mode (MS is CPU time in milliseconds, default 500):
//! - `families fork MS`: a forked child that never calls exec works in `work_in_forked_child`, exits with 3
//! - `families spawn`: ten times std's `Command` (posix_spawn) starts this program, which sleeps 40 ms (`nap_in_child`)
//! - `families vfork`: ten times a child that shares the memory sleeps 40 ms while its parent waits in the kernel
//! - `families thread_exec MS`: a thread other than the leader works in `work_before_exec`, then replaces the program by
//!   itself, which works in `work_after_exec` and exits with 7; main is waiting then and vanishes
//! - `families leader_exit MS`: main ends its own thread only; thread `tv-survivor` works in `work_without_leader`, then
//!   the process exits with 0
//!
//! Each prints the CPU nanoseconds of its worker and how many children ended as they should.

use std::env;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::thread;

use traceview_workloads::clock::{process_cpu_ns, thread_cpu_ns, usage_ns};
use traceview_workloads::system::{exec, exit_thread, fork, nap, vfork, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::churn_for;
use traceview_workloads::{arg_or, mode};

const CHILDREN: u64 = 10;
const NAP_MS: i64 = 40;

fn main() -> ExitCode {
    let cpu_ns = 1_000_000 * arg_or::<u64>(2, 500);
    let mode = mode("fork, spawn, vfork, thread_exec, leader_exit");
    match mode.as_str() {
        "fork" => fork_without_exec(cpu_ns),
        "spawn" => children(|| Command::new(this_program()).arg("nap").status().is_ok_and(|status| status.success())),
        "vfork" => children(|| wait_for(vfork(nap_in_vforked_child), 0) == Some(0)),
        "thread_exec" => exec_from_thread(),
        "leader_exit" => leave_the_work_to_a_thread(cpu_ns),
        // What the modes above start.
        "nap" => nap_in_child(),
        "after_exec" => {
            let before = thread_cpu_ns();
            work_after_exec(cpu_ns);
            let after = thread_cpu_ns();
            Truth::new().number("cpu_ns", after - before).number("process_cpu_ns", process_cpu_ns()).print();
            return ExitCode::from(7);
        }
        other => panic!("unknown mode `{other}`"),
    }
    ExitCode::SUCCESS
}

fn this_program() -> String {
    let path = env::current_exe().expect("/proc is mounted");
    path.into_os_string().into_string().expect("the workloads' path is text")
}

fn fork_without_exec(cpu_ns: u64) {
    let child = fork(|| {
        work_in_forked_child(cpu_ns);
        3
    });
    let exited = wait_for(child, 0) == Some(3 << 8);
    Truth::new().number("cpu_ns", usage_ns(true)).number("as_expected", u64::from(exited)).print();
}

#[inline(never)]
fn work_in_forked_child(cpu_ns: u64) {
    churn_for(1, cpu_ns);
}

fn children(run: impl Fn() -> bool) {
    let as_expected = (0..CHILDREN).filter(|_| run()).count() as u64;
    Truth::new().number("children", CHILDREN).number("as_expected", as_expected).print();
}

#[inline(never)]
fn nap_in_child() {
    nap(NAP_MS);
    black_box(NAP_MS);
}

extern "C" fn nap_in_vforked_child(_: *mut c_void) -> c_int {
    nap(NAP_MS);
    0
}

fn exec_from_thread() {
    let thread = thread::Builder::new().name("tv-execer".to_owned()).spawn(|| {
        let cpu_ms = arg_or::<u64>(2, 500);
        work_before_exec(cpu_ms * 1_000_000);
        let cpu_ms = cpu_ms.to_string();
        exec(&this_program(), &["after_exec", &cpu_ms])
    });
    thread.expect("threads can be started").join().expect("exec does not return");
}

#[inline(never)]
fn work_before_exec(cpu_ns: u64) {
    churn_for(4, cpu_ns);
}

#[inline(never)]
fn work_after_exec(cpu_ns: u64) {
    churn_for(2, cpu_ns);
}

fn leave_the_work_to_a_thread(cpu_ns: u64) {
    let work = move || {
        work_without_leader(cpu_ns);
        Truth::new().number("cpu_ns", thread_cpu_ns()).print();
        // The last thread to end gives the process its status, 0, and std's clean-up would need the main thread.
        exit_thread();
    };
    thread::Builder::new().name("tv-survivor".to_owned()).spawn(work).expect("threads can be started");
    exit_thread();
}

#[inline(never)]
fn work_without_leader(cpu_ns: u64) {
    churn_for(3, cpu_ns);
}

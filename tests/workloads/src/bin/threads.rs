//! Known truth: thread `tv-alpha` works in `alpha_work` for the given CPU time, thread `tv-beta` in `beta_work` for half
//! of it, thread `tv-sleeper` lies in one sleep of the given time (`long_sleep`), and main waits for all three. The CPU
//! nanoseconds of each are printed.
//!
//! Usage: `threads [SECONDS OF CPU TIME OF tv-alpha, default 2]`

use std::hint::black_box;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use traceview_workloads::arg_or;
use traceview_workloads::clock::{process_cpu_ns, thread_cpu_ns};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn_for, seconds};

#[inline(never)]
fn alpha_work(cpu_ns: u64) {
    churn_for(1, cpu_ns);
}

#[inline(never)]
fn beta_work(cpu_ns: u64) {
    churn_for(2, cpu_ns);
}

#[inline(never)]
fn long_sleep(ns: u64) {
    thread::sleep(Duration::from_nanos(ns));
    // So that the call above is not a jump, which would hide this function.
    black_box(ns);
}

fn main() {
    let ns = seconds(arg_or(1, 2.0));
    let threads = [
        spawn("tv-alpha", move || alpha_work(ns)),
        spawn("tv-beta", move || beta_work(ns / 2)),
        spawn("tv-sleeper", move || long_sleep(ns)),
    ];
    let [alpha, beta, sleeper] = threads.map(|thread| thread.join().expect("the thread doesn't panic"));
    Truth::new()
        .number("tv-alpha", alpha)
        .number("tv-beta", beta)
        .number("tv-sleeper", sleeper)
        .number("main", thread_cpu_ns())
        .number("total", process_cpu_ns())
        .print();
}

/// Starts a thread that gives back the CPU time it used.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> JoinHandle<u64> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(|| {
        work();
        thread_cpu_ns()
    });
    thread.expect("threads can be started")
}

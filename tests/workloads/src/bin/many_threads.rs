//! Known truth: N threads live for less than a millisecond of CPU time each, all of it in `short_work`, at most eight of
//! them at a time. `threads_ns` is the sum of what they measured themselves, `usage_ns` what the kernel charged the whole
//! process, starting and joining included.
//!
//! Usage: `many_threads [THREADS, default 2000] [MICROSECONDS OF EACH, default 300]`

use std::hint::black_box;
use std::thread;

use traceview_workloads::arg_or;
use traceview_workloads::clock::{thread_cpu_ns, usage_ns};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn, steps_per_us};

const AT_A_TIME: u64 = 8;

#[inline(never)]
fn short_work(steps: u64) -> u64 {
    black_box(churn(5, steps))
}

fn main() {
    let count: u64 = arg_or(1, 2000);
    let steps = steps_per_us() * arg_or::<u64>(2, 300);
    let mut threads_ns = 0;
    let mut started = 0;
    while started < count {
        let batch = AT_A_TIME.min(count - started);
        let threads: Vec<_> = (started..started + batch)
            .map(|index| {
                let thread = thread::Builder::new().name(format!("tv-short-{index}")).spawn(move || {
                    short_work(steps);
                    thread_cpu_ns()
                });
                thread.expect("threads can be started")
            })
            .collect();
        for thread in threads {
            threads_ns += thread.join().expect("the thread doesn't panic");
        }
        started += batch;
    }
    Truth::new()
        .number("threads", count)
        .number("threads_ns", threads_ns)
        .number("main_ns", thread_cpu_ns())
        .number("usage_ns", usage_ns(false))
        .print();
}

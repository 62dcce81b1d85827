//! Known truth: always the same amount of work on one thread (about a second), whatever time that takes; the wall and CPU
//! time that it took are printed.

use std::hint::black_box;

use traceview_workloads::clock::{monotonic_ns, thread_cpu_ns};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::churn;

const STEPS: u64 = 600_000_000;

fn main() {
    let start = monotonic_ns();
    black_box(churn(1, STEPS));
    Truth::new().number("wall_ns", monotonic_ns() - start).number("cpu_ns", thread_cpu_ns()).print();
}

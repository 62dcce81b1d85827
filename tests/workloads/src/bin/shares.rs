//! Known truth: three functions, `seventy`, `twenty` and `ten`, use about those percentages of the CPU time of one
//! thread. The exact nanoseconds of each are measured with the thread's own clock and printed; `total` is all that the
//! thread used, calibration and measuring included.
//!
//! They take turns in rounds whose lengths vary by a factor of four, so that no sampling interval can run in step. Short
//! rounds make each sample independent of the one before (the error is that of a fair draw); in rounds of several
//! milliseconds most samples follow another one in the same function, and the error is a third of that.
//!
//! Usage: `shares [SECONDS OF CPU TIME, default 3] [MICROSECONDS OF A ROUND ON AVERAGE, default 400]`

use std::hint::black_box;

use traceview_workloads::arg_or;
use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{Random, churn, seconds, steps_per_us};

#[inline(never)]
fn seventy(steps: u64) -> u64 {
    black_box(churn(7, steps))
}

#[inline(never)]
fn twenty(steps: u64) -> u64 {
    black_box(churn(2, steps))
}

#[inline(never)]
fn ten(steps: u64) -> u64 {
    black_box(churn(1, steps))
}

fn main() {
    let end = seconds(arg_or(1, 3.0));
    // A tenth of the average round.
    let average = steps_per_us() * arg_or::<u64>(2, 400) / 10;
    let mut random = Random::new(1);
    let mut used = [0; 3];
    while thread_cpu_ns() < end {
        let steps = average * random.between(40, 160) / 100;
        let start = thread_cpu_ns();
        black_box(seventy(7 * steps));
        let after_seventy = thread_cpu_ns();
        black_box(twenty(2 * steps));
        let after_twenty = thread_cpu_ns();
        black_box(ten(steps));
        used[0] += after_seventy - start;
        used[1] += after_twenty - after_seventy;
        used[2] += thread_cpu_ns() - after_twenty;
    }
    Truth::new()
        .number("seventy", used[0])
        .number("twenty", used[1])
        .number("ten", used[2])
        .number("total", thread_cpu_ns())
        .print();
}

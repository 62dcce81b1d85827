//! Known truth: the thread reads the clock without pause for the given time, so whenever two readings are far apart it
//! was not running. Gaps from 2 µs to 2 ms (stops, interrupts) are added up apart from longer ones (another thread had
//! the CPU).
//!
//! Usage: `gaps [SECONDS, default 2]`

use traceview_workloads::arg_or;
use traceview_workloads::clock::{monotonic_ns, thread_cpu_ns};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::seconds;

/// Two readings in a row are much closer than this.
const SHORTEST: u64 = 2_000;

/// Nobody is stopped for this long for one sample.
const LONGEST: u64 = 2_000_000;

fn main() {
    let start = monotonic_ns();
    let end = start + seconds(arg_or(1, 2.0));
    let (mut gaps, mut gap_ns, mut away_ns, mut last) = (0, 0, 0, start);
    while last < end {
        let now = monotonic_ns();
        match now - last {
            gap @ SHORTEST..LONGEST => {
                gaps += 1;
                gap_ns += gap;
            }
            gap @ LONGEST.. => away_ns += gap,
            _ => {}
        }
        last = now;
    }
    Truth::new()
        .number("wall_ns", last - start)
        .number("cpu_ns", thread_cpu_ns())
        .number("gaps", gaps)
        .number("gap_ns", gap_ns)
        .number("away_ns", away_ns)
        .print();
}

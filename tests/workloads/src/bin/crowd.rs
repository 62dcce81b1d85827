//! Known truth: BUSY threads (`tv-busy-N`, in `crowd_work`) run for SECONDS of wall time beside ASLEEP threads
//! (`tv-asleep-N`) that wait in poll for the end. `busy_ns` lists the CPU time of each busy thread, `asleep_ns` is that of
//! all others but main, `wall_ns` how long it took.
//!
//! Usage: `crowd [BUSY, default 1] [ASLEEP, default 200] [SECONDS, default 2]`

use std::io::{Read, pipe};
use std::thread;
use std::time::Duration;

use traceview_workloads::arg_or;
use traceview_workloads::clock::{monotonic_ns, thread_cpu_ns};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn, seconds};

/// Works until the time is over, and says how much CPU time that took.
#[inline(never)]
fn crowd_work(end: u64) -> u64 {
    let before = thread_cpu_ns();
    while monotonic_ns() < end {
        std::hint::black_box(churn(3, 20_000));
    }
    thread_cpu_ns() - before
}

fn main() {
    let (busy, asleep) = (arg_or::<u64>(1, 1), arg_or::<u64>(2, 200));
    let duration = seconds(arg_or(3, 2.0));
    let (reader, writer) = pipe().expect("pipes can be made");
    let named = |name: String| thread::Builder::new().name(name);
    let sleepers: Vec<_> = (0..asleep)
        .map(|index| {
            let mut reader = reader.try_clone().expect("descriptors can be copied");
            let sleep = move || {
                // Ends when the other end of the pipe is closed.
                assert_eq!(reader.read(&mut [0]).expect("pipes can be read"), 0);
                thread_cpu_ns()
            };
            named(format!("tv-asleep-{index}")).spawn(sleep).expect("threads can be started")
        })
        .collect();
    // They are asleep by then.
    thread::sleep(Duration::from_millis(50));
    let start = monotonic_ns();
    let workers: Vec<_> = (0..busy)
        .map(|index| {
            named(format!("tv-busy-{index}"))
                .spawn(move || crowd_work(start + duration))
                .expect("threads can be started")
        })
        .collect();
    let busy_ns: Vec<u64> = workers.into_iter().map(|worker| worker.join().expect("it does not panic")).collect();
    let wall_ns = monotonic_ns() - start;
    drop(writer);
    let asleep_ns = sleepers.into_iter().map(|sleeper| sleeper.join().expect("it does not panic")).sum();
    let busy = busy_ns
        .iter()
        .enumerate()
        .fold(Truth::new(), |truth, (index, cpu)| truth.number(&format!("tv-busy-{index}"), *cpu));
    Truth::new().number("wall_ns", wall_ns).number("asleep_ns", asleep_ns).object("busy_ns", &busy).print();
}

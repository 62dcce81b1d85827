//! A program in the manner of coroutines: its thread hops between many stacks, and its memory map is long. The wall and
//! CPU time that this took are printed.
//!
//! Usage: `switches [MAPPINGS, default 20000] [STACKS, default 64] [MILLISECONDS of CPU time, default 500]`

use std::ffi::{c_int, c_void};
use std::hint::black_box;

use traceview_workloads::arg_or;
use traceview_workloads::clock::{monotonic_ns, thread_cpu_ns};
use traceview_workloads::signal::{AlternateStack, handle, send_to_thread, thread_id};
use traceview_workloads::system::scatter_mappings;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::churn;

/// What is done on each stack, for about 50 µs.
extern "C" fn work(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    black_box(churn(7, 20_000));
}

fn main() {
    scatter_mappings(arg_or(1, 20_000));
    // Between them are pages that may not be touched, or they would be one mapping.
    let stacks = (0..arg_or::<usize>(2, 64)).map(|_| {
        let stack = AlternateStack::new(256 << 10);
        scatter_mappings(2);
        stack
    });
    let mut stacks: Vec<_> = stacks.collect();
    let end = thread_cpu_ns() + arg_or::<u64>(3, 500) * 1_000_000;
    handle(libc::SIGUSR1, work, true);
    let this = thread_id();
    let (start, cpu_start) = (monotonic_ns(), thread_cpu_ns());
    let mut hops = 0;
    'work: loop {
        for stack in &mut stacks {
            if thread_cpu_ns() >= end {
                break 'work;
            }
            stack.install();
            send_to_thread(this, libc::SIGUSR1);
            hops += 1;
        }
    }
    let truth = Truth::new().number("hops", hops).number("wall_ns", monotonic_ns() - start);
    truth.number("cpu_ns", thread_cpu_ns() - cpu_start).print();
}

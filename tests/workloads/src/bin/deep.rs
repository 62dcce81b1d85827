//! Known truth, by mode:
//! - `deep recursion DEPTH SECONDS`: `descend` calls itself DEPTH times (small frames), and nearly all CPU time is spent
//!   at the bottom in `deep_leaf`; whole stacks are DEPTH + 1 frames of `descend` and one of `deep_leaf`.
//! - `deep frame SECONDS`: `big_frame` has a local array of 3 MiB, and its callee `leaf_below_big_frame` works; the only
//!   caller of `big_frame` is `above_big_frame`.
//!
//! Both run on a thread named `tv-deep` with enough stack.

use std::hint::black_box;
use std::thread;

use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn_for, seconds};
use traceview_workloads::{arg_or, mode};

const MIB: usize = 1 << 20;

#[inline(never)]
fn descend(levels: u64, cpu_ns: u64) -> u64 {
    if levels == 0 {
        deep_leaf(cpu_ns);
        return 0;
    }
    // The addition after the call keeps it from becoming a jump.
    black_box(descend(black_box(levels - 1), cpu_ns)) + 1
}

#[inline(never)]
fn deep_leaf(cpu_ns: u64) {
    churn_for(1, cpu_ns);
}

#[inline(never)]
fn above_big_frame(cpu_ns: u64) -> u64 {
    black_box(big_frame(cpu_ns)) + 1
}

#[inline(never)]
fn big_frame(cpu_ns: u64) -> u64 {
    let mut array = [0_u8; 3 * MIB];
    leaf_below_big_frame(black_box(&mut array), cpu_ns);
    array.iter().map(|&byte| u64::from(byte)).sum()
}

#[inline(never)]
fn leaf_below_big_frame(array: &mut [u8], cpu_ns: u64) {
    churn_for(2, cpu_ns);
    black_box(array)[0] = 1;
}

fn main() {
    let mode = mode("recursion, frame");
    let (stack, run): (usize, Box<dyn FnOnce() -> u64 + Send>) = match mode.as_str() {
        "recursion" => {
            let depth: u64 = arg_or(2, 100_000);
            let cpu_ns = seconds(arg_or(3, 1.0));
            let levels = usize::try_from(depth).expect("a depth fits in an address");
            // A frame takes about 32 bytes; an unoptimized build may take more.
            (8 * MIB + 256 * levels, Box::new(move || descend(depth, cpu_ns)))
        }
        "frame" => {
            let cpu_ns = seconds(arg_or(2, 1.0));
            (16 * MIB, Box::new(move || above_big_frame(cpu_ns)))
        }
        other => panic!("unknown mode `{other}`"),
    };
    let thread = thread::Builder::new().name("tv-deep".to_owned()).stack_size(stack).spawn(|| (run(), thread_cpu_ns()));
    let (result, cpu_ns) = thread.expect("threads can be started").join().expect("the stack is big enough");
    Truth::new().number("result", result).number("cpu_ns", cpu_ns).print();
}

//! Known truth: nearly all CPU time is spent inside libc, called by four functions in turn: `alloc_work` (malloc, free),
//! `fill_work` (memset), `move_work` (memmove) and `sort_work` (qsort, which calls back into `compare_numbers`). The CPU
//! nanoseconds of each, callees included, are printed. A complete stack holds exactly one of the four.
//!
//! Usage: `libc_heavy [SECONDS OF CPU TIME, default 2]`
#![expect(unsafe_code, reason = "libc's functions are called by name, so that the stacks lead through them")]

use std::cmp::Ordering;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::ptr;

use traceview_workloads::arg_or;
use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{Random, seconds};

const BLOCK: usize = 512 * 1024;

#[inline(never)]
fn alloc_work(random: &mut Random) {
    let mut live = [ptr::null_mut::<c_void>(); 64];
    for _ in 0..6_000 {
        let slot = &mut live[usize::try_from(random.between(0, 64)).expect("small")];
        let size = usize::try_from(random.between(16, 6_000)).expect("small");
        // SAFETY: each slot holds null or a block from malloc that is freed once, here or below.
        unsafe {
            libc::free(*slot);
            *slot = black_box(libc::malloc(size));
        }
    }
    for block in live {
        // SAFETY: as above; the array is not used again.
        unsafe { libc::free(block) };
    }
}

#[inline(never)]
fn fill_work(block: &mut [u8]) {
    for value in 0..40 {
        // SAFETY: the slice is valid for writes of its whole length.
        unsafe { libc::memset(block.as_mut_ptr().cast(), black_box(value), block.len()) };
    }
    black_box(block);
}

#[inline(never)]
fn move_work(block: &mut [u8]) {
    for shift in 1..30 {
        // SAFETY: source and destination lie within the slice; memmove allows them to overlap.
        unsafe {
            let start = block.as_mut_ptr();
            libc::memmove(start.add(black_box(shift)).cast(), start.cast(), block.len() - shift);
        }
    }
    black_box(block);
}

#[inline(never)]
fn sort_work(random: &mut Random) {
    let mut numbers: Vec<u64> = (0..6_000).map(|_| random.between(0, 1 << 30)).collect();
    // SAFETY: base, count and size describe the vector; the callback reads two of its elements.
    unsafe { libc::qsort(numbers.as_mut_ptr().cast(), numbers.len(), size_of::<u64>(), Some(compare_numbers)) };
    assert!(black_box(numbers).is_sorted(), "qsort must sort");
}

#[inline(never)]
extern "C" fn compare_numbers(a: *const c_void, b: *const c_void) -> c_int {
    // SAFETY: qsort passes pointers to elements of the array, which are u64.
    let (a, b) = unsafe { (*a.cast::<u64>(), *b.cast::<u64>()) };
    match a.cmp(&b) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

fn main() {
    let end = seconds(arg_or(1, 2.0));
    let mut random = Random::new(3);
    let mut block = vec![1_u8; BLOCK];
    let mut used = [0; 4];
    while thread_cpu_ns() < end {
        used[0] += measure(|| alloc_work(&mut random));
        used[1] += measure(|| fill_work(&mut block));
        used[2] += measure(|| move_work(&mut block));
        used[3] += measure(|| sort_work(&mut random));
    }
    Truth::new()
        .number("alloc_work", used[0])
        .number("fill_work", used[1])
        .number("move_work", used[2])
        .number("sort_work", used[3])
        .number("total", thread_cpu_ns())
        .print();
}

fn measure(work: impl FnOnce()) -> u64 {
    let start = thread_cpu_ns();
    work();
    thread_cpu_ns() - start
}

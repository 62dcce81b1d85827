//! Known truth: signals that the program's own instructions raise reach its handlers exactly once. For each kind it
//! prints how often it was `sent` and how often `seen`, which must be equal:
//! - `trap`: breakpoint instructions with a handler
//! - `segv`: forbidden accesses that a handler allows
//! - `altstack`: signals to itself; seen counts those whose handler ran on the alternate stack
//!
//! Usage: `faults [TIMES OF EACH, default 500]`

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use traceview_workloads::arg_or;
use traceview_workloads::signal::{self, handle};
use traceview_workloads::system::Page;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::churn;

static SEEN: AtomicU64 = AtomicU64::new(0);
static PAGE: OnceLock<Page> = OnceLock::new();
static STACK: AtomicUsize = AtomicUsize::new(0);
const STACK_BYTES: usize = 64 * 1024;
/// Steps of work between two signals: some 100 µs, so that samples fall near most of them.
const STEPS: u64 = 50_000;

/// A name, and what raises the signal so many times.
type Kind = (&'static str, fn(u64));

fn main() {
    let times = arg_or(1, 500);
    let kinds: [Kind; 3] = [("trap", trap), ("segv", segv), ("altstack", altstack)];
    let truth = kinds.into_iter().fold(Truth::new(), |truth, (name, run)| {
        SEEN.store(0, SeqCst);
        run(times);
        truth.object(name, &Truth::new().number("sent", times).number("seen", SEEN.load(SeqCst)))
    });
    truth.print();
}

extern "C" fn count(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
}

fn trap(times: u64) {
    handle(libc::SIGTRAP, count, false);
    for _ in 0..times {
        std::hint::black_box(churn(1, STEPS));
        signal::breakpoint();
    }
}

extern "C" fn recover(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
    if let Some(page) = PAGE.get() {
        page.allow();
    }
}

fn segv(times: u64) {
    let page = PAGE.get_or_init(Page::forbidden);
    handle(libc::SIGSEGV, recover, false);
    for _ in 0..times {
        std::hint::black_box(churn(1, STEPS));
        assert_eq!(page.read(), 0, "the page is empty");
        page.forbid();
    }
}

extern "C" fn count_on_stack(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    let local = 0_u8;
    let offset = (&raw const local).addr().wrapping_sub(STACK.load(SeqCst));
    SEEN.fetch_add(u64::from(offset < STACK_BYTES), SeqCst);
}

fn altstack(times: u64) {
    STACK.store(signal::alternate_stack(STACK_BYTES), SeqCst);
    handle(libc::SIGUSR2, count_on_stack, true);
    for _ in 0..times {
        std::hint::black_box(churn(1, STEPS));
        signal::send_to_thread(signal::thread_id(), libc::SIGUSR2);
    }
}

//! Known truth: for so many seconds threads and processes come and go, libraries are opened and closed, signals are sent, and
//! little is worked. Prints how many `threads` and `processes` there were in all, the first ones included, how often a library
//! was opened (`opened`), and how many signals were `sent` and `seen`.
//!
//! Usage: `churn [SECONDS, default 10]`
#![expect(unsafe_code, reason = "std opens no libraries")]

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use traceview_workloads::arg_or;
use traceview_workloads::clock::monotonic_ns;
use traceview_workloads::signal::{handle, send_to_thread, thread_id, wait_until};
use traceview_workloads::system::{fork, nap, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn, churn_for, seconds};

static SEEN: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
}

fn main() {
    let end = monotonic_ns() + seconds(arg_or(1, 10.0));
    handle(libc::SIGUSR1, count, false);
    let this = thread_id();
    let (mut threads, mut processes, mut opened, mut sent) = (1, 1, 0, 0);
    while monotonic_ns() < end {
        let batch: Vec<_> = (0..4).map(|seed| thread::spawn(move || black_box(churn(seed, 100_000)))).collect();
        threads += batch.len() as u64;
        let child = fork(|| {
            churn_for(9, 500_000);
            3
        });
        processes += 1;
        threads += 1;
        // SAFETY: the name ends in zero; what is opened is closed, and nothing of it was used.
        unsafe {
            let library = libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW);
            if !library.is_null() {
                opened += 1;
                libc::dlclose(library);
            }
        }
        send_to_thread(this, libc::SIGUSR1);
        sent += 1;
        wait_until(|| SEEN.load(SeqCst) == sent);
        for thread in batch {
            thread.join().expect("it doesn't panic");
        }
        assert_eq!(wait_for(child, 0), Some(3 << 8), "the child ends as it should");
        nap(5);
    }
    let truth = Truth::new().number("threads", threads).number("processes", processes).number("opened", opened);
    truth.number("sent", sent).number("seen", SEEN.load(SeqCst)).print();
}

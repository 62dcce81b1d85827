//! Known truth: every signal arrives exactly once, in order, with its information. For each kind it prints how many were
//! `sent` and how many were `seen`, which must be equal:
//! - `usr1`: SIGUSR1 by kill and tgkill in turn, each sent after the one before was seen
//! - `queued`: real-time signals with a number each; seen counts those that came in the right order
//! - `children`: SIGCHLD of children that exit or die of a signal; seen counts right wait statuses, `chld` the signals
//!
//! Usage: `signals [KIND or all, default all] [TIMES, default: 3000 usr1, 2000 queued, 200 children]`

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use traceview_workloads::arg_or;
use traceview_workloads::signal::{self, block, handle, wait_until};
use traceview_workloads::system::{self, fork, own_pid, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::churn;

static SEEN: AtomicU64 = AtomicU64::new(0);

/// What one kind does: sends so many, returns how many arrived as they should.
type Kind = fn(u64) -> u64;
const KINDS: [(&str, u64, Kind); 3] = [("usr1", 3000, usr1), ("queued", 2000, queued), ("children", 200, children)];

fn main() {
    let wanted: String = arg_or(1, "all".to_owned());
    assert!(wanted == "all" || KINDS.iter().any(|kind| kind.0 == wanted), "unknown kind `{wanted}`");
    let mut truth = Truth::new();
    for (name, times, run) in KINDS.into_iter().filter(|kind| wanted == "all" || kind.0 == wanted) {
        let times = arg_or(2, times);
        SEEN.store(0, SeqCst);
        let mut counts = Truth::new().number("sent", times).number("seen", run(times));
        if name == "children" {
            counts = counts.number("chld", SEEN.load(SeqCst));
        }
        truth = truth.object(name, &counts);
    }
    truth.print();
}

extern "C" fn count(_: c_int, _: &libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, SeqCst);
}

/// Runs `send` on another thread, which blocks the signal, while this one works and takes what is sent.
fn while_working(signal: c_int, send: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            block(&[signal]);
            send();
        });
        while !sender.is_finished() {
            std::hint::black_box(churn(3, 10_000));
        }
        // Gone for good: while it ends it would take signals of the next kind, at the same time as this thread.
        sender.join().expect("it does not panic");
    });
}

fn usr1(times: u64) -> u64 {
    handle(libc::SIGUSR1, count, false);
    let worker = signal::thread_id();
    while_working(libc::SIGUSR1, || {
        for sent in 0..times {
            if sent % 2 == 0 {
                signal::send_to_process(libc::SIGUSR1);
            } else {
                signal::send_to_thread(worker, libc::SIGUSR1);
            }
            // Two pending ones would be merged by the kernel.
            if !wait_until(|| SEEN.load(SeqCst) > sent) {
                return;
            }
        }
    });
    SEEN.load(SeqCst)
}

extern "C" fn count_in_order(_: c_int, info: &libc::siginfo_t, _: *mut c_void) {
    let number = u64::try_from(signal::queued_number(info)).unwrap_or(u64::MAX);
    // One out of order leaves the count behind for good.
    let _ignored = SEEN.compare_exchange(number, number + 1, SeqCst, SeqCst);
}

fn queued(times: u64) -> u64 {
    let signal = libc::SIGRTMIN() + 3;
    handle(signal, count_in_order, false);
    while_working(signal, || {
        for number in 0..times {
            signal::queue(signal, usize::try_from(number).expect("64 bits"));
        }
        wait_until(|| SEEN.load(SeqCst) == times);
    });
    SEEN.load(SeqCst)
}

fn children(times: u64) -> u64 {
    handle(libc::SIGCHLD, count, false);
    let mut right = 0;
    for number in 0..times {
        let code = c_int::try_from(number % 256).expect("small");
        let killed = number % 7 == 0;
        let pid = fork(|| {
            if killed {
                system::signal(own_pid(), libc::SIGKILL);
            }
            code
        });
        if !wait_until(|| SEEN.load(SeqCst) > number) {
            return right;
        }
        let status = wait_for(pid, 0).expect("waitpid waits");
        let expected = if killed { libc::SIGKILL } else { code << 8 };
        right += u64::from(status == expected);
    }
    signal::set_default(libc::SIGCHLD);
    right
}

//! Known truth: a parent stops its child N times (in turn by SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU) and lets it go on by
//! SIGCONT. The child counts in shared memory (`count_in_child`). Each time, the parent must hear of the stop and of the
//! going on by waitpid, the counter must stand still between them, and move afterwards: each count printed equals
//! `rounds`. `ended_by` is 9.
//!
//! Usage: `jobs [ROUNDS, default 12]`

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use traceview_workloads::signal::wait_until;
use traceview_workloads::system::{Pid, fork, new_process_group, shared_counter, signal, wait_for};
use traceview_workloads::truth::Truth;
use traceview_workloads::{arg_or, work};

/// Long enough for dozens of samples; a counting child would add thousands.
const STILL: Duration = Duration::from_millis(50);

#[inline(never)]
fn count_in_child(counter: &AtomicU64) -> ! {
    loop {
        std::hint::black_box(work::churn(1, 100));
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let rounds: u64 = arg_or(1, 12);
    let counter = shared_counter();
    let count = || counter.load(Ordering::Relaxed);
    let child = fork(|| {
        // The kernel ignores SIGTSTP and its kind in a process group that has no parent in the session.
        new_process_group();
        count_in_child(counter)
    });
    let mut seen = [0; 4];
    // What goes wrong is told by the numbers; there is no use in waiting ten seconds for each further round.
    for round in 0..rounds {
        let stop =
            [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU][usize::try_from(round % 4).expect("small")];
        let before = count();
        wait_until(|| count() > before);
        signal(child, stop);
        let stopped =
            hears(child, libc::WUNTRACED, |status| libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == stop);
        let at_stop = count();
        thread::sleep(STILL);
        let still = count() == at_stop;
        signal(child, libc::SIGCONT);
        let continued = hears(child, libc::WCONTINUED, |status| libc::WIFCONTINUED(status));
        let moved = wait_until(|| count() > at_stop);
        for (total, ok) in seen.iter_mut().zip([stopped, still, continued, moved]) {
            *total += u64::from(ok);
        }
        if !(stopped && continued && moved) {
            break;
        }
    }
    signal(child, libc::SIGKILL);
    let status = wait_for(child, 0).expect("waitpid waits");
    let ended_by = if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { 0 };
    Truth::new()
        .number("rounds", rounds)
        .number("stops_reported", seen[0])
        .number("stood_still", seen[1])
        .number("continues_reported", seen[2])
        .number("moved_on", seen[3])
        .number("ended_by", u64::from(ended_by.unsigned_abs()))
        .print();
}

/// Whether waitpid reports a status that is as expected, in time.
fn hears(child: Pid, flags: i32, expected: impl Fn(i32) -> bool) -> bool {
    let status = std::cell::Cell::new(None);
    wait_until(|| {
        status.set(wait_for(child, flags | libc::WNOHANG));
        status.get().is_some()
    });
    status.get().is_some_and(expected)
}

//! Known truth: system calls that wait and end by their timeout (1 to 7 ms), with 20 to 400 µs of work between them. No
//! signal is ever sent, so `eintr`, `early` (over before its time) and `other` (any other result) must be 0 for each
//! kind. `late` (5 ms or more over time) is counted but proves nothing on a busy machine; `calls` is as asked for.
//!
//! Usage: `idle_mix [KIND or all, default all] [CALLS OF EACH, default 100]`.

use std::hint::black_box;
use std::time::Duration;

use traceview_workloads::arg_or;
use traceview_workloads::clock::monotonic_ns;
use traceview_workloads::signal::block;
use traceview_workloads::truth::Truth;
use traceview_workloads::waits::{End, KINDS, Kind, Things};
use traceview_workloads::work::{Random, churn, steps_per_us};

#[derive(Default)]
struct Counts {
    calls: u64,
    eintr: u64,
    early: u64,
    late: u64,
    other: u64,
    longest_late_us: u64,
}

fn main() {
    let wanted: String = arg_or(1, "all".to_owned());
    let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| wanted == "all" || kind.name == wanted).collect();
    assert!(!kinds.is_empty(), "unknown kind `{wanted}`");
    let rounds: u64 = arg_or(2, 100);
    // For sigtimedwait; ignored by default anyway.
    block(&[libc::SIGURG]);
    let things = Things::new();
    let steps_per_us = steps_per_us();
    let mut random = Random::new(9);
    let mut counts: Vec<Counts> = kinds.iter().map(|_| Counts::default()).collect();
    // In turn, so that each kind follows upon each phase of the work.
    for _ in 0..rounds {
        for (kind, counts) in kinds.iter().zip(&mut counts) {
            work_between(steps_per_us * random.between(20, 400));
            wait_once(kind, &things, Duration::from_millis(random.between(1, 8)), counts);
        }
    }
    let truth = kinds.iter().zip(&counts).fold(Truth::new(), |truth, (kind, counts)| {
        let counts = Truth::new()
            .number("calls", counts.calls)
            .number("eintr", counts.eintr)
            .number("early", counts.early)
            .number("late", counts.late)
            .number("other", counts.other)
            .number("longest_late_us", counts.longest_late_us);
        truth.object(kind.name, &counts)
    });
    truth.print();
}

#[inline(never)]
fn work_between(steps: u64) {
    black_box(churn(4, steps));
}

#[inline(never)]
fn wait_once(kind: &Kind, things: &Things, timeout: Duration, counts: &mut Counts) {
    let start = monotonic_ns();
    let end = kind.run(things, timeout);
    let took = Duration::from_nanos(monotonic_ns() - start);
    counts.calls += 1;
    match end {
        // The kernel counts some timeouts in jiffies, which may begin up to one (4 ms) before the call.
        End::TimedOut if took + jiffy(kind) < timeout => counts.early += 1,
        End::TimedOut => counts.late += u64::from(took > timeout + Duration::from_millis(5)),
        End::Interrupted => counts.eintr += 1,
        End::Failed(_) => counts.other += 1,
    }
    let late = u64::try_from(took.saturating_sub(timeout).as_micros()).expect("short");
    counts.longest_late_us = counts.longest_late_us.max(late);
}

/// How much earlier than asked for a call of this kind may end without anybody's fault.
fn jiffy(kind: &Kind) -> Duration {
    match kind.name {
        "recv" | "accept" => Duration::from_millis(4),
        _ => Duration::ZERO,
    }
}

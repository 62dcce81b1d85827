//! Work shared out to processors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` for each of `0..count` on so many threads; the results are in order.
///
/// Each thread makes a `state` of its own that its pieces of work share. A piece that panics has no result and costs nothing
/// else: what is read are files of others, and readers of them have faults.
pub(super) fn in_parallel<S, T: Send + Sync>(
    threads: usize,
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<Option<T>> {
    let results: Vec<OnceLock<Option<T>>> = (0..count).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut own = state();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(result) = results.get(index) else { break };
            let done = unless_it_panics(|| work(&mut own, index));
            if done.is_none() {
                // Nobody knows how it was left.
                own = state();
            }
            // Nobody else has this index.
            result.get_or_init(|| done);
        }
    };
    let threads = threads.min(count);
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system refuses more threads, those that there are do it all.
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    results.into_iter().map(|result| result.into_inner().flatten()).collect()
}

/// What `work` returns; `None` if it panics. The panic is reported on stderr.
pub(super) fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    // What is changed by work that ends halfway is for the caller to replace.
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// How many threads make sense.
pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::{in_parallel, processors};

    #[test]
    fn what_panics_costs_only_itself_and_its_state() {
        let done = in_parallel(
            processors(),
            100,
            || 0,
            |before, index| {
                *before += 1;
                assert!(index % 10 != 3, "a reader's fault");
                (index, *before)
            },
        );
        for (index, done) in done.iter().enumerate() {
            assert_eq!(done.is_none(), index % 10 == 3, "{index}");
            assert!(done.is_none_or(|(own, before)| own == index && before <= index + 1));
        }
    }
}

//! Work shared out to all processors.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` for each of `0..count` on as many threads as there are processors; the results are in order.
///
/// Each thread makes a `state` of its own that its pieces of work share.
pub(super) fn in_parallel<S, T: Send + Sync>(
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let results: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(result) = results.get(index) else { break };
            // Nobody else has this index.
            result.get_or_init(|| work(&mut state, index));
        }
    };
    let threads = processors().min(count);
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system refuses more threads, those that there are do it all.
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    let done = |result: OnceLock<T>| result.into_inner().expect("every piece was worked on before the threads ended");
    results.into_iter().map(done).collect()
}

/// How many threads make sense.
pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

//! Names while the program still runs.
//!
//! A recording ends with naming its addresses, and whoever made it waits for that. Most of that time goes into opening and
//! indexing files, and the first addresses of each are met soon. So a thread of its own ([`Ahead`]) is told of each new
//! address by the unwinder, and looks it up where a processor has nothing else to do:
//!
//! - It runs under `SCHED_IDLE`: a thread of the program that wants the processor takes it at once. Where the system refuses
//!   that, nothing is done ahead.
//! - It looks for news from time to time, and then rests for `REST` times as long as it was at work. A program that
//!   meets new addresses all the time has them looked up in rounds that become rare, not each by itself.
//! - It holds nothing that others wait for: addresses come through a channel that it polls, so that the unwinder never has
//!   to wake it up, and what it finds is its own until the end.
//! - It is a single thread, whatever the number of processors: the program should find the others idle, and caches its own.
//! - It begins after `START`: short programs are over by then.
//!
//! When recording has ended the round under way is given up, and what is open and named is handed over to be completed on
//! all processors ([`NameBook::finish`]). The machine may be busy with others then. A thread of ordinary users can't leave
//! `SCHED_IDLE` again, so it is waited for no longer than `HANDOVER`; after that all is begun anew, without it. So it is
//! after a panic. Whatever happens costs time at most, never a name, and names are the same with it and without. A
//! fault in reading some of them is told in the end all the same, and each round is allowed the same work (`effort`).
//!
//! Files are held in memory as soon as they are needed in place of after the end, and in the same amount: an image by its
//! mapping (so that it does not matter what becomes of the file), sections that are compressed by their content. News wait
//! in the channel once for each distinct address.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::batch::Request;
use super::book::NameBook;
use super::cache::NameCache;
use crate::image::AddressInImage;
use crate::sampler::ptrace::sys;

/// How long after its start the first addresses are looked up.
const START: Duration = Duration::from_millis(250);

/// How long it rests at least.
const SHORTEST_REST: Duration = Duration::from_millis(50);

/// It rests so many times as long as its last round took.
const REST: u32 = 9;

/// How long to wait at the end for what was found.
const HANDOVER: Duration = Duration::from_millis(200);

/// A thread that looks up addresses while they come in.
#[derive(Debug)]
pub struct Ahead {
    cache: Option<NameCache>,
    /// Nothing where the system has no thread for it.
    worker: Option<Worker>,
}

#[derive(Debug)]
struct Worker {
    thread: Thread,
    stop: Arc<AtomicBool>,
    book: Receiver<NameBook>,
}

impl Ahead {
    /// Begins to look up what is `seen`.
    #[must_use]
    pub fn start(cache: Option<NameCache>, seen: Receiver<Vec<AddressInImage>>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (hand_over, book) = mpsc::channel();
        let empty = NameBook::new(cache.clone());
        let is_stopped = Arc::clone(&stop);
        let work = move || {
            if sys::run_only_when_idle() {
                // Nobody may want it any more.
                let _too_late = hand_over.send(work(empty, &seen, &is_stopped));
            }
        };
        let spawned = thread::Builder::new().name("names".to_owned()).spawn(work);
        let worker = spawned.ok().map(|handle| Worker { thread: handle.thread().clone(), stop, book });
        Ahead { cache, worker }
    }

    /// Ends it. All that was found, and in any case a book to find the rest with.
    #[must_use]
    pub fn finish(self) -> NameBook {
        let found = self.worker.and_then(|worker| {
            worker.stop.store(true, Ordering::Relaxed);
            worker.thread.unpark();
            worker.book.recv_timeout(HANDOVER).ok()
        });
        found.unwrap_or_else(|| NameBook::new(self.cache))
    }
}

/// Looks up what is `seen` until it is told to `stop`.
fn work(mut book: NameBook, seen: &Receiver<Vec<AddressInImage>>, stop: &AtomicBool) -> NameBook {
    let mut rest = START;
    while !rests(rest, stop) {
        let begin = Instant::now();
        let requests = requests(seen);
        if !requests.is_empty() {
            book.look_up_aside(&requests, stop);
        }
        rest = (begin.elapsed() * REST).max(SHORTEST_REST);
    }
    book
}

/// Waits for `time`; whether it was told to stop.
fn rests(time: Duration, stop: &AtomicBool) -> bool {
    let begin = Instant::now();
    loop {
        if stop.load(Ordering::Relaxed) {
            return true;
        }
        let Some(left) = time.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) else { return false };
        thread::park_timeout(left);
    }
}

/// All that was seen since the last time.
fn requests(seen: &Receiver<Vec<AddressInImage>>) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    let mut known: FxHashMap<usize, usize> = FxHashMap::default();
    for (image, svma) in seen.try_iter().flatten() {
        let index = *known.entry(Arc::as_ptr(&image).addr()).or_insert_with(|| {
            requests.push(Request { image, svmas: Vec::new() });
            requests.len() - 1
        });
        requests[index].svmas.push(svma);
    }
    requests
}

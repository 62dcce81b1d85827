//! Several tracers that share the threads of a program between them.
//!
//! A thread can only be interrupted by the thread that traces it, and one tracer manages some ten thousand stops a second.
//! New threads and processes belong to the tracer of their creator; from one that has more to do than others it hands some
//! over. Nothing of the kernel does that at once: the giver lets go of the thread, and the taker seizes it. So the taker
//! is made ready first, and the thread, which is in user code, is held until then.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicUsize};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use traceview_core::model::ExitStatus;

use super::super::event::{ProcessIndex, ThreadIndex};
use super::super::proc_fs;
use super::super::thread_table::{SharedProcess, Thread};
use super::sys::{self, Tid};

/// One tracer can be trusted with this many stops a second, and some more.
const STOPS_A_SECOND: u32 = 20_000;

/// Loads are counted in this part of a stop.
pub(super) const LOAD_UNIT: u32 = 64;

/// What the tracers of a recording have in common.
pub(crate) struct Crew {
    seats: Vec<Seat>,
    numbers: Mutex<Numbers>,
    is_over: AtomicBool,
    /// Whether threads are shared out even if one tracer could do.
    is_forced: bool,
    /// Whether a tracer can seize any thread that another lets go of, or only those of the first process, which is a child
    /// of ours for sure.
    can_seize_any: bool,
}

/// One tracer, as the others see it.
struct Seat {
    inbox: Sender<Message>,
    /// The thread's id, to wake it by; 0 before it began to work.
    tid: AtomicI32,
    /// How many stops it has in a tick, in [`LOAD_UNIT`]ths.
    load: AtomicU32,
    /// How many threads of its were awake at its last tick.
    awake: AtomicUsize,
}

/// A tracer is at work; when its thread ends, or fails, it is no more.
pub(crate) struct AtWork<'a> {
    seat: &'a Seat,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.seat.tid.store(0, Release);
        self.seat.awake.store(0, Relaxed);
    }
}

/// The numbers that the next process and thread get.
#[derive(Default)]
struct Numbers {
    process: ProcessIndex,
    thread: ThreadIndex,
}

/// What tracers tell each other.
pub(crate) enum Message {
    /// Be ready to take a thread.
    Offer(Arc<Offer>),
    /// The thread of the last offer.
    Thread(Box<Given>),
    /// A thread made its process run another program: all others of it are gone, and not all of them report that.
    Exec {
        /// The process's id.
        pid: Tid,
        /// When.
        time: i64,
    },
    /// The first program ended. Its first thread stays with the lead, but another can have taken its place by an exec.
    RootExit(ExitStatus),
    /// Job control stopped a thread of the first process, at this time.
    RootStopped(i64),
    /// Recording is over.
    End,
}

/// A thread that changes hands.
pub(crate) struct Given {
    /// It.
    pub(super) thread: Thread,
    /// What is known of its process.
    pub(super) process: SharedProcess,
}

/// How far a hand-over is.
#[derive(Default)]
pub(crate) struct Offer(AtomicU8);

/// A giver whose taker is ready takes no longer than this, unless it lost its CPU.
pub(super) const GIVEN_WITHIN_NS: i64 = 2_000_000;

const OFFERED: u8 = 0;
const READY: u8 = 1;
const GIVEN: u8 = 2;
const WITHDRAWN: u8 = 3;

impl Offer {
    /// Waits until the taker is ready; false if that takes too long: then nothing is handed over.
    pub(super) fn is_ready_within(&self, limit_ns: i64) -> bool {
        let until = sys::monotonic_ns() + limit_ns;
        while self.0.load(Acquire) == OFFERED {
            if sys::monotonic_ns() >= until {
                return self.0.compare_exchange(OFFERED, WITHDRAWN, Acquire, Acquire).is_err();
            }
            std::hint::spin_loop();
        }
        true
    }

    /// The thread was let go, and sent.
    pub(super) fn give(&self) {
        self.0.store(GIVEN, Release);
    }

    /// There is nothing to hand over after all.
    pub(super) fn withdraw(&self) {
        self.0.store(WITHDRAWN, Release);
    }

    /// The taker is ready: whether the thread is handed over. Waits for that, but no longer than `limit_ns`.
    pub(super) fn accept(&self, limit_ns: i64) -> bool {
        if self.0.compare_exchange(OFFERED, READY, Release, Acquire).is_err() {
            return false;
        }
        let until = sys::monotonic_ns() + limit_ns;
        loop {
            match self.0.load(Acquire) {
                READY if sys::monotonic_ns() < until => std::hint::spin_loop(),
                // If it comes later it is taken then.
                READY => return false,
                state => return state == GIVEN,
            }
        }
    }
}

impl Crew {
    /// A crew of `size` tracers at most, and the inbox of each. Threads are shared out if that is `forced`, or when there
    /// is more to do than one tracer can.
    pub(crate) fn new(size: usize, is_forced: bool) -> (Self, Vec<Receiver<Message>>) {
        let (seats, inboxes) = (0..size)
            .map(|_| {
                let (inbox, messages) = channel();
                (Seat { inbox, tid: AtomicI32::new(0), load: AtomicU32::new(0), awake: AtomicUsize::new(0) }, messages)
            })
            .unzip();
        let can_seize_any = size == 1 || !proc_fs::may_seize_descendants_only();
        (Self { seats, numbers: Mutex::default(), is_over: AtomicBool::new(false), is_forced, can_seize_any }, inboxes)
    }

    /// Whether a tracer can seize any thread that another lets go of, or only those of the first process.
    pub(super) fn can_seize_any(&self) -> bool {
        self.can_seize_any
    }

    /// How many tracers there can be.
    pub(super) fn size(&self) -> usize {
        self.seats.len()
    }

    /// The tracer in `seat` works on the calling thread.
    pub(super) fn begin(&self, seat: usize) -> AtWork<'_> {
        self.seats[seat].tid.store(sys::own_tid(), Release);
        AtWork { seat: &self.seats[seat] }
    }

    /// The tracer in `seat` cannot work: nobody gives it anything.
    pub(crate) fn leave_out(&self, seat: usize) {
        self.seats[seat].load.store(u32::MAX, Relaxed);
    }

    /// The tracer in `seat` found so many threads awake; how many there are now in all.
    pub(super) fn awake(&self, seat: usize, awake: usize) -> usize {
        self.seats[seat].awake.store(awake, Relaxed);
        self.seats.iter().map(|seat| seat.awake.load(Relaxed)).sum()
    }

    /// How many tracers work.
    pub(super) fn working(&self) -> usize {
        self.seats.iter().filter(|seat| seat.tid.load(Relaxed) != 0).count()
    }

    /// Sends a message to the tracer in `seat`, and wakes it.
    pub(super) fn tell(&self, seat: usize, message: Message) {
        // One whose thread failed does not hear anything any more; joining it reports that.
        let _gone = self.seats[seat].inbox.send(message);
        let tid = self.seats[seat].tid.load(Acquire);
        if tid != 0 {
            sys::wake(tid);
        }
    }

    /// The same to all others than the one in `seat`.
    pub(super) fn tell_others(&self, seat: usize, message: impl Fn() -> Message) {
        for other in (0..self.size()).filter(|other| *other != seat) {
            self.tell(other, message());
        }
    }

    /// Recording is over.
    pub(crate) fn end(&self, seat: usize) {
        self.is_over.store(true, Release);
        self.tell_others(seat, || Message::End);
    }

    /// Whether recording is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Acquire)
    }

    /// The tracer in `seat` has nothing to do.
    pub(super) fn rest(&self, seat: usize) {
        self.seats[seat].load.store(0, Relaxed);
    }

    /// The tracer in `seat` has this load now, at so many ticks a second: who should get some of it, and which part.
    pub(super) fn share(&self, seat: usize, load: u32, ticks_a_second: u32) -> Option<(usize, f64)> {
        self.seats[seat].load.store(load, Relaxed);
        let least = (0..self.size()).filter(|other| *other != seat).min_by_key(|other| {
            let seat = &self.seats[*other];
            // Rather one that works already.
            (seat.load.load(Relaxed), seat.tid.load(Relaxed) == 0)
        })?;
        let difference = load.saturating_sub(self.seats[least].load.load(Relaxed));
        let is_too_much = u64::from(load) * u64::from(ticks_a_second) > u64::from(STOPS_A_SECOND * LOAD_UNIT);
        ((is_too_much || self.is_forced) && difference >= LOAD_UNIT)
            .then(|| (least, f64::from(difference) / f64::from(2 * load)))
    }

    /// Gives the next process its number, and has `send` tell of it before another gets one: the unwinder hears of
    /// processes and threads in order of their numbers.
    pub(super) fn next_process(&self, send: impl FnOnce()) -> ProcessIndex {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let index = numbers.process;
        numbers.process += 1;
        send();
        index
    }

    /// The same for a thread.
    pub(super) fn next_thread(&self, send: impl FnOnce()) -> ThreadIndex {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let index = numbers.thread;
        numbers.thread += 1;
        send();
        index
    }
}

/// How many threads of a process are alive, whoever traces them.
pub(crate) type LiveThreads = Arc<AtomicUsize>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_more_to_do_than_one_can_gives_to_who_has_least() {
        let (crew, _inboxes) = Crew::new(3, false);
        assert_eq!(crew.share(0, 10 * LOAD_UNIT, 1000), None, "10,000 stops a second are fine");
        assert_eq!(crew.share(1, 30 * LOAD_UNIT, 1000), Some((2, 0.5)));
        assert_eq!(crew.share(2, 4 * LOAD_UNIT, 10_000), None, "the one with least has more");
        assert_eq!(crew.share(2, 20 * LOAD_UNIT, 10_000), Some((0, 0.25)));
        let (alone, _inboxes) = Crew::new(1, true);
        assert_eq!(alone.share(0, 1000 * LOAD_UNIT, 1000), None);
    }

    #[test]
    fn an_offer_is_taken_or_withdrawn() {
        let offer = Offer::default();
        assert!(!offer.is_ready_within(0), "nobody took it");
        assert!(!offer.accept(0), "too late");
        let offer = Arc::new(Offer::default());
        let taker = std::thread::spawn({
            let offer = Arc::clone(&offer);
            move || offer.accept(10_000_000_000)
        });
        assert!(offer.is_ready_within(10_000_000_000));
        offer.give();
        assert!(taker.join().unwrap());
    }
}

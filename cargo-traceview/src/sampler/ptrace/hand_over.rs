//! Handing threads over to other tracers, and taking them.

use std::sync::Arc;
use std::time::Duration;

use super::super::event::{Event, Stack, ThreadEnd};
use super::super::proc_fs;
use super::crew::{GIVEN_WITHIN_NS, Given, LOAD_UNIT, Message, Offer};
use super::report::Seen;
use super::sys::{self, Tid};
use super::{LEAD, Relaxed, Tracer, resume};

/// A thread is held for no longer than this until its new tracer is ready.
const READY_WITHIN_NS: i64 = 300_000;

/// After so many ticks it is seen whether others have less to do.
const WINDOW: u32 = 64;

/// A tracer without a thread sees to what there is to do this often.
const IDLE: Duration = Duration::from_millis(20);

/// How much a tracer has to do, and to whom it hands threads over.
pub(super) struct Balance {
    ticks: u32,
    since: i64,
    /// To which seat, and how many.
    giving: Option<(usize, usize)>,
}

impl Balance {
    pub(super) const fn new(now: i64) -> Self {
        Self { ticks: 0, since: now, giving: None }
    }
}

impl Tracer<'_> {
    /// Sees now and then whether others of the crew have less to do. At the start of a tick.
    pub(super) fn balance(&mut self) {
        if self.crew.size() == 1 {
            return;
        }
        self.balance.ticks += 1;
        if self.balance.ticks < WINDOW {
            return;
        }
        let elapsed = (self.tick_started - self.balance.since).max(1);
        let ticks_a_second = u32::try_from(i64::from(WINDOW) * 1_000_000_000 / elapsed).unwrap_or(u32::MAX);
        let load = self.stops_in_window * LOAD_UNIT / WINDOW;
        let share = self.crew.share(self.seat, load, ticks_a_second);
        let awake = self.awake as f64;
        let giving = share.map(|(to, part)| (to, ((awake * part) as usize).max(1)));
        self.balance = Balance { ticks: 0, since: self.tick_started, giving };
        self.stops_in_window = 0;
    }

    /// Whether a thread that is held, and was seen so, is handed over now.
    pub(super) fn is_to_be_given(&self, tid: Tid, seen: &Seen) -> bool {
        self.balance.giving.is_some()
            // Its end must be told to us.
            && tid != self.root
            && (self.crew.can_seize_any() || self.table.pid_of(tid) == Some(self.root))
            // In user code, so that it starts nothing and ends nothing before it is seized.
            && seen.registers.syscall().is_none()
            // Of a process that hides its memory (PR_SET_DUMPABLE) no thread could be seized again.
            && matches!(&seen.stack, Stack::Copied(copied) if copied.len > 0)
            && !self.unannounced.contains(&tid)
            && !self.made_again.iter().any(|(other, _)| *other == tid)
    }

    /// Hands over a thread that is held, or lets it run on if that cannot be. `since` is from when on it was held for that.
    pub(super) fn hand_over(&mut self, tid: Tid, since: i64) {
        let Some((to, left)) = self.balance.giving.take() else {
            resume(tid, 0);
            return;
        };
        let offer = Arc::new(Offer::default());
        self.crew.tell(to, Message::Offer(Arc::clone(&offer)));
        let is_ready = offer.is_ready_within(READY_WITHIN_NS);
        let held_ns = sys::monotonic_ns() - since;
        self.progress.stopped_ns.fetch_add(held_ns.cast_unsigned(), Relaxed);
        if let Some(thread) = self.table.get(tid) {
            thread.stopped_ns += held_ns;
        }
        if !is_ready {
            resume(tid, 0);
            return;
        }
        // What was seen of it until now comes before what the other sees.
        self.flush_all();
        match self.table.release(tid) {
            Some((thread, process)) if sys::detach(tid, 0).is_ok() => {
                let of = thread.process;
                self.crew.tell(to, Message::Thread(Box::new(Given { thread, process })));
                offer.give();
                self.leave_to_others(of);
                self.balance.giving = (left > 1).then_some((to, left - 1));
            }
            // It was killed while it was held, which is yet to be reported.
            Some((thread, process)) => {
                self.table.take(thread, process);
                offer.withdraw();
            }
            None => offer.withdraw(),
        }
    }

    /// Takes a thread that another tracer let go of.
    fn take(&mut self, given: Given) {
        let Given { thread, process } = given;
        if sys::seize(thread.tid).is_ok() {
            let pid = thread.pid;
            self.table.take(thread, process);
            self.seize_newcomers(pid);
            return;
        }
        // It ended between the two.
        process.one_less();
        self.progress.threads.fetch_sub(1, Relaxed);
        let time = Some(sys::monotonic_ns());
        self.send(Event::ThreadEnd(ThreadEnd { thread: thread.index, time, unsampled_ns: 0, usage: None }));
    }

    /// Seizes the threads that one of process `pid` started after one tracer let go of it and before another seized it.
    fn seize_newcomers(&mut self, pid: Tid) {
        let Some(process) = self.table.process_of(pid) else { return };
        let known = self.table.process(process).live.load(Relaxed);
        if !proc_fs::read_status(pid).is_ok_and(|status| status.threads > known) {
            return;
        }
        for tid in proc_fs::threads_of(pid) {
            // One that has a tracer cannot be seized.
            if self.table.get(tid).is_none() && sys::seize(tid).is_ok() {
                self.adopt(tid, sys::monotonic_ns());
            }
        }
    }

    /// Takes what other tracers sent.
    pub(super) fn take_messages(&mut self) {
        while let Ok(message) = self.channels.inbox.try_recv() {
            self.on_message(message);
        }
    }

    pub(super) fn on_message(&mut self, message: Message) {
        match message {
            Message::Offer(offer) => {
                if offer.accept(GIVEN_WITHIN_NS) {
                    self.take_messages();
                }
            }
            Message::Thread(given) => self.take(*given),
            Message::Exec { pid, time } => self.on_exec_elsewhere(pid, time),
            Message::RootExit(exit) => self.root_exit = Some(exit),
            Message::RootStopped(time) => {
                self.own_signals.program_stopped(time);
                self.stop_with_program();
            }
            Message::End => {}
        }
    }

    /// There is no thread: waits for one.
    pub(super) fn await_message(&mut self) {
        // It would come again and again.
        self.alarm.set(i64::MAX);
        self.crew.rest(self.seat);
        if let Ok(message) = self.channels.inbox.recv_timeout(IDLE) {
            self.on_message(message);
        }
        let now = sys::monotonic_ns();
        self.balance = Balance::new(now);
        self.stops_in_window = 0;
        let passed = self.ticker.pass(now);
        if self.seat == LEAD {
            // The others looked.
            self.progress.ticks.fetch_add(passed, Relaxed);
        }
    }
}

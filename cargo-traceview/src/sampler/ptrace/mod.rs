//! The tracer: one thread that holds all traced threads by ptrace, looks at them at each tick, and takes their reports
//! in whatever order they come.
//!
//! The rules that keep the program undisturbed:
//! * Never wait for one given thread. Reports of all threads are taken as they come (`waitpid(-1)`); a
//!   thread that takes long to stop (no CPU free, vfork, an uninterruptible sleep) delays nobody.
//! * One interrupt at a time for each thread, and each report is answered by exactly one resume: with the signal where
//!   the report was a signal, without where it was a stop or event, by `PTRACE_LISTEN` where job control stopped it.
//! * A thread that sleeps is not stopped: its stack is read where it lies, and walked without the registers that only a
//!   stop would show.
//! * In a stop: registers, CPU clock, one copy of the stack. Unwinding happens elsewhere, later.
//! * We trace without `PTRACE_O_EXITKILL`: if we die, the kernel lets go of the program and it runs on.

pub(crate) mod code_watch;
pub(crate) mod crew;
mod cut_calls;
mod hand_over;
mod kin;
mod lifecycle;
mod look;
mod memory;
pub(crate) mod meter;
mod report;
pub(crate) mod sys;

use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use rustc_hash::FxHashSet;
use traceview_core::model::ExitStatus;

use super::clock::Ticker;
use super::event::{Event, Stack};
use super::own_signals::OwnSignals;
use super::spread::Times;
use super::thread_table::{LARGEST_COPY, SMALL_STACK, ThreadTable};
use super::{Options, Progress};
use crate::unwind::deep::DeepRules;
use crew::{AtWork, Crew, Message};
pub(crate) use cut_calls::CutCalls;
use hand_over::Balance;
use sys::{Alarm, SignalSet, Tid};

/// The unwinder is handed this many events at a time,
const BATCH: usize = 128;

/// or what there is after this time: short-lived processes must be looked at while they are there.
const BATCH_NS: i64 = 10_000_000;

/// How long answers to interrupts are waited for without sleeping.
const PATIENCE_NS: i64 = 60_000;

/// When recording ends before the program, answers to interrupts are waited for this long.
const LAST_REPORTS_NS: i64 = 20_000_000;

/// What is due in less than this is not slept for.
const TOO_SOON_NS: i64 = 10_000;

/// Shorter queueing for a CPU is not worth a row.
const SHORTEST_QUEUEING_NS: i64 = 200_000;

/// Stacks that wait for the unwinder may take this much memory, of all tracers together; beyond it samples are lost (and
/// counted).
const IN_FLIGHT_LIMIT: usize = 512 << 20;

/// A copy of a stack that the unwinder is done with.
pub(crate) struct Recycled {
    /// Memory to use again.
    pub(crate) buffer: Vec<u8>,
    /// Whose stack it was.
    pub(crate) tid: Tid,
    /// How many bytes of it unwinding needed.
    pub(crate) used: usize,
    /// Whether it would have needed more.
    pub(crate) ran_out: bool,
    /// Where the memory ends that the stack is in, if unwinding needed all of that, or would have.
    pub(crate) whole_until: Option<u64>,
    /// An address that it would have needed in memory that its stack pointer was not in.
    pub(crate) elsewhere: Option<u64>,
    /// Where copies of other memory start, and whether it read them.
    pub(crate) others: Vec<(u64, bool)>,
    /// Whether libraries were met that the tracer does not know of.
    pub(crate) has_new_libraries: bool,
    /// To walk such stacks where they are, when copying does not do.
    pub(crate) deep: Option<Box<DeepRules>>,
}

/// The tracer's ends of its channels.
pub(crate) struct Channels {
    /// To the unwinder, in batches.
    pub(crate) events: Sender<Vec<Event>>,
    /// Back from it.
    pub(crate) recycled: Receiver<Recycled>,
    /// From other tracers.
    pub(crate) inbox: Receiver<Message>,
}

/// What all tracers of a recording work for.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    /// How to record.
    pub(crate) options: &'a Options,
    /// How far it is.
    pub(crate) progress: &'a Progress,
    /// Signals to the profiler itself.
    pub(crate) signals: &'a SignalSet,
    /// Who works for it.
    pub(crate) crew: &'a Crew,
}

/// The seat of the tracer that has the first process, and hears of signals.
pub(crate) const LEAD: usize = 0;

/// How recording ended.
pub(crate) struct TraceEnd {
    /// How the first program ended; `None` if it runs on.
    pub(crate) root_exit: Option<ExitStatus>,
    /// When recording ended, CLOCK_MONOTONIC ns.
    pub(crate) time: i64,
    /// Threads that run on untraced.
    pub(crate) survivors: usize,
    /// When the first program is to be killed if it runs on, CLOCK_MONOTONIC ns.
    pub(crate) kill_at: i64,
    /// What the ticker counted.
    pub(crate) missed_ticks: u64,
    /// For how long threads were held for a sample.
    pub(crate) stops: Times,
    /// How late the ticks were.
    pub(crate) lateness: Times,
}

impl TraceEnd {
    /// Adds what another tracer of the recording counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.survivors += other.survivors;
        self.missed_ticks = self.missed_ticks.max(other.missed_ticks);
        self.stops.merge(&other.stops);
        self.lateness.merge(&other.lateness);
    }
}

/// See the module's documentation.
pub(crate) struct Tracer<'a> {
    options: &'a Options,
    progress: &'a Progress,
    signals: &'a SignalSet,
    crew: &'a Crew,
    _at_work: AtWork<'a>,
    /// Which of the crew it is.
    seat: usize,
    channels: Channels,
    table: ThreadTable,
    ticker: Ticker,
    alarm: Alarm,
    /// Threads whose creators have not reported them yet. They can be gone by then.
    unannounced: FxHashSet<Tid>,
    root: Tid,
    root_exit: Option<ExitStatus>,
    own_signals: OwnSignals,
    buffers: Vec<Vec<u8>>,
    in_flight: usize,
    tick_started: i64,
    ticks: u32,
    /// The last moment at which no thread waited for its report to be taken.
    nobody_held_at: i64,
    /// When to read what processes use.
    meters_due: i64,
    stops: Times,
    lateness: Times,
    /// Threads that were awake at this tick so far.
    awake: usize,
    /// Whether more threads were awake at the last tick than there are CPUs.
    is_crowded: bool,
    /// Threads that were interrupted at this tick, had a CPU then, and have not answered.
    asked: Vec<Tid>,
    balance: Balance,
    stops_in_window: u32,
    /// Threads whose call was made again, and when its time is over.
    made_again: Vec<(Tid, i64)>,
    patience_pause: u32,
    cpus: usize,
    outbox: Vec<Event>,
    flushed: i64,
    /// Whether what there is for the unwinder is to be handed over at once.
    is_in_a_hurry: bool,
}

impl<'a> Tracer<'a> {
    /// The tracer in `seat` of a crew that traces `root` and what that starts. It works on the calling thread.
    ///
    /// # Errors
    /// When the system has no timer for it.
    pub(crate) fn new(work: Work<'a>, seat: usize, channels: Channels, root: Tid) -> io::Result<Self> {
        let Work { options, progress, signals, crew } = work;
        let now = sys::monotonic_ns();
        let alarm = Alarm::new()?;
        Ok(Self {
            _at_work: crew.begin(seat),
            options,
            progress,
            signals,
            crew,
            seat,
            channels,
            table: ThreadTable::new(sys::file_limit(), crew.size()),
            ticker: Ticker::new(options.rate_hz, now),
            alarm,
            unannounced: FxHashSet::default(),
            root,
            root_exit: None,
            own_signals: OwnSignals::new(root),
            buffers: Vec::new(),
            in_flight: 0,
            tick_started: now,
            ticks: 0,
            nobody_held_at: now,
            meters_due: now,
            stops: Times::default(),
            lateness: Times::default(),
            awake: 0,
            is_crowded: false,
            asked: Vec::new(),
            balance: Balance::new(now),
            stops_in_window: 0,
            made_again: Vec::new(),
            patience_pause: 0,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            outbox: Vec::new(),
            flushed: now,
            is_in_a_hurry: false,
        })
    }

    /// Traces what it is given until recording is over. `first` is the message that it began to work for.
    pub(crate) fn assist(mut self, first: Message) -> io::Result<TraceEnd> {
        self.on_message(first);
        while !self.crew.is_over() {
            if self.work()? == Reports::NobodyLeft {
                self.await_message();
            }
        }
        Ok(self.end(i64::MAX))
    }

    /// Records until the first program, which this thread has seized, ends, or for as long as the options say.
    pub(crate) fn lead(mut self) -> io::Result<TraceEnd> {
        let started = sys::monotonic_ns();
        self.adopt(self.root, started);
        let deadline = |limit: Option<Duration>| {
            limit.map_or(i64::MAX, |limit| started.saturating_add(i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX)))
        };
        let end_at = deadline(self.options.duration);
        let mut kill_at = deadline(self.options.kill_after);
        while self.root_exit.is_none() {
            let now = sys::monotonic_ns();
            if now >= end_at {
                break;
            }
            if now >= kill_at {
                kill_at = i64::MAX;
                let _gone_already = sys::kill(self.root, libc::SIGKILL);
            }
            while let Some(signal) = self.signals.wait(Duration::ZERO) {
                self.own_signals.on(signal, sys::monotonic_ns());
                self.stop_with_program();
            }
            if self.work()? == Reports::NobodyLeft {
                if self.crew.working() == 1 {
                    break;
                }
                // Others have what is left.
                self.await_message();
            }
        }
        self.crew.end(self.seat);
        Ok(self.end(kill_at))
    }

    /// What is to be done now and again. Waits for a report, or until there is something else to do.
    fn work(&mut self) -> io::Result<Reports> {
        let now = sys::monotonic_ns();
        self.take_messages();
        self.take_recycled();
        self.flush(now);
        self.end_overdue_calls(now);
        // Before its exec the child is ours, and no part of the program.
        if self.ticker.is_due(now) && self.progress.running.load(Relaxed) {
            if self.seat == LEAD {
                self.progress.ticks.fetch_add(1, Relaxed);
            }
            self.tick(now);
            self.await_answers();
        }
        if self.root_exit.is_some() { Ok(Reports::AllTaken) } else { self.await_report() }
    }

    fn end(mut self, kill_at: i64) -> TraceEnd {
        let time = sys::monotonic_ns();
        if self.root_exit.is_none() {
            self.take_last_reports(time);
        }
        let survivors = self.finish(time);
        self.flush_all();
        TraceEnd {
            root_exit: self.root_exit,
            time,
            survivors,
            kill_at,
            missed_ticks: self.ticker.missed(),
            stops: self.stops,
            lateness: self.lateness,
        }
    }

    /// Takes the reports that are on their way: the kernel lets go of what is stopped when this thread ends, but does not
    /// mend what a stop did to a system call.
    fn take_last_reports(&mut self, now: i64) {
        self.balance = Balance::new(now);
        while self.table.iter_mut().any(|thread| thread.interrupt.is_some())
            && sys::monotonic_ns() < now + LAST_REPORTS_NS
            && self.take_reports().is_ok_and(|reports| reports != Reports::NobodyLeft)
        {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Waits for the next report, or until there is something else to do.
    fn await_report(&mut self) -> io::Result<Reports> {
        let now = sys::monotonic_ns();
        let calls_end = self.made_again.iter().map(|(_, until)| *until).min().unwrap_or(i64::MAX);
        let due = self.ticker.deadline().min(calls_end);
        let soon = now + BATCH_NS;
        // Far deadlines move with the time, so they are not set each time.
        self.alarm.set(if due < soon { due } else { soon - soon % BATCH_NS });
        if due < sys::monotonic_ns() + TOO_SOON_NS {
            // The alarm could come before the wait begins, and setting it takes long enough for that.
            return Ok(Reports::MoreToCome);
        }
        match sys::await_any() {
            Ok(Some((tid, status))) => {
                self.on_report(tid, status);
                self.take_reports()
            }
            // It waited, so there was none.
            Ok(None) => {
                self.nobody_held_at = now;
                Ok(Reports::AllTaken)
            }
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Ok(Reports::NobodyLeft),
            Err(error) => Err(error),
        }
    }

    /// A running thread answers an interrupt within microseconds, less than it takes to fall asleep and be woken: so look
    /// out for it for that long. Where the CPUs have too much to do for that, it is tried less often.
    fn await_answers(&mut self) {
        // With as many as there are CPUs one of them can only answer when this thread gives up its CPU.
        if self.asked.is_empty() || self.asked.len() >= self.cpus {
            return;
        }
        if self.patience_pause > 0 {
            self.patience_pause -= 1;
            return;
        }
        let until = sys::monotonic_ns() + PATIENCE_NS;
        while !self.asked.is_empty() && self.root_exit.is_none() {
            self.take_answers();
            if sys::monotonic_ns() >= until {
                self.patience_pause = 4;
                break;
            }
        }
    }

    /// Takes the answers of those that were asked at this tick, as far as they came.
    fn take_answers(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let now = sys::monotonic_ns();
        let mut asked = std::mem::take(&mut self.asked);
        let before = asked.len();
        asked.retain(|tid| match sys::wait_traced(*tid) {
            Ok(Some(status)) => {
                self.on_report(*tid, status);
                false
            }
            Ok(None) => true,
            // It is gone; who is told of that takes note of it.
            Err(_) => false,
        });
        if asked.len() == before {
            self.nobody_held_at = now;
        }
        self.asked = asked;
    }

    /// Leaves an event for the unwinder. It is not woken for each: it would take the CPU of the thread that was just
    /// looked at.
    pub(super) fn send(&mut self, event: Event) {
        self.outbox.push(event);
    }

    /// Hands over what was left for the unwinder, when it is enough or has waited for long.
    fn flush(&mut self, now: i64) {
        let is_due = self.outbox.len() >= BATCH || now - self.flushed >= BATCH_NS;
        if is_due || std::mem::take(&mut self.is_in_a_hurry) {
            self.flush_all();
            self.flushed = now;
        }
    }

    pub(super) fn flush_all(&mut self) {
        if !self.outbox.is_empty() {
            // The unwinder goes away only when it panicked; joining it reports that.
            let _unwinder_gone = self.channels.events.send(std::mem::take(&mut self.outbox));
        }
    }

    fn take_recycled(&mut self) {
        while let Ok(recycled) = self.channels.recycled.try_recv() {
            if let Some(thread) = self.table.get(recycled.tid) {
                let (process, pid) = (thread.process, thread.pid);
                thread.stack_need = if recycled.ran_out {
                    LARGEST_COPY
                } else {
                    // Slowly down: a stack that was deep will be deep again.
                    let needed = recycled.used + recycled.used / 4 + 4096;
                    needed.max(thread.stack_need - thread.stack_need / 8).clamp(SMALL_STACK, LARGEST_COPY)
                };
                thread.whole_until = recycled.whole_until.unwrap_or(thread.whole_until);
                thread.windows.note_use(&recycled.others);
                if let Some(address) = recycled.elsewhere {
                    thread.windows.need(address);
                }
                if let Some(deep) = recycled.deep {
                    self.table.process(process).deep = Some(Rc::from(deep));
                }
                if recycled.has_new_libraries {
                    self.see_code(recycled.tid, pid);
                }
            }
            self.keep_buffer(recycled.buffer);
        }
    }
}

/// How it stands with the reports of traced threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reports {
    /// There is none now.
    AllTaken,
    /// There can be more.
    MoreToCome,
    /// Nothing is traced any more.
    NobodyLeft,
}

/// Lets a stopped thread go on. It can be gone by now, killed in its stop: then there is nothing to resume.
fn resume(tid: Tid, signal: i32) {
    let _gone_already = sys::resume(tid, signal);
}

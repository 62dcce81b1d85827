//! The tracer: one thread that holds all traced threads by ptrace, looks at them at each tick, and takes their reports
//! in whatever order they come.
//!
//! The rules that keep the program undisturbed:
//! * Never wait for one given thread. Reports of all threads are taken as they come (`waitpid(-1)` on SIGCHLD); a
//!   thread that takes long to stop (no CPU free, vfork, an uninterruptible sleep) delays nobody.
//! * One interrupt at a time for each thread, and each report is answered by exactly one resume: with the signal where
//!   the report was a signal, without where it was a stop or event, by `PTRACE_LISTEN` where job control stopped it.
//! * A thread that sleeps is not stopped: its stack is read where it lies, and walked without the registers that only a
//!   stop would show.
//! * In a stop: registers, CPU clock, one copy of the stack. Unwinding happens elsewhere, later.
//! * We trace without `PTRACE_O_EXITKILL`: if we die, the kernel lets go of the program and it runs on.

mod lifecycle;
pub(crate) mod sys;

use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use traceview_core::model::ExitStatus;

use super::activity::{Sleep, Step};
use super::arch::{RESTART_SYSCALL, Registers};
use super::clock::Ticker;
use super::event::{Event, Sample, Snapshot, Stack, Wait};
use super::own_signals::OwnSignals;
use super::proc_fs::{self, SchedStat, Whereabouts};
use super::thread_table::{Interrupt, LARGEST_COPY, SMALL_STACK, ThreadTable};
use super::{Options, Progress};
use crate::unwind::deep::DeepRules;
use sys::{SignalSet, Tid, WaitStatus};

/// An unanswered interrupt is sent again after this long, should it have been lost in a way that nobody thought of.
const INTERRUPT_AGAIN_NS: i64 = 50_000_000;

/// The unwinder is handed this many events at a time,
const BATCH: usize = 128;

/// or what there is after this time: short-lived processes must be looked at while they are there.
const BATCH_NS: i64 = 10_000_000;

/// A thread whose CPU the sampler itself takes when it wakes queues for this long, and what it takes to look at it.
const OWN_DELAY_NS: i64 = 30_000;

/// A tick that starts later than this is late.
const LATE_NS: i64 = 100_000;

/// Shorter queueing is not worth a row.
const SHORTEST_QUEUEING_NS: i64 = 200_000;

/// A thread that was held for long, for its stack to be walked or found, is left alone for this many times as long.
const REST_AFTER_LOOK: i64 = 5;

/// At how many threads a tick looks before it takes the reports that came meanwhile.
const LOOKS_BETWEEN_REPORTS: usize = 32;

/// Reports are taken for no longer than this before it is seen to what else there is to do.
const REPORTS_NS: i64 = 10_000_000;

/// How long answers to interrupts are waited for without sleeping.
const PATIENCE_NS: i64 = 25_000;

/// Stacks that wait for the unwinder may take this much memory; beyond it samples are lost (and counted).
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
    /// To walk such stacks where they are, when copying does not do.
    pub(crate) deep: Option<Box<DeepRules>>,
}

/// The tracer's ends of its channels.
pub(crate) struct Channels {
    /// To the unwinder, in batches.
    pub(crate) events: Sender<Vec<Event>>,
    /// Back from it.
    pub(crate) recycled: Receiver<Recycled>,
}

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
    /// How often a thread was there, but could not be looked at.
    pub(crate) hidden_looks: u64,
}

/// See the module's documentation.
pub(crate) struct Tracer<'a> {
    options: &'a Options,
    progress: &'a Progress,
    signals: &'a SignalSet,
    channels: Channels,
    table: ThreadTable,
    ticker: Ticker,
    root: Tid,
    root_exit: Option<ExitStatus>,
    own_signals: OwnSignals,
    buffers: Vec<Vec<u8>>,
    in_flight: usize,
    tick_started: i64,
    hidden_looks: u64,
    unanswered: usize,
    patience_pause: u32,
    outbox: Vec<Event>,
    flushed: i64,
}

impl<'a> Tracer<'a> {
    /// A tracer of `root`, which this thread has seized.
    pub(crate) fn new(
        options: &'a Options,
        progress: &'a Progress,
        signals: &'a SignalSet,
        channels: Channels,
        root: Tid,
    ) -> Self {
        let now = sys::monotonic_ns();
        let mut tracer = Self {
            options,
            progress,
            signals,
            channels,
            table: ThreadTable::new(sys::file_limit()),
            ticker: Ticker::new(options.rate_hz, now),
            root,
            root_exit: None,
            own_signals: OwnSignals::new(root),
            buffers: Vec::new(),
            in_flight: 0,
            tick_started: now,
            hidden_looks: 0,
            unanswered: 0,
            patience_pause: 0,
            outbox: Vec::new(),
            flushed: now,
        };
        tracer.adopt(root, now);
        tracer
    }

    /// Records until the first program ends, or for as long as the options say.
    pub(crate) fn run(mut self) -> io::Result<TraceEnd> {
        let started = sys::monotonic_ns();
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
            self.take_recycled();
            self.flush(now);
            // Before its exec the child is ours, and no part of the program.
            if self.ticker.is_due(now) && self.progress.running.load(Relaxed) {
                self.progress.ticks.fetch_add(1, Relaxed);
                self.tick(now)?;
                self.await_answers()?;
            }
            let reports = self.take_reports()?;
            if reports == Reports::NobodyLeft {
                break;
            }
            if self.root_exit.is_none()
                && reports == Reports::AllTaken
                && let Some(signal) = self.signals.wait(self.ticker.until_due(sys::monotonic_ns()))
            {
                self.own_signals.on(signal, sys::monotonic_ns());
            }
        }
        let time = sys::monotonic_ns();
        let survivors = self.finish(time);
        self.flush_all();
        Ok(TraceEnd {
            root_exit: self.root_exit,
            time,
            survivors,
            kill_at,
            missed_ticks: self.ticker.missed(),
            hidden_looks: self.hidden_looks,
        })
    }

    /// A running thread answers an interrupt within microseconds, less than it takes to fall asleep and be woken: so look
    /// out for it for that long. Where the CPUs have too much to do for that, it is tried less often.
    fn await_answers(&mut self) -> io::Result<()> {
        if self.unanswered == 0 {
            return Ok(());
        }
        if self.patience_pause > 0 {
            self.patience_pause -= 1;
            return Ok(());
        }
        let until = sys::monotonic_ns() + PATIENCE_NS;
        while self.unanswered > 0 {
            if self.take_reports()? == Reports::NobodyLeft {
                break;
            }
            if sys::monotonic_ns() >= until {
                self.patience_pause = 16;
                break;
            }
        }
        Ok(())
    }

    /// Leaves an event for the unwinder. It is not woken for each: it would take the CPU of the thread that was just
    /// looked at.
    fn send(&mut self, event: Event) {
        self.outbox.push(event);
    }

    /// Hands over what was left for the unwinder, when it is enough or has waited for long.
    fn flush(&mut self, now: i64) {
        if self.outbox.len() >= BATCH || now - self.flushed >= BATCH_NS {
            self.flush_all();
            self.flushed = now;
        }
    }

    fn flush_all(&mut self) {
        if !self.outbox.is_empty() {
            // The unwinder goes away only when it panicked; joining it reports that.
            let _unwinder_gone = self.channels.events.send(std::mem::take(&mut self.outbox));
        }
    }

    fn take_recycled(&mut self) {
        while let Ok(recycled) = self.channels.recycled.try_recv() {
            self.in_flight -= recycled.buffer.capacity();
            if let Some(thread) = self.table.get(recycled.tid) {
                let process = thread.process;
                thread.stack_need = if recycled.ran_out {
                    LARGEST_COPY
                } else {
                    // Slowly down: a stack that was deep will be deep again.
                    let needed = recycled.used + recycled.used / 4 + 4096;
                    needed.max(thread.stack_need - thread.stack_need / 8).clamp(SMALL_STACK, LARGEST_COPY)
                };
                if let Some(deep) = recycled.deep {
                    self.table.process(process).deep = Some(Rc::from(deep));
                }
            }
            if self.buffers.len() < 64 {
                self.buffers.push(recycled.buffer);
            }
        }
    }

    // --- looking at threads -------------------------------------------------------------------------------------

    /// Looks at every thread that may have moved since the last tick.
    fn tick(&mut self, now: i64) -> io::Result<()> {
        self.unanswered = 0;
        self.tick_started = now;
        let mut now = now;
        let mut looks = 0_usize;
        for index in self.table.living() {
            let process = self.table.process(index);
            // A process whose clock stands still has no thread that ran: one call tells that of all of them.
            let cpu_ns = sys::process_cpu_ns(process.pid);
            if !process.busy && cpu_ns == Some(process.cpu_ns) {
                continue;
            }
            process.cpu_ns = cpu_ns.unwrap_or(process.cpu_ns);
            let threads = process.threads.clone();
            let mut busy = false;
            for tid in threads {
                busy |= self.look(tid, now);
                looks += 1;
                // Nobody is held while thousands of others are looked at.
                if self.unanswered > 0 && looks.is_multiple_of(LOOKS_BETWEEN_REPORTS) {
                    self.take_reports()?;
                    now = sys::monotonic_ns();
                }
            }
            self.table.process(index).busy = busy;
        }
        Ok(())
    }

    /// Looks at one thread; whether it has to be looked at again even if its process's clock stands still.
    fn look(&mut self, tid: Tid, now: i64) -> bool {
        let Some(thread) = self.table.get(tid) else { return false };
        if let Some(interrupt) = &mut thread.interrupt {
            if now - interrupt.sent > INTERRUPT_AGAIN_NS {
                interrupt.sent = now;
                let _gone_already = sys::interrupt(tid);
            }
            return true;
        }
        if now < thread.rest_until {
            return true;
        }
        if thread.activity.is_stopped() {
            return false;
        }
        // Before its place: if it was not put on a CPU since, that still is its place.
        let sched = thread.schedstat();
        let runs = sched.map(|sched| sched.runs);
        if thread.activity.sleeps_on(runs) {
            return false;
        }
        match thread.whereabouts() {
            None => {
                // A thread that is there, but hides.
                self.hidden_looks += u64::from(sched.is_some());
                true
            }
            Some(Whereabouts::Running) => {
                self.wake(tid, now);
                self.interrupt(tid, sched.map(|sched| sched.wait_ns));
                true
            }
            Some(Whereabouts::Asleep { number, first_argument, sp, pc }) => {
                // A call that a stop interrupted goes on under another number.
                let syscall = if number == Some(RESTART_SYSCALL) { thread.restarted.or(number) } else { number };
                self.asleep(tid, Sleep::new(now, (syscall, first_argument), (sp, pc), runs))
            }
        }
    }

    fn interrupt(&mut self, tid: Tid, queued_before_ns: Option<i64>) {
        let due = self.ticker.last_deadline();
        let Some(thread) = self.table.get(tid) else { return };
        let sent = sys::monotonic_ns();
        if sys::interrupt(tid).is_ok() {
            thread.interrupt = Some(Interrupt { sent, due, queued_before_ns });
            self.unanswered += 1;
        }
    }

    /// The thread was seen asleep; whether it has to be looked at again.
    fn asleep(&mut self, tid: Tid, seen: Sleep) -> bool {
        let Some(thread) = self.table.get(tid) else { return false };
        let (wait, step) = thread.activity.seen_asleep(seen);
        self.send_wait(wait);
        match step {
            Step::LookAgain => true,
            Step::SeeStack => self.see_sleep(tid),
            Step::LeaveAlone => false,
        }
    }

    /// The thread's sleep, if it was in one, is over.
    fn wake(&mut self, tid: Tid, now: i64) {
        let wait = self.table.get(tid).and_then(|thread| thread.activity.wake(now));
        self.send_wait(wait);
    }

    fn send_wait(&mut self, wait: Option<Wait>) {
        if self.options.off_cpu
            && let Some(wait) = wait
        {
            self.send(Event::Wait(wait));
        }
    }

    /// The thread has slept for long enough to see what it sleeps in; whether it has to be looked at again.
    fn see_sleep(&mut self, tid: Tid) -> bool {
        if !self.options.off_cpu {
            return false;
        }
        let Some(thread) = self.table.get(tid) else { return false };
        let index = thread.index;
        let Some(sleep) = thread.activity.sleep() else { return false };
        if sleep.syscall.is_some_and(takes_descriptor) {
            sleep.target = proc_fs::describe_fd(tid, sleep.first_argument);
        }
        if self.in_flight > IN_FLIGHT_LIMIT {
            return false;
        }
        let (syscall, (sp, pc), runs) = (sleep.syscall, sleep.place, sleep.runs);
        let stack = self.copy_stack(tid, sp);
        let Some(thread) = self.table.get(tid) else { return false };
        // If it woke while its stack was copied, the copy is of no moment that ever was.
        let is_whole = thread.runs() == runs;
        thread.activity.stack_seen(is_whole);
        if is_whole {
            self.send(Event::Asleep { thread: index, snapshot: Snapshot { tid, pc, sp, fp: None, syscall, stack } });
        } else {
            self.recycle(stack);
        }
        !is_whole
    }

    // --- taking reports -----------------------------------------------------------------------------------------

    /// Takes the reports that are there, for a limited time: threads can make them as fast as they are answered.
    fn take_reports(&mut self) -> io::Result<Reports> {
        let until = sys::monotonic_ns() + REPORTS_NS;
        while self.root_exit.is_none() {
            match sys::wait_any() {
                Ok(Some((tid, status))) => self.on_report(tid, status),
                Ok(None) => return Ok(Reports::AllTaken),
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(Reports::NobodyLeft),
                Err(error) => return Err(error),
            }
            if sys::monotonic_ns() >= until {
                return Ok(Reports::MoreToCome);
            }
        }
        Ok(Reports::AllTaken)
    }

    fn on_report(&mut self, tid: Tid, status: WaitStatus) {
        let now = sys::monotonic_ns();
        match status {
            WaitStatus::Exited(code) => self.on_gone(tid, now, ExitStatus::Code(code)),
            WaitStatus::Killed(signal) => self.on_gone(tid, now, ExitStatus::Signal(signal)),
            WaitStatus::Signal(signal) => {
                self.meet(tid, now);
                if let Ok(raw) = sys::registers(tid) {
                    wind_back(tid, &Registers::new(raw), Some(signal));
                }
                resume(tid, signal);
            }
            WaitStatus::Event(event) => {
                self.on_event(tid, event, now);
                // The stop of an event takes the place of one that an interrupt asked for; one that is still to come
                // does not come twice.
                if self.table.get(tid).is_some_and(|thread| thread.interrupt.is_some()) {
                    let _gone_already = sys::interrupt(tid);
                }
                resume(tid, 0);
            }
            WaitStatus::Stop(libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => {
                self.meet(tid, now);
                if let Some(thread) = self.table.get(tid) {
                    thread.interrupt = None;
                    let wait = thread.activity.stop(now);
                    self.send_wait(wait);
                }
                let _gone_already = sys::listen(tid);
            }
            WaitStatus::Stop(_) => {
                if self.meet(tid, now) {
                    self.on_stop(tid, now);
                }
            }
        }
    }

    /// Makes sure that `tid` is known: the first report of a new thread can come before that of its creator. False if it
    /// is not to be traced, and was let go.
    fn meet(&mut self, tid: Tid, now: i64) -> bool {
        self.table.get(tid).is_some() || self.adopt(tid, now)
    }

    /// The thread answers an interrupt (or job control lets it go on, or it is new). It is held only for what can be seen
    /// nowhere else; what that means is thought about when it runs again.
    fn on_stop(&mut self, tid: Tid, now: i64) {
        let Some(thread) = self.table.get(tid) else {
            resume(tid, 0);
            return;
        };
        let interrupt = thread.interrupt.take();
        let Some(interrupt) = interrupt else {
            // An interrupt that was sent twice, or the end of a stop by job control, or a new thread. Calls that job control
            // cut short fail without us, too.
            if !thread.activity.is_stopped()
                && let Ok(raw) = sys::registers(tid)
            {
                wind_back(tid, &Registers::new(raw), None);
            }
            // Before it runs again: its next stop must find it awake.
            self.wake(tid, now);
            resume(tid, 0);
            return;
        };
        self.unanswered = self.unanswered.saturating_sub(1);
        let seen = self.see(tid);
        if let Some(seen) = &seen {
            wind_back(tid, &seen.registers, None);
        }
        resume(tid, 0);
        let held = sys::monotonic_ns() - interrupt.sent;
        if let Some(seen) = seen {
            self.digest(tid, seen, interrupt, now, held);
        }
    }

    /// Looks at a thread that is held.
    fn see(&mut self, tid: Tid) -> Option<Seen> {
        let registers = Registers::new(sys::registers(tid).ok()?);
        let sched = self.table.get(tid)?.schedstat();
        let stack = self.see_stack(tid, &registers);
        Some(Seen { registers, sched, stack })
    }

    /// Makes a sample of what was seen of a thread that was held for `held` ns or less.
    fn digest(&mut self, tid: Tid, seen: Seen, interrupt: Interrupt, now: i64, held: i64) {
        let own_queueing = self.own_queueing(&interrupt, now);
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.index;
        let call = seen.registers.syscall();
        if let Some(call) = call.filter(|call| call.goes_on_as_restart()) {
            thread.restarted = Some(call.number);
        }
        let snapshot = Snapshot {
            tid,
            pc: seen.registers.pc(),
            sp: seen.registers.sp(),
            fp: Some(seen.registers.fp()),
            syscall: call.map(|call| call.number),
            stack: seen.stack,
        };
        let queued = queued_since(&interrupt, seen.sched);
        // It is not held while it queues for a CPU on the way to its stop.
        self.progress.stopped_ns.fetch_add((held - queued.min(held)).cast_unsigned(), Relaxed);
        let wait_start = thread.activity.waited_until().max(now - queued);
        if self.in_flight > IN_FLIGHT_LIMIT {
            // What it used goes to its next sample.
            self.progress.lost.fetch_add(1, Relaxed);
            self.recycle(snapshot.stack);
            return;
        }
        if queued > own_queueing {
            // It was ready, but not running when it was to be looked at, so what it is at now is not what used the CPU
            // (it is where it was put off the CPU, or woke up). What it used meanwhile goes to its next sample.
            if self.options.off_cpu && now - wait_start >= SHORTEST_QUEUEING_NS {
                let wait = thread.activity.queued(wait_start, now);
                self.send(Event::Asleep { thread: index, snapshot });
                self.send_wait(wait);
            } else {
                self.recycle(snapshot.stack);
            }
            return;
        }
        let cpu_ns = seen.sched.map(|sched| thread.charge_to(sched));
        if !std::mem::replace(&mut thread.named, true) {
            self.send_name(tid);
        }
        self.progress.samples.fetch_add(1, Relaxed);
        self.send(Event::Sample(Sample { thread: index, time: now, cpu_ns, snapshot }));
    }

    /// For how long a thread can have queued because the sampler took its CPU to look at it. If the sampler itself came
    /// late, then because of what ran on that CPU, and where that was interrupted is no matter of chance.
    fn own_queueing(&self, interrupt: &Interrupt, now: i64) -> i64 {
        if self.tick_started - interrupt.due > LATE_NS { 0 } else { now - interrupt.due + OWN_DELAY_NS }
    }

    /// The stack of a thread that is held: copied, or walked at once if it is too large for that.
    fn see_stack(&mut self, tid: Tid, registers: &Registers) -> Stack {
        let (pc, sp, fp) = (registers.pc(), registers.sp(), registers.fp());
        let copied = self.copy_stack(tid, sp);
        let Stack::Copied { bytes, has_more: true } = &copied else { return copied };
        if bytes.len() < LARGEST_COPY {
            return copied;
        }
        let Some(thread) = self.table.get(tid) else { return copied };
        let process = thread.process;
        let Some(deep) = self.table.process(process).deep.clone() else { return copied };
        let started = sys::monotonic_ns();
        let walk = deep.walk_held(tid, pc, sp, fp);
        let ended = sys::monotonic_ns();
        if let Some(thread) = self.table.get(tid) {
            thread.rest_until = ended + REST_AFTER_LOOK * (ended - started);
        }
        self.recycle(copied);
        Stack::Walked(walk)
    }

    fn recycle(&mut self, stack: Stack) {
        if let Stack::Copied { bytes, .. } = stack {
            self.in_flight -= bytes.capacity();
            self.buffers.push(bytes);
        }
    }

    /// Copies the part of the thread's stack that is in use, as far as it will be needed.
    fn copy_stack(&mut self, tid: Tid, sp: u64) -> Stack {
        const NOTHING: Stack = Stack::Copied { bytes: Vec::new(), has_more: false };
        self.find_stack(tid, sp);
        let Some(thread) = self.table.get(tid) else { return NOTHING };
        let in_use = usize::try_from(thread.stack_range.1.saturating_sub(sp)).unwrap_or(usize::MAX);
        let wanted = if in_use <= SMALL_STACK { in_use } else { in_use.min(thread.stack_need) };
        let mut bytes = self.buffers.pop().unwrap_or_default();
        bytes.resize(wanted, 0);
        let read = sys::read_memory(tid, sp, &mut bytes);
        bytes.truncate(read);
        self.in_flight += bytes.capacity();
        Stack::Copied { bytes, has_more: wanted < in_use }
    }

    /// Finds out which memory the thread's stack is in. Threads come with new stacks, and some change theirs all the time
    /// (coroutines); reading the map of a process that has many takes long, so it is looked up in the last one first.
    fn find_stack(&mut self, tid: Tid, sp: u64) {
        let Some(thread) = self.table.get(tid) else { return };
        let (process, pid, (low, high)) = (thread.process, thread.pid, thread.stack_range);
        let process = self.table.process(process);
        if !process.mapped {
            self.read_maps(tid, pid, sp);
        } else if !(low..high).contains(&sp) {
            match process.writable_around(sp) {
                Some(range) => {
                    if let Some(thread) = self.table.get(tid) {
                        thread.stack_range = range;
                    }
                }
                None => self.read_maps(tid, pid, sp),
            }
        }
    }

    /// Reads the memory map of a thread's process: for the unwinder if it has none yet, and for where `sp` is in. The
    /// longer that takes the longer the thread is left alone, as it may be held meanwhile.
    fn read_maps(&mut self, tid: Tid, pid: Tid, sp: u64) {
        let started = sys::monotonic_ns();
        let Ok(text) = proc_fs::read_thread_file(pid, tid, "maps") else { return };
        let maps = proc_fs::parse_maps(&text);
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.process;
        let process = self.table.process(index);
        process.writable.clear();
        process.writable.extend(maps.iter().filter(|map| map.writable).map(|map| (map.start, map.end)));
        let stack_range = process.writable_around(sp).unwrap_or_default();
        let is_news = !std::mem::replace(&mut process.mapped, true);
        if let Some(thread) = self.table.get(tid) {
            let now = sys::monotonic_ns();
            thread.stack_range = stack_range;
            thread.rest_until = now + REST_AFTER_LOOK * (now - started);
        }
        if is_news {
            self.send(Event::Maps { process: index, tid, time: sys::monotonic_ns(), maps });
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

/// What was seen of a thread that was held.
struct Seen {
    registers: Registers,
    sched: Option<SchedStat>,
    stack: Stack,
}

/// For how long the thread queued for a CPU between when it was to be looked at and when it stopped, all of the wait that
/// was going on then included.
fn queued_since(interrupt: &Interrupt, sched: Option<SchedStat>) -> i64 {
    match (interrupt.queued_before_ns, sched) {
        (Some(before), Some(sched)) => (sched.wait_ns - before).max(0),
        _ => 0,
    }
}

/// Lets a stopped thread go on. It can be gone by now, killed in its stop: then there is nothing to resume.
fn resume(tid: Tid, signal: i32) {
    let _gone_already = sys::resume(tid, signal);
}

/// Makes a call again that fails with EINTR because of us.
///
/// A thread that ran when it was looked at can have entered a call by the time it stops, and calls that the kernel does not
/// redo by itself end then. And of a traced thread even a `signal` that it ignores ends them, because the tracer is told of
/// it. The call is not made again if a signal waits that the program wants to be interrupted by.
fn wind_back(tid: Tid, registers: &Registers, signal: Option<i32>) {
    let Some(wound) = registers.wound_back() else { return };
    let Ok(status) = std::fs::read(format!("/proc/{tid}/status")) else { return };
    let status = proc_fs::parse_status(&String::from_utf8_lossy(&status));
    let is_ignored = signal.is_none_or(|signal| status.ignores(signal));
    if is_ignored && !status.has_signal_waiting() {
        let _gone_already = sys::set_registers(tid, wound.raw());
    }
}

/// Whether the first argument of the call is a file descriptor.
fn takes_descriptor(number: u64) -> bool {
    // read write ioctl pread64 pwrite64 readv writev sendfile accept connect sendto recvfrom sendmsg recvmsg flock fsync
    // fdatasync epoll_wait epoll_pwait accept4 preadv recvmmsg epoll_pwait2
    matches!(
        number,
        0 | 1 | 16..=20 | 40 | 42..=47 | 73..=75 | 232 | 281 | 288 | 295 | 299 | 441
    )
}

//! Taking reports: what a thread that stopped says, and what becomes of it.

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use traceview_core::model::ExitStatus;

use super::super::arch::Registers;
use super::super::event::{Event, Sample, Snapshot, Stack, WaitStack};
use super::super::proc_fs::SchedStat;
use super::super::thread_table::{Interrupt, LastLook};
use super::crew::Message;
use super::look::UNSAMPLED_PERIODS;
use super::sys::{self, Tid, WaitStatus};
use super::{LEAD, Reports, SHORTEST_QUEUEING_NS, Tracer, resume};

/// Reports are taken for no longer than this before it is seen to what else there is to do.
const REPORTS_NS: i64 = 10_000_000;

/// A thread whose CPU the sampler itself takes when it wakes queues for this long, and what it takes to look at it.
const OWN_DELAY_NS: i64 = 30_000;

/// At the first and at this sample of a thread its name is read.
const NAMING_SAMPLES: u8 = 5;

/// A tick that starts later than this is late.
const LATE_NS: i64 = 100_000;

impl Tracer<'_> {
    /// Takes the reports that are there, for a limited time: threads can make them as fast as they are answered.
    pub(super) fn take_reports(&mut self) -> io::Result<Reports> {
        let mut now = sys::monotonic_ns();
        let until = now + REPORTS_NS;
        while self.root_exit.is_none() {
            match sys::wait_any() {
                Ok(Some((tid, status))) => self.on_report(tid, status),
                Ok(None) => {
                    self.nobody_held_at = now;
                    return Ok(Reports::AllTaken);
                }
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(Reports::NobodyLeft),
                Err(error) => return Err(error),
            }
            now = sys::monotonic_ns();
            if now >= until {
                return Ok(Reports::MoreToCome);
            }
        }
        Ok(Reports::AllTaken)
    }

    pub(super) fn on_report(&mut self, tid: Tid, status: WaitStatus) {
        let now = sys::monotonic_ns();
        if let Some(thread) = self.table.get(tid) {
            thread.stops += 1;
        }
        match status {
            WaitStatus::Exited(code) => self.on_gone(tid, now, ExitStatus::Code(code)),
            WaitStatus::Killed(signal) => self.on_gone(tid, now, ExitStatus::Signal(signal)),
            WaitStatus::Signal(signal) => {
                self.meet(tid, now);
                if let Ok(raw) = sys::registers(tid) {
                    self.mend_call(tid, &Registers::new(raw), Some(signal), now);
                }
                resume(tid, signal);
                self.note_held(tid);
            }
            WaitStatus::Event(libc::PTRACE_EVENT_EXIT) => {
                self.meet(tid, now);
                let pid = self.table.get(tid).map(|thread| thread.pid);
                let is_last = self.on_exit(tid, now);
                self.part(tid, pid.filter(|_| is_last), now);
            }
            WaitStatus::Event(event) => {
                self.on_event(tid, event, now);
                let creation = self.see_creation(tid, event);
                // The stop of an event takes the place of one that an interrupt asked for; one that is still to come
                // does not come twice.
                if self.table.get(tid).is_some_and(|thread| thread.interrupt.is_some()) {
                    let _gone_already = sys::interrupt(tid);
                }
                resume(tid, 0);
                self.note_held(tid);
                if let Some(creation) = creation {
                    self.on_creation(tid, creation, now);
                }
            }
            WaitStatus::Stop(libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => {
                self.meet(tid, now);
                self.see_first_stop(tid);
                if let Some(thread) = self.table.get(tid) {
                    thread.interrupt = None;
                    thread.cut.by_job_control = true;
                    let wait = thread.activity.stop(now);
                    self.send_wait(wait);
                }
                let _gone_already = sys::listen(tid);
                self.stop_with_program();
            }
            WaitStatus::Stop(_) => {
                if self.meet(tid, now) {
                    self.see_first_stop(tid);
                    self.on_stop(tid, now);
                }
            }
        }
    }

    /// The thread was held for a report of its own until now.
    fn note_held(&mut self, tid: Tid) {
        if let Some(thread) = self.table.get(tid) {
            thread.held_until = sys::monotonic_ns();
        }
    }

    /// Stops this process if the program is stopped because its terminal stopped the group of both. The lead hears of that
    /// signal, so others tell it.
    pub(super) fn stop_with_program(&mut self) {
        let (root, now) = (self.root, sys::monotonic_ns());
        let is_stopped = self.table.iter_mut().any(|thread| thread.pid == root && thread.activity.is_stopped());
        if self.seat != LEAD {
            if is_stopped {
                self.crew.tell(LEAD, Message::RootStopped(now));
            }
        } else if (is_stopped || self.own_signals.has_program_stopped(now))
            && let Some(signal) = self.own_signals.take_stop(now)
        {
            sys::stop_self(signal);
        }
    }

    /// Makes sure that `tid` is known: the first report of a new thread can come before that of its creator. False if it
    /// is not to be traced, and was let go.
    pub(super) fn meet(&mut self, tid: Tid, now: i64) -> bool {
        if self.table.get(tid).is_some() {
            return true;
        }
        let is_traced = self.adopt(tid, now);
        if is_traced && self.options.follow_children {
            self.unannounced.insert(tid);
        }
        is_traced
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
                self.mend_call(tid, &Registers::new(raw), None, now);
            }
            // Before it runs again: its next stop must find it awake.
            self.wake(tid, now);
            resume(tid, 0);
            return;
        };
        thread.cut.by_job_control = false;
        let seen = self.see(tid);
        if let Some(seen) = &seen {
            self.mend_call(tid, &seen.registers, None, now);
        }
        let is_given = seen.as_ref().is_some_and(|seen| self.is_to_be_given(tid, seen));
        if !is_given {
            resume(tid, 0);
        }
        let resumed = sys::monotonic_ns();
        if let Some(seen) = seen {
            self.digest(tid, seen, interrupt, now, resumed);
        }
        if is_given {
            self.hand_over(tid, resumed);
        }
    }

    /// Looks at a thread that is held.
    fn see(&mut self, tid: Tid) -> Option<Seen> {
        let registers = Registers::new(sys::registers(tid).ok()?);
        let sched = self.table.get(tid)?.schedstat();
        let stack = self.see_stack(tid, &registers);
        Some(Seen { registers, sched, stack })
    }

    /// Makes a sample of what was seen of a thread whose report came at `now`, and that runs again since `resumed`.
    fn digest(&mut self, tid: Tid, seen: Seen, interrupt: Interrupt, now: i64, resumed: i64) {
        let own_queueing = self.own_queueing(&interrupt, now);
        self.check_code(tid);
        let is_out_of_memory = self.is_out_of_memory();
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.index;
        let queued = queued_since(&interrupt, seen.sched);
        // A thread that was in a long system call went on with that after it was interrupted, and one without a CPU queued:
        // until it stopped its use of CPUs and its queueing went on.
        let stopped_at =
            thread.looked.ready_since.zip(seen.sched).map(|(since, sched)| since + sched.cpu_ns + sched.wait_ns);
        let earliest = interrupt.sent.max(self.nobody_held_at);
        let stopped = resumed - stopped_at.map_or(earliest, |at| at.max(earliest)).min(resumed);
        let call = seen.registers.syscall();
        thread.stopped_ns += stopped;
        if let Some(call) = call.filter(|call| call.goes_on_as_restart()) {
            thread.restarted = Some(call.number);
        }
        let snapshot = Snapshot {
            seat: self.seat,
            tid,
            registers: seen.registers.file(),
            was_held: true,
            syscall: seen.registers.running_syscall(),
            stack: seen.stack,
        };
        if let Some(sched) = seen.sched {
            let ready_since = Some(resumed - sched.cpu_ns - sched.wait_ns);
            thread.looked = LastLook { at: now, sched, had_cpu: true, ready_since };
            thread.queued_ns = sched.wait_ns;
        }
        self.progress.stopped_ns.fetch_add(stopped.cast_unsigned(), Relaxed);
        self.stops.add(stopped);
        self.stops_in_window = self.stops_in_window.saturating_add(1);
        let wait_start = thread.activity.waited_until().max(now - queued);
        if is_out_of_memory {
            // What it used goes to its next sample.
            self.progress.lost.fetch_add(1, Relaxed);
            self.recycle(snapshot.stack);
            return;
        }
        let is_long = self.options.off_cpu && now - wait_start >= SHORTEST_QUEUEING_NS;
        // Whose CPU the sampler took is where it was then, however long it took to get one again.
        let stood_still = interrupt.lost_cpu && has_not_run(&interrupt, seen.sched);
        if queued > own_queueing && !stood_still {
            // It was ready, but not running when it was to be looked at, so what it is at now is not what used the CPU
            // (it is where it was put off the CPU, or woke up). What it used meanwhile goes to its next sample.
            if is_long {
                let wait = thread.activity.queued(wait_start, now, WaitStack::Asleep);
                self.send(Event::Asleep { thread: index, snapshot });
                self.send_wait(wait);
            } else {
                self.recycle(snapshot.stack);
            }
            return;
        }
        let unsampled_ns = seen.sched.map_or(0, |sched| sched.cpu_ns - thread.charged.cpu_ns);
        if seen.registers.is_at_start_of_handler() && unsampled_ns < UNSAMPLED_PERIODS * self.ticker.period_ns() {
            // It was held to be given a signal, or had not got a CPU again since, when it was to be looked at.
            self.recycle(snapshot.stack);
            return;
        }
        let cpu_ns = seen.sched.map(|sched| thread.charge_to(sched));
        let time = if stood_still && is_long { wait_start } else { now };
        let wait = (time < now).then(|| thread.activity.queued(time, now, WaitStack::Sample)).flatten();
        if thread.naming_samples < NAMING_SAMPLES {
            thread.naming_samples += 1;
            // The first one can be of a thread that has not come to naming itself yet.
            if matches!(thread.naming_samples, 1 | NAMING_SAMPLES) {
                self.send_name(tid);
            }
        }
        self.progress.samples.fetch_add(1, Relaxed);
        self.send(Event::Sample(Sample { thread: index, time, cpu_ns, snapshot }));
        self.send_wait(wait);
    }

    /// For how long a thread can have queued because the sampler took its CPU to look at it. If the sampler itself came
    /// late, then because of what ran on that CPU, and where that was interrupted is no matter of chance.
    fn own_queueing(&self, interrupt: &Interrupt, now: i64) -> i64 {
        if self.tick_started - interrupt.due > LATE_NS { 0 } else { now - interrupt.due + OWN_DELAY_NS }
    }
}

/// What was seen of a thread that was held.
pub(super) struct Seen {
    pub(super) registers: Registers,
    sched: Option<SchedStat>,
    pub(super) stack: Stack,
}

/// For how long the thread queued for a CPU between when it was to be looked at and when it stopped, all of the wait that
/// was going on then included.
fn queued_since(interrupt: &Interrupt, sched: Option<SchedStat>) -> i64 {
    match (interrupt.before, sched) {
        (Some(before), Some(sched)) => (sched.wait_ns - before.wait_ns).max(0),
        _ => 0,
    }
}

/// Whether the thread, which had no CPU when it was interrupted, was put on one only to stop.
fn has_not_run(interrupt: &Interrupt, sched: Option<SchedStat>) -> bool {
    matches!((interrupt.before, sched), (Some(before), Some(sched)) if sched.runs <= before.runs + 1)
}

//! Looking at threads: who runs, who sleeps, and in what.

use super::super::activity::{Sleep, Step};
use super::super::arch::RESTART_SYSCALL;
use super::super::event::{Event, ProcessIndex, Snapshot, Wait, WaitStack};
use super::super::proc_fs::{SchedStat, Status, Whereabouts};
use super::super::target::Target;
use super::super::thread_table::{Interrupt, LastLook, Place};
use super::sys::{self, Tid};
use super::{SHORTEST_QUEUEING_NS, Tracer};
use crate::unwind::registers::RegisterFile;

/// An unanswered interrupt is sent again after this long, should it have been lost in a way that nobody thought of.
const INTERRUPT_AGAIN_NS: i64 = 50_000_000;

/// At how many threads a tick looks before it sees what time it is.
const LOOKS_BETWEEN_CLOCKS: usize = 8;

/// A tick looks at no more threads after this part of its time.
const LOOKS_PER_PERIOD: i64 = 3;

/// A thread that was found not to have run at this many looks in a row is looked at in turns only.
const LOOKS_UNTIL_FAR: u32 = 32;

/// So many of those are looked at in each tick,
const FAR_AT_ONCE: usize = 4;

/// or if there are many one of so many.
const FAR_TURNS: usize = 64;

/// At every so many ticks it is seen whether others than those looked at used a CPU: the kernel adds up all threads for it.
const TICKS_A_CLOCK: u32 = 4;

/// A thread that used the CPU for longer than so many ticks without being met is met wherever it lost it, or goes on.
pub(super) const UNSAMPLED_PERIODS: i64 = 8;

/// The time between a thread's stop and its next turn on a CPU, and between two readings of clocks.
const CLOCKS_APART_NS: i64 = 100_000;

/// Whether a thread that is ready to run has a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// It has.
    Running,
    /// It has, but did not when the sampler began to look: maybe only because another thread was stopped.
    JustGot,
    /// It had until the sampler itself took it, a moment ago.
    JustLost,
    /// It waits for one.
    Queued,
    /// That it is ready was wrong.
    Asleep,
}

impl Tracer<'_> {
    /// Looks at every thread that may have moved since the last tick.
    pub(super) fn tick(&mut self, now: i64) {
        self.asked.clear();
        self.tick_started = now;
        self.lateness.add(now - self.ticker.last_deadline());
        self.is_crowded = self.crew.awake(self.seat, self.awake) > self.cpus;
        self.balance();
        self.awake = 0;
        let until = now + self.ticker.period_ns() / LOOKS_PER_PERIOD;
        self.read_meters(now);
        let near = self.table.turns(Place::Near);
        self.look_at(Place::Near, near, until);
        let far = self.table.turns(Place::Far);
        self.look_at(Place::Far, (far / FAR_TURNS).max(FAR_AT_ONCE).min(far), until);
        self.ticks = self.ticks.wrapping_add(1);
        if far > FAR_AT_ONCE && self.ticks.is_multiple_of(TICKS_A_CLOCK) {
            self.look_where_cpu_was_used(until);
        }
    }

    /// Looks at the next `count` threads in `place`, or as many as there is time for.
    fn look_at(&mut self, place: Place, count: usize, until: i64) {
        let mut now = sys::monotonic_ns();
        for looks in 1..=count {
            if let Some(tid) = self.table.next(place) {
                let place = self.look(tid, now);
                self.table.place(tid, place);
            }
            // Nobody is held while thousands of others are looked at.
            self.take_answers();
            if looks.is_multiple_of(LOOKS_BETWEEN_CLOCKS) {
                now = sys::monotonic_ns();
                if now >= until {
                    break;
                }
            }
        }
    }

    /// A process's clock tells whether its threads that are not looked at now used a CPU: then it is seen which.
    fn look_where_cpu_was_used(&mut self, until: i64) {
        for index in self.table.with_more_far_than(FAR_AT_ONCE) {
            let process = self.table.process(index);
            let Some(cpu_ns) = sys::process_cpu_ns(process.pid) else { continue };
            let used = cpu_ns - std::mem::replace(&mut process.cpu_ns, cpu_ns);
            let explained = std::mem::take(&mut process.explained_ns);
            // Where nobody else ran its clock stands still, else readings of clocks are some time apart.
            if used <= if explained == 0 { 0 } else { explained + CLOCKS_APART_NS } {
                continue;
            }
            let threads = process.threads.clone();
            for tid in threads {
                if self.table.is_far(tid) {
                    let now = sys::monotonic_ns();
                    if now >= until {
                        break;
                    }
                    if self.look(tid, now) == Place::Near {
                        self.table.place(tid, Place::Near);
                    }
                }
            }
            self.take_answers();
        }
    }

    /// Looks at one thread, and tells how often it is to be looked at from now on.
    fn look(&mut self, tid: Tid, now: i64) -> Place {
        let Some(thread) = self.table.get(tid) else { return Place::Far };
        let (process, before) = (thread.process, thread.looked);
        thread.looked.at = now;
        if let Some(interrupt) = &mut thread.interrupt {
            if now - interrupt.sent > INTERRUPT_AGAIN_NS {
                interrupt.sent = now;
                let _gone_already = sys::interrupt(tid);
            }
            return self.is_awake(process, now - before.at);
        }
        if now < thread.rest_until {
            return self.is_awake(process, now - before.at);
        }
        if thread.activity.is_stopped() {
            return Place::Far;
        }
        // Before its place: if it was not put on a CPU since, that still is its place.
        let sched = thread.schedstat();
        if let Some(sched) = sched {
            thread.looked.sched = sched;
        }
        let unsampled_ns = sched.map_or(0, |sched| sched.cpu_ns - thread.charged.cpu_ns);
        // Each time that this thread was woken by a report it looks next: where reports come without end that would show
        // programs only in the first instructions after them.
        let was_held = thread.held_until > self.ticker.last_deadline();
        if was_held && unsampled_ns < UNSAMPLED_PERIODS * self.ticker.period_ns() {
            return self.is_awake(process, now - before.at);
        }
        let runs = sched.map(|sched| sched.runs);
        if thread.activity.sleeps_on(runs) {
            thread.looked.ready_since = None;
            thread.idle_looks += 1;
            return if thread.idle_looks >= LOOKS_UNTIL_FAR { Place::Far } else { Place::Near };
        }
        thread.idle_looks = 0;
        if let (true, Some(sched), None) = (self.is_crowded, sched, thread.activity.sleep()) {
            let mut turn = turn(before, sched, self.tick_started, || thread.status());
            if turn == Turn::Queued && (before.had_cpu || sched.runs != before.sched.runs) {
                // Its clocks do not count what a hypervisor or interrupts took: that must not add up.
                let until = had_cpu_until(before, sched).unwrap_or(self.tick_started);
                let until = until.max(before.at).min(self.tick_started);
                thread.looked.ready_since = Some(until - sched.cpu_ns - sched.wait_ns);
                if unsampled_ns > UNSAMPLED_PERIODS * self.ticker.period_ns() {
                    turn = Turn::JustLost;
                }
            }
            thread.looked.had_cpu = matches!(turn, Turn::Running | Turn::JustGot);
            if turn != Turn::Asleep {
                self.note_queueing(tid, sched, now);
                if matches!(turn, Turn::Running | Turn::JustLost) {
                    self.interrupt(tid, Some(sched), turn == Turn::JustLost);
                }
                return self.is_awake(process, now - before.at);
            }
        }
        self.look_at_place(tid, now, sched, before)
    }

    /// Looks at where a thread is, and interrupts it if it runs.
    fn look_at_place(&mut self, tid: Tid, now: i64, sched: Option<SchedStat>, before: LastLook) -> Place {
        let Some(thread) = self.table.get(tid) else { return Place::Far };
        let process = thread.process;
        match thread.whereabouts() {
            None => {
                // A thread that is there, but hides.
                if sched.is_some() {
                    self.send(Event::Hidden { process });
                }
                self.is_awake(process, now - before.at)
            }
            Some(Whereabouts::Running) => {
                thread.looked.had_cpu = true;
                self.wake(tid, now);
                self.interrupt(tid, sched, false);
                self.is_awake(process, now - before.at)
            }
            Some(Whereabouts::Asleep { number, arguments, sp, pc }) => {
                let seen_by = sys::monotonic_ns();
                // A call that a stop interrupted goes on under another number.
                let syscall = if number == Some(RESTART_SYSCALL) { thread.restarted.or(number) } else { number };
                let runs = sched.map(|sched| sched.runs);
                thread.looked.had_cpu = false;
                thread.looked.ready_since = None;
                let used = sched.map_or(0, |sched| sched.cpu_ns - before.sched.cpu_ns);
                self.table.process(process).explained_ns += used;
                self.watch_call(tid, now, (syscall, arguments), (sp, pc), runs);
                self.asleep(tid, Sleep::new((now, seen_by), (syscall, arguments), (sp, pc), runs));
                Place::Near
            }
        }
    }

    /// A thread is awake, and can have used a CPU for so long since it was looked at before.
    fn is_awake(&mut self, process: ProcessIndex, since_ns: i64) -> Place {
        self.awake += 1;
        self.table.process(process).explained_ns += since_ns;
        Place::Near
    }

    fn interrupt(&mut self, tid: Tid, before: Option<SchedStat>, lost_cpu: bool) {
        let due = self.ticker.last_deadline();
        let Some(thread) = self.table.get(tid) else { return };
        let sent = sys::monotonic_ns();
        if sys::interrupt(tid).is_ok() {
            thread.interrupt = Some(Interrupt { sent, due, before, lost_cpu });
            // One that has no CPU can only answer when this thread gives up its own.
            if !lost_cpu {
                self.asked.push(tid);
            }
        }
    }

    /// Makes a wait of the time that the thread queued for a CPU, up to the turn that it had or has.
    fn note_queueing(&mut self, tid: Tid, sched: SchedStat, now: i64) {
        let Some(thread) = self.table.get(tid) else { return };
        let queued = sched.wait_ns - std::mem::replace(&mut thread.queued_ns, sched.wait_ns);
        let start = thread.activity.waited_until().max(now - queued);
        if now - start >= SHORTEST_QUEUEING_NS {
            let wait = thread.activity.queued(start, now, WaitStack::Sample);
            self.send_wait(wait);
        }
    }

    /// The thread was seen asleep.
    fn asleep(&mut self, tid: Tid, seen: Sleep) {
        let Some(thread) = self.table.get(tid) else { return };
        let (wait, step) = thread.activity.seen_asleep(seen);
        self.send_wait(wait);
        if step == Step::SeeStack {
            self.see_sleep(tid);
        }
    }

    /// The thread's sleep, if it was in one, is over.
    pub(super) fn wake(&mut self, tid: Tid, now: i64) {
        self.table.bring_near(tid);
        let wait = self.table.get(tid).and_then(|thread| thread.activity.wake(now));
        self.send_wait(wait);
        self.end_call(tid);
    }

    pub(super) fn send_wait(&mut self, wait: Option<Wait>) {
        if self.options.off_cpu
            && let Some(wait) = wait
        {
            self.send(Event::Wait(wait));
        }
    }

    /// The thread has slept for long enough to see what it sleeps in.
    fn see_sleep(&mut self, tid: Tid) {
        if !self.options.off_cpu {
            return;
        }
        let is_out_of_memory = self.is_out_of_memory();
        let Some(thread) = self.table.get(tid) else { return };
        if !std::mem::replace(&mut thread.named_asleep, true) {
            self.send_name(tid);
        }
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.index;
        let Some(sleep) = thread.activity.sleep() else { return };
        let (syscall, arguments, (sp, pc), runs) = (sleep.syscall, sleep.arguments, sleep.place, sleep.runs);
        let read = |address, buffer: &mut [u8]| sys::read_memory(tid, address, buffer);
        let target = syscall.and_then(|syscall| Target::of(tid, syscall, arguments, read));
        sleep.has_target = target.is_some();
        if let Some(target) = target {
            self.send(Event::Target { thread: index, tid, target });
        }
        if is_out_of_memory {
            return;
        }
        let stack = self.copy_asleep(tid, sp, runs);
        if let Some(thread) = self.table.get(tid) {
            thread.activity.stack_seen(stack.is_some());
        }
        if let Some(stack) = stack {
            self.check_code(tid);
            let registers = RegisterFile::in_call(pc, sp, arguments);
            let snapshot = Snapshot { seat: self.seat, tid, registers, was_held: false, syscall, stack };
            self.send(Event::Asleep { thread: index, snapshot });
        }
    }
}

/// Tells of a thread that was not seen asleep whether it has a CPU now. `before` is what was known of it, `sched` what the
/// scheduler counted by now; the sampler woke at `tick_started`.
///
/// The kernel tells that nowhere directly, and a thread without a CPU must not be interrupted: it would be stopped as soon
/// as it gets one, with all that it queued for lost. Who neither had a CPU before nor was put on one since has none. Of
/// others it is counted: a thread has a CPU if it was put on one once more than it left one.
fn turn(before: LastLook, sched: SchedStat, tick_started: i64, status: impl FnOnce() -> Option<Status>) -> Turn {
    let arrived = sched.runs != before.sched.runs;
    if !arrived && !before.had_cpu {
        return Turn::Queued;
    }
    let Some(status) = status() else { return Turn::Asleep };
    if !status.is_ready {
        return Turn::Asleep;
    }
    // Each moment since then was one of use or of queueing, and of use there was none before it got this CPU.
    let got_at =
        before.ready_since.filter(|_| !before.had_cpu).map(|since| since + before.sched.cpu_ns + sched.wait_ns);
    if status.has_cpu(sched.runs) {
        return if got_at.is_some_and(|got| got > tick_started) { Turn::JustGot } else { Turn::Running };
    }
    // It has none any more. If it had one up to when the sampler woke, it was the sampler that took it.
    let had_until = had_cpu_until(before, sched);
    if had_until.is_some_and(|until| until + CLOCKS_APART_NS >= tick_started) { Turn::JustLost } else { Turn::Queued }
}

/// Until when a thread that has no CPU now had one.
fn had_cpu_until(before: LastLook, sched: SchedStat) -> Option<i64> {
    before.ready_since.map(|since| since + sched.cpu_ns + sched.wait_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn sched(cpu_ns: i64, wait_ns: i64, runs: u64) -> SchedStat {
        SchedStat { cpu_ns, wait_ns, runs }
    }

    fn status(is_ready: bool, switches: u64) -> Option<Status> {
        Some(Status { is_ready, voluntary_switches: switches, ..Status::default() })
    }

    /// Stopped at 10 ms, with 1 ms of CPU time and 2 ms of queueing by then.
    const BEFORE: LastLook = LastLook {
        at: 10 * MS,
        sched: SchedStat { cpu_ns: MS, wait_ns: 2 * MS, runs: 5 },
        had_cpu: true,
        ready_since: Some(7 * MS),
    };

    #[test]
    fn a_thread_that_had_no_cpu_and_was_put_on_none_is_not_even_asked() {
        let before = LastLook { had_cpu: false, ..BEFORE };
        assert_eq!(turn(before, BEFORE.sched, 11 * MS, || unreachable!("it costs")), Turn::Queued);
    }

    #[test]
    fn who_was_put_on_a_cpu_once_more_than_left_one_has_one() {
        assert_eq!(turn(BEFORE, BEFORE.sched, 11 * MS, || status(true, 4)), Turn::Running);
        let came = LastLook { had_cpu: false, ..BEFORE };
        let now = sched(MS, 2 * MS, 6);
        assert_eq!(turn(came, now, 11 * MS, || status(true, 5)), Turn::Running);
        assert_eq!(turn(came, now, 11 * MS, || status(false, 6)), Turn::Asleep);
        assert_eq!(turn(came, now, 11 * MS, || None), Turn::Asleep, "its place shows more");
    }

    #[test]
    fn who_got_its_cpu_after_the_tick_began_is_left_alone() {
        let queued = LastLook { had_cpu: false, ..BEFORE };
        let now = sched(MS, 3 * MS + 20_000, 6);
        assert_eq!(turn(queued, now, 11 * MS, || status(true, 5)), Turn::JustGot);
        assert_eq!(turn(queued, now, 12 * MS, || status(true, 5)), Turn::Running);
        assert_eq!(turn(BEFORE, BEFORE.sched, 10 * MS, || status(true, 4)), Turn::Running, "it had it all the time");
    }

    #[test]
    fn who_ran_until_the_sampler_woke_lost_its_cpu_to_that() {
        let off = || status(true, 5);
        assert_eq!(turn(BEFORE, sched(MS + 950_000, 2 * MS, 5), 11 * MS, off), Turn::JustLost);
        assert_eq!(turn(BEFORE, sched(MS + 500_000, 2 * MS, 5), 11 * MS, off), Turn::Queued);
        let queued_first = sched(MS + 100_000, 2 * MS + 850_000, 6);
        assert_eq!(turn(BEFORE, queued_first, 11 * MS, || status(true, 6)), Turn::JustLost);
        let unknown = LastLook { ready_since: None, ..BEFORE };
        assert_eq!(turn(unknown, queued_first, 11 * MS, || status(true, 6)), Turn::Queued);
    }
}

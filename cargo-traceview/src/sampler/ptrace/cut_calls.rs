//! System calls that end by EINTR because the thread is traced.
//!
//! A thread that ran when it was looked at can have entered a call by the time it stops, and some calls are not gone on
//! with by the kernel then. And of a traced thread even a signal that it ignores ends them, because the tracer is told of
//! it. Such a call is made again; as that starts its timeout anew, it is ended by us when its time is over.

use super::super::arch::{Registers, Timeout};
use super::super::proc_fs::{self, Status};
use super::Tracer;
use super::sys::{self, Tid};

/// A call that was made again sooner than this after it began need not be watched: its timeout is as good as its own.
const NEGLIGIBLE_NS: i64 = 200_000;

/// To make a call again, and to be woken from it, takes less CPU time than this.
const WAY_INTO_SLEEP_NS: i64 = 300_000;

/// What is known of the calls of one thread that stops cut short.
#[derive(Default, Debug)]
pub(crate) struct CutCalls {
    /// Whether job control stopped the thread, and no SIGCONT was seen since: EINTR is due to that, as without us.
    pub(crate) by_job_control: bool,
    /// The call that was made again last.
    again: Option<MadeAgain>,
}

/// A call that was made again.
#[derive(Debug)]
struct MadeAgain {
    registers: Box<Registers>,
    /// When it began for the program.
    since: i64,
    /// When its time is over; never for some.
    until: i64,
    /// CPU time and switches of the thread when it was last held in the call.
    cpu_ns: i64,
    gave_up: u64,
    lost_cpu: u64,
}

impl MadeAgain {
    /// When the call began, if the thread that is held with these registers still is in it: since it was held before it can
    /// only have gone to sleep and woken. If it came back from the call instead, and made one like it, it did so without a
    /// sleep: leaving out its CPU time keeps that one from ending early.
    fn since(&self, registers: &Registers, status: &Status, cpu_ns: i64) -> Option<i64> {
        let used_ns = cpu_ns - self.cpu_ns;
        let is_same = status.voluntary_switches <= self.gave_up + 2
            && (used_ns < WAY_INTO_SLEEP_NS || status.involuntary_switches == self.lost_cpu)
            && registers.are_of_call(&self.registers);
        is_same.then_some(self.since + used_ns)
    }

    fn held_again(&mut self, status: &Status, cpu_ns: i64) {
        self.cpu_ns = cpu_ns;
        (self.gave_up, self.lost_cpu) = (status.voluntary_switches, status.involuntary_switches);
    }
}

impl Tracer<'_> {
    /// The thread is held, by `signal` or else by us: if that makes its call fail, the call is made again. Not so if a
    /// signal waits that the program wants to be interrupted by.
    pub(super) fn mend_call(&mut self, tid: Tid, registers: &Registers, signal: Option<i32>, now: i64) {
        let Some(call) = registers.syscall() else { return };
        let is_cut_short = registers.is_cut_short();
        let is_made_again =
            registers.is_made_again() && self.table.get(tid).is_some_and(|thread| thread.cut.again.is_some());
        if !is_cut_short && !is_made_again && !call.goes_on_as_restart() {
            return;
        }
        let Ok(status) = proc_fs::read_status(tid) else { return };
        let mended = if is_made_again {
            self.still_in_it(tid, registers, &status);
            return;
        } else if is_cut_short {
            if !self.is_ours(tid, &status, signal) || status.has_signal_waiting() {
                self.still_in_it(tid, registers, &status);
                return;
            }
            self.again_or_over(tid, registers, &status, now)
        } else if status.is_filtered
            && signal.is_none_or(|signal| status.ignores(signal))
            && !status.has_signal_waiting()
        {
            // The program never makes the call by which the kernel would go on, and its filter may forbid it.
            registers.made_again()
        } else {
            return;
        };
        let _gone_already = sys::set_registers(tid, mended.raw());
    }

    /// Whether the thread would not have stopped without us.
    fn is_ours(&mut self, tid: Tid, status: &Status, signal: Option<i32>) -> bool {
        match signal {
            None => true,
            Some(libc::SIGCONT) => {
                let ends_stop =
                    self.table.get(tid).is_some_and(|thread| std::mem::take(&mut thread.cut.by_job_control));
                !ends_stop && !status.catches(libc::SIGCONT)
            }
            Some(signal) => status.ignores(signal),
        }
    }

    /// The registers with which the call is made again, or is over because its time is.
    fn again_or_over(&mut self, tid: Tid, registers: &Registers, status: &Status, now: i64) -> Registers {
        let again = registers.made_again();
        let Some((timeout, result)) = registers.timeout() else { return again };
        let Some(timeout_ns) = in_ns(tid, timeout) else { return again };
        let Some(thread) = self.table.get(tid) else { return again };
        let Some(sched) = thread.schedstat() else { return again };
        let since_before = thread.cut.again.as_ref().and_then(|before| before.since(registers, status, sched.cpu_ns));
        let place = (registers.sp(), registers.pc());
        let asleep_since = thread.activity.sleep().and_then(|sleep| sleep.slept_at(place, sched.runs));
        let since = since_before.or(asleep_since).unwrap_or(now);
        let until = since.saturating_add(timeout_ns);
        if now >= until {
            thread.cut.again = None;
            return registers.with_result(result);
        }
        let mut again_from_now =
            MadeAgain { registers: Box::new(*registers), since, until, cpu_ns: 0, gave_up: 0, lost_cpu: 0 };
        again_from_now.held_again(status, sched.cpu_ns);
        thread.cut.again = Some(again_from_now);
        if now - since > NEGLIGIBLE_NS {
            self.made_again.retain(|(other, _)| *other != tid);
            self.made_again.push((tid, until));
        }
        again
    }

    /// The thread is held once more in a call that is made again.
    fn still_in_it(&mut self, tid: Tid, registers: &Registers, status: &Status) {
        if let Some(thread) = self.table.get(tid)
            && let Some(sched) = thread.schedstat()
            && let Some(again) = &mut thread.cut.again
            && let Some(since) = again.since(registers, status, sched.cpu_ns)
        {
            again.since = since;
            again.held_again(status, sched.cpu_ns);
        }
    }

    /// Interrupts the threads that still are in a call whose time is over; when they stop it ends.
    pub(super) fn end_overdue_calls(&mut self, now: i64) {
        let mut index = 0;
        while let Some(&(tid, until)) = self.made_again.get(index) {
            if now < until {
                index += 1;
                continue;
            }
            self.made_again.swap_remove(index);
            let Some(thread) = self.table.get(tid) else { continue };
            // It went to sleep, and was not woken since; else its call is over, or it is about to report.
            let sleeps_on = thread.cut.again.as_ref().is_some_and(|again| {
                again.until == until
                    && proc_fs::read_status(tid).is_ok_and(|status| status.voluntary_switches == again.gave_up + 1)
            });
            if sleeps_on {
                let _gone_already = sys::interrupt(tid);
            }
        }
    }
}

fn in_ns(tid: Tid, timeout: Timeout) -> Option<i64> {
    match timeout {
        Timeout::Milliseconds(milliseconds) => Some(i64::from(milliseconds) * 1_000_000),
        Timeout::Timespec(address) => {
            let mut bytes = [0; 16];
            if sys::read_memory(tid, address, &mut bytes) < bytes.len() {
                return None;
            }
            let word = |at: usize| bytes[at..at + 8].try_into().ok().map(i64::from_ne_bytes);
            word(0)?.checked_mul(1_000_000_000)?.checked_add(word(8)?)
        }
    }
}

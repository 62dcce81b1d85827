//! What a thread is doing as far as the sampler knows, and the waits that follow from it. No I/O: the tracer says what it
//! saw and does what is asked for, so each step is tested on literal input.

use traceview_core::model::WaitReason;

use super::event::{ThreadIndex, Wait, WaitStack};

/// At how many ticks in a row a thread must be seen in one place before the sleep counts as a wait. The kernel's counters
/// have the shorter ones.
const SETTLED: u32 = 2;

/// What a thread is doing, and until when its waits are known.
#[derive(Debug)]
pub(crate) struct Activity {
    thread: ThreadIndex,
    state: State,
    waited_until: i64,
}

#[derive(Debug)]
enum State {
    /// It runs, or it is not known yet that it doesn't.
    Running,
    Asleep(Sleep),
    /// Job control stopped it.
    Stopped {
        since: i64,
    },
}

/// A sleep that is not over.
#[derive(Debug)]
pub(crate) struct Sleep {
    /// When it was first seen.
    since: i64,
    /// From when on it has not run, for certain: later than `since` if it woke, and sleeps in the same place again.
    unbroken_since: i64,
    /// The system call.
    pub(crate) syscall: Option<u64>,
    /// The call's first arguments.
    pub(crate) arguments: [u64; 3],
    /// Stack pointer and program counter: while these stay, it has not moved.
    pub(crate) place: (u64, u64),
    /// How often it was put on a CPU before; `None` if that cannot be read.
    pub(crate) runs: Option<u64>,
    /// Whether the unwinder was told what it waits on.
    pub(crate) has_target: bool,
    ticks: u32,
    seen: bool,
}

impl Sleep {
    /// A sleep that was seen by a look that began at `since`, and that read its place before `seen_by`.
    pub(crate) const fn new(
        (since, seen_by): (i64, i64),
        (syscall, arguments): (Option<u64>, [u64; 3]),
        place: (u64, u64),
        runs: Option<u64>,
    ) -> Self {
        Self {
            since,
            unbroken_since: seen_by,
            syscall,
            arguments,
            place,
            runs,
            has_target: false,
            ticks: 1,
            seen: false,
        }
    }

    const fn is_settled(&self) -> bool {
        self.ticks >= SETTLED
    }

    /// A moment that it slept through, if the thread was put on a CPU `runs` times by now, the last time only to stop in
    /// `place`: its call began no later.
    pub(crate) fn slept_at(&self, place: (u64, u64), runs: u64) -> Option<i64> {
        (self.place == place && self.runs.is_some_and(|before| runs == before + 1)).then_some(self.unbroken_since)
    }

    /// Whether another look at the thread found the same: its place, and what it waits on, which the first argument says.
    fn is_like(&self, other: &Self) -> bool {
        (self.place, self.arguments[0]) == (other.place, other.arguments[0])
    }
}

/// What is to be done when a thread was seen asleep.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It must be seen for longer.
    LookAgain,
    /// It has slept for long enough: see what it sleeps in.
    SeeStack,
    /// Nothing until it runs.
    LeaveAlone,
}

impl Activity {
    /// A thread that was just met.
    pub(crate) const fn new(thread: ThreadIndex) -> Self {
        Self { thread, state: State::Running, waited_until: 0 }
    }

    /// Until when its waits are known.
    pub(crate) const fn waited_until(&self) -> i64 {
        self.waited_until
    }

    /// Whether job control stopped it.
    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self.state, State::Stopped { .. })
    }

    /// The sleep that it is in.
    pub(crate) const fn sleep(&mut self) -> Option<&mut Sleep> {
        match &mut self.state {
            State::Asleep(sleep) => Some(sleep),
            State::Running | State::Stopped { .. } => None,
        }
    }

    /// Whether it sleeps, and has not run since that was settled if it was put on a CPU `runs` times by now.
    pub(crate) fn sleeps_on(&self, runs: Option<u64>) -> bool {
        matches!(&self.state, State::Asleep(sleep) if sleep.is_settled() && runs.is_some() && runs == sleep.runs)
    }

    /// It was seen asleep as `seen` says: the wait that ended before, and what to do.
    pub(crate) fn seen_asleep(&mut self, seen: Sleep) -> (Option<Wait>, Step) {
        let now = seen.since;
        let sleep = match &mut self.state {
            State::Asleep(sleep) if sleep.is_like(&seen) => sleep,
            _ => {
                let wait = self.wake(now);
                self.state = State::Asleep(seen);
                return (wait, Step::LookAgain);
            }
        };
        sleep.ticks = sleep.ticks.saturating_add(1);
        let ran = std::mem::replace(&mut sleep.runs, seen.runs) != seen.runs;
        if ran {
            sleep.unbroken_since = seen.unbroken_since;
        }
        match sleep.ticks {
            ..SETTLED => (None, Step::LookAgain),
            SETTLED => (None, Step::SeeStack),
            // It woke, ran, and sleeps in the same place again: two waits with one stack.
            _ if ran => {
                let wait = finished(self.thread, sleep, now);
                sleep.since = now;
                (self.note(wait), Step::LeaveAlone)
            }
            _ => (None, Step::LeaveAlone),
        }
    }

    /// What it sleeps in was looked at; `is_whole` unless it woke meanwhile: then it is not settled any more.
    pub(crate) fn stack_seen(&mut self, is_whole: bool) {
        if let State::Asleep(sleep) = &mut self.state {
            if is_whole {
                sleep.seen = true;
            } else {
                sleep.ticks = 0;
            }
        }
    }

    /// It runs: the wait that it was in.
    pub(crate) fn wake(&mut self, now: i64) -> Option<Wait> {
        let wait = match std::mem::replace(&mut self.state, State::Running) {
            State::Asleep(sleep) if sleep.is_settled() => finished(self.thread, &sleep, now),
            State::Stopped { since } => Wait { start: since, ..of(self.thread, WaitReason::Stopped, now) },
            State::Asleep(_) | State::Running => return None,
        };
        self.note(wait)
    }

    /// Job control stops it: the wait that it was in.
    pub(crate) fn stop(&mut self, now: i64) -> Option<Wait> {
        let wait = self.wake(now);
        self.state = State::Stopped { since: now };
        wait
    }

    /// It was ready, but had no CPU, from `start` until `now`.
    pub(crate) fn queued(&mut self, start: i64, now: i64, stack: WaitStack) -> Option<Wait> {
        self.note(Wait { start, stack, ..of(self.thread, WaitReason::Runnable, now) })
    }

    /// Waits do not overlap: what began before the last one ended is none.
    fn note(&mut self, wait: Wait) -> Option<Wait> {
        let before = std::mem::replace(&mut self.waited_until, wait.end);
        (wait.start >= before).then_some(wait)
    }
}

const fn of(thread: ThreadIndex, reason: WaitReason, end: i64) -> Wait {
    Wait { thread, start: end, end, reason, syscall: None, has_target: false, stack: WaitStack::Unseen }
}

fn finished(thread: ThreadIndex, sleep: &Sleep, now: i64) -> Wait {
    Wait {
        start: sleep.since,
        syscall: sleep.syscall,
        has_target: sleep.has_target,
        stack: if sleep.seen { WaitStack::Asleep } else { WaitStack::Unseen },
        ..of(thread, WaitReason::Blocked, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: (u64, u64) = (0x7000, 0x1000);
    const THERE: (u64, u64) = (0x7000, 0x2000);

    fn sleep(since: i64, place: (u64, u64), runs: u64) -> Sleep {
        Sleep::new((since, since), (Some(202), [0; 3]), place, Some(runs))
    }

    fn span(wait: Option<Wait>) -> Option<(i64, i64, WaitReason, bool)> {
        wait.map(|wait| (wait.start, wait.end, wait.reason, wait.stack != WaitStack::Unseen))
    }

    /// A thread that fell asleep at 10 and is settled.
    fn settled() -> Activity {
        let mut activity = Activity::new(0);
        assert_eq!(activity.seen_asleep(sleep(10, HERE, 5)), (None, Step::LookAgain));
        assert_eq!(activity.seen_asleep(sleep(11, HERE, 5)), (None, Step::SeeStack));
        activity.stack_seen(true);
        activity
    }

    #[test]
    fn a_settled_sleep_is_a_wait_when_it_is_over() {
        let mut activity = settled();
        assert!(activity.sleeps_on(Some(5)) && !activity.sleeps_on(Some(6)) && !activity.sleeps_on(None));
        assert_eq!(activity.seen_asleep(sleep(12, HERE, 5)), (None, Step::LeaveAlone));
        assert_eq!(span(activity.wake(20)), Some((10, 20, WaitReason::Blocked, true)));
        assert_eq!(activity.wake(21), None, "it is awake");
        assert_eq!(activity.waited_until(), 20);
    }

    #[test]
    fn a_sleep_seen_once_is_no_wait() {
        let mut activity = Activity::new(0);
        activity.seen_asleep(sleep(10, HERE, 5));
        assert!(!activity.sleeps_on(Some(5)), "it must be looked at again");
        assert_eq!(activity.wake(11), None);
    }

    #[test]
    fn a_thread_that_runs_between_sleeps_in_one_place_has_several_waits_with_one_stack() {
        let mut activity = settled();
        let (wait, step) = activity.seen_asleep(sleep(20, HERE, 6));
        assert_eq!((span(wait), step), (Some((10, 20, WaitReason::Blocked, true)), Step::LeaveAlone));
        assert_eq!(span(activity.wake(30)), Some((20, 30, WaitReason::Blocked, true)));
    }

    #[test]
    fn another_place_is_another_sleep_whose_stack_is_not_known_yet() {
        let mut activity = settled();
        let (wait, step) = activity.seen_asleep(sleep(20, THERE, 6));
        assert_eq!((span(wait), step), (Some((10, 20, WaitReason::Blocked, true)), Step::LookAgain));
        assert_eq!(activity.seen_asleep(sleep(21, THERE, 6)), (None, Step::SeeStack));
        assert_eq!(span(activity.wake(30)), Some((20, 30, WaitReason::Blocked, false)), "it woke before it was seen");
    }

    #[test]
    fn the_same_call_on_something_else_is_another_sleep() {
        let mut activity = settled();
        let elsewhere = Sleep { arguments: [7, 0, 0], ..sleep(20, HERE, 6) };
        let (wait, step) = activity.seen_asleep(elsewhere);
        assert_eq!((span(wait), step), (Some((10, 20, WaitReason::Blocked, true)), Step::LookAgain));
    }

    #[test]
    fn a_thread_that_woke_while_its_stack_was_read_is_looked_at_until_it_settles_again() {
        let mut activity = settled();
        activity.stack_seen(false);
        assert!(!activity.sleeps_on(Some(5)));
        assert_eq!(activity.seen_asleep(sleep(12, HERE, 6)), (None, Step::LookAgain));
        assert_eq!(activity.seen_asleep(sleep(13, HERE, 6)), (None, Step::SeeStack));
    }

    #[test]
    fn a_call_in_the_same_place_as_the_one_before_began_when_that_was_over() {
        let mut activity = Activity::new(0);
        activity.seen_asleep(sleep(10, HERE, 5));
        let stop_in = |activity: &mut Activity, place, runs| activity.sleep()?.slept_at(place, runs);
        assert_eq!(stop_in(&mut activity, HERE, 6), Some(10));
        assert_eq!(stop_in(&mut activity, THERE, 6), None, "it stops elsewhere");
        assert_eq!(stop_in(&mut activity, HERE, 7), None, "it ran in between");
        activity.seen_asleep(sleep(11, HERE, 6));
        assert_eq!(stop_in(&mut activity, HERE, 7), Some(11), "the first call can have ended between 10 and 11");
        let begun_late = Sleep::new((12, 15), (Some(202), [0; 3]), HERE, Some(8));
        activity.seen_asleep(begun_late);
        assert_eq!(stop_in(&mut activity, HERE, 9), Some(15), "the look took from 12 to 15");
    }

    #[test]
    fn a_job_control_stop_ends_a_sleep_and_is_a_wait_of_its_own() {
        let mut activity = settled();
        assert_eq!(span(activity.stop(20)), Some((10, 20, WaitReason::Blocked, true)));
        assert!(activity.is_stopped());
        assert_eq!(span(activity.wake(30)), Some((20, 30, WaitReason::Stopped, false)));
        assert!(!activity.is_stopped());
    }

    #[test]
    fn waits_do_not_overlap() {
        let mut activity = settled();
        assert_eq!(span(activity.queued(15, 18, WaitStack::Sample)), Some((15, 18, WaitReason::Runnable, true)));
        assert_eq!(activity.wake(20), None, "it began before the queueing ended");
        assert_eq!(activity.waited_until(), 20);
        assert_eq!(activity.queued(19, 25, WaitStack::Sample), None);
    }
}

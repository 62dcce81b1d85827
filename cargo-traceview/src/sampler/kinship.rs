//! Whom a thread waits for: which calls end with the end of another thread or process, and from when to when a thread was
//! seen in one. No I/O: what has to be looked up is looked up by the caller, so each step is tested on literal input.

use super::ptrace::sys::Tid;

const FUTEX: u64 = 202;
const WAIT4: u64 = 61;
const WAITID: u64 = 247;

/// In the second argument of `futex`: which operation it is.
const FUTEX_OPERATION: u64 = 0x7f;
const FUTEX_WAIT: u64 = 0;
const FUTEX_WAIT_BITSET: u64 = 9;
const FUTEX_PRIVATE: u64 = 0x80;

/// The first argument of `waitid`.
const P_ALL: u64 = 0;
const P_PID: u64 = 1;
const P_PGID: u64 = 2;
const P_PIDFD: u64 = 3;

/// Whose end a call waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Awaited {
    /// The end of the thread of its process whose descriptor (`struct pthread`) holds this address.
    ThreadAt(u64),
    /// This process's.
    Process(Tid),
    /// That of any child.
    AnyChild,
    /// That of a child of this process group.
    Group(Tid),
}

/// What must be looked up to know whose end a call waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Nothing.
    Known(Awaited),
    /// Which process this descriptor of the waiting thread is of.
    ProcessOf {
        /// The descriptor.
        descriptor: u64,
    },
    /// The process group of the waiting thread.
    OwnGroup,
}

impl Asked {
    /// Whose end system call `number` waits for, if that is what it does.
    ///
    /// Of the waits on a futex those are meant that the kernel itself ends when a thread is gone: it does so for any
    /// process that shares the memory, so the C library waits for it as for a shared one. Locks are private.
    pub(crate) fn of(number: Option<u64>, [first, second, _]: [u64; 3]) -> Option<Self> {
        let known = |awaited| Some(Self::Known(awaited));
        match number? {
            FUTEX => {
                let waits = matches!(second & FUTEX_OPERATION, FUTEX_WAIT | FUTEX_WAIT_BITSET);
                if waits && second & FUTEX_PRIVATE == 0 { known(Awaited::ThreadAt(first)) } else { None }
            }
            // A pid is an `int`: the register's upper half says nothing.
            WAIT4 => match pid(first) {
                -1 => known(Awaited::AnyChild),
                0 => Some(Self::OwnGroup),
                pid @ 1.. => known(Awaited::Process(pid)),
                group => known(Awaited::Group(group.checked_neg()?)),
            },
            WAITID => match (first & 0xffff_ffff, pid(second)) {
                (P_ALL, _) => known(Awaited::AnyChild),
                (P_PID, pid) => known(Awaited::Process(pid)),
                (P_PGID, 0) => Some(Self::OwnGroup),
                (P_PGID, group) => known(Awaited::Group(group)),
                (P_PIDFD, _) => Some(Self::ProcessOf { descriptor: second & 0xffff_ffff }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A pid as the kernel takes it: the lower 32 bits.
const fn pid(argument: u64) -> Tid {
    argument as u32 as Tid
}

/// A call that waits for another's end, as it was seen at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sighting {
    /// What it waits for, as far as its arguments say.
    pub(crate) asked: Asked,
    /// Its arguments: those of two calls differ unless they wait for the same.
    pub(crate) arguments: [u64; 3],
    /// How often the thread was put on a CPU before; `None` if that cannot be read.
    pub(crate) runs: Option<u64>,
}

/// The call that a thread is in, if it waits for another's end.
#[derive(Debug, Default)]
pub(crate) struct CallWatch {
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    sighting: Sighting,
    awaited: Option<Awaited>,
    since: i64,
    seen: bool,
}

/// A call that is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EndedCall {
    /// Whose end it waited for.
    pub(crate) awaited: Awaited,
    /// When the thread was first seen in it.
    pub(crate) start: i64,
    /// When it was first seen out of it.
    pub(crate) end: i64,
    /// Whether its stack was seen.
    pub(crate) seen: bool,
}

impl CallWatch {
    /// The thread was seen asleep in `sighting`, or in another call. The call that ended before, if one did; and whether
    /// this one is new, so that [`CallWatch::settle`] must say the rest. `since` is a moment before this look, `now` gives
    /// one after it.
    pub(crate) fn seen(
        &mut self,
        sighting: Option<Sighting>,
        since: i64,
        now: impl FnOnce() -> i64,
    ) -> (Option<EndedCall>, bool) {
        if let (Some(current), Some(sighting)) = (&self.current, &sighting)
            && current.sighting == *sighting
        {
            return (None, false);
        }
        let ended = self.over(now);
        self.current = sighting.map(|sighting| Current { sighting, awaited: None, since, seen: false });
        (ended, self.current.is_some())
    }

    /// Whose end the call waits for (`None` if that cannot be told), and whether its stack was seen.
    pub(crate) fn settle(&mut self, awaited: Option<Awaited>, seen: bool) {
        if let Some(current) = &mut self.current {
            (current.awaited, current.seen) = (awaited, seen);
        }
    }

    /// The thread runs, or is gone: the call that it was in.
    pub(crate) fn over(&mut self, now: impl FnOnce() -> i64) -> Option<EndedCall> {
        let Current { awaited, since, seen, .. } = self.current.take()?;
        Some(EndedCall { awaited: awaited?, start: since, end: now(), seen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_say_whose_end_they_wait_for() {
        let minus = |value: i64| value.cast_unsigned();
        let known = |awaited| Some(Asked::Known(awaited));
        let cases = [
            ((202, [0x7000, 0x109, 42]), known(Awaited::ThreadAt(0x7000))),
            ((202, [0x7000, 0, 42]), known(Awaited::ThreadAt(0x7000))),
            // A private one is a lock's, and a wake waits for nothing.
            ((202, [0x7000, 0x189, 2]), None),
            ((202, [0x7000, 1, 1]), None),
            ((61, [42, 0, 0]), known(Awaited::Process(42))),
            ((61, [minus(-1), 0, 0]), known(Awaited::AnyChild)),
            ((61, [0xffff_ffff, 0, 0]), known(Awaited::AnyChild)),
            ((61, [0, 0, 0]), Some(Asked::OwnGroup)),
            ((61, [minus(-42), 0, 0]), known(Awaited::Group(42))),
            ((61, [0x8000_0000, 0, 0]), None),
            ((247, [0, 7, 0]), known(Awaited::AnyChild)),
            ((247, [1, 42, 0]), known(Awaited::Process(42))),
            ((247, [2, 42, 0]), known(Awaited::Group(42))),
            ((247, [2, 0, 0]), Some(Asked::OwnGroup)),
            ((247, [3, 5, 0]), Some(Asked::ProcessOf { descriptor: 5 })),
            ((247, [9, 5, 0]), None),
            ((0, [42, 0, 0]), None),
        ];
        for ((number, arguments), expected) in cases {
            assert_eq!(Asked::of(Some(number), arguments), expected, "{number} {arguments:x?}");
        }
        assert_eq!(Asked::of(None, [0; 3]), None);
    }

    fn join(tid: u64, runs: u64) -> Option<Sighting> {
        let arguments = [0x7000, 0x109, tid];
        Some(Sighting { asked: Asked::of(Some(202), arguments)?, arguments, runs: Some(runs) })
    }

    const AT: Awaited = Awaited::ThreadAt(0x7000);

    #[test]
    fn a_call_lasts_from_when_it_was_first_seen_to_when_the_thread_was_seen_elsewhere() {
        let mut watch = CallWatch::default();
        assert_eq!(watch.seen(join(5, 1), 10, || 10), (None, true));
        watch.settle(Some(AT), true);
        assert_eq!(watch.seen(join(5, 1), 11, || 11), (None, false));
        assert_eq!(watch.over(|| 12), Some(EndedCall { awaited: AT, start: 10, end: 12, seen: true }));
        assert_eq!(watch.over(|| 13), None);
    }

    #[test]
    fn another_argument_or_a_run_in_between_is_another_call() {
        let mut watch = CallWatch::default();
        watch.seen(join(5, 1), 10, || 10);
        watch.settle(Some(AT), false);
        let first = EndedCall { awaited: AT, start: 10, end: 11, seen: false };
        assert_eq!(watch.seen(join(6, 1), 11, || 11), (Some(first), true));
        watch.settle(Some(AT), true);
        let second = EndedCall { start: 11, end: 14, seen: true, ..first };
        assert_eq!(watch.seen(join(6, 2), 14, || 14), (Some(second), true));
        watch.settle(Some(AT), true);
        assert_eq!(watch.seen(None, 20, || 20), (Some(EndedCall { start: 14, end: 20, ..second }), false));
    }

    #[test]
    fn a_call_of_which_it_is_not_known_whom_it_waits_for_says_nothing() {
        let mut watch = CallWatch::default();
        watch.seen(join(5, 1), 10, || 10);
        watch.settle(None, true);
        assert_eq!(watch.over(|| 12), None);
    }
}

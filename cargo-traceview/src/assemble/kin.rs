//! What belongs together: a creator and what it started, an end and who waited for it. Pure look-ups in what was recorded.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::unwind::{Awaited, Origin, ProcessRecord, RawCall, ThreadRecord};

const EXIT: u64 = 60;
const EXIT_GROUP: u64 = 231;

/// An address in a thread's descriptor is less than this above its start.
const DESCRIPTOR_SIZE: u64 = 0x1000;

/// A row of a table of a thread: the thread, and the row.
pub(super) type RowOf = (usize, usize);

/// What belongs together. Threads and processes are rows of the recording.
#[derive(Debug, Default)]
pub(super) struct Kin {
    /// For each thread the spawn that started it.
    pub(super) spawn_of: FxHashMap<usize, RowOf>,
    /// For each spawn the thread that it started.
    pub(super) started_by: FxHashMap<RowOf, usize>,
    /// For each thread that ended the call that waited for it.
    pub(super) join_of: FxHashMap<usize, RowOf>,
    /// For each process that ended the call that waited for it.
    pub(super) wait_of: FxHashMap<usize, RowOf>,
    /// For each process that ended the thread that ended it, or was its last.
    pub(super) last_thread: FxHashMap<usize, usize>,
    /// What each thread that made its process run another program is since then.
    pub(super) became: FxHashMap<usize, usize>,
}

impl Kin {
    /// Finds all of it.
    pub(super) fn of(processes: &[ProcessRecord], threads: &[ThreadRecord]) -> Self {
        let mut kin = Self::default();
        for (index, thread) in threads.iter().enumerate() {
            kin.became.extend(thread.execs.iter().filter_map(|exec| Some((exec.former?, index))));
        }
        kin.find_last_threads(processes, threads);
        kin.link_spawns(threads);
        kin.link_calls(processes, threads);
        kin
    }

    /// Whether a thread's end is one that others wait for: it ended by itself, and its process went on.
    pub(super) fn can_be_joined(&self, threads: &[ThreadRecord], thread: usize) -> bool {
        let record = &threads[thread];
        let is_own = record.exit.is_some_and(|exit| exit.call == Some(EXIT));
        record.end.is_some() && is_own && self.last_thread.get(&record.process) != Some(&thread)
    }

    fn find_last_threads(&mut self, processes: &[ProcessRecord], threads: &[ThreadRecord]) {
        for (index, thread) in threads.iter().enumerate() {
            let Some(end) = thread.end else { continue };
            if processes[thread.process].end.is_none() || self.became.contains_key(&index) {
                continue;
            }
            // Who asked for the process's end comes before who was only there for longest.
            let rank = |thread: &ThreadRecord, end: i64| match thread.exit.and_then(|exit| exit.call) {
                Some(EXIT_GROUP) => (1, -end),
                _ => (0, end),
            };
            let last = self.last_thread.entry(thread.process).or_insert(index);
            let other = &threads[*last];
            if rank(thread, end) >= rank(other, other.end.unwrap_or(i64::MIN)) {
                *last = index;
            }
        }
    }

    /// Ids are used again, so that of several lives with one id the nearest in time belongs to a spawn.
    fn link_spawns(&mut self, threads: &[ThreadRecord]) {
        let mut lives: FxHashMap<i32, Vec<usize>> = FxHashMap::default();
        for (index, thread) in threads.iter().enumerate() {
            if matches!(thread.origin, Origin::Created(_)) {
                lives.entry(thread.tid).or_default().push(index);
            }
        }
        let mut pairs = Vec::new();
        for (creator, record) in threads.iter().enumerate() {
            for (row, spawn) in record.spawns.iter().enumerate() {
                for life in lives.get(&spawn.child).into_iter().flatten() {
                    pairs.push((spawn.time.abs_diff(threads[*life].start), (creator, row), *life));
                }
            }
        }
        pairs.sort_unstable();
        for (_, spawn, life) in pairs {
            if !self.started_by.contains_key(&spawn) && !self.spawn_of.contains_key(&life) {
                self.started_by.insert(spawn, life);
                self.spawn_of.insert(life, spawn);
            }
        }
    }

    fn link_calls(&mut self, processes: &[ProcessRecord], threads: &[ThreadRecord]) {
        let mut waiters: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (index, thread) in threads.iter().enumerate() {
            if !thread.calls.is_empty() {
                waiters.entry(thread.process).or_default().push(index);
            }
        }
        let mut taken = FxHashSet::default();
        // In order of time: what ended first released a call that would take any of several.
        let mut ends: Vec<(i64, Ended)> = Vec::new();
        for (index, thread) in threads.iter().enumerate() {
            if let Some(end) = thread.end.filter(|_| self.can_be_joined(threads, index)) {
                ends.push((end, Ended::Thread(index)));
            }
        }
        for (index, process) in processes.iter().enumerate() {
            if let Some(end) = process.end {
                ends.push((end, Ended::Process(index)));
            }
        }
        ends.sort_unstable();
        for (time, ended) in ends {
            let in_process = match ended {
                Ended::Thread(thread) => Some(threads[thread].process),
                Ended::Process(process) => processes[process].parent,
            };
            let waiters = in_process.and_then(|process| waiters.get(&process)).map_or(&[][..], |waiters| waiters);
            let found = waiters
                .iter()
                .filter_map(|waiter| {
                    let row = call_at(&threads[*waiter], time)?;
                    let call = &threads[*waiter].calls[row];
                    let exactness = fits(call.awaited, ended, processes, threads)?;
                    (!taken.contains(&(*waiter, row))).then_some((exactness, call.start, (*waiter, row)))
                })
                .min();
            if let Some((_, _, call)) = found {
                taken.insert(call);
                match ended {
                    Ended::Thread(thread) => self.join_of.insert(thread, call),
                    Ended::Process(process) => self.wait_of.insert(process, call),
                };
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ended {
    Thread(usize),
    Process(usize),
}

/// The call that a thread was in at `time`, unless it never came out of it.
fn call_at(thread: &ThreadRecord, time: i64) -> Option<usize> {
    let row = thread.calls.partition_point(|call| call.start <= time).checked_sub(1)?;
    let call: &RawCall = &thread.calls[row];
    let was_killed_in_it = thread.end.is_some_and(|end| call.end >= end)
        && !matches!(thread.exit.and_then(|exit| exit.call), Some(EXIT | EXIT_GROUP));
    (time <= call.end && !was_killed_in_it).then_some(row)
}

/// Whether a call waits for this end; the smaller the more it means just this one.
fn fits(awaited: Awaited, ended: Ended, processes: &[ProcessRecord], threads: &[ThreadRecord]) -> Option<u8> {
    match (awaited, ended) {
        (Awaited::ThreadAt(address), Ended::Thread(thread)) => {
            let descriptor = threads[thread].exit?.thread_pointer;
            address.checked_sub(descriptor).is_some_and(|offset| offset < DESCRIPTOR_SIZE).then_some(0)
        }
        (Awaited::Process(pid), Ended::Process(process)) => (processes[process].pid == pid).then_some(0),
        (Awaited::Group(group), Ended::Process(process)) => (processes[process].group == Some(group)).then_some(1),
        (Awaited::AnyChild, Ended::Process(_)) => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use traceview_core::model::ExitStatus;

    use super::*;
    use crate::unwind::{RawExec, RawExit, RawSpawn, SpawnKind};

    fn process(pid: i32, parent: Option<usize>, end: Option<i64>) -> ProcessRecord {
        ProcessRecord {
            pid,
            parent,
            name: String::new(),
            command_line: Vec::new(),
            start: 0,
            end,
            exit: end.map(|_| ExitStatus::Code(0)),
            group: Some(pid),
            usage: Vec::new(),
            hidden_looks: 0,
        }
    }

    fn thread(process: usize, tid: i32, (start, end): (i64, Option<i64>), call: u64) -> ThreadRecord {
        let descriptor = 0x10_0000 * u64::try_from(tid).unwrap();
        ThreadRecord {
            process,
            tid,
            name: String::new(),
            start,
            end,
            usage: None,
            samples: Vec::new(),
            waits: Vec::new(),
            origin: Origin::Created(None),
            spawns: Vec::new(),
            execs: Vec::new(),
            exit: end.map(|_| RawExit { call: Some(call), thread_pointer: descriptor, stack: None }),
            calls: Vec::new(),
        }
    }

    fn spawn(time: i64, child: i32) -> RawSpawn {
        RawSpawn { time, child, how: SpawnKind::Clone, stack: None }
    }

    fn call(awaited: Awaited, start: i64, end: i64) -> RawCall {
        RawCall { awaited, start, end, stack: None }
    }

    #[test]
    fn a_spawn_belongs_to_the_nearest_life_of_its_id() {
        let mut threads = vec![
            thread(0, 1, (0, None), 0),
            // Started before its creator reported it.
            thread(0, 7, (99, Some(150)), EXIT),
            thread(0, 7, (5001, Some(5100)), EXIT),
            thread(0, 8, (6000, None), 0),
        ];
        threads[0].spawns = vec![spawn(100, 7), spawn(5000, 7), spawn(7000, 9)];
        threads[3].origin = Origin::Present;
        let kin = Kin::of(&[process(1, None, None)], &threads);
        assert_eq!((kin.started_by.get(&(0, 0)), kin.started_by.get(&(0, 1))), (Some(&1), Some(&2)));
        assert_eq!((kin.spawn_of.len(), kin.started_by.len()), (2, 2), "nothing is known of 9, and nobody started 8");
    }

    #[test]
    fn a_join_belongs_to_the_exit_that_it_was_asleep_for() {
        let at = |tid: u64| Awaited::ThreadAt(0x10_0000 * tid + 0x2d0);
        let mut threads = vec![
            thread(0, 1, (0, None), 0),
            thread(0, 2, (0, Some(100)), EXIT),
            thread(0, 3, (0, Some(200)), EXIT),
            // Not asleep for this one yet when it ended.
            thread(0, 4, (0, Some(300)), EXIT),
            // This one did not end by itself.
            thread(0, 5, (0, Some(400)), 202),
        ];
        threads[0].calls = vec![
            call(at(2), 50, 101),
            call(at(3), 101, 250),
            call(at(4), 301, 310),
            call(at(5), 350, 500),
            call(Awaited::AnyChild, 500, 600),
        ];
        let kin = Kin::of(&[process(1, None, None)], &threads);
        assert_eq!((kin.join_of.get(&1), kin.join_of.get(&2)), (Some(&(0, 0)), Some(&(0, 1))));
        assert_eq!(kin.join_of.len(), 2);
        assert!(kin.can_be_joined(&threads, 3) && !kin.can_be_joined(&threads, 4));
    }

    #[test]
    fn a_wait_belongs_to_the_process_that_it_can_mean() {
        let processes = [
            process(1, None, None),
            process(2, Some(0), Some(100)),
            process(3, Some(0), Some(110)),
            process(4, Some(0), Some(120)),
            process(5, Some(1), Some(90)),
            process(6, Some(0), Some(130)),
        ];
        let mut threads = vec![thread(0, 1, (0, None), 0), thread(0, 10, (0, None), 0), thread(0, 11, (0, None), 0)];
        for pid in 2..7 {
            let index = usize::try_from(pid - 1).unwrap();
            threads.push(thread(index, pid, (0, processes[index].end), EXIT_GROUP));
        }
        threads[0].calls = vec![call(Awaited::AnyChild, 10, 135)];
        threads[1].calls = vec![call(Awaited::Process(3), 10, 140)];
        threads[2].calls = vec![call(Awaited::Group(4), 10, 140)];
        let kin = Kin::of(&processes, &threads);
        // The first to end takes the call that would take any; 5 is not its child, 6 found nobody waiting.
        let expected = [(1, (0, 0)), (2, (1, 0)), (3, (2, 0))];
        assert_eq!(kin.wait_of, expected.into_iter().collect());
    }

    #[test]
    fn who_was_killed_while_it_waited_was_not_released() {
        let processes = [process(1, None, Some(101)), process(2, Some(0), Some(100))];
        let mut threads = vec![thread(0, 1, (0, Some(101)), 61), thread(1, 2, (0, Some(100)), EXIT_GROUP)];
        threads[0].calls = vec![call(Awaited::Process(2), 10, 101)];
        assert!(Kin::of(&processes, &threads).wait_of.is_empty());
        // A shell that ended by itself at once, before it was looked at again, was.
        threads[0].exit = threads[0].exit.map(|exit| RawExit { call: Some(EXIT_GROUP), ..exit });
        assert_eq!(Kin::of(&processes, &threads).wait_of.len(), 1);
    }

    #[test]
    fn the_thread_that_ends_a_process_is_who_asked_for_it_or_else_the_last() {
        let processes = [process(1, None, Some(100)), process(2, None, Some(100)), process(3, None, None)];
        let mut threads = vec![
            thread(0, 1, (0, Some(99)), 202),
            thread(0, 2, (0, Some(98)), EXIT_GROUP),
            thread(1, 3, (0, Some(50)), EXIT),
            thread(1, 4, (0, Some(99)), EXIT),
            // What it was before an exec did not end.
            thread(1, 5, (0, Some(100)), EXIT),
            thread(2, 6, (0, Some(50)), EXIT),
        ];
        threads[3].execs = vec![RawExec { time: 0, command_line: Vec::new(), former: Some(4), stack: None }];
        let kin = Kin::of(&processes, &threads);
        assert_eq!(kin.last_thread, [(0, 1), (1, 3)].into_iter().collect());
        assert_eq!(kin.became, [(4, 3)].into_iter().collect());
    }
}

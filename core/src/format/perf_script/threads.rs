//! Threads: their names, and the rows of what was seen of them.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::model::{OsId, Process, ProcessId, ProfileBuilder, StackId, StringId, Time};

/// A sample, or something else that happened at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub time: Time,
    pub stack: Option<StackId>,
    /// Row of [`Events`](super::events::Events).
    pub event: u32,
    pub period: Option<i64>,
    /// What a tracepoint told.
    pub text: Option<StringId>,
}

/// What tells threads apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    /// By ids; the process may not be known.
    Id(Option<i64>, i64),
    /// By name, where no ids are printed.
    Name(StringId),
}

#[derive(Debug)]
pub(super) struct ThreadRows {
    pub key: Key,
    pub name: StringId,
    pub earlier_names: Vec<(Time, StringId)>,
    pub rows: Vec<Row>,
    /// Whether the name is a stand-in for one that was not known yet.
    is_nameless: bool,
}

/// All threads in order of first use.
pub(super) struct Threads {
    /// How many there may be.
    most: usize,
    index: FxHashMap<Key, usize>,
    threads: Vec<ThreadRows>,
    process_of: FxHashMap<i64, i64>,
}

impl Threads {
    /// None so far, and at most so many.
    pub(super) fn new(most: usize) -> Self {
        Self { most, index: FxHashMap::default(), threads: Vec::new(), process_of: FxHashMap::default() }
    }

    /// Notes that a thread belongs to a process.
    pub(super) fn belongs(&mut self, tid: i64, pid: i64) {
        self.process_of.insert(tid, pid);
    }

    /// The thread with these ids, which is called `comm` from now on; `None` if it is one too many.
    pub(super) fn named(
        &mut self,
        (pid, tid): (Option<i64>, Option<i64>),
        comm: &[u8],
        time: Time,
        builder: &mut ProfileBuilder,
    ) -> Option<&mut ThreadRows> {
        let name = match comm {
            b"" => builder.string("[unknown]"),
            _ => builder.string(&String::from_utf8_lossy(comm)),
        };
        let key = tid.map_or(Key::Name(name), |tid| Key::Id(pid.or_else(|| self.process_of.get(&tid).copied()), tid));
        // `perf` writes `:4711` before it knows better.
        let is_nameless =
            comm.is_empty() || comm.strip_prefix(b":").is_some_and(|id| id.iter().all(u8::is_ascii_digit));
        let row = match self.index.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if self.threads.len() >= self.most => return None,
            Entry::Vacant(vacant) => {
                let (earlier_names, rows) = (Vec::new(), Vec::new());
                self.threads.push(ThreadRows { key, name, earlier_names, rows, is_nameless });
                *vacant.insert(self.threads.len() - 1)
            }
        };
        let thread = &mut self.threads[row];
        if thread.name != name && !is_nameless {
            let is_later = thread.earlier_names.last().is_none_or(|(last, _)| *last <= time);
            if !thread.is_nameless && is_later {
                thread.earlier_names.push((time, thread.name));
            }
            (thread.name, thread.is_nameless) = (name, false);
        }
        Some(thread)
    }

    /// The threads that something was seen of, those of a process one after the other, with their processes.
    pub(super) fn finish(self, builder: &mut ProfileBuilder) -> Vec<(ProcessId, ThreadRows)> {
        let mut known: FxHashMap<Option<i64>, ProcessId> = FxHashMap::default();
        let mut threads: Vec<(ProcessId, ThreadRows)> = Vec::new();
        for thread in self.threads.into_iter().filter(|thread| !thread.rows.is_empty()) {
            let pid = match thread.key {
                Key::Id(pid, _) => pid,
                Key::Name(_) => None,
            };
            let process = *known.entry(pid).or_insert_with(|| add_process(pid, thread.name, builder));
            if thread.is_main() {
                builder.process_mut(process).name = thread.name;
            }
            threads.push((process, thread));
        }
        threads.sort_by_key(|(process, _)| process.index());
        threads
    }
}

impl ThreadRows {
    pub(super) fn is_main(&self) -> bool {
        matches!(self.key, Key::Id(Some(pid), tid) if pid == tid)
    }

    pub(super) fn tid(&self) -> OsId {
        match self.key {
            Key::Id(_, tid) => OsId::Number(tid),
            Key::Name(_) => OsId::Text("?".into()),
        }
    }
}

fn add_process(pid: Option<i64>, name: StringId, builder: &mut ProfileBuilder) -> ProcessId {
    let pid = pid.map_or_else(|| OsId::Text("?".into()), OsId::Number);
    builder.add_process(Process::new(pid, name))
}

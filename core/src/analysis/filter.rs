//! What of a profile is looked at, and what is counted of it.

use std::ops::Range;

use crate::model::{LabelSetId, OsId, Profile, SampleTable, ThreadId, TimeRange, ValueTypeId};

/// The part of a profile that is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Samples in this time, and waits as far as they lie in it. Threads without times are in [`TimeRange::ALL`] only.
    pub range: TimeRange,
    /// These threads; `None`: all.
    pub threads: Option<Vec<ThreadId>>,
    /// Samples with these sets of labels, and no waits, which have none; `None`: all.
    pub label_sets: Option<Vec<LabelSetId>>,
}

impl Default for Selection {
    fn default() -> Self {
        Self { range: TimeRange::ALL, threads: None, label_sets: None }
    }
}

impl Selection {
    /// The selected threads in order, each once.
    pub fn thread_ids(&self, profile: &Profile) -> Vec<ThreadId> {
        let mut selected = vec![self.threads.is_none(); profile.threads.len()];
        for id in self.threads.iter().flatten() {
            if let Some(slot) = selected.get_mut(id.index()) {
                *slot = true;
            }
        }
        (0..selected.len()).filter(|index| selected[*index]).map(ThreadId::new).collect()
    }

    /// For each set of labels whether its samples are meant; `None`: all are, and those without labels.
    pub(super) fn label_mask(&self, profile: &Profile) -> Option<Vec<bool>> {
        let label_sets = self.label_sets.as_ref()?;
        let mut mask = vec![false; profile.label_sets.sets.len()];
        for set in label_sets {
            if let Some(slot) = mask.get_mut(set.index()) {
                *slot = true;
            }
        }
        Some(mask)
    }

    /// The rows of a thread's samples that lie in the range.
    pub fn sample_rows(&self, samples: &SampleTable, timed: bool) -> Range<usize> {
        if self.range == TimeRange::ALL {
            return 0..samples.len();
        }
        if !timed {
            return 0..0;
        }
        let start = samples.time.partition_point(|time| *time < self.range.start);
        let end = samples.time.partition_point(|time| *time < self.range.end);
        start..end.max(start)
    }
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Measure {
    /// CPU time where samples carry it, else their weights.
    #[default]
    Cpu,
    /// Samples, but for those that are known to have used no CPU.
    Samples,
    /// The time of waits.
    OffCpu,
    /// CPU time and the time of waits.
    Wall,
    /// The weights of samples, whatever CPU times they carry.
    Weights,
    /// A further value of samples.
    Value(ValueTypeId),
}

/// A name or id for which there is no thread.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no {what} is called `{pattern}`; there are {known}")]
pub struct NoSuchThread {
    /// `thread` or `process`.
    pub what: &'static str,
    /// What was looked for.
    pub pattern: String,
    /// Those that there are, as text.
    pub known: String,
}

/// The threads that match one of `threads` (all if empty) in processes that match one of `processes` (all if empty).
///
/// A pattern is a part of the name, the thread's (process's) id, or for threads `PID/TID`. An id that exists wins over
/// names that contain the number. `None` when nothing was asked for.
///
/// # Errors
/// The pattern that matches nothing; it would only hide a typing mistake.
pub fn select_threads(
    profile: &Profile,
    threads: &[String],
    processes: &[String],
) -> Result<Option<Vec<ThreadId>>, NoSuchThread> {
    if threads.is_empty() && processes.is_empty() {
        return Ok(None);
    }
    let in_process = matching_processes(profile, processes)?;
    let candidates: Vec<usize> =
        (0..profile.threads.len()).filter(|index| in_process[profile.threads[*index].process.index()]).collect();
    if threads.is_empty() {
        return Ok(Some(candidates.into_iter().map(ThreadId::new).collect()));
    }
    let mut selected = vec![false; profile.threads.len()];
    for pattern in threads {
        let found = matching_threads(profile, &candidates, pattern);
        if found.is_empty() {
            let names = candidates.iter().map(|index| profile.string(profile.threads[*index].name));
            return Err(NoSuchThread { what: "thread", pattern: pattern.clone(), known: name_some(names) });
        }
        found.into_iter().for_each(|index| selected[index] = true);
    }
    Ok(Some((0..selected.len()).filter(|index| selected[*index]).map(ThreadId::new).collect()))
}

fn matching_processes(profile: &Profile, patterns: &[String]) -> Result<Vec<bool>, NoSuchThread> {
    let mut selected = vec![patterns.is_empty(); profile.processes.len()];
    for pattern in patterns {
        let rows = || profile.processes.iter().enumerate();
        let mut found: Vec<usize> =
            rows().filter(|(_, process)| is_id(&process.pid, pattern)).map(|(index, _)| index).collect();
        if found.is_empty() {
            let named = rows().filter(|(_, process)| profile.string(process.name).contains(pattern.as_str()));
            found = named.map(|(index, _)| index).collect();
        }
        if found.is_empty() {
            let names = profile.processes.iter().map(|process| profile.string(process.name));
            return Err(NoSuchThread { what: "process", pattern: pattern.clone(), known: name_some(names) });
        }
        found.into_iter().for_each(|index| selected[index] = true);
    }
    Ok(selected)
}

fn matching_threads(profile: &Profile, candidates: &[usize], pattern: &str) -> Vec<usize> {
    let select = |matches: &dyn Fn(usize) -> bool| -> Vec<usize> {
        candidates.iter().copied().filter(|index| matches(*index)).collect()
    };
    let by_id = select(&|index| {
        let thread = &profile.threads[index];
        let pid = &profile.processes[thread.process.index()].pid;
        is_id(&thread.tid, pattern)
            || pattern.split_once('/').is_some_and(|(left, right)| is_id(pid, left) && is_id(&thread.tid, right))
    });
    if by_id.is_empty() {
        return select(&|index| profile.string(profile.threads[index].name).contains(pattern));
    }
    by_id
}

fn is_id(id: &OsId, pattern: &str) -> bool {
    match id {
        OsId::Number(number) => pattern.parse() == Ok(*number),
        OsId::Text(text) => **text == *pattern,
    }
}

/// The first few distinct names, for a message.
pub(super) fn name_some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let mut distinct: Vec<&str> = Vec::new();
    let mut more = 0;
    for name in names {
        if distinct.contains(&name) {
            continue;
        }
        if distinct.len() < MOST { distinct.push(name) } else { more += 1 }
    }
    match (distinct.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => format!("`{}`", distinct.join("`, `")),
        (false, more) => format!("`{}` and {more} more", distinct.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::model::Process;

    /// Threads 100 `demo`, 101 `worker-1`, 102 `worker-2`, and in process 200 `helper` a thread 200 `worker-101`.
    fn profile() -> Profile {
        let mut fixture = Fixture::new();
        fixture.thread("demo", 100);
        fixture.thread("worker-1", 101);
        fixture.thread("worker-2", 102);
        let name = fixture.builder.string("helper");
        let process = fixture.builder.add_process(Process {
            pid: OsId::Number(200),
            parent: None,
            name,
            command_line: Vec::new(),
            start: None,
            end: None,
            exit: None,
        });
        let name = fixture.builder.string("worker-101");
        fixture.builder.add_thread(crate::model::Thread::new(process, OsId::Text("t7".into()), name));
        fixture.finish()
    }

    fn select(threads: &[&str], processes: &[&str]) -> Result<Option<Vec<usize>>, String> {
        let [threads, processes] =
            [threads, processes].map(|patterns| patterns.iter().copied().map(str::to_owned).collect::<Vec<_>>());
        let found = select_threads(&profile(), &threads, &processes);
        found
            .map(|ids| ids.map(|ids| ids.into_iter().map(ThreadId::index).collect()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn threads_are_found_by_name_and_id() {
        assert_eq!(select(&[], &[]), Ok(None));
        assert_eq!(select(&["worker"], &[]), Ok(Some(vec![1, 2, 3])));
        assert_eq!(select(&["101"], &[]), Ok(Some(vec![1])), "an id wins over a name that contains it");
        assert_eq!(select(&["100/102"], &[]), Ok(Some(vec![2])));
        assert_eq!(select(&["t7"], &[]), Ok(Some(vec![3])));
        assert_eq!(select(&["worker-2", "demo"], &[]), Ok(Some(vec![0, 2])));
        assert_eq!(select(&["worker"], &["help"]), Ok(Some(vec![3])));
        assert_eq!(select(&[], &["100"]), Ok(Some(vec![0, 1, 2])));
    }

    #[test]
    fn what_matches_nothing_is_told_with_what_there_is() {
        assert_eq!(
            select(&["worker", "wroker"], &[]),
            Err("no thread is called `wroker`; there are `demo`, `worker-1`, `worker-2`, `worker-101`".to_owned())
        );
        assert_eq!(
            select(&["demo"], &["nope"]),
            Err("no process is called `nope`; there are `demo`, `helper`".to_owned())
        );
        assert_eq!(
            select(&["demo"], &["helper"]),
            Err("no thread is called `demo`; there are `worker-101`".to_owned())
        );
        assert_eq!(select(&["200/101"], &[]).map_err(|error| error.len() > 10), Err(true));
    }
}

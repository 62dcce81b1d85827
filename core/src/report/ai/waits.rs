//! What threads waited for while a tree of CPU time was taken: not in the tree, but often the answer.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::body::put;
use super::escape::escaped;
use crate::analysis::{FunctionFacts, Measure, Selection, WaitKind};
use crate::model::{FunctionId, Nanos, Profile, StackId, StandardCategory, ThreadId};
use crate::report::label::known_path;
use crate::report::number::{count, format_duration};

/// Rows, and threads named in each.
const MOST_ROWS: usize = 8;
const MOST_THREADS: usize = 5;

const TITLE: &str = "\n# Waits, not in the tree\n`time of all threads together;how many;what for;waiting function > what it called;\
                     place;threads`, the longest first. Threads that are idle or wait for others' ends are among them.\n";

/// Waits that are told as one: what for, and where the user's code did.
#[derive(Default)]
struct Row {
    time: Nanos,
    count: u64,
    threads: BTreeMap<ThreadId, Nanos>,
    /// By line.
    lines: BTreeMap<u32, Nanos>,
}

type Key = (WaitKind, Option<FunctionId>, Option<FunctionId>);

/// The longest waits of `selection` as a section of the text; empty where there are none, or the tree has them.
pub(super) fn section(profile: &Profile, selection: &Selection, measure: Measure) -> String {
    let in_tree = matches!(measure, Measure::OffCpu | Measure::Wall) || selection.label_sets.is_some();
    let threads = selection.thread_ids(profile);
    if in_tree || threads.iter().all(|id| profile.threads[id.index()].waits.is_empty()) {
        return String::new();
    }
    let callers = Callers::of(profile);
    let mut rows: FxHashMap<Key, Row> = FxHashMap::default();
    for id in threads {
        for wait in profile.threads[id.index()].waits.iter() {
            let time = selection.range.overlap(wait.start, wait.duration);
            if time == Nanos::ZERO {
                continue;
            }
            let (user, called) = wait.stack.map_or((None, None), |stack| callers.of_wait(stack));
            let function = |stack: Option<StackId>| stack.map(|stack| profile.leaf_function(stack));
            let row = rows.entry((WaitKind::of(profile, &wait), function(user), function(called))).or_default();
            row.time += time;
            row.count += 1;
            *row.threads.entry(id).or_default() += time;
            if let Some(line) = user.and_then(|user| profile.frames.line[profile.stacks.frame[user.index()].index()]) {
                *row.lines.entry(line).or_default() += time;
            }
        }
    }
    let mut lines: Vec<(Nanos, String)> = rows.iter().map(|(key, row)| (row.time, line(profile, *key, row))).collect();
    lines.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    let mut text = if lines.is_empty() { String::new() } else { TITLE.to_owned() };
    lines.iter().take(MOST_ROWS).for_each(|(_, line)| put(&mut text, format_args!("{line}\n")));
    if let Some(rest) = lines.get(MOST_ROWS..).filter(|rest| !rest.is_empty()) {
        let time = rest.iter().map(|(time, _)| *time).sum();
        put(&mut text, format_args!("{} in others\n", format_duration(time)));
    }
    text
}

fn line(profile: &Profile, (kind, user, called): Key, row: &Row) -> String {
    let name = |function: FunctionId| profile.string(profile.functions.name[function.index()]);
    let chain: Vec<_> = [user, called].into_iter().flatten().map(|function| escaped(name(function))).collect();
    let source = user.and_then(|user| profile.functions.source[user.index()]);
    let file = source.map(|source| escaped(known_path(profile.string(profile.sources[source.index()].path))));
    let busiest = row.lines.iter().max_by_key(|(line, time)| (**time, std::cmp::Reverse(**line)));
    let place = match (file, busiest) {
        (None, _) => String::new(),
        (Some(file), None) => file.into_owned(),
        (Some(file), Some((line, _))) => format!("{file}:{line}"),
    };
    let mut threads: Vec<_> = row.threads.iter().collect();
    threads.sort_by(|left, right| right.1.cmp(left.1));
    let named = threads.iter().take(MOST_THREADS).map(|(id, time)| {
        let name = escaped(profile.string(profile.threads[id.index()].name));
        format!("{name} {}", format_duration(**time))
    });
    let mut named = named.collect::<Vec<_>>().join(", ");
    if threads.len() > MOST_THREADS {
        put(&mut named, format_args!(", {} more", threads.len() - MOST_THREADS));
    }
    let (time, waits) = (format_duration(row.time), count(row.count, "wait"));
    format!("{time};{waits};{};{};{place};{named}", escaped(&kind.label(profile)), chain.join(" > "))
}

/// For each stack who in it is the user's code: the innermost function of the workspace, else of a dependency.
struct Callers {
    of_stack: Vec<[Caller; 2]>,
}

/// A frame and the one that it called, both as stacks.
#[derive(Clone, Copy, Default)]
struct Caller {
    user: Option<StackId>,
    called: Option<StackId>,
}

impl Callers {
    fn of(profile: &Profile) -> Self {
        let facts = FunctionFacts::of(profile);
        let wanted = [StandardCategory::Workspace, StandardCategory::Dependency].map(StandardCategory::name);
        let category = |function: FunctionId| {
            facts.category(function).map(|id| profile.string(profile.categories[id.index()].name))
        };
        let stacks = &profile.stacks;
        let mut of_stack: Vec<[Caller; 2]> = Vec::with_capacity(stacks.len());
        for stack in (0..stacks.len()).map(StackId::new) {
            let of_prefix = stacks.prefix[stack.index()].map(|prefix| (prefix, of_stack[prefix.index()]));
            let category = category(profile.leaf_function(stack));
            let mut callers = of_prefix.map_or_else(Default::default, |(_, callers)| callers);
            for (caller, wanted) in callers.iter_mut().zip(wanted) {
                if category == Some(wanted) {
                    *caller = Caller { user: Some(stack), called: None };
                } else if of_prefix.is_some_and(|(prefix, _)| caller.user == Some(prefix)) {
                    caller.called = Some(stack);
                }
            }
            of_stack.push(callers);
        }
        Self { of_stack }
    }

    fn of_wait(&self, stack: StackId) -> (Option<StackId>, Option<StackId>) {
        let callers = self.of_stack[stack.index()];
        let caller = callers.into_iter().find(|caller| caller.user.is_some());
        caller.map_or((Some(stack), None), |caller| (caller.user, caller.called))
    }
}

//! Call trees as Chrome DevTools gives them to its AI assistant, to the character.
//!
//! DevTools answers for the threads that it shows: those of a page, with the calls that samples of JavaScript show fitted into
//! the events (`samples`), and those of a CPU profile of V8 (`frames`). The tree has only what DevTools shows by
//! default, and of that only what takes half a percent of the time that is asked for. For anything else there is no
//! answer, and [`CallTreeError`] says why.
//!
//! Everything is computed in doubles and in the same order as there, because the texts have times in which the last bit
//! of a sum decides whether `0` is written or nothing.

mod entries;
mod frames;
mod names;
mod profile;
mod raw_profile;
mod samples;
mod steps;
mod text;
mod titles;
mod tree;
mod web;

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use self::entries::{Entry, What};
use self::names::{Entries, Images};
use self::profile::CpuProfile;
use self::raw_profile::RawProfile;
use self::tree::{Part, Tree};
use super::events::{EventTable, Scalar};
use crate::format::ReadError;

/// The least part of the time that an entry of the tree takes.
const LEAST_PART: f64 = 0.005;

/// Compilations are many and short, and left out.
const COMPILATION: &str = "V8.CompileCode";

/// The process and the thread that a CPU profile is given, as a file of its own.
const PROFILE_ID: &str = "1";

/// What a call tree can be made of.
#[derive(Clone, Copy, Debug)]
pub enum CallTreeSource<'a> {
    /// A trace.
    Trace(&'a EventTable<'a>),
    /// The text of a CPU profile of V8. Its thread is 1 of process 1.
    CpuProfile(&'a [u8]),
}

/// A thread, by ids as they are in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadChoice {
    /// `pid`.
    pub pid: String,
    /// `tid`.
    pub tid: String,
}

/// An event of a thread.
#[derive(Clone, PartialEq, Debug)]
pub struct EventChoice {
    /// The thread.
    pub thread: ThreadChoice,
    /// `ts` in µs.
    pub time: f64,
    /// `name`; `ProfileCall` for calls that samples show. Where no event is called so, the name of a function.
    pub name: String,
    /// Which of the events of this name and time, from 0.
    pub nth: usize,
}

/// What a call tree is asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum CallTreeQuery {
    /// An event, with what is around it and in it.
    Event(EventChoice),
    /// A time of a thread, in µs.
    Range {
        /// The thread.
        thread: ThreadChoice,
        /// Its beginning.
        start: f64,
        /// Its end.
        end: f64,
    },
}

/// A call tree.
#[derive(Clone, PartialEq, Debug)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    roots: Vec<u32>,
    /// The node of the chosen event; `None` where that is the first of all, which DevTools takes for the root.
    selected: Option<u32>,
}

/// A node of a call tree.
#[derive(Clone, PartialEq, Debug)]
struct CallNode {
    name: String,
    url: Option<String>,
    total_ms: f64,
    self_ms: f64,
    children: Vec<u32>,
    /// Its event is the chosen one.
    is_selected: bool,
}

/// Why there is no call tree.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallTreeError {
    /// The file has no such thread.
    #[error("no event has pid {pid} and tid {tid}")]
    NoThread {
        /// What was asked for.
        pid: String,
        /// What was asked for.
        tid: String,
    },
    /// DevTools leaves the process out.
    #[error("DevTools shows no thread of process {pid}: it knows no page that runs there")]
    HiddenProcess {
        /// The process.
        pid: String,
    },
    /// DevTools shows nothing on the thread.
    #[error("DevTools shows nothing on thread {tid} of process {pid}")]
    EmptyThread {
        /// The process.
        pid: String,
        /// The thread.
        tid: String,
    },
    /// DevTools answers for events of main threads.
    #[error("thread {tid} of process {pid} is not the main thread of a page (`CrRendererMain`)")]
    NotMainThread {
        /// The process.
        pid: String,
        /// The thread.
        tid: String,
    },
    /// There is no such event among those that have a place on the thread.
    #[error("{found} events on the thread are called `{name}` and begin at {time} µs, so there is no number {nth}")]
    NoEvent {
        /// What was asked for.
        name: String,
        /// What was asked for.
        time: f64,
        /// What was asked for.
        nth: usize,
        /// How many there are.
        found: usize,
    },
    /// The event ends behind the one around it.
    #[error("the event begins inside another and ends behind it, so DevTools gives it no place")]
    Overlaps,
    /// DevTools does not show events like this.
    #[error("DevTools does not show events that are called `{name}`")]
    Invisible {
        /// What they are called.
        name: String,
    },
    /// An event of the same name comes before it in its node.
    #[error(
        "the event is in one node with another of the same name before it, and DevTools finds a node by its first event"
    )]
    Merged,
    /// DevTools needs names.
    #[error("byte {offset}: the event has no name, and DevTools opens no trace with such an event")]
    NoName {
        /// Where it begins.
        offset: u64,
    },
    /// DevTools needs categories.
    #[error("byte {offset}: the event has no category, and DevTools fails at it")]
    NoCategory {
        /// Where it begins.
        offset: u64,
    },
    /// DevTools has ranges of the threads of a trace only.
    #[error("a CPU profile has no ranges in DevTools, only calls")]
    NoRanges,
    /// The file is of another format.
    #[error("neither a Chrome trace nor a CPU profile of V8: DevTools can't read it")]
    OtherFormat,
    /// The file can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The profile is of an old form.
    #[error("a CPU profile from before 2016, in which calls stand inside each other: that form has no exact text here")]
    OldProfile,
    /// A time can't be computed with.
    #[error("byte {offset}: the event's `{field}` is no number, and DevTools can't compute with it")]
    BadTime {
        /// Which time.
        field: &'static str,
        /// Where the event begins.
        offset: u64,
    },
    /// A profile's times add up to infinity.
    #[error("the time of sample {sample} of the CPU profile is beyond all numbers")]
    EndlessProfile {
        /// Which sample, from 0.
        sample: usize,
    },
    /// The stacks are deeper than V8's.
    #[error("the samples' stacks have more than {frames} frames together")]
    TooDeep {
        /// The limit.
        frames: u64,
    },
    /// The stacks change more than V8's.
    #[error("the samples show more than {calls} calls")]
    TooManyCalls {
        /// The limit.
        calls: usize,
    },
}

impl CallTreeError {
    /// Whether DevTools has no answer; else there may be one, but not from us.
    pub fn is_no_answer(&self) -> bool {
        !matches!(
            self,
            Self::Read(_)
                | Self::OldProfile
                | Self::BadTime { .. }
                | Self::EndlessProfile { .. }
                | Self::TooDeep { .. }
                | Self::TooManyCalls { .. }
        )
    }
}

/// The call tree that DevTools makes.
///
/// # Errors
/// If it makes none ([`CallTreeError::is_no_answer`]), or the file is more than can be computed with.
pub fn call_tree(source: CallTreeSource<'_>, query: &CallTreeQuery) -> Result<CallTree, CallTreeError> {
    let thread = match query {
        CallTreeQuery::Event(event) => &event.thread,
        CallTreeQuery::Range { thread, .. } => thread,
    };
    match source {
        CallTreeSource::CpuProfile(text) => {
            if thread.pid != PROFILE_ID || thread.tid != PROFILE_ID {
                return Err(CallTreeError::NoThread { pid: thread.pid.clone(), tid: thread.tid.clone() });
            }
            let CallTreeQuery::Event(event) = query else { return Err(CallTreeError::NoRanges) };
            let profile = CpuProfile::of(RawProfile::of_file(text)?)?;
            let entries = frames::calls_of(&profile)?;
            let of = Entries { table: None, profile: Some(&profile) };
            of_event(of, &entries, event)
        }
        CallTreeSource::Trace(table) => of_trace(table, thread, query),
    }
}

fn of_trace(table: &EventTable<'_>, choice: &ThreadChoice, query: &CallTreeQuery) -> Result<CallTree, CallTreeError> {
    let (pid, tid) = (choice.pid.clone(), choice.tid.clone());
    let Some(thread) = find_thread(table, choice) else { return Err(CallTreeError::NoThread { pid, tid }) };
    let standing = web::standing(table, thread)?;
    if !standing.is_shown {
        return Err(CallTreeError::HiddenProcess { pid });
    }
    if matches!(query, CallTreeQuery::Event(_)) && !standing.is_main {
        return Err(CallTreeError::NotMainThread { pid, tid });
    }
    let mut entries = entries::of_thread(table, thread)?;
    if entries.is_empty() {
        return Err(CallTreeError::EmptyThread { pid, tid });
    }
    let profile = RawProfile::of_thread(table, thread).map(CpuProfile::of).transpose()?;
    if let Some(profile) = &profile {
        entries = samples::integrate(table, profile, &entries)?;
    }
    let of = Entries { table: Some(table), profile: profile.as_ref() };
    match query {
        CallTreeQuery::Event(event) => of_event(of, &entries, event),
        CallTreeQuery::Range { start, end, .. } => of_range(of, &entries, *start, *end),
    }
}

/// The index of a thread in the table. A number and a string can read the same; then the first is meant that has entries.
fn find_thread(table: &EventTable<'_>, choice: &ThreadChoice) -> Option<u32> {
    let is = |id: Scalar, text: &str| match id {
        Scalar::Missing => text == "undefined",
        Scalar::Integer(number) => text.parse() == Ok(number),
        Scalar::Number(id) | Scalar::Text(id) | Scalar::Other(id) => table.text(id) == text,
    };
    let threads = table.thread_ids().iter().zip(0_u32..);
    let is_meant = threads.filter(|(ids, _)| is(ids.pid, &choice.pid) && is(ids.tid, &choice.tid));
    let meant: Vec<u32> = is_meant.map(|(_, thread)| thread).collect();
    if let [_, _, ..] = *meant {
        let rows = table.phase.iter().zip(&table.thread);
        let mut with_entries = rows.filter(|(phase, _)| matches!(phase, b'B' | b'X' | b'I'));
        if let Some((_, thread)) = with_entries.find(|(_, thread)| meant.contains(thread)) {
            return Some(*thread);
        }
    }
    meant.first().copied()
}

/// The chosen event among the entries.
fn find_event(of: Entries<'_, '_>, entries: &[Entry], choice: &EventChoice) -> Result<usize, CallTreeError> {
    let first = entries.partition_point(|entry| entry.start < choice.time);
    let at_time = || (first..entries.len()).take_while(|at| entries[*at].start == choice.time);
    let mut called: Vec<usize> = at_time().filter(|at| of.raw_name(entries[*at].what) == choice.name).collect();
    if called.is_empty() {
        called = at_time().filter(|at| of.function(entries[*at].what) == Some(&choice.name)).collect();
    }
    let EventChoice { name, time, nth, .. } = choice.clone();
    called.get(nth).copied().ok_or(CallTreeError::NoEvent { name, time, nth, found: called.len() })
}

fn of_event(of: Entries<'_, '_>, entries: &[Entry], choice: &EventChoice) -> Result<CallTree, CallTreeError> {
    let chosen = find_event(of, entries, choice)?;
    let event = entries[chosen];
    // All calls of a CPU profile have a place.
    if of.table.is_some() && !entries::is_nested(entries, chosen) {
        return Err(CallTreeError::Overlaps);
    }
    let (start, end) = (event.start / 1000.0, event.end() / 1000.0);
    let (within, places) = within(entries, start * 1000.0, end * 1000.0);
    let chosen = places.binary_search(&chosen).ok();
    let least = event.duration.unwrap_or(1.0) * LEAST_PART;
    let accepts = |at: usize| {
        let is_taken =
            within[at].length() != 0.0 && within[at].length() >= least && of.raw_name(within[at].what) != COMPILATION;
        Ok((chosen == Some(at) || is_taken) && of.is_visible(within[at].what)?)
    };
    let mut groups: FxHashMap<String, u32> = FxHashMap::default();
    let group = |at: usize| {
        let next = u32::try_from(groups.len()).expect("fewer than entries");
        *groups.entry(of.group(&within[at])).or_insert(next)
    };
    let part = part(of, &within, start, end)?;
    let tree = tree::build(&part, accepts, group)?;
    let node = tree.nodes.iter().zip(0..).find(|(node, _)| Some(node.entry) == chosen).map(|(_, node)| node);
    // The root has the first of all entries for its event, and is looked at first.
    let is_root = chosen == Some(0);
    if node.is_none() && !is_root {
        let name = of.raw_name(event.what).to_owned();
        let is_visible = of.is_visible(event.what)?;
        return Err(if is_visible { CallTreeError::Merged } else { CallTreeError::Invisible { name } });
    }
    let selected = node.filter(|_| !is_root);
    Ok(finish(of, &within, tree, selected, chosen))
}

fn of_range(of: Entries<'_, '_>, entries: &[Entry], from: f64, to: f64) -> Result<CallTree, CallTreeError> {
    let (within, _) = within(entries, from, to);
    let least = (to - from) * LEAST_PART;
    let accepts = |at: usize| {
        let entry = &within[at];
        let is_taken = entry.length() != 0.0 && entry.length() >= least;
        Ok(is_taken && of.raw_name(entry.what) != COMPILATION && of.is_visible(entry.what)?)
    };
    let part = part(of, &within, from / 1000.0, to / 1000.0)?;
    // Each for itself.
    let tree = tree::build(&part, accepts, |at| u32::try_from(at).expect("fewer than events"))?;
    Ok(finish(of, &within, tree, None, None))
}

/// The entries that touch the time, and their places among all.
fn within(entries: &[Entry], from: f64, to: f64) -> (Vec<Entry>, Vec<usize>) {
    let is_within = |entry: &Entry| entry.start <= to && from <= entry.end();
    let found = entries.iter().zip(0..).filter(|(entry, _)| is_within(entry));
    found.map(|(entry, at)| (*entry, at)).unzip()
}

/// Entries before the last top-level one that begins before the time don't count.
fn part<'e>(of: Entries<'_, '_>, entries: &'e [Entry], start: f64, end: f64) -> Result<Part<'e>, CallTreeError> {
    let behind = entries.partition_point(|entry| entry.start <= start * 1000.0);
    let mut first = behind.saturating_sub(1);
    while first > 0 && !of.is_top_level(entries[first].what)? {
        first -= 1;
    }
    Ok(Part { entries, first, start, end })
}

/// Names the nodes.
fn finish(
    of: Entries<'_, '_>,
    entries: &[Entry],
    tree: Tree,
    selected: Option<u32>,
    chosen: Option<usize>,
) -> CallTree {
    let what = |node: &tree::Node| entries[node.entry].what;
    let is_image = |what: What| matches!(what, What::Event(_)) && of.raw_name(what) == "Decode Image";
    let has_images = tree.nodes.iter().any(|node| is_image(what(node)));
    let images = of.table.filter(|_| has_images).map(Images::of).unwrap_or_default();
    let nodes = tree.nodes.into_iter().map(|node| CallNode {
        name: of.name(what(&node)),
        url: of.url(what(&node), &images),
        total_ms: node.total,
        self_ms: node.own,
        is_selected: Some(node.entry) == chosen,
        children: node.children,
    });
    CallTree { nodes: nodes.collect(), roots: tree.roots, selected }
}

//! What functions, boxes, slices, waits and markers are, in words: for tooltips, details and the clipboard.

mod fields;
mod markers;

pub use markers::{flow_name, innermost_functions, link_text, marker_facts, marker_line, short_thread};

use std::borrow::Cow;

use traceview_core::analysis::{Callee, FunctionRow, NodeId, Tree};
use traceview_core::model::{
    FrameId, FunctionId, Nanos, Profile, SliceId, StackId, StringId, ThreadId, Time, Wait, WaitReason,
};
use traceview_core::report::{format_duration, format_percent, known_path};

use crate::analyses::Analyses;
use crate::document::Document;
use crate::selection::{Picked, PickedKind};

/// Named facts, in the order in which they are shown.
pub type Facts = Vec<(Cow<'static, str>, String)>;

/// The name of what was picked.
pub fn name<'a>(document: &'a Document, picked: &Picked) -> Cow<'a, str> {
    let thread = &document.profile.threads[picked.thread.index()];
    match picked.what {
        PickedKind::Box(node) => document.function_name(document.function(node)).into(),
        PickedKind::Slice(slice) => document.profile.string(thread.slices.name[slice.index()]).into(),
        PickedKind::Wait(row) => wait_label(&document.profile, &thread.waits.get(row)),
        PickedKind::Marker(marker) => document.profile.string(thread.markers.name[marker.index()]).into(),
        PickedKind::Station(member) => flow_name(document, member).into(),
    }
}

/// What a wait is called on a chart: the system call and what it waited for, or else why the thread did not run.
pub fn wait_label<'a>(profile: &'a Profile, wait: &Wait) -> Cow<'a, str> {
    match (wait.reason, wait.syscall, wait.target) {
        (WaitReason::Runnable, _, _) => "no CPU free".into(),
        (WaitReason::Stopped, _, _) => "stopped".into(),
        (WaitReason::Blocked, None, _) => "waiting".into(),
        (WaitReason::Blocked, Some(syscall), None) => profile.string(syscall).into(),
        (WaitReason::Blocked, Some(syscall), Some(target)) => {
            format!("{} {}", profile.string(syscall), profile.string(target)).into()
        }
    }
}

/// What a box, slice or wait is.
pub fn kind(document: &Document, picked: &Picked) -> &'static str {
    match picked.what {
        PickedKind::Box(node) if is_inlined(document, node) => "Inlined function call",
        PickedKind::Box(_) => "Function call",
        PickedKind::Slice(_) => "Slice",
        PickedKind::Wait(_) => "Wait",
        PickedKind::Marker(_) => "Marker",
        PickedKind::Station(_) => "Station of a flow",
    }
}

/// Whether the frame of `node` was inlined into its caller.
pub fn is_inlined(document: &Document, node: StackId) -> bool {
    document.profile.frames.inline_depth[frame_of(document, node).index()] > 0
}

/// When something was, to the microsecond, or to the nanosecond where it is known so.
pub fn moment(time: Time) -> String {
    let (sign, nanos) = (if time.0 < 0 { "-" } else { "" }, time.0.unsigned_abs());
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    if rest % 1_000 == 0 {
        format!("{sign}{seconds}.{:06} s", rest / 1_000)
    } else {
        format!("{sign}{seconds}.{rest:09} s")
    }
}

/// A thread's name with its ids.
pub fn thread(document: &Document, thread: ThreadId) -> String {
    let name = document.thread_name(thread);
    match document.profile.threads[thread.index()].tid.to_string() {
        // Not in the file, or said by the name.
        tid if tid.is_empty() || says(name, &tid) || tid.contains(name) => name.to_owned(),
        tid => format!("{name} (tid {tid})"),
    }
}

/// A thread's process with its id.
pub fn process(document: &Document, thread: ThreadId) -> String {
    let process = &document.profile.processes[document.profile.threads[thread.index()].process.index()];
    let (name, pid) = (document.profile.string(process.name), process.pid.to_string());
    match name {
        "" => format!("pid {pid}"),
        name if says(name, &pid) => name.to_owned(),
        name => format!("{name} (pid {pid})"),
    }
}

/// Whether a name says the id: `process 17` is what readers call a process without a name.
pub(crate) fn says(name: &str, id: &str) -> bool {
    name.rsplit(' ').next() == Some(id)
}

/// Where a function comes from: crate, category, library, source.
pub fn function_facts(document: &Document, function: FunctionId, frame: Option<FrameId>) -> Facts {
    let profile = &document.profile;
    let row = profile.functions.get(function);
    let mut facts = Facts::new();
    if let Some(origin) = row.origin {
        let origin = &profile.crates[origin.index()];
        let version = origin.version.map(|version| format!(" {}", profile.string(version))).unwrap_or_default();
        facts.push(("Crate".into(), format!("{}{version}", profile.string(origin.name))));
    }
    let category = frame.and_then(|frame| profile.frames.category[frame.index()]);
    if let Some(category) = category.or_else(|| document.facts.category(function)) {
        facts.push(("Category".into(), profile.string(profile.categories[category.index()].name).to_owned()));
    }
    let library = frame.and_then(|frame| profile.frames.library[frame.index()]);
    if let Some(library) = library.or_else(|| document.facts.library(function)) {
        facts.push(("Library".into(), profile.string(profile.libraries[library.index()].name).to_owned()));
    }
    if let Some(place) = place(document, function, frame.and_then(|frame| profile.frames.line[frame.index()])) {
        facts.push(("Source".into(), place));
    }
    if let (Some(source), Some(file)) = (row.source, document.source_file(function)) {
        // Where the name that it is shown by is not its path.
        let path = profile.string(profile.sources[source.index()].path);
        if *file != *known_path(path) {
            facts.push(("File".into(), file.into_owned()));
        }
    }
    facts
}

/// The name that the readable one leaves something out of: often the linker's.
pub fn symbol_fact(document: &Document, function: FunctionId) -> Option<(Cow<'static, str>, String)> {
    let full = document.profile.functions.full_name[function.index()]?;
    Some(("Symbol".into(), document.profile.string(full).to_owned()))
}

/// `place` in at most about `most` characters: the end of a path tells most.
pub fn shorten_place(place: &str, most: usize) -> Cow<'_, str> {
    let length = place.chars().count();
    if length <= most {
        return place.into();
    }
    let from = place.char_indices().nth(length - most).map_or(0, |(at, _)| at);
    let from = place[from..].find('/').map_or(from, |at| from + at);
    format!("…{}", &place[from..]).into()
}

/// File, as people know it, and line: `line`, or else the one at which the function begins.
pub fn place(document: &Document, function: FunctionId, line: Option<u32>) -> Option<String> {
    let profile = &document.profile;
    let row = profile.functions.get(function);
    let path = known_path(profile.string(profile.sources[row.source?.index()].path));
    Some(line.or(row.line).map_or_else(|| path.to_owned(), |line| format!("{path}:{line}")))
}

/// The frame of a stack node.
pub fn frame_of(document: &Document, node: StackId) -> FrameId {
    document.profile.stacks.frame[node.index()]
}

/// A stack as text, the innermost frame first, one frame a line with its place.
pub fn stack_text(document: &Document, innermost: StackId) -> String {
    let profile = &document.profile;
    let mut text = String::new();
    for node in profile.stacks.ancestors(innermost) {
        let (frame, function) = (frame_of(document, node), document.function(node));
        text.push_str(document.function_name(function));
        if let Some(place) = place(document, function, profile.frames.line[frame.index()]) {
            text.push_str("  ");
            text.push_str(&place);
        }
        text.push('\n');
    }
    text
}

/// What leads to a node of a call tree as text, itself first, one function a line with its place.
pub fn call_text(document: &Document, tree: &Tree, id: NodeId) -> String {
    let mut text = String::new();
    for id in std::iter::successors(Some(id), |id| tree.node(*id).parent) {
        let callee = tree.node(id).callee;
        text.push_str(&callee.name(&document.profile));
        if let Callee::Function(function) = callee
            && let Some(place) = place(document, function, None)
        {
            text.push_str("  ");
            text.push_str(&place);
        }
        text.push('\n');
    }
    text
}

/// The stack that belongs to what was picked.
pub fn stack_of(document: &Document, picked: &Picked) -> Option<StackId> {
    match picked.what {
        PickedKind::Box(node) => Some(node),
        PickedKind::Wait(row) => document.profile.threads[picked.thread.index()].waits.stack[row],
        PickedKind::Marker(marker) => document.profile.threads[picked.thread.index()].markers.stack[marker.index()],
        PickedKind::Slice(_) | PickedKind::Station(_) => None,
    }
}

/// The function that belongs to what was picked.
pub fn function_of(document: &Document, picked: &Picked) -> Option<FunctionId> {
    match picked.what {
        PickedKind::Box(node) => Some(document.function(node)),
        PickedKind::Wait(_) | PickedKind::Slice(_) | PickedKind::Marker(_) | PickedKind::Station(_) => None,
    }
}

/// The row of `function` in the tables, if they are at hand and count it.
pub fn counted_row(analyses: &Analyses, function: FunctionId) -> Option<&FunctionRow> {
    analyses.tables()?.ok()?.functions.rows.iter().find(|row| row.function == function)
}

/// A function's own and total amount in what the tables count.
pub fn counted_facts(analyses: &Analyses, function: FunctionId) -> Facts {
    let (Some(Ok(tables)), Some(row)) = (analyses.tables(), counted_row(analyses, function)) else {
        return Facts::new();
    };
    let whole = &tables.functions.whole;
    let amount = |value: f64| {
        let share = format_percent(whole.percent(value));
        format!("{} ({share})", traceview_core::report::format_amount(value, whole.unit))
    };
    vec![("Self in selection".into(), amount(row.own.value)), ("Total in selection".into(), amount(row.total.value))]
}

/// What is known of a wait.
pub fn wait_facts(document: &Document, wait: &Wait) -> Facts {
    let text = |id: Option<StringId>| id.map(|id| document.profile.string(id).to_owned());
    let reason = match wait.reason {
        WaitReason::Blocked => "it waited for something",
        WaitReason::Runnable => "it could have run, but no CPU was free",
        WaitReason::Stopped => "it was stopped by job control",
    };
    let mut facts: Facts = vec![("Reason".into(), reason.to_owned())];
    facts.extend(text(wait.syscall).map(|syscall| ("System call".into(), syscall)));
    facts.extend(text(wait.target).map(|target| {
        let title = if target.starts_with("0x") { "Futex at" } else { "Waited for" };
        (title.into(), target)
    }));
    if wait.inferred && wait.stack.is_some() {
        facts.push(("Stack".into(), "inferred from memory; the thread was not stopped".to_owned()));
    }
    facts
}

/// What is known of a slice, its arguments last.
pub fn slice_facts(document: &Document, thread: ThreadId, slice: SliceId) -> Facts {
    let profile = &document.profile;
    let row = profile.threads[thread.index()].slices.get(slice.index());
    let category = profile.string(profile.categories[row.category.index()].name);
    let mut facts: Facts = vec![("Category".into(), category.to_owned())];
    if row.incomplete {
        facts.push(("Incomplete".into(), "its beginning or end was not recorded".to_owned()));
    }
    if let Some(cpu) = profile.threads[thread.index()].slices.cpu_of(slice.index()).duration() {
        facts.push(("CPU time".into(), format_duration(cpu)));
    }
    for field in row.args.map(|args| profile.payloads.get(args)).unwrap_or_default() {
        facts.push((profile.string(field.key).to_owned().into(), fields::plain(profile, &field.value)));
    }
    facts
}

fn is_moment(picked: &Picked) -> bool {
    matches!(picked.what, PickedKind::Marker(_) | PickedKind::Station(_)) && picked.duration == Nanos::ZERO
}

/// When and for how long, as facts.
pub fn time_facts(picked: &Picked) -> Facts {
    if is_moment(picked) {
        return vec![("Time".into(), moment(picked.start))];
    }
    vec![("Duration".into(), format_duration(picked.duration)), ("Start".into(), moment(picked.start))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_ends() {
        assert_eq!(shorten_place("src/main.rs:12", 14), "src/main.rs:12");
        assert_eq!(shorten_place("/rustc/0123456789/library/core/src/ops.rs:250", 30), "…/library/core/src/ops.rs:250");
        assert_eq!(shorten_place("größenmaße.rs", 5), "…ße.rs");
    }

    #[test]
    fn moments_are_exact() {
        for (nanos, text) in [
            (0, "0.000000 s"),
            (1_234_567_000, "1.234567 s"),
            (1_234_567_891, "1.234567891 s"),
            (-1_500_000_000, "-1.500000 s"),
        ] {
            assert_eq!(moment(Time(nanos)), text);
        }
    }
}

//! What rows are called, and what is said of them.

use std::sync::Arc;

use traceview_core::analysis::percent;
use traceview_core::model::{ProcessId, ThreadId, Time, TimeRange, WaitReason};
use traceview_core::report::{format_duration, format_percent};

use super::counters::{self, CounterTrack, Numbers};
use super::layout::{ProcessTotals, Row, Rows};
use super::model::{Busy, Doing, Track, doing};
use crate::describe;
use crate::document::Document;
use crate::flows::Way;
use crate::panels::amounts::grouped;
use crate::selection::{Picked, PickedKind};
use crate::widget::TimeView;

/// What a row is called.
pub(super) fn title(document: &Document, rows: &Rows, row: Row) -> String {
    match row {
        Row::Thread(thread) if rows.single_threads => {
            let row = &document.profile.threads[thread.index()];
            let pid = document.profile.processes[row.process.index()].pid.to_string();
            match document.thread_name(thread) {
                name if describe::says(name, &pid) => name.to_owned(),
                name => format!("{name} · {pid}"),
            }
        }
        Row::Thread(thread) => {
            let row = &document.profile.threads[thread.index()];
            let title = thread_title(document, thread);
            // That of an unnamed thread, or of a main one, is its own.
            let told_apart = row.is_main || document.thread_name(thread).is_empty() || !rows.is_repeated(thread);
            if told_apart { title } else { format!("{title} {}", row.tid) }
        }
        Row::Process(process) => process_title(document, process),
        Row::Counter(counter) => counters::title(&document.profile, &document.profile.counters[counter]).to_owned(),
        Row::MoreCounters => count(rows.more_counters, "counter") + " of other processes",
        Row::Empty => count(rows.empty, "thread") + " without samples",
    }
}

/// A thread's name; that of a main thread says so.
pub(super) fn thread_title(document: &Document, thread: ThreadId) -> String {
    let name = document.thread_name(thread);
    let row = &document.profile.threads[thread.index()];
    match name {
        "" => format!("thread {}", row.tid),
        _ if row.is_main && !name.to_lowercase().contains("main") => format!("{name} (main)"),
        _ => name.to_owned(),
    }
}

fn process_title(document: &Document, process: ProcessId) -> String {
    let process = &document.profile.processes[process.index()];
    match document.profile.string(process.name) {
        "" => format!("process {}", process.pid),
        name if describe::says(name, &process.pid.to_string()) => name.to_owned(),
        name => format!("{name} · {}", process.pid),
    }
}

/// How busy a row was.
pub(super) fn numbers(document: &Document, rows: &Rows, row: Row) -> String {
    match row {
        Row::Thread(thread) => thread_numbers(document, rows, thread),
        Row::Process(process) => {
            let totals = rows.process(process);
            let did = match totals {
                ProcessTotals { samples: 0, slices: 0, markers: 0, .. } => return count(totals.threads, "thread"),
                ProcessTotals { samples: 0, slices: 0, markers, .. } => count(markers, "marker"),
                ProcessTotals { samples: 0, slices, .. } => count(slices, "slice"),
                ProcessTotals { cpu, .. } => share(cpu.as_secs_f64(), rows),
            };
            format!("{} · {did}", count(totals.threads, "thread"))
        }
        Row::Counter(_) | Row::MoreCounters | Row::Empty => String::new(),
    }
}

fn thread_numbers(document: &Document, rows: &Rows, thread: ThreadId) -> String {
    let totals = document.activity[thread.index()];
    let row = &document.profile.threads[thread.index()];
    if totals.samples == 0 {
        return match (totals.slices, row.markers.len()) {
            (0, 0) => "0 ns".to_owned(),
            (0, markers) => count(markers, "marker"),
            (slices, _) => count(slices, "slice"),
        };
    }
    let share = share(totals.cpu.as_secs_f64(), rows);
    if row.samples.cpu.is_empty() && document.profile.meta.interval.is_none() {
        format!("{} · {share}", count(totals.samples, "sample"))
    } else {
        format!("{} · {share}", format_duration(totals.cpu))
    }
}

/// [`numbers`] where there is less room: the share without the time, or the number without what it is of.
pub(super) fn shortened(numbers: &str) -> &str {
    match numbers.rsplit_once(" · ") {
        Some((_, last)) => last,
        None if numbers.ends_with(['s', 'e', 'r']) => numbers.split_once(' ').map_or(numbers, |(number, _)| number),
        None => numbers,
    }
}

fn share(cpu: f64, rows: &Rows) -> String {
    format_percent(percent(cpu, rows.cpu.as_secs_f64()))
}

/// `1 thread`, `12 threads`, `12,345 samples`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number as u64))
}

/// How many threads there are, and how many of them are not shown.
pub(super) fn census(document: &Document, rows: &Rows) -> String {
    let threads = count(document.profile.threads.len(), "thread");
    if rows.hidden > 0 { format!("{threads} · {} hidden", rows.hidden) } else { threads }
}

/// All about a thread, line by line.
pub(super) fn thread_lines(document: &Document, rows: &Rows, thread: ThreadId) -> Vec<String> {
    let row = &document.profile.threads[thread.index()];
    let process = &document.profile.processes[row.process.index()];
    let totals = document.activity[thread.index()];
    let mut lines = vec![
        thread_title(document, thread),
        format!("thread {} of {} ({})", row.tid, document.profile.string(process.name), process.pid),
    ];
    if totals.samples > 0 {
        let samples = count(totals.samples, "sample");
        lines.push(format!("{} of the profile in {samples}", thread_numbers(document, rows, thread)));
    }
    if totals.slices > 0 {
        lines.push(count(totals.slices, "slice"));
    }
    if !row.markers.is_empty() {
        lines.push(count(row.markers.len(), "marker"));
    }
    if !row.waits.is_empty() {
        let waited = row.waits.duration.iter().copied().sum();
        lines.push(format!("{} off CPU in {}", format_duration(waited), count(row.waits.len(), "wait")));
    }
    lines
}

/// What `thread` did at `at`, line by line; `view` says how long a point on the screen is.
pub(super) fn moment_lines(
    document: &Arc<Document>,
    track: &Track,
    thread: ThreadId,
    at: Time,
    view: &TimeView,
) -> Vec<String> {
    let percentage = format_percent(track.share_at(at, view.duration(1.0)) * 100.0);
    let what = match track.busy {
        Busy::Samples(_) => "of a CPU",
        Busy::Slices(_) => "of the time in slices",
    };
    let mut lines = vec![format!("{percentage} {what}")];
    let profile = &document.profile;
    let row = &profile.threads[thread.index()];
    match doing(document, track, thread, at) {
        Doing::Running(sample) => lines.push(match row.samples.stack[sample] {
            Some(stack) => document.function_name(document.function(stack)).to_owned(),
            None => "no stack".to_owned(),
        }),
        Doing::Slice(slice) => {
            let name = profile.string(row.slices.name[slice]);
            lines.push(format!("{name} ({})", format_duration(row.slices.duration[slice])));
        }
        Doing::Waiting(wait) => {
            let wait = row.waits.get(wait);
            let reason = match wait.reason {
                WaitReason::Blocked => "waiting",
                WaitReason::Runnable => "ready to run, but no CPU was free",
                WaitReason::Stopped => "stopped",
            };
            let syscall = wait.syscall.map_or(String::new(), |syscall| format!(" in {}", profile.string(syscall)));
            let target = wait.target.map_or(String::new(), |target| format!(" on {}", profile.string(target)));
            lines.push(format!("{reason}{syscall}{target} for {}", format_duration(wait.duration)));
        }
        Doing::Unknown => {}
    }
    lines
}

/// The greatest number of a counter.
pub(super) fn counter_numbers(document: &Document, counter: usize, track: &CounterTrack) -> String {
    let profile = &document.profile;
    format!("max {}", Numbers::of(profile, &profile.counters[counter]).format(track.peak()))
}

/// What a counter is at `at`, line by line.
pub(super) fn counter_lines(
    document: &Document,
    counter: usize,
    track: &CounterTrack,
    at: Time,
    view: &TimeView,
) -> Vec<String> {
    let profile = &document.profile;
    let row = &profile.counters[counter];
    let numbers = Numbers::of(profile, row);
    let now = track.at(at, view.duration(1.0)).map_or_else(|| "not known".to_owned(), |now| numbers.format(now));
    let mut lines = vec![
        format!("{}: {now}", counters::title(profile, row)),
        format!("of {}, {}", process_title(document, row.process), counter_numbers(document, counter, track)),
    ];
    let description = profile.string(row.description);
    if !description.is_empty() {
        lines.push(description.to_owned());
    }
    lines
}

/// What a marker is, line by line.
pub(super) fn marker_lines(document: &Document, marker: &Picked, view: &TimeView) -> Vec<String> {
    const MOST_FACTS: usize = 12;
    const MOST_LINKS: usize = 3;
    const MOST_FRAMES: usize = 3;
    let mut lines = vec![describe::name(document, marker).into_owned()];
    let mut facts = describe::time_facts(marker);
    facts.push(("Thread".into(), thread_title(document, marker.thread)));
    if let PickedKind::Marker(row) = marker.what {
        facts.extend(describe::marker_facts(document, marker.thread, row));
    }
    facts.truncate(MOST_FACTS);
    lines.extend(facts.into_iter().map(|(key, value)| format!("{key}: {value}")));
    if let Some(stack) = describe::stack_of(document, marker) {
        let functions = describe::innermost_functions(document, stack, MOST_FRAMES);
        lines.extend(functions.iter().enumerate().map(|(at, name)| match at {
            0 => format!("in {name}"),
            _ => format!("    called by {name}"),
        }));
    }
    let links =
        |way| document.flows.direct(&document.profile.flows, marker, way).into_iter().map(move |link| (way, link));
    let links: Vec<_> = links(Way::Back).chain(links(Way::Forward)).collect();
    lines.extend(links.iter().take(MOST_LINKS).map(|(way, link)| {
        let text = describe::link_text(document, *link, *way);
        match way {
            Way::Forward => format!("leads to: {text}"),
            Way::Back => format!("came of: {text}"),
        }
    }));
    if links.len() > MOST_LINKS {
        lines.push(format!("and {} more arrows", links.len() - MOST_LINKS));
    }
    let around = TimeRange { start: marker.start, end: marker.start + view.duration(1.0) };
    let here = document.markers[marker.thread.index()].count_in(around);
    if here > 1 {
        lines.push(format!("and {} here", count(here - 1, "more marker")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_things_can_be_read() {
        assert_eq!(count(1, "thread"), "1 thread");
        assert_eq!(count(0, "slice"), "0 slices");
        assert_eq!(count(999, "slice"), "999 slices");
        assert_eq!(count(1_234_567, "sample"), "1,234,567 samples");
    }
}

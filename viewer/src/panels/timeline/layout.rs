//! Where things are: the rows of processes and threads, which of them are in view, and what is at a point.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

use egui::{Rect, pos2};
use rustc_hash::{FxHashMap, FxHashSet};
use traceview_core::model::{Nanos, ProcessId, Profile, Thread, ThreadId};

use crate::document::{Document, ThreadTotals};
pub(super) use crate::panels::plot;

/// How high the overview is.
pub(super) const OVERVIEW: f32 = 36.0;
/// How high the ruler is.
pub(super) const RULER: f32 = 24.0;
/// How high the track of a thread is.
pub(super) const TRACK: f32 = 22.0;
/// How much higher it is with a lane of markers above its graph.
pub(super) const MARKERS: f32 = 6.0;
/// The middle of that lane, from the top of the row.
pub(super) const MARKER_LANE: f32 = 6.0;
/// How far from its middle the lane reaches.
pub(super) const HALF_LANE: f32 = 4.5;
/// How high the row of a counter is.
pub(super) const COUNTER: f32 = TRACK;
/// The counters of so many processes are shown at first.
const MOST_PROCESSES_WITH_COUNTERS: usize = 4;
/// How high a line about a process or about hidden threads is.
pub(super) const HEADER: f32 = TRACK;

/// The parts of the panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Areas {
    pub(super) overview: Rect,
    pub(super) ruler: Rect,
    pub(super) tracks: Rect,
}

/// What a row is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// The name of a process.
    Process(ProcessId),
    /// A thread.
    Thread(ThreadId),
    /// A counter, by its row in the profile.
    Counter(usize),
    /// The line that says how many counters more there are.
    MoreCounters,
    /// The line that says how many threads have nothing to show.
    Empty,
}

/// Which rows are folded away.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Folding {
    pub(super) collapsed: FxHashSet<ProcessId>,
    /// Whether threads with nothing recorded are shown.
    pub(super) empty_open: bool,
    /// Whether the counters of all processes are shown.
    pub(super) counters_open: bool,
}

/// What the threads of a process did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ProcessTotals {
    pub(super) cpu: Nanos,
    pub(super) threads: usize,
    pub(super) samples: usize,
    pub(super) slices: usize,
    pub(super) markers: usize,
}

/// All rows, from the top.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Where each row begins, and where the last ends.
    tops: Vec<f32>,
    processes: Vec<ProcessTotals>,
    /// CPU time of all threads.
    pub(super) cpu: Nanos,
    /// Threads without anything to show.
    pub(super) empty: usize,
    /// Counters of processes that did less than others.
    pub(super) more_counters: usize,
    /// Threads that are not shown: folded away or empty.
    pub(super) hidden: usize,
    /// Threads that are not told apart by their names: others of their process have the same.
    repeated: FxHashSet<ThreadId>,
    /// By thread: the row that shows it, or else the one that hides it.
    places: Vec<usize>,
    /// Whether there are several processes with a thread each, so that threads are named as processes are.
    pub(super) single_threads: bool,
}

impl Areas {
    /// The parts of a panel at `rect`. Without times there is nothing above the tracks but a line of text.
    pub(super) fn of(rect: Rect, timed: bool) -> Self {
        let overview = if timed { OVERVIEW } else { 0.0 };
        let cut = |from: f32, to: f32| {
            let [from, to] = [from, to].map(|y| (rect.top() + y).min(rect.bottom()));
            Rect::from_min_max(pos2(rect.left(), from), pos2(rect.right(), to))
        };
        Self {
            overview: cut(0.0, overview),
            ruler: cut(overview, overview + RULER),
            tracks: cut(overview + RULER, f32::INFINITY),
        }
    }
}

/// The part of a row with its name.
pub(super) fn gutter(row: Rect) -> Rect {
    Rect::from_min_max(row.min, pos2(plot(row).left(), row.bottom()))
}

/// Whether there is nothing of `thread` that a graph could show.
fn has_no_graph(profile: &Profile, thread: ThreadId) -> bool {
    let thread = &profile.threads[thread.index()];
    thread.samples.is_empty() && thread.slices.is_empty() && thread.waits.is_empty()
}

/// The threads with nothing to show. A start and an exit of their own are much said of threads only where there are no
/// graphs.
fn empty_threads(profile: &Profile) -> FxHashSet<ThreadId> {
    let threads = || (0..profile.threads.len()).map(ThreadId::new);
    let graphs = threads().any(|thread| !has_no_graph(profile, thread));
    let has_markers = |thread: ThreadId| !profile.threads[thread.index()].markers.is_empty();
    threads().filter(|thread| has_no_graph(profile, *thread) && (graphs || !has_markers(*thread))).collect()
}

/// How high the panel is, at most, to show rows with these bottoms in a window with `room`: whole rows, of none but which
/// there are.
pub(super) fn fitting_height(bottoms: &[f32], room: f32) -> f32 {
    const SHARE: f32 = 0.4;
    const FEWEST: usize = 2;
    let above = OVERVIEW + RULER;
    let fit = bottoms.partition_point(|bottom| *bottom <= room * SHARE - above).max(FEWEST);
    let last = fit.min(bottoms.len()).checked_sub(1);
    above + last.map_or(0.0, |last| bottoms[last])
}

/// Threads whose name another one of their process has.
fn repeated(profile: &Profile) -> FxHashSet<ThreadId> {
    let key = |thread: &ThreadId| {
        let row = &profile.threads[thread.index()];
        (row.process, profile.string(row.name))
    };
    let threads = || (0..profile.threads.len()).map(ThreadId::new);
    let mut counts: FxHashMap<_, usize> = FxHashMap::default();
    for thread in threads() {
        *counts.entry(key(&thread)).or_default() += 1;
    }
    threads().filter(|thread| counts[&key(thread)] > 1).collect()
}

impl Rows {
    /// The rows of `document`: processes as the profile has them, in each its main thread, then the busiest ones.
    pub(super) fn new(document: &Document, folding: &Folding) -> Self {
        let profile = &document.profile;
        let without = empty_threads(profile);
        let (empty, shown): (Vec<_>, Vec<_>) =
            (0..profile.threads.len()).map(ThreadId::new).partition(|it| without.contains(it));
        let mut of_process: Vec<Vec<ThreadId>> = vec![Vec::new(); profile.processes.len()];
        for thread in &shown {
            of_process[profile.threads[thread.index()].process.index()].push(*thread);
        }
        let several = of_process.iter().filter(|threads| !threads.is_empty()).count() > 1;
        // A line above each single thread would say little.
        let single_threads = several && of_process.iter().all(|threads| threads.len() <= 1);
        let processes = totals(document);
        let (mut counters, more_counters) = counters(profile, &processes, folding.counters_open);
        let (mut rows, mut hidden) = (Vec::new(), 0);
        for (process, mut threads) in of_process.into_iter().enumerate() {
            let process = ProcessId::new(process);
            threads.sort_by_key(|thread| {
                let ThreadTotals { cpu, samples, slices } = document.activity[thread.index()];
                (!profile.threads[thread.index()].is_main, Reverse((cpu, samples, slices)))
            });
            if several && !single_threads && !threads.is_empty() {
                rows.push(Row::Process(process));
                if folding.collapsed.contains(&process) {
                    hidden += threads.len();
                    continue;
                }
            }
            // Counters stand below the line of their process, or else below its main thread.
            let has_line = matches!(rows.last(), Some(Row::Process(_)));
            let mut threads = threads.into_iter().map(Row::Thread);
            if !has_line {
                rows.extend(threads.next());
            }
            rows.extend(counters.remove(&process).into_iter().flatten().map(Row::Counter));
            rows.extend(threads);
        }
        if more_counters > 0 {
            rows.push(Row::MoreCounters);
        }
        if !empty.is_empty() {
            rows.push(Row::Empty);
            if folding.empty_open {
                rows.extend(empty.iter().copied().map(Row::Thread));
            } else {
                hidden += empty.len();
            }
        }
        let mut tops = vec![0.0];
        tops.extend(rows.iter().scan(0.0, |bottom, row| {
            *bottom += row.height(profile);
            Some(*bottom)
        }));
        let cpu = processes.iter().map(|process| process.cpu).sum();
        let repeated = repeated(profile);
        let places = places(profile, &rows, &without);
        let empty = empty.len();
        Self { rows, tops, processes, cpu, empty, more_counters, hidden, repeated, places, single_threads }
    }

    /// Where each of them ends.
    pub(super) fn bottoms(&self) -> &[f32] {
        &self.tops[1..]
    }

    /// CPU time of a process, and how many threads it has.
    pub(super) fn process(&self, process: ProcessId) -> ProcessTotals {
        self.processes[process.index()]
    }

    /// Whether another thread of its process has the name of `thread`.
    pub(super) fn is_repeated(&self, thread: ThreadId) -> bool {
        self.repeated.contains(&thread)
    }

    /// How high all of them are.
    pub(super) fn height(&self) -> f32 {
        self.tops[self.rows.len()]
    }

    /// The rows of which something is between `from` and `to`.
    pub(super) fn visible(&self, from: f32, to: f32) -> Range<usize> {
        let first = self.tops[1..].partition_point(|bottom| *bottom <= from);
        let end = self.tops[..self.rows.len()].partition_point(|top| *top < to);
        first..end.max(first)
    }

    /// The row at `y`.
    pub(super) fn at(&self, y: f32) -> Option<Row> {
        let row = self.tops[1..].partition_point(|bottom| *bottom <= y);
        self.rows.get(row).copied().filter(|_| y >= 0.0)
    }

    /// Row `index`, and where it is.
    pub(super) fn get(&self, index: usize) -> (Row, Range<f32>) {
        (self.rows[index], self.tops[index]..self.tops[index + 1])
    }

    /// Which row is that of `thread`.
    pub(super) fn position(&self, thread: ThreadId) -> Option<usize> {
        Some(self.place(thread)).filter(|row| self.rows.get(*row) == Some(&Row::Thread(thread)))
    }

    /// Which row shows `thread`, or else hides it.
    pub(super) fn place(&self, thread: ThreadId) -> usize {
        self.places[thread.index()]
    }

    /// The thread that is `steps` threads below `from` (or above, or the first).
    pub(super) fn neighbour(&self, from: Option<ThreadId>, down: bool) -> Option<ThreadId> {
        let thread = |row: &Row| if let Row::Thread(thread) = row { Some(*thread) } else { None };
        match from.and_then(|from| self.position(from)) {
            Some(at) if down => self.rows[at + 1..].iter().find_map(thread),
            Some(at) => self.rows[..at].iter().rev().find_map(thread),
            None => self.rows.iter().find_map(thread),
        }
    }

    /// How far to scroll at most to see the last row in `height`.
    pub(super) fn most_scroll(&self, height: f32) -> f32 {
        let hidden = self.height() - height;
        // Places are rounded; a bar for less than a pixel would be odd.
        if hidden < 0.5 { 0.0 } else { hidden }
    }

    /// `scroll`, changed as little as possible so that all of row `index` is in `height`.
    pub(super) fn scroll_to(&self, index: usize, scroll: f32, height: f32) -> f32 {
        let (top, bottom) = (self.tops[index], self.tops[index + 1]);
        scroll.max(bottom - height).min(top).clamp(0.0, self.most_scroll(height))
    }
}

fn totals(document: &Document) -> Vec<ProcessTotals> {
    let mut processes = vec![ProcessTotals::default(); document.profile.processes.len()];
    for (thread, totals) in document.profile.threads.iter().zip(&document.activity) {
        let process = &mut processes[thread.process.index()];
        process.cpu += totals.cpu;
        process.threads += 1;
        process.samples += totals.samples;
        process.slices += totals.slices;
        process.markers += thread.markers.len();
    }
    processes
}

/// The counters of each process in the order in which they are shown, and how many there are of processes that are not
/// among the busiest.
fn counters(profile: &Profile, totals: &[ProcessTotals], all: bool) -> (FxHashMap<ProcessId, Vec<usize>>, usize) {
    let mut of_process: FxHashMap<ProcessId, Vec<usize>> = FxHashMap::default();
    for (row, counter) in profile.counters.iter().enumerate().filter(|(_, counter)| !counter.time.is_empty()) {
        of_process.entry(counter.process).or_default().push(row);
    }
    for counters in of_process.values_mut() {
        counters.sort_by_key(|row| profile.counters[*row].display.sort_weight);
    }
    let mut processes: Vec<ProcessId> = of_process.keys().copied().collect();
    processes.sort_by_key(|process| (Reverse(totals[process.index()].cpu), *process));
    let others = processes.get(MOST_PROCESSES_WITH_COUNTERS..).unwrap_or_default();
    let more = others.iter().map(|process| of_process[process].len()).sum();
    if !all {
        others.iter().for_each(|process| _ = of_process.remove(process));
    }
    (of_process, more)
}

/// By thread: its row, or else that of its process or of all empty threads.
fn places(profile: &Profile, rows: &[Row], without: &FxHashSet<ThreadId>) -> Vec<usize> {
    let mut of_process = FxHashMap::default();
    let mut of_thread = FxHashMap::default();
    for (index, row) in rows.iter().enumerate() {
        match row {
            Row::Process(process) => _ = of_process.insert(*process, index),
            Row::Thread(thread) => _ = of_thread.insert(*thread, index),
            Row::Counter(_) | Row::MoreCounters | Row::Empty => {}
        }
    }
    let last = rows.len().saturating_sub(1);
    let place = |(row, thread): (usize, &Thread)| {
        let hides = of_process.get(&thread.process).filter(|_| !without.contains(&ThreadId::new(row)));
        of_thread.get(&ThreadId::new(row)).or(hides).copied().unwrap_or(last)
    };
    profile.threads.iter().enumerate().map(place).collect()
}

/// Whether the track of `thread` has a lane of markers.
pub(super) fn has_lane(profile: &Profile, thread: ThreadId) -> bool {
    !profile.threads[thread.index()].markers.is_empty()
}

impl Row {
    fn height(self, profile: &Profile) -> f32 {
        match self {
            Self::Thread(thread) if has_lane(profile, thread) => TRACK + MARKERS,
            Self::Thread(_) => TRACK,
            Self::Counter(_) => COUNTER,
            Self::Process(_) | Self::MoreCounters | Self::Empty => HEADER,
        }
    }
}

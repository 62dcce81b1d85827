//! Which markers are listed, in which order.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use traceview_core::analysis;
use traceview_core::model::{Nanos, StringId, ThreadId, TimeRange};

use crate::describe;
use crate::document::Document;
use crate::jobs::Progress;
use crate::markers::MarkerSpan;
use crate::search::SearchQuery;
use crate::selection::{Picked, PickedKind};
use crate::widget::Sort;

/// What the table is to show.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Wanted {
    pub(super) selection: analysis::Selection,
    pub(super) query: SearchQuery,
    pub(super) sort: Sort,
}

/// A marker: its thread, and its place among the thread's spans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) thread: ThreadId,
    pub(super) span: u32,
}

/// The markers in the selected threads and time that the search matches, in order of time.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) rows: Vec<Entry>,
    /// How many there are before the search.
    pub(super) all: usize,
}

/// The same in the order that is asked for.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) found: Arc<Found>,
    pub(super) wanted: Wanted,
    /// Rows of `found`.
    order: Vec<u32>,
}

/// After so many markers it is asked whether they are still wanted.
const AT_ONCE: usize = 1 << 16;

impl Found {
    /// `None`: it was cancelled.
    pub(super) fn of(document: &Document, wanted: &Wanted, progress: &Progress) -> Option<Self> {
        let (query, range) = (&wanted.query, wanted.selection.range);
        let (mut rows, mut all) = (Vec::new(), 0);
        let mut known: FxHashMap<StringId, bool> = FxHashMap::default();
        for thread in wanted.selection.thread_ids(&document.profile) {
            let markers = &document.profile.threads[thread.index()].markers;
            for (span, index) in document.markers[thread.index()].spans().iter().zip(0..) {
                if !is_in(range, span) {
                    continue;
                }
                all += 1;
                if all % AT_ONCE == 0 {
                    progress.go_on()?;
                }
                let entry = Entry { thread, span: index };
                let id = markers.name[span.marker.index()];
                let name = document.profile.string(id);
                // Most are found, or not, by their names, of which there are few.
                let is_found = *known.entry(id).or_insert_with(|| query.matches(&std::iter::once(name)))
                    || query.matches(&[name, &describe::marker_line(document, thread, span.marker)].into_iter());
                if is_found {
                    rows.push(entry);
                }
            }
        }
        progress.go_on()?;
        rows.sort_by_key(|entry| span_of(document, *entry).start);
        Some(Self { rows, all })
    }
}

impl Ordered {
    pub(super) fn new(document: &Document, found: Arc<Found>, wanted: Wanted) -> Self {
        let Sort { key, descending } = wanted.sort;
        let rows = &found.rows;
        let mut order: Vec<u32> = (0..).take(rows.len()).collect();
        let entry = |row: &u32| rows[*row as usize];
        let string = |id: StringId| document.profile.string(id);
        let marker = |entry: Entry| span_of(document, entry).marker.index();
        let table = |entry: Entry| &document.profile.threads[entry.thread.index()].markers;
        match key {
            "duration" => order.sort_by_key(|row| span_of(document, entry(row)).duration),
            "name" => {
                let id = |entry: Entry| table(entry).name[marker(entry)];
                let ranks = ranks(rows.iter().map(|entry| id(*entry)), string);
                order.sort_by_key(|row| ranks[&id(entry(row))]);
            }
            "thread" => {
                let name = |entry: Entry| document.profile.threads[entry.thread.index()].name;
                let ranks = ranks(rows.iter().map(|entry| name(*entry)), string);
                order.sort_by_key(|row| (ranks[&name(entry(row))], entry(row).thread));
            }
            "category" => {
                let category =
                    |entry: Entry| document.profile.categories[table(entry).category[marker(entry)].index()].name;
                let ranks = ranks(rows.iter().map(|entry| category(*entry)), string);
                order.sort_by_key(|row| ranks[&category(entry(row))]);
            }
            "details" => order.sort_by_cached_key(|row| {
                let entry = entry(row);
                describe::marker_line(document, entry.thread, span_of(document, entry).marker)
            }),
            // They are in order of time, and of equal ones the first stays first.
            _ => {}
        }
        if descending {
            order.reverse();
        }
        Self { found, wanted, order }
    }

    /// What is listed in `row`.
    pub(super) fn entry(&self, row: usize) -> Entry {
        self.found.rows[self.order[row] as usize]
    }

    /// The same as something that is selected.
    pub(super) fn picked(&self, document: &Document, row: usize) -> Picked {
        let entry = self.entry(row);
        span_of(document, entry).picked(entry.thread)
    }

    /// Where what was picked is listed, if that is a marker.
    pub(super) fn row_of(&self, document: &Document, picked: &Picked) -> Option<usize> {
        let PickedKind::Marker(marker) = picked.what else { return None };
        let span = document.markers[picked.thread.index()].position(marker);
        let is_it = |entry: &Entry| entry.thread == picked.thread && entry.span as usize == span;
        (0..self.order.len()).find(|row| is_it(&self.entry(*row)))
    }
}

pub(super) fn span_of(document: &Document, entry: Entry) -> &MarkerSpan {
    &document.markers[entry.thread.index()].spans()[entry.span as usize]
}

fn is_in(range: TimeRange, span: &MarkerSpan) -> bool {
    range == TimeRange::ALL
        || range.contains(span.start)
        || (span.duration > Nanos::ZERO && range.overlap(span.start, span.duration) > Nanos::ZERO)
}

/// The place of each name in the alphabet: comparing numbers is quicker than comparing names.
fn ranks<'a>(ids: impl Iterator<Item = StringId>, string: impl Fn(StringId) -> &'a str) -> FxHashMap<StringId, u32> {
    let distinct: rustc_hash::FxHashSet<StringId> = ids.collect();
    let mut sorted: Vec<StringId> = distinct.into_iter().collect();
    sorted.sort_unstable_by_key(|id| string(*id));
    sorted.into_iter().zip(0..).collect()
}

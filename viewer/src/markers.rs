//! The markers of a thread in order of time, with starts and ends put together.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use traceview_core::model::{MarkerId, MarkerTable, MarkerTiming, Nanos, StringId, ThreadId, Time, TimeRange};

use crate::document::Document;
use crate::selection::{Picked, PickedKind};

/// The markers of one thread.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ThreadMarkers {
    spans: Vec<MarkerSpan>,
    /// By row of the marker table: which span it is part of.
    span_of: Vec<u32>,
}

/// A moment or a span of time with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarkerSpan {
    /// When it began.
    pub start: Time,
    /// How long it lasted.
    pub duration: Nanos,
    /// The marker that tells of it; of a start and an end the start.
    pub marker: MarkerId,
    /// Whether it is a moment by its kind, not a span that happened to be short.
    pub is_moment: bool,
}

impl ThreadMarkers {
    /// Puts the rows of `table` in order. What was started and never ended lasts until `end`.
    pub fn of(table: &MarkerTable, end: Time) -> Self {
        let mut open: FxHashMap<StringId, Vec<usize>> = FxHashMap::default();
        let mut spans: Vec<MarkerSpan> = Vec::with_capacity(table.len());
        let mut place_of = Vec::with_capacity(table.len());
        for (row, timing) in table.timing.iter().enumerate() {
            let (start, duration, is_moment) = match *timing {
                MarkerTiming::Instant(time) => (time, Nanos::ZERO, true),
                MarkerTiming::Interval(start, end) => (start, end - start, false),
                MarkerTiming::Start(start) => {
                    open.entry(table.name[row]).or_default().push(spans.len());
                    (start, Nanos((end - start).0.max(0)), false)
                }
                MarkerTiming::End(time) => {
                    if let Some(begun) = open.get_mut(&table.name[row]).and_then(Vec::pop) {
                        let span = &mut spans[begun];
                        span.duration = Nanos((time - span.start).0.max(0));
                        place_of.push(begun);
                        continue;
                    }
                    (time, Nanos::ZERO, true)
                }
            };
            place_of.push(spans.len());
            spans.push(MarkerSpan { start, duration, marker: MarkerId::new(row), is_moment });
        }
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|place| (spans[*place].start, Reverse(spans[*place].duration)));
        let mut sorted = vec![0u32; spans.len()];
        for (index, place) in (0..).zip(&order) {
            sorted[*place] = index;
        }
        Self {
            spans: order.iter().map(|place| spans[*place]).collect(),
            span_of: place_of.into_iter().map(|place| sorted[place]).collect(),
        }
    }

    /// All of them in order of time; of those that begin together the longest first.
    pub fn spans(&self) -> &[MarkerSpan] {
        &self.spans
    }

    /// Which of [`spans`](Self::spans) a marker is part of.
    ///
    /// # Panics
    /// If `marker` belongs to another thread.
    pub fn position(&self, marker: MarkerId) -> usize {
        self.span_of[marker.index()] as usize
    }

    /// How many begin in `range`.
    pub fn count_in(&self, range: TimeRange) -> usize {
        let before = |time: Time| self.spans.partition_point(|span| span.start < time);
        before(range.end).saturating_sub(before(range.start))
    }
}

impl MarkerSpan {
    /// It as something that is selected.
    pub fn picked(&self, thread: ThreadId) -> Picked {
        Picked { thread, what: PickedKind::Marker(self.marker), start: self.start, duration: self.duration }
    }
}

/// The marker of `thread` after `from` (or before it): after any marker the next one, else the next in time; where nothing
/// of this thread is selected, the first (or last) in view.
pub fn step(
    document: &Document,
    thread: ThreadId,
    from: Option<&Picked>,
    visible: TimeRange,
    forward: bool,
) -> Option<Picked> {
    let markers = &document.markers[thread.index()];
    let until = |time: Time| markers.spans.partition_point(|span| span.start < time);
    let index = match (from.filter(|from| from.thread == thread).map(|from| (from.what, from.start)), forward) {
        (Some((PickedKind::Marker(marker), _)), true) => Some(markers.position(marker) + 1),
        (Some((PickedKind::Marker(marker), _)), false) => markers.position(marker).checked_sub(1),
        (Some((_, time)), true) => Some(markers.spans.partition_point(|span| span.start <= time)),
        (Some((_, time)), false) => until(time).checked_sub(1),
        (None, true) => Some(until(visible.start)),
        (None, false) => markers.spans.partition_point(|span| span.start <= visible.end).checked_sub(1),
    };
    Some(markers.spans.get(index?)?.picked(thread))
}

#[cfg(test)]
mod tests {
    use traceview_core::model::{Marker, StandardCategory};

    use super::*;
    use crate::testing::{TestProfile, document};

    fn table(timings: &[(usize, MarkerTiming)]) -> MarkerTable {
        let mut strings = TestProfile::new().builder;
        let names = ["a", "b"].map(|name| strings.string(name));
        let mut table = MarkerTable::default();
        for (name, timing) in timings {
            table.push(Marker {
                name: names[*name],
                timing: *timing,
                category: StandardCategory::Other.id(),
                schema: None,
                payload: None,
                stack: None,
            });
        }
        table
    }

    fn spans(table: &MarkerTable) -> Vec<(i64, i64, usize)> {
        let markers = ThreadMarkers::of(table, Time(100));
        markers.spans().iter().map(|span| (span.start.0, span.duration.0, span.marker.index())).collect()
    }

    #[test]
    fn markers_are_in_order_of_time_whatever_their_order_in_the_table() {
        use MarkerTiming::{Instant, Interval};
        let table = table(&[(0, Instant(Time(30))), (1, Interval(Time(5), Time(20))), (0, Instant(Time(5)))]);
        assert_eq!(spans(&table), [(5, 15, 1), (5, 0, 2), (30, 0, 0)]);
        let markers = ThreadMarkers::of(&table, Time(100));
        assert_eq!([0, 1, 2].map(|row| markers.position(MarkerId::new(row))), [2, 0, 1]);
        assert_eq!(markers.count_in(TimeRange { start: Time(5), end: Time(30) }), 2);
        assert_eq!(markers.count_in(TimeRange { start: Time(30), end: Time(5) }), 0);
    }

    #[test]
    fn starts_and_ends_of_a_name_are_one_span() {
        use MarkerTiming::{End, Start};
        let at = |time| Time(time);
        let nested = table(&[
            (0, Start(at(1))),
            (1, Start(at(2))),
            (0, Start(at(3))),
            (0, End(at(4))),
            (0, End(at(9))),
            (0, End(at(10))),
        ]);
        // The second name never ended, and the last end was never begun.
        assert_eq!(spans(&nested), [(1, 8, 0), (2, 98, 1), (3, 1, 2), (10, 0, 5)]);
        let markers = ThreadMarkers::of(&nested, Time(100));
        assert_eq!(markers.position(MarkerId::new(3)), 2, "an end is part of the span that it ends");
    }

    #[test]
    fn stepping_goes_through_all_markers_and_ends() {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("main");
        for time in [50, 10, 30] {
            profile.instant(thread, time, "tick", None);
        }
        let document = document(profile.finish());
        let all = TimeRange { start: Time(0), end: Time(100) };
        let late = TimeRange { start: Time(20), end: Time(40) };
        let step = |from: Option<&Picked>, visible, forward| step(&document, thread, from, visible, forward);
        let first = step(None, all, true).expect("there is one");
        let second = step(Some(&first), all, true).expect("there is one");
        assert_eq!((first.start, second.start), (Time(10), Time(30)));
        assert_eq!((step(Some(&second), all, false), step(Some(&first), all, false)), (Some(first), None));
        assert_eq!(step(None, late, true), Some(second));
        assert_eq!(step(None, late, false), Some(second));
        let wait = Picked { what: PickedKind::Wait(0), ..second };
        let third = step(Some(&wait), all, true).expect("there is one");
        assert_eq!(third.start, Time(50));
        assert_eq!(step(Some(&third), all, true), None);
    }
}

//! When something lasted that is called so.

use rustc_hash::FxHashMap;

use crate::model::{MarkerTiming, Profile, StringId, Thread, Time, TimeRange, Wait, WaitTable};

/// Spans of time in order, of which none touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spans(Vec<TimeRange>);

impl Spans {
    /// When markers and slices of `thread` lasted whose names contain `text`, in capitals or not.
    pub(super) fn named(profile: &Profile, thread: &Thread, text: &str) -> Self {
        let text = text.to_lowercase();
        let mut known: FxHashMap<StringId, bool> = FxHashMap::default();
        let mut is_meant =
            |name: StringId| *known.entry(name).or_insert_with(|| profile.string(name).to_lowercase().contains(&text));
        let mut spans = Vec::new();
        for (name, timing) in thread.markers.name.iter().zip(&thread.markers.timing) {
            if let MarkerTiming::Interval(start, end) = timing
                && is_meant(*name)
            {
                spans.push(TimeRange { start: *start, end: *end });
            }
        }
        let slices = &thread.slices;
        for (row, name) in slices.name.iter().enumerate() {
            if is_meant(*name) {
                spans.push(TimeRange { start: slices.start[row], end: slices.start[row] + slices.duration[row] });
            }
        }
        Self::joined(spans)
    }

    fn joined(mut spans: Vec<TimeRange>) -> Self {
        spans.sort_unstable_by_key(|span| span.start);
        let mut joined: Vec<TimeRange> = Vec::new();
        for span in spans {
            match joined.last_mut().filter(|last| span.start <= last.end) {
                Some(last) => last.end = last.end.max(span.end),
                None => joined.push(span),
            }
        }
        Self(joined)
    }

    pub(super) fn contains(&self, time: Time) -> bool {
        self.0[..self.0.partition_point(|span| span.start <= time)].last().is_some_and(|span| time <= span.end)
    }

    /// The parts of waits that lie in them.
    pub(super) fn parts_of(&self, waits: &WaitTable) -> WaitTable {
        let mut parts = Vec::new();
        for wait in waits.iter() {
            let end = wait.start + wait.duration;
            let first = self.0.partition_point(|span| span.end <= wait.start);
            for span in self.0[first..].iter().take_while(|span| span.start < end) {
                let start = wait.start.max(span.start);
                parts.push(Wait { start, duration: end.min(span.end) - start, ..wait });
            }
        }
        // Of waits that overlap the later one may have the earlier part.
        parts.sort_by_key(|part| part.start);
        let mut table = WaitTable::default();
        parts.into_iter().for_each(|part| table.push(part));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Nanos, WaitReason};

    fn span(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Time(start), end: Time(end) }
    }

    #[test]
    fn spans_that_touch_are_one() {
        let spans = Spans::joined(vec![span(20, 30), span(0, 5), span(5, 7), span(21, 22), span(40, 40)]);
        assert_eq!(spans, Spans(vec![span(0, 7), span(20, 30), span(40, 40)]));
        let inside: Vec<i64> = (-1..42).filter(|time| spans.contains(Time(*time))).collect();
        let expected: Vec<i64> = (0..=7).chain(20..=30).chain([40]).collect();
        assert_eq!(inside, expected);
    }

    #[test]
    fn waits_are_cut_to_them() {
        let mut waits = WaitTable::default();
        let wait = |start, duration| Wait {
            start: Time(start),
            duration: Nanos(duration),
            stack: None,
            reason: WaitReason::Blocked,
            syscall: None,
            target: None,
            inferred: false,
        };
        for (start, duration) in [(-5, 30), (7, 10), (25, 100)] {
            waits.push(wait(start, duration));
        }
        let parts = Spans(vec![span(0, 7), span(20, 30)]).parts_of(&waits);
        let expected = [wait(0, 7), wait(20, 5), wait(25, 5)];
        assert!(parts.iter().eq(expected), "{parts:?}");
    }
}

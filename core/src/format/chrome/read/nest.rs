//! Spans that were recorded one by one, as slices that nest.
//!
//! What starts first is outside; of what starts together the longer one, and of equals the one that stands first in the file. A
//! span that begins where another ends is beside it, also if both are empty: clocks of microseconds record what follows each
//! other quickly as empty spans of one moment. A span that ends behind the one around it goes to the first lane where it lies
//! inside what is open there. Each span costs O(log n), whatever the others do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A span of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub start: i64,
    pub end: i64,
    /// The event that begins it.
    pub begin: u32,
    /// The event that ends it, where that is another one; otherwise `begin`.
    pub finish: u32,
    /// Whether its end is not known.
    pub incomplete: bool,
}

/// Where a span is among others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Nested {
    /// The span around it, by its place in the sorted list.
    pub parent: Option<u32>,
    pub depth: u32,
    pub lane: u32,
}

/// Brings spans into the order in which they nest: parents before children.
pub(super) fn sort(spans: &mut [Span]) {
    sort_nearly_sorted(spans, |span| (span.start, Reverse(span.end), span.begin));
}

/// Sorts what is nearly in order, as events of one thread are: what is inside was often written before what is around it. Takes
/// linear time then, and no more than sorting takes otherwise. No two keys are equal.
pub(super) fn sort_nearly_sorted<T: Copy, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    /// How many places on average an item may be away from its own.
    const NEAR: usize = 8;
    let mut left = items.len() * NEAR;
    for at in 1..items.len() {
        let item = items[at];
        let item_key = key(&item);
        let mut place = at;
        while place > 0 && key(&items[place - 1]) > item_key {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
        match left.checked_sub(at - place) {
            Some(rest) => left = rest,
            None => {
                items.sort_unstable_by_key(key);
                return;
            }
        }
    }
}

/// Where each of the `spans` is, which are [sorted](sort).
pub(super) fn nest(spans: impl Iterator<Item = (i64, i64)>) -> Vec<Nested> {
    let mut lanes = Lanes::default();
    let mut nested = Vec::with_capacity(spans.size_hint().0);
    for (index, (start, end)) in (0_u32..).zip(spans) {
        let (lane, parent) = lanes.place(start, end, index);
        let depth = parent.map_or(0, |parent| {
            let parent: &Nested = &nested[parent as usize];
            parent.depth + 1
        });
        nested.push(Nested { parent, depth, lane });
    }
    nested
}

/// The spans that are open on a lane, the innermost last: end and place of each.
type Open = Vec<(i64, u32)>;

/// The lanes of a track.
#[derive(Default)]
struct Lanes {
    /// The first one, where nearly all spans go.
    first: Open,
    others: Vec<Open>,
    /// For each of the others the end of its innermost open span, or `i64::MAX`; above these, as a tree, maxima of pairs. The
    /// root is at 1, the leaves in the second half.
    most: Vec<i64>,
    /// When the spans on other lanes end.
    ends: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Lanes {
    /// Opens a span; gives its lane and the span around it.
    fn place(&mut self, start: i64, end: i64, index: u32) -> (u32, Option<u32>) {
        close(&mut self.first, start);
        if self.first.last().is_none_or(|around| end <= around.0) {
            let parent = self.first.last().map(|around| around.1);
            self.first.push((end, index));
            return (0, parent);
        }
        while let Some(Reverse((ended, lane))) = self.ends.peek().copied().filter(|Reverse((end, _))| *end <= start) {
            self.ends.pop();
            let open = &mut self.others[lane as usize];
            close(open, ended);
            let top = open.last().map_or(i64::MAX, |around| around.0);
            self.set(lane as usize, top);
        }
        let lane = self.first_with(end);
        let parent = self.others[lane].last().map(|around| around.1);
        self.others[lane].push((end, index));
        self.set(lane, end);
        let lane = u32::try_from(lane).expect("fewer lanes than spans");
        self.ends.push(Reverse((end, lane)));
        (lane + 1, parent)
    }

    fn set(&mut self, lane: usize, top: i64) {
        let mut node = self.most.len() / 2 + lane;
        self.most[node] = top;
        while node > 1 {
            node /= 2;
            self.most[node] = self.most[2 * node].max(self.most[2 * node + 1]);
        }
    }

    /// The first lane that is free or whose innermost open span does not end before `end`, added if there is none.
    fn first_with(&mut self, end: i64) -> usize {
        if self.most.get(1).is_none_or(|most| *most < end) {
            self.add_lanes();
        }
        let leaves = self.most.len() / 2;
        let mut node = 1;
        while node < leaves {
            node = if self.most[2 * node] >= end { 2 * node } else { 2 * node + 1 };
        }
        node - leaves
    }

    /// Doubles the number of lanes.
    fn add_lanes(&mut self) {
        let lanes = (self.others.len() * 2).max(1);
        self.others.resize_with(lanes, Vec::new);
        self.most = vec![i64::MAX; 2 * lanes];
        for (lane, open) in self.others.iter().enumerate() {
            self.most[lanes + lane] = open.last().map_or(i64::MAX, |around| around.0);
        }
        for node in (1..lanes).rev() {
            self.most[node] = self.most[2 * node].max(self.most[2 * node + 1]);
        }
    }
}

fn close(open: &mut Open, time: i64) {
    while open.last().is_some_and(|around| around.0 <= time) {
        open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth, lane and parent of spans.
    fn places(spans: &[(i64, i64)]) -> Vec<(u32, u32, Option<u32>)> {
        nest(spans.iter().copied()).iter().map(|one| (one.depth, one.lane, one.parent)).collect()
    }

    #[test]
    fn what_lies_inside_is_a_child_and_what_touches_is_not() {
        let spans = [(0, 10), (0, 5), (5, 10), (10, 10), (10, 15), (10, 12), (12, 15)];
        let expected = [
            (0, 0, None),
            (1, 0, Some(0)),
            (1, 0, Some(0)),
            (0, 0, None),
            (0, 0, None),
            (1, 0, Some(4)),
            (1, 0, Some(4)),
        ];
        assert_eq!(places(&spans), expected);
    }

    #[test]
    fn what_overlaps_has_lanes_of_its_own() {
        let spans = [(0, 10), (5, 15), (6, 8), (7, 20), (12, 14), (13, 16), (16, 18), (30, 31)];
        let expected = [
            (0, 0, None),
            (0, 1, None),
            (1, 0, Some(0)),
            (0, 2, None),
            (0, 0, None),
            (1, 2, Some(3)),
            (0, 0, None),
            (0, 0, None),
        ];
        assert_eq!(places(&spans), expected);
    }

    #[test]
    fn a_hundred_thousand_overlaps_and_depths_take_no_square_time() {
        const COUNT: i64 = 100_000;
        let staggered: Vec<_> = (0..COUNT).map(|start| (start, start + COUNT)).collect();
        let nested = nest(staggered.into_iter());
        assert!((0..).zip(&nested).all(|(index, one)| (one.lane, one.depth) == (index, 0)));
        let deep: Vec<_> = (0..COUNT).map(|start| (start, 2 * COUNT - start)).collect();
        let nested = nest(deep.into_iter());
        assert!((0..).zip(&nested).all(|(index, one)| (one.lane, one.depth) == (0, index)));
    }

    #[test]
    fn whatever_its_order_all_is_sorted_in_no_square_time() {
        const COUNT: u32 = 300_000;
        let nearly = (0..COUNT).map(|number| number ^ 3).collect();
        let mixed = (0..COUNT).map(|number| number.wrapping_mul(0x9e37_79b1)).collect();
        let orders: [Vec<u32>; 4] = [nearly, mixed, (0..COUNT).rev().collect(), Vec::new()];
        for mut numbers in orders {
            let mut expected = numbers.clone();
            expected.sort_unstable();
            sort_nearly_sorted(&mut numbers, |number| *number);
            assert_eq!(numbers, expected);
        }
    }

    #[test]
    fn sorting_puts_parents_first() {
        let span = |start, end, begin| Span { start, end, begin, finish: begin, incomplete: false };
        let mut spans = [span(5, 6, 0), span(0, 5, 1), span(0, 10, 2), span(0, 5, 3), span(0, 0, 4)];
        sort(&mut spans);
        assert_eq!(spans.map(|span| span.begin), [2, 1, 3, 4, 0]);
    }
}

//! Boxes made of the samples of a thread: a frame's box lasts while consecutive samples have it at its depth.
//!
//! A thread 100,000 frames deep that sleeps a thousand times would have a hundred million boxes, all alike. They are
//! therefore kept as strips: boxes of neighbouring depths that begin and end together are one strip, told by its
//! innermost stack node. A sample begins one strip at most and cuts one at most, so that there are no more than two
//! for each sample, however deep the stacks are. Boxes are made of them for the depths that are shown.

use std::borrow::Borrow;
use std::ops::Range;

use traceview_core::model::{Nanos, SampleTable, StackId, StackTable, Time, WaitTable};

use super::spans::Spans;
use super::stack_index::StackIndex;

/// When a sample's boxes end if they are not continued by the next sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoxTiming {
    /// How long a sample stands for when no other follows in time.
    pub interval: Nanos,
    /// How far apart samples may be for nothing to be missing between them.
    pub longest_step: Nanos,
}

impl BoxTiming {
    /// For samples taken each `interval`: up to three may be missing, as a late tick is no pause of the program.
    pub fn for_interval(interval: Nanos) -> Self {
        Self { interval, longest_step: Nanos(interval.0.saturating_mul(4)) }
    }

    /// For samples of an unknown interval: the median distance of neighbours is taken for it.
    pub fn estimate(samples: &SampleTable) -> Self {
        let mut steps: Vec<i64> = samples.time.windows(2).map(|pair| (pair[1] - pair[0]).0).collect();
        let middle = steps.len() / 2;
        let median = if steps.is_empty() { 1 } else { *steps.select_nth_unstable(middle).1 };
        Self::for_interval(Nanos(median.max(1)))
    }
}

/// Boxes of neighbouring depths that begin and end together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strip {
    /// When they begin.
    pub start: Time,
    /// When they end.
    pub end: Time,
    /// The outermost depth; the root's is 0.
    pub first_depth: u32,
    /// The innermost depth.
    pub last_depth: u32,
    /// The stack node of the innermost box. Those of the others are its ancestors.
    pub innermost: StackId,
}

/// All boxes of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SampleBoxes {
    /// In order of their ends. Strips of one depth do not overlap.
    strips: Vec<Strip>,
    depths: u32,
}

impl SampleBoxes {
    /// Makes boxes of a thread's samples.
    ///
    /// A box ends where the next sample has another node at its depth, at a sample without a stack, where a wait
    /// begins, and after an interval where the next sample is too far away. A sample within a wait has boxes of no
    /// length. Samples without times give no boxes.
    pub fn build(
        samples: &SampleTable,
        waits: &WaitTable,
        stacks: &StackTable,
        index: &StackIndex,
        timing: BoxTiming,
    ) -> Self {
        let mut builder = Builder { stacks, index, strips: Vec::new(), open: Vec::new(), leaf: None };
        let mut depths = 0;
        let mut wait = 0;
        for (row, &time) in samples.time.iter().enumerate() {
            builder.change_to(samples.stack[row], time);
            depths = depths.max(samples.stack[row].map_or(0, |stack| index.depth(stack) + 1));
            let next = samples.time.get(row + 1).copied();
            let mut end = match next {
                Some(next) if next - time <= timing.longest_step => next,
                Some(next) => next.min(time + timing.interval),
                None => time + timing.interval,
            };
            while wait < waits.len() && waits.start[wait] + waits.duration[wait] <= time {
                wait += 1;
            }
            if let Some(&start) = waits.start.get(wait) {
                end = end.min(start.max(time));
            }
            if next != Some(end) {
                builder.change_to(None, end);
            }
        }
        Self { strips: builder.strips, depths }
    }

    /// How deep the deepest stack is.
    pub fn depths(&self) -> u32 {
        self.depths
    }

    /// The strips, in order of their ends.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }
}

/// The strips while they are made.
struct Builder<'a> {
    stacks: &'a StackTable,
    index: &'a StackIndex,
    strips: Vec<Strip>,
    /// The strips that have not ended, from the root: each reaches to the next one, the last to the leaf.
    open: Vec<OpenStrip>,
    /// The innermost node of the sample before.
    leaf: Option<StackId>,
}

struct OpenStrip {
    first_depth: u32,
    start: Time,
}

impl Builder<'_> {
    /// Ends what `stack` does not continue at `time`, and begins what it has beyond that.
    fn change_to(&mut self, stack: Option<StackId>, time: Time) {
        if stack == self.leaf {
            return;
        }
        let common = match (self.leaf, stack) {
            (Some(old), Some(new)) => self.index.common(self.stacks, old, new),
            _ => 0,
        };
        if let Some(leaf) = self.leaf {
            self.end_from(common, leaf, time);
        }
        if let Some(stack) = stack
            && self.index.depth(stack) >= common
        {
            self.open.push(OpenStrip { first_depth: common, start: time });
        }
        self.leaf = stack;
    }

    fn end_from(&mut self, depth: u32, leaf: StackId, time: Time) {
        let mut innermost = leaf;
        while let Some(strip) = self.open.last() {
            let last_depth = self.index.depth(innermost);
            if last_depth < depth {
                return;
            }
            let first_depth = strip.first_depth.max(depth);
            self.strips.push(Strip { start: strip.start, end: time, first_depth, last_depth, innermost });
            if strip.first_depth < depth {
                return;
            }
            self.open.pop();
            let Some(above) = first_depth.checked_sub(1) else { return };
            innermost = self.index.at_depth(self.stacks, innermost, above);
        }
    }
}

/// The boxes of some depths as [`Spans`]: row 0 is the outermost of these depths.
///
/// `B` is what holds the boxes, for example a reference or an `Arc`.
#[derive(Clone, Debug)]
pub struct BoxRows<B> {
    boxes: B,
    depths: Range<u32>,
    /// Each item's strip and row.
    strip: Vec<u32>,
    row: Vec<u32>,
}

impl<B: Borrow<SampleBoxes>> BoxRows<B> {
    /// Makes the boxes of `depths`. What it takes grows with the depths asked for: of very deep stacks, ask for those
    /// around the visible ones.
    pub fn new(boxes: B, depths: Range<u32>) -> Self {
        let all: &SampleBoxes = boxes.borrow();
        let depths = depths.start..depths.end.min(all.depths);
        let (mut strip, mut row) = (Vec::new(), Vec::new());
        for (index, it) in (0..).zip(&all.strips) {
            for depth in it.first_depth.max(depths.start)..depths.end.min(it.last_depth + 1) {
                strip.push(index);
                row.push(depth - depths.start);
            }
        }
        Self { boxes, depths, strip, row }
    }

    /// The depths that the rows show.
    pub fn depths(&self) -> Range<u32> {
        self.depths.clone()
    }

    /// The stack node of a box.
    pub fn node(&self, item: usize, stacks: &StackTable, index: &StackIndex) -> StackId {
        index.at_depth(stacks, self.strip(item).innermost, self.depths.start + self.row[item])
    }

    fn strip(&self, item: usize) -> &Strip {
        &self.boxes.borrow().strips[self.strip[item] as usize]
    }
}

impl<B: Borrow<SampleBoxes>> Spans for BoxRows<B> {
    fn len(&self) -> usize {
        self.row.len()
    }

    fn rows(&self) -> u32 {
        self.depths.end.saturating_sub(self.depths.start)
    }

    fn row(&self, item: usize) -> u32 {
        self.row[item]
    }

    fn start(&self, item: usize) -> Time {
        self.strip(item).start
    }

    fn duration(&self, item: usize) -> Nanos {
        self.strip(item).end - self.strip(item).start
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};
    use traceview_core::model::{FrameId, Wait, WaitReason};

    use super::*;

    const TIMING: BoxTiming = BoxTiming { interval: Nanos(10), longest_step: Nanos(40) };

    /// The stacks 0, 0-1, 0-1-2, 0-1-3, 0-4 and another root, 5.
    fn stacks() -> StackTable {
        let prefix = [None, Some(0), Some(1), Some(1), Some(0), None];
        StackTable {
            prefix: prefix.iter().map(|prefix| prefix.map(StackId::new)).collect(),
            frame: vec![FrameId::new(0); prefix.len()],
        }
    }

    fn samples(rows: &[(i64, Option<usize>)]) -> SampleTable {
        SampleTable {
            time: rows.iter().map(|row| Time(row.0)).collect(),
            stack: rows.iter().map(|row| row.1.map(StackId::new)).collect(),
            ..SampleTable::default()
        }
    }

    fn waits(spans: &[(i64, i64)]) -> WaitTable {
        let mut waits = WaitTable::default();
        for &(start, end) in spans {
            waits.push(Wait {
                start: Time(start),
                duration: Nanos(end - start),
                stack: None,
                reason: WaitReason::Blocked,
                syscall: None,
                target: None,
                inferred: false,
            });
        }
        waits
    }

    /// The boxes as (depth, node, start, end), sorted.
    fn boxes(rows: &[(i64, Option<usize>)], wait_spans: &[(i64, i64)]) -> Vec<(u32, usize, i64, i64)> {
        let (stacks, samples, waits) = (stacks(), samples(rows), waits(wait_spans));
        let index = StackIndex::new(&stacks);
        let all = SampleBoxes::build(&samples, &waits, &stacks, &index, TIMING);
        assert!(all.strips().len() <= 2 * samples.len(), "two strips for each sample at most");
        let rows = BoxRows::new(&all, 0..u32::MAX);
        let mut boxes = Vec::new();
        for item in 0..rows.len() {
            let node = rows.node(item, &stacks, &index);
            assert_eq!(index.depth(node), rows.row(item));
            let start = rows.start(item);
            boxes.push((rows.row(item), node.index(), start.0, (start + rows.duration(item)).0));
        }
        assert_eq!(rows.rows(), all.depths());
        let by_row = |depth| boxes.iter().filter(move |it| it.0 == depth).collect::<Vec<_>>();
        for depth in 0..all.depths() {
            assert!(by_row(depth).windows(2).all(|pair| pair[0].3 <= pair[1].2), "in order, no overlap: {boxes:?}");
        }
        boxes.sort_unstable();
        boxes
    }

    #[test]
    fn what_stays_is_joined_and_what_changes_begins_anew() {
        let boxes = boxes(&[(0, Some(2)), (10, Some(3)), (20, Some(4)), (30, Some(0)), (40, Some(5))], &[]);
        let expected = [(0, 0, 0, 40), (0, 5, 40, 50), (1, 1, 0, 20), (1, 4, 20, 30), (2, 2, 0, 10), (2, 3, 10, 20)];
        assert_eq!(boxes, expected);
    }

    #[test]
    fn gaps_empty_samples_and_waits_end_a_box() {
        assert_eq!(boxes(&[(0, Some(0)), (40, Some(0))], &[]), [(0, 0, 0, 50)], "late, but in time");
        assert_eq!(boxes(&[(0, Some(0)), (41, Some(0))], &[]), [(0, 0, 0, 10), (0, 0, 41, 51)], "too late");
        assert_eq!(boxes(&[(0, Some(0)), (9, None), (15, Some(0))], &[]), [(0, 0, 0, 9), (0, 0, 15, 25)]);
        assert_eq!(boxes(&[(0, Some(0)), (20, Some(0))], &[(3, 17)]), [(0, 0, 0, 3), (0, 0, 20, 30)]);
        assert_eq!(boxes(&[(0, Some(0)), (20, Some(0))], &[(10, 30)]), [(0, 0, 0, 10), (0, 0, 20, 20)]);
        assert_eq!(boxes(&[(0, Some(0)), (20, Some(0))], &[(3, 20)]), [(0, 0, 0, 3), (0, 0, 20, 30)], "it just woke");
        assert_eq!(boxes(&[(0, Some(0))], &[(4, 9)]), [(0, 0, 0, 4)], "also the last one");
    }

    #[test]
    fn a_thread_without_times_has_no_boxes() {
        let samples = SampleTable { stack: vec![Some(StackId::new(2))], ..SampleTable::default() };
        let stacks = stacks();
        let boxes = SampleBoxes::build(
            &samples,
            &WaitTable::default(),
            &stacks,
            &StackIndex::new(&stacks),
            BoxTiming::estimate(&samples),
        );
        assert_eq!(boxes, SampleBoxes::default());
    }

    #[test]
    fn the_interval_is_estimated_as_the_usual_step() {
        let samples = samples(&[(0, None), (10, None), (20, None), (31, None), (5000, None)]);
        assert_eq!(BoxTiming::estimate(&samples), BoxTiming::for_interval(Nanos(11)));
        assert_eq!(BoxTiming::estimate(&SampleTable::default()).interval, Nanos(1));
    }

    #[test]
    fn deep_stacks_that_sleep_take_little_memory() {
        const DEPTH: usize = 100_000;
        let stacks = StackTable {
            prefix: (0..DEPTH).map(|row| row.checked_sub(1).map(StackId::new)).collect(),
            frame: vec![FrameId::new(0); DEPTH],
        };
        let index = StackIndex::new(&stacks);
        // It sleeps after each sample, and returns from or calls a few functions in between.
        let rows = (0..1000).map(|row| (row as i64 * 1000, Some(DEPTH - 1 - row % 7))).collect::<Vec<_>>();
        let all = SampleBoxes::build(&samples(&rows), &WaitTable::default(), &stacks, &index, TIMING);
        assert_eq!(all.strips().len(), 1000, "100 million boxes in as many strips as samples");
        assert_eq!(all.depths() as usize, DEPTH);
        let window = BoxRows::new(&all, 50_000..50_003);
        assert_eq!((window.len(), window.rows()), (3000, 3));
        assert_eq!(window.node(4, &stacks, &index), StackId::new(50_001));
    }

    proptest! {
        #[test]
        fn each_sample_is_inside_the_boxes_of_its_stack(
            rows in prop::collection::vec((0i64..60, prop::option::of(0usize..6)), 0..40),
            wait_spans in prop::collection::vec((0i64..60, 0i64..30), 0..10),
        ) {
            let mut time = 0;
            let rows = rows.iter().map(|row| { time += row.0; (time, row.1) }).collect::<Vec<_>>();
            let mut time = 0;
            let wait_spans = wait_spans
                .iter()
                .map(|span| { let start = time + span.0; time = start + span.1; (start, time) })
                .collect::<Vec<_>>();
            let boxes = boxes(&rows, &wait_spans);
            let stacks = stacks();
            let path = |stack| stacks.ancestors(StackId::new(stack)).map(StackId::index).collect::<Vec<_>>();
            for (time, stack) in rows.iter().filter_map(|row| Some((row.0, row.1?))) {
                for node in path(stack) {
                    let around = |it: &(u32, usize, i64, i64)| it.1 == node && it.2 <= time && time <= it.3;
                    assert!(boxes.iter().any(around), "a box for node {node} at {time}: {boxes:?}");
                }
            }
            for box_ in &boxes {
                let begins = |row: &(i64, Option<usize>)| row.0 == box_.2 && row.1.is_some_and(|it| path(it).contains(&box_.1));
                assert!(rows.iter().any(begins), "{box_:?} begins with a sample");
                let overlap = wait_spans.iter().any(|wait| wait.0.max(box_.2) < wait.1.min(box_.3));
                assert!(!overlap, "{box_:?} is outside waits {wait_spans:?}");
            }
        }
    }
}

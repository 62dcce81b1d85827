//! Boxes made of the samples of a thread: a frame's box lasts while consecutive samples have it at its depth.
//!
//! A thread 100,000 frames deep that sleeps a thousand times would have a hundred million boxes, all alike. They are
//! therefore kept as strips: boxes of neighbouring depths that begin and end together are one strip, told by its
//! innermost stack node. A sample begins one strip at most and cuts one at most, so that there are no more than two
//! for each sample, however deep the stacks are. Boxes are made of them for the depths that are shown.

use std::ops::Range;

use traceview_core::model::{Nanos, SampleTable, StackId, StackTable, Time};

use super::sample_time::SampleTiming;
use super::spans::Spans;
use super::stack_index::StackIndex;

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
    /// Makes boxes of a thread's samples: a box lasts while consecutive samples have its node on their stacks and no
    /// time lies between the [times that they stand for](SampleTiming::span). Samples without times give no boxes.
    pub fn build(samples: &SampleTable, stacks: &StackTable, index: &StackIndex, timing: SampleTiming) -> Self {
        let mut builder = Builder { stacks, index, strips: Vec::new(), open: Vec::new(), leaf: None };
        let mut depths = 0;
        let mut until = None;
        for row in 0..samples.time.len() {
            let span = timing.span(samples, row);
            if let Some(end) = until.filter(|end| *end < span.start) {
                builder.change_to(None, end);
            }
            builder.change_to(samples.stack[row], span.start);
            depths = depths.max(samples.stack[row].map_or(0, |stack| index.depth(stack) + 1));
            until = Some(span.end);
        }
        if let Some(end) = until {
            builder.change_to(None, end);
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
/// Items are numbered row after row, so that what is drawn side by side lies side by side in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoxRows {
    depths: Range<u32>,
    start: Vec<Time>,
    end: Vec<Time>,
    row: Vec<u32>,
    node: Vec<StackId>,
}

impl BoxRows {
    /// Makes the boxes of `depths`, whose nodes are rows of `stacks`. What it takes grows with the depths asked for: of
    /// very deep stacks, ask for those around the visible ones.
    pub fn new(boxes: &SampleBoxes, depths: Range<u32>, stacks: &StackTable, index: &StackIndex) -> Self {
        let end = depths.end.min(boxes.depths);
        let depths = depths.start.min(end)..end;
        let here = |strip: &Strip| strip.first_depth.max(depths.start)..depths.end.min(strip.last_depth + 1);
        // How many boxes each row has, then where its next one goes.
        let mut next = vec![0_usize; (depths.end - depths.start) as usize];
        for depth in boxes.strips.iter().flat_map(here) {
            next[(depth - depths.start) as usize] += 1;
        }
        let mut len = 0;
        for place in &mut next {
            len += std::mem::replace(place, len);
        }
        let (mut start, mut end) = (vec![Time(0); len], vec![Time(0); len]);
        let (mut row, mut node) = (vec![0; len], vec![StackId::new(0); len]);
        for strip in &boxes.strips {
            let here = here(strip);
            if here.is_empty() {
                continue;
            }
            let innermost = index.at_depth(stacks, strip.innermost, here.end - 1);
            for (depth, its_node) in here.rev().zip(stacks.ancestors(innermost)) {
                let its_row = depth - depths.start;
                let place = &mut next[its_row as usize];
                (start[*place], end[*place], row[*place], node[*place]) = (strip.start, strip.end, its_row, its_node);
                *place += 1;
            }
        }
        Self { depths, start, end, row, node }
    }

    /// The depths that the rows show.
    pub fn depths(&self) -> Range<u32> {
        self.depths.clone()
    }

    /// The stack node of a box.
    pub fn node(&self, item: usize) -> StackId {
        self.node[item]
    }

    /// How many bytes the boxes take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.start) + size_of_val(&*self.end) + size_of_val(&*self.row) + size_of_val(&*self.node)
    }
}

impl Spans for BoxRows {
    fn len(&self) -> usize {
        self.row.len()
    }

    fn rows(&self) -> u32 {
        self.depths.end - self.depths.start
    }

    fn row(&self, item: usize) -> u32 {
        self.row[item]
    }

    fn start(&self, item: usize) -> Time {
        self.start[item]
    }

    fn duration(&self, item: usize) -> Nanos {
        self.end[item] - self.start[item]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};
    use traceview_core::model::{CpuDelta, FrameId};

    use super::*;

    const TIMING: SampleTiming = SampleTiming { interval: Nanos(10), longest_step: Nanos(40), from: Time(i64::MIN) };

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

    /// The boxes as (depth, node, start, end), sorted.
    fn boxes(rows: &[(i64, Option<usize>)]) -> Vec<(u32, usize, i64, i64)> {
        boxes_of(&samples(rows))
    }

    fn boxes_of(samples: &SampleTable) -> Vec<(u32, usize, i64, i64)> {
        let stacks = stacks();
        let index = StackIndex::new(&stacks);
        let all = SampleBoxes::build(samples, &stacks, &index, TIMING);
        assert!(all.strips().len() <= 2 * samples.len(), "two strips for each sample at most");
        let rows = BoxRows::new(&all, 0..u32::MAX, &stacks, &index);
        let mut boxes = Vec::new();
        for item in 0..rows.len() {
            let node = rows.node(item);
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
        let boxes = boxes(&[(10, Some(2)), (20, Some(3)), (30, Some(4)), (40, Some(0)), (50, Some(5))]);
        let expected = [(0, 0, 0, 40), (0, 5, 40, 50), (1, 1, 0, 20), (1, 4, 20, 30), (2, 2, 0, 10), (2, 3, 10, 20)];
        assert_eq!(boxes, expected);
    }

    #[test]
    fn gaps_and_samples_without_a_stack_end_a_box() {
        assert_eq!(boxes(&[(10, Some(0)), (50, Some(0))]), [(0, 0, 0, 50)], "late, but in time");
        assert_eq!(boxes(&[(10, Some(0)), (51, Some(0))]), [(0, 0, 0, 10), (0, 0, 41, 51)], "too late");
        assert_eq!(boxes(&[(10, Some(0)), (19, None), (25, Some(0))]), [(0, 0, 0, 10), (0, 0, 19, 25)]);
    }

    #[test]
    fn cpu_time_joins_late_samples_and_parts_those_of_a_thread_that_slept() {
        let mut samples = samples(&[(10, Some(0)), (1_000, Some(0)), (1_010, Some(0)), (2_000, None)]);
        samples.cpu = [10, 900, 2, 0].map(|cpu| CpuDelta::new(Nanos(cpu))).to_vec();
        assert_eq!(boxes_of(&samples), [(0, 0, 0, 1_000), (0, 0, 1_008, 1_010)]);
    }

    #[test]
    fn a_thread_without_times_has_no_boxes() {
        let samples = SampleTable { stack: vec![Some(StackId::new(2))], ..SampleTable::default() };
        let (stacks, timing) = (stacks(), SampleTiming::estimate(&samples));
        assert_eq!(SampleBoxes::build(&samples, &stacks, &StackIndex::new(&stacks), timing), SampleBoxes::default());
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
        let all = SampleBoxes::build(&samples(&rows), &stacks, &index, TIMING);
        assert_eq!(all.strips().len(), 1000, "100 million boxes in as many strips as samples");
        assert_eq!(all.depths() as usize, DEPTH);
        let window = BoxRows::new(&all, 50_000..50_003, &stacks, &index);
        assert_eq!((window.len(), window.rows()), (3000, 3));
        assert_eq!(window.node(1_004), StackId::new(50_001), "row after row");
    }

    proptest! {
        #[test]
        fn boxes_are_the_times_that_samples_stand_for(
            rows in prop::collection::vec((0i64..60, prop::option::of(0usize..6), -2i64..60), 0..40),
        ) {
            let mut time = 0;
            let mut samples = SampleTable::default();
            for (step, stack, cpu) in &rows {
                time += step;
                samples.time.push(Time(time));
                samples.stack.push(stack.map(StackId::new));
                samples.cpu.push(if *cpu < 0 { CpuDelta::UNKNOWN } else { CpuDelta::new(Nanos(*cpu)) });
            }
            let boxes = boxes_of(&samples);
            let stacks = stacks();
            let path = |stack| stacks.ancestors(stack).map(StackId::index).collect::<Vec<_>>();
            let mut covered = [0; 6];
            for (row, stack) in samples.stack.iter().enumerate() {
                let span = TIMING.span(&samples, row);
                for node in stack.map(path).unwrap_or_default() {
                    let around = |it: &(u32, usize, i64, i64)| it.1 == node && it.2 <= span.start.0 && span.end.0 <= it.3;
                    assert!(boxes.iter().any(around), "a box for node {node} at {span:?}: {boxes:?}");
                    covered[node] += (span.end - span.start).0;
                }
            }
            for (node, covered) in covered.iter().enumerate() {
                let boxed: i64 = boxes.iter().filter(|it| it.1 == node).map(|it| it.3 - it.2).sum();
                assert_eq!(boxed, *covered, "node {node} has boxes for its samples and nothing else");
            }
        }
    }
}

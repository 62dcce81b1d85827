//! Stacks of several samples, made together: their nodes are far apart in memory, and together they are not waited for one
//! by one.

use crate::model::{FrameId, ProfileBuilder, StackId, ThreadId};

/// So many samples are made together.
const SAMPLES: usize = 32;
/// Or fewer, if they have so many frames.
const FRAMES: usize = 1 << 16;

/// Samples whose stacks are still to be made.
#[derive(Default)]
pub(super) struct Batch {
    /// The frames of all of them, the outermost first.
    frames: Vec<FrameId>,
    samples: Vec<Pending>,
    /// For each depth: which of them are as deep, the frames there, and the stacks so far.
    deep: Vec<usize>,
    at_depth: Vec<FrameId>,
    stacks: Vec<Option<StackId>>,
}

/// A sample without its stack.
struct Pending {
    /// Where in the model it is.
    thread: ThreadId,
    row: usize,
    /// Where its frames begin, and how many they are.
    start: usize,
    depth: usize,
}

impl Batch {
    /// Whether the stacks have to be made before there is room for more.
    pub(super) fn is_full(&self) -> bool {
        self.samples.len() >= SAMPLES || self.frames.len() >= FRAMES
    }

    /// Adds frames to the sample that is [finished](Self::finish_sample) next.
    #[inline]
    pub(super) fn push(&mut self, frames: &[FrameId]) {
        self.frames.extend_from_slice(frames);
    }

    /// The sample with the frames that were added since the last one is this row of a thread.
    pub(super) fn finish_sample(&mut self, thread: ThreadId, row: usize) {
        let start = self.samples.last().map_or(0, |last| last.start + last.depth);
        self.samples.push(Pending { thread, row, start, depth: self.frames.len() - start });
    }

    /// Makes all stacks, and puts them where they belong.
    pub(super) fn make(&mut self, builder: &mut ProfileBuilder) {
        let mut depth = 0;
        self.deep.clear();
        self.deep.extend((0..self.samples.len()).filter(|sample| self.samples[*sample].depth > 0));
        self.stacks.clear();
        self.stacks.resize(self.deep.len(), None);
        while !self.deep.is_empty() {
            self.at_depth.clear();
            self.at_depth.extend(self.deep.iter().map(|sample| self.frames[self.samples[*sample].start + depth]));
            builder.call_all(&mut self.stacks, &self.at_depth);
            depth += 1;
            self.leave_ended(depth, builder);
        }
        self.samples.clear();
        self.frames.clear();
    }

    /// Keeps the stacks that go on beyond a depth, and puts the others where they belong.
    fn leave_ended(&mut self, depth: usize, builder: &mut ProfileBuilder) {
        let mut kept = 0;
        for index in 0..self.deep.len() {
            let sample = &self.samples[self.deep[index]];
            if sample.depth > depth {
                self.deep[kept] = self.deep[index];
                self.stacks[kept] = self.stacks[index];
                kept += 1;
            } else {
                builder.thread_mut(sample.thread).samples.stack[sample.row] = self.stacks[index];
            }
        }
        self.deep.truncate(kept);
        self.stacks.truncate(kept);
    }
}

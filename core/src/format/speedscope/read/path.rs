//! The stack that is open while a file is read.

use super::super::super::json_value::Index;
use super::frames::Frames;
use crate::model::{FrameId, ProfileBuilder, StackId};

/// The frames of the stack, the outermost first, each with the stack that ends in it. What follows another stack is looked
/// up from the first frame on that differs.
#[derive(Default)]
pub(super) struct Path {
    nodes: Vec<(FrameId, StackId)>,
    /// How many of them belong to the stack that is being followed.
    followed: usize,
}

impl Path {
    /// The stack that is open; `None` where nothing is.
    pub(super) fn top(&self) -> Option<StackId> {
        self.nodes.last().map(|(_, stack)| *stack)
    }

    pub(super) fn push(&mut self, builder: &mut ProfileBuilder, frame: FrameId) {
        let stack = builder.stack(self.top(), frame);
        self.nodes.push((frame, stack));
    }

    pub(super) fn pop(&mut self) -> Option<FrameId> {
        self.nodes.pop().map(|(frame, _)| frame)
    }

    /// Follows a new stack from its outermost frame on.
    pub(super) fn start(&mut self) {
        self.followed = 0;
    }

    /// The next frame of the stack that is followed. `false` if there is no such frame, which is left out then.
    pub(super) fn follow(&mut self, builder: &mut ProfileBuilder, frames: &Frames, index: Index) -> bool {
        let Some(frame) = frames.get(index) else { return false };
        if self.nodes.get(self.followed).is_none_or(|(known, _)| *known != frame) {
            self.nodes.truncate(self.followed);
            self.push(builder, frame);
        }
        self.followed += 1;
        true
    }

    /// The stack that was followed.
    pub(super) fn finish(&mut self) -> Option<StackId> {
        self.nodes.truncate(self.followed);
        self.top()
    }
}

//! Stacks of samples with locations at which hundreds of functions were inlined into one another. What such a location adds
//! below a stack is made once: a few bytes of a file can say that it is there again, thousands of times.

use rustc_hash::FxHashMap;

use super::code::Code;
use crate::model::{FrameId, ProfileBuilder, StackId};

/// Locations of so many frames are remembered. Compilers do not inline so deep.
const LONG: usize = 256;

/// What was made.
#[derive(Default)]
pub(super) struct Inlined {
    /// By caller and row of the location.
    stacks: FxHashMap<(Option<StackId>, usize), Option<StackId>>,
}

/// Whether the location with these frames is to be made here.
pub(super) fn is_long(frames: &[FrameId]) -> bool {
    frames.len() >= LONG
}

impl Inlined {
    /// The stack of `locations`, which are rows of `code`, the outermost first.
    pub(super) fn stack(
        &mut self,
        locations: &[usize],
        code: &Code<'_>,
        builder: &mut ProfileBuilder,
    ) -> Option<StackId> {
        locations.iter().fold(None, |caller, location| {
            let frames = code.frames(*location);
            let mut make = || frames.iter().fold(caller, |caller, frame| Some(builder.stack(caller, *frame)));
            if is_long(frames) { *self.stacks.entry((caller, *location)).or_insert_with(make) } else { make() }
        })
    }
}

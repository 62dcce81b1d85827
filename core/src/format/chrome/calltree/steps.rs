//! Bounds for what takes as long as stacks are deep, sample by sample. V8 cuts its stacks off at some hundred frames; a file
//! that says otherwise must not keep us for hours.

use super::CallTreeError;

/// Frames that are looked at, of all samples together.
const MOST_STEPS: u64 = 1 << 32;

/// Calls that are made from samples.
const MOST_CALLS: usize = 1 << 25;

/// Counts steps.
#[derive(Debug, Default)]
pub(super) struct Steps(u64);

impl Steps {
    /// Counts `steps` more, unless that is too many.
    pub(super) fn take(&mut self, steps: usize) -> Result<(), CallTreeError> {
        self.0 = self.0.saturating_add(steps as u64);
        if self.0 > MOST_STEPS { Err(CallTreeError::TooDeep { frames: MOST_STEPS }) } else { Ok(()) }
    }

    /// Allows a call more than there are.
    pub(super) fn take_call(&mut self, calls: usize) -> Result<(), CallTreeError> {
        if calls >= MOST_CALLS { Err(CallTreeError::TooManyCalls { calls: MOST_CALLS }) } else { self.take(1) }
    }
}

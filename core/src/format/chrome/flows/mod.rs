//! Which phases of a trace's flows (`s`, `t`, `f`, and events with a `bind_id`) belong together, and why some belong to nothing.
//!
//! [`devtools`] is the rule of Chrome DevTools, which finds both at once; `cycles` is what the format means, and the
//! reader of profiles looks for the slices of its phases.

pub(super) mod cycles;
mod devtools;
pub(super) mod innermost;
mod json;

pub use devtools::{DevToolsFlow, DevToolsFlows, devtools};
pub use json::devtools_json;

use super::notes;
use crate::format::import_report::Note;
use crate::model::Warning;

/// Why a phase of a flow is in no flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unbound {
    /// It has no id.
    NoId,
    /// Nothing of its category, name and id started before.
    NoStart,
    /// It starts something that nothing comes of.
    NoEnd,
    /// It has a `bind_id`, but neither `flow_in` nor `flow_out`.
    NoDirection,
    /// It lies in no slice.
    NoSlice,
    /// It leads to the next slice of its thread, and there is none.
    NoNextSlice,
    /// No event has its time, thread and category (the rule of DevTools).
    NoEvent,
    /// It alone of its flow belongs to something.
    Alone,
}

impl Unbound {
    /// All reasons.
    pub const ALL: [Self; 8] = [
        Self::NoId,
        Self::NoStart,
        Self::NoEnd,
        Self::NoDirection,
        Self::NoSlice,
        Self::NoNextSlice,
        Self::NoEvent,
        Self::Alone,
    ];

    /// The [code](crate::model::Warning::code) of the warning that counts the phases that are in no flow for this reason.
    pub fn code(self) -> &'static str {
        self.note().code
    }

    /// The reason that a warning tells of, if it is one that counts phases of flows.
    pub fn of(warning: &Warning) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.code() == warning.code)
    }

    /// The note that counts it.
    pub(super) fn note(self) -> Note {
        match self {
            Self::NoId => notes::FLOW_NO_ID,
            Self::NoStart => notes::FLOW_NO_START,
            Self::NoEnd => notes::FLOW_NO_END,
            Self::NoDirection => notes::FLOW_NO_DIRECTION,
            Self::NoSlice => notes::FLOW_NO_SLICE,
            Self::NoNextSlice => notes::FLOW_NO_NEXT_SLICE,
            Self::NoEvent => notes::FLOW_NO_EVENT,
            Self::Alone => notes::FLOW_ALONE,
        }
    }
}

/// Whether flows of this category end in the slice around their ends: those of input and of messages between processes did before
/// there was a way to say it.
pub(super) fn means_around(category: &str) -> bool {
    ["input", "ipc.flow"].iter().any(|part| category.contains(part))
}

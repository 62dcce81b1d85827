//! Calls of script functions, each recorded by a tracer.

use super::ids::StringId;
use super::time::{Nanos, Time};

/// The calls of one thread, one a row, in the order of their file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScriptTrace {
    /// What was called.
    pub name: Vec<StringId>,
    /// When.
    pub start: Vec<Time>,
    /// For how long; `None` for a moment.
    pub duration: Vec<Option<Nanos>>,
    /// Line, 1-based.
    pub line: Vec<Option<u32>>,
    /// Column, 1-based.
    pub column: Vec<Option<u32>>,
}

impl ScriptTrace {
    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

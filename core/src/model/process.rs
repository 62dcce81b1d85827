//! Processes and their lifetimes.

use super::ids::{ProcessId, StringId};
use super::time::Time;

/// An id that the operating system (or the file) gave. Not unique in a profile: systems use ids again.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum OsId {
    /// A number.
    Number(i64),
    /// What another tool wrote in place of one.
    Text(Box<str>),
}

impl std::fmt::Display for OsId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its id.
    pub pid: OsId,
    /// The process that started it, if that is in the profile.
    pub parent: Option<ProcessId>,
    /// What it is called.
    pub name: StringId,
    /// Its arguments, the program first; empty when not known.
    pub command_line: Vec<StringId>,
    /// When it started, if it did within the profile or that is known.
    pub start: Option<Time>,
    /// When it ended, if it did within the profile.
    pub end: Option<Time>,
    /// How it ended.
    pub exit: Option<ExitStatus>,
}

impl Process {
    /// A process of which no more is known.
    pub fn new(pid: OsId, name: StringId) -> Self {
        Self { pid, parent: None, name, command_line: Vec::new(), start: None, end: None, exit: None }
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExitStatus {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

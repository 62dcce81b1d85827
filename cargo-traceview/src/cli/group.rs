//! What `report` groups time by.

use clap::ValueEnum;
use traceview_core::analysis::GroupBy;

/// What `report --by` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum By {
    /// Functions (the default)
    Function,
    /// Crates with their versions; other code by library
    Crate,
    /// Whose code it is: the workspace's, a dependency's, std's, the system's, the kernel's
    Category,
    /// Executables and libraries (also `library`)
    #[value(alias = "library")]
    Module,
    /// Source files
    File,
    /// Lines of source files
    Line,
    /// Threads
    Thread,
}

/// How a report goes about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// Function by function.
    Functions,
    /// By what functions belong to.
    Code(GroupBy),
    /// Thread by thread.
    Threads,
}

impl By {
    /// What one row is, as a noun.
    #[must_use]
    pub fn thing(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Crate => "crate",
            Self::Category => "category",
            Self::Module => "module",
            Self::File => "file",
            Self::Line => "line",
            Self::Thread => "thread",
        }
    }

    /// What it means for the analysis.
    #[must_use]
    pub fn grouping(self) -> Grouping {
        match self {
            Self::Function => Grouping::Functions,
            Self::Crate => Grouping::Code(GroupBy::Crate),
            Self::Category => Grouping::Code(GroupBy::Category),
            Self::Module => Grouping::Code(GroupBy::Library),
            Self::File => Grouping::Code(GroupBy::File),
            Self::Line => Grouping::Code(GroupBy::Line),
            Self::Thread => Grouping::Threads,
        }
    }
}

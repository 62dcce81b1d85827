//! Everything between cargo's flags and an executable that is ready to be started.

mod options;

pub use options::CargoOptions;

use thiserror::Error as ThisError;

use crate::exit_code::ExitCode;

/// Why there is no executable.
#[derive(Debug, ThisError)]
pub enum Error {
    /// Cargo could not build, and said why.
    #[error("the build failed, nothing was recorded")]
    BuildFailed,
}

impl Error {
    /// The exit status that goes with it.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::BuildFailed => ExitCode::BuildFailed,
        }
    }
}

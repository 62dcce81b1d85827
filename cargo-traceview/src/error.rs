//! What can go wrong, as the person at the terminal sees it: one sentence that says what happened and what to do, with
//! its causes below, and an exit status for each kind.
//!
//! The details live beside the code that raises them; this file only gathers them.

use std::error::Error as StdError;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;
use traceview_core::analysis::{FunctionNameError, MeasureError};
use traceview_core::report::AiTextError;

use crate::cargo;
use crate::cli::ai::AiArgsError;
use crate::cli::output::OutputError;
use crate::cli::store::StoreError;
use crate::exit_code::ExitCode;

/// A cause of any type.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// Why a command failed.
#[derive(Debug, ThisError)]
pub enum Error {
    /// Finding the target, its profile or its rustflags, or building.
    #[error(transparent)]
    Cargo(#[from] cargo::Error),
    /// The output can't be what `-o` says.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// What the text for an AI assistant is asked for.
    #[error(transparent)]
    Ai(#[from] AiArgsError),
    /// There is no such text.
    #[error("no text for an AI assistant")]
    AiText(#[from] AiTextError),
    /// The recordings directory, or `@N`.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The working directory is gone.
    #[error("the current directory can't be read; change to one that exists")]
    WorkingDirectory(#[source] io::Error),
    /// No such program.
    #[error("program `{}` not found; give its path, or a name that is in PATH", .program.display())]
    ProgramNotFound {
        /// As typed.
        program: OsString,
    },
    /// The program is there but the kernel does not start it because a file that it needs is missing.
    #[error("program `{}` can't start: its interpreter or dynamic loader is missing", .program.display())]
    InterpreterNotFound {
        /// As typed.
        program: OsString,
    },
    /// The program can't be executed.
    #[error("program `{}` can't be executed; is it an executable file for this machine?", .program.display())]
    ProgramNotExecutable {
        /// As typed.
        program: OsString,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The sampler failed.
    #[error("recording failed")]
    Recording(#[source] Cause),
    /// A file that should be read.
    #[error("can't read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Cause,
    },
    /// There is no window.
    #[error("no window can be opened; `report`, and `open` with --screenshot OUT.png, need none")]
    Window(#[source] Cause),
    /// A picture could not be made.
    #[error("can't draw the picture")]
    Picture(#[source] Cause),
    /// The result could not be written to stdout.
    #[error("can't write the result")]
    Print(#[source] io::Error),
    /// What the samples count can't be added up.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A function is named that is none, or can be several.
    #[error(transparent)]
    FunctionName(#[from] FunctionNameError),
    /// A condition that can't be judged.
    #[error("can't judge `{condition}`")]
    Condition {
        /// As typed.
        condition: String,
        /// Why not.
        source: Cause,
    },
    /// A filter that leaves nothing.
    #[error("{0}")]
    NothingFound(String),
}

impl Error {
    /// Tells apart why a program did not start.
    #[must_use]
    pub fn from_spawn(program: &OsStr, source: io::Error) -> Self {
        let program = program.to_os_string();
        match source.kind() {
            io::ErrorKind::NotFound if Path::new(&program).exists() && program.as_encoded_bytes().contains(&b'/') => {
                Self::InterpreterNotFound { program }
            }
            io::ErrorKind::NotFound => Self::ProgramNotFound { program },
            _ => Self::ProgramNotExecutable { program, source },
        }
    }

    /// The exit status that goes with it.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Cargo(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Store(StoreError::NoRecording { .. } | StoreError::Io { .. }) => ExitCode::Failed,
            Self::Ai(_) | Self::AiText(AiTextError::NoRoom { .. }) => ExitCode::Usage,
            Self::Store(StoreError::NoHome | StoreError::NotRecordingNumber(_)) => ExitCode::Usage,
            Self::ProgramNotFound { .. } | Self::InterpreterNotFound { .. } => ExitCode::NotFound,
            Self::ProgramNotExecutable { .. } => ExitCode::NotExecutable,
            Self::WorkingDirectory(_) | Self::Recording(_) => ExitCode::RecordingFailed,
            Self::Read { .. }
            | Self::Window(_)
            | Self::Picture(_)
            | Self::Print(_)
            | Self::AiText(AiTextError::Measure(_))
            | Self::Measure(_) => ExitCode::Failed,
            Self::FunctionName(FunctionNameError::Several { .. }) | Self::Condition { .. } => ExitCode::Usage,
            Self::FunctionName(FunctionNameError::None(_)) | Self::NothingFound(_) => ExitCode::NothingFound,
        }
    }

    /// Whether the reader of our output went away, which is no failure (`… | head`).
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Print(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The text for stderr: the sentence, then each cause on a line of its own.
    #[must_use]
    pub fn to_message(&self) -> String {
        let mut message = format!("error: {self}\n");
        let mut cause = self.source();
        let mut last = String::new();
        while let Some(error) = cause {
            let text = error.to_string();
            cause = error.source();
            // An error that only wraps another has its text.
            if text == last {
                continue;
            }
            writeln!(message, "  cause: {}", text.trim_end().replace('\n', "\n  ")).expect("a String takes any text");
            last = text;
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_stand_below_the_sentence() {
        let refused = io::Error::new(io::ErrorKind::PermissionDenied, "permission denied");
        let error = Error::from_spawn(OsStr::new("./data.txt"), refused);
        assert_eq!(
            error.to_message(),
            "error: program `./data.txt` can't be executed; is it an executable file for this machine?\n  \
             cause: permission denied\n"
        );
        assert_eq!(error.exit_code(), ExitCode::NotExecutable);
    }

    #[test]
    fn a_cause_is_told_once() {
        let inner = io::Error::other(io::Error::from(io::ErrorKind::StorageFull));
        let error = Error::Print(io::Error::other(inner));
        assert_eq!(error.to_message(), "error: can't write the result\n  cause: no storage space\n");
    }

    #[test]
    fn a_missing_program_and_a_missing_interpreter_differ() {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let error = Error::from_spawn(OsStr::new("no-such-program"), missing());
        assert!(matches!(error, Error::ProgramNotFound { .. }));
        assert_eq!(error.exit_code().code(), 127);
        // This very test exists, so if it did not start something that it needs would be missing.
        let this = std::env::current_exe().unwrap();
        assert!(matches!(Error::from_spawn(this.as_os_str(), missing()), Error::InterpreterNotFound { .. }));
    }
}

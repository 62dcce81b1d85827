//! The exit status of every verb, as the `--help` text documents it.

use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};

/// What this process ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// 0: all is well.
    Fine,
    /// 1: a verb other than `run` and `record` failed.
    Failed,
    /// 2: the command line asks for something that can't be.
    Usage,
    /// 3: nothing in the profile matches what was asked for.
    NothingFound,
    /// 4: a condition of a `--fail-…` flag holds.
    ConditionHolds,
    /// 101: cargo could not build; cargo's own status for that.
    BuildFailed,
    /// 125: the program could not be recorded.
    RecordingFailed,
    /// 126: the program exists but can't be executed.
    NotExecutable,
    /// 127: the program was not found.
    NotFound,
    /// `run` and `record`: what the program itself ended with.
    Program(u8),
}

impl ExitCode {
    /// The status of the recorded program as a shell reports it: its own, or 128 + N after signal N.
    #[must_use]
    pub fn from_program(status: ExitStatus) -> Self {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        // A wait status holds eight bits of exit code and signals end at 64, so nothing is cut off here.
        Self::Program(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
    }

    /// The number that the parent process sees.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NothingFound => 3,
            Self::ConditionHolds => 4,
            Self::BuildFailed => 101,
            Self::RecordingFailed => 125,
            Self::NotExecutable => 126,
            Self::NotFound => 127,
            Self::Program(code) => code,
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_keeps_its_status_and_signals_count_from_128() {
        // Linux wait statuses: exit code in the second byte, signal in the low seven bits, 0x80 for a core dump.
        assert_eq!(ExitCode::from_program(ExitStatus::from_raw(0)).code(), 0);
        assert_eq!(ExitCode::from_program(ExitStatus::from_raw(0x2a00)).code(), 42);
        assert_eq!(ExitCode::from_program(ExitStatus::from_raw(0xff00)).code(), 255);
        assert_eq!(ExitCode::from_program(ExitStatus::from_raw(9)).code(), 137);
        assert_eq!(ExitCode::from_program(ExitStatus::from_raw(0x80 | 11)).code(), 139);
    }
}

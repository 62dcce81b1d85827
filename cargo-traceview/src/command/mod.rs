//! The verbs, one file each.

pub mod info;
pub mod record;
pub mod report;
pub mod run;

use std::io::Write as _;
use std::path::Path;

use traceview_core::format;
use traceview_core::model::Profile;

use crate::cli::args::Command;
use crate::cli::plan::Surroundings;
use crate::error::{Cause, Error};
use crate::exit_code::ExitCode;

/// Does what the command says.
///
/// # Errors
/// What the command could not do.
pub fn execute(command: Command, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    match command {
        Command::Run(args) => run::execute(*args, surroundings),
        Command::Record(args) => record::execute(args, surroundings),
        Command::Info(args) => info::execute(&args, surroundings),
        Command::Report(args) => report::execute(&args, surroundings),
    }
}

/// Reads the profile that a FILE argument means.
fn read_profile(file: Option<&Path>, surroundings: &Surroundings) -> Result<Profile, Error> {
    let path = surroundings.resolve_file(file)?;
    let failed = |source: Cause| Error::Read { path: path.clone(), source };
    let bytes = std::fs::read(&path).map_err(|error| failed(error.into()))?;
    format::read(&bytes, &format::ReadOptions::default()).map_err(|error| failed(error.into()))
}

/// Writes the result of a command.
fn print(text: &str) -> Result<ExitCode, Error> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Print)?;
    Ok(ExitCode::Fine)
}

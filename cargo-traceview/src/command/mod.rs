//! The verbs, one file each.

pub mod export;
pub mod info;
pub mod open;
pub mod profile_file;
pub mod record;
pub mod report;
pub mod run;

use crate::cli::args::Command;
use crate::cli::plan::Surroundings;
use crate::error::Error;
use crate::exit_code::ExitCode;

/// Does what the command says.
///
/// # Errors
/// What the command could not do.
pub fn execute(command: Command, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    match command {
        Command::Run(args) => run::execute(*args, surroundings),
        Command::Record(args) => record::execute(args, surroundings),
        Command::Open(args) => open::execute(&args, surroundings),
        Command::Info(args) => info::execute(&args, surroundings),
        Command::Report(args) => report::execute(&args, surroundings),
        Command::Export(args) => export::execute(&args, surroundings),
    }
}

//! `export`: a recording for another tool.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use traceview_core::format::{self, WriteError};
use traceview_core::model::{Profile, Warning};

use super::profile_file;
use super::record::megabytes;
use crate::cli::args::ExportArgs;
use crate::cli::export::ExportPlan;
use crate::cli::output::{self, OutputError};
use crate::cli::plan::{STANDARD_STREAM, Surroundings};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::terminal;

/// `cargo traceview export [FILE] [--format FORMAT] [-o OUT]`
///
/// # Errors
/// When the flags ask for something that can't be, the file can't be read, or the result can't be written; a file that
/// was there before is left as it was, then.
pub fn execute(args: &ExportArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let plan = ExportPlan::resolve(args, &surroundings.cwd, io::stdout().is_terminal())?;
    let (profile, _) = profile_file::load(args.file.as_deref(), surroundings)?;
    let left_out = match &plan.path {
        Some(path) => to_file(&profile, &plan, path)?,
        None => to_stdout(&profile, &plan)?,
    };
    for warning in left_out {
        terminal::say(&format!("warning: {}\n", warning.message));
    }
    if let Some(path) = &plan.path {
        // A pipe has no size.
        let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        terminal::say(&format!("traceview: wrote {} ({})\n", path.display(), megabytes(size)));
    }
    Ok(ExitCode::Fine)
}

fn to_file(profile: &Profile, plan: &ExportPlan, path: &Path) -> Result<Vec<Warning>, Error> {
    let mut left_out = Vec::new();
    let written = output::replace(path, |out| {
        left_out = format::write(profile, plan.target, &plan.options, out).map_err(|error| match error {
            WriteError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        Ok(())
    });
    written.map_err(|source| OutputError::Export { path: path.to_path_buf(), source: source.into() })?;
    Ok(left_out)
}

fn to_stdout(profile: &Profile, plan: &ExportPlan) -> Result<Vec<Warning>, Error> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let written = format::write(profile, plan.target, &plan.options, &mut stdout)
        .and_then(|left_out| stdout.flush().map(|()| left_out).map_err(WriteError::Io));
    written.map_err(|error| match error {
        // Whoever reads it may have had enough, which is no failure.
        WriteError::Io(source) => Error::Print(source),
        other => OutputError::Export { path: PathBuf::from(STANDARD_STREAM), source: other.into() }.into(),
    })
}

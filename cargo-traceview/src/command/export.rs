//! `export`: a recording for another tool.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use traceview_core::analysis::fold_async;
use traceview_core::format::{self, WriteError};

use super::profile_file;
use super::record::megabytes;
use super::report::measure_of;
use crate::cli::args::ExportArgs;
use crate::cli::export::{ExportPlan, ExportTarget};
use crate::cli::output::OutputError;
use crate::cli::plan::{STANDARD_STREAM, Surroundings};
use crate::cli::whole_file;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::terminal;
use crate::window;

/// `cargo traceview export [FILE] [--format FORMAT] [-o OUT]`
///
/// # Errors
/// When the flags ask for something that can't be, the file can't be read, or the result can't be written; a file that
/// was there before is left as it was, then.
pub fn execute(args: &ExportArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let plan = ExportPlan::resolve(args, &surroundings.cwd, io::stdout().is_terminal())?;
    let (mut profile, _) = profile_file::load(args.file.as_deref(), args.read.options(), surroundings)?;
    if args.fold_async {
        profile = fold_async(&profile);
    }
    let left_out = match plan.what {
        ExportTarget::File(target, mut options) => {
            options.measure = measure_of(&profile, args.sample_type.as_deref())?;
            let mut left_out = Vec::new();
            write(plan.path.as_deref(), |out| {
                left_out = format::write(&profile, target, &options, out)?;
                Ok(())
            })?;
            left_out
        }
        ExportTarget::Picture(kind, picture) => {
            // Before the file is touched: what can't be drawn is no failure of the file.
            let mut drawn = Vec::new();
            window::panel(profile, kind, &picture, &mut drawn).map_err(Error::Picture)?;
            write(plan.path.as_deref(), |out| Ok(out.write_all(&drawn)?))?;
            Vec::new()
        }
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

/// Lets `content` write to the file, or to stdout.
fn write(path: Option<&Path>, mut content: impl FnMut(&mut dyn Write) -> Result<(), WriteError>) -> Result<(), Error> {
    let Some(path) = path else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        let written = content(&mut stdout).and_then(|()| stdout.flush().map_err(WriteError::Io));
        return written.map_err(|error| match error {
            // Whoever reads it may have had enough, which is no failure.
            WriteError::Io(source) => Error::Print(source),
            other => OutputError::Export { path: PathBuf::from(STANDARD_STREAM), source: other.into() }.into(),
        });
    };
    let written = whole_file::replace(path, |out| {
        content(out).map_err(|error| match error {
            WriteError::Io(error) => error,
            other => io::Error::other(other),
        })
    });
    Ok(written.map_err(|source| OutputError::Export { path: path.to_path_buf(), source: source.into() })?)
}

//! `open`: the viewer.

use std::path::{Path, PathBuf};

use traceview_core::format::ReadOptions;

use super::profile_file;
use crate::cli::args::OpenArgs;
use crate::cli::output::{self, OutputError};
use crate::cli::picture::PicturePlan;
use crate::cli::plan::{STANDARD_STREAM, Surroundings};
use crate::cli::whole_file;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::sampler::SignalGuard;
use crate::terminal;
use crate::window::{self, Input};

/// `cargo traceview open [FILE…] [--screenshot OUT.png]`
///
/// # Errors
/// When there is no such recording, no window can be opened, or the picture can't be made.
pub fn execute(args: &OpenArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let read = args.read.options();
    let inputs = args.files.iter().map(|file| input(file, read, surroundings)).collect::<Result<Vec<_>, _>>()?;
    match &args.screenshot {
        None => window::show(inputs, read, &SignalGuard::new()).map_err(Error::Window)?,
        Some(output) => screenshot(inputs, read, &PicturePlan::from(&args.picture), &surroundings.cwd, output)?,
    }
    Ok(ExitCode::Fine)
}

/// Files are read in the window, so that it is there at once; stdin is read before.
fn input(file: &Path, read: ReadOptions, surroundings: &Surroundings) -> Result<Input, Error> {
    if file == Path::new(STANDARD_STREAM) {
        let (profile, _) = profile_file::load(Some(file), read, surroundings)?;
        return Ok(Input::Profile(Box::new(profile), None));
    }
    Ok(Input::File(surroundings.resolve_file(Some(file))?))
}

fn screenshot(
    inputs: Vec<Input>,
    read: ReadOptions,
    plan: &PicturePlan,
    cwd: &Path,
    output: &Path,
) -> Result<(), Error> {
    output::check_no_directory(output, cwd)?;
    let path: PathBuf = output::writable_path(output, cwd)?;
    let mut png = Vec::new();
    window::screenshot(inputs, read, plan, &mut png).map_err(Error::Picture)?;
    let written = whole_file::replace(&path, |out| out.write_all(&png));
    written.map_err(|source| OutputError::Export { path: path.clone(), source: source.into() })?;
    terminal::say(&format!("traceview: wrote {}\n", path.display()));
    Ok(())
}

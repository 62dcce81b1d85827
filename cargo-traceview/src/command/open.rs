//! `open`: the viewer.

use std::path::{Path, PathBuf};

use crate::cli::args::OpenArgs;
use crate::cli::output::{self, OutputError};
use crate::cli::picture::PicturePlan;
use crate::cli::plan::Surroundings;
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
    let files = args.files.iter().map(|file| surroundings.resolve_file(Some(file)));
    let inputs = files.map(|file| file.map(Input::File)).collect::<Result<Vec<_>, _>>()?;
    match &args.screenshot {
        None => window::show(inputs, &SignalGuard::new()).map_err(Error::Window)?,
        Some(output) => screenshot(inputs, &PicturePlan::from(&args.picture), &surroundings.cwd, output)?,
    }
    Ok(ExitCode::Fine)
}

fn screenshot(inputs: Vec<Input>, plan: &PicturePlan, cwd: &Path, output: &Path) -> Result<(), Error> {
    output::check_no_directory(output, cwd)?;
    let path: PathBuf = output::writable_path(output, cwd)?;
    let mut png = Vec::new();
    window::screenshot(inputs, plan, &mut png).map_err(Error::Picture)?;
    let written = output::replace(&path, |out| out.write_all(&png));
    written.map_err(|source| OutputError::Export { path: path.clone(), source: source.into() })?;
    terminal::say(&format!("traceview: wrote {}\n", path.display()));
    Ok(())
}

//! `info`: what a recording contains, and what is missing.

use traceview_core::model::Profile;
use traceview_core::report::{InfoSource, Style, info_json, write_info};

use super::profile_file;
use crate::cli::args::InfoArgs;
use crate::cli::plan::Surroundings;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::terminal;

/// `cargo traceview info [FILE] [--json]`
///
/// # Errors
/// When the file can't be read, or stdout fails.
pub fn execute(args: &InfoArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let (profile, source) = profile_file::load(args.file.as_deref(), args.read.options(), surroundings)?;
    profile_file::print(&render(&profile, &source, args, terminal::stdout_style()))?;
    Ok(ExitCode::Fine)
}

/// What `args` ask for of `profile`, which was read from `source`.
#[must_use]
pub fn render(profile: &Profile, source: &InfoSource, args: &InfoArgs, style: Style) -> String {
    if args.json {
        return info_json(profile, source);
    }
    let mut text = String::new();
    write_info(&mut text, profile, source, style).expect("a String takes any text");
    text
}

//! `run`: the program of a cargo project.

use std::env;
use std::ffi::OsString;

use super::record;
use crate::cargo::{BuildPlan, Built, Variables};
use crate::cli::args::RunArgs;
use crate::cli::plan::{BuildInfo, ProgramPlan, RecordOptions, Surroundings};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::terminal;

/// `cargo traceview [run] [CARGO FLAGS] [RECORD FLAGS] [-- ARGS…]`
///
/// # Errors
/// When there is no working directory, the output is impossible, there is nothing to build, the build fails, or recording fails.
pub fn execute(args: RunArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    // Cargo looks for a project from there.
    env::current_dir().map_err(Error::WorkingDirectory)?;
    // First what can be wrong at once; a build takes minutes.
    let options = RecordOptions::resolve(&args.record, surroundings)?;
    let quiet = args.cargo.quiet;
    let build = BuildPlan::new(&args.cargo, &surroundings.cwd, Variables::of_process()).map_err(Error::Cargo)?;
    if !quiet {
        terminal::say(&format!("traceview: {}\n", describe(&build)));
    }
    let built = build.build().map_err(Error::Cargo)?;
    record::record(&options.into_plan(program(built, args.args), surroundings))
}

/// Says which profile is built, and what differs from the user's.
fn describe(build: &BuildPlan) -> String {
    let profile = build.profile();
    if profile.unchanged {
        return format!("profile `{}` has debug info, building it unchanged", profile.name);
    }
    let pointers = if build.frame_pointers() { " and frame pointers" } else { "" };
    if profile.base == profile.name {
        return format!("building with profile `{}`, completed with debug info{pointers}", profile.name);
    }
    format!("building with profile `{}`: `{}` with debug info{pointers}", profile.name, profile.base)
}

/// The built program as something to record.
fn program(built: Built, args: Vec<OsString>) -> ProgramPlan {
    ProgramPlan {
        program: built.executable.into_os_string(),
        args,
        env: built.env,
        name: built.target,
        build: Some(BuildInfo {
            workspace: built.workspace,
            watched: built.watched,
            package: built.package,
            profile: built.profile.name,
            frame_pointers: built.frame_pointers,
            rustc_version: built.rustc_version,
        }),
    }
}

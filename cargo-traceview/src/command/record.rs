//! `record`: any program.

use crate::cli::args::RecordArgs;
use crate::cli::plan::{ProgramPlan, RecordOptions, RecordPlan, Surroundings};
use crate::error::Error;
use crate::exit_code::ExitCode;

/// `cargo traceview record [FLAGS] -- PROGRAM [ARGS…]`
///
/// # Errors
/// When the output is impossible, the program does not start, or recording fails.
pub fn execute(args: RecordArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let options = RecordOptions::resolve(&args.record, surroundings)?;
    let mut words = args.command.into_iter();
    let program = words.next().expect("clap requires PROGRAM");
    record(&options.into_plan(ProgramPlan::existing(program, words.collect()), surroundings))
}

/// Runs the plan's program under the sampler and saves the recording. This is the seam to the sampler: `run` comes
/// here too.
///
/// # Errors
/// When the program does not start or recording fails.
pub fn record(plan: &RecordPlan) -> Result<ExitCode, Error> {
    Err(Error::Recording(format!("the sampler is not merged yet, `{}` was not started", plan.name).into()))
}

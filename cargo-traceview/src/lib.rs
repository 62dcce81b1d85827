//! The recorder and command line of `cargo traceview`.

pub mod assemble;
pub mod cargo;
pub mod cli;
pub mod command;
pub mod error;
pub mod exit_code;
pub mod image;
mod live;
mod machine;
pub mod sampler;
pub mod symbolize;
pub mod terminal;
pub mod unwind;
pub mod window;

use std::ffi::OsString;
use std::process;

use cli::args::Cli;
use cli::plan::Surroundings;
use exit_code::ExitCode;

/// The whole program: parses the arguments (the program's name first), does what they say, prints what went wrong.
#[must_use]
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> process::ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::parse_args(args.clone()) {
        Ok(cli) => cli,
        Err(error) => {
            // If even the message can't be printed there is nobody to tell.
            let _ignored = error.print();
            return if error.use_stderr() { ExitCode::Usage.into() } else { ExitCode::Fine.into() };
        }
    };
    match command::execute(cli.into_command(), &Surroundings::of_process(args)) {
        Ok(code) => code.into(),
        Err(error) if error.is_broken_pipe() => ExitCode::Fine.into(),
        Err(error) => {
            terminal::say(&error.to_message());
            error.exit_code().into()
        }
    }
}

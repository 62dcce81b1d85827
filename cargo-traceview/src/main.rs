//! `cargo traceview`: see the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_traceview::main_with(std::env::args_os())
}

//! The program under test, for the tests to start.

fn main() -> std::process::ExitCode {
    cargo_traceview::main_with(std::env::args_os())
}

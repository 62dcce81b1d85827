//! One test binary for all tests from outside.

// `cfg(test)` lets clippy know that its helpers may unwrap, too.
#[cfg(test)]
mod cargo_build;
mod conversions;
mod errors;
mod exit_status;
mod families;
#[cfg(test)]
mod flows;
mod gecko;
mod hazards;
mod known_truth;
mod limits;
mod live_line;
mod name_cache;
mod no_disturbance;
mod pprof;
mod privileges;
mod readme;
mod report;
mod sampler_truth;
mod shared_out;
mod stacks_and_maps;
#[cfg(test)]
mod symbols;
mod terminals;
mod tidy;
mod unusual_stacks;
mod unwinding;
mod waits;
mod whose_code;
mod window;

use std::sync::{Mutex, MutexGuard, PoisonError};

use traceview_tests::profiler::Profiler;

/// A user with the program under test and no recordings yet.
fn traceview() -> Profiler {
    Profiler::new(env!("CARGO_BIN_EXE_traceview-under-test"))
}

/// Held by tests that measure, so that they do not take the CPUs from each other: they would still be right, but with fewer
/// samples.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

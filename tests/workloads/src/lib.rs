//! What the workloads share: clocks, arguments, a line of JSON, and safe faces of the system calls they make.
//!
//! A workload is a small program whose behaviour is known beforehand or measured by itself, and printed as its last
//! line of stdout. The tests run it under the recorder and compare. None of them knows anything of the recorder.

pub mod clock;
pub mod signal;
pub mod system;
pub mod truth;
pub mod waits;
pub mod work;

use std::env;
use std::str::FromStr;

/// The argument at `index` (1 is the first), or `default` if it is not given.
///
/// # Panics
/// When it is not a value of that type: a workload with wrong arguments must not look like a passing one.
#[must_use]
pub fn arg_or<T: FromStr>(index: usize, default: T) -> T {
    match env::args().nth(index) {
        None => default,
        Some(text) => {
            text.parse().unwrap_or_else(|_| panic!("argument {index}, `{text}`, is not what this workload expects"))
        }
    }
}

/// The first argument: which of its behaviours a workload shall show.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn mode(known: &str) -> String {
    env::args().nth(1).unwrap_or_else(|| panic!("the first argument must be one of: {known}"))
}

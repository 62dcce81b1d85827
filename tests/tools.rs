//! Tools and rights that some tests need and a machine may lack.
#![expect(clippy::print_stderr, reason = "who runs the tests is told what was skipped")]

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

/// Whether the tool is there. If not, says that the test is skipped; where `CI=true` that is a failure, because there
/// nobody would read it.
///
/// # Panics
/// When it is missing in CI.
#[must_use]
pub fn has_tool(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        assert!(env::var("CI").as_deref() != Ok("true"), "`{tool}` is missing");
        eprintln!("skipped: `{tool}` is missing");
    }
    found
}

/// Whether the tests run as root.
///
/// # Panics
/// When /proc is not mounted.
#[must_use]
pub fn is_root() -> bool {
    fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0
}

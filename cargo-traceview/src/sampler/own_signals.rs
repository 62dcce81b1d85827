//! What signals to the profiler itself mean for the program.

use super::ptrace::sys::{self, Tid};

/// Three interrupts within this time mean "now".
const PATIENCE_NS: i64 = 2_000_000_000;

/// Hands on to the program what is meant for it.
pub(crate) struct OwnSignals {
    program: Tid,
    interrupts: Vec<i64>,
}

impl OwnSignals {
    /// For a program that runs as process `program`.
    pub(crate) fn new(program: Tid) -> Self {
        Self { program, interrupts: Vec::new() }
    }

    /// The profiler got `signal` at the moment `now`.
    pub(crate) fn on_signal(&mut self, signal: i32, now: i64) {
        match signal {
            // The terminal sent it to the program too.
            libc::SIGINT => {
                self.interrupts.retain(|time| now - time < PATIENCE_NS);
                self.interrupts.push(now);
                if self.interrupts.len() >= 3 {
                    let _gone_already = sys::kill(self.program, libc::SIGKILL);
                }
            }
            // Only we got it: end what we started.
            libc::SIGTERM => {
                let _gone_already = sys::kill(self.program, libc::SIGTERM);
            }
            // The others must not end us before the recording is saved, no more.
            _ => {}
        }
    }
}

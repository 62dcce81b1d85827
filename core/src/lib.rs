//! The profile model of `cargo traceview`, its analyses and its file formats.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod format;
pub mod model;
pub mod report;

//! What `cargo traceview` draws.
#![forbid(unsafe_code)]

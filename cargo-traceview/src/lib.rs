//! The recorder and command line of `cargo traceview`.

pub mod cargo;
pub mod cli;
pub mod sampler;
pub mod symbolize;
pub mod unwind;

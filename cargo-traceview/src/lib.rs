//! The recorder and command line of `cargo traceview`.

pub mod cargo;
pub mod cli;
pub mod image;
pub mod sampler;
pub mod symbolize;
pub mod unwind;

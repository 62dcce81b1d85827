//! Shared pieces of the tests: they start the real program on workloads of known truth and look at what comes out.
//!
//! Nothing here uses the program's own code to judge its results: recordings are read through its command line
//! ([`recording`]) or as plain JSON ([`firefox`]).

pub mod desktop;
pub mod firefox;
pub mod gecko_validator;
pub mod leftovers;
pub mod pprof_tool;
pub mod process;
pub mod profiler;
pub mod recording;
pub mod rich_profile;
pub mod steady_profile;
pub mod tools;
pub mod workload;

//! The command line: from words to a plan.
//!
//! [`args`] records what was typed, [`plan`] checks it against files, directories and the environment.

pub mod ai;
pub mod args;
pub mod condition;
pub mod date;
pub mod export;
pub mod group;
pub mod output;
pub mod picture;
pub mod plan;
pub mod report;
pub mod size;
pub mod store;
pub mod time;
mod tips;
pub(crate) mod whole_file;

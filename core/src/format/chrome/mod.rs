//! Chrome traces.

mod scan;
mod time;

//! Files of other tools, read and written again: against the values that those tools compute from them.

mod chrome;
mod chrome_flows;
mod cpuprofile;
mod fixtures;
mod sha256;
mod speedscope;

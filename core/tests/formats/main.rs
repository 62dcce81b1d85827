//! Files of other tools, read and written again: against the values that those tools compute from them.

mod chrome;
mod cpuprofile;
mod fixtures;
mod speedscope;

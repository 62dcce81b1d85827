//! Files of other tools, read and written again: against the values that those tools compute from them.

mod ai_text;
mod chrome;
mod chrome_calltree;
mod chrome_flows;
mod collapsed;
mod cpuprofile;
mod fixtures;
mod gecko;
mod gecko_flows;
mod gecko_hostile;
mod gecko_raw;
mod memory;
mod perf_script;
mod pprof;
mod pprof_hostile;
mod pprof_tool;
mod sha256;
mod speedscope;
mod tops;

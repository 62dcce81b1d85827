//! Names that writer and reader agree on.

/// The function that samples count for that could not be kept.
pub(super) const LOST: &str = "traceview::lost_samples";
/// The function of samples without a stack: some tools refuse samples without locations.
pub(super) const NO_STACK: &str = "[no stack]";
/// What has no name at all.
pub(super) const UNKNOWN: &str = "[unknown]";
/// How the names of functions begin that are the roots of stacks that were cut short.
pub(super) const CUT: &str = "[stack cut";
/// The function of CPU time that no look at its thread stands behind.
pub(super) const NOT_SAMPLED: &str = "[not sampled]";

/// The mapping of system calls. Tools do not look for names in files that are called so.
pub(super) const KERNEL: &str = "[kernel]";
/// The mapping of code in memory that belongs to no file.
pub(super) const MEMORY: &str = "[anon]";

/// The labels that say which thread a sample is of.
pub(super) const THREAD_NAME: &str = "thread_name";
pub(super) const TID: &str = "tid";
pub(super) const PID: &str = "pid";
/// The name of the process, where that is not the program's.
pub(super) const PROCESS_NAME: &str = "comm";

pub(super) const SAMPLES: [&str; 2] = ["samples", "count"];
pub(super) const CPU: &str = "cpu";
pub(super) const NANOSECONDS: &str = "nanoseconds";

/// Further facts of a profile that the file has a field for.
pub(super) const COMMENT: &str = "comment";
pub(super) const DOCUMENTATION: &str = "documentation";
pub(super) const DROP_FRAMES: &str = "drop frames";
pub(super) const KEEP_FRAMES: &str = "keep frames";
/// As `NUMBER TYPE/UNIT`, where it is no time between samples.
pub(super) const PERIOD: &str = "period";

/// How comments begin that say what the model has a field for.
pub(super) const RECORDED_BY: &str = "recorded by ";
pub(super) const COMMAND: &str = "command: ";

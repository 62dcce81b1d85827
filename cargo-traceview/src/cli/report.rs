//! What `report` is asked for.

use std::path::PathBuf;

use clap::Args;

use super::ai::AiArgs;
use super::args::ReadFlags;
use super::condition::Condition;
use super::group::By;
use super::time::{TimeRange, parse_range};

/// The help of `--fail-if`.
const FAIL_IF_HELP: &str = "\
End with status 4, and say so, if this holds: `self(NAME)` or `total(NAME)`, then >, >=, < or <=, then a share (5%) or \
an amount (100ms); can be given several times. A function that was not seen has 0";

/// Reports that are no lists.
const TREES: [&str; 4] = ["tree", "inverted", "callers", "callees"];

/// What lists that are not of samples conflict with.
const OF_SAMPLES: [&str; 5] = ["by", "slices", "sample_type", "measure", "ai_text"];

/// What CPU time and waits conflict with.
const NOT_OF_TIME: [&str; 4] = ["flows", "slices", "sample_type", "exact"];

/// `cargo traceview report [FILE] …`
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// A profile: a file, - for stdin, or @1 for the last recording, @2 for the one before (default: @1)
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How to read.
    #[command(flatten)]
    pub read: ReadFlags,
    /// The N functions with the most time of their own (the default report, with 20), or the N first of another list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = TREES)]
    pub top: Option<u32>,
    /// The call tree, from the outermost function inwards
    #[arg(long, conflicts_with_all = ["inverted", "callers", "callees"])]
    pub tree: bool,
    /// The call tree upside down: each hot function, and below it who called it
    #[arg(long, conflicts_with_all = ["callers", "callees"])]
    pub inverted: bool,
    /// Who called this function, with all that it and what it called took: the whole name, the end of its path, or a part that
    /// only one function has
    #[arg(long, value_name = "FN", conflicts_with_all = ["callees", "ai_text"])]
    pub callers: Option<String>,
    /// What this function called
    #[arg(long, value_name = "FN", conflicts_with = "ai_text")]
    pub callees: Option<String>,
    /// What threads waited for, by system call and what it was made on, and below that who waited
    #[arg(long, conflicts_with_all = TREES, conflicts_with_all = OF_SAMPLES, conflicts_with_all = ["labels", "thread_list"])]
    pub waits: bool,
    /// CPU time, samples and waits of each thread
    #[arg(long = "threads", conflicts_with_all = TREES, conflicts_with_all = OF_SAMPLES)]
    pub thread_list: bool,
    /// How long flows take, by name and from place to place, the slowest first
    #[arg(long, conflicts_with_all = TREES, conflicts_with_all = OF_SAMPLES, conflicts_with_all = ["fold_async", "labels", "waits", "thread_list"])]
    pub flows: bool,
    /// Group by this instead of by function
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = TREES)]
    pub by: Option<By>,
    /// Show tasks by their async functions: without runtime, wrappers and `poll`
    #[arg(long)]
    pub fold_async: bool,
    /// The time of slices instead of samples; what a profile without samples is reported by
    #[arg(long, conflicts_with_all = ["fold_async", "labels", "sample_type"])]
    pub slices: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// A condition.
    #[arg(
        long,
        value_name = "CONDITION",
        help = FAIL_IF_HELP,
        conflicts_with_all = ["flows", "waits", "thread_list", "exact"]
    )]
    pub fail_if: Vec<Condition>,
    /// The text for an AI assistant.
    #[command(flatten)]
    pub ai: AiArgs,
    /// Only CPU time (the default, where it is known)
    #[arg(long, group = "measure", conflicts_with_all = NOT_OF_TIME, help_heading = "Filters")]
    pub on_cpu: bool,
    /// Only the time of waits; in trees the system call is below the function that made it
    #[arg(long, group = "measure", conflicts_with_all = NOT_OF_TIME, conflicts_with = "labels", help_heading = "Filters")]
    pub off_cpu: bool,
    /// CPU time and the time of waits
    #[arg(long, group = "measure", conflicts_with_all = NOT_OF_TIME, conflicts_with = "labels", help_heading = "Filters")]
    pub wall: bool,
    /// Only threads with this name or thread id; can be given several times
    #[arg(long = "thread", value_name = "NAME|TID", help_heading = "Filters")]
    pub threads: Vec<String>,
    /// Only processes with this name or process id; can be given several times
    #[arg(long = "process", value_name = "NAME|PID", help_heading = "Filters")]
    pub processes: Vec<String>,
    /// Only stacks with a function whose name, file or crate has all these words, in capitals or not; only flows that are called
    /// so, or pass through something that is
    #[arg(long, value_name = "TEXT", conflicts_with = "exact", help_heading = "Filters")]
    pub search: Option<String>,
    /// Only this time, counted from the start of the recording: `1.2s..3s`, `500ms..`, `..2s`
    #[arg(long, value_name = "A..B", value_parser = parse_range, help_heading = "Filters")]
    pub range: Option<TimeRange>,
    /// Only samples with this label; can be given several times, and then all are needed
    #[arg(long = "label", value_name = "KEY=VALUE", help_heading = "Filters")]
    pub labels: Vec<String>,
    /// What to count, of a file whose samples count several things; `info` lists them (default: CPU time, where known)
    #[arg(long, value_name = "NAME")]
    pub sample_type: Option<String>,
}

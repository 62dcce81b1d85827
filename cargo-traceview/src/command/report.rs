//! `report`: where the time went.

use std::fmt;
use std::time::Duration;

use traceview_core::analysis::{
    GroupList, InvertedTree, Measure, Selection, StackValues, call_tree, default_measure, fold_async, functions,
    groups, sample_type, select_labels, select_threads, thread_groups,
};
use traceview_core::model::{Profile, Time, TimeRange};
use traceview_core::report::{
    Style, TreeDirection, TreeLimits, format_duration, groups_json, top_json, tree_json, write_groups, write_top,
    write_tree,
};

use super::profile_file;
use crate::cli::args::ReportArgs;
use crate::cli::group::{By, Grouping};
use crate::cli::plan::Surroundings;
use crate::cli::time;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::terminal;

/// Functions that the text lists when `--top` does not say.
const DEFAULT_TOP: usize = 20;

/// Inverted trees can be as large as all stacks written out, so JSON ends after this many rows (and says so).
const MOST_INVERTED_ROWS: usize = 100_000;

/// `cargo traceview report [FILE] …`
///
/// # Errors
/// When the file can't be read, the filters leave nothing, or stdout fails.
pub fn execute(args: &ReportArgs, surroundings: &Surroundings) -> Result<ExitCode, Error> {
    let (profile, _) = profile_file::load(args.file.as_deref(), args.read.options(), surroundings)?;
    profile_file::print(&render(&profile, args, terminal::stdout_style())?)?;
    Ok(ExitCode::Fine)
}

/// The report on `profile` that `args` ask for.
///
/// # Errors
/// When the filters leave nothing, or what the samples count can't be added up.
pub fn render(profile: &Profile, args: &ReportArgs, style: Style) -> Result<String, Error> {
    let folded = args.fold_async.then(|| fold_async(profile));
    let profile = folded.as_ref().unwrap_or(profile);
    let threads = select_threads(profile, &args.threads, &args.processes)
        .map_err(|error| Error::NothingFound(error.to_string()))?;
    let range = args.range.map_or(TimeRange::ALL, range_of);
    let label_sets = select_labels(profile, &args.labels).map_err(|error| Error::NothingFound(error.to_string()))?;
    let selection = Selection { range, threads, label_sets };
    let measure = measure_of(profile, args.sample_type.as_deref())?.unwrap_or_else(|| default_measure(profile));
    let values = StackValues::of(profile, &selection, measure)?;
    if values.total.samples == 0 && selection != Selection::default() {
        return Err(Error::NothingFound(nothing_in(profile, &selection)));
    }
    let mut text = String::new();
    if args.tree || args.inverted {
        if args.json {
            text = tree_as_json(profile, &values, args.inverted);
        } else {
            printed(tree_as_text(&mut text, profile, &values, args.inverted, style));
        }
        return Ok(text);
    }
    let by = args.by.unwrap_or(By::Function);
    let list = match by.grouping() {
        Grouping::Functions => return Ok(functions_list(profile, &values, args, style)),
        Grouping::Code(code) => groups(profile, &values, code),
        Grouping::Threads => thread_groups(profile, &selection, measure)?,
    };
    Ok(groups_list(profile, &list, (args, by), style))
}

/// What the sample type of this name counts.
///
/// # Errors
/// When there is none; the message lists those that there are.
pub fn measure_of(profile: &Profile, name: Option<&str>) -> Result<Option<Measure>, Error> {
    let Some(name) = name else { return Ok(None) };
    let found = sample_type(profile, name).map_err(|error| Error::NothingFound(error.to_string()))?;
    Ok(Some(found.measure))
}

fn functions_list(profile: &Profile, values: &StackValues, args: &ReportArgs, style: Style) -> String {
    let list = functions(profile, values);
    if args.json {
        return top_json(profile, &list, most(args, usize::MAX));
    }
    let mut text = String::new();
    printed(write_top(&mut text, profile, &list, most(args, DEFAULT_TOP), style));
    text
}

fn groups_list(profile: &Profile, list: &GroupList, (args, by): (&ReportArgs, By), style: Style) -> String {
    if args.json {
        return groups_json(profile, list, most(args, usize::MAX));
    }
    let mut text = String::new();
    printed(write_groups(&mut text, profile, list, by.thing(), most(args, DEFAULT_TOP), style));
    text
}

/// How many rows a list has at most.
fn most(args: &ReportArgs, default: usize) -> usize {
    args.top.map_or(default, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

fn tree_as_json(profile: &Profile, values: &StackValues, inverted: bool) -> String {
    if inverted {
        let limits = TreeLimits { max_rows: MOST_INVERTED_ROWS, ..TreeLimits::NONE };
        tree_json(profile, &mut InvertedTree::new(profile, values), limits)
    } else {
        tree_json(profile, &mut call_tree(profile, values), TreeLimits::NONE)
    }
}

fn tree_as_text(
    out: &mut dyn fmt::Write,
    profile: &Profile,
    values: &StackValues,
    inverted: bool,
    style: Style,
) -> fmt::Result {
    let limits = TreeLimits::READABLE;
    if inverted {
        let mut tree = InvertedTree::new(profile, values);
        write_tree(out, profile, &mut tree, TreeDirection::Inverted, limits, style)
    } else {
        let mut tree = call_tree(profile, values);
        write_tree(out, profile, &mut tree, TreeDirection::TopDown, limits, style)
    }
}

fn printed(result: fmt::Result) {
    result.expect("a String takes any text");
}

fn range_of(range: time::TimeRange) -> TimeRange {
    // Beyond 292 years there are no samples.
    let time = |moment: Duration| Time(i64::try_from(moment.as_nanos()).unwrap_or(i64::MAX));
    TimeRange { start: range.start.map_or(TimeRange::ALL.start, time), end: range.end.map_or(TimeRange::ALL.end, time) }
}

/// Why a selection is empty, as a sentence.
fn nothing_in(profile: &Profile, selection: &Selection) -> String {
    let what = match (selection.range == TimeRange::ALL, &selection.threads) {
        _ if selection.label_sets.is_some() => "no chosen sample with these labels counts anything",
        (true, _) => "no sample of the chosen threads used any CPU time",
        (false, None) => "no sample in that range used any CPU time",
        (false, Some(_)) => "no sample of the chosen threads in that range used any CPU time",
    };
    match profile.extent() {
        Some(extent) if selection.range != TimeRange::ALL => {
            let [start, end] = [extent.start, extent.end].map(|time| format_duration(time - Time::ZERO));
            format!("{what}; the profile goes from {start} to {end}")
        }
        None if selection.range != TimeRange::ALL => format!("{what}; the profile has no times"),
        _ => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use traceview_core::model::{
        CpuDelta, Frame, Function, Nanos, OsId, Process, ProfileBuilder, SampleTable, Thread, ThreadId,
    };

    use super::*;
    use crate::cli::args::{Cli, Command};

    /// Thread `main` (10) in `work` from 0 s to 2 s, thread `worker` (11) in `help` from 1 s on; 1 ms each 10 ms.
    fn profile() -> Profile {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("demo");
        let process = builder.add_process(Process {
            pid: OsId::Number(10),
            parent: None,
            name,
            command_line: Vec::new(),
            start: None,
            end: None,
            exit: None,
        });
        let rows = [("main", 10, "work", 0..200), ("worker", 11, "help", 100..200), ("idle", 12, "sleep", 0..0)];
        for (thread, tid, function, times) in rows {
            let [thread, function] = [thread, function].map(|text| builder.string(text));
            let function = builder.function(Function::named(function));
            let frame = builder.frame(Frame::of(function));
            let stack = builder.stack(None, frame);
            let id: ThreadId = builder.add_thread(Thread::new(process, OsId::Number(tid), thread));
            builder.thread_mut(id).samples = SampleTable {
                time: times.clone().map(|time| Time(time * 10_000_000)).collect(),
                stack: times.clone().map(|_| Some(stack)).collect(),
                cpu: times.map(|_| CpuDelta::new(Nanos(1_000_000))).collect(),
                ..SampleTable::default()
            };
        }
        builder.finish().unwrap()
    }

    fn run(line: &str) -> Result<String, Error> {
        let words = format!("cargo-traceview report {line}");
        match Cli::parse_args(words.split_whitespace().map(OsString::from)).unwrap().into_command() {
            Command::Report(args) => render(&profile(), &args, Style::default()),
            other => panic!("`{line}` parsed as {other:?}"),
        }
    }

    fn first_line(line: &str) -> String {
        run(line).unwrap().lines().next().unwrap_or_default().to_owned()
    }

    fn refused(line: &str) -> String {
        let error = run(line).expect_err(line);
        assert_eq!(error.exit_code(), ExitCode::NothingFound, "{line}");
        error.to_string()
    }

    #[test]
    fn filters_choose_threads_and_time() {
        assert_eq!(first_line(""), "CPU time 300 ms in 300 samples");
        assert_eq!(first_line("--thread worker"), "CPU time 100 ms in 100 samples");
        assert_eq!(first_line("--thread 10 --range 1.5s.."), "CPU time 50.0 ms in 50 samples");
        assert_eq!(first_line("--range ..1s"), "CPU time 100 ms in 100 samples");
        assert_eq!(first_line("--thread 10/11 --range 500ms..1010ms"), "CPU time 1.00 ms in 1 sample");
    }

    #[test]
    fn what_leaves_nothing_is_an_error_of_its_own() {
        assert_eq!(refused("--thread nobody"), "no thread is called `nobody`; there are `main`, `worker`, `idle`");
        assert_eq!(refused("--thread idle"), "no sample of the chosen threads used any CPU time");
        assert_eq!(
            refused("--range 5s..6s"),
            "no sample in that range used any CPU time; the profile goes from 0 ns to 1.99 s"
        );
    }

    #[test]
    fn sample_types_and_labels_are_chosen_by_name() {
        assert_eq!(first_line("--sample-type cpu"), first_line(""));
        assert_eq!(first_line("--sample-type samples --thread main"), "200 samples");
        assert_eq!(refused("--sample-type space"), "no sample type is called `space`; there are `samples`, `cpu`");
        assert_eq!(refused("--label a=b"), "no sample has the label `a=b`; there are none");
    }

    #[test]
    fn every_shape_is_what_was_asked_for() {
        assert!(run("--top 1").unwrap().ends_with("33.3 % in 1 more function\n"));
        assert!(run("--tree").unwrap().contains("total  ±95 %    self  function"));
        assert!(run("--inverted").unwrap().contains("share  ±95 %  function, below it its callers"));
        assert!(run("--by thread").unwrap().ends_with("33.3 %    5.3  33.3 %  worker (tid 11)\n"));
        assert!(run("--by category").unwrap().contains("total  category"));
        assert_eq!(run("--by function").unwrap(), run("").unwrap());
        assert_eq!(run("--fold-async").unwrap(), run("").unwrap(), "nothing is async here");
        for (line, rows, depth) in [("", 2, false), ("--top 1", 1, false), ("--tree", 2, true), ("--inverted", 2, true)]
        {
            let json: serde_json::Value = serde_json::from_str(&run(&format!("--json {line}")).unwrap()).unwrap();
            assert_eq!(json["total"], 300_000_000, "{line}");
            assert_eq!(json["rows"].as_array().map(Vec::len), Some(rows), "{line}");
            assert_eq!(json["rows"][0]["name"], "work", "{line}");
            assert_eq!(json["rows"][0].get("depth").is_some(), depth, "{line}");
        }
    }
}

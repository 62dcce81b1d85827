//! `report`: where the time went.

use std::fmt;
use std::io::{self, IsTerminal};
use std::time::Duration;

use traceview_core::analysis::{
    GroupList, InvertedTree, Measure, Selection, StackValues, call_tree, default_measure, flows, fold_async, functions,
    groups, sample_type, select_labels, select_threads, slices_as_samples, thread_groups,
};
use traceview_core::model::{Profile, Time, TimeRange};
use traceview_core::report::{
    Style, TreeDirection, TreeLimits, flows_json, format_duration, groups_json, top_json, tree_json, write_flows,
    write_groups, write_top, write_tree,
};

use super::{ai_text, profile_file};
use crate::cli::args::{FlowRule, ReportArgs};
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
    let source = profile_file::Source::read(args.file.as_deref(), args.read.options(), surroundings)?;
    if let Some(query) = args.ai.query(&args.threads)? {
        let tree = source.devtools_call_tree(&query)?;
        let text = if args.ai.ai { tree.serialize() } else { tree.compressed() };
        profile_file::print(&text)?;
        // The texts don't end their last line. A terminal goes on behind it.
        return if io::stdout().is_terminal() { profile_file::print("\n") } else { Ok(()) }.map(|()| ExitCode::Fine);
    }
    if is_exact(args)
        && let Some(json) = source.devtools_flows()?
    {
        profile_file::print(&json)?;
        return Ok(ExitCode::Fine);
    }
    let (profile, _) = source.profile()?;
    profile_file::print(&render(&profile, args, terminal::stdout_style())?)?;
    Ok(ExitCode::Fine)
}

/// Whether what DevTools finds is asked for as it is: events of all sorts, in the order of the file.
fn is_exact(args: &ReportArgs) -> bool {
    let is_whole =
        args.threads.is_empty() && args.processes.is_empty() && args.range.is_none() && args.search.is_none();
    args.flows && args.json && is_whole && args.read.flow_binding == FlowRule::DevTools
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
    if args.flows {
        return flows_list(profile, &selection, args, style);
    }
    let asked = measure_of(profile, args.sample_type.as_deref())?;
    let has_samples = || profile.threads.iter().any(|thread| !thread.samples.is_empty());
    let has_slices = || profile.threads.iter().any(|thread| !thread.slices.is_empty());
    if args.slices || (asked.is_none() && !has_samples() && has_slices()) {
        let slices = slices_as_samples(profile, selection.range);
        return of(&slices, Measure::Slices, &Selection { range: TimeRange::ALL, ..selection }, args, style);
    }
    of(profile, asked.unwrap_or_else(|| default_measure(profile)), &selection, args, style)
}

/// The report on what `measure` counts in a part of `profile`.
fn of(
    profile: &Profile,
    measure: Measure,
    selection: &Selection,
    args: &ReportArgs,
    style: Style,
) -> Result<String, Error> {
    let values = StackValues::of(profile, selection, measure)?;
    if measure == Measure::Slices && values.total.samples == 0 {
        let is_all = *selection == Selection::default() && args.range.is_none();
        let why =
            if is_all { "the profile has no slices" } else { "no slice of the chosen threads lies in that range" };
        return Err(Error::NothingFound(why.to_owned()));
    }
    if values.total.samples == 0 && *selection != Selection::default() {
        return Err(Error::NothingFound(nothing_in(profile, selection)));
    }
    if let Some(options) = args.ai.options() {
        let range = args.range.map_or(TimeRange::ALL, range_of);
        return ai_text::of(profile, &values, selection, range, (options, args));
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
        Grouping::Threads => thread_groups(profile, selection, measure)?,
    };
    Ok(groups_list(profile, &list, (args, by), style))
}

fn flows_list(profile: &Profile, selection: &Selection, args: &ReportArgs, style: Style) -> Result<String, Error> {
    let list = flows(profile, selection, args.search.as_deref());
    let is_filtered = args.search.is_some() || *selection != Selection::default();
    // Where there are none no filter is to blame.
    if list.chains.is_empty() && is_filtered && !profile.flows.is_empty() {
        let message = format!("none of the profile's {} flows passes the filters", profile.flows.len());
        return Err(Error::NothingFound(message));
    }
    if args.json {
        return Ok(flows_json(profile, &list));
    }
    let mut text = String::new();
    printed(write_flows(&mut text, profile, &list, most(args, DEFAULT_TOP), style));
    Ok(text)
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
        run_on(&profile(), line)
    }

    fn run_on(profile: &Profile, line: &str) -> Result<String, Error> {
        let words = format!("cargo-traceview report {line}");
        match Cli::parse_args(words.split_whitespace().map(OsString::from)).unwrap().into_command() {
            Command::Report(args) => render(profile, &args, Style::default()),
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
    fn flows_are_listed_and_filtered() {
        for filter in ["", " --search post", " --thread main", " --range 0s..1s"] {
            assert_eq!(first_line(&format!("--flows{filter}")), "the profile has no flows");
        }
        let json: serde_json::Value = serde_json::from_str(&run("--flows --json").unwrap()).unwrap();
        assert_eq!(json, serde_json::json!({"flows": [], "unbound": {}, "by_name": [], "hops": []}));
    }

    #[test]
    fn devtools_flows_are_those_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.json");
        let trace = r#"[{"name":"A","ph":"M","ts":1},{"name":"B","ph":"C","ts":0},{"ph":"s","ts":0,"id":1},{"ph":"f","ts":1,"id":1}]"#;
        std::fs::write(&path, trace).unwrap();
        let source = profile_file::Source::read(
            Some(&path),
            traceview_core::format::ReadOptions::default(),
            &Surroundings {
                args: Vec::new(),
                cwd: directory.path().to_owned(),
                home: None,
                xdg_data_home: None,
                xdg_cache_home: None,
            },
        )
        .unwrap();
        let json: serde_json::Value = serde_json::from_str(&source.devtools_flows().unwrap().unwrap()).unwrap();
        let names: Vec<_> = json["flows"][0].as_array().unwrap().iter().map(|event| event["name"].clone()).collect();
        assert_eq!(names, ["A", "B"]);
        let words = ["cargo-traceview", "report", "--flows", "--json", "--flow-binding", "devtools"];
        let is_exact_with = |more: &[&str]| {
            let words = words.iter().chain(more).map(OsString::from);
            match Cli::parse_args(words).unwrap().into_command() {
                Command::Report(args) => is_exact(&args),
                other => panic!("parsed as {other:?}"),
            }
        };
        assert!(is_exact_with(&[]) && !is_exact_with(&["--search", "A"]));
    }

    #[test]
    fn the_exact_text_for_an_assistant_is_that_of_devtools() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.json");
        let trace = r#"[{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"CrRendererMain"}},
            {"name":"Layout","cat":"c","ph":"X","ts":1,"dur":2000,"pid":1,"tid":2}]"#;
        std::fs::write(&path, trace).unwrap();
        let surroundings = Surroundings {
            args: Vec::new(),
            cwd: directory.path().to_owned(),
            home: None,
            xdg_data_home: None,
            xdg_cache_home: None,
        };
        let text = |line: &str| {
            let words = format!("cargo-traceview report {line}");
            let words = words.split_whitespace().map(OsString::from);
            let Command::Report(args) = Cli::parse_args(words).unwrap().into_command() else { panic!("{line}") };
            let source = profile_file::Source::read(Some(&path), args.read.options(), &surroundings).unwrap();
            let query = args.ai.query(&args.threads)?.expect("an exact text");
            source.devtools_call_tree(&query).map(|tree| tree.compressed())
        };
        let layout = "\n\n# Call tree:\n\n1;Layout;2;2;;;S";
        assert_eq!(text("--ai-compact --exact --event ts=1,pid=1,tid=2,name=Layout").unwrap(), layout);
        let range = text("--ai --exact --thread 1/2 --range-us 1..1001").unwrap();
        assert_eq!(range, layout.replace(";2;2", ";1;1").replace(";S", ""));
        let error = text("--ai --exact --event ts=2,pid=1,tid=2,name=Layout").unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::NothingFound);
        let found = "0 events on the thread are called `Layout` and begin at 2 µs, so there is no number 0";
        assert_eq!(error.to_string(), found);
        std::fs::write(&path, "main;work 5\n").unwrap();
        let error = text("--ai --exact --thread 1/2 --range-us 1..1001").unwrap_err();
        assert_eq!(error.to_string(), "neither a Chrome trace nor a CPU profile of V8: DevTools can't read it");
        let error = text("--ai --exact --thread main --range-us 1..1001").unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Usage);
    }

    #[test]
    fn the_text_for_an_assistant_is_of_what_the_filters_leave() {
        let text = run("--ai-compact --thread worker --range 1.5s.. --min-percent 1").unwrap();
        for line in [
            "Counted: CPU time 50.0 ms in 50 samples (exactly 50000000 ns)",
            "Time: only 490 ms (1.50 s to 1.99 s) of a profile of 1.99 s",
            "Threads: 1 of 3; worker (tid 11) 100.0 %",
            "Nodes: 1 shown (50000 µs self, 100.0 %)",
            "1;help;50000;50000;;",
        ] {
            assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
        }
        assert!(run("--ai").unwrap().contains("\nNode: 1 – work\ntotal: 200 ms (66.7 %)\n"));
        assert!(run("--ai-compact --fold-async").unwrap().contains("Filters: async functions"));
        assert!(run("--ai --budget 700").unwrap().chars().count() <= 700);
        let error = run("--ai --budget 7").expect_err("no room");
        assert_eq!(error.exit_code(), ExitCode::Usage);
        assert!(error.to_message().contains("7 characters are too few"), "{}", error.to_message());
        let slices = br#"[{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"outer"},{"ph":"X","ts":2,"dur":4,"pid":1,"tid":1,"name":"in;ner"}]"#;
        let slices =
            traceview_core::format::read(slices, &traceview_core::format::ReadOptions::default()).unwrap().profile;
        let text = run_on(&slices, "--ai-compact --range 0us..8us").unwrap();
        assert!(text.ends_with("# Call tree\n1;outer;8000;4000;;2\n2;in\\x3bner;4000;4000;;\n"), "{text}");
        assert!(text.contains("Time: only 8.00 µs (0 ns to 8.00 µs) of a profile of 10.0 µs"), "{text}");
    }

    #[test]
    fn what_has_only_slices_is_reported_by_their_time() {
        let text = br#"[{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"outer"},{"ph":"X","ts":2,"dur":4,"pid":1,"tid":1,"name":"inner"},
            {"ph":"X","ts":20,"dur":10,"pid":1,"tid":2,"name":"other"}]"#;
        let profile =
            traceview_core::format::read(text, &traceview_core::format::ReadOptions::default()).unwrap().profile;
        let run = |line: &str| run_on(&profile, line).unwrap();
        assert!(run("").starts_with("Time in slices 20.0 "), "{}", run(""));
        assert_eq!(run("--slices"), run(""));
        let json: serde_json::Value = serde_json::from_str(&run("--json --tree --thread 1")).unwrap();
        let rows = json["rows"].as_array().unwrap();
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row["name"].as_str().unwrap(), row["self"].as_i64(), row["total"].as_i64()))
            .collect();
        assert_eq!(rows, [("outer", Some(6_000), Some(10_000)), ("inner", Some(4_000), Some(4_000))]);
        let json: serde_json::Value = serde_json::from_str(&run("--json --range 4us..25us")).unwrap();
        assert_eq!(json["total"], 11_000);
        let refused = run_on(&profile, "--range 1s..2s").expect_err("nothing is there");
        assert_eq!(refused.to_string(), "no slice of the chosen threads lies in that range");
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

//! What is reported, and what is refused.

use std::ffi::OsString;

use traceview_core::model::{
    CpuDelta, Frame, Function, Nanos, OsId, Process, ProfileBuilder, SampleTable, StackId, Thread, ThreadId, Time,
    Wait, WaitReason,
};

use super::*;
use crate::cli::args::{Cli, Command};

/// Thread `main` (10) in `work` from 0 s to 2 s, thread `worker` (11) in `help` from 1 s on; 1 ms each 10 ms.
fn profile() -> Profile {
    builder().finish().unwrap()
}

fn builder() -> ProfileBuilder {
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
    builder
}

fn run(line: &str) -> Result<String, Error> {
    run_on(&profile(), line)
}

fn run_on(profile: &Profile, line: &str) -> Result<String, Error> {
    report_on(profile, &line.split_whitespace().collect::<Vec<_>>()).map(|report| report.text)
}

fn report_on(profile: &Profile, words: &[&str]) -> Result<Report, Error> {
    let words = ["cargo-traceview", "report"].iter().chain(words).map(OsString::from);
    match Cli::parse_args(words).unwrap().into_command() {
        Command::Report(args) => render(profile, &args, Style::default()),
        other => panic!("{other:?}"),
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
    let text = run("--ai-compact --search HELP --on-cpu").unwrap();
    assert!(text.contains("Filters: only stacks with `HELP`") && !text.contains(";work;"), "{text}");
    assert!(run_on(&with_waits(), "--ai --off-cpu").unwrap().contains("[wait] read"));
    assert!(run("--ai --budget 700").unwrap().chars().count() <= 700);
    let error = run("--ai --budget 7").expect_err("no room");
    assert_eq!(error.exit_code(), ExitCode::Usage);
    assert!(error.to_message().contains("7 characters are too few"), "{}", error.to_message());
    let slices = br#"[{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"outer"},{"ph":"X","ts":2,"dur":4,"pid":1,"tid":1,"name":"in;ner"}]"#;
    let slices = traceview_core::format::read(slices, &traceview_core::format::ReadOptions::default()).unwrap().profile;
    let text = run_on(&slices, "--ai-compact --range 0us..8us").unwrap();
    assert!(text.ends_with("# Call tree\n1;outer;8000;4000;;2\n2;in\\x3bner;4000;4000;;\n"), "{text}");
    assert!(text.contains("Time: only 8.00 µs (0 ns to 8.00 µs) of a profile of 10.0 µs"), "{text}");
}

#[test]
fn what_has_only_slices_is_reported_by_their_time() {
    let text = br#"[{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"outer"},{"ph":"X","ts":2,"dur":4,"pid":1,"tid":1,"name":"inner"},
        {"ph":"X","ts":20,"dur":10,"pid":1,"tid":2,"name":"other"}]"#;
    let profile = traceview_core::format::read(text, &traceview_core::format::ReadOptions::default()).unwrap().profile;
    let run = |line: &str| run_on(&profile, line).unwrap();
    assert!(run("").starts_with("Time in slices 20.0 "), "{}", run(""));
    assert_eq!(run("--slices"), run(""));
    let json: serde_json::Value = serde_json::from_str(&run("--json --tree --thread 1")).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), row["self"].as_i64(), row["total"].as_i64())).collect();
    assert_eq!(rows, [("outer", Some(6_000), Some(10_000)), ("inner", Some(4_000), Some(4_000))]);
    let json: serde_json::Value = serde_json::from_str(&run("--json --range 4us..25us")).unwrap();
    assert_eq!(json["total"], 11_000);
    let refused = run_on(&profile, "--range 1s..2s").expect_err("nothing is there");
    assert_eq!(refused.to_string(), "no slice in that range was seen; the profile goes from 0 ns to 30.0 µs");
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
    for (line, rows, depth) in [("", 2, false), ("--top 1", 1, false), ("--tree", 2, true), ("--inverted", 2, true)] {
        let json: serde_json::Value = serde_json::from_str(&run(&format!("--json {line}")).unwrap()).unwrap();
        assert_eq!(json["total"], 300_000_000, "{line}");
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(rows), "{line}");
        assert_eq!(json["rows"][0]["name"], "work", "{line}");
        assert_eq!(json["rows"][0].get("depth").is_some(), depth, "{line}");
    }
}

/// The same; `main` also waits for 500 ms in `work`, from 2 s on.
fn with_waits() -> Profile {
    let mut builder = builder();
    let syscall = builder.string("read");
    builder.thread_mut(ThreadId::new(0)).waits.push(Wait {
        start: Time(2_000_000_000),
        duration: Nanos(500_000_000),
        stack: Some(StackId::new(0)),
        reason: WaitReason::Blocked,
        syscall: Some(syscall),
        target: None,
        inferred: false,
    });
    builder.finish().unwrap()
}

#[test]
fn cpu_time_waits_and_both() {
    let profile = with_waits();
    let first = |line: &str| run_on(&profile, line).unwrap().lines().next().unwrap_or_default().to_owned();
    assert_eq!(first("--on-cpu"), "CPU time 300 ms in 300 samples");
    assert_eq!(first("--off-cpu"), "Time waited 500 ms in 1 wait");
    assert_eq!(first("--wall --thread main"), "CPU time and waits 700 ms");
    assert_eq!(first("--waits"), "Time waited 500 ms in 1 wait");
    assert_eq!(first("--threads"), "3 threads, CPU time 300 ms, 300 samples, waited 500 ms");
    let tree = run_on(&profile, "--off-cpu --tree").unwrap();
    assert!(tree.ends_with("100.0 %           work\n100.0 %  100.0 %  ↳ [wait] read\n"), "{tree}");
    let list = run_on(&profile, "--off-cpu").unwrap();
    assert!(list.ends_with("100.0 %  100.0 %  work\n"), "a wait's time is that of who waited: {list}");
    assert!(!run_on(&profile, "--tree").unwrap().contains("[wait]"));
    for line in ["--waits --json", "--threads --json", "--off-cpu --tree --json"] {
        let json: serde_json::Value = serde_json::from_str(&run_on(&profile, line).unwrap()).unwrap();
        assert_eq!(json["unit"], "ns", "{line}");
        assert_eq!(json["complete"], true, "{line}");
    }
    assert_eq!(refused("--off-cpu"), "the profile has no waits");
    assert_eq!(refused("--waits"), "the profile has no waits");
    let empty = ProfileBuilder::with_standard_categories().finish().unwrap();
    for (line, reason) in
        [("--on-cpu", "the profile has no samples"), ("--wall", "the profile has no samples and no waits")]
    {
        assert_eq!(run_on(&empty, line).unwrap_err().to_string(), reason);
    }
    let error = run_on(&profile, "--waits --thread worker").unwrap_err();
    assert_eq!(error.to_string(), "no wait of the chosen threads was seen");
    let error = run_on(&profile, "--threads --range 9s..10s").unwrap_err();
    assert_eq!(error.to_string(), "no sample or wait in that range was seen; the profile goes from 0 ns to 2.50 s");
    for line in [
        "--waits --off-cpu",
        "--off-cpu --wall",
        "--threads --tree",
        "--waits --threads",
        "--wall --slices",
        "--callers a --callees b",
        "--callers a --top 3",
        "--flows --fail-if self(a)>1%",
        "--off-cpu --label a=b",
    ] {
        let words = ["cargo-traceview", "report"].into_iter().chain(line.split(' ')).map(OsString::from);
        let error = Cli::parse_args(words).expect_err(line);
        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{line}");
    }
}

#[test]
fn a_search_keeps_stacks_with_what_it_finds() {
    let run = |line: &str| run(&format!("--search HEL {line}")).unwrap();
    let text = run("");
    assert!(
        text.starts_with("CPU time 300 ms in 300 samples\n33.3 % of it in stacks with `HEL`: 100 ms in 100 samples\n")
    );
    assert!(text.ends_with("%  help\n") && !text.contains("work"), "{text}");
    assert!(run("--tree").ends_with("33.3 %  help\n"));
    assert!(run("--by thread").ends_with("33.3 %    5.3  33.3 %  worker (tid 11)\n"));
    assert!(run("--threads").starts_with("1 thread, CPU time 100 ms, 100 samples\n"));
    let json: serde_json::Value = serde_json::from_str(&run("--json")).unwrap();
    assert_eq!((&json["total"], &json["found"]), (&300_000_000.into(), &100_000_000.into()));
    assert_eq!(refused("--search nothing"), "no function has `nothing` in its name, file or crate");
    assert_eq!(refused("--search help --thread main"), "no chosen sample has a function with `help` on its stack");
}

#[test]
fn callers_and_callees_of_a_function() {
    assert!(run("--callees wor").unwrap().ends_with("66.7 %    5.3  66.7 %  work\n"));
    assert!(run("--callers work").unwrap().ends_with("66.7 %    5.3  work\n"));
    let json: serde_json::Value = serde_json::from_str(&run("--callers help --json").unwrap()).unwrap();
    assert_eq!((&json["rows"][0]["self"], &json["rows"][0]["total"]), (&100_000_000.into(), &100_000_000.into()));
    assert_eq!(refused("--callers nobody"), "no function that was seen has `nobody` in its name");
    let two = r#"[{"ph":"X","ts":0,"dur":10,"pid":1,"tid":1,"name":"parse_one"},{"ph":"X","ts":2,"dur":4,"pid":1,"tid":1,"name":"parse_all"}]"#;
    let two = traceview_core::format::read(two.as_bytes(), &traceview_core::format::ReadOptions::default()).unwrap();
    assert!(run_on(&two.profile, "--callers parse_all").unwrap().ends_with("40.0 %  ↰ parse_one\n"));
    let error = run_on(&two.profile, "--callers parse").unwrap_err();
    assert_eq!(error.to_string(), "`parse` can be any of `parse_one`, `parse_all`; write more of the name");
    assert_eq!(error.exit_code(), ExitCode::Usage);
}

#[test]
fn conditions_that_hold_are_told_with_their_figures() {
    let judged = |conditions: &[&str]| {
        let words: Vec<&str> = conditions.iter().flat_map(|condition| ["--fail-if", *condition]).collect();
        report_on(&profile(), &words)
    };
    let report = judged(&["self(work) > 5%", "total(help)>150ms", "self(help) >= 100 ms"]).unwrap();
    assert_eq!(
        report.failures,
        [
            "`self(work) > 5%` holds: self(work) is 66.7 % ±5.3, 200 ms of 300 ms",
            "`self(help) >= 100 ms` holds: self(help) is 33.3 % ±5.3, 100 ms of 300 ms"
        ]
    );
    assert!(report.text.starts_with("CPU time 300 ms") && report.notes.is_empty());
    let report = judged(&["self(gone) > 5%"]).unwrap();
    let note = "`self(gone) > 5%` is judged with 0: no function that was seen has `gone` in its name";
    assert_eq!((report.failures.len(), report.notes), (0, vec![note.to_owned()]));
    let cause = |condition: &str| {
        let error = judged(&[condition]).unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Usage);
        error.to_message()
    };
    assert_eq!(
        cause("self(work) > 5 kB"),
        "error: can't judge `self(work) > 5 kB`\n  cause: what is counted is ns, not bytes; a share in percent can always be given\n"
    );
    assert!(cause("self(work) > 5").contains("what is counted is ns: write a unit behind the number"));
}

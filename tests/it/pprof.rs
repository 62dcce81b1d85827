//! pprof files of real recordings, judged by Go's `pprof`: it accepts them without a word, and sees what `report` says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use traceview_core::format::{self, WriteOptions};
use traceview_tests::pprof_tool::{FunctionTime, PprofTool};
use traceview_tests::process::finish;
use traceview_tests::profiler::Profiler;
use traceview_tests::recording::{Recorded, number};
use traceview_tests::rich_profile::rich_profile;
use traceview_tests::tools::has_tool;

use crate::traceview;

/// Exports a recording, with further flags.
fn export(traceview: &Profiler, recorded: &Recorded<'_>, flags: &[&str]) -> PathBuf {
    let output = traceview.path("exported.pb.gz");
    let mut command = traceview.command(["export", "-o"]);
    let finished = finish(command.arg(&output).arg(&recorded.path).args(flags), b"");
    assert_eq!((finished.code, finished.text()), (0, ""), "{}", finished.stderr);
    assert!(finished.stderr.contains("exported.pb.gz ("), "{}", finished.stderr);
    output
}

/// That the tool takes the file, in every way that it shows files.
fn assert_accepted(tool: &PprofTool, file: &Path) {
    for args in ["-raw", "-top", "-top -cum", "-traces", "-peek .", "-tags", "-comments"] {
        let text = tool.run(args, &[file]);
        assert!(!text.contains("Main binary filename not available"), "{args}: {text}");
    }
    let plain = tool.functions("-symbolize=none", &[file]);
    assert_eq!(tool.functions("", &[file]), plain, "the tool looks for no other names");
    assert_eq!(tool.functions("", &[&tool.rewritten(file)]), plain, "the tool writes what it read");
    let (once, twice) = (tool.raw(&[file]), tool.raw(&[file, file]));
    assert_eq!(twice.samples.len(), once.samples.len());
    let sums = |samples: &[(Vec<u64>, Vec<i64>)]| {
        let values = samples.iter().map(|(_, values)| values.iter().copied());
        values.fold(Vec::new(), |sums: Vec<i64>, values| {
            values.enumerate().map(|(index, value)| sums.get(index).copied().unwrap_or(0) + value).collect()
        })
    };
    let doubled: Vec<i64> = sums(&once.samples).iter().map(|sum| 2 * sum).collect();
    assert_eq!(sums(&twice.samples), doubled, "a file merged with itself");
    let doubled =
        plain.iter().map(|(name, time)| (name.clone(), FunctionTime { flat: 2 * time.flat, total: 2 * time.total }));
    assert_eq!(tool.functions("", &[file, file]), doubled.collect());
}

/// That the tool's list and our report agree about every function, to the nanosecond.
fn assert_agrees(tool: &PprofTool, file: &Path, report: &Value) {
    let found = tool.functions("", &[file]);
    let mut rows: BTreeMap<String, Vec<FunctionTime>> = BTreeMap::new();
    for row in report["rows"].as_array().expect("rows") {
        let name = row["name"].as_str().expect("a name");
        // The tool has one name for all unnamed code of a library.
        let name = match (name.rsplit_once("+0x"), row["module"].as_str()) {
            (Some(_), Some(module)) => format!("[{module}]"),
            _ => name.to_owned(),
        };
        rows.entry(name).or_default().push(FunctionTime { flat: number(row, "self"), total: number(row, "total") });
    }
    let total = number(report, "total");
    assert_eq!(found.values().map(|time| time.flat).sum::<u64>(), total);
    for (name, times) in &rows {
        let time = found.get(name).unwrap_or_else(|| panic!("pprof does not know {name}: {found:?}"));
        assert_eq!(time.flat, times.iter().map(|time| time.flat).sum::<u64>(), "{name}");
        // Functions of one name can call each other; their totals don't add up.
        if let [only] = times[..] {
            assert_eq!(time.total, only.total, "{name}");
        }
    }
    assert_eq!(found.len(), rows.len());
}

#[test]
fn the_tool_sees_what_the_report_says() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    for (workload, args) in
        [("shares", "1"), ("deep", "recursion 100 0.3"), ("libc_heavy", "0.5"), ("families", "fork 50"), ("demo", "")]
    {
        let recorded = traceview.record("", workload, args);
        let file = export(&traceview, &recorded, &[]);
        assert_accepted(&tool, &file);
        assert_agrees(&tool, &file, &recorded.report(&[]));
        let raw = tool.raw(&[&file]);
        assert!(raw.mappings[0].contains(&format!("/{workload} ")), "the program is first: {:?}", raw.mappings);
    }
}

#[test]
fn the_shares_are_those_that_the_program_measured() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    let recorded = traceview.record("", "shares", "1.5");
    let functions = tool.functions("", &[&export(&traceview, &recorded, &[])]);
    let times = ["seventy", "twenty", "ten"].map(|name| functions[&format!("shares::{name}")].total);
    let sum: u64 = times.iter().sum();
    for ((function, sampled, _), time) in recorded.shares().into_iter().zip(times) {
        let percent = 100.0 * time as f64 / sum as f64;
        assert!((percent - sampled).abs() < 0.1, "{function}: {percent:.2} %, {sampled:.2} % in our file");
    }
}

#[test]
fn recursion_inlining_and_the_kernel_are_in_the_stacks() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    let recorded = traceview.record("", "deep", "recursion 100 0.3");
    let raw = tool.raw(&[&export(&traceview, &recorded, &[])]);
    // `ID: 0xADDRESS M=MAPPING FUNCTION FILE:LINE…`
    let in_descend = |id: &u64| {
        let start = format!("{id}: ");
        raw.locations.iter().any(|line| line.trim_start().starts_with(&start) && line.contains("deep::descend "))
    };
    let whole = raw.samples.iter().filter(|(stack, _)| stack.iter().filter(|id| in_descend(id)).count() == 101);
    assert!(whole.count() > 0, "no stack of 101 levels in {} samples", raw.samples.len());

    let recorded = traceview.record("", "demo", "");
    let file = export(&traceview, &recorded, &[]);
    let traces = tool.run("-traces", &[&file]);
    assert!(traces.contains(" (inline)"), "no inlined function: {traces}");
    assert!(traces.contains("   [kernel] "), "no system call: {traces}");
    // Its own functions are on one location with what was inlined into them.
    let raw = tool.raw(&[&file]);
    assert!(raw.locations.iter().any(|line| !line.contains(" M=")), "no location has two lines");
}

#[test]
fn waits_are_a_sample_type_of_their_own() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    let recorded = traceview.record("", "idle_mix", "all 20");
    let file = export(&traceview, &recorded, &["--off-cpu"]);
    assert_accepted(&tool, &file);
    let text = tool.run("-top -sample_index=wall", &[&file]);
    assert!(text.contains("[wait] futex"), "{text}");
    assert!(!tool.functions("", &[&file]).keys().any(|name| name.starts_with("[wait]")), "CPU time has no waits");
}

#[test]
fn code_without_names_stays_so() {
    if !has_tool("go") || !has_tool("strip") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    let stripped = traceview.copy(&traceview_tests::workload::workload("shares"));
    let status = Command::new("strip").arg("--strip-all").arg(&stripped).status().expect("strip starts");
    assert!(status.success());
    let recorded = traceview.record_program("", &stripped, "0.5", b"");
    let file = export(&traceview, &recorded, &[]);
    assert_accepted(&tool, &file);
    assert_agrees(&tool, &file, &recorded.report(&[]));
    let unnamed = tool.functions("", &[&file])["[shares]"].flat;
    assert!(unnamed > 400_000_000, "{unnamed} ns in code without names");
}

#[test]
fn every_table_of_the_model_is_written_as_a_valid_file() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    for off_cpu in [false, true] {
        let mut bytes = Vec::new();
        let target = format::by_name("pprof").unwrap().target();
        let warnings =
            format::write(&rich_profile(), target, &WriteOptions { off_cpu, ..WriteOptions::default() }, &mut bytes)
                .unwrap();
        let codes: Vec<&str> = warnings.iter().map(|warning| &*warning.code).collect();
        assert_eq!(codes.contains(&"waits-left-out"), !off_cpu, "{codes:?}");
        for code in ["slices-left-out", "markers-left-out", "flows-left-out", "counters-left-out", "values-left-out"] {
            assert!(codes.contains(&code), "{code} is missing in {codes:?}");
        }
        let file = traceview.path("rich.pb.gz");
        fs::write(&file, bytes).unwrap();
        // Its libraries are not on this machine, so names are not looked for.
        for args in ["-raw", "-top", "-traces", "-tags", "-peek ."] {
            let text = tool.run(&format!("-symbolize=none {args}"), &[&file]);
            assert!(args != "-traces" || text.contains("[kernel] read"), "{text}");
        }
    }
}

#[test]
fn a_recording_can_be_written_at_once_and_read() {
    let traceview = traceview();
    let output = traceview.path("direct.pb.gz");
    let finished = traceview.start("", &output, "shares", "0.3").finish();
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("warning: waits are left out ("), "{}", finished.stderr);
    let json = |args: &[&str]| -> Value {
        let finished = traceview.run(args);
        assert_eq!(finished.code, 0, "{args:?}: {}", finished.stderr);
        serde_json::from_slice(&finished.stdout).unwrap()
    };
    let info = json(&["info", "direct.pb.gz", "--json"]);
    assert_eq!((&info["format"], &info["warnings"]), (&"pprof".into(), &Value::Array(Vec::new())));
    assert_eq!(json(&["info", "@1", "--json"]), info, "it is the last recording");
    let report = json(&["report", "direct.pb.gz", "--json"]);
    let counted = json(&["report", "direct.pb.gz", "--json", "--sample-type", "samples"]);
    let types = info["sample_types"].as_array().unwrap();
    let totals: Vec<&Value> = types.iter().map(|counted| &counted["total"]).collect();
    assert_eq!(totals, [&counted["total"], &report["total"]]);
    assert!(number(&report, "total") > 50_000_000, "{}", report["total"]);
}

#[test]
fn export_goes_through_pipes() {
    let traceview = traceview();
    let recorded = traceview.record("", "shares", "0.3");
    let file = fs::read(export(&traceview, &recorded, &[])).unwrap();
    let recording = fs::read(&recorded.path).unwrap();
    for args in [["export", "-", "--format", "pprof"], ["export", "-", "--format=pprof", "-o-"]] {
        let finished = finish(&mut traceview.command(args), &recording);
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        assert!(finished.stdout == file, "stdout and the file differ");
    }
    // Without a FILE it is the last recording, and a recording can be converted to its own format.
    let finished = traceview.run(["export", "--format", "firefox"]);
    assert!(finished.code == 0 && finished.stdout == recording, "{}", finished.stderr);
}

#[test]
fn an_export_that_fails_says_why_and_leaves_what_was_there() {
    let traceview = traceview();
    let recorded = traceview.record("", "shares", "0.3");
    let old = traceview.path("old.pb.gz");
    fs::write(&old, "old").unwrap();
    fs::write(traceview.path("noise.json"), "{}").unwrap();
    let recording = recorded.path.to_str().unwrap();
    for (args, code, word) in [
        (&["noise.json", "-o", "old.pb.gz"][..], 1, "not a profile"),
        (&[recording, "-o", "old.pb.gz", "--format", "firefox"], 2, "named like a pprof file"),
        (&[recording, "-o", "old.txt"], 2, ".pb.gz"),
        (&[recording, "-o", "data"], 2, "directory"),
        (&[recording, "-o", "/dev/full", "--format", "pprof"], 1, "/dev/full"),
        (&[recording], 2, "--format FORMAT"),
        (&["@9", "--format", "pprof"], 1, "@9"),
    ] {
        let finished = traceview.run([&["export"], args].concat());
        assert_eq!(finished.code, code, "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.starts_with("error: ") && finished.stderr.contains(word), "{}", finished.stderr);
        assert!(finished.stdout.is_empty());
    }
    assert_eq!(fs::read(&old).unwrap(), b"old");
}

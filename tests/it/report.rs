//! What `report` says of files that other tools made, against what those tools say of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use traceview_tests::pprof_tool::PprofTool;
use traceview_tests::profiler::Profiler;
use traceview_tests::recording::number;
use traceview_tests::tools::has_tool;

use crate::traceview;

/// What is written behind the name of a file for its expected values.
const EXPECTED: &str = ".expected.json";

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder)
}

/// The expected values in `folder`, each with the name of its file.
fn expected(folder: &Path) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("fixtures are there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if let Some(name) = name.strip_suffix(EXPECTED) {
            let text = fs::read(&path).expect("it can be read");
            found.push((name.to_owned(), serde_json::from_slice(&text).expect("JSON")));
        }
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

/// The JSON that a verb prints about `file`.
fn json(traceview: &Profiler, verb: &str, flags: &[&str], file: &Path) -> Value {
    let mut args = [&[verb, "--json"], flags].concat();
    args.push(file.to_str().expect("UTF-8"));
    let finished = traceview.run(&args);
    assert_eq!((finished.code, &*finished.stderr), (0, ""), "{args:?}");
    serde_json::from_slice(&finished.stdout).expect("JSON")
}

fn rows(report: &Value) -> &[Value] {
    report["rows"].as_array().expect("rows")
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("no {field}: {row}"))
}

/// `480000000ns`, `1765955B` or `3`.
fn amount(text: &str) -> f64 {
    text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or_else(|_| panic!("{text} is no amount"))
}

#[test]
fn lists_of_pprof_files_are_those_of_pprof() {
    let traceview = traceview();
    let mut compared = 0;
    for folder in ["derived", "golang", "google-pprof", "speedscope"].map(|name| fixtures("pprof").join(name)) {
        for (name, expected) in expected(&folder) {
            if expected["rc"] != 0 || text(&expected, "format").starts_with("legacy") {
                continue;
            }
            let file = folder.join(&name);
            let tops = ["top", "top_cum"].map(|key| expected[key].as_array().expect("rows").clone()).concat();
            // The tool has one name for all unnamed code of a library.
            let is_named = |row: &Value| !text(row, "name").starts_with(['[', '<']);
            let by = if tops.iter().any(is_named) { "function" } else { "module" };
            let report = json(&traceview, "report", &["--by", by], &file);
            for row in &tops {
                let wanted = text(row, "name").trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
                let wanted = wanted.trim_start_matches('[').trim_end_matches(']').trim_matches(['<', '>']);
                let found: Vec<&Value> = rows(&report).iter().filter(|row| text(row, "name") == wanted).collect();
                let [found] = found[..] else { panic!("{name}: {} rows of {wanted}", found.len()) };
                assert_eq!(found["self"].as_f64(), Some(amount(text(row, "flat"))), "{name}: {wanted}");
                assert_eq!(found["total"].as_f64(), Some(amount(text(row, "cum"))), "{name}: {wanted}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Files in which the front end counts what is no sample, or that it can't read.
const NOT_COUNTED: [&str; 2] = ["ancient-cleopatra-profile.sps.json.gz", "v70-js-tracer.json"];

#[test]
fn leaders_of_firefox_files_are_those_of_the_front_end() {
    let traceview = traceview();
    let folder = fixtures("gecko");
    let mut compared = 0;
    for (name, expected) in expected(&folder.join("expected")) {
        let threads = expected["threads"].as_array().map(Vec::as_slice).unwrap_or_default();
        if threads.is_empty() || NOT_COUNTED.contains(&&*name) {
            continue;
        }
        let file = folder.join(&name);
        let info = json(&traceview, "info", &[], &file);
        // The front end shows the weights, CPU times or not.
        let Some(weights) = info["sample_types"].get(0).map(|first| text(first, "name").to_owned()) else { continue };
        for (thread, wanted) in info["threads"].as_array().expect("threads").iter().zip(threads) {
            if wanted["topTotal"].as_array().is_none_or(Vec::is_empty) {
                continue;
            }
            let id = format!("{}/{}", plain(&thread["pid"]), plain(&thread["tid"]));
            let report = json(&traceview, "report", &["--sample-type", &weights, "--thread", &id], &file);
            for (leaders, field) in [("topSelf", "self"), ("topTotal", "total")] {
                assert_leads(rows(&report), field, &wanted[leaders], &format!("{name}, thread {id}, {field}"));
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "{compared}");
}

/// An id as one types it.
fn plain(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// That the largest amounts of `field` are those of `wanted`, `[[amount, label], …]`, in functions of these names.
fn assert_leads(rows: &[Value], field: &str, wanted: &Value, at: &str) {
    let wanted = wanted.as_array().expect("a list").iter();
    let wanted: Vec<(f64, &str)> =
        wanted.map(|row| (row[0].as_f64().expect("an amount"), row[1].as_str().expect("a label"))).collect();
    let value = |row: &Value| row[field].as_f64().expect("an amount");
    let mut largest: Vec<f64> = rows.iter().map(|row| value(row).abs()).collect();
    largest.sort_by(|left, right| right.total_cmp(left));
    let sizes: Vec<f64> = wanted.iter().map(|(amount, _)| amount.abs()).collect();
    assert_eq!(largest[..sizes.len().min(largest.len())], sizes, "{at}");
    for (amount, label) in wanted {
        // The library stands behind the name.
        let name = label.split("  [").next().unwrap_or(label);
        assert!(
            rows.iter().any(|row| text(row, "name") == name && value(row).to_bits() == amount.to_bits()),
            "{at}: no {label} with {amount}"
        );
    }
}

/// Callers and callees of each function, with what went from one to the other, as `pprof -peek` prints them.
type Edges = BTreeMap<String, [BTreeMap<String, f64>; 2]>;

/// The parts of what `pprof -peek` prints: above the line of a function its callers, below it its callees.
fn peeked(output: &str) -> Edges {
    let mut edges = Edges::new();
    for part in output.split("----------------------------------------------------------+-------------\n").skip(2) {
        let mut function = String::new();
        let (mut callers, mut callees) = (BTreeMap::new(), BTreeMap::new());
        for line in part.lines() {
            let Some((numbers, name)) = line.split_once('|') else { continue };
            let is_edge = name.starts_with("   ");
            let name = name.trim().trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)").to_owned();
            match (is_edge, function.is_empty()) {
                (false, _) => function = name,
                (true, is_above) => {
                    let moved = amount(numbers.split_whitespace().next().expect("an amount"));
                    if is_above {
                        callers.insert(name, moved)
                    } else {
                        callees.insert(name, moved)
                    };
                }
            }
        }
        if !function.is_empty() {
            edges.insert(function, [callers, callees]);
        }
    }
    edges
}

#[test]
fn callers_and_callees_are_those_that_pprof_peeks_at() {
    if !has_tool("go") {
        return;
    }
    let (traceview, tool) = (traceview(), PprofTool::new());
    let mut compared = 0;
    for name in ["google-pprof/report__sample.cpu", "golang/devirt.pprof", "golang/inline_hot.pprof"] {
        let file = fixtures("pprof").join(name);
        let edges = peeked(&tool.run("-symbolize=none -unit=ns -peek .", &[&file]));
        let list = json(&traceview, "report", &[], &file);
        for row in rows(&list) {
            let function = text(row, "name");
            let [callers, callees] = &edges[function];
            // The tool counts a step of a recursion among the edges; a tree begins with the outermost call.
            if callers.contains_key(function) {
                continue;
            }
            for (flag, wanted) in [("--callers", callers), ("--callees", callees)] {
                let tree = json(&traceview, "report", &[flag, function], &file);
                let [root, below @ ..] = rows(&tree) else { panic!("{name}: nothing around {function}") };
                assert_eq!((text(root, "name"), &root["total"]), (function, &row["total"]), "{name}");
                assert_eq!(root["self"], row["self"], "{name}: {function}");
                let next = below.iter().filter(|row| row["depth"] == 1);
                let next = next.map(|row| (text(row, "name").to_owned(), row["total"].as_f64().expect("an amount")));
                assert_eq!(&next.collect::<BTreeMap<_, _>>(), wanted, "{name}: {flag} {function}");
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn conditions_decide_the_exit_status() {
    let traceview = traceview();
    let file = fixtures("pprof/speedscope/simple.prof");
    let file = file.to_str().expect("UTF-8");
    let run = |conditions: &[&str]| {
        let flags = conditions.iter().flat_map(|condition| ["--fail-if", *condition]);
        traceview.run(["report", file].into_iter().chain(flags))
    };
    let without = run(&[]);
    let holds = run(&["self(main.alpha) > 100ms", "total(main.alpha) < 1%"]);
    assert_eq!(holds.code, 4, "{}", holds.stderr);
    assert_eq!(holds.text(), without.text(), "the report is the same");
    let line = "error: `self(main.alpha) > 100ms` holds: self(main.alpha) is ";
    assert!(holds.stderr.starts_with(line) && holds.stderr.contains("480 ms of"), "{}", holds.stderr);
    assert_eq!(holds.stderr.lines().count(), 1, "{}", holds.stderr);
    assert_eq!((run(&["self(alpha) >= 100%"]).code, run(&["self(nobody) > 0%"]).code), (0, 0));
    assert_eq!((run(&["self(alpha > 5%"]).code, run(&["self(main) > 1kb"]).code), (2, 2));
}

#[test]
fn waits_and_threads_add_up_to_what_was_recorded() {
    let traceview = traceview();
    let recorded = traceview.record("", "demo", "");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let (info, waits, threads) = (recorded.info(), recorded.report(&["--waits"]), recorded.report(&["--threads"]));
    let sum = |rows: &[Value], field: &str| rows.iter().map(|row| number(row, field)).sum::<u64>();
    let total = number(&waits, "total");
    assert!(total > 0 && !rows(&waits).is_empty());
    assert_eq!(sum(rows(&waits), "total"), total);
    assert_eq!(sum(rows(&threads), "waited"), total);
    assert_eq!(number(&recorded.report(&["--off-cpu"]), "total"), total);
    for row in rows(&waits) {
        assert_eq!(sum(row["functions"].as_array().expect("functions"), "total"), number(row, "total"), "{row}");
    }
    let cpu = recorded.report(&["--on-cpu"]);
    assert_eq!(number(&recorded.report(&["--wall"]), "total"), number(&cpu, "total") + total);
    assert_eq!(number(&threads, "total"), number(&info, "cpu_ns"));
    // It is short of CPU time at most at the ends of its threads.
    let names: BTreeSet<&str> = rows(&threads).iter().map(|row| text(row, "name")).collect();
    assert!(names.contains("search") && names.contains("till-1"), "{names:?}");
    let kernel = recorded.report(&["--off-cpu", "--callees", "book_sale"]);
    assert!(rows(&kernel).iter().any(|row| text(row, "name") == "[wait] futex"), "{kernel}");
    assert!(
        rows(&recorded.report(&["--callees", "book_sale"])).iter().all(|row| !text(row, "name").starts_with("[wait]"))
    );
}

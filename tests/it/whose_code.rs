//! Whose code it is, for a program that we did not build, and who awaits whom in it.

use serde_json::Value;
use traceview_tests::recording::{Recorded, percent};

use crate::{alone, traceview};

/// The row of that name.
fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap_or_else(|| panic!("no rows in {report}"));
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {report}"))
}

/// The percentage of each node in a call tree, by the path of names that leads to it.
fn paths(tree: &Value) -> Vec<(String, f64)> {
    let rows = tree["rows"].as_array().unwrap_or_else(|| panic!("no rows in {tree}"));
    let mut paths: Vec<(String, f64)> = Vec::new();
    for row in rows {
        let name = row["name"].as_str().expect("rows have names");
        let path = match row["parent"].as_u64() {
            Some(parent) => format!("{} > {name}", paths[usize::try_from(parent).expect("a small number")].0),
            None => name.to_owned(),
        };
        paths.push((path, percent(row, "total_percent")));
    }
    paths
}

fn share_of(paths: &[(String, f64)], end: &str) -> f64 {
    paths.iter().filter(|(path, _)| path.ends_with(end)).map(|(_, share)| share).sum()
}

fn check_categories(recorded: &Recorded<'_>) {
    let categories = recorded.report(&["--by", "category"]);
    let own = percent(row(&categories, "Workspace"), "self_percent");
    assert!(own >= 80.0, "the program's own code is told by where it was built: {categories}");
    let crates = recorded.report(&["--by", "crate"]);
    let name = format!("traceview-workloads {}", env!("CARGO_PKG_VERSION"));
    let own = row(&crates, &name);
    assert_eq!((&own["crate"], &own["version"]), (&"traceview-workloads".into(), &env!("CARGO_PKG_VERSION").into()));
    assert!(percent(own, "total_percent") >= 80.0, "{own}");
    let functions = recorded.report(&[]);
    let parse = row(&functions, "tasks::parse");
    assert!(percent(parse, "total_percent") >= 80.0, "{parse}");
    assert_eq!((&parse["category"], &parse["crate"]), (&"Workspace".into(), &"traceview-workloads".into()));
    assert!(
        parse["full_name"].as_str().is_some_and(|name| name.starts_with("_ZN") || name.starts_with("_R")),
        "{parse}"
    );
    for by in ["library", "file", "line", "thread"] {
        let report = recorded.report(&["--by", by]);
        let sum: f64 = report["rows"].as_array().expect("rows").iter().map(|row| percent(row, "self_percent")).sum();
        assert!((sum - 100.0).abs() < 1.0, "by {by}: {sum} %");
    }
    // To other tools, too.
    let profile = recorded.profile();
    let is_own = |resource: &traceview_core::model::Resource| profile.string(resource.name) == name;
    assert!(profile.resources.iter().any(is_own), "the crate is what Firefox's profiler shows the function under");
}

#[test]
fn own_code_and_who_awaits_whom() {
    let (_alone, traceview) = (alone(), traceview());
    let recorded = traceview.record("", "tasks", "1.5");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    check_categories(&recorded);

    let folded = paths(&recorded.report(&["--tree", "--fold-async"]));
    let run = "tasks::main > tasks::run";
    let served = share_of(&folded, &format!("{run} > async tasks::serve > async tasks::read > tasks::parse"));
    let refreshed = share_of(&folded, &format!("{run} > async tasks::refresh > async tasks::read > tasks::parse"));
    assert!((67.0..=80.0).contains(&served), "{served} % of three quarters: {folded:?}");
    assert!((18.0..=31.0).contains(&refreshed), "{refreshed} % of a quarter: {folded:?}");
    let full = paths(&recorded.report(&["--tree"]));
    assert!(
        share_of(&full, "> tasks::read::{closure} > tasks::parse") >= 85.0,
        "without folding all is there: {full:?}"
    );
    assert!(full.iter().any(|(path, _)| path.contains("Future>::poll")), "{full:?}");
}

//! No rights are needed: an ordinary user, and a machine where perf_event_open is forbidden.

use std::path::Path;

use traceview_tests::process::finish;
use traceview_tests::recording::{Recorded, number, percent, percentage};
use traceview_tests::tools::{has_tool, is_root};
use traceview_tests::workload::workload;

use crate::traceview;

/// That a recording of `shares` is as good as any.
fn assert_good(recorded: &Recorded<'_>) {
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let truth = recorded.truth();
    let file = recorded.file();
    let cpu = percentage(file.cpu(), number(&truth, "total"));
    assert!((97.0..=103.0).contains(&cpu), "{cpu:.1} % of the CPU time");
    for (function, sampled, truth) in recorded.shares() {
        // 1,000 samples: the standard error is at most 1.5 points.
        assert!((sampled - truth).abs() < 6.0, "{function}: {sampled:.1} % instead of {truth:.1} %");
    }
    assert!(percent(&recorded.info(), "rooted_percent") >= 99.0);
}

#[test]
fn an_ordinary_user_can_record() {
    // Who is no root runs all tests as an ordinary user.
    if !is_root() || !has_tool("setpriv") {
        return;
    }
    let nobody =
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
    let traceview = traceview().open_to_all().behind(nobody);
    let shares = traceview.copy(&workload("shares"));
    assert_good(&traceview.record_program("", &shares, "1", b""));
    // Without -o too: into the user's own data directory.
    let finished = finish(traceview.command(["record", "--no-open", "--"]).arg(&shares).arg("0.2"), b"");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(traceview.run(["info", "@1"]).code, 0);
}

#[test]
fn perf_events_are_not_needed() {
    let without_perf = workload("without_perf");
    let traceview = traceview().behind([&without_perf]);
    let mut check = traceview.without(&without_perf);
    let forbidden = finish(check.arg(&without_perf).arg("--check"), b"");
    assert_eq!(forbidden.code, 0, "the filter does not work: {}", forbidden.stderr);
    assert_good(&traceview.record("", "shares", "1"));
}

/// A program that traces others fails while it is traced itself; the user is told, and what to do.
#[test]
fn a_program_that_traces_others_is_told_of() {
    let traceview = traceview();
    if !has_tool("strace") {
        return;
    }
    let warned = |flags: &str| {
        let recorded = traceview.record_program(flags, Path::new("strace"), "-o /dev/null true", b"");
        recorded.finished.stderr.contains("`strace` can trace other programs")
    };
    assert!(warned(""), "with its children");
    assert!(!warned("--no-children"), "without them it works");
}

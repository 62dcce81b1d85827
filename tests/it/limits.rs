//! Little room: limits of the system, full disks, signals that would end the profiler. The program runs as without it, and
//! what can be kept is kept.

use traceview_tests::tools::{has_tool, is_root};

use crate::traceview;

/// A shell that sets a limit for the profiler.
fn with_limit(limit: &str) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), format!("ulimit {limit}; exec \"$@\""), "sh".to_owned()]
}

#[test]
fn few_open_files_are_no_reason_to_fail() {
    let traceview = traceview().behind(with_limit("-n 16"));
    let recorded = traceview.record("", "exits", "code 42");
    assert_eq!(recorded.finished.code, 42, "{}", recorded.finished.stderr);
}

#[test]
fn where_no_thread_may_be_started_it_is_said() {
    if !is_root() || !has_tool("prlimit") || !has_tool("setpriv") {
        return;
    }
    // Not the user of other tests, whose processes would count.
    let user =
        ["setpriv", "--reuid=65531", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
    for limit in 1..=6 {
        let limit = format!("--nproc={limit}:{limit}");
        let words = ["prlimit", &limit].into_iter().chain(user);
        let traceview = traceview().open_to_all().behind(words);
        let finished = traceview.run(["record", "--no-open", "-o", "out.json.gz", "--", "true"]);
        assert!(!finished.stderr.contains("panicked"), "{limit}: {}", finished.stderr);
        assert!([0, 125].contains(&finished.code), "{limit}: {} {}", finished.code, finished.stderr);
        let said = finished.stderr.contains("error: ") && finished.stderr.contains("cannot start a");
        assert_eq!(finished.code == 125, said, "{limit}: {}", finished.stderr);
    }
}

//! No rights are needed: an ordinary user, and a machine where perf_event_open is forbidden.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use traceview_tests::process::finish;
use traceview_tests::profiler::Profiler;
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

/// What makes root an ordinary user.
const NOBODY: [&str; 6] =
    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];

/// Whether tests can be run as root and as an ordinary user. Who is no root runs all tests as the latter.
fn can_change_user() -> bool {
    is_root() && has_tool("setpriv")
}

#[test]
fn an_ordinary_user_can_record() {
    if !can_change_user() {
        return;
    }
    let traceview = traceview().open_to_all().behind(NOBODY);
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

#[test]
fn a_program_that_a_script_starts_to_trace_others_is_told_of_too() {
    let traceview = traceview();
    if !has_tool("strace") {
        return;
    }
    let script = traceview.path("script.sh");
    fs::write(&script, "strace -o /dev/null true\ntrue\n").unwrap();
    let recorded = traceview.record_program("", Path::new("/bin/sh"), &script.display().to_string(), b"");
    assert!(recorded.finished.stderr.contains("`strace` can trace other programs"), "{}", recorded.finished.stderr);
    assert!(recorded.finished.stderr.contains("strace (pid "), "{}", recorded.finished.stderr);
}

#[test]
fn a_program_that_lost_its_rights_is_told_of() {
    if !can_change_user() {
        return;
    }
    let with_rights = |traceview: &Profiler, user: u32| {
        let program = traceview.copy(&workload("secrets"));
        chown(&program, Some(user), None).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        program
    };
    let user = |recorded: &Recorded<'_>| number(&recorded.truth(), "user");
    let told = |recorded: &Recorded<'_>| recorded.finished.stderr.contains("without the rights that its file gives");

    let root = traceview();
    let recorded = root.record_program("", &with_rights(&root, 65534), "rights 20", b"");
    assert_eq!((user(&recorded), told(&recorded)), (65534, false), "the profiler has all rights");

    let nobody = traceview().open_to_all().behind(NOBODY);
    let program = with_rights(&nobody, 0);
    let recorded = nobody.record_program("", &program, "rights 20", b"");
    assert_eq!((user(&recorded), told(&recorded)), (65534, true), "{}", recorded.finished.stderr);
    assert!(recorded.finished.stderr.contains("record it as root"), "{}", recorded.finished.stderr);

    let script = nobody.path("script.sh");
    fs::write(&script, format!("{} rights 20\n", program.display())).unwrap();
    let by_shell = |flags: &str| nobody.record_program(flags, Path::new("/bin/sh"), &script.display().to_string(), b"");
    let recorded = by_shell("");
    assert_eq!((user(&recorded), told(&recorded)), (65534, true), "{}", recorded.finished.stderr);
    // Where the file system gives no rights by files, nothing is lost; elsewhere the script's child has them.
    let recorded = by_shell("--no-children");
    assert!(!told(&recorded), "{}", recorded.finished.stderr);
    assert_eq!(user(&recorded), 0, "the child is not traced");
}

#[test]
fn a_process_that_hides_its_memory_is_named() {
    if !can_change_user() {
        return;
    }
    let root = traceview();
    let recorded = root.record("", "secrets", "hidden 200");
    assert!(!recorded.finished.stderr.contains("could not be looked at"), "{}", recorded.finished.stderr);

    let nobody = traceview().open_to_all().behind(NOBODY);
    let program = nobody.copy(&workload("secrets"));
    let recorded = nobody.record_program("", &program, "hidden 200", b"");
    assert!(recorded.finished.stderr.contains("secrets (pid "), "{}", recorded.finished.stderr);
    // Its time is known all the same.
    let cpu = percentage(recorded.file().cpu(), number(&recorded.truth(), "cpu_ns"));
    assert!((97.0..=103.0).contains(&cpu), "{cpu:.1} % of the CPU time");
}

#[test]
fn a_program_that_may_make_nearly_no_system_calls_is_recorded() {
    let traceview = traceview();
    let recorded = traceview.record("", "secrets", "strict 400");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let (file, wanted) = (recorded.file(), number(&recorded.truth(), "wanted_ns"));
    let named = percentage(file.cpu_below("guarded_steps"), wanted);
    // The measure of its work is the best of five.
    assert!((80.0..=200.0).contains(&named), "{named:.1} % of the CPU time");
}

//! Names kept for the next recording.

use std::fs;
use std::path::PathBuf;

use traceview_tests::profiler::Profiler;
use traceview_tests::recording::{Recorded, total_percent};
use traceview_tests::workload::workload;

use crate::traceview;

fn kept(traceview: &Profiler) -> Vec<PathBuf> {
    let entries = fs::read_dir(traceview.path("cache/traceview/names")).expect("names are kept");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it is readable").path()).collect();
    files.sort();
    files
}

fn assert_names(recorded: &Recorded<'_>, functions: &[&str]) {
    let report = recorded.report(&[]);
    for function in functions {
        let percent = total_percent(&report, function);
        assert!(percent > 3.0, "{function} has {percent} %: {report}");
    }
}

#[test]
fn names_are_kept_for_the_next_recording_and_never_given_to_another_build() {
    let traceview = traceview();
    let shares = ["seventy", "twenty", "ten"];
    assert_names(&traceview.record("", "shares", "1"), &shares);
    let files = kept(&traceview);
    assert!(files.len() >= 2, "the program and the C library: {files:?}");
    assert_names(&traceview.record("", "shares", "1"), &shares);
    // It can have met code that the first one did not.
    let again = kept(&traceview);
    assert!(files.iter().all(|file| again.contains(file)), "{again:?} after {files:?}");

    // At the path of one program another one, and all files of names damaged.
    let program = traceview.copy(&workload("shares"));
    assert_names(&traceview.record_program("", &program, "1", b""), &shares);
    for file in &again {
        fs::write(file, b"tvnames1 but no names").expect("it is ours");
    }
    let recorded = traceview.record_program("", &program, "1", b"");
    assert_names(&recorded, &shares);
    assert!(recorded.finished.stderr.lines().all(|line| !line.contains("panicked")), "{}", recorded.finished.stderr);
    fs::remove_file(&program).expect("it is ours");
    fs::copy(workload("libc_heavy"), &program).expect("there is room");
    let recorded = traceview.record_program("", &program, "1", b"");
    let report = recorded.report(&[]);
    for function in shares {
        assert_eq!(total_percent(&report, function), 0.0, "{report}");
    }
    assert!(kept(&traceview).len() > again.len());
}

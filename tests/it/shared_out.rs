//! Threads that are shared out between several tracers: nothing is lost where one hands over to another.

use serde_json::Value;
use traceview_tests::recording::{number, percentage};

use crate::traceview;

/// The objects and numbers of `truth`, by name.
fn named(truth: &Value) -> impl Iterator<Item = (&String, &Value)> {
    truth.as_object().expect("the truth is an object").iter()
}

#[test]
fn each_thread_keeps_its_clock_and_has_samples_whoever_traces_it() {
    let traceview = traceview();
    let recorded = traceview.record("--tracers 3", "crowd", "6 4 2");
    assert!(!recorded.finished.stderr.contains("the recorder got them wrong"), "{}", recorded.finished.stderr);
    let (truth, file) = (recorded.truth(), recorded.file());
    for (name, cpu) in named(&truth["busy_ns"]) {
        let percent = percentage(recorded.cpu_of_thread(name), cpu.as_u64().expect("a number"));
        assert!((98.0..=102.0).contains(&percent), "{name}: {percent:.2} % of its CPU time");
        let samples = file.threads_named(name).flat_map(|thread| &thread.samples).filter(|sample| sample.cpu_ns > 0);
        assert!(samples.count() >= 20, "{name} was forgotten");
    }
    let info = recorded.info();
    let threads = info["threads"].as_array().expect("info lists threads");
    assert_eq!(threads.len(), 11);
    // Each was started and ended before those eyes, even if they changed.
    assert!(threads.iter().all(|thread| !thread["end_ns"].is_null()), "{threads:#?}");
    assert!(number(&info, "flows") >= 10, "{info}");
}

#[test]
fn threads_that_come_and_go_are_linked_as_ever() {
    let traceview = traceview();
    let recorded = traceview.record("--tracers 4", "kin", "threads 300");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let info = recorded.info();
    assert_eq!(info["threads"].as_array().map(Vec::len), Some(1 + 20 + 300));
    assert!(number(&info, "flows") >= 300, "each spawn is one: {info}");
}

#[test]
fn signals_and_execs_are_as_without_us() {
    let traceview = traceview();
    let truth = traceview.record("--tracers 3 --rate 5000", "signals", "").truth();
    for (kind, counts) in named(&truth) {
        assert_eq!(counts["seen"], counts["sent"], "{kind}: {counts}");
    }
    let recorded = traceview.record("--tracers 3", "families", "thread_exec 300");
    assert_eq!(recorded.finished.code, 7, "{}", recorded.finished.stderr);
    let percent = percentage(number(&recorded.info(), "cpu_ns"), number(&recorded.truth(), "process_cpu_ns"));
    assert!((97.0..=103.0).contains(&percent), "{percent:.1} % of the CPU time");
    let recorded = traceview.record("--tracers 3", "families", "leader_exit 300");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
}

/// What still runs when recording ends is let go by each tracer.
#[test]
fn all_run_on_when_recording_ends_first() {
    let traceview = traceview();
    let recorded = traceview.record("--tracers 3 --duration 500ms", "crowd", "4 2 1");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let busy_ns: u64 = named(&recorded.truth()["busy_ns"]).filter_map(|(_, cpu)| cpu.as_u64()).sum();
    assert!(recorded.file().cpu() < busy_ns, "the program went on");
}

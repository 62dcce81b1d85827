//! Processes and threads that come and go: fork, vfork, posix_spawn, exec, the leader's early end.

use traceview_tests::recording::{Recorded, number, percentage};

use crate::traceview;

/// That the function is on the stacks for about the CPU time that its worker measured.
fn assert_named(recorded: &Recorded<'_>, function: &str) {
    let expected = number(&recorded.truth(), "cpu_ns");
    let percent = percentage(recorded.file().cpu_below(function), expected);
    assert!((90.0..=103.0).contains(&percent), "{function} has {percent:.1} % of {expected} ns");
}

#[test]
fn a_forked_child_without_exec_is_recorded_with_names() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "fork 500");
    assert_eq!((recorded.finished.code, number(&recorded.truth(), "as_expected")), (0, 1));
    assert_eq!(number(&recorded.info(), "processes"), 2);
    assert_named(&recorded, "work_in_forked_child");
}

#[test]
fn without_children_only_the_program_itself_is_recorded() {
    let traceview = traceview();
    let recorded = traceview.record("--no-children", "families", "fork 200");
    assert_eq!((recorded.finished.code, number(&recorded.truth(), "as_expected")), (0, 1));
    assert_eq!(number(&recorded.info(), "processes"), 1);
    assert_eq!(recorded.file().cpu_below("work_in_forked_child"), 0);
}

#[test]
fn spawned_children_end_as_they_should() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "spawn");
    assert_eq!(recorded.truth()["as_expected"], recorded.truth()["children"]);
    assert_eq!(number(&recorded.info(), "processes"), 1 + number(&recorded.truth(), "children"));
}

#[test]
fn a_parent_in_vfork_does_not_stop_the_recorder() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "vfork");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    assert_eq!(recorded.truth()["as_expected"], recorded.truth()["children"]);
}

#[test]
fn a_thread_that_is_not_the_leader_can_exec() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "thread_exec 500");
    assert_eq!(recorded.finished.code, 7, "{}", recorded.finished.stderr);
    assert_named(&recorded, "work_after_exec");
    assert_named(&recorded, "work_before_exec");
    // The thread has another id after the exec, but its clock runs on.
    let expected = number(&recorded.truth(), "process_cpu_ns");
    let percent = percentage(number(&recorded.info(), "cpu_ns"), expected);
    assert!((97.0..=103.0).contains(&percent), "{percent:.1} % of {expected} ns");
}

#[test]
fn work_goes_on_being_recorded_after_the_leader_ended() {
    let traceview = traceview();
    let recorded = traceview.record("", "families", "leader_exit 500");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    assert_named(&recorded, "work_without_leader");
    assert!(recorded.cpu_of_thread("tv-survivor") > 450_000_000);
}

//! Processes and threads that come and go: fork, vfork, posix_spawn, exec, the leader's early end.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
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

/// Each process with its own name, words, life and end, also below a shell.
#[test]
fn processes_are_listed_with_their_commands_lives_and_ends() {
    let traceview = traceview();
    let script = traceview.path("script.sh");
    fs::write(&script, "sh -c 'sleep 0.1; exit 3'\nsh -c 'kill -9 $$'\ntrue\n").unwrap();
    let recorded = traceview.record_program("", Path::new("/bin/sh"), &script.display().to_string(), b"");
    let info = recorded.info();
    let list = info["process_list"].as_array().unwrap();
    let words = |row: &Value| {
        let words: Vec<&str> = row["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        words.join(" ")
    };
    let find = |command: &str| list.iter().find(|row| words(row) == command).unwrap_or_else(|| panic!("{info}"));
    let (outer, sleep) = (find("sh -c sleep 0.1; exit 3"), find("sleep 0.1"));
    assert_eq!((list.len(), &list[0]["parent"], &list[0]["exit"]), (4, &Value::Null, &json!({ "code": 0 })));
    assert_eq!((&outer["parent"], &outer["exit"]), (&json!(0), &json!({ "code": 3 })));
    assert_eq!((&sleep["name"], &sleep["exit"]), (&json!("sleep"), &json!({ "code": 0 })));
    assert_eq!(&list[sleep["parent"].as_u64().unwrap() as usize], outer);
    assert!((95_000_000..2_000_000_000).contains(&(number(sleep, "end_ns") - number(sleep, "start_ns"))), "{sleep}");
    assert_eq!(find("sh -c kill -9 $$")["exit"], json!({ "signal": 9 }));
    let text = traceview.run(["info".as_ref(), recorded.path.as_os_str()]);
    assert!(text.text().contains("ended by signal 9 (SIGKILL)  sh -c 'kill -9 $$'"), "{}", text.text());
}

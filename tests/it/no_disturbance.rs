//! The recorded program does what it does without the recorder: signals, interrupted calls, job control, what it
//! inherits, its input and output.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::{Map, Value};
use traceview_tests::leftovers::MARK;
use traceview_tests::process::{Finished, finish, start, until};
use traceview_tests::recording::number;
use traceview_tests::workload::workload;

use crate::traceview;

fn kinds(truth: &Value) -> &Map<String, Value> {
    truth.as_object().expect("the truth is an object")
}

#[test]
fn every_signal_arrives_exactly_once_and_in_order() {
    let traceview = traceview();
    let truth = traceview.record("", "signals", "").truth();
    assert_eq!(kinds(&truth).len(), 3, "{truth}");
    for (kind, counts) in kinds(&truth) {
        assert_eq!(counts["seen"], counts["sent"], "{kind}: {counts}");
    }
    assert_eq!(truth["children"]["chld"], truth["children"]["sent"]);
}

#[test]
fn signals_of_the_programs_own_instructions_reach_its_handlers() {
    let traceview = traceview();
    // The faster, the more stops fall near a fault.
    let truth = traceview.record("--rate 5000", "faults", "2000").truth();
    assert_eq!(kinds(&truth).len(), 3, "{truth}");
    for (kind, counts) in kinds(&truth) {
        assert_eq!(counts["seen"], counts["sent"], "{kind}: {counts}");
    }
}

fn assert_undisturbed(flags: &str, args: &str) {
    let traceview = traceview();
    let truth = traceview.record(flags, "idle_mix", args).truth();
    for (kind, counts) in kinds(&truth) {
        for fault in ["eintr", "early", "other"] {
            assert_eq!(number(counts, fault), 0, "{fault} of {kind}: {counts} in {truth}");
        }
        assert!(number(counts, "calls") > 0, "{kind}: {counts}");
    }
}

#[test]
fn no_waiting_call_is_interrupted() {
    assert_undisturbed("", "all 60");
}

/// Linux tells a tracer even of signals that the traced process ignores, and ends its calls for that.
#[test]
fn signals_that_are_ignored_end_no_wait() {
    let traceview = traceview();
    let truth = traceview.record("", "ignored_signals", "50").truth();
    assert_eq!((number(&truth, "waits"), number(&truth, "eintr")), (50, 0), "{truth}");
}

#[test]
fn not_even_at_a_high_rate() {
    assert_undisturbed("--rate 10000", "all 20");
}

/// Each of the calls that the kernel does not restart by itself, alone and often.
#[test]
fn calls_that_the_kernel_does_not_restart_are_not_interrupted_either() {
    for kind in ["epoll_wait", "epoll_pwait2", "sigtimedwait", "semtimedop", "recv", "accept"] {
        assert_undisturbed("", &format!("{kind} 150"));
    }
}

#[test]
fn job_control_works() {
    let traceview = traceview();
    let truth = traceview.record("", "jobs", "").truth();
    let rounds = &truth["rounds"];
    for report in ["stops_reported", "stood_still", "continues_reported", "moved_on"] {
        assert_eq!(&truth[report], rounds, "{report}: {truth}");
    }
    assert_eq!(truth["ended_by"], 9);
}

/// The lines of `environment`, by name.
fn inherited(finished: &Finished) -> BTreeMap<String, String> {
    let objects = finished.text().lines().map(|line| serde_json::from_str::<Map<String, Value>>(line).expect("JSON"));
    objects.flatten().map(|(name, value)| (name, value.as_str().expect("text").to_owned())).collect()
}

/// A signal mask without 32 and 33, which belong to glibc: its posix_spawn lets a child ignore them if the parent has
/// threads, its fork does not, and the child's glibc sets them as it needs.
fn without_glibcs_own(mask: &str) -> String {
    let mask = u64::from_str_radix(mask, 16).expect("masks are hexadecimal");
    format!("{:016x}", mask & !(0b11 << 31))
}

#[test]
fn the_program_inherits_nothing_from_the_recorder() {
    let traceview = traceview();
    let environment = workload("environment");
    let mut plain = inherited(&finish(&mut traceview.without(&environment), b""));
    let mut command = traceview.command(["record", "--no-open", "-o", "environment.json.gz", "--"]);
    let running = start(command.arg(&environment), b"");
    let recorder = running.id().to_string();
    let finished = running.finish();
    let mut recorded = inherited(&finished);
    assert!(recorded.len() > 40, "{}", finished.stderr);
    // The plain one leads a group of its own; the recorded one must be in the recorder's, as a shell started it.
    assert_eq!(recorded["group"], recorder);
    assert_ne!(recorded["varying TracerPid"], "0", "it was not recorded at all");
    for lines in [&mut plain, &mut recorded] {
        for name in ["status SigIgn", "status SigCgt"] {
            let mask = lines.get_mut(name).expect("there is such a line");
            *mask = without_glibcs_own(mask);
        }
        // Each start has a mark of its own.
        lines.remove(&format!("env {MARK}")).expect("it was started with a mark");
        lines.retain(|name, _| !name.starts_with("varying ") && !matches!(name.as_str(), "group" | "own group"));
    }
    let differing: Vec<_> = plain
        .keys()
        .chain(recorded.keys())
        .filter(|&name| plain.get(name) != recorded.get(name))
        .map(|name| format!("{name}: {:?} without, {:?} with the recorder", plain.get(name), recorded.get(name)))
        .collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn signals_that_come_while_the_program_starts_do_not_stop_it() {
    let traceview = traceview();
    for _ in 0..10 {
        let running = traceview.start("", &traceview.path("start.json.gz"), "exits", "code 3");
        // All through the start; by default nobody minds this signal.
        let storm = "i=0; while [ $i -lt 2000 ] && kill -s WINCH -- -$0; do i=$((i + 1)); done";
        let mut storm = Command::new("sh")
            .args(["-c", storm, &running.id().to_string()])
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        let finished = running.finish();
        assert_eq!(finished.code, 3, "{}", finished.stderr);
        storm.wait().expect("it is our child");
    }
}

#[test]
fn input_and_output_are_the_programs_own() {
    let traceview = traceview();
    // More than pipes hold, and not text.
    let input: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let recorded = traceview.record_program("", &workload("exits"), "echo", &input);
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    assert!(recorded.finished.stdout == input, "{} bytes came back", recorded.finished.stdout.len());
    assert!(recorded.finished.stderr.contains("4000000 bytes"), "{}", recorded.finished.stderr);
}

#[test]
fn when_recording_ends_first_the_program_runs_on() {
    let traceview = traceview();
    let recorded = traceview.record("--duration 300ms", "shares", "1");
    assert_eq!(recorded.finished.code, 0);
    // The program got all of its second, the recording only the beginning.
    assert!(number(&recorded.truth(), "total") >= 1_000_000_000);
    let sampled = recorded.file().cpu();
    assert!((1..700_000_000).contains(&sampled), "{sampled} ns sampled");
}

#[test]
fn a_descendant_left_behind_is_let_go_unharmed() {
    let traceview = traceview();
    let file = traceview.path("may-end");
    let recorded = traceview.record("", "exits", &format!("daemon {}", file.display()));
    assert_eq!(recorded.finished.code, 5, "{}", recorded.finished.stderr);
    let done = file.with_extension("done");
    assert!(!done.exists(), "the grandchild waits for the file");
    std::fs::write(&file, "").expect("the directory is ours");
    until("the grandchild goes on", || done.exists());
}

//! Little room: limits of the system, full disks, signals that would end the profiler. The program runs as without it, and
//! what can be kept is kept.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::time::Duration;
use std::{fs, thread};

use traceview_tests::process::{finish, start, until};
use traceview_tests::recording::Recorded;
use traceview_tests::tools::{has_tool, is_root};
use traceview_tests::workload::workload;

use crate::traceview;

/// A shell that sets a limit for the profiler.
fn with_limit(limit: &str) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), format!("ulimit {limit}; exec \"$@\""), "sh".to_owned()]
}

#[test]
fn a_limit_of_file_size_costs_the_recording_but_not_the_exit_status() {
    let traceview = traceview().behind(with_limit("-f 0"));
    let mut command = traceview.command(["record", "--no-open", "-o", "out.json.gz", "--"]);
    let finished = finish(command.arg(workload("exits")).args(["code", "42"]), b"");
    assert_eq!(finished.code, 42, "{}", finished.stderr);
    assert!(finished.stderr.contains("can't save the recording"), "{}", finished.stderr);
    assert!(finished.stderr.contains("Recorded "), "{}", finished.stderr);
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

#[test]
fn ended_at_any_moment_an_export_is_whole_or_not_there() {
    let traceview = traceview();
    let mut stacks = String::new();
    for line in 0..100_000 {
        writeln!(stacks, "main;step_{};leaf_{} 1", line % 300, line % 7_000).expect("memory");
    }
    fs::write(traceview.path("in.folded"), stacks).expect("there is room");
    fs::create_dir(traceview.path("out")).expect("there is none");
    for name in ["out.json", "out.json.gz", "out.folded"] {
        let output = traceview.path("out").join(name);
        let args = [OsStr::new("export"), OsStr::new("in.folded"), OsStr::new("-o"), output.as_os_str()];
        let mut ended = 0;
        for (signal, delay) in ["TERM", "INT"].into_iter().cycle().zip((0..).map(|step| 1_u64 << step)) {
            let running = start(&mut traceview.command(args), b"");
            thread::sleep(Duration::from_millis(delay));
            running.signal(signal);
            let finished = running.finish();
            if finished.code != 0 {
                assert!([130, 143].contains(&finished.code), "{name}: {} {}", finished.code, finished.stderr);
                ended += 1;
            }
            let entries = fs::read_dir(traceview.path("out")).expect("it is there");
            let names: Vec<_> = entries.map(|entry| entry.expect("it can be listed").file_name()).collect();
            // The signal can come when the file has its name already.
            assert!(names.is_empty() || names == [name], "{delay} ms: {names:?}");
            if !names.is_empty() {
                let read = traceview.run([OsStr::new("info"), output.as_os_str()]);
                assert_eq!(read.code, 0, "{name} after {delay} ms: {}", read.stderr);
                fs::remove_file(&output).expect("it is there");
            }
            if finished.code == 0 {
                break;
            }
        }
        assert!(ended > 0, "{name}: no signal came in time");
    }
}

#[test]
fn signals_to_the_profiler_do_not_end_the_recording() {
    let traceview = traceview();
    let output = traceview.path("out.json.gz");
    let mut running = traceview.start("", &output, "exits", "wait_for_signal 2");
    running.wait_for_output("ready\n");
    for signal in ["HUP", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU", "XFSZ"] {
        running.signal(signal);
    }
    running.signal_group("INT");
    let recorded = Recorded::new(&traceview, running.finish(), output);
    assert_eq!(
        (recorded.finished.code, recorded.finished.text()),
        (9, "ready\ncame\n"),
        "{}",
        recorded.finished.stderr
    );
}

#[test]
fn a_recording_that_ends_first_can_be_looked_at_while_the_program_runs() {
    let traceview = traceview();
    let output = traceview.path("out.json.gz");
    let mut running = traceview.start("--duration 100ms", &output, "exits", "wait_for_signal 2");
    running.wait_for_output("ready\n");
    until("the recording is saved", || output.exists());
    assert_eq!(traceview.run(["info", "out.json.gz"]).code, 0);
    running.signal_group("INT");
    let finished = running.finish();
    assert_eq!((finished.code, finished.text()), (9, "ready\ncame\n"), "{}", finished.stderr);
}

#[test]
fn after_the_recording_the_third_interrupt_kills_too() {
    let traceview = traceview();
    let output = traceview.path("out.json.gz");
    // It takes a signal that is sent to it; those to the profiler alone tell of an impatient user only.
    let mut running = traceview.start("--duration 100ms", &output, "exits", "wait_for_signal 1");
    running.wait_for_output("ready\n");
    until("the recording is saved", || output.exists());
    for _ in 0..3 {
        running.signal("INT");
        thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(running.finish().code, 137);
}

//! What can go wrong, as the user sees it: one sentence on stderr, the documented status, nothing lost, no panic.

use std::fs;
use std::path::Path;
use std::process::Command;

use traceview_tests::process::Finished;
use traceview_tests::recording::Recorded;
use traceview_tests::tools::has_tool;
use traceview_tests::workload::workload;

use crate::traceview;

/// That it failed with this status and one sentence that holds all of these words; causes stand indented below it.
fn assert_explains(finished: &Finished, code: i32, words: &[&str]) {
    let stderr = &finished.stderr;
    assert_eq!(finished.code, code, "{stderr}");
    let mut lines = stderr.lines().filter(|line| !line.starts_with("  "));
    let sentence = lines.next().unwrap_or_else(|| panic!("no message"));
    assert!(sentence.starts_with("error: "), "{stderr}");
    assert_eq!(lines.next(), None, "more than a sentence: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "`{word}` is missing in: {stderr}");
    }
    assert!(finished.stdout.is_empty(), "on stdout: {}", finished.text());
}

#[test]
fn a_missing_program() {
    let traceview = traceview();
    assert_explains(
        &traceview.run(["record", "--", "no-such-program"]),
        127,
        &["no-such-program", "not found", "PATH"],
    );
    assert_explains(&traceview.run(["record", "--", "./missing"]), 127, &["./missing", "not found"]);
}

#[test]
fn a_program_that_can_not_be_executed() {
    let traceview = traceview();
    fs::write(traceview.path("data.txt"), "text").expect("the directory is ours");
    assert_explains(&traceview.run(["record", "--", "./data.txt"]), 126, &["./data.txt", "executable"]);
}

#[test]
fn without_a_working_directory_whole_paths_do() {
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    let traceview = traceview().behind(["sh", "-c", script]);
    let recorded = traceview.record("", "shares", "0.3");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    assert!(recorded.file().cpu() > 0);
    let program = workload("shares");
    let program = program.to_str().expect("a path of ours");
    assert_explains(&traceview.run(["record", "-o", "x.json.gz", "--", program]), 2, &["the output's directory `.`"]);
    assert_explains(&traceview.run(["--no-open"]), 125, &["current directory"]);
}

#[test]
fn nothing_is_left_in_the_store_by_a_program_that_did_not_start() {
    let traceview = traceview();
    assert_eq!(traceview.run(["record", "--", "./missing"]).code, 127);
    assert_explains(&traceview.run(["report"]), 1, &["record"]);
    assert_eq!(files_below(&traceview.path("data")), Vec::<String>::new());
}

/// The recordings, spool files and leftovers below a directory; not what the store itself keeps for order.
fn files_below(directory: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in
            fs::read_dir(directory).expect("the directory is ours").map(|entry| entry.expect("as above").path())
        {
            if entry.is_dir() {
                directories.push(entry);
            } else {
                let name = entry.file_name().expect("it has one").to_string_lossy().into_owned();
                if [".gz", ".json", ".tmp", ".tvspool"].iter().any(|ending| name.ends_with(ending)) {
                    files.push(name);
                }
            }
        }
    }
    files
}

#[test]
fn a_program_killed_by_a_signal_is_named_so() {
    let traceview = traceview();
    let recorded = traceview.record("", "exits", "signal 15");
    assert_eq!(recorded.finished.code, 143);
    let stderr = &recorded.finished.stderr;
    assert!(stderr.contains("ended by signal 15 (SIGTERM)"), "{stderr}");
}

#[test]
fn a_program_without_debug_info_is_recorded_and_its_user_told() {
    if !has_tool("strip") {
        return;
    }
    let traceview = traceview();
    let stripped = traceview.copy(&workload("shares"));
    let status = Command::new("strip").arg("--strip-all").arg(&stripped).status().expect("strip starts");
    assert!(status.success());
    let recorded = traceview.record_program("", &stripped, "0.5", b"");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let warning = recorded.finished.stderr.lines().find(|line| line.contains("stripped"));
    assert!(warning.is_some_and(|line| line.contains("shares")), "{}", recorded.finished.stderr);
    // No names are made up for it.
    let own = recorded.file().cpu_where(|frames| frames.iter().any(|frame| frame.function.contains("seventy")));
    assert_eq!(own, 0);
    let by_address =
        recorded.file().cpu_where(|frames| frames.iter().any(|frame| frame.function.starts_with("shares+0x")));
    assert!(by_address > 400_000_000, "{by_address} ns at addresses of `shares`");
}

#[test]
fn ctrl_c_goes_to_the_program_and_all_is_kept() {
    let traceview = traceview();
    let output = traceview.path("out.json.gz");
    let mut running = traceview.start("", &output, "exits", "wait_for_signal 2");
    running.wait_for_output("ready\n");
    running.signal_group("INT");
    let recorded = Recorded::new(&traceview, running.finish(), output);
    // The program drains and ends as it likes.
    assert_eq!((recorded.finished.code, recorded.finished.text()), (9, "ready\ncame\n"));
    assert_worked_before_the_end(&recorded);
}

#[test]
fn sigterm_ends_the_program_and_all_is_kept() {
    let traceview = traceview();
    let output = traceview.path("out.json.gz");
    let mut running = traceview.start("", &output, "exits", "wait_for_signal 2");
    running.wait_for_output("ready\n");
    running.signal("TERM");
    let recorded = Recorded::new(&traceview, running.finish(), output);
    assert_eq!((recorded.finished.code, recorded.finished.text()), (143, "ready\n"), "{}", recorded.finished.stderr);
    assert_worked_before_the_end(&recorded);
}

fn assert_worked_before_the_end(recorded: &Recorded<'_>) {
    let sampled = recorded.file().cpu_below("work_before_the_end");
    assert!(sampled > 70_000_000, "{sampled} of 100,000,000 ns");
}

#[test]
fn an_output_that_can_not_be_written() {
    let traceview = traceview();
    let marker = traceview.path("started");
    for (output, word) in
        [("missing/out.json.gz", "missing"), ("/proc/out.json.gz", "/proc"), ("data", "data"), ("/", "is a directory")]
    {
        let finished = traceview.run(["record", "-o", output, "--", "touch", "started"]);
        assert_explains(&finished, 2, &[word]);
        assert!(!marker.exists(), "the program was started for nothing");
    }
}

#[test]
fn an_unknown_ending() {
    let traceview = traceview();
    let finished = traceview.run(["record", "-o", "out.xyz", "--", "touch", "started"]);
    assert_explains(&finished, 2, &["out.xyz", ".json.gz", ".json"]);
    assert!(!traceview.path("started").exists(), "the program was started for nothing");
}

#[test]
fn files_that_are_no_recordings() {
    let traceview = traceview();
    let recorded = traceview.record("", "shares", "0.3");
    let whole = fs::read(&recorded.path).expect("it was saved");
    let json = traceview_tests::firefox::read_json(&recorded.path).to_string();
    let files: [(&str, &[u8]); 7] = [
        ("half.json.gz", &whole[..whole.len() / 2]),
        ("almost.json.gz", &whole[..whole.len() - 4]),
        ("half.json", &json.as_bytes()[..json.len() / 2]),
        ("empty.json", b""),
        ("other.json", br#"{"hello": ["world"]}"#),
        ("noise.json.gz", &[0xa5; 1000]),
        ("array.json", b"[]"),
    ];
    for (name, bytes) in files {
        fs::write(traceview.path(name), bytes).expect("the directory is ours");
        for verb in ["info", "report"] {
            let finished = traceview.run([verb, name]);
            assert_explains(&finished, 1, &[name]);
            if name.starts_with("half") || name.starts_with("almost") {
                assert_explains(&finished, 1, &["incomplete, copy or record it again"]);
            }
            assert_explains(&traceview.run([verb, "--json", name]), 1, &[name]);
        }
    }
    assert_explains(&traceview.run(["report", "missing.json.gz"]), 1, &["missing.json.gz"]);
    assert_explains(&traceview.run(["report", "data"]), 1, &["data"]);
}

#[test]
fn files_without_an_end_are_not_read_to_it() {
    let traceview = traceview();
    // A gigabyte of memory would do for neither.
    let traceview = traceview.behind(["sh", "-c", "ulimit -v 1000000; exec \"$@\"", "sh"]);
    assert_explains(&traceview.run(["info", "/dev/zero"]), 1, &["/dev/zero", "not a profile"]);
    let zeros = fs::File::create(traceview.path("zeros.json")).expect("the directory is ours");
    zeros.set_len(1 << 40).expect("a sparse file takes no room");
    assert_explains(&traceview.run(["report", "zeros.json"]), 1, &["zeros.json", "not a profile"]);
}

//! The exit status: the program's own, whatever it is, or one of the few documented ones of our own.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use traceview_tests::workload::workload;

use crate::traceview;

#[test]
fn it_is_the_programs_own_and_the_recording_is_kept() {
    let traceview = traceview();
    for (args, code) in [
        ("code 0", 0),
        ("code 42", 42),
        // Also those that would be our own.
        ("code 2", 2),
        ("code 125", 125),
        ("code 255", 255),
        ("panic", 101),
        ("abort", 134),
        ("segfault", 139),
        ("signal 15", 143),
        ("signal 9", 137),
        ("signal 1", 129),
    ] {
        let recorded = traceview.record("", "exits", args);
        assert_eq!(recorded.finished.code, code, "`{args}`: {}", recorded.finished.stderr);
        let sampled = recorded.file().cpu_below("work_before_the_end");
        // On a busy machine a part of it can lie behind the last sample.
        assert!(sampled > 20_000_000, "`{args}`: {sampled} of 100,000,000 ns in the recording");
        fs::remove_file(&recorded.path).expect("it was saved");
    }
}

#[test]
fn wrong_usage_is_2_and_starts_nothing() {
    let traceview = traceview();
    let marker = traceview.path("started");
    for args in [
        vec!["record"],
        vec!["record", "--"],
        vec!["record", "--rate", "0", "--", "touch", "started"],
        vec!["record", "--rate", "many", "--", "touch", "started"],
        vec!["record", "--duration", "soon", "--", "touch", "started"],
        vec!["record", "--no-such-flag", "--", "touch", "started"],
        vec!["no-such-verb"],
        vec!["report", "--top", "0"],
    ] {
        let finished = traceview.run(&args);
        assert_eq!(finished.code, 2, "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("error:"), "{args:?}: {}", finished.stderr);
        assert!(!marker.exists(), "{args:?} started the program");
    }
}

#[test]
fn a_program_that_is_not_there_is_127() {
    let traceview = traceview();
    for program in ["no-such-program-anywhere", "./missing", "/missing/program"] {
        assert_eq!(traceview.run(["record", "--", program]).code, 127, "{program}");
    }
}

#[test]
fn a_file_that_can_not_be_executed_is_126() {
    let traceview = traceview();
    fs::write(traceview.path("no-permission"), "#!/bin/sh\n").expect("the directory is ours");
    // A binary for another machine: by its second number an ELF file for big-endian SPARC.
    let foreign = [&b"\x7fELF\x02\x02\x01"[..], &[0; 9], &[0, 2, 0, 43], &[0; 44]].concat();
    fs::write(traceview.path("foreign"), foreign).expect("the directory is ours");
    fs::set_permissions(traceview.path("foreign"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    for program in ["./no-permission", "./foreign", "/"] {
        assert_eq!(traceview.run(["record", "--", program]).code, 126, "{program}");
    }
}

#[test]
fn a_failed_build_is_101() {
    let traceview = traceview();
    fs::create_dir(traceview.path("src")).expect("the directory is ours");
    fs::write(traceview.path("Cargo.toml"), "[package]\nname = \"broken\"\nedition = \"2024\"\n[workspace]\n")
        .expect("as above");
    fs::write(traceview.path("src/main.rs"), "fn main() { missing(); }\n").expect("as above");
    let finished = traceview.run(["run", "--no-open"]);
    assert_eq!(finished.code, 101, "{}", finished.stderr);
    assert!(finished.stderr.contains("cannot find function `missing`"), "{}", finished.stderr);
}

#[test]
fn other_verbs_have_1_for_failure() {
    let traceview = traceview();
    for args in [["info", "missing.json.gz"], ["report", "missing.json.gz"], ["report", "@1"], ["info", "@7"]] {
        let finished = traceview.run(args);
        assert_eq!(finished.code, 1, "{args:?}: {}", finished.stderr);
    }
    // Asking for help is no error.
    for args in [["--help"], ["--version"]] {
        let finished = traceview.run(args);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!finished.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn scripts_and_programs_in_path_are_found() {
    let traceview = traceview();
    let script = traceview.path("script");
    fs::write(&script, "#!/bin/sh\nexit 12\n").expect("the directory is ours");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert_eq!(traceview.run(["record", "--", "./script"]).code, 12);
    assert_eq!(traceview.run(["record", "--", "false"]).code, 1);
    assert_eq!(
        traceview
            .run(["record".as_ref(), "--".as_ref(), workload("exits").as_os_str(), "code".as_ref(), "8".as_ref()])
            .code,
        8
    );
}

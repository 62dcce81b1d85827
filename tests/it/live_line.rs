//! The status line on a terminal: there while the program is quiet, and never at the cost of what the program shows.

use std::fs;
use std::path::Path;

use traceview_tests::process::{Finished, finish};
use traceview_tests::tools::has_tool;

use crate::traceview;

/// Records a shell script on a terminal of its own; what it showed. `None` if no terminal can be made.
fn on_a_terminal(flags: &str, script: &str) -> Option<Finished> {
    if !has_tool("script") {
        return None;
    }
    let traceview = traceview();
    let profiler = env!("CARGO_BIN_EXE_traceview-under-test");
    fs::write(traceview.path("program"), script).expect("the directory is ours");
    let line = format!("{profiler} record --no-open -o out.json.gz {flags} -- sh ./program");
    let mut command = traceview.without(Path::new("script"));
    let finished = finish(command.args(["-qec", &line, "/dev/null"]), b"");
    assert!(finished.text().contains("Recorded "), "{}", finished.text());
    Some(finished)
}

/// Without what is drawn below the cursor, and the end of that.
fn without_line(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, drawn)) = rest.split_once("\x1bD\x1b[A\x1b7") {
        kept.push_str(before);
        rest = drawn.split_once("\x1b8").expect("the cursor is put back").1;
    }
    (kept + rest).replace("\x1b[J", "")
}

fn status_lines(text: &str) -> usize {
    text.matches(" samples, ").count()
        - text.matches(" samples, rooted").count()
        - text.matches(" samples, lost").count()
}

#[test]
fn it_tells_of_a_quiet_program() {
    let Some(finished) = on_a_terminal("", "sleep 1.2") else { return };
    assert!(status_lines(finished.text()) >= 2, "{}", finished.text());
    let Some(finished) = on_a_terminal("--no-live", "sleep 0.6") else { return };
    assert_eq!(status_lines(finished.text()), 0, "{}", finished.text());
}

#[test]
fn it_does_not_wipe_out_what_the_program_wrote() {
    let Some(finished) = on_a_terminal("", "sleep 0.6; printf 'Name: '; sleep 1.2; echo and done") else { return };
    let kept = without_line(finished.text());
    assert!(kept.contains("Name: and done\r\n"), "{kept:?}");
    // Once it writes, the terminal is its own.
    let after = finished.text().split_once("Name: ").expect("it was written").1;
    assert_eq!(status_lines(after), 0, "{after:?}");
}

#[test]
fn it_stays_out_of_a_screen_that_the_program_has_taken_over() {
    let Some(finished) = on_a_terminal("", "stty raw -echo; sleep 1; stty sane") else { return };
    assert_eq!(status_lines(finished.text()), 0, "{}", finished.text());
}

#[test]
fn it_stays_away_while_in_the_background() {
    // A process group of its own that is not the terminal's foreground.
    if !has_tool("script") || !has_tool("bash") {
        return;
    }
    let profiler = env!("CARGO_BIN_EXE_traceview-under-test");
    let traceview = traceview();
    let line = format!("bash -mc '{profiler} record --no-open -o out.json.gz -- sleep 1 & wait'");
    let mut command = traceview.without(Path::new("script"));
    let finished = finish(command.args(["-qec", &line, "/dev/null"]), b"");
    assert!(finished.text().contains("Recorded "), "{}", finished.text());
    assert_eq!(status_lines(finished.text()), 0, "{}", finished.text());
}

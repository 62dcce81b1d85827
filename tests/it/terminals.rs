//! The program in the foreground of a terminal: Ctrl-C, Ctrl-Z and `fg` do what they do without the profiler.

use traceview_tests::process::finish;
use traceview_tests::recording::{number, truth};
use traceview_tests::workload::workload;

use crate::traceview;

#[test]
fn a_terminal_stops_and_continues_the_program_as_ever() {
    let traceview = traceview();
    let (terminal, program) = (workload("terminal"), workload("kinds_of_life"));
    let other = workload("exits");
    // One that tidies up before it stops itself, one that stops by default, one that ends by default.
    for (words, stops, code) in [
        ([program.as_os_str(), "tidy".as_ref(), "".as_ref()], 3, 13),
        ([other.as_os_str(), "wait_for_signal".as_ref(), "2".as_ref()], 3, 9),
        (["sleep".as_ref(), "60".as_ref(), "".as_ref()], 3, 130),
    ] {
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let mut plain = traceview.without(&terminal);
        let mut recorded = traceview.without(&terminal);
        recorded.arg("3").arg(env!("CARGO_BIN_EXE_traceview-under-test"));
        recorded.args(["record", "--no-open", "-o", "terminal.json.gz", "--"]);
        for (command, what) in [(plain.arg("3"), "without"), (&mut recorded, "with")] {
            let finished = finish(command.args(&words), b"");
            let truth = truth(&finished);
            let seen = (number(&truth, "stopped"), number(&truth, "code"));
            assert_eq!(seen, (stops, code), "{what} the profiler: {words:?}");
        }
        assert_eq!(traceview.run(["info", "terminal.json.gz"]).code, 0, "{words:?}");
    }
}

//! Phases of flows: a quarter of a million, half a million and a million of them, in traces that are made to be hard to bind.

use std::fmt::Write as _;
use std::time::Duration;

use traceview_core::format::{FlowBinding, chrome};

use super::{best, megabytes, millis};

const RUNS: usize = 3;

/// How the phases of a trace lie.
struct Shape {
    name: &'static str,
    /// Adds the flow of this number, of two phases, and what they lie in.
    add: fn(&mut String, usize),
}

const SHAPES: [Shape; 6] = [
    Shape { name: "a flow an id, inside slices", add: |text, at| flow(text, at, at, 1 + at % 8) },
    Shape { name: "one id for all", add: |text, at| flow(text, at, 7, 1 + at % 8) },
    Shape { name: "one thread for all", add: |text, at| flow(text, at, at, 1) },
    Shape {
        name: "slices nested ever deeper",
        add: |text, at| {
            slice(text, at, 1_000_000_000 - 2 * at, 1);
            phases(text, at, at, 1);
        },
    },
    Shape {
        name: "all at one moment",
        add: |text, at| {
            slice(text, 5, at, 1);
            phases(text, 5, at, 1);
        },
    },
    Shape {
        name: "starts first, then the ends",
        add: |text, at| {
            let (phase, rest) = if at % 2 == 0 { ("s", at) } else { ("f", 1_000_000_000 - at) };
            slice(text, rest, 1, 1);
            for _ in 0..2 {
                _ = write!(
                    text,
                    r#",{{"ph":"{phase}","ts":{rest},"pid":1,"tid":1,"name":"flow","cat":"c","id":{}}}"#,
                    at / 20
                );
            }
        },
    },
];

/// Prints how long each shape takes with either binding.
pub(super) fn measure(most: usize) {
    for Shape { name, add } in SHAPES {
        for (binding, title) in [(FlowBinding::Auto, "auto"), (FlowBinding::DevTools, "devtools")] {
            let mut times: Vec<(usize, Duration)> = Vec::new();
            let mut size = 0;
            for count in [most / 4, most / 2, most] {
                let text = trace(count / 2, add);
                size = text.len();
                let read = || chrome::read_bound(text.as_bytes(), binding).expect("a trace").flows.len();
                times.push((count, best(RUNS, read)));
            }
            let shown: Vec<String> = times.iter().map(|(_, time)| format!("{:.0} ms", millis(*time))).collect();
            let growth = times[2].1.as_secs_f64() / times[1].1.as_secs_f64();
            println!(
                "{title} {name}: {}, twice as many take {growth:.2} times as long ({:.0} MB)",
                shown.join(", "),
                megabytes(size)
            );
        }
    }
}

fn trace(flows: usize, add: fn(&mut String, usize)) -> String {
    let mut text = String::from(r#"[{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"p"}}"#);
    (0..flows).for_each(|at| add(&mut text, at));
    text + "]"
}

/// A flow from a slice into one on the next thread.
fn flow(text: &mut String, at: usize, id: usize, tid: usize) {
    slice(text, at * 10, 8, tid);
    slice(text, at * 10 + 5, 8, tid % 8 + 1);
    phase(text, "s", (at * 10 + 1, id), tid);
    phase(text, "f", (at * 10 + 5, id), tid % 8 + 1);
}

fn phases(text: &mut String, ts: usize, id: usize, tid: usize) {
    phase(text, "s", (ts, id), tid);
    phase(text, "f", (ts, id), tid);
}

fn slice(text: &mut String, ts: usize, dur: usize, tid: usize) {
    _ = write!(text, r#",{{"ph":"X","ts":{ts},"dur":{dur},"pid":1,"tid":{tid},"name":"x","cat":"c"}}"#);
}

fn phase(text: &mut String, phase: &str, (ts, id): (usize, usize), tid: usize) {
    _ = write!(text, r#",{{"ph":"{phase}","ts":{ts},"pid":1,"tid":{tid},"name":"flow","cat":"c","id":{id},"bp":"e"}}"#);
}

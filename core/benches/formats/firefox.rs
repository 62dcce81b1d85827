//! A large Firefox profile, the same one every time: of version 64, as recorders write them, with shared tables, CPU times and
//! markers.

use std::fmt::{Display, Write as _};
use std::path::Path;

const THREADS: usize = 16;
/// Stacks are this deep and share their outer halves with their neighbours.
const DEPTH: usize = 24;
const HEAD: &str = r#"{"meta":{"preprocessedProfileVersion":64,"version":24,"product":"bench","interval":1,
"startTime":1780000000000,"symbolicated":true,"sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},
"categories":[{"name":"Other","color":"grey","subcategories":["Other"]},
{"name":"User","color":"yellow","subcategories":["Other"]}],"markerSchema":[{"name":"Text","display":["marker-chart"],
"fields":[{"key":"name","label":"Details","format":"string"}]}]},"libs":[{"arch":"x86_64","name":"app","path":"/app",
"debugName":"app","debugPath":"/app","breakpadId":"","codeId":null}],"counters":[],"threads":["#;

/// Writes about `size` bytes; gives how many there are.
pub(crate) fn generate(path: &Path, size: usize) -> std::io::Result<usize> {
    // What a sample takes with its share of stacks and markers, by trial.
    let samples = size / 57;
    let (stacks, functions) = (samples, samples / 50 + 100);
    let mut text = String::with_capacity(size + size / 4);
    text.push_str(HEAD);
    for thread in 0..THREADS {
        if thread > 0 {
            text.push(',');
        }
        write_thread(&mut text, thread, samples / THREADS, stacks);
    }
    text.push_str("],\"shared\":{");
    let prefix = |row: usize| match row % DEPTH {
        0 => "null".to_owned(),
        _ => (row - 1).to_string(),
    };
    table(&mut text, "stackTable", stacks, |text| {
        column(text, "frame", (0..stacks).map(|row| scattered(row) % (functions * 3)));
        column(text, "prefix", (0..stacks).map(prefix));
    });
    write_code(&mut text, functions);
    text.push('}');
    std::fs::write(path, &text)?;
    Ok(text.len())
}

fn write_thread(text: &mut String, thread: usize, samples: usize, stacks: usize) {
    let _ = write!(
        text,
        r#"{{"name":"worker {thread}","processName":"app","pid":"100","tid":{thread},"isMainThread":{},"#,
        thread == 0
    );
    text.push_str(r#""processType":"default","registerTime":0,"unregisterTime":null,"pausedRanges":[],"#);
    table(text, "samples", samples, |text| {
        column(text, "stack", (0..samples).map(|row| scattered(row + thread) % stacks));
        // Nanoseconds as decimals of milliseconds.
        column(text, "time", (0..samples).map(|row| format!("{row}.{:06}", scattered(row) % 1_000_000)));
        column(text, "threadCPUDelta", (0..samples).map(|row| 900_000 + scattered(row) % 100_000));
        text.push_str("\"weight\":null,\"weightType\":\"samples\",");
    });
    text.push(',');
    let markers = samples / 20;
    table(text, "markers", markers, |text| {
        let data = |row: usize| format!(r#"{{"type":"Text","name":"request {}"}}"#, row % 1000);
        column(text, "data", (0..markers).map(data));
        column(text, "name", (0..markers).map(|row| row % 50));
        column(text, "startTime", (0..markers).map(|row| format!("{row}.125")));
        column(text, "endTime", (0..markers).map(|row| format!("{row}.75")));
        column(text, "phase", (0..markers).map(|_| 1));
        column(text, "category", (0..markers).map(|row| row % 2));
    });
    text.push('}');
}

fn write_code(text: &mut String, functions: usize) {
    let frames = functions * 3;
    text.push(',');
    table(text, "frameTable", frames, |text| {
        column(text, "func", (0..frames).map(|row| row / 3));
        column(text, "address", (0..frames).map(|row| row * 16));
        column(text, "inlineDepth", (0..frames).map(|_| 0));
        column(text, "category", (0..frames).map(|row| row % 2));
        column(text, "subcategory", (0..frames).map(|_| 0));
        column(text, "nativeSymbol", (0..frames).map(|_| "null"));
        column(text, "innerWindowID", (0..frames).map(|_| 0));
        column(text, "line", (0..frames).map(|row| row % 900 + 1));
        column(text, "column", (0..frames).map(|_| "null"));
        column(text, "originalLocation", (0..frames).map(|_| "null"));
    });
    text.push(',');
    table(text, "funcTable", functions, |text| {
        column(text, "name", 0..functions);
        column(text, "isJS", (0..functions).map(|_| false));
        column(text, "relevantForJS", (0..functions).map(|_| false));
        column(text, "resource", (0..functions).map(|_| 0));
        column(text, "source", (0..functions).map(|_| "null"));
        column(text, "lineNumber", (0..functions).map(|_| "null"));
        column(text, "columnNumber", (0..functions).map(|_| "null"));
        column(text, "originalLocation", (0..functions).map(|_| "null"));
    });
    text.push_str(r#","resourceTable":{"lib":[0],"name":[0],"host":[null],"type":[1],"length":1},"#);
    text.push_str(r#""nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},"#);
    text.push_str(
        r#""sources":{"filename":[],"id":[],"startLine":[],"startColumn":[],"sourceMapURL":[],"content":[],"#,
    );
    text.push_str(r#""length":0},"sourceLocationTable":{"source":[],"line":[],"column":[],"length":0},"#);
    let name = |row: usize| format!("\"app::module_{}::function_{row}::<alloc::vec::Vec<u8>>\"", row % 97);
    column(text, "stringArray", (0..functions).map(name));
    text.pop();
    text.push('}');
}

/// A table; `fill` writes its columns, each with a comma behind it.
fn table(text: &mut String, key: &str, length: usize, fill: impl FnOnce(&mut String)) {
    let _ = write!(text, "\"{key}\":{{");
    fill(text);
    let _ = write!(text, "\"length\":{length}}}");
}

fn column(text: &mut String, key: &str, values: impl Iterator<Item = impl Display>) {
    let _ = write!(text, "\"{key}\":[");
    for (index, value) in values.enumerate() {
        if index > 0 {
            text.push(',');
        }
        let _ = write!(text, "{value}");
    }
    text.push_str("],");
}

/// A number that looks as if drawn.
fn scattered(row: usize) -> usize {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

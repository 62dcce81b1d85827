//! What reading and writing a Chrome trace costs: `cargo bench -p traceview-core --bench chrome [MEGABYTES]`, or with the path of
//! a trace. With `flows`: whether binding up to a million phases of flows takes linear time, however they lie.
//!
//! Reads a trace that is made here (100 MB if not told otherwise; always the same) and prints the best of several runs, the
//! peak of memory over what the program needed with the text alone, and how Node's `JSON.parse` does on the same text at the
//! same time. What a machine does besides adds to both. What was read is written again, and that is measured too.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "the code has no clock and does no I/O, its benches do")]

mod flows;

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use traceview_core::format::chrome::events::EventTable;
use traceview_core::format::{WriteOptions, chrome};

const RUNS: usize = 5;

/// How long the thread ran that reads it, in ns.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

fn main() {
    // `cargo bench` adds `--bench`, `cargo test --benches` runs it without: then only whether it runs is of interest.
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let given = arguments.iter().find(|argument| !argument.starts_with('-'));
    if given.is_some_and(|given| given == "flows") {
        flows::measure(if is_bench { 1_000_000 } else { 1_000 });
        return;
    }
    let (path, text) = match given.map(|given| (given, given.parse::<usize>())) {
        Some((path, Err(_))) => (PathBuf::from(path), read_file(Path::new(path))),
        Some((_, Ok(megabytes))) => (PathBuf::new(), generate(megabytes * 1_000_000)),
        None => (PathBuf::new(), generate(if is_bench { 100_000_000 } else { 1_000_000 })),
    };
    let is_plain = path.extension().is_some_and(|extension| extension == "json");
    let path = if is_plain { path } else { write_file(&text) };
    measure(&text, if is_bench { RUNS } else { 1 }, &path);
    if !is_plain {
        std::fs::remove_file(path).expect("the file was written here");
    }
}

fn measure(text: &[u8], runs: usize, path: &Path) {
    let size = megabytes(text.len());
    println!("text: {size:.1} MB");
    reset_peak();
    let before = memory("VmRSS");
    let profile = chrome::read(text).expect("a trace");
    let peak = memory("VmHWM");
    if let (Some(before), Some(peak)) = (before, peak) {
        let more = megabytes(peak.saturating_sub(before));
        println!("memory: {more:.0} MB besides the text, {:.2} times the text with it", 1.0 + more / size);
    }
    let slices: usize = profile.threads.iter().map(|thread| thread.slices.len()).sum();
    println!("model: {} threads, {slices} slices, {} payloads", profile.threads.len(), profile.payloads.len());
    let write = || {
        let mut size = Counted(0);
        chrome::write(&profile, &WriteOptions::default(), &mut size).expect("nothing fails");
        size.0
    };
    let written = megabytes(write());
    let writing = best(runs, write);
    drop(profile);
    let events = best(runs, || EventTable::read(text).expect("a trace").len());
    let model = best(runs, || chrome::read(text).expect("a trace").threads.len());
    println!("events: {:.0} ms, {:.0} MB/s", millis(events), size / events.as_secs_f64());
    println!("model:  {:.0} ms, {:.0} MB/s", millis(model), size / model.as_secs_f64());
    let rate = written / writing.as_secs_f64();
    println!("write:  {:.0} ms, {rate:.0} MB/s for {written:.1} MB, not compressed", millis(writing));
    match node(path, runs) {
        Some(node) => {
            let ratio = node.as_secs_f64() / model.as_secs_f64();
            println!(
                "node:   {:.0} ms, {:.0} MB/s: JSON.parse takes {ratio:.1} times as long",
                millis(node),
                size / node.as_secs_f64()
            );
        }
        None => println!("node is not installed: nothing to compare with"),
    }
}

/// Takes any text and keeps none.
struct Counted(usize);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let start = Clock::now();
        let value = run();
        best = best.min(start.elapsed());
        drop(value);
    }
    best
}

/// The CPU time of this thread where the system says it, or else a watch: other programs take turns on the same CPUs.
struct Clock(Option<Duration>, Instant);

impl Clock {
    fn now() -> Self {
        Self(Self::cpu(), Instant::now())
    }

    fn cpu() -> Option<Duration> {
        let text = std::fs::read_to_string(SCHEDSTAT).ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }

    fn elapsed(&self) -> Duration {
        match (self.0, Self::cpu()) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => self.1.elapsed(),
        }
    }
}

/// The best CPU time of `JSON.parse` on the text of a file.
fn node(path: &Path, runs: usize) -> Option<Duration> {
    let script = format!(
        "const fs = require('fs'), text = fs.readFileSync(process.argv[1], 'utf8'); let best = Infinity;
         // With the threads that collect garbage: on one core they would take their turns too.
         const now = () => {{ const {{user, system}} = process.cpuUsage(); return (user + system) * 1000; }};
         for (let i = 0; i < {runs}; i++) {{
             const start = now(); JSON.parse(text);
             best = Math.min(best, now() - start);
         }} console.log(best)"
    );
    let output = Command::new("node").arg("-e").arg(script).arg(path).output().ok()?;
    let nanos = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// Bytes that the kernel accounts to this process; `None` where it does not say.
fn memory(key: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

/// Makes the peak of memory begin anew.
fn reset_peak() {
    let _unsupported = std::fs::write("/proc/self/clear_refs", "5");
}

fn read_file(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !bytes.starts_with(b"\x1f\x8b") {
        return bytes;
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(&*bytes).read_to_end(&mut text).expect("whole gzip");
    text
}

fn write_file(text: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("traceview-bench-{}.json", std::process::id()));
    std::fs::write(&path, text).expect("room for the trace");
    path
}

/// A trace of about `size` bytes: eight threads with nested slices as browsers and `tracing` write them, arguments of which
/// some repeat, asynchronous spans, instants, counters.
fn generate(size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size + 4096);
    text.push_str("{\"traceEvents\":[\n");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for tid in 1..=8 {
        writeln!(text, r#"{{"ph":"M","pid":1,"tid":{tid},"name":"thread_name","args":{{"name":"worker {tid}"}}}},"#)
            .expect("a String takes any text");
    }
    let mut clocks = [1_000_000_u64; 8];
    let mut id = 0;
    while text.len() < size {
        let (tid, name) = (random(8), random(200));
        let clock = &mut clocks[usize::try_from(tid).expect("below 8")];
        let (start, length) = (*clock, 50 + random(2000));
        *clock += length + random(100);
        let inner = start + length / 4;
        let written = match random(16) {
            0 => write!(
                text,
                r#"{{"ph":"b","pid":1,"tid":{tid},"ts":{start},"cat":"net","name":"request {name}","id":"0x{id:x}"}},
{{"ph":"e","pid":1,"tid":{tid},"ts":{inner},"cat":"net","name":"request {name}","id":"0x{id:x}"}},
"#
            ),
            1 => write!(
                text,
                r#"{{"ph":"i","pid":1,"tid":{tid},"ts":{start}.5,"cat":"v8","name":"note {name}","s":"t"}},
{{"ph":"C","pid":1,"tid":{tid},"ts":{start},"name":"heap","args":{{"used":{length}}}}},
"#
            ),
            2..6 => write!(
                text,
                r#"{{"ph":"B","pid":1,"tid":{tid},"ts":{start}.125,"cat":"app::task","name":"task {name}",".file":"src/task.rs",".line":{name}}},
{{"ph":"E","pid":1,"tid":{tid},"ts":{inner}.5,"cat":"app::task","name":"task {name}"}},
"#
            ),
            _ => write!(
                text,
                r#"{{"args":{{"data":{{"frame":"F{name}","url":"https://example.org/{name}.js"}}}},"cat":"devtools.timeline","dur":{},"name":"Inner{name}","ph":"X","pid":1,"tid":{tid},"ts":{inner}}},
{{"args":{{"src":"loop.cc","line":{length}}},"cat":"toplevel","dur":{length},"name":"Outer{name}","ph":"X","pid":1,"tid":{tid},"ts":{start}}},
"#,
                length / 4
            ),
        };
        written.expect("a String takes any text");
        id += 1;
    }
    text.truncate(text.len() - 2);
    text.push_str("\n],\"displayTimeUnit\":\"ms\"}\n");
    text.into_bytes()
}

#[expect(clippy::cast_precision_loss, reason = "sizes stay below 2^53")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

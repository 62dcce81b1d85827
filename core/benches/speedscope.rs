//! What reading and writing speedscope files costs, against `serde_json::Value` on the same bytes in the same run:
//!
//! ```sh
//! cargo bench -p traceview-core --bench speedscope            # files of 64 MB
//! cargo bench -p traceview-core --bench speedscope -- 256
//! ```
//!
//! Samples are 24 frames deep, and each differs from the one before in its inner frames; events open and close as such calls do.
//! Memory is what the process holds at most while it reads or writes, besides the text (Linux only).

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;
use traceview_core::format::{WriteOptions, speedscope};
use traceview_core::model::Profile;

const FRAMES: u64 = 20_000;
const DEPTH: u64 = 24;

fn main() -> io::Result<()> {
    let megabytes: usize = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(64);
    for (name, text) in [("sampled", sampled(megabytes << 20)), ("evented", evented(megabytes << 20))] {
        report(name, "serde_json::Value", text.len(), || serde_json::from_str::<Value>(&text).expect("JSON"))?;
        let profile = report(name, "read", text.len(), || speedscope::read(text.as_bytes()).expect("a profile"))?;
        let mut counter = Counter(0);
        write(&profile, &mut counter);
        report(name, "write", counter.0, || write(&profile, &mut io::sink()))?;
    }
    Ok(())
}

fn write(profile: &Profile, out: &mut dyn Write) {
    speedscope::write(profile, &WriteOptions::default(), out).expect("it can be written");
}

/// The best of three runs.
fn report<T>(name: &str, what: &str, bytes: usize, run: impl Fn() -> T) -> io::Result<T> {
    let megabytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let before = memory(true);
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..3 {
        drop(result.take());
        let start = cpu_time()?;
        result = Some(run());
        best = best.min(cpu_time()?.saturating_sub(start).as_secs_f64());
    }
    let held = before.zip(memory(false)).map_or(f64::NAN, |(before, peak)| megabytes(peak.saturating_sub(before)));
    writeln!(
        io::stdout(),
        "{name:8} {what:18} {:6.1} MB {best:7.3} s {:6.0} MB/s, memory {:5.2} x",
        megabytes(bytes),
        megabytes(bytes) / best,
        held / megabytes(bytes)
    )?;
    Ok(result.expect("it ran"))
}

/// CPU time of this thread (Linux only): what else runs on the machine disturbs it less than the time on the wall.
#[expect(clippy::disallowed_methods, reason = "a benchmark asks the system how long it ran")]
fn cpu_time() -> io::Result<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    nanos.map(Duration::from_nanos).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The most memory that was held since the last reset, or what is held.
#[expect(clippy::disallowed_methods, reason = "a benchmark asks the system how much memory it uses")]
fn memory(reset: bool) -> Option<usize> {
    if reset {
        std::fs::write("/proc/self/clear_refs", "5").ok()?;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn head() -> String {
    let mut text =
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[".to_owned();
    for frame in 0..FRAMES {
        let comma = if frame == 0 { "" } else { "," };
        let _memory = write!(
            text,
            "{comma}{{\"name\":\"crate::module::function_{frame}\",\"file\":\"src/{}.rs\",\"line\":{}}}",
            frame % 99,
            frame % 900 + 1
        );
    }
    text.push_str("]},\"profiles\":[{\"name\":\"worker\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":1,");
    text
}

/// How many frames of the stack before each sample shares.
fn shared(random: &mut Random) -> u64 {
    DEPTH - 1 - random.below(8)
}

fn sampled(size: usize) -> String {
    let mut text = head();
    text.push_str("\"type\":\"sampled\",\"samples\":[");
    let mut random = Random(1);
    let mut stack: Vec<u64> = Vec::new();
    let mut samples = 0;
    while text.len() < size {
        stack.truncate(usize::try_from(shared(&mut random)).unwrap_or(0));
        while (stack.len() as u64) < DEPTH {
            stack.push(random.below(FRAMES));
        }
        let numbers: Vec<String> = stack.iter().map(u64::to_string).collect();
        let _memory = write!(text, "{}[{}]", if samples == 0 { "" } else { "," }, numbers.join(","));
        samples += 1;
    }
    text.push_str("],\"weights\":[1000000");
    (1..samples).for_each(|_| text.push_str(",1000000"));
    text.push_str("]}]}");
    text
}

fn evented(size: usize) -> String {
    let mut text = head();
    text.push_str("\"type\":\"evented\",\"events\":[");
    let mut random = Random(1);
    let mut stack: Vec<u64> = Vec::new();
    let mut at = 0_u64;
    let mut comma = "";
    let mut event = |text: &mut String, kind: char, frame: u64, at: u64| {
        let comma = std::mem::replace(&mut comma, ",");
        let _memory = write!(text, "{comma}{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}");
    };
    while text.len() < size {
        let keep = usize::try_from(shared(&mut random)).unwrap_or(0);
        while stack.len() > keep {
            stack.pop().into_iter().for_each(|frame| event(&mut text, 'C', frame, at));
            at += random.below(1000);
        }
        while (stack.len() as u64) < DEPTH {
            stack.push(random.below(FRAMES));
            event(&mut text, 'O', stack[stack.len() - 1], at);
            at += random.below(1000);
        }
    }
    stack.into_iter().rev().for_each(|frame| event(&mut text, 'C', frame, at));
    text.push_str("]}]}");
    text
}

/// Xorshift: the same text every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) * limit) >> 32
    }
}

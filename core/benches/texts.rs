//! How fast texts are read and written, beside a plain pass over their lines in the same run.
//!
//! `cargo bench -p traceview-core --bench texts`. Nothing is asserted: machines differ, and so do their moods.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use traceview_core::format::{WriteOptions, collapsed, perf_script};

/// A number from a small generator that gives the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let sorted = collapsed_text(100 << 20, true);
    measure(&mut out, "collapsed, in order", sorted.as_bytes(), |text| {
        black_box(collapsed::read(text).expect("stacks"));
    })?;
    let shuffled = collapsed_text(100 << 20, false);
    measure(&mut out, "collapsed, in no order", shuffled.as_bytes(), |text| {
        black_box(collapsed::read(text).expect("stacks"));
    })?;
    let perf = perf_text(100 << 20);
    measure(&mut out, "perf script", perf.as_bytes(), |text| {
        black_box(perf_script::read(text).expect("samples"));
    })?;
    let profile = collapsed::read(shuffled.as_bytes()).expect("stacks");
    let mut written = Vec::new();
    collapsed::write(&profile, &WriteOptions::default(), &mut written).expect("memory takes all");
    measure(&mut out, "collapsed, written", &written, |_| {
        collapsed::write(&profile, &WriteOptions::default(), &mut std::io::sink()).expect("nothing fails");
    })
}

/// Says how long `work` takes for `text`, as a rate and as a multiple of what it takes to count its lines.
fn measure(out: &mut impl Write, name: &str, text: &[u8], mut work: impl FnMut(&[u8])) -> std::io::Result<()> {
    let plain = best(|| {
        black_box(text.split(|byte| *byte == b'\n').filter(|line| line.last() != Some(&b' ')).count());
    });
    let ours = best(|| work(text));
    let megabytes = text.len() as f64 / 1e6;
    writeln!(
        out,
        "{name}: {:.0} MB at {:.0} MB/s; plain pass {:.0} MB/s, ratio {:.1}",
        megabytes,
        megabytes / ours.as_secs_f64(),
        megabytes / plain.as_secs_f64(),
        ours.as_secs_f64() / plain.as_secs_f64()
    )
}

/// The best of three: noise only adds.
fn best(mut work: impl FnMut()) -> Duration {
    #[expect(clippy::disallowed_methods, reason = "a benchmark has a clock")]
    let mut once = || {
        let start = std::time::Instant::now();
        work();
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// Stacks of 10 to 40 frames of 2,000 functions: each node has a few callees.
fn stack(numbers: &mut Numbers, mut frame: impl FnMut(u64)) {
    let depth = 10 + numbers.below(30);
    let mut function = 0;
    for _ in 0..depth {
        frame(function);
        function = (function * 7 + 1 + numbers.below(3) * numbers.below(2)) % 2000;
    }
}

fn collapsed_text(size: usize, is_sorted: bool) -> String {
    let mut numbers = Numbers(1);
    let (mut lines, mut len) = (Vec::new(), 0);
    while len < size {
        let mut line = String::new();
        stack(&mut numbers, |function| {
            let separator = if line.is_empty() { "" } else { ";" };
            write!(line, "{separator}demo::module_{}::Function{function}::call", function % 37).expect("memory");
        });
        writeln!(line, " {}", 1 + numbers.below(1000)).expect("memory");
        len += line.len();
        lines.push(line);
    }
    if is_sorted {
        lines.sort_unstable();
    }
    lines.concat()
}

fn perf_text(size: usize) -> String {
    let mut numbers = Numbers(1);
    let (mut text, mut time) = (String::new(), 46_497_000_000_u64);
    while text.len() < size {
        time += 1000;
        let tid = 4711 + numbers.below(8);
        let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
        writeln!(text, "worker-{tid} 4711/{tid} [003] {seconds}.{micros:06}:    1003009 task-clock: ").expect("memory");
        stack(&mut numbers, |function| {
            let address = 0x1000 + function * 0x40;
            writeln!(text, "\t{address:16x} demo::Function{function}::call+0x1f (/usr/bin/demo)").expect("memory");
        });
        text.push('\n');
    }
    text
}

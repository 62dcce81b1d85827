//! What sampling costs a busy thread: how long it was held for its samples, seen by itself, and pairs of runs with and
//! without the profiler.
//!
//! `cargo bench -p traceview-tests --bench overhead [-- PAIRS]`

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use traceview_tests::workload::workload;

/// Seconds that the thread which watches itself runs for.
const SECONDS: &str = "2";

fn main() -> io::Result<()> {
    let pairs = env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(7);
    let directory = tempfile::tempdir()?;
    let watcher = workload("gaps");
    let mut out = io::stdout().lock();
    writeln!(out, "one busy thread, 1 kHz, {SECONDS} s, {pairs} pairs of runs")?;
    writeln!(out, "{:>34}   {:>34}", "off its CPU, of CPU time", "gaps in its own time, of CPU time")?;
    writeln!(
        out,
        "{:>10} {:>10} {:>12}   {:>10} {:>10} {:>12}",
        "alone", "sampled", "more", "alone", "sampled", "more"
    )?;
    let (mut off_cpu, mut gaps) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let alone = Held::of(Command::new(&watcher).arg(SECONDS), directory.path())?;
        let sampled = Held::of(&mut profiled(&watcher, &[SECONDS], directory.path()), directory.path())?;
        let (more_off_cpu, more_gaps) = (sampled.off_cpu - alone.off_cpu, sampled.gaps - alone.gaps);
        writeln!(
            out,
            "{:>8.2} % {:>8.2} % {more_off_cpu:>10.2} %   {:>8.2} % {:>8.2} % {more_gaps:>10.2} %",
            alone.off_cpu, sampled.off_cpu, alone.gaps, sampled.gaps
        )?;
        off_cpu.push(more_off_cpu);
        gaps.push(more_gaps);
    }
    writeln!(out, "stopped for samples: median {:.2} % of the thread's CPU time", median(&mut off_cpu))?;
    writeln!(out, "with the way into the kernel and back: median {:.2} %", median(&mut gaps))?;

    let work = workload("fixed_work");
    let mut ratios = Vec::new();
    for _ in 0..pairs {
        let alone = own_seconds(&mut Command::new(&work), directory.path())?;
        let sampled = own_seconds(&mut profiled(&work, &[], directory.path()), directory.path())?;
        ratios.push(sampled / alone);
    }
    let (low, high) = (min(&ratios), max(&ratios));
    writeln!(out, "wall time of fixed work, with/without: median {:.3} ({low:.3} to {high:.3})", median(&mut ratios))
}

fn profiled(program: &Path, args: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceview-under-test"));
    command.args(["record", "-o"]).arg(directory.join("out.json.gz")).arg("--").arg(program).args(args);
    command.env("XDG_DATA_HOME", directory).stderr(Stdio::null());
    command
}

/// How much a thread that watches itself was held, in percent of its CPU time. Spans in which others had its CPU are
/// left out.
struct Held {
    /// Time off its CPU by the kernel's account.
    off_cpu: f64,
    /// Gaps between two readings of the clock, which hold the work of the kernel for a stop besides.
    gaps: f64,
}

impl Held {
    fn of(command: &mut Command, directory: &Path) -> io::Result<Self> {
        let truth = json(command, directory)?;
        let [wall, cpu, gaps, away] = ["wall_ns", "cpu_ns", "gap_ns", "away_ns"].map(|key| number(&truth, key));
        Ok(Self { off_cpu: 100.0 * (wall - cpu - away).max(0.0) / cpu, gaps: 100.0 * gaps / cpu })
    }
}

fn json(command: &mut Command, directory: &Path) -> io::Result<Value> {
    let path = directory.join("stdout");
    let status = command.stdout(File::create(&path)?).status()?;
    assert!(status.success(), "{command:?}: {status}");
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no number `{key}` in {value}"))
}

/// Seconds that the program took by its own clock: the profiler's start and symbolization do not count.
fn own_seconds(command: &mut Command, directory: &Path) -> io::Result<f64> {
    let truth = json(command, directory)?;
    Ok(number(&truth, "wall_ns") / 1e9)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

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
    let gaps = workload("gaps");
    let mut out = io::stdout().lock();
    writeln!(out, "one busy thread, 1 kHz, {SECONDS} s, {pairs} pairs of runs")?;
    writeln!(out, "{:>26} {:>22} {:>10}", "gaps without, with the", "profiler, of CPU time", "difference")?;
    let mut differences = Vec::new();
    for _ in 0..pairs {
        let alone = share_of_gaps(Command::new(&gaps).arg(SECONDS), directory.path())?;
        let sampled = share_of_gaps(&mut profiled(&gaps, &[SECONDS], directory.path()), directory.path())?;
        writeln!(out, "{alone:>25.2} % {sampled:>20.2} % {:>8.2} %", sampled - alone)?;
        differences.push(sampled - alone);
    }
    writeln!(out, "held for samples: median {:.2} % of the thread's CPU time", median(&mut differences))?;

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

/// The percentage of its CPU time that the thread was not running although nobody else had its CPU.
fn share_of_gaps(command: &mut Command, directory: &Path) -> io::Result<f64> {
    let truth = json(command, directory)?;
    Ok(100.0 * number(&truth, "gap_ns") / number(&truth, "cpu_ns"))
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

//! What sampling costs: how long a busy thread was held for its samples, seen by itself; what recordings of more threads
//! say of themselves, beside the least that a sampler by ptrace can spend on one thread here; and the wall time of fixed
//! work under this and other recorders (`perf`, `samply`, where installed).
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
    let pairs = env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(9);
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

    crowds(&mut out, directory.path())?;
    against_others(&mut out, directory.path(), pairs)
}

/// What recordings of some busy and sleeping threads cost, by their own account.
fn crowds(out: &mut dyn Write, directory: &Path) -> io::Result<()> {
    writeln!(
        out,
        "\n{:<28} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "busy and sleeping threads", "stopped", "a stop", "99 %", "own CPU", "least", "looks"
    )?;
    for (busy, asleep, rate) in
        [(1, 0, 1000), (2, 0, 1000), (1, 200, 1000), (16, 0, 1000), (64, 0, 1000), (1, 0, 10_000)]
    {
        let (busy_text, asleep_text, rate_text) = (busy.to_string(), asleep.to_string(), rate.to_string());
        let mut command = profiled_at(&rate_text, &workload("crowd"), &[&busy_text, &asleep_text, "5"], directory);
        assert!(command.stdout(Stdio::null()).status()?.success(), "{command:?}");
        let mut info = Command::new(env!("CARGO_BIN_EXE_traceview-under-test"));
        let info = json(info.args(["info", "--json"]).arg(directory.join("out.json.gz")), directory)?;
        let recorder = &info["recorder"];
        let (cpu, wall) = (number(&info, "cpu_ns"), number(&info, "duration_ns"));
        let least = if (busy, rate) == (1, 1000) {
            let mut floor = Command::new(workload("floor"));
            floor.arg("2").arg(workload("crowd")).args([&busy_text, &asleep_text, "5"]);
            let floor = json(&mut floor, directory)?;
            // For as many stops as there would be in the time, if its pauses were as short as asked for.
            format!("{:.2} %", 100.0 * number(&floor, "cpu_ns") / number(&floor, "stops") / 1e6)
        } else {
            String::new()
        };
        writeln!(
            out,
            "{:<28} {:>7.2} % {:>6.1} µs {:>6.1} µs {:>7.2} % {least:>9} {:>7.1} %",
            format!("{busy} and {asleep} at {rate} Hz"),
            100.0 * number(recorder, "stopped_ns") / cpu,
            number(recorder, "stop_median_ns") / 1e3,
            number(recorder, "stop_p99_ns") / 1e3,
            100.0 * number(recorder, "cpu_ns") / wall,
            100.0 * number(recorder, "ticks") / (number(recorder, "ticks") + number(recorder, "missed_ticks")),
        )?;
    }
    Ok(())
}

/// Wall time of fixed work without and with several recorders, in turn.
fn against_others(out: &mut dyn Write, directory: &Path, pairs: usize) -> io::Result<()> {
    let work = workload("fixed_work");
    let bare = || Command::new(&work);
    let ours = || profiled(&work, &[], directory);
    let perf = || {
        let mut command = Command::new("perf");
        command.args(["record", "-q", "-F", "1000", "-g", "-o"]).arg(directory.join("perf.data")).arg("--").arg(&work);
        command
    };
    let samply = || {
        let mut command = Command::new("samply");
        command.args(["record", "-r", "1000", "--save-only", "-o"]).arg(directory.join("samply.json.gz")).arg(&work);
        command
    };
    let recorders: [(&str, &dyn Fn() -> Command); 3] =
        [("cargo-traceview", &ours), ("perf record -g", &perf), ("samply record", &samply)];
    writeln!(out, "\nwall time of fixed work, with/without")?;
    let mut ratios = vec![Vec::new(); recorders.len()];
    for _ in 0..pairs {
        for ((_, command), ratios) in recorders.iter().zip(&mut ratios) {
            let alone = own_seconds(&mut bare(), directory)?;
            // One that is not there, or may not be used here, is left out.
            if let Ok(sampled) = own_seconds(command().stderr(Stdio::null()), directory) {
                ratios.push(sampled / alone);
            }
        }
    }
    for ((name, _), ratios) in recorders.iter().zip(&mut ratios) {
        if ratios.is_empty() {
            writeln!(out, "{name:<20} cannot be run here")?;
        } else {
            let (low, high) = (min(ratios), max(ratios));
            writeln!(out, "{name:<20} median {:.3} ({low:.3} to {high:.3})", median(ratios))?;
        }
    }
    Ok(())
}

fn profiled(program: &Path, args: &[&str], directory: &Path) -> Command {
    profiled_at("1000", program, args, directory)
}

fn profiled_at(rate: &str, program: &Path, args: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceview-under-test"));
    command
        .args(["record", "--no-open", "--rate", rate, "-o"])
        .arg(directory.join("out.json.gz"))
        .arg("--")
        .arg(program)
        .args(args);
    command.env("XDG_DATA_HOME", directory).env("XDG_CACHE_HOME", directory).stderr(Stdio::null());
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
    if !status.success() {
        return Err(io::Error::other(format!("{command:?}: {status}")));
    }
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

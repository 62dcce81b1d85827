//! How often workloads that check themselves end otherwise with the profiler than without it.
//!
//! `cargo bench -p traceview-tests --bench disturbance [-- RUNS]` runs each of them so many times (100 by default) without
//! the profiler, at 1 kHz and at 5 kHz, and prints a table of how many runs went wrong.
//!
//! `cargo bench -p traceview-tests --bench disturbance -- --soak MINUTES` records one that churns threads, processes,
//! libraries and signals, and prints each quarter of a minute what memory the profiler holds and what it has sampled; then
//! whether threads were lost, and the memory per sample.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use traceview_tests::workload::workload;

/// Between two looks at the profiler's memory.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Workloads that print one line of JSON in which all is well if no `faults` are counted, and what is `sent` was `seen`.
const SELF_CHECKS: [(&str, &[&str]); 16] = [
    ("corners", &["storm", "28", "10"]),
    ("corners", &["storm", "17", "10"]),
    ("corners", &["storm", "18", "10"]),
    ("corners", &["filtered", "100"]),
    ("corners", &["wanted", "200"]),
    ("corners", &["pidfd", "40"]),
    ("corners", &["sleeps", "50"]),
    ("kinds_of_life", &["vforks", "300"]),
    ("kinds_of_life", &["exec_race", "30"]),
    ("kinds_of_life", &["reaped", "50"]),
    ("kinds_of_life", &["groups", "30"]),
    ("signals", &["all", "200"]),
    ("faults", &["200"]),
    ("idle_mix", &["all", "10"]),
    ("ignored_signals", &["20"]),
    ("jobs", &["4"]),
];

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = words.iter().find_map(|word| word.parse().ok());
    if words.iter().any(|word| word == "--soak") {
        return soak(number.unwrap_or(20));
    }
    let runs = number.unwrap_or(100);
    let directory = tempfile::tempdir()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{runs} runs each: how many went wrong\n{:<28} {:>8} {:>8} {:>8}", "", "without", "1 kHz", "5 kHz")?;
    for (name, args) in SELF_CHECKS {
        let program = workload(name);
        let mut wrong = [0; 3];
        for _ in 0..runs {
            for (rate, wrong) in [None, Some("1000"), Some("5000")].into_iter().zip(&mut wrong) {
                let mut command = match rate {
                    None => Command::new(&program),
                    Some(rate) => profiled(&program, &["--rate", rate], directory.path()),
                };
                *wrong += u32::from(!ends_well(command.args(args))?);
            }
        }
        let shown = format!("{name} {}", args.join(" "));
        writeln!(out, "{shown:<28} {:>8} {:>8} {:>8}", wrong[0], wrong[1], wrong[2])?;
        out.flush()?;
    }
    Ok(())
}

fn profiled(program: &Path, flags: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceview-under-test"));
    command.args(["record", "--no-open", "-o"]).arg(directory.join("out.json.gz")).args(flags).arg("--").arg(program);
    command.env("XDG_DATA_HOME", directory).env("XDG_CACHE_HOME", directory);
    command
}

fn ends_well(command: &mut Command) -> io::Result<bool> {
    let output = command.stderr(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let truth = text.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
    Ok(output.status.success() && truth.is_some_and(|truth| is_well(&truth)))
}

/// Whether an object and those in it count nothing that went wrong.
fn is_well(truth: &Value) -> bool {
    let Some(fields) = truth.as_object() else { return true };
    let nothing = ["faults", "eintr", "early", "other"].iter().all(|name| fields.get(*name).is_none_or(|it| *it == 0));
    let pairs = [("seen", "sent"), ("moved_on", "rounds"), ("stood_still", "rounds"), ("continues_reported", "rounds")];
    let equal = pairs.iter().all(|(left, right)| fields.get(*left).is_none_or(|it| Some(it) == fields.get(*right)));
    nothing && equal && fields.values().all(|it| !it.is_object() || is_well(it))
}

fn soak(minutes: u64) -> io::Result<()> {
    let directory = tempfile::tempdir()?;
    let mut out = io::stdout().lock();
    let seconds = (minutes * 60).to_string();
    let started = Instant::now();
    let mut command = profiled(&workload("churn"), &[], directory.path());
    let mut child = command.arg(&seconds).stdout(fs::File::create(directory.path().join("truth"))?).spawn()?;
    writeln!(out, "{:>8} {:>14} {:>14}", "s", "memory, KiB", "files open")?;
    let mut memory = Vec::new();
    let mut next = started + LOOK_EVERY;
    while child.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(100));
        if Instant::now() >= next {
            next += LOOK_EVERY;
            let kib = resident_kib(child.id()).unwrap_or(0);
            let files = fs::read_dir(format!("/proc/{}/fd", child.id())).map_or(0, Iterator::count);
            writeln!(out, "{:>8} {kib:>14} {files:>14}", started.elapsed().as_secs())?;
            out.flush()?;
            // Not what it takes to save the recording, after the program has ended.
            if fs::metadata(directory.path().join("truth"))?.len() == 0 {
                memory.push(kib);
            }
        }
    }
    let truth: Value = serde_json::from_str(fs::read_to_string(directory.path().join("truth"))?.trim())?;
    let mut info = Command::new(env!("CARGO_BIN_EXE_traceview-under-test"));
    let info = info.args(["info", "--json"]).arg(directory.path().join("out.json.gz")).output()?;
    let info: Value = serde_json::from_slice(&info.stdout)?;
    let threads = info["threads"].as_array().map_or(0, Vec::len);
    let samples: u64 = info["threads"].as_array().into_iter().flatten().filter_map(|it| it["samples"].as_u64()).sum();
    writeln!(out, "truth: {truth}")?;
    writeln!(
        out,
        "recorded: {threads} threads of {} processes, {samples} samples, lost {}",
        info["processes"], info["lost"]
    )?;
    if let (Some(first), Some(last)) = (memory.first(), memory.last()) {
        let grown = last.saturating_sub(*first) * 1024;
        let per_minute = grown / minutes.max(1);
        writeln!(out, "memory grew by {} KiB, {per_minute} bytes a minute", grown / 1024)?;
        writeln!(
            out,
            "{} bytes for each sample, {} for each thread",
            grown / samples.max(1),
            grown / (threads as u64).max(1)
        )?;
    }
    Ok(())
}

fn resident_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()
}

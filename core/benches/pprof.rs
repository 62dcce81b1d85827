//! What pprof files cost: `cargo bench -p traceview-core --bench pprof [-- STACKS] [--go]`.
//!
//! The file is made here: samples of 24 frames each that share their outer frames, as those of programs do, and are labelled
//! with their thread. Each case is a process of its own, so that its peak of memory is its own, and times are CPU times, as
//! others may use the machine: our reader, decoding alone (prost, all at once), our writer, and with `--go` what
//! `go tool pprof -top` takes, minutes for a million stacks.
//!
//! `-- CASE FILE` measures one case on a file that is there, and `-- make FILE` makes one: so that two builds of this can be
//! compared.
#![expect(clippy::disallowed_methods, reason = "the code does no I/O, its benches do")]
#![expect(clippy::print_stdout, reason = "a bench says what it measured")]

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use prost::Message;
use traceview_core::format::{WriteOptions, pprof};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const STACKS: u64 = 1_000_000;
const DEPTH: u64 = 24;
/// Each with a line of its own, in so many functions.
const LOCATIONS: u64 = 60_000;
const FUNCTIONS: u64 = 20_000;
/// So many callees does a frame have.
const CALLEES: u64 = 2;
const THREADS: u64 = 16;
/// So often is the file written.
const WRITES: usize = 3;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [case, path] = &*args {
        return match &**case {
            "make" => Ok(std::fs::write(path, file(STACKS))?),
            _ => run(case, Path::new(path)),
        };
    }
    let stacks = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(STACKS);
    let path = std::env::temp_dir().join(format!("traceview-bench-{}.pb", std::process::id()));
    std::fs::write(&path, file(stacks))?;
    let measured = measure(&path, stacks, args.iter().any(|arg| arg == "--go"));
    std::fs::remove_file(&path)?;
    measured
}

/// Runs each case as a process.
fn measure(path: &Path, stacks: u64, with_go: bool) -> Result<()> {
    let size = std::fs::metadata(path)?.len();
    println!("{stacks} stacks of {DEPTH} frames, {} MB", size / 1_000_000);
    for case in ["read", "decode", "write"] {
        let output = Command::new(std::env::current_exe()?).arg(case).arg(path).output()?;
        print!("{case:>7}: {}", String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
    }
    if with_go {
        let start = Instant::now();
        let output = Command::new("go").args(["tool", "pprof", "-symbolize=none", "-top"]).arg(path).output()?;
        println!("go tool pprof -top: {:.2} s ({})", start.elapsed().as_secs_f64(), output.status);
    }
    Ok(())
}

/// One case, in this process.
fn run(case: &str, path: &Path) -> Result<()> {
    let bytes = std::fs::read(path)?;
    let start = cpu_seconds()?;
    match case {
        "decode" => {
            let file = File::decode(&*bytes)?;
            let seconds = cpu_seconds()? - start;
            println!("{seconds:.2} s, {} MB at most, {} samples", peak_mb()?, file.sample.len());
        }
        "read" => {
            let profile = pprof::read(&bytes)?;
            let seconds = cpu_seconds()? - start;
            let (peak, nodes) = (peak_mb()?, profile.stacks.len());
            println!("{seconds:.2} s, {peak} MB at most, {nodes} nodes of stacks");
        }
        _ => {
            let profile = pprof::read(&bytes)?;
            drop(bytes);
            forget_peak()?;
            let before = memory_mb("VmRSS:")?;
            let mut counted = Counted(0);
            let mut seconds = f64::INFINITY;
            for _ in 0..WRITES {
                let start = cpu_seconds()?;
                counted = Counted(0);
                pprof::write(&profile, &WriteOptions::default(), &mut counted)?;
                seconds = seconds.min(cpu_seconds()? - start);
            }
            let megabytes = counted.0 as f64 / 1e6;
            let more = peak_mb()? - before;
            println!(
                "{seconds:.3} s (best of {WRITES}), {megabytes:.0} MB, {:.0} MB/s, {more} MB of memory",
                megabytes / seconds
            );
        }
    }
    Ok(())
}

/// CPU time that this process used; it has one thread.
fn cpu_seconds() -> Result<f64> {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanos: u64 = schedstat.split(' ').next().ok_or("no CPU time")?.parse()?;
    Ok(nanos as f64 / 1e9)
}

/// The most memory that this process ever had, or since [`forget_peak`].
fn peak_mb() -> Result<u64> {
    memory_mb("VmHWM:")
}

/// A line of what the kernel says of this process.
fn memory_mb(line: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|each| each.strip_prefix(line)).ok_or("no such memory")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024 / 1_000_000)
}

/// Makes the memory of this moment the most that there was.
fn forget_peak() -> Result<()> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}

/// Counts what is written.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file of so many samples.
fn file(stacks: u64) -> Vec<u8> {
    let texts = ["samples", "count", "cpu", "nanoseconds", "/usr/bin/made-up", "src/made_up.rs", "thread_name", "tid"];
    let texts = texts.map(str::to_owned);
    let first_thread = texts.len() as u64 + 1;
    let threads = (0..THREADS).map(|thread| format!("worker {thread}"));
    let first_name = first_thread + THREADS;
    let names = (0..FUNCTIONS).map(|index| format!("made_up::module_{}::function_{index}", index % 97));
    let value_type = |r#type, unit| ValueType { r#type, unit };
    let function = |index: u64| Function { id: index + 1, name: (first_name + index).cast_signed(), filename: 6 };
    let location = |index: u64| {
        let line = vec![Line { function_id: index % FUNCTIONS + 1, line: (index / FUNCTIONS).cast_signed() + 10 }];
        Location { id: index + 1, mapping_id: 1, address: 0x5555_0000 + index * 16, line }
    };
    let limit = 0x5555_0000 + LOCATIONS * 16;
    let head = File {
        sample_type: vec![value_type(1, 2), value_type(3, 4)],
        mapping: vec![Mapping { id: 1, memory_start: 0x5555_0000, memory_limit: limit, filename: 5 }],
        location: (0..LOCATIONS).map(location).collect(),
        function: (0..FUNCTIONS).map(function).collect(),
        string_table: std::iter::once(String::new())
            .chain(texts)
            .chain(threads)
            .chain(names)
            .map(String::into_bytes)
            .collect(),
        time_nanos: 1_700_000_000_000_000_000,
        ..File::default()
    };
    let mut bytes = head.encode_to_vec();
    let mut random = 1;
    for _ in 0..stacks {
        random = mixed(random);
        let (mut choices, mut at) = (random, 7);
        let mut locations = Vec::new();
        for _ in 0..DEPTH {
            at = mixed(at ^ (choices % CALLEES));
            choices /= CALLEES;
            locations.push(at % LOCATIONS + 1);
        }
        locations.reverse();
        let thread = random % THREADS;
        let sample = Sample {
            location_id: locations,
            value: vec![1, 1_000_000 + (random % 1_000).cast_signed()],
            label: vec![
                Label { key: 7, str: (first_thread + thread).cast_signed(), num: 0 },
                Label { key: 8, str: 0, num: 1_000 + thread.cast_signed() },
            ],
        };
        let part = File { sample: vec![sample], ..File::default() };
        part.encode(&mut bytes).expect("a Vec has room");
    }
    bytes
}

/// The next number of a sequence that looks random (SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    string_table: Vec<Vec<u8>>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
    #[prost(int64, tag = "3")]
    num: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    memory_start: u64,
    #[prost(uint64, tag = "3")]
    memory_limit: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

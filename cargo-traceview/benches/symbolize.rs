//! How long names take for many addresses of one large program, and how much memory; beside `addr2line` and
//! `llvm-addr2line` with the same addresses, where these are installed.
//!
//! `cargo bench -p cargo-traceview --no-default-features --bench symbolize [-- PROGRAM [ADDRESSES [--compare]]]`
//!
//! Without a program it takes `target/debug/traceview-under-test`, the one with the window. Addresses are spread over
//! all of its code. `--compare` says in addition how many addresses get the same functions, files and lines.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cargo_traceview::image::Image;
use cargo_traceview::symbolize::symbol_table::SymbolTable;
use cargo_traceview::symbolize::{NameCache, Request, Resolved, symbolize_images};

/// First argument of this program when it is to resolve addresses and nothing else, in a process of its own.
const OURS: &str = "--resolve";
/// Runs of ours; the median counts.
const RUNS: usize = 5;

fn main() -> io::Result<()> {
    let mut args: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if args.first().is_some_and(|first| first == OURS) {
        return resolve(Path::new(&args[1]), Path::new(&args[2]));
    }
    let compare = args.iter().position(|argument| argument == "--compare").map(|at| args.remove(at)).is_some();
    let program = args.first().map_or_else(program_with_window, PathBuf::from);
    let count = args.get(1).map_or(5000, |count| count.parse().expect("a number of addresses"));
    let directory = tempfile::tempdir()?;
    let image = Image::open(&program).map_err(io::Error::other)?;
    let list = directory.path().join("addresses");
    fs::write(&list, spread(&image, count).iter().map(|svma| format!("{svma:#x}\n")).collect::<String>())?;
    let mut out = io::stdout().lock();
    let mib = image.data().len() >> 20;
    writeln!(out, "{count} addresses of {} ({mib} MiB), {} processors", program.display(), processors())?;
    // All of it into the page cache: what a disk takes is not ours.
    let _ = std::hint::black_box(image.data().iter().step_by(4096).fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));

    writeln!(out, "{:<24} {:>10} {:>18}", "", "seconds", "anonymous memory")?;
    let ours = || {
        let mut command = Command::new(env::current_exe().expect("this program has a path"));
        command.arg(OURS).arg(&program).arg(&list);
        command
    };
    let cold: Vec<Run> = (0..RUNS)
        .map(|run| {
            measure(ours().env("XDG_CACHE_HOME", directory.path().join(run.to_string())), None, directory.path())
        })
        .collect::<io::Result<_>>()?;
    let cold = report(&mut out, "ours, nothing cached", cold)?;
    let warm: Vec<Run> = (0..RUNS)
        .map(|_| measure(ours().env("XDG_CACHE_HOME", directory.path().join("0")), None, directory.path()))
        .collect::<io::Result<_>>()?;
    let warm = report(&mut out, "ours, cached", warm)?;
    for tool in ["llvm-addr2line", "addr2line"] {
        let mut command = Command::new(tool);
        command.args(["-afiC", "-e"]).arg(&program);
        let Ok(run) = measure(&mut command, Some(&list), directory.path()) else {
            writeln!(out, "{tool:<24} cannot be run here")?;
            continue;
        };
        let (seconds, mib) = (run.time.as_secs_f64(), run.peak_kib / 1024);
        let (cold, warm) = (seconds / cold.as_secs_f64(), seconds / warm.as_secs_f64());
        writeln!(out, "{tool:<24} {seconds:>10.3} {mib:>14} MiB   {cold:.1} and {warm:.1} times ours")?;
    }
    if compare { comparison(&mut out, &program, &list, &mut ours(), directory.path()) } else { Ok(()) }
}

/// Resolves the listed addresses and prints them as `addr2line -afi` does.
fn resolve(program: &Path, list: &Path) -> io::Result<()> {
    let image = Arc::new(Image::open(program).map_err(io::Error::other)?);
    let number = |line: &str| u64::from_str_radix(line.trim_start_matches("0x"), 16).expect("a hex number a line");
    let svmas: Vec<u64> = fs::read_to_string(list)?.lines().map(number).collect();
    let cache = NameCache::locate(env::var_os("XDG_CACHE_HOME").as_deref(), None);
    let resolved = symbolize_images(&[Request { image, svmas: svmas.clone() }], cache.as_ref(), &|_, _| {});
    let mut out = BufWriter::new(io::stdout().lock());
    for (svma, Resolved { frames, .. }) in svmas.iter().zip(&resolved[0].resolved) {
        writeln!(out, "{svma:#018x}")?;
        for frame in frames.iter().rev() {
            let file = frame.file.as_deref().unwrap_or("??");
            let line = frame.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
            writeln!(out, "{}\n{file}:{line}", frame.linkage_name.as_ref().unwrap_or(&frame.name))?;
        }
    }
    out.flush()
}

/// The program under test of a debug build in the target directory that this bench lies in, or the one beside.
fn program_with_window() -> PathBuf {
    let own = env::current_exe().expect("this program has a path");
    let target = own.ancestors().nth(3).expect("it lies in target/PROFILE/deps");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    let candidates = [target, &workspace].map(|target| target.join("debug/traceview-under-test"));
    let [first, second] = candidates;
    if first.exists() { first } else { second }
}

/// Distinct addresses in order, one at a pseudo-random place in each of `count` equal shares of the code; not in the
/// padding between functions, where tools differ in what they take for near enough.
fn spread(image: &Image, count: u64) -> Vec<u64> {
    let text = image.section(".text").expect("a program has code");
    let symbols = SymbolTable::read(&[image], image.code());
    let share = text.bytes.len() as u64 / count;
    let mut state = 1_u64;
    (0..count)
        .map(|index| {
            let mut place = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.svma + index * share + (state >> 33) % share.max(1)
            };
            let first = place();
            std::iter::repeat_with(place).take(100).find(|&svma| symbols.find(svma).is_some()).unwrap_or(first)
        })
        .collect()
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// One run of a program.
struct Run {
    time: Duration,
    /// The most anonymous memory that was seen.
    peak_kib: u64,
}

fn measure(command: &mut Command, input: Option<&Path>, directory: &Path) -> io::Result<Run> {
    command.stdin(input.map_or(Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?);
    command.stdout(File::create(directory.join("answer"))?).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let status = fs::read_to_string(&status_file).unwrap_or_default();
        let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = anonymous.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "{command:?}: {status}");
    Ok(Run { time: start.elapsed(), peak_kib })
}

/// Prints the median run, and gives its time.
fn report(out: &mut dyn Write, what: &str, mut runs: Vec<Run>) -> io::Result<Duration> {
    runs.sort_by_key(|run| run.time);
    let (fastest, median, slowest) = (&runs[0], &runs[runs.len() / 2], &runs[runs.len() - 1]);
    let seconds = median.time.as_secs_f64();
    let mib = runs.iter().map(|run| run.peak_kib).max().unwrap_or(0) / 1024;
    let (low, high) = (fastest.time.as_secs_f64(), slowest.time.as_secs_f64());
    writeln!(out, "{what:<24} {seconds:>10.3} {mib:>14} MiB   {low:.3} to {high:.3}")?;
    Ok(median.time)
}

/// How many addresses have the same functions, files and lines as others give them, with some that have not.
fn comparison(out: &mut dyn Write, program: &Path, list: &Path, ours: &mut Command, place: &Path) -> io::Result<()> {
    const SHOWN: usize = 5;
    let ours = answers(ours, None, place)?;
    for tool in ["llvm-addr2line", "addr2line"] {
        let mut command = Command::new(tool);
        command.args(["-afi", "-e"]).arg(program);
        let Ok(theirs) = answers(&mut command, Some(list), place) else { continue };
        let mut different: Vec<_> = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).collect();
        writeln!(out, "\n{tool}: {} of {} addresses the same", ours.len() - different.len(), theirs.len())?;
        different.truncate(SHOWN);
        for (ours, theirs) in different {
            writeln!(out, "ours: {ours:#?}\ntheirs: {theirs:#?}")?;
        }
    }
    Ok(())
}

/// The lines printed for each address.
fn answers(command: &mut Command, input: Option<&Path>, directory: &Path) -> io::Result<Vec<Vec<String>>> {
    measure(command, input, directory)?;
    let mut answers: Vec<Vec<String>> = Vec::new();
    for line in fs::read_to_string(directory.join("answer"))?.lines() {
        // Discriminators are no concern of ours, and line 0 is none.
        let line = line.split(" (discriminator").next().unwrap_or(line);
        let line = line.strip_suffix(":0").map_or_else(|| line.to_owned(), |file| format!("{file}:?"));
        if line.starts_with("0x") && !line.contains(':') {
            answers.push(Vec::new());
        } else if let Some(answer) = answers.last_mut() {
            answer.push(line);
        }
    }
    Ok(answers)
}

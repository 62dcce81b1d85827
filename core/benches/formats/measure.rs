//! Cases, each in a process of its own.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use traceview_core::format::{self, ReadOptions, WriteOptions};

use super::Outcome;

/// How often a case runs in its process; the fastest counts.
const RUNS: usize = 3;

/// What is measured.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Read,
    Value,
    Write,
}

/// The figures of a case.
pub(crate) struct Figures {
    pub(crate) seconds: f64,
    /// Most memory that the process had, with the file in it.
    pub(crate) peak: usize,
    /// What was written, if something was.
    pub(crate) bytes: usize,
}

impl Case {
    const ALL: [(Self, &str); 3] = [(Self::Read, "read"), (Self::Value, "value"), (Self::Write, "write")];

    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Value => "value",
            Self::Write => "write",
        }
    }
}

/// A folder for a generated file.
pub(crate) fn scratch_directory() -> io::Result<PathBuf> {
    let directory = std::env::temp_dir().join(format!("traceview-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Runs a case as a process of its own.
pub(crate) fn child(case: Case, path: &Path) -> Result<Figures, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).arg(case.name()).arg(path).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", case.name(), output.status).into());
    }
    figures(&String::from_utf8(output.stdout)?)
}

/// Runs `JSON.parse`; `None` without Node.
pub(crate) fn node(path: &Path) -> Result<Option<Figures>, Box<dyn Error>> {
    const SCRIPT: &str = "
        const text = require('fs').readFileSync(process.argv[1], 'utf8');
        // Of the main thread, like ours; the collector's helpers come on top.
        const cpu = () => Number(require('fs').readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e9;
        let best = Infinity;
        for (let run = 0; run < 3; run++) {
            const start = cpu();
            const value = JSON.parse(text);
            best = Math.min(best, cpu() - start);
            if (!value.meta) throw new Error('not the file');
        }
        const status = require('fs').readFileSync('/proc/self/status', 'utf8');
        console.log(best, Number(/VmHWM:\\s*(\\d+)/.exec(status)[1]) * 1024, 0);
    ";
    match Command::new("node").args(["--max-old-space-size=8192", "-e", SCRIPT]).arg(path).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(output) if output.status.success() => Ok(Some(figures(&String::from_utf8(output.stdout)?)?)),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// What the process of a case does.
pub(crate) fn run_case(case: &str, path: &str) -> Outcome {
    let case = Case::ALL.iter().find(|(_, name)| *name == case).ok_or("no such case")?.0;
    let bytes = std::fs::read(path)?;
    let mut written = 0;
    let mut best = f64::INFINITY;
    let profile = match case {
        Case::Write => Some(format::read(&bytes, &ReadOptions::default())?.profile),
        Case::Read | Case::Value => None,
    };
    for _ in 0..RUNS {
        let start = cpu_time()?;
        match (case, &profile) {
            (Case::Write, Some(profile)) => {
                let mut out = Counter(0);
                let target = format::Target { gzip: false, ..format::by_name("firefox")?.target() };
                format::write(profile, target, &WriteOptions::default(), &mut out)?;
                written = out.0;
            }
            (Case::Value, _) => drop(black_box(serde_json::from_slice::<serde_json::Value>(&bytes)?)),
            _ => drop(black_box(format::read(&bytes, &ReadOptions::default())?)),
        }
        best = best.min(cpu_time()? - start);
    }
    println!("{best} {} {written}", peak()?);
    Ok(())
}

fn figures(line: &str) -> Result<Figures, Box<dyn Error>> {
    let mut words = line.split_whitespace();
    let mut next = || words.next().ok_or("too few figures");
    Ok(Figures { seconds: next()?.parse()?, peak: next()?.parse()?, bytes: next()?.parse()? })
}

/// CPU time of this thread in seconds: what else runs on the machine disturbs it less than the time on the wall.
fn cpu_time() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos: u64 = text.split_whitespace().next().ok_or("no schedstat")?.parse()?;
    Ok(std::time::Duration::from_nanos(nanos).as_secs_f64())
}

/// Most memory that this process has had.
fn peak() -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kibibytes: usize = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes << 10)
}

/// Counts what is written.
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

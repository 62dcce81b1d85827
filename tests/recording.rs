//! What a recording says, asked through the program's own command line.

use std::path::PathBuf;

use serde_json::Value;
use traceview_core::format::{self, ReadOptions};
use traceview_core::model::Profile;

use crate::firefox;
use crate::process::Finished;
use crate::profiler::Profiler;

/// A workload that was recorded.
#[derive(Debug)]
pub struct Recorded<'a> {
    profiler: &'a Profiler,
    /// How the profiler ended, and what it and the workload printed.
    pub finished: Finished,
    /// The file.
    pub path: PathBuf,
}

impl<'a> Recorded<'a> {
    /// What was saved at `path`.
    ///
    /// # Panics
    /// When nothing was.
    #[must_use]
    pub fn new(profiler: &'a Profiler, finished: Finished, path: PathBuf) -> Self {
        assert!(path.exists(), "no recording was saved; exit {}, stderr:\n{}", finished.code, finished.stderr);
        assert!(!finished.stderr.contains("panicked at cargo-traceview"), "{}", finished.stderr);
        Self { profiler, finished, path }
    }

    /// The truth that the workload printed as its last line.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn truth(&self) -> Value {
        truth(&self.finished)
    }

    /// `info --json`.
    #[must_use]
    pub fn info(&self) -> Value {
        self.json(&["info", "--json"])
    }

    /// `report --json` with further flags.
    #[must_use]
    pub fn report(&self, flags: &[&str]) -> Value {
        self.json(&[&["report", "--json"], flags].concat())
    }

    /// The file itself.
    #[must_use]
    pub fn file(&self) -> firefox::File {
        firefox::File::read(&self.path)
    }

    /// The file as a reader of the format sees it.
    ///
    /// # Panics
    /// When it is not readable.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let bytes = std::fs::read(&self.path).expect("it was saved");
        format::read(&bytes, &ReadOptions::default()).expect("our own files are valid").profile
    }

    /// CPU nanoseconds of all threads of that name, as `info` says.
    ///
    /// # Panics
    /// When no thread has it.
    #[must_use]
    pub fn cpu_of_thread(&self, name: &str) -> u64 {
        let info = self.info();
        let threads = info["threads"].as_array().expect("info lists threads");
        let of_name: Vec<u64> =
            threads.iter().filter(|thread| thread["name"] == name).map(|thread| number(thread, "cpu_ns")).collect();
        assert!(!of_name.is_empty(), "no thread `{name}` in {threads:?}");
        of_name.iter().sum()
    }

    /// For each function of the workload `shares`: its name, its percentage of their sampled CPU time, and the true one.
    #[must_use]
    pub fn shares(&self) -> [(&'static str, f64, f64); 3] {
        const FUNCTIONS: [&str; 3] = ["seventy", "twenty", "ten"];
        let (file, truth) = (self.file(), self.truth());
        let sampled = FUNCTIONS.map(|function| file.cpu_below(function));
        let measured = FUNCTIONS.map(|function| number(&truth, function));
        let percentages = |times: [u64; 3]| times.map(|time| percentage(time, times.iter().sum()));
        let (sampled, measured) = (percentages(sampled), percentages(measured));
        [0, 1, 2].map(|index| (FUNCTIONS[index], sampled[index], measured[index]))
    }

    fn json(&self, args: &[&str]) -> Value {
        let mut command = self.profiler.command(args);
        let finished = crate::process::finish(command.arg(&self.path), b"");
        assert_eq!(finished.code, 0, "{args:?}: {}", finished.stderr);
        serde_json::from_slice(&finished.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", finished.text()))
    }
}

/// The last line of stdout, which is the workload's truth.
///
/// # Panics
/// When it is not JSON.
#[must_use]
pub fn truth(finished: &Finished) -> Value {
    let line = finished.text().lines().last();
    let line =
        line.unwrap_or_else(|| panic!("nothing on stdout; exit {}, stderr:\n{}", finished.code, finished.stderr));
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in the workload's last line: {line}"))
}

/// A number of an object.
///
/// # Panics
/// When it is missing or negative.
#[must_use]
pub fn number(object: &Value, name: &str) -> u64 {
    object[name].as_u64().unwrap_or_else(|| panic!("no number `{name}` in {object}"))
}

/// A percentage of an object.
///
/// # Panics
/// When it is missing.
#[must_use]
pub fn percent(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("no percentage `{name}` in {object}"))
}

/// `part` of `whole` in percent.
#[must_use]
pub fn percentage(part: u64, whole: u64) -> f64 {
    // Nanoseconds of some seconds are exact in a double.
    100.0 * part as f64 / whole as f64
}

/// The rows of a report whose function has this name as its last path segment, their total percentages added.
///
/// # Panics
/// When the report has no rows.
#[must_use]
pub fn total_percent(report: &Value, function: &str) -> f64 {
    let rows = report["rows"].as_array().unwrap_or_else(|| panic!("no rows in {report}"));
    let named = rows.iter().filter(|row| row["name"].as_str().is_some_and(|name| firefox::is_function(name, function)));
    named.map(|row| percent(row, "total_percent")).sum()
}

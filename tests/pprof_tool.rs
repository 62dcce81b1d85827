//! Go's `pprof`, which judges the files that are written for it, and what it prints.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::finish;

/// The tool, with a directory for what it writes.
#[derive(Debug)]
pub struct PprofTool {
    directory: TempDir,
}

/// A function in the tool's list: nanoseconds in itself, and with what it called.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FunctionTime {
    /// In itself.
    pub flat: u64,
    /// With what it called.
    pub total: u64,
}

/// What the tool makes of a file.
#[derive(Debug)]
pub struct RawFile {
    /// The values of each sample and its locations, innermost first, in order.
    pub samples: Vec<(Vec<u64>, Vec<i64>)>,
    /// The lines on locations.
    pub locations: Vec<String>,
    /// The lines on mappings.
    pub mappings: Vec<String>,
}

impl PprofTool {
    /// The tool.
    ///
    /// # Panics
    /// When there is no place for temporary files.
    #[must_use]
    pub fn new() -> Self {
        Self { directory: tempfile::Builder::new().prefix("traceview-pprof-").tempdir().expect("a directory") }
    }

    /// What the tool prints with these arguments, parted at blanks, about these files.
    ///
    /// # Panics
    /// When it fails, or complains about anything.
    #[must_use]
    pub fn run(&self, args: &str, files: &[&Path]) -> String {
        let mut command = Command::new("go");
        command.args(["tool", "pprof"]).args(args.split_whitespace()).args(files);
        command
            .current_dir(&self.directory)
            .env("PPROF_TMPDIR", self.directory.path())
            .env("HOME", self.directory.path());
        // Nothing is fetched, whatever the user's settings are.
        command.env("GOFLAGS", "").env("GOPROXY", "off").env("GOTOOLCHAIN", "local").env_remove("PPROF_BINARY_PATH");
        let finished = finish(&mut command, b"");
        assert_eq!(finished.code, 0, "pprof {args}: {}", finished.stderr);
        assert_eq!(finished.stderr, "", "pprof {args} complains");
        assert!(!finished.stdout.is_empty(), "pprof {args} prints nothing");
        finished.text().to_owned()
    }

    /// The file, read by the tool and written again.
    ///
    /// # Panics
    /// When the tool or the file system fails.
    #[must_use]
    pub fn rewritten(&self, file: &Path) -> PathBuf {
        let path = self.directory.path().join("rewritten.pb.gz");
        let mut command = Command::new("go");
        command.args(["tool", "pprof", "-proto", "-symbolize=none", "-output"]).arg(&path).arg(file);
        let finished = finish(command.env("PPROF_TMPDIR", self.directory.path()), b"");
        assert_eq!((finished.code, finished.stderr.lines().count()), (0, 1), "{}", finished.stderr);
        path
    }

    /// All functions of a file. `flags` can say how names are found.
    ///
    /// # Panics
    /// When the tool prints something unexpected.
    #[must_use]
    pub fn functions(&self, flags: &str, files: &[&Path]) -> BTreeMap<String, FunctionTime> {
        let all = "-top -unit=ns -nodecount=100000 -nodefraction=0 -edgefraction=0 -sample_index=cpu";
        let text = self.run(&format!("{all} {flags}"), files);
        let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with("flat "));
        lines.next().unwrap_or_else(|| panic!("no table in: {text}"));
        let mut functions: BTreeMap<String, FunctionTime> = BTreeMap::new();
        for line in lines {
            // flat flat% sum% cum cum% name
            let mut rest = line;
            let columns = [(); 5].map(|()| {
                let (word, tail) = rest.trim_start().split_once(' ').unwrap_or_else(|| panic!("{line}"));
                rest = tail;
                word
            });
            let name = rest.trim_start();
            let name = name.strip_suffix(" (inline)").or(name.strip_suffix(" (partial-inline)")).unwrap_or(name);
            let function = functions.entry(name.to_owned()).or_default();
            function.flat += nanoseconds(columns[0]);
            function.total += nanoseconds(columns[3]);
        }
        functions
    }

    /// The tables of a file, or of several merged.
    ///
    /// # Panics
    /// When the tool prints something unexpected.
    #[must_use]
    pub fn raw(&self, files: &[&Path]) -> RawFile {
        let text = self.run("-raw -symbolize=none", files);
        let mut raw = RawFile { samples: Vec::new(), locations: Vec::new(), mappings: Vec::new() };
        let mut part = "";
        for line in text.lines() {
            match line {
                "Samples:" | "Locations" | "Mappings" => part = line,
                _ if part == "Locations" => raw.locations.push(line.to_owned()),
                _ if part == "Mappings" => raw.mappings.push(line.to_owned()),
                _ if part == "Samples:" => raw.samples.extend(sample(line)),
                _ => {}
            }
        }
        raw
    }
}

impl Default for PprofTool {
    fn default() -> Self {
        Self::new()
    }
}

/// `  3  3000000: 1 2 7`; lines of labels, and the one of the types, are none.
fn sample(line: &str) -> Option<(Vec<u64>, Vec<i64>)> {
    let (values, locations) = line.split_once(": ")?;
    let values = values.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let locations = locations.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    Some((locations, values))
}

/// `1234ns`, or a bare 0.
fn nanoseconds(text: &str) -> u64 {
    let number = text.strip_suffix("ns").unwrap_or(text);
    number.parse().unwrap_or_else(|_| panic!("`{text}` are no nanoseconds"))
}

//! What Go's `pprof` makes of files that we write of other tools' files: the same totals and tops as of the original.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use traceview_core::format::{self, WriteOptions};

use crate::fixtures::read;
use crate::pprof::{amount, number, readable};

/// A directory of this test's own, gone when it is over.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("traceview-formats-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(path)
    }

    /// What the tool prints about a file; it must not complain.
    fn pprof(&self, args: &str, file: &Path) -> String {
        let mut command = Command::new("go");
        command.args(["tool", "pprof"]).args(args.split_whitespace()).arg(file);
        command.current_dir(&self.0).env("HOME", &self.0).env("PPROF_TMPDIR", &self.0);
        command.env("GOFLAGS", "").env("GOPROXY", "off").env("GOTOOLCHAIN", "local");
        let output = command.output().expect("the tool can be started");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{args} {}: {stderr}", file.display());
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

fn has_go() -> bool {
    let has = Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    assert!(has || std::env::var_os("CI").is_none_or(|ci| ci != "true"), "go is missing");
    has
}

/// A file that was not written here.
fn original(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(path)
}

/// The sums of the values in what `-raw` prints: `1 2: 3 4 5` is values and locations.
fn sums(raw: &str) -> (usize, Vec<i64>) {
    let mut lines = raw.lines().skip_while(|line| *line != "Samples:").skip(2).take_while(|line| *line != "Locations");
    let (mut count, mut sums) = (0, Vec::new());
    for line in &mut lines {
        // Labels stand on lines of their own.
        let Some((values, _)) = line.split_once(':') else { continue };
        let values: Result<Vec<i64>, _> = values.split_whitespace().map(str::parse).collect();
        let Ok(values) = values else { continue };
        sums.resize(values.len(), 0);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        count += 1;
    }
    (count, sums)
}

/// Self and total by name in what `-top` prints.
fn top(text: &str) -> BTreeMap<String, (i64, i64)> {
    let rows = text.lines().skip_while(|line| !line.trim_start().starts_with("flat")).skip(1);
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| amount(&word.into());
        let name = words[5..].join(" ");
        let name = name.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
        (name.replace("[unknown]", "<unknown>"), (number(words[0]), number(words[3])))
    };
    rows.map(row).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the code does no I/O, its tests write files")]
fn pprof_sees_in_our_files_what_it_sees_in_the_originals() {
    if !has_go() {
        eprintln!("skipped: there is no go");
        return;
    }
    let directory = Directory::new();
    let file = directory.0.join("ours.pb.gz");
    for (path, expected) in readable() {
        let profile = read(&path).expect("it is readable").profile;
        let mut bytes = Vec::new();
        let target = format::by_name("pprof").expect("a format").target();
        format::write(&profile, target, &WriteOptions::default(), &mut bytes).expect("memory does not fail");
        std::fs::write(&file, &bytes).expect("there is room");

        let raw = |file: &Path| sums(&directory.pprof("-symbolize=none -raw", file));
        // The tool adds equal samples up.
        assert_eq!(raw(&file), raw(&original(&path)), "{path}");
        let totals: Vec<i64> = expected["totals"].as_array().expect("totals").iter().map(number).collect();
        assert_eq!(raw(&file).1, totals, "{path}");

        let is_time = expected["top"][0]["flat"].as_str().is_some_and(|flat| flat.ends_with("ns"));
        let unit = if is_time { "nanoseconds" } else { "bytes" };
        let args = format!("-symbolize=none -top -nodecount=100000 -nodefraction=0 -unit={unit}");
        let found = top(&directory.pprof(&args, &file));
        for key in ["top", "top_cum"] {
            for row in expected[key].as_array().expect("rows") {
                let name = row["name"].as_str().expect("a name");
                let name = name.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
                let amounts = (amount(&row["flat"]), amount(&row["cum"]));
                assert_eq!(found.get(name), Some(&amounts), "{path} {name}");
            }
        }
    }
}

//! What reading and writing large files costs, one core:
//!
//! ```sh
//! cargo bench -p traceview-core --bench formats          # Firefox profiles of 25 and 100 MB, and the one of 681 threads
//! cargo bench -p traceview-core --bench formats -- 400   # of 400 MB
//! ```
//!
//! Each case runs as a process of its own, so that its peak memory is its own. Ratios are against `serde_json::Value` and
//! Node's `JSON.parse` on the same bytes in the same run: times alone say little on another machine.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark reads files and prints its figures")]

mod firefox;
mod measure;

use std::error::Error;
use std::io::Read;
use std::path::Path;

use measure::{Case, Figures};

const FIXTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/gecko/samply-0.13-cargo-build-large.json.gz");

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [case, path] = &args[..] {
        return measure::run_case(case, path);
    }
    let sizes = args.iter().map(|arg| arg.parse()).collect::<Result<Vec<usize>, _>>()?;
    let directory = measure::scratch_directory()?;
    let path = directory.join("profile.json");
    for megabytes in if sizes.is_empty() { &[25, 100] } else { &sizes[..] } {
        let size = firefox::generate(&path, megabytes << 20)?;
        println!("a Firefox profile of {:.1} MB:", size as f64 / 1e6);
        compare(&path, size)?;
    }
    if sizes.is_empty() {
        // Each thread has tables of its own.
        let mut text = Vec::new();
        flate2::read::MultiGzDecoder::new(&std::fs::read(FIXTURE)?[..]).read_to_end(&mut text)?;
        std::fs::write(&path, &text)?;
        println!("681 threads, {:.1} MB:", text.len() as f64 / 1e6);
        compare(&path, text.len())?;
    }
    Ok(std::fs::remove_dir_all(directory)?)
}

fn compare(path: &Path, size: usize) -> Outcome {
    let ours = measure::child(Case::Read, path)?;
    report("read into the model", &ours, size, None);
    report("  serde_json::Value", &measure::child(Case::Value, path)?, size, Some(&ours));
    match measure::node(path)? {
        Some(node) => report("  JSON.parse of Node", &node, size, Some(&ours)),
        None => println!("  JSON.parse of Node: skipped, there is no node"),
    }
    let write = measure::child(Case::Write, path)?;
    report("write version 64, not compressed", &write, write.bytes, None);
    Ok(())
}

fn report(what: &str, figures: &Figures, size: usize, ours: Option<&Figures>) {
    let seconds = figures.seconds;
    let rate = size as f64 / 1e6 / seconds;
    let memory = figures.peak as f64 / size as f64;
    let ratio = ours.map_or_else(String::new, |ours| format!(", {:.2}× our time", seconds / ours.seconds));
    println!("  {what:34} {seconds:7.3} s {rate:7.0} MB/s, peak {memory:4.2}× the file{ratio}");
}

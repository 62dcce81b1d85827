//! The rules of the house that a reader of the code relies on.

use std::fs;
use std::path::{Path, PathBuf};

/// The packages that are shipped; the workloads are made of what the others must not do.
const SHIPPED: [&str; 3] = ["core", "viewer", "cargo-traceview"];
/// The only files with unsafe code.
const UNSAFE: [&str; 2] = ["cargo-traceview/src/sampler/ptrace/sys.rs", "cargo-traceview/src/image/map.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lies in the workspace").to_path_buf()
}

/// Path (from the root) and text of each Rust file below these directories.
fn sources(directories: &[&str]) -> Vec<(String, String)> {
    let mut open: Vec<PathBuf> = directories.iter().map(|directory| root().join(directory)).collect();
    let mut files = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
            let path = entry.expect("the directory can be read").path();
            let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                open.push(path);
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let path = path.strip_prefix(root()).expect("it lies below").to_string_lossy().into_owned();
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty(), "no sources in {directories:?}");
    files
}

/// The code of a line: no comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

fn all() -> Vec<(String, String)> {
    sources(&[&SHIPPED[..], &["tests"]].concat())
}

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

/// The lines of the files for which the condition holds, as `path:line: text`.
fn lines_where(files: &[(String, String)], condition: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let lines =
        files.iter().flat_map(|(path, text)| text.lines().enumerate().map(move |(index, line)| (path, index, line)));
    lines
        .filter(|(path, _, line)| condition(path, line))
        .map(|(path, index, line)| format!("{path}:{}: {}", index + 1, line.trim()))
        .collect()
}

#[test]
fn every_file_says_what_it_is() {
    let files = all();
    let silent: Vec<String> =
        files.iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(path, _)| path.clone()).collect();
    assert_none(&silent, "a file opens with `//!` and what it is for");
}

#[test]
fn files_are_short_enough_to_be_read() {
    let files = all();
    let long: Vec<String> = files
        .iter()
        .filter(|(_, text)| text.lines().count() > 800)
        .map(|(path, text)| format!("{path}: {} lines", text.lines().count()))
        .collect();
    assert_none(&long, "at most 800 lines a file");
}

#[test]
fn dependencies_point_one_way() {
    for (package, forbidden) in
        [("core", &["traceview-viewer", "cargo-traceview"][..]), ("viewer", &["cargo-traceview"][..])]
    {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).expect("packages have manifests");
        let keys: Vec<&str> = manifest.lines().filter_map(|line| line.split(['=', '.', ' ']).next()).collect();
        for name in forbidden {
            assert!(!keys.contains(name), "{package} must not depend on {name}");
        }
    }
}

#[test]
fn unsafe_code_stands_in_two_files() {
    let found = lines_where(&sources(&SHIPPED), |path, line| {
        let is_code = code(line).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
        is_code && !UNSAFE.contains(&path)
    });
    assert_none(&found, "unsafe code elsewhere");
}

#[test]
fn lints_are_expected_not_allowed() {
    // Spelled so that this file does not find itself.
    let attributes = ["#[", "#!["].map(|start| format!("{start}{}(", "allow"));
    let found =
        lines_where(&all(), |_, line| attributes.iter().any(|attribute| code(line).contains(attribute.as_str())));
    assert_none(&found, "use #[expect(lint, reason = \"…\")]");
}

#[test]
fn the_process_ends_in_main_only() {
    let call = format!("process::{}(", "exit");
    let found =
        lines_where(&sources(&SHIPPED), |path, line| code(line).contains(&call) && !path.ends_with("src/main.rs"));
    assert_none(&found, "return an exit code instead");
}

#[test]
fn the_readmes_test_command_is_the_one_that_ci_runs() {
    let command = "cargo test --workspace --locked";
    for file in ["README.md", ".ci/run"] {
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains(command), "`{command}` is missing in {file}");
    }
}

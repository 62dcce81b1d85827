//! The workloads, built once for all tests of a run.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The executable of a workload.
///
/// # Panics
/// When the workloads do not build, or none has that name.
#[must_use]
pub fn workload(name: &str) -> PathBuf {
    static BUILT: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    built.get(name).unwrap_or_else(|| panic!("no workload `{name}`; there are {:?}", built.keys())).clone()
}

/// The target directory of the running test.
#[must_use]
pub fn target_directory() -> PathBuf {
    let test = env::current_exe().expect("/proc is mounted");
    // target/PROFILE/deps/TEST
    test.ancestors().nth(3).expect("tests lie three directories deep").to_path_buf()
}

/// The cargo that runs the tests.
#[must_use]
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn build() -> HashMap<String, PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/Cargo.toml");
    let output = cargo()
        .args(["build", "--locked", "--message-format=json-render-diagnostics", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target_directory())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the workloads do not build: {}", output.status);
    let messages = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    messages
        .map(|line| serde_json::from_slice::<Value>(line).expect("cargo's messages are JSON"))
        .filter_map(|message| {
            let executable = message["executable"].as_str()?;
            Some((message["target"]["name"].as_str()?.to_owned(), executable.into()))
        })
        .collect()
}

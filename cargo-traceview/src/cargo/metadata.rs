//! Asks cargo what the project consists of.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Metadata, MetadataCommand};
use serde::Deserialize;
use thiserror::Error;

use super::options::CargoOptions;
use super::variables::Variables;

/// Why cargo did not say.
#[derive(Debug, Error)]
pub enum MetadataError {
    /// No `Cargo.toml` here or above.
    #[error(
        "there is no Cargo.toml in `{}` or above it; \
         change to a cargo project, or record any program with `cargo traceview record -- PROGRAM`",
        .0.display()
    )]
    NoProject(PathBuf),
    /// Cargo did not start.
    #[error("can't run `{}`; is cargo installed and in PATH?", .program.display())]
    Start {
        /// What was to be started.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Cargo refused; it says why.
    #[error("cargo can't read this project: {}", .0.trim().trim_start_matches("error: "))]
    Refused(String),
    /// Cargo's answer can't be understood.
    #[error("cargo's description of this project can't be understood")]
    Answer(#[source] cargo_metadata::Error),
}

/// A project as cargo describes it.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its packages and directories.
    pub metadata: Metadata,
    /// Each package's `rust-version` as its manifest has it, by package id. [`Metadata`] completes it to three numbers.
    pub rust_versions: HashMap<String, String>,
}

/// The part of the description that [`Metadata`] does not keep as it is.
#[derive(Deserialize)]
struct Packages {
    packages: Vec<RustVersion>,
}

#[derive(Deserialize)]
struct RustVersion {
    id: String,
    rust_version: Option<String>,
}

/// Asks `cargo metadata`, with the flags that `cargo build` will get.
///
/// # Errors
/// When there is no project, or cargo does not answer.
pub fn query(
    cargo: &Path,
    options: &CargoOptions,
    cwd: &Path,
    variables: &Variables,
) -> Result<Project, MetadataError> {
    if options.manifest_path.is_none() && !cwd.ancestors().any(|directory| directory.join("Cargo.toml").is_file()) {
        return Err(MetadataError::NoProject(cwd.to_path_buf()));
    }
    // The targets are all in the workspace's own packages, so no dependency needs to be resolved or fetched.
    let mut command = Command::new(cargo);
    variables
        .apply(&mut command)
        .args(["metadata", "--format-version=1", "--no-deps"])
        .current_dir(cwd)
        .stdin(Stdio::null());
    options.add_common_flags(&mut command);
    if let Some(target_dir) = &options.target_dir {
        // `metadata` has no such flag; the variable stands right below it.
        command.env("CARGO_TARGET_DIR", target_dir);
    }
    let output = command.output().map_err(|source| MetadataError::Start { program: cargo.to_path_buf(), source })?;
    if !output.status.success() {
        return Err(MetadataError::Refused(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let metadata = MetadataCommand::parse(String::from_utf8_lossy(&output.stdout)).map_err(MetadataError::Answer)?;
    let Packages { packages } =
        serde_json::from_slice(&output.stdout).map_err(|error| MetadataError::Answer(error.into()))?;
    let rust_versions = packages.into_iter().filter_map(|package| Some((package.id, package.rust_version?))).collect();
    Ok(Project { metadata, rust_versions })
}

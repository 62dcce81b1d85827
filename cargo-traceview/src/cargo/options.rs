//! Cargo's flags as typed by the user, under cargo's own names and with cargo's meaning.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

/// What to build, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct CargoOptions {
    /// Package to run
    #[arg(short, long, value_name = "SPEC")]
    pub package: Option<String>,
    /// Binary to run
    #[arg(long, value_name = "NAME", conflicts_with = "example")]
    pub bin: Option<String>,
    /// Example to run
    #[arg(long, value_name = "NAME")]
    pub example: Option<String>,
    /// Features to activate, separated by spaces or commas
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
    /// Build with this profile of cargo's (default: `traceview` if the project has one, otherwise release)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dev", "release"])]
    pub profile: Option<String>,
    /// Build with the dev profile: without optimizations, quick to compile
    #[arg(long, conflicts_with = "release")]
    pub dev: bool,
    /// Build with the release profile
    #[arg(short, long)]
    pub release: bool,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
    /// Number of parallel jobs
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub jobs: Option<String>,
    /// Fail if Cargo.lock would have to change
    #[arg(long)]
    pub locked: bool,
    /// Build without accessing the network
    #[arg(long)]
    pub offline: bool,
    /// Like --locked and --offline together
    #[arg(long)]
    pub frozen: bool,
    /// Override a cargo configuration value
    #[arg(long, value_name = "KEY=VALUE|PATH")]
    pub config: Vec<OsString>,
    /// Let cargo say more (-vv for very verbose)
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,
    /// Let cargo print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl CargoOptions {
    /// The flags that mean the same to each of cargo's commands.
    pub(super) fn add_common_flags(&self, command: &mut Command) {
        for features in &self.features {
            command.arg("--features").arg(features);
        }
        for (given, flag) in [
            (self.all_features, "--all-features"),
            (self.no_default_features, "--no-default-features"),
            (self.locked, "--locked"),
            (self.offline, "--offline"),
            (self.frozen, "--frozen"),
        ] {
            if given {
                command.arg(flag);
            }
        }
        if let Some(path) = &self.manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        for setting in &self.config {
            command.arg("--config").arg(setting);
        }
    }

    /// The flags that are for `cargo build` alone; which target and which profile is not among them.
    pub(super) fn add_build_flags(&self, command: &mut Command) {
        self.add_common_flags(command);
        if let Some(package) = &self.package {
            command.arg("--package").arg(package);
        }
        if let Some(directory) = &self.target_dir {
            command.arg("--target-dir").arg(directory);
        }
        if let Some(jobs) = &self.jobs {
            command.arg(format!("--jobs={jobs}"));
        }
        for _ in 0..self.verbose {
            command.arg("--verbose");
        }
        if self.quiet {
            command.arg("--quiet");
        }
    }
}

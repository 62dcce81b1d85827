//! Everything between cargo's flags and an executable that is ready to be started: which target, which profile, which
//! rustflags, the build itself, and the environment that `cargo run` would give.

pub mod compile;
pub mod config;
pub mod environment;
pub mod metadata;
pub mod options;
pub mod profile;
pub mod rustc;
pub mod rustflags;
pub mod target;
pub mod variables;
pub mod watched;
pub mod workspace;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;
use toml::Table;

pub use compile::CompileError;
pub use config::ConfigError;
pub use metadata::MetadataError;
pub use options::CargoOptions;
pub use profile::{ProfileChoice, UnknownProfile};
pub use rustc::RustcError;
pub use target::TargetError;
pub use variables::Variables;
pub use watched::WatchedPackages;
pub use workspace::Workspace;

use crate::exit_code::ExitCode;
use config::CargoConfig;
use environment::Context;
use metadata::Project;
use rustc::Rustc;
use rustflags::Rustflags;
use target::ChosenTarget;

/// A program that cargo built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The executable, absolute.
    pub executable: PathBuf,
    /// The target's name.
    pub target: String,
    /// The package's name.
    pub package: String,
    /// The workspace that it is part of.
    pub workspace: Workspace,
    /// Where a recording must not look like a changed source file.
    pub watched: WatchedPackages,
    /// Variables to set besides our own, as `cargo run` does.
    pub env: Vec<(OsString, OsString)>,
    /// The profile that it was built with.
    pub profile: ProfileChoice,
    /// Whether its Rust code was compiled with frame pointers.
    pub frame_pointers: bool,
    /// The compiler, as it names itself.
    pub rustc_version: String,
}

/// What will be built, and how.
#[derive(Debug)]
pub struct BuildPlan {
    cargo: PathBuf,
    cwd: PathBuf,
    options: CargoOptions,
    project: Project,
    config: CargoConfig,
    rustc: Rustc,
    target: ChosenTarget,
    profile: ProfileChoice,
    rustflags: Rustflags,
}

/// Why there is no executable.
#[derive(Debug, ThisError)]
pub enum Error {
    /// Cargo could not describe the project.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// No target could be chosen.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The profile is missing.
    #[error(transparent)]
    Profile(#[from] UnknownProfile),
    /// Cargo's configuration can't be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The compiler could not be asked.
    #[error(transparent)]
    Rustc(#[from] RustcError),
    /// The build failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl Error {
    /// The exit status that goes with it: 2 where other flags would help, otherwise cargo's.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Target(_) | Self::Profile(_) | Self::Metadata(MetadataError::NoProject(_)) => ExitCode::Usage,
            Self::Metadata(_) | Self::Config(_) | Self::Rustc(_) | Self::Compile(_) => ExitCode::BuildFailed,
        }
    }
}

impl BuildPlan {
    /// Decides what to build, in this directory and with these environment variables.
    ///
    /// # Errors
    /// When there is no project, no such target, or cargo's configuration is broken.
    pub fn new(options: &CargoOptions, cwd: &Path, variables: Variables) -> Result<Self, Error> {
        let cargo = variables.get_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
        let project = metadata::query(&cargo, options, cwd, &variables)?;
        let target = ChosenTarget::new(options, &project.metadata)?;
        let config = CargoConfig::load(cwd, &options.config, variables)?;
        let manifest = root_manifest(project.metadata.workspace_root.as_std_path())?;
        let profile = ProfileChoice::new(options, &manifest, &config)?;
        let rustc = Rustc::query(&config, cwd)?;
        let rustflags = if profile.unchanged {
            Rustflags::unchanged(&config, &rustc)
        } else {
            Rustflags::with_frame_pointers(&config, &rustc)
        };
        Ok(Self {
            cargo,
            cwd: cwd.to_path_buf(),
            options: options.clone(),
            project,
            config,
            rustc,
            target,
            profile,
            rustflags,
        })
    }

    /// The profile that will be built with.
    #[must_use]
    pub fn profile(&self) -> &ProfileChoice {
        &self.profile
    }

    /// Whether the program will have frame pointers.
    #[must_use]
    pub fn frame_pointers(&self) -> bool {
        self.rustflags.frame_pointers
    }

    /// Builds it.
    ///
    /// # Errors
    /// When the build fails.
    pub fn build(self) -> Result<Built, Error> {
        let artifacts = compile::compile(&self)?;
        let cargo = self.cargo_for_program();
        let context = Context {
            cargo: &cargo,
            project: &self.project,
            config: &self.config,
            rustc: &self.rustc,
            target: &self.target,
            artifacts: &artifacts,
        };
        Ok(Built {
            env: context.variables(),
            executable: artifacts.executable,
            target: self.target.name,
            package: self.target.package.name.to_string(),
            watched: WatchedPackages::of(&self.project.metadata),
            workspace: Workspace::of_metadata(&self.project.metadata),
            profile: self.profile,
            frame_pointers: self.rustflags.frame_pointers,
            rustc_version: self.rustc.version,
        })
    }

    /// `CARGO` as the program sees it. If cargo did not start us it is the one beside the compiler, which is what cargo
    /// says of itself.
    fn cargo_for_program(&self) -> PathBuf {
        let beside = self.rustc.sysroot.join("bin/cargo");
        if self.cargo.is_absolute() || !beside.is_file() { self.cargo.clone() } else { beside }
    }
}

/// The workspace's own manifest, the only one whose profiles count.
fn root_manifest(workspace_root: &Path) -> Result<Table, ConfigError> {
    let path = workspace_root.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|source| ConfigError::Read { path: path.clone(), source })?;
    text.parse().map_err(|source| ConfigError::Parse { origin: path.display().to_string(), source: Box::new(source) })
}

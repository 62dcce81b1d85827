//! What the compiler says of itself: host, target, version, library directories and `cfg` values.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use cargo_metadata::cargo_platform::Cfg;
use thiserror::Error;
use toml::Value;

use super::config::CargoConfig;
use super::variables::Variables;

/// The compiler that cargo will use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rustc {
    /// `rustc 1.95.0 (…)`.
    pub version: String,
    /// The triple that is built for.
    pub target: String,
    /// The toolchain's directory.
    pub sysroot: PathBuf,
    /// The target's libraries, `std` among them.
    pub target_libdir: PathBuf,
    /// The target's `cfg` values.
    pub cfg: Vec<Cfg>,
}

/// Why the compiler did not say.
#[derive(Debug, Error)]
pub enum RustcError {
    /// It did not start.
    #[error("can't run the compiler `{}`", .program.display())]
    Start {
        /// The compiler.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It failed.
    #[error("the compiler `{}` failed: {message}", .program.display())]
    Failed {
        /// The compiler.
        program: PathBuf,
        /// What it wrote.
        message: String,
    },
    /// It answered something else than was asked.
    #[error("the compiler's answer has no {0}")]
    NoAnswer(&'static str),
}

impl Rustc {
    /// Asks the compiler that cargo's configuration names, in the directory that cargo will run in.
    ///
    /// # Errors
    /// When it does not run or does not answer.
    pub fn query(config: &CargoConfig, cwd: &Path) -> Result<Self, RustcError> {
        let program = program(config);
        let about = run(&program, &["-vV"], cwd, config.variables())?;
        let version = about.lines().next().ok_or(RustcError::NoAnswer("version"))?;
        let host = about.lines().find_map(|line| line.strip_prefix("host: ")).ok_or(RustcError::NoAnswer("host"))?;
        let target = configured_target(config).filter(|target| target != "host-tuple");
        let target = target.unwrap_or_else(|| host.to_owned());
        let questions = ["--print=sysroot", "--print=target-libdir", "--print=cfg", "--target", &target];
        let answers = run(&program, &questions, cwd, config.variables())?;
        Self::parse(version, target, &answers)
    }

    fn parse(version: &str, target: String, answers: &str) -> Result<Self, RustcError> {
        let mut lines = answers.lines();
        let sysroot = lines.next().ok_or(RustcError::NoAnswer("sysroot"))?.into();
        let target_libdir = lines.next().ok_or(RustcError::NoAnswer("target-libdir"))?.into();
        // A value that cargo's own parser does not know can't be named in a configuration either.
        let cfg = lines.filter_map(|line| Cfg::from_str(line).ok()).collect();
        Ok(Self { version: version.to_owned(), target, sysroot, target_libdir, cfg })
    }
}

/// `RUSTC`, `build.rustc`, or the `rustc` in `PATH`. A path in a file is relative to the file's root.
fn program(config: &CargoConfig) -> PathBuf {
    let by_variable = ["RUSTC", "CARGO_BUILD_RUSTC"].iter().find_map(|name| config.variables().get_os(name));
    let by_file = || {
        let (value, root) = config.get_with_root(&["build", "rustc"])?;
        let path = value.as_str()?;
        Some(if path.contains('/') { root.join(path) } else { path.into() })
    };
    by_variable.map(PathBuf::from).or_else(by_file).unwrap_or_else(|| "rustc".into())
}

/// `build.target`; of several the first, which is as good as any: cargo builds each, and this host runs at most one.
fn configured_target(config: &CargoConfig) -> Option<String> {
    match config.get(&["build", "target"])? {
        Value::String(target) => Some(target),
        Value::Array(targets) => targets.first()?.as_str().map(str::to_owned),
        _ => None,
    }
}

fn run(program: &Path, arguments: &[&str], cwd: &Path, variables: &Variables) -> Result<String, RustcError> {
    let mut command = Command::new(program);
    let output = variables.apply(&mut command).args(arguments).current_dir(cwd).stdin(Stdio::null()).output();
    let output = output.map_err(|source| RustcError::Start { program: program.to_path_buf(), source })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(RustcError::Failed { program: program.to_path_buf(), message });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        let answers = "/tool\n/tool/lib/rustlib/t/lib\ndebug_assertions\ntarget_os=\"linux\"\nunix\n";
        let rustc = Rustc::parse("rustc 1.95.0", "t".to_owned(), answers).unwrap();
        assert_eq!(rustc.sysroot, Path::new("/tool"));
        assert_eq!(rustc.target_libdir, Path::new("/tool/lib/rustlib/t/lib"));
        assert!(rustc.cfg.contains(&Cfg::from_str("target_os = \"linux\"").unwrap()));
        assert!(matches!(Rustc::parse("", String::new(), "/tool"), Err(RustcError::NoAnswer("target-libdir"))));
    }

    #[test]
    fn the_configured_target_and_compiler_win() {
        let cwd = Path::new("/nonexistent/project");
        let config = CargoConfig::load(
            cwd,
            &["build.target='triple'".into(), "build.rustc='tools/rustc'".into()],
            Variables::default(),
        )
        .unwrap();
        assert_eq!(configured_target(&config).as_deref(), Some("triple"));
        assert_eq!(program(&config), cwd.join("tools/rustc"));
        let variables: Variables = [("RUSTC", "/my/rustc"), ("CARGO_BUILD_TARGET", "other")].into_iter().collect();
        let config = CargoConfig::load(cwd, &["build.rustc='tools/rustc'".into()], variables).unwrap();
        assert_eq!(program(&config), Path::new("/my/rustc"));
        assert_eq!(configured_target(&config).as_deref(), Some("other"));
    }

    #[test]
    fn this_compiler_answers() {
        let config = CargoConfig::load(Path::new("/"), &[], Variables::of_process()).unwrap();
        let rustc = Rustc::query(&config, Path::new("/")).unwrap();
        assert!(rustc.version.starts_with("rustc 1."), "{}", rustc.version);
        assert!(rustc.target_libdir.is_dir());
        assert!(rustc.cfg.contains(&Cfg::from_str("target_os = \"linux\"").unwrap()));
    }
}

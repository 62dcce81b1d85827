//! Runs `cargo build` and finds the executable in what it reports.

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cargo_metadata::{BuildScript, Message};
use thiserror::Error;

use super::BuildPlan;
use super::target::ChosenTarget;

/// What cargo built.
#[derive(Clone, Debug)]
pub struct Artifacts {
    /// The executable, absolute.
    pub executable: PathBuf,
    /// What each build script told cargo.
    pub build_scripts: Vec<BuildScript>,
}

/// Why there is no executable.
#[derive(Debug, Error)]
pub enum CompileError {
    /// Cargo did not start, or its output could not be read.
    #[error("can't run `{} build`", .program.display())]
    Run {
        /// What was to be started.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Cargo could not build; it has printed why.
    #[error("the build failed, so nothing was recorded; cargo says why above")]
    Failed,
    /// Cargo is content but there is no executable.
    #[error("cargo built {0} but reported no executable for it")]
    NoExecutable(String),
}

/// Builds the target. Cargo's own messages go to stderr as always; its stdin is empty, because ours belongs to the
/// program.
///
/// # Errors
/// When the build fails.
pub fn compile(plan: &BuildPlan) -> Result<Artifacts, CompileError> {
    let BuildPlan { cargo, cwd, target, profile, rustflags, .. } = plan;
    let mut command = Command::new(cargo);
    plan.config.variables().apply(&mut command);
    command.arg("build").arg("--message-format=json-render-diagnostics");
    plan.options.add_build_flags(&mut command);
    command.arg(target.kind.flag()).arg(&target.name).arg("--profile").arg(&profile.name);
    // Behind the user's, so that ours win.
    for setting in profile.config.iter().chain(&rustflags.config) {
        command.arg("--config").arg(setting);
    }
    if let Some((name, value)) = &rustflags.variable {
        command.env(name, value);
    }
    let failed = |source| CompileError::Run { program: cargo.clone(), source };
    let child = command.current_dir(cwd).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(failed)?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let report = Report::read(BufReader::new(stdout));
    let status = child.wait().map_err(failed)?;
    let report = report.map_err(failed)?;
    if !status.success() || report.success == Some(false) {
        return Err(CompileError::Failed);
    }
    let executable = report.executable(target);
    let executable =
        executable.ok_or_else(|| CompileError::NoExecutable(format!("{} `{}`", target.kind, target.name)))?;
    Ok(Artifacts { executable, build_scripts: report.build_scripts })
}

/// What cargo reported.
#[derive(Debug, Default)]
struct Report {
    artifacts: Vec<cargo_metadata::Artifact>,
    build_scripts: Vec<BuildScript>,
    /// Set at the end.
    success: Option<bool>,
}

impl Report {
    /// Reads up to the message that the build is finished. Something that outlives the build, such as a compiler cache's
    /// server, can hold the pipe open beyond it.
    fn read(messages: impl BufRead) -> io::Result<Self> {
        let mut report = Self::default();
        for message in Message::parse_stream(messages) {
            match message? {
                Message::CompilerArtifact(artifact) => report.artifacts.push(artifact),
                Message::BuildScriptExecuted(script) => report.build_scripts.push(script),
                Message::BuildFinished(finished) => {
                    report.success = Some(finished.success);
                    break;
                }
                _ => {}
            }
        }
        Ok(report)
    }

    fn executable(&self, target: &ChosenTarget) -> Option<PathBuf> {
        let is_target = |artifact: &&cargo_metadata::Artifact| {
            artifact.package_id == target.package.id
                && artifact.target.name == target.name
                && artifact.target.kind.contains(&target.kind.target_kind())
                && !artifact.profile.test
        };
        let artifact = self.artifacts.iter().find(is_target)?;
        artifact.executable.as_ref().map(|path| path.clone().into_std_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::target::tests::{chosen, project};

    fn artifact(package: &str, name: &str, kind: &str, test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///ws/{package}#0.1.0","manifest_path":"/ws/Cargo.toml",
            "target":{{"kind":["{kind}"],"crate_types":["bin"],"name":"{name}","src_path":"/ws/x.rs","edition":"2024"}},
            "profile":{{"opt_level":"3","debuginfo":1,"debug_assertions":false,"overflow_checks":false,"test":{test}}},
            "features":[],"filenames":["/ws/x"],"executable":{executable},"fresh":true}}"#
        )
        .replace('\n', "")
    }

    fn read(lines: &[String]) -> Report {
        Report::read(lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn the_executable_is_that_of_package_name_and_kind() {
        let target = chosen("-p a --bin app", &project()).unwrap();
        let report = read(&[
            artifact("b", "app", "bin", false, "\"/wrong/package\""),
            artifact("a", "app", "example", false, "\"/wrong/kind\""),
            artifact("a", "other", "bin", false, "\"/wrong/name\""),
            artifact("a", "app", "bin", true, "\"/wrong/test\""),
            "a build script's line that is no JSON".to_owned(),
            artifact("a", "app", "bin", false, "\"/t/release/app\""),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            artifact("a", "late", "bin", false, "\"/after/the/end\""),
        ]);
        assert_eq!(report.executable(&target), Some(PathBuf::from("/t/release/app")));
        assert_eq!((report.success, report.artifacts.len()), (Some(true), 5));
        let library = read(&[artifact("a", "app", "bin", false, "null")]);
        assert_eq!((library.executable(&target), library.success), (None, None));
    }
}

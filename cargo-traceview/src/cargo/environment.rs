//! The environment that `cargo run` gives a program. Programs read it at run time: libraries that build scripts made
//! are found by it, and files are looked up below `CARGO_MANIFEST_DIR`.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cargo_metadata::{BuildScript, Package};
use toml::Value;

use super::compile::Artifacts;
use super::config::CargoConfig;
use super::metadata::Project;
use super::rustc::Rustc;
use super::target::{ChosenTarget, Kind};

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// All that the environment depends on.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The cargo that a program that calls cargo should use.
    pub cargo: &'a Path,
    /// The project.
    pub project: &'a Project,
    /// Cargo's configuration.
    pub config: &'a CargoConfig,
    /// The compiler.
    pub rustc: &'a Rustc,
    /// The program.
    pub target: &'a ChosenTarget,
    /// What was built.
    pub artifacts: &'a Artifacts,
}

impl Context<'_> {
    /// The variables to set besides those of this process.
    #[must_use]
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let package = &self.target.package;
        let mut variables: Vec<(OsString, OsString)> = vec![(LIBRARY_PATH.into(), self.library_path())];
        for script in self.artifacts.build_scripts.iter().filter(|script| script.package_id == package.id) {
            variables.push(("OUT_DIR".into(), script.out_dir.clone().into_os_string()));
            variables.extend(script.env.iter().map(|(name, value)| (name.into(), value.into())));
        }
        variables.push(("CARGO".into(), self.cargo.into()));
        variables.extend(package_variables(package, self.project));
        for (name, value) in self.configured() {
            // What cargo itself sets is never overridden.
            if !variables.iter().any(|(known, _)| *known == name) {
                variables.push((name, value));
            }
        }
        variables
    }

    /// Where the dynamic loader looks: libraries of build scripts, the target directory, the standard library, and what
    /// was there before.
    fn library_path(&self) -> OsString {
        let output = self.output_directory();
        let build = self.build_directory(&output);
        let mut path = native_directories(&self.artifacts.build_scripts, &[&output, &build]);
        path.push(output);
        path.push(build.join("deps"));
        path.push(self.rustc.target_libdir.clone());
        let before: Vec<PathBuf> = self
            .config
            .variables()
            .get_os(LIBRARY_PATH)
            .map(|before| env::split_paths(before).collect())
            .unwrap_or_default();
        let path = if before.starts_with(&path) { before } else { path.into_iter().chain(before).collect() };
        // A directory with a colon in its name can't be in the path at all; the others still can.
        let possible = path.iter().filter(|directory| !directory.as_os_str().as_encoded_bytes().contains(&b':'));
        env::join_paths(possible).expect("no directory has a colon")
    }

    /// The profile's directory, such as `target/release`.
    fn output_directory(&self) -> PathBuf {
        let levels = match self.target.kind {
            Kind::Bin => 1,
            Kind::Example => 2,
        };
        self.artifacts.executable.ancestors().nth(levels).unwrap_or(Path::new("/")).to_path_buf()
    }

    /// The same directory below `build.build-dir`, where intermediate files are.
    fn build_directory(&self, output: &Path) -> PathBuf {
        let target_directory = self.project.metadata.target_directory.as_std_path();
        match (&self.project.metadata.build_directory, output.strip_prefix(target_directory)) {
            (Some(build), Ok(profile)) => build.as_std_path().join(profile),
            _ => output.to_path_buf(),
        }
    }

    /// The `[env]` table of cargo's configuration: values for variables that are not set, or that are forced.
    fn configured(&self) -> Vec<(OsString, OsString)> {
        let mut variables = Vec::new();
        for name in self.config.keys(&["env"]) {
            let Some((value, root)) = self.config.get_with_root(&["env", &name]) else { continue };
            let option = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
            let text = if value.is_table() { value.get("value") } else { Some(value) };
            let Some(text) = text.and_then(Value::as_str) else { continue };
            if option("force") || self.config.variables().get_os(&name).is_none() {
                let text = if option("relative") { root.join(text).into_os_string() } else { text.into() };
                variables.push((name.into(), text));
            }
        }
        variables
    }
}

/// The search paths of build scripts that lie in the target directory, in the order of their names. Cargo leaves out
/// others: system libraries must not come from there.
fn native_directories(scripts: &[BuildScript], inside: &[&Path]) -> Vec<PathBuf> {
    const KINDS: [&str; 5] = ["native=", "dependency=", "crate=", "framework=", "all="];
    let directories = scripts.iter().flat_map(|script| &script.linked_paths).filter_map(|path| {
        let path = path.as_str();
        let path = Path::new(KINDS.iter().find_map(|kind| path.strip_prefix(kind)).unwrap_or(path));
        inside.iter().any(|directory| path.starts_with(directory)).then(|| path.to_path_buf())
    });
    directories.collect::<BTreeSet<PathBuf>>().into_iter().collect()
}

/// `CARGO_MANIFEST_…` and `CARGO_PKG_…`; what the manifest does not say is empty.
fn package_variables(package: &Package, project: &Project) -> Vec<(OsString, OsString)> {
    let directory = package.manifest_path.parent().map_or(OsStr::new("/"), |directory| directory.as_os_str());
    let version = &package.version;
    let path = |path: &Option<_>| path.as_ref().map(ToString::to_string).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("CARGO_MANIFEST_DIR".into(), directory.into()),
        ("CARGO_MANIFEST_PATH".into(), package.manifest_path.as_os_str().into()),
    ];
    for (name, value) in [
        ("NAME", package.name.to_string()),
        ("VERSION", version.to_string()),
        ("VERSION_MAJOR", version.major.to_string()),
        ("VERSION_MINOR", version.minor.to_string()),
        ("VERSION_PATCH", version.patch.to_string()),
        ("VERSION_PRE", version.pre.to_string()),
        ("AUTHORS", package.authors.join(":")),
        ("DESCRIPTION", text(&package.description)),
        ("HOMEPAGE", text(&package.homepage)),
        ("REPOSITORY", text(&package.repository)),
        ("LICENSE", text(&package.license)),
        ("LICENSE_FILE", path(&package.license_file)),
        ("README", path(&package.readme)),
        ("RUST_VERSION", project.rust_versions.get(&package.id.repr).cloned().unwrap_or_default()),
    ] {
        variables.push((format!("CARGO_PKG_{name}").into(), value.into()));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_directories_are_sorted_unique_and_inside_the_target_directory() {
        let script = |paths: &str| -> BuildScript {
            serde_json::from_str(&format!(
                r#"{{"package_id":"p","linked_libs":[],"linked_paths":[{paths}],"cfgs":[],"env":[],"out_dir":"/t/out"}}"#
            ))
            .unwrap()
        };
        let scripts = [
            script(r#""native=/t/release/build/z/out","/usr/lib","native=/opt/lib""#),
            script(r#""/t/release/build/a/out","all=/t/release/build/z/out","/t/release-other/out""#),
        ];
        let directories = native_directories(&scripts, &[Path::new("/t/release")]);
        assert_eq!(directories, [Path::new("/t/release/build/a/out"), Path::new("/t/release/build/z/out")]);
    }
}

//! Where the source files of a profile lie on this machine.
//!
//! The compiler writes the standard library's paths as `/rustc/<commit>/library/…`, and a profile may come from another
//! home directory. The toolchain of that commit has them if its `rust-src` is installed, and cargo's registry has the
//! packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use traceview_core::model::{Profile, SourceId};

/// The files that were looked for so far: each once, when it is first asked for.
#[derive(Debug)]
pub struct LocalSources {
    places: Places,
    found: Vec<OnceLock<Option<PathBuf>>>,
}

/// Where toolchains and packages are.
#[derive(Debug, Default)]
struct Places {
    rustup: PathBuf,
    cargo: PathBuf,
    /// The toolchains of commits: to find one, large files are read.
    toolchains: Mutex<FxHashMap<String, Option<PathBuf>>>,
}

impl LocalSources {
    /// For the sources of `profile`.
    pub fn of(profile: &Profile) -> Self {
        let found = profile.sources.iter().map(|_| OnceLock::new()).collect();
        Self { places: Places::of_environment(), found }
    }

    /// The file of `source`, if it is here.
    pub fn find(&self, profile: &Profile, source: SourceId) -> Option<&Path> {
        let path = profile.string(profile.sources[source.index()].path);
        self.found[source.index()].get_or_init(|| self.places.find(path)).as_deref()
    }
}

impl Places {
    fn of_environment() -> Self {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let of =
            |variable: &str, usual: &str| std::env::var_os(variable).map_or_else(|| home.join(usual), PathBuf::from);
        let (rustup, cargo) = (of("RUSTUP_HOME", ".rustup"), of("CARGO_HOME", ".cargo"));
        Self { rustup, cargo, toolchains: Mutex::default() }
    }

    fn find(&self, path: &str) -> Option<PathBuf> {
        let as_it_is = Path::new(path);
        if as_it_is.is_absolute() && as_it_is.is_file() {
            return Some(as_it_is.to_path_buf());
        }
        let found = match path.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/')) {
            Some((commit, file)) => self.toolchain(commit)?.join("lib/rustlib/src/rust").join(file),
            None => self.registry(path.split_once("/registry/src/")?.1.split_once('/')?.1)?,
        };
        found.is_file().then_some(found)
    }

    /// The toolchain that was built from `commit`.
    fn toolchain(&self, commit: &str) -> Option<PathBuf> {
        // Shorter ones are no commits.
        const SHORTEST: usize = 8;
        let mut toolchains = self.toolchains.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = toolchains.get(commit) {
            return known.clone();
        }
        let is_built_from = |toolchain: &PathBuf| {
            fs::read_to_string(toolchain.join("lib/rustlib/multirust-channel-manifest.toml"))
                .is_ok_and(|manifest| manifest.contains(&format!("git_commit_hash = \"{commit}")))
        };
        let found =
            directories(&self.rustup.join("toolchains")).find(|it| commit.len() >= SHORTEST && is_built_from(it));
        toolchains.insert(commit.to_owned(), found.clone());
        found
    }

    /// `file` (`serde-1.0.0/src/lib.rs`) of a package in one of cargo's registries.
    fn registry(&self, file: &str) -> Option<PathBuf> {
        directories(&self.cargo.join("registry/src")).map(|index| index.join(file)).find(|path| path.is_file())
    }
}

/// What is in a directory, in order of names; nothing if it can't be read.
fn directories(path: &Path) -> impl Iterator<Item = PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(path).into_iter().flatten().flatten().map(|it| it.path()).collect();
    entries.sort_unstable();
    entries.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_toolchains_and_packages_are_found() {
        let directory = tempfile::tempdir().expect("a directory for the test");
        let root = directory.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(&path, text).expect("it can be written");
            path
        };
        let manifest = "lib/rustlib/multirust-channel-manifest.toml";
        write(&format!("rustup/toolchains/old/{manifest}"), "git_commit_hash = \"0123456789abcdef\"\n");
        write(&format!("rustup/toolchains/stable/{manifest}"), "[pkg.rustc]\ngit_commit_hash = \"59807616e1fa2540\"\n");
        let cmp = write("rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/cmp.rs", "");
        let de = write("cargo/registry/src/index-1/serde-1.0.0/src/de.rs", "");
        let own = write("project/src/main.rs", "");
        let places = Places { rustup: root.join("rustup"), cargo: root.join("cargo"), toolchains: Mutex::default() };
        for (path, found) in [
            ("/rustc/59807616e1fa2540/library/core/src/cmp.rs", Some(&cmp)),
            ("/rustc/59807616e1fa2540/library/core/src/gone.rs", None),
            // Its toolchain has no sources.
            ("/rustc/0123456789abcdef/library/core/src/cmp.rs", None),
            ("/rustc/fedcba9876543210/library/core/src/cmp.rs", None),
            ("/rustc/5/library/core/src/cmp.rs", None),
            ("/home/else/.cargo/registry/src/index-2/serde-1.0.0/src/de.rs", Some(&de)),
            ("/home/else/.cargo/registry/src/index-2/serde-1.0.1/src/de.rs", None),
            (own.to_str().expect("it is text"), Some(&own)),
            ("src/main.rs", None),
            ("", None),
        ] {
            assert_eq!(places.find(path).as_ref(), found, "{path}");
        }
    }
}

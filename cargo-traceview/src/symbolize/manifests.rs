//! The packages that source files belong to, by the manifests above them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use toml::{Table, Value};

use super::origin::CrateId;
use crate::cargo::workspace::manifest;

/// The packages of directories. Each is looked for once.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    known: Mutex<FxHashMap<PathBuf, Option<CrateId>>>,
}

impl Manifests {
    /// The package of the source file at `file`: that of the nearest manifest above it. `None` where there is none, or it
    /// can't be read, as on another machine.
    pub(super) fn of_file(&self, file: &Path) -> Option<CrateId> {
        let directory = file.parent().filter(|directory| directory.is_absolute())?;
        // What is in there is complete after each change.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(package) = known.get(directory) {
            return package.clone();
        }
        let package = directory.ancestors().find_map(package_of);
        known.insert(directory.to_path_buf(), package.clone());
        package
    }
}

/// The package whose manifest lies in `directory`.
fn package_of(directory: &Path) -> Option<CrateId> {
    let table = manifest(directory)?;
    let package = table.get("package")?;
    let name = package.get("name")?.as_str()?.to_owned();
    let version = match package.get("version") {
        Some(Value::String(version)) => Some(version.clone()),
        // `version.workspace = true`
        Some(Value::Table(_)) => directory.ancestors().find_map(|above| version_of_workspace(&manifest(above)?)),
        _ => None,
    };
    Some(CrateId { name, version })
}

fn version_of_workspace(table: &Table) -> Option<String> {
    Some(table.get("workspace")?.get("package")?.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_belong_to_the_nearest_package() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for (path, text) in [
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n[workspace.package]\nversion = \"2.5.0\"\n"),
            ("a/Cargo.toml", "[package]\nname = \"my-a\"\nversion.workspace = true\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\nversion = \"1.0.0\"\n"),
            ("b/broken/Cargo.toml", "[package\n"),
            ("c/src/lib.rs", ""),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let manifests = Manifests::default();
        for (file, expected) in [
            ("a/src/deep/er.rs", Some(("my-a", "2.5.0"))),
            ("b/src/main.rs", Some(("b", "1.0.0"))),
            ("b/broken/src/main.rs", Some(("b", "1.0.0"))),
            ("a/src/deep/again.rs", Some(("my-a", "2.5.0"))),
        ] {
            let expected =
                expected.map(|(name, version)| CrateId { name: name.to_owned(), version: Some(version.to_owned()) });
            assert_eq!(manifests.of_file(&root.join(file)), expected, "{file}");
        }
        assert_eq!(manifests.of_file(Path::new("src/main.rs")), None, "relative to what?");
        assert_eq!(manifests.of_file(Path::new("/")), None);
    }
}

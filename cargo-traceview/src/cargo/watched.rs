//! Keeps cargo from taking a recording for a source file.
//!
//! A build script that does not say which files it reads is run anew, and its package compiled, as soon as the newest
//! file of the package is another one. A recording saved among the sources (`-o slow.json.gz`) would be just that, and
//! each profile would cost a build.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_metadata::{Metadata, TargetKind};

/// The manifests of the packages that have a build script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchedPackages(Vec<PathBuf>);

impl WatchedPackages {
    /// Those of the workspace.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let has_script = |package: &&cargo_metadata::Package| {
            package.targets.iter().any(|target| target.kind.contains(&TargetKind::CustomBuild))
        };
        let packages = metadata.packages.iter().filter(has_script);
        Self(packages.map(|package| package.manifest_path.clone().into_std_path_buf()).collect())
    }

    /// Makes `file` older than the manifest of the package that it lies in, if it lies in one: then it is never the
    /// package's newest file.
    ///
    /// # Errors
    /// When the times can't be read or set. Nothing but a build is lost by that.
    pub fn backdate(&self, file: &Path) -> io::Result<()> {
        let file = fs::canonicalize(file)?;
        let is_around = |manifest: &&PathBuf| {
            manifest.parent().and_then(|root| fs::canonicalize(root).ok()).is_some_and(|root| file.starts_with(root))
        };
        // The innermost: a package's files are not those of the package around it.
        let Some(manifest) = self.0.iter().filter(is_around).max_by_key(|manifest| manifest.components().count())
        else {
            return Ok(());
        };
        let date = fs::metadata(manifest)?.modified()?;
        File::options().write(true).open(&file)?.set_modified(date - Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_files_in_a_watched_package_get_its_date() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for package in ["watched", "other"] {
            fs::create_dir(root.join(package)).unwrap();
            fs::write(root.join(package).join("Cargo.toml"), "").unwrap();
            fs::write(root.join(package).join("out.json"), "").unwrap();
        }
        let manifest = root.join("watched/Cargo.toml");
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::options().write(true).open(&manifest).unwrap().set_modified(date).unwrap();
        let watched = WatchedPackages(vec![manifest]);
        let modified = |file: &str| {
            watched.backdate(&root.join(file)).unwrap();
            fs::metadata(root.join(file)).unwrap().modified().unwrap()
        };
        assert_eq!(modified("watched/out.json"), date - Duration::from_secs(1));
        assert!(modified("other/out.json") > date);
        assert!(watched.backdate(&root.join("missing.json")).is_err());
    }
}

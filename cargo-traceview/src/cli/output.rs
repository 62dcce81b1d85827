//! Where a recording is saved and in which format: checked before anything is built or run, written at the end so that
//! a failure leaves an older file as it was. What `export` writes is checked and written in the same way.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thiserror::Error;
use traceview_core::format::{self, FORMATS, Target};

use super::picture::PictureKind;
use super::store::{Store, StoreError};
use super::whole_file::replace;
use crate::error::Cause;
use crate::exit_code::ExitCode;

/// Where the recording goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPlan {
    /// To a file that was named with `-o`.
    File {
        /// The file, absolute.
        path: PathBuf,
        /// Where it becomes `@1`; `None` if the user has no data directory.
        store: Option<Store>,
    },
    /// To a new file in the recordings directory.
    Store(Store),
    /// To a new file in the directory for temporary files, where all others fail.
    Temporary {
        /// Why not to the recordings directory.
        why: Option<String>,
    },
}

/// A recording that is saved.
#[derive(Debug)]
pub struct Saved {
    /// The file.
    pub path: PathBuf,
    /// Whether it is `@1` now.
    pub is_last: bool,
    /// Why it is not `@1`, or why older recordings could not be deleted. The file itself is fine.
    pub store_error: Option<StoreError>,
}

/// Why an output can't be.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The file's ending names no format.
    #[error("can't tell the format of `{}` from its ending; let it end in {}", .0.display(), ending_list())]
    UnknownEnding(PathBuf),
    /// The ending of a file for `export` names no format.
    #[error("can't tell the format of `{}` from its ending; let it end in {}", .0.display(), export_ending_list())]
    UnknownExportEnding(PathBuf),
    /// It is a directory.
    #[error("the output `{}` is a directory; name a file in it, such as slow.json.gz", .0.display())]
    IsDirectory(PathBuf),
    /// Its directory is missing.
    #[error("the output's directory `{}` does not exist; create it first", .0.display())]
    NoDirectory(PathBuf),
    /// Its directory is not writable.
    #[error("can't write to the output's directory `{}`; choose another with -o", .directory.display())]
    NotWritable {
        /// The directory.
        directory: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Nothing says which format to write.
    #[error("say what to write: `--format FORMAT`, or `-o FILE` with a name that ends in {}", export_ending_list())]
    NoFormat,
    /// The ending is that of another format than the one asked for.
    #[error(
        "`{}` is named like a {ending} file, but {format} is to be written; leave out --format or change the name",
        .path.display()
    )]
    OtherEnding {
        /// The file.
        path: PathBuf,
        /// What its ending says.
        ending: &'static str,
        /// What was asked for.
        format: &'static str,
    },
    /// Stdout is a terminal, and what is to be written no text.
    #[error("won't write {} data to a terminal; name a file with -o, or send it on through a pipe", .0)]
    Terminal(&'static str),
    /// An export failed in the end.
    #[error("can't write `{}`", .path.display())]
    Export {
        /// The file, `-` for stdout.
        path: PathBuf,
        /// The reason.
        source: Cause,
    },
    /// Writing failed in the end.
    #[error("can't save the recording to `{}`", .path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl OutputError {
    /// The exit status that goes with it.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::UnknownEnding(_)
            | Self::UnknownExportEnding(_)
            | Self::IsDirectory(_)
            | Self::NoDirectory(_)
            | Self::NotWritable { .. }
            | Self::NoFormat
            | Self::OtherEnding { .. }
            | Self::Terminal(_) => ExitCode::Usage,
            Self::Export { .. } => ExitCode::Failed,
            Self::Save { .. } => ExitCode::RecordingFailed,
        }
    }
}

impl OutputPlan {
    /// Decides where to save, and tries whether that will be possible.
    ///
    /// # Errors
    /// When the ending is unknown or the directory can't take the file.
    pub fn resolve(
        output: Option<&Path>,
        cwd: &Path,
        store: Result<Store, StoreError>,
    ) -> Result<Self, crate::error::Error> {
        let Some(output) = output else {
            // A user without a (writable) home, as services have, still wants the recording.
            return Ok(match usable(store) {
                Ok(store) => Self::Store(store),
                Err(error) => Self::Temporary { why: Some(error.to_string()) },
            });
        };
        // Before its ending: a directory has none, and it is not that which is wrong with it.
        check_no_directory(output, cwd)?;
        target_of(output).ok_or_else(|| OutputError::UnknownEnding(output.to_path_buf()))?;
        Ok(Self::File { path: writable_path(output, cwd)?, store: store.ok() })
    }

    /// The format to write.
    #[must_use]
    pub fn target(&self) -> Target {
        let named = match self {
            Self::File { path, .. } => target_of(path),
            Self::Store(_) | Self::Temporary { .. } => None,
        };
        // All others are named by us, for this format.
        named.unwrap_or(FORMATS[0].target())
    }

    /// Where what is saved becomes `@1`; `None` if the user has no data directory.
    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        match self {
            Self::File { store, .. } => store.as_ref(),
            Self::Store(store) => Some(store),
            Self::Temporary { .. } => None,
        }
    }

    /// Saves what `write` writes and makes it `@1`, if it can be read. The file appears whole or not at all.
    ///
    /// # Errors
    /// When the file can't be written; what was written before is deleted, and an older file of that name is left.
    pub fn save(
        &self,
        name: &str,
        now: SystemTime,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Saved, crate::error::Error> {
        let store = self.store();
        let path = match self {
            Self::File { path, .. } => path.clone(),
            Self::Store(store) => store.claim(name, now)?,
            Self::Temporary { .. } => temporary(name)?,
        };
        if let Err(source) = replace(&path, write) {
            if !matches!(self, Self::File { .. }) {
                // Ours and empty; if it can't go it does no harm.
                let _ignored = fs::remove_file(&path);
            }
            return Err(OutputError::Save { path, source }.into());
        }
        let registered = store.map(|store| store.register(&path));
        let is_last = matches!(registered, Some(Ok(())));
        let store_error = registered.and_then(Result::err);
        Ok(Saved { path, is_last, store_error })
    }
}

/// The store, if recordings can be saved in it.
fn usable(store: Result<Store, StoreError>) -> Result<Store, crate::error::Error> {
    let store = store?;
    store.create()?;
    check_writable(&store.recordings())?;
    Ok(store)
}

/// Takes a new file in the directory for temporary files, which others can write to as well, for the user's eyes only.
fn temporary(name: &str) -> Result<PathBuf, OutputError> {
    let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(40).collect();
    let directory = std::env::temp_dir();
    let mut attempt = 1_u32;
    loop {
        let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let path = directory.join(format!("traceview-{name}-{}{suffix}.json.gz", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
            Err(source) => return Err(OutputError::Save { path, source }),
        }
    }
}

/// Refuses a directory.
pub(crate) fn check_no_directory(output: &Path, cwd: &Path) -> Result<(), OutputError> {
    if cwd.join(output).is_dir() { Err(OutputError::IsDirectory(output.to_path_buf())) } else { Ok(()) }
}

/// The absolute path of a file that is to be written, if its directory takes files.
pub(crate) fn writable_path(output: &Path, cwd: &Path) -> Result<PathBuf, OutputError> {
    let path = cwd.join(output);
    if is_special(&path) {
        return Ok(path);
    }
    // Without a working directory there is none for a plain name.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(OutputError::NoDirectory(directory.to_path_buf()));
    }
    check_writable(directory)?;
    Ok(path)
}

/// The format that a file name's ending chooses; a name that is nothing but an ending chooses none.
pub(super) fn target_of(path: &Path) -> Option<Target> {
    let name = path.file_name()?.to_str()?;
    let is_only_ending = format::written().flat_map(|format| format.extensions).any(|ending| *ending == name);
    if is_only_ending { None } else { format::by_extension(path).ok() }
}

/// The endings of all formats, as words.
pub(super) fn ending_list() -> String {
    format::written().flat_map(|format| format.extensions).copied().collect::<Vec<_>>().join(" or ")
}

/// The endings of all that `export` writes, as words.
fn export_ending_list() -> String {
    let pictures = PictureKind::ALL.map(PictureKind::extension);
    format!("{} or {}", ending_list(), pictures.join(" or "))
}

/// Creates a file in the directory and deletes it again: the only test that knows of all that can stand in the way.
fn check_writable(directory: &Path) -> Result<(), OutputError> {
    let probe = directory.join(format!(".traceview-{}.tmp", std::process::id()));
    let created = OpenOptions::new().write(true).create(true).truncate(true).open(&probe);
    created
        .and_then(|_| fs::remove_file(&probe))
        .map_err(|source| OutputError::NotWritable { directory: directory.to_path_buf(), source })
}

/// Whether it is something that can be written to but must not be replaced: a device, a pipe.
pub(super) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn no_store() -> Result<Store, StoreError> {
        Err(StoreError::NoHome)
    }

    fn resolve(output: &str, cwd: &Path) -> Result<OutputPlan, Error> {
        OutputPlan::resolve(Some(Path::new(output)), cwd, no_store())
    }

    #[test]
    fn endings_choose_the_format() {
        let gzip = |name: &str| target_of(Path::new(name)).map(|target| target.gzip);
        assert_eq!(gzip("a/slow.json.gz"), Some(true));
        assert_eq!(gzip("slow.JSON"), Some(false));
        assert_eq!(gzip("slow.pb.gz"), Some(true));
        for unknown in ["slow", "slow.txt", "slow.gz", ".json", "slow.json.gz.bak"] {
            assert_eq!(gzip(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn an_impossible_output_is_found_before_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let error = resolve("slow.txt", directory.path()).unwrap_err();
        assert_eq!(
            error.to_message(),
            "error: can't tell the format of `slow.txt` from its ending; let it end in .json.gz or .json or .pb.gz or .trace.json or .trace.json.gz or .speedscope.json or .folded or .collapsed\n"
        );
        assert_eq!(error.exit_code(), ExitCode::Usage);
        let error = resolve("missing/slow.json", directory.path()).unwrap_err();
        assert!(matches!(&error, Error::Output(OutputError::NoDirectory(path)) if path.ends_with("missing")));
        for name in ["dir.json", "dir"] {
            fs::create_dir(directory.path().join(name)).unwrap();
            let error = resolve(name, directory.path()).unwrap_err();
            assert!(matches!(error, Error::Output(OutputError::IsDirectory(_))));
        }
        // Nobody can create files in /proc, not even root.
        let error = resolve("/proc/slow.json", directory.path()).unwrap_err();
        assert!(matches!(error, Error::Output(OutputError::NotWritable { .. })));
        // The checks leave nothing behind.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn who_has_no_home_gets_a_temporary_file() {
        let nowhere = Path::new("/");
        let homeless = OutputPlan::resolve(None, nowhere, no_store()).unwrap();
        let refused = OutputPlan::resolve(None, nowhere, Ok(Store::at("/proc/data".into()))).unwrap();
        for (plan, word) in [(homeless, "HOME"), (refused, "/proc/data")] {
            assert!(matches!(&plan, OutputPlan::Temporary { why: Some(why) } if why.contains(word)), "{plan:?}");
            let save = || plan.save("a/b", SystemTime::now(), |file| file.write_all(b"1")).unwrap();
            let (first, second) = (save(), save());
            assert!(!first.is_last && first.store_error.is_none());
            assert_ne!(first.path, second.path, "nothing is overwritten");
            for saved in [first, second] {
                assert_eq!(fs::read(&saved.path).unwrap(), b"1");
                fs::remove_file(saved.path).unwrap();
            }
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let plan = resolve("out.json", directory.path()).unwrap();
        let now = SystemTime::now();
        let path = plan.save("out", now, |file| file.write_all(b"first")).unwrap().path;
        assert_eq!(path, directory.path().join("out.json"));
        let failed = plan.save("out", now, |file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(matches!(failed, Err(Error::Output(OutputError::Save { .. }))));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn saving_makes_a_recording_the_last_one() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().join("data"));
        let kept = OutputPlan::resolve(None, directory.path(), Ok(store.clone())).unwrap();
        let named = OutputPlan::resolve(Some(Path::new("mine.json")), directory.path(), Ok(store.clone())).unwrap();
        let now = SystemTime::now();
        let first = kept.save("app", now, |file| file.write_all(b"1")).unwrap().path;
        assert_eq!(store.resolve(None).unwrap(), first);
        let second = named.save("app", now, |file| file.write_all(b"2")).unwrap();
        assert!(second.store_error.is_none());
        assert_eq!(store.list(), [second.path, first]);
        let failed = kept.save("app", now, |_| Err(io::Error::from(io::ErrorKind::StorageFull)));
        assert!(failed.is_err());
        assert_eq!(fs::read_dir(store.recordings()).unwrap().count(), 1);
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("null.json");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let plan = resolve("null.json", directory.path()).unwrap();
        plan.save("null", SystemTime::now(), |file| file.write_all(b"1")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_broken_store_does_not_lose_a_named_recording() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("data"), "a file where the store's directory should be").unwrap();
        let store = Store::at(directory.path().join("data"));
        let plan = OutputPlan::resolve(Some(Path::new("mine.json")), directory.path(), Ok(store)).unwrap();
        let saved = plan.save("app", SystemTime::now(), |file| file.write_all(b"1")).unwrap();
        assert_eq!(fs::read(saved.path).unwrap(), b"1");
        assert!(matches!(saved.store_error, Some(StoreError::Io { .. })));
    }

    #[test]
    fn a_name_as_long_as_names_may_be_is_no_trouble() {
        let directory = tempfile::tempdir().unwrap();
        let name = format!("{}.json", "x".repeat(250));
        let plan = resolve(&name, directory.path()).unwrap();
        let saved = plan.save("out", SystemTime::now(), |file| file.write_all(b"1")).unwrap();
        assert_eq!(saved.path, directory.path().join(name));
    }

    #[test]
    fn a_symbolic_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target.json");
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, directory.path().join("link.json")).unwrap();
        let plan = resolve("link.json", directory.path()).unwrap();
        plan.save("link", SystemTime::now(), |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(directory.path().join("link.json").is_symlink());
    }
}

//! Where recordings are kept: a directory for those without `-o`, and the order of all of them, which gives `@1`,
//! `@2`… their meaning.
//!
//! The order stands in an index file of paths, the newest first, each followed by a zero byte (a path can hold any
//! other). It is a help, not a truth: files that are gone are passed over, and kept recordings that it does not know
//! follow by their age, so a lost or garbled index costs nothing but the memory of recordings made elsewhere.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thiserror::Error;

use super::date::Date;

/// The oldest recordings are deleted when all together take more than this.
const DEFAULT_MAX_BYTES: u64 = 2 << 30;
/// This many of the newest recordings are never deleted.
const ALWAYS_KEPT: usize = 5;
/// How many paths the index remembers.
const INDEX_LENGTH: usize = 200;
/// How a kept recording's file name ends.
const ENDING: &str = ".json.gz";
/// The longest name part of a file name, in bytes.
const MAX_NAME: usize = 80;

/// The recordings directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Holds the index and the directory of recordings.
    base: PathBuf,
    max_bytes: u64,
}

/// What is wrong with the recordings directory or with `@N`.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Nothing says where the user's data lives.
    #[error("no place to keep recordings: set HOME or XDG_DATA_HOME, or name a file (to save one: -o FILE)")]
    NoHome,
    /// `@N` with a larger N than there are recordings.
    #[error("there is no recording @{wanted}{}", match .known {
        0 => "; make one with `cargo traceview` or `cargo traceview record -- PROGRAM`".to_owned(),
        1 => ": the only one is @1".to_owned(),
        known => format!(": the oldest is @{known}"),
    })]
    NoRecording {
        /// The N.
        wanted: usize,
        /// How many there are.
        known: usize,
    },
    /// `@` followed by something else than a number from 1.
    #[error("`{0}` names no recording: write @1 for the last one, @2 for the one before, or ./{0} for a file")]
    NotRecordingNumber(String),
    /// The system refused.
    #[error("can't {what} {}", .path.display())]
    Io {
        /// A verb.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl Store {
    /// The user's store, from the values of `XDG_DATA_HOME` and `HOME`.
    ///
    /// # Errors
    /// When neither gives an absolute path.
    pub fn locate(xdg_data_home: Option<&OsStr>, home: Option<&OsStr>) -> Result<Self, StoreError> {
        // The XDG specification: a relative path is invalid and to be ignored.
        let absolute = |value: Option<&OsStr>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        absolute(xdg_data_home)
            .or_else(|| absolute(home).map(|home| home.join(".local/share")))
            .map(|data| Self::at(data.join("traceview")))
            .ok_or(StoreError::NoHome)
    }

    /// The store in this directory.
    #[must_use]
    pub fn at(base: PathBuf) -> Self {
        Self { base, max_bytes: DEFAULT_MAX_BYTES }
    }

    /// The same store with another size limit.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// The directory that holds the recordings made without `-o`.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        self.base.join("recordings")
    }

    /// Creates the directory of recordings, for the user's eyes only: recordings hold command lines and paths.
    ///
    /// # Errors
    /// When that fails.
    pub fn create(&self) -> Result<(), StoreError> {
        let directory = self.recordings();
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(io_error("create", &directory))
    }

    /// Takes a new file name for a recording: the file exists from now on, empty, and is the caller's to replace.
    ///
    /// # Errors
    /// When the directory or file can't be created.
    pub fn claim(&self, name: &str, now: SystemTime) -> Result<PathBuf, StoreError> {
        self.create()?;
        let stem = format!("{}-{}", sanitize(name), Date::of(now));
        let mut attempt = 1_u32;
        loop {
            let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
            let path = self.recordings().join(format!("{stem}{suffix}{ENDING}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => return Err(io_error("create", &path)(error)),
            }
        }
    }

    /// Makes the file at this absolute path `@1`, and deletes the oldest kept recordings beyond the size limit.
    ///
    /// # Errors
    /// When the index can't be written. The recording itself is not touched.
    pub fn register(&self, path: &Path) -> Result<(), StoreError> {
        self.create()?;
        // Two recordings that end together must not lose one another. A file system without locks is no reason to fail.
        let lock_path = self.base.join("recordings.lock");
        let lock = File::create(&lock_path).map_err(io_error("create", &lock_path))?;
        let _unlocked = lock.lock();
        let mut paths = vec![path.to_path_buf()];
        paths.extend(self.read_index().into_iter().filter(|known| known != path));
        paths.truncate(INDEX_LENGTH);
        self.write_index(&paths)?;
        self.prune()
    }

    /// All recordings that still exist, the newest first.
    #[must_use]
    pub fn list(&self) -> Vec<PathBuf> {
        let mut paths = self.read_index();
        paths.retain(|path| path.is_file());
        let mut unknown: Vec<Kept> = self.kept();
        unknown.retain(|kept| !paths.contains(&kept.path));
        paths.extend(unknown.into_iter().map(|kept| kept.path));
        paths
    }

    /// The path that a FILE argument means: `@N` is the N-th last recording, none is `@1`, all else is a path.
    ///
    /// # Errors
    /// When there is no such recording.
    pub fn resolve(&self, file: Option<&Path>) -> Result<PathBuf, StoreError> {
        let Some(number) = file.map_or(Ok(Some(1)), recording_number)? else {
            return Ok(file.expect("no FILE means a number").to_path_buf());
        };
        let paths = self.list();
        let known = paths.len();
        paths.into_iter().nth(number - 1).ok_or(StoreError::NoRecording { wanted: number, known })
    }

    fn index_path(&self) -> PathBuf {
        self.base.join("recordings.index")
    }

    /// The index's paths; none when it is missing or unreadable.
    fn read_index(&self) -> Vec<PathBuf> {
        let bytes = fs::read(self.index_path()).unwrap_or_else(|_| Vec::new());
        bytes
            .split(|byte| *byte == 0)
            .map(|path| PathBuf::from(OsStr::from_bytes(path)))
            .filter(|path| path.is_absolute())
            .collect()
    }

    fn write_index(&self, paths: &[PathBuf]) -> Result<(), StoreError> {
        let index = self.index_path();
        let temporary = self.base.join(format!("recordings.index.{}", std::process::id()));
        let mut bytes = Vec::new();
        for path in paths {
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.push(0);
        }
        let written = File::create(&temporary)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&temporary, &index));
        written.map_err(|error| {
            // The error is reported; a leftover that can't be removed either changes nothing.
            let _ignored = fs::remove_file(&temporary);
            io_error("write", &index)(error)
        })
    }

    /// The recordings in our own directory, the newest first.
    fn kept(&self) -> Vec<Kept> {
        let mut kept: Vec<Kept> = fs::read_dir(self.recordings())
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                let name = entry.file_name();
                let bytes = name.as_bytes();
                let ours = bytes.ends_with(ENDING.as_bytes()) && !bytes.starts_with(b".");
                // An empty file is a name that a running recording has claimed.
                (ours && metadata.len() > 0).then_some(())?;
                Some(Kept { modified: metadata.modified().ok()?, bytes: metadata.len(), path: entry.path() })
            })
            .collect();
        kept.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
        kept
    }

    fn prune(&self) -> Result<(), StoreError> {
        let mut total = 0_u64;
        for (position, kept) in self.kept().into_iter().enumerate() {
            total = total.saturating_add(kept.bytes);
            if position >= ALWAYS_KEPT && total > self.max_bytes {
                fs::remove_file(&kept.path).map_err(io_error("delete", &kept.path))?;
            }
        }
        Ok(())
    }
}

/// A recording in our own directory.
struct Kept {
    modified: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// The N of `@N`; `None` for a path.
fn recording_number(file: &Path) -> Result<Option<usize>, StoreError> {
    let Some(number) = file.as_os_str().as_bytes().strip_prefix(b"@") else { return Ok(None) };
    let parsed = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    parsed.map(Some).ok_or_else(|| StoreError::NotRecordingNumber(file.display().to_string()))
}

/// The name as part of a file name that needs no quoting in a shell.
fn sanitize(name: &str) -> String {
    let mut clean = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if c.is_alphanumeric() || "._+-".contains(c) { c } else { '-' };
        if clean.len() + c.len_utf8() > MAX_NAME {
            break;
        }
        clean.push(c);
    }
    match clean.trim_start_matches(['.', '-']) {
        "" => "recording".to_owned(),
        clean => clean.to_owned(),
    }
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| StoreError::Io { what, path, source }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn temp_store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().join("traceview"));
        (directory, store)
    }

    /// A saved recording of this many bytes, made this many seconds after the first.
    fn record(store: &Store, seconds: u64, bytes: usize) -> PathBuf {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds);
        let path = store.claim("app", time).unwrap();
        fs::write(&path, vec![1; bytes]).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        store.register(&path).unwrap();
        path
    }

    #[test]
    fn the_directory_follows_xdg_and_home() {
        let recordings = |data: Option<&str>, home: Option<&str>| {
            Store::locate(data.map(OsStr::new), home.map(OsStr::new)).map(|store| store.recordings())
        };
        assert_eq!(recordings(Some("/data"), Some("/home/u")).unwrap(), Path::new("/data/traceview/recordings"));
        let in_home = Path::new("/home/u/.local/share/traceview/recordings");
        assert_eq!(recordings(None, Some("/home/u")).unwrap(), in_home);
        assert_eq!(recordings(Some("relative"), Some("/home/u")).unwrap(), in_home);
        assert_eq!(recordings(Some(""), Some("/home/u")).unwrap(), in_home);
        assert!(matches!(recordings(None, None), Err(StoreError::NoHome)));
        assert!(matches!(recordings(None, Some("")), Err(StoreError::NoHome)));
    }

    #[test]
    fn names_are_safe_and_unique() {
        let (_directory, store) = temp_store();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_018_465);
        let name = |name: &str| store.claim(name, now).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(name("rg"), "rg-2026-11-30-060105.json.gz");
        assert_eq!(name("rg"), "rg-2026-11-30-060105-2.json.gz");
        assert_eq!(name("../my tool/ü"), "my-tool-ü-2026-11-30-060105.json.gz");
        assert_eq!(name("@1"), "1-2026-11-30-060105.json.gz");
        assert_eq!(name("-"), "recording-2026-11-30-060105.json.gz");
        assert!(name(&"ü".repeat(300)).len() < 120);
    }

    #[test]
    fn numbers_count_back_from_the_last_recording_wherever_it_was_saved() {
        let (directory, store) = temp_store();
        let at_one = |store: &Store| store.resolve(None).unwrap();
        assert!(matches!(store.resolve(None), Err(StoreError::NoRecording { wanted: 1, known: 0 })));
        let first = record(&store, 0, 1);
        let second = record(&store, 1, 1);
        let elsewhere = directory.path().join("mine.json.gz");
        fs::write(&elsewhere, "x").unwrap();
        store.register(&elsewhere).unwrap();
        assert_eq!(at_one(&store), elsewhere);
        assert_eq!(store.resolve(Some(Path::new("@2"))).unwrap(), second);
        assert_eq!(store.resolve(Some(Path::new("@3"))).unwrap(), first);
        assert!(matches!(store.resolve(Some(Path::new("@4"))), Err(StoreError::NoRecording { wanted: 4, known: 3 })));
        assert_eq!(store.resolve(Some(Path::new("other.json"))).unwrap(), Path::new("other.json"));
        assert_eq!(store.resolve(Some(Path::new("./@1"))).unwrap(), Path::new("./@1"));
        for wrong in ["@0", "@", "@-1", "@last"] {
            let resolved = store.resolve(Some(Path::new(wrong)));
            assert!(matches!(resolved, Err(StoreError::NotRecordingNumber(_))), "{wrong}");
        }
        // A recording that was overwritten or deleted does not leave a hole.
        store.register(&second).unwrap();
        assert_eq!(store.list(), [second.clone(), elsewhere.clone(), first.clone()]);
        fs::remove_file(&second).unwrap();
        assert_eq!(store.list(), [elsewhere, first]);
    }

    #[test]
    fn a_lost_or_garbled_index_leaves_the_kept_recordings_by_age() {
        let (_directory, store) = temp_store();
        let first = record(&store, 0, 1);
        let second = record(&store, 1, 1);
        fs::write(store.index_path(), b"\xff\xfe{not an index\0\0relative\0").unwrap();
        assert_eq!(store.list(), [second.clone(), first.clone()]);
        fs::remove_file(store.index_path()).unwrap();
        assert_eq!(store.list(), [second.clone(), first.clone()]);
        // A name that is claimed but not written yet is no recording.
        store.claim("running", SystemTime::now()).unwrap();
        assert_eq!(store.list(), [second, first]);
    }

    #[test]
    fn the_oldest_go_but_never_the_newest_five() {
        let (_directory, store) = temp_store();
        let store = store.with_max_bytes(1_000);
        let paths: Vec<PathBuf> = (0..7).map(|second| record(&store, second, 150)).collect();
        // Six times 150 fit; the seventh made the first go.
        let existing = |paths: &[PathBuf]| paths.iter().map(|path| path.exists()).collect::<Vec<_>>();
        assert_eq!(existing(&paths), [false, true, true, true, true, true, true]);
        let large: Vec<PathBuf> = (10..16).map(|second| record(&store, second, 900)).collect();
        assert_eq!(existing(&paths), [false; 7]);
        assert_eq!(existing(&large), [false, true, true, true, true, true]);
        assert_eq!(store.list().len(), 5);
    }
}

//! Names found before, kept on disk: most code of a program that is recorded again and again was seen last time.
//!
//! Each image has a file of its own, named after its build id and checked against its content (`key.rs`); what is in
//! such a file is said in `file.rs`. All of it can be deleted at any time, and whatever is wrong with it is taken as its not being
//! there: a file that is damaged, of another version of this program, or of another build is replaced.
//!
//! Files are written under another name and renamed, so that recordings at the same time don't see halves. Of two that
//! end together one loses what it adds.

mod file;
mod key;

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::resolve::Resolved;
pub(super) use file::Stored;
pub(super) use key::Key;

/// The files' names end with this.
const ENDING: &str = ".names";
/// What all files together may take.
const DEFAULT_MAX_BYTES: u64 = 1 << 30;
/// Larger files are not ours.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A directory of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameCache {
    directory: PathBuf,
    max_bytes: u64,
}

impl NameCache {
    /// The user's cache, from the values of `XDG_CACHE_HOME` and `HOME`; `None` when neither gives an absolute path.
    #[must_use]
    pub fn locate(xdg_cache_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<Self> {
        // The XDG specification: a relative path is invalid and to be ignored.
        let absolute = |value: Option<&OsStr>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = absolute(xdg_cache_home).or_else(|| absolute(home).map(|home| home.join(".cache")))?;
        Some(Self::at(caches.join("traceview/names")))
    }

    /// The cache in this directory, which need not exist yet.
    #[must_use]
    pub fn at(directory: PathBuf) -> Self {
        NameCache { directory, max_bytes: DEFAULT_MAX_BYTES }
    }

    /// The same cache with another limit on the bytes of all its files.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        NameCache { max_bytes, ..self }
    }

    /// What is kept for an image.
    pub(super) fn read(&self, key: &Key) -> Option<Stored> {
        let path = self.path(key);
        // Looked at before opening: a FIFO would be waited for, and a device has no end.
        let metadata = fs::symlink_metadata(&path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
            return None;
        }
        let file = File::open(path).ok()?;
        let mut bytes = Vec::new();
        (&file).take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        let stored = Stored::parse(bytes, key)?;
        // What is in use is deleted last. That this can fail, where the file is another user's, does no harm.
        let _ = file.set_modified(SystemTime::now());
        Some(stored)
    }

    /// Keeps names for an image (sorted by address), in place of what was kept before.
    ///
    /// Fails silently: without a cache the names are the same, only later.
    pub(super) fn write(&self, key: &Key, names: &[(u64, &Resolved)]) {
        let Some(bytes) = file::encode(key, names) else { return };
        if bytes.len() as u64 <= self.max_bytes.min(MAX_FILE_BYTES) && self.put(&self.path(key), &bytes).is_ok() {
            self.shrink();
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.directory.join(format!("{}{ENDING}", key.file_stem()))
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Names and paths are the user's own business.
        if !self.directory.is_dir() {
            if !is_in_own_directory(&self.directory) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        }
        let (temporary, mut file) = self.create_temporary()?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            // Its name is ours alone.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// A new file, to be renamed. Names of the same number exist where a process ended before it renamed its own, and where
    /// another one has our number, in a container for example.
    fn create_temporary(&self) -> io::Result<(PathBuf, File)> {
        /// Makes names in one process differ.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = self.directory.join(format!("{}-{count}.new{ENDING}", process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok((path, file?)),
            }
        }
    }

    /// Deletes what was not used for longest, until the rest keeps the limit.
    fn shrink(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().as_encoded_bytes().ends_with(ENDING.as_bytes()))
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .collect();
        files.sort_by_key(|(used, ..)| Reverse(*used));
        let mut total = 0;
        for (_, len, path) in files {
            total += len;
            if total > self.max_bytes {
                // Another recording may have deleted it.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Whether the place that a directory would be made in is ours. `sudo` can leave us the home of another user, who could not
/// use what root makes there.
fn is_in_own_directory(directory: &Path) -> bool {
    let owner = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.uid());
    let around = directory.ancestors().skip(1).find_map(owner);
    around.is_some() && around == owner(Path::new("/proc/self"))
}

#[cfg(test)]
mod tests;

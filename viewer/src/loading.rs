//! Opening files in the background.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use traceview_core::format::{self, ReadError, ReadOptions};
use traceview_core::model::Profile;

use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll, Progress};

/// A file that is being opened.
#[derive(Debug)]
pub struct Loading {
    /// Which.
    pub path: PathBuf,
    /// How many bytes it has, if that is known.
    pub size: Option<u64>,
    job: Job<Result<Document, LoadError>>,
}

/// Why a file could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It can't be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What it contains is not understood.
    #[error("{0}")]
    Format(#[from] ReadError),
    /// Nobody wants it any more.
    #[error("cancelled")]
    Cancelled,
    /// The reader broke down.
    #[error("reading it failed; this is a fault of traceview")]
    Lost,
}

impl Loading {
    /// Begins to open `path`.
    pub fn start(path: PathBuf, options: ReadOptions, jobs: &Jobs) -> Self {
        let size = std::fs::metadata(&path).ok().map(|metadata| metadata.len());
        let from = path.clone();
        let job = jobs.start("open", move |progress| load(&from, options, size, progress));
        Self { path, size, job }
    }

    /// The document, once it is there.
    pub fn poll(&self) -> Option<Result<Document, LoadError>> {
        match self.job.poll() {
            Poll::Pending => None,
            Poll::Ready(result) => Some(result),
            Poll::Lost => Some(Err(LoadError::Lost)),
        }
    }

    /// How much of the file is read, from 0 to 1.
    pub fn fraction(&self) -> Option<f32> {
        self.job.progress().fraction()
    }
}

/// Makes a document of `profile`, which is saved in `path`.
pub fn document(path: Option<&Path>, profile: Arc<Profile>) -> Document {
    let file_name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = match (profile.meta.name.as_str(), file_name) {
        ("", file_name) => file_name.unwrap_or_else(|| "profile".to_owned()),
        (name, _) => name.to_owned(),
    };
    Document::new(name, path.map(Path::to_owned), profile)
}

fn load(path: &Path, options: ReadOptions, size: Option<u64>, progress: &Progress) -> Result<Document, LoadError> {
    progress.set_total(size.unwrap_or(0));
    let go_on = |so_far| {
        progress.set_done(so_far);
        !progress.is_cancelled()
    };
    let bytes = format::read_input(File::open(path)?, &options, go_on)?.ok_or(LoadError::Cancelled)?;
    let options = ReadOptions { named: format::named(path), ..options };
    let profile = format::read(&bytes, &options)?.profile;
    drop(bytes);
    if progress.is_cancelled() {
        return Err(LoadError::Cancelled);
    }
    Ok(document(Some(path), Arc::new(profile)))
}

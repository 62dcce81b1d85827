//! How much a file can make of its bytes. The rows of some formats are much smaller than those of the model: a frame is one
//! byte of a pprof file, a thread two of a Firefox profile. Files that programs write have few such rows to the byte; one
//! that was made to fill memory has nothing else.
//!
//! One rule for all formats: the model's tables take at most four times the file's own size, and 32 MiB, which leave
//! room for what small files really have (a stack a million frames deep, among others). pprof files, whose frames are
//! numbers of a byte or two, may take twice that. A file that would take more is refused, with the place from where on;
//! so are threads, which are the largest rows, left out by some readers and counted.

use super::ReadError;
use crate::model::ProfileBuilder;

/// What any file may take.
const LEAST: usize = 32 << 20;
/// What each of its bytes may take.
const FACTOR: usize = 4;

/// How much memory the rows of a file may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    most: usize,
}

impl Room {
    /// Of a file of so many decompressed bytes.
    pub(super) fn of(bytes: usize) -> Self {
        Self { most: bytes.saturating_mul(FACTOR).saturating_add(LEAST) }
    }

    /// Of one with packed numbers of which each is a row.
    pub(super) fn of_packed(bytes: usize) -> Self {
        Self { most: Self::of(bytes).most.saturating_mul(2) }
    }

    /// That the rows so far are not too many.
    ///
    /// # Errors
    /// If they are. `place` is where the file has come to.
    #[inline]
    pub(super) fn check(self, builder: &ProfileBuilder, place: impl FnOnce() -> String) -> Result<(), ReadError> {
        self.check_stack(builder, 0, place)
    }

    /// That the rows so far and the nodes of a stack, whose frames are so many, are not too many.
    ///
    /// # Errors
    /// If they are. `place` is where the file has come to.
    #[inline]
    pub(super) fn check_stack(
        self,
        builder: &ProfileBuilder,
        depth: usize,
        place: impl FnOnce() -> String,
    ) -> Result<(), ReadError> {
        if builder.memory(depth) <= self.most {
            return Ok(());
        }
        Err(ReadError::TooDense { place: place(), most: self.most })
    }
}

/// How many threads a file of so many bytes can have: a thread of the model is larger than what a file may say of it.
pub(super) fn most_threads(bytes: usize) -> usize {
    (1 << 13) + bytes / 512
}

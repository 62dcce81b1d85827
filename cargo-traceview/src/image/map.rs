//! A file mapped into memory for reading: the one place here that needs `unsafe`.

use std::fs::File;
use std::io;
use std::ops::Deref;

/// The bytes of a file, mapped read-only.
///
/// The mapping is private and of the length the file had when it was mapped. Replacing the file (a new file of the same
/// name, as linkers, cargo and package managers do) does not affect it: it keeps the old inode. Two things can:
///
/// - someone *writes into* the file: the bytes seen here may change, so nothing may rest on reading the same byte twice
///   with the same result. All our parsers check every offset against the length, never against earlier content.
/// - someone *truncates* the file: touching a page behind the new end raises `SIGBUS`, which ends this process. Only an
///   in-place truncation of a program or library that runs at this moment does that; the program itself would meet the
///   same end.
#[derive(Debug)]
pub struct MappedFile {
    map: memmap2::Mmap,
}

impl MappedFile {
    /// Maps the whole of `file`.
    ///
    /// # Errors
    /// Whatever `fstat` or `mmap` report, for example for a file that is not mappable.
    #[expect(unsafe_code, reason = "a file mapping has no safe interface: its content can change from outside")]
    pub fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the mapping is read-only and private, and its memory stays owned by `Mmap`. What remains is that the
        // file can change below us; the type's documentation says what follows from that. Readers of the bytes check
        // bounds on each access and keep no invariant between two reads, so changed bytes give wrong data or an error,
        // not broken memory.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(MappedFile { map })
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

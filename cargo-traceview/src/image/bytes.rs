//! Bytes of an image that can be handed out and kept: they own a share of what they point into.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::map::MappedFile;

/// A section of an image: where it lies in the image's own address space, and its (decompressed) bytes.
#[derive(Clone, Debug)]
pub struct SectionBytes {
    /// Address of the first byte as the file states it; 0 for sections that are not loaded (debug information).
    pub svma: u64,
    /// The section's content.
    pub bytes: SharedBytes,
}

impl SectionBytes {
    /// The section's addresses in the image's own address space.
    #[must_use]
    pub fn svma_range(&self) -> Range<u64> {
        self.svma..self.svma.saturating_add(self.bytes.len() as u64)
    }
}

/// A part of an image's bytes that keeps the image's data alive; cheap to clone.
#[derive(Clone)]
pub struct SharedBytes {
    source: Arc<ImageData>,
    /// Always within the source: checked where it is made, and the source never changes its length.
    range: Range<usize>,
}

impl SharedBytes {
    /// The bytes `range` of `source`, or `None` where the range leaves it.
    pub(super) fn new(source: &Arc<ImageData>, range: Range<usize>) -> Option<Self> {
        source.get(range.clone())?;
        Some(SharedBytes { source: Arc::clone(source), range })
    }

    /// Bytes with an allocation of their own.
    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        SharedBytes { source: Arc::new(ImageData::Owned(bytes)), range }
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.source[self.range.clone()]
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBytes({:#x}..{:#x})", self.range.start, self.range.end)
    }
}

/// Where an image's bytes come from.
#[derive(Debug)]
pub(super) enum ImageData {
    /// A file on disk.
    Mapped(MappedFile),
    /// Memory: the vdso, decompressed sections, tests.
    Owned(Vec<u8>),
}

impl Deref for ImageData {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            ImageData::Mapped(file) => file,
            ImageData::Owned(bytes) => bytes,
        }
    }
}

//! What names in a cache depend on.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use crate::image::Image;
use crate::symbolize::debug_file::crc32;

/// Longer build ids are not made by linkers.
const MAX_BUILD_ID: usize = 64;
/// Pieces of a file that are looked at.
const PIECES: usize = 64;
/// Bytes of each.
const PIECE: usize = 1024;

/// The content of an image and of the files with its debug information, and the version of this program, as bytes to be
/// compared.
///
/// A build id should say all about the content, but it stays with what `strip` leaves, and some builds set it by hand, to the
/// revision of the source for example. So sizes, samples of the bytes and the time of the last change belong to the key as
/// well: a line that moved changes hardly a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Key {
    build_id: String,
    bytes: Vec<u8>,
    /// Of `bytes` without the version: newer versions replace the files of older ones.
    content: u32,
}

impl Key {
    /// `None` for an image without a build id: nothing else tells builds apart for sure.
    ///
    /// `others`: its debug file, and what that shares with others.
    pub(in super::super) fn new<'a>(image: &'a Image, others: impl IntoIterator<Item = &'a Image>) -> Option<Self> {
        let build_id = image.build_id().filter(|id| id.as_bytes().len() <= MAX_BUILD_ID)?.to_string();
        let mut bytes = build_id.clone().into_bytes();
        for file in std::iter::once(image).chain(others) {
            bytes.push(b'\n');
            bytes.extend_from_slice(&file.data().len().to_le_bytes());
            bytes.extend_from_slice(&sample(file.data()).to_le_bytes());
            // Before 1970 is as good as unknown.
            let modified = file.modified().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            bytes.extend_from_slice(&modified.as_nanos().to_le_bytes());
        }
        let content = crc32(&bytes);
        bytes.extend_from_slice(this_version().as_bytes());
        Some(Key { build_id, bytes, content })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn file_stem(&self) -> String {
        format!("{}-{:08x}", self.build_id, self.content)
    }
}

/// This very build of this program: names can be made otherwise in any other.
fn this_version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let version = env!("CARGO_PKG_VERSION");
        // Developers make many builds of one version.
        match fs::metadata("/proc/self/exe") {
            Ok(exe) => format!("\n{version} {} {}.{}", exe.len(), exe.mtime(), exe.mtime_nsec()),
            Err(_) => format!("\n{version}"),
        }
    })
}

/// A checksum of pieces all over a file. Reading all of it could take seconds from a disk.
fn sample(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    for piece in 0..PIECES {
        let start = data.len() / PIECES * piece;
        crc.update(&data[start..data.len().min(start + PIECE)]);
    }
    // The section headers: any change in size shows there.
    crc.update(&data[data.len().saturating_sub(4 * PIECE)..]);
    crc.sum()
}

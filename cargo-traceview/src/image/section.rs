//! The section table of an image: names, places, and how each section is stored.

use object::elf::{self, FileHeader64};
use object::read::elf::{SectionHeader as _, SectionTable};
use object::{CompressedData, CompressionFormat, LittleEndian};
use std::ops::Range;
use std::sync::Arc;

use super::bytes::{ImageData, SectionBytes, SharedBytes};

/// Above this a "decompressed size" is taken for damage; the debug information of Chromium is below it.
const MAX_DECOMPRESSED: u64 = 8 << 30;
/// Deflate can't do better than 1:1032.
const MAX_COMPRESSION_RATIO: u64 = 1100;
/// Debug information shrinks to a third or a tenth. Only where little memory is at stake, anything that is possible is
/// believed: a file of some megabytes must not make us take gigabytes.
const MAX_LARGE_COMPRESSION_RATIO: u64 = 64;
/// What counts as little memory.
const LITTLE: u64 = 64 << 20;
/// Size of the header in front of an `SHF_COMPRESSED` section of a 64-bit file.
const ELF_COMPRESSION_HEADER: usize = 24;
/// `ZLIB` and a big-endian length in front of an old `.zdebug_…` section.
const GNU_COMPRESSION_HEADER: usize = 12;

/// One entry of the section table that has content in the file.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) svma: u64,
    pub(super) compressed: bool,
    file_range: Range<usize>,
}

/// Reads the table; entries without content (`SHT_NOBITS`, or outside the file) are left out.
pub(super) fn read_sections(table: &SectionTable<'_, FileHeader64<LittleEndian>>, file_len: usize) -> Vec<Section> {
    let endian = LittleEndian;
    let mut sections = Vec::with_capacity(table.len());
    for header in table.iter() {
        let Some((offset, size)) = header.file_range(endian) else { continue };
        let (Ok(offset), Ok(size)) = (usize::try_from(offset), usize::try_from(size)) else { continue };
        let Some(end) = offset.checked_add(size).filter(|&end| end <= file_len) else { continue };
        let Ok(name) = table.section_name(endian, header) else { continue };
        let name = String::from_utf8_lossy(name).into_owned();
        let svma = header.sh_addr(endian);
        let compressed = header.sh_flags(endian).contains(elf::SHF_COMPRESSED);
        sections.push(Section { name, svma, compressed, file_range: offset..end });
    }
    sections
}

/// The addresses of the sections that hold code, whether or not their content is in this file.
pub(super) fn code(table: &SectionTable<'_, FileHeader64<LittleEndian>>) -> Vec<Range<u64>> {
    let endian = LittleEndian;
    let is_code = |flags: elf::SectionFlags| flags.contains(elf::SHF_ALLOC) && flags.contains(elf::SHF_EXECINSTR);
    let sections = table.iter().filter(|header| is_code(header.sh_flags(endian)));
    sections
        .map(|header| header.sh_addr(endian)..header.sh_addr(endian).saturating_add(header.sh_size(endian)))
        .collect()
}

impl Section {
    /// The section's content, decompressed; `None` where that fails.
    pub(super) fn load(&self, data: &Arc<ImageData>) -> Option<SectionBytes> {
        let stored = SharedBytes::new(data, self.file_range.clone())?;
        let bytes = if self.compressed {
            SharedBytes::owned(decompress(elf_compressed(&stored)?)?)
        } else if self.name.starts_with(".zdebug_") && stored.starts_with(b"ZLIB") {
            SharedBytes::owned(decompress(gnu_compressed(&stored)?)?)
        } else {
            stored
        };
        Some(SectionBytes { svma: self.svma, bytes })
    }
}

fn elf_compressed(stored: &[u8]) -> Option<CompressedData<'_>> {
    let (header, data) = stored.split_at_checked(ELF_COMPRESSION_HEADER)?;
    let format = match u32::from_le_bytes(header[..4].try_into().ok()?) {
        1 => CompressionFormat::Zlib,
        2 => CompressionFormat::Zstandard,
        _ => return None,
    };
    let uncompressed_size = u64::from_le_bytes(header[8..16].try_into().ok()?);
    Some(CompressedData { format, data, uncompressed_size })
}

fn gnu_compressed(stored: &[u8]) -> Option<CompressedData<'_>> {
    let (header, data) = stored.split_at_checked(GNU_COMPRESSION_HEADER)?;
    let uncompressed_size = u64::from_be_bytes(header[4..].try_into().ok()?);
    Some(CompressedData { format: CompressionFormat::Zlib, data, uncompressed_size })
}

/// Decompresses, unless the size the file claims can't be true: it is allocated before the first byte is read.
fn decompress(compressed: CompressedData<'_>) -> Option<Vec<u8>> {
    let stored = compressed.data.len() as u64;
    let possible = stored.saturating_mul(MAX_COMPRESSION_RATIO).min(LITTLE);
    let plausible = stored.saturating_mul(MAX_LARGE_COMPRESSION_RATIO).min(MAX_DECOMPRESSED);
    if compressed.uncompressed_size > possible.max(plausible) {
        return None;
    }
    compressed.decompress().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::{decompress, elf_compressed, gnu_compressed};

    #[test]
    fn a_claimed_size_beyond_any_compression_is_refused_before_allocating() {
        let mut section = vec![0_u8; 40];
        section[0] = 1;
        section[8..16].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        assert!(decompress(elf_compressed(&section).unwrap()).is_none());
        section[8..16].copy_from_slice(&(16_u64 * 1101).to_le_bytes());
        assert!(decompress(elf_compressed(&section).unwrap()).is_none());
    }

    #[test]
    fn damaged_headers_and_streams_give_nothing() {
        assert!(elf_compressed(&[1, 0, 0, 0]).is_none());
        assert!(elf_compressed(&[9; 40]).is_none(), "unknown compression type");
        let mut section = b"ZLIB\0\0\0\0\0\0\0\x10".to_vec();
        section.extend_from_slice(&[0xff; 8]);
        assert!(decompress(gnu_compressed(&section).unwrap()).is_none());
    }

    #[test]
    fn a_zdebug_section_is_inflated() {
        // Python: `zlib.compress(b'a' * 16)`
        let mut section = b"ZLIB\0\0\0\0\0\0\0\x10".to_vec();
        section.extend_from_slice(&[0x78, 0x9c, 0x4b, 0x4c, 0x44, 0x05, 0x00, 0x33, 0x98, 0x06, 0x11]);
        assert_eq!(decompress(gnu_compressed(&section).unwrap()).unwrap(), b"aaaaaaaaaaaaaaaa");
    }
}

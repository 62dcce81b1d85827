//! Loadable segments, and the arithmetic between file offsets, the image's own addresses (SVMA) and the addresses of a
//! process (AVMA).

use std::cmp::Reverse;

/// Size of the pages that the kernel maps files by on x86_64.
const PAGE: u64 = 4096;

/// A `PT_LOAD` program header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address of the first byte in the image's own address space.
    pub svma: u64,
    /// Offset of the first byte in the file.
    pub file_offset: u64,
    /// Bytes that come from the file.
    pub file_size: u64,
    /// Bytes in memory; what exceeds `file_size` is zero.
    pub mem_size: u64,
    /// Whether the segment holds code.
    pub executable: bool,
}

impl Segment {
    /// The part of the file that the kernel maps for this segment: whole pages.
    fn file_pages(&self) -> (u64, u64) {
        let end = self.file_offset.saturating_add(self.file_size);
        (self.file_offset & !(PAGE - 1), end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX))
    }

    /// Bytes of the file that this segment and `[offset, offset + len)` share.
    fn overlap(&self, offset: u64, len: u64) -> u64 {
        let start = self.file_offset.max(offset);
        let end = self.file_offset.saturating_add(self.file_size).min(offset.saturating_add(len));
        end.saturating_sub(start)
    }
}

/// The address of the byte at `offset` of the file, if any segment loads it.
pub(super) fn svma_at_file_offset(segments: &[Segment], offset: u64) -> Option<u64> {
    let segment = segments.iter().find(|segment| segment.overlap(offset, 1) == 1)?;
    segment.svma.checked_add(offset - segment.file_offset)
}

/// AVMA − SVMA for a mapping of the image's file.
///
/// Mappings consist of whole pages, so one often holds the edge of a neighbouring segment as well, and two segments can
/// even share all their pages. In order of weight: a mapping of exactly the segment's pages, one that begins where the
/// segment does (RELRO protects the head of the data segment, which splits its mapping), more shared bytes, code.
pub(super) fn bias<'a>(
    segments: impl Iterator<Item = &'a Segment>,
    start_avma: u64,
    file_offset: u64,
    len: u64,
) -> Option<u64> {
    let pages = (file_offset, file_offset.checked_add(len)?);
    let segment = segments
        .filter(|segment| segment.overlap(file_offset, len) > 0)
        // `min_by_key` keeps the first of equals: the lowest segment, as program headers are sorted by address.
        .min_by_key(|segment| {
            let own = segment.file_pages();
            Reverse((own == pages, own.0 == pages.0, segment.overlap(file_offset, len), segment.executable))
        })?;
    // The difference modulo 2^64: a mapping below the image's own address (prelink, a non-PIE moved by hand) wraps.
    let start_svma = segment.svma.wrapping_sub(segment.file_offset).wrapping_add(file_offset);
    Some(start_avma.wrapping_sub(start_svma))
}

/// The lowest loaded address, rounded down to its page.
pub(super) fn base_svma(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| segment.svma & !(PAGE - 1)).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Segment, base_svma, bias, svma_at_file_offset};

    fn segment(svma: u64, file_offset: u64, file_size: u64, executable: bool) -> Segment {
        Segment { svma, file_offset, file_size, mem_size: file_size, executable }
    }

    /// As lld lays files out: no padding in the file, each segment's address one page further than its offset.
    fn lld() -> Vec<Segment> {
        vec![
            segment(0, 0, 0x1234, false),
            segment(0x2240, 0x1240, 0x3000, true),
            segment(0x6240, 0x4240, 0x500, false),
            segment(0x7740, 0x4740, 0x100, false),
        ]
    }

    #[test]
    fn file_offsets_go_through_the_program_headers() {
        assert_eq!(svma_at_file_offset(&lld(), 0x1240), Some(0x2240));
        assert_eq!(svma_at_file_offset(&lld(), 0x423f), Some(0x523f));
        assert_eq!(svma_at_file_offset(&lld(), 0x4240), Some(0x6240));
        assert_eq!(svma_at_file_offset(&lld(), 0x4840), None);
        assert_eq!(svma_at_file_offset(&lld(), 0x1238), None, "padding between segments is not loaded");
    }

    #[test]
    fn bias_is_the_same_for_every_mapping_of_an_image() {
        let base = 0x7f00_0000_0000;
        let segments = lld();
        for (svma, offset, len) in [(0, 0, 0x2000), (0x2000, 0x1000, 0x4000), (0x6000, 0x4000, 0x1000)] {
            assert_eq!(bias(segments.iter(), base + svma, offset, len), Some(base), "mapping at {offset:#x}");
        }
    }

    #[test]
    fn bias_of_a_part_split_off_by_mprotect() {
        let base = 0x5555_0000_0000;
        assert_eq!(bias(lld().iter(), base + 0x3000, 0x2000, 0x1000), Some(base));
    }

    #[test]
    fn bias_of_a_relro_page_that_holds_more_of_the_segment_before() {
        // libgcc_s.so.1 of Debian 13: the page at 0x1d000 is mapped for the data segment, at 0x1e000.
        let segments = [segment(0x1a000, 0x1a000, 0x330c, false), segment(0x1_edb0, 0x1_ddb0, 0x3e0, false)];
        assert_eq!(bias(segments.iter(), 0x7001_e000, 0x1d000, 0x1000), Some(0x7000_0000));
    }

    #[test]
    fn bias_of_segments_that_share_all_their_pages_prefers_more_bytes_then_code() {
        let segments = [segment(0, 0, 0x100, false), segment(0x1100, 0x100, 0xd00, true)];
        assert_eq!(bias(segments.iter(), 0x10_1000, 0, 0x1000), Some(0x10_0000));
    }

    #[test]
    fn bias_needs_an_overlap() {
        assert_eq!(bias(lld().iter(), 0x1000, 0x10_0000, 0x1000), None);
        assert_eq!(bias(lld().iter(), 0x1000, u64::MAX - 10, 0x1000), None, "an end beyond the address space");
    }

    #[test]
    fn bias_of_a_fixed_address_program_is_zero() {
        let segments = [segment(0x40_0000, 0, 0x500, false), segment(0x40_1000, 0x1000, 0x100, true)];
        assert_eq!(bias(segments.iter(), 0x40_1000, 0x1000, 0x1000), Some(0));
        assert_eq!(base_svma(&segments), 0x40_0000);
    }
}

//! The `.xz` container, as far as `.gnu_debugdata` needs it: one stream of LZMA2 blocks.
//!
//! Checksums are not compared: a symbol table has none either, and what is read from it is checked at each step.

use lzma_rust2::Lzma2Reader;
use std::io::{BufRead, Read};

const MAGIC: &[u8] = b"\xfd7zXZ\0";
/// Magic, flags and their CRC.
const STREAM_HEADER: usize = 12;
const LZMA2: u64 = 0x21;
/// The smallest dictionary of the format.
const MIN_DICTIONARY: u32 = 4096;

/// Unpacks a stream; `None` where it is damaged, uses another filter than LZMA2, or holds more than `limit` bytes.
///
/// Memory is taken as output comes, never by what a header claims.
pub(crate) fn unpack(stream: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut rest = stream.strip_prefix(MAGIC)?.get(STREAM_HEADER - MAGIC.len()..)?;
    let check_len = match stream[MAGIC.len() + 1] & 0x0f {
        0 => 0,
        1..=3 => 4,
        4..=6 => 8,
        7..=9 => 16,
        10..=12 => 32,
        _ => 64,
    };
    let mut output = Vec::new();
    // The index of blocks begins with a zero byte, where a block has its header's length.
    while *rest.first()? != 0 {
        let header_len = (usize::from(rest[0]) + 1) * 4;
        let (header, data) = rest.split_at_checked(header_len)?;
        let dictionary = dictionary_size(header)?;
        let room = limit.checked_sub(output.len())?;
        let mut input = data;
        // Nothing is further back than the output is long.
        let dictionary = dictionary.min(u32::try_from(limit).unwrap_or(u32::MAX)).max(MIN_DICTIONARY);
        let decoder = Lzma2Reader::new(&mut input, dictionary, None);
        decoder.take(room as u64 + 1).read_to_end(&mut output).ok()?;
        if output.len() > limit {
            return None;
        }
        let packed_len = (data.len() - input.len()).next_multiple_of(4);
        rest = data.get(packed_len + check_len..)?;
    }
    Some(output)
}

/// What the filter of a block wants to look back at; `None` for another filter than LZMA2, or several.
fn dictionary_size(header: &[u8]) -> Option<u32> {
    let mut fields = header.get(1..)?;
    let mut flags = 0;
    fields.read_exact(std::slice::from_mut(&mut flags)).ok()?;
    if flags & 0x3f != 0 {
        return None;
    }
    // The packed and the unpacked size, which LZMA2 tells by itself.
    for bit in [0x40, 0x80] {
        if flags & bit != 0 {
            number(&mut fields)?;
        }
    }
    if number(&mut fields)? != LZMA2 || number(&mut fields)? != 1 {
        return None;
    }
    match *fields.first()? {
        40 => Some(u32::MAX),
        bits @ 0..40 => Some((2 | u32::from(bits & 1)) << (bits / 2 + 11)),
        _ => None,
    }
}

/// A number in groups of seven bits, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.first()?;
        bytes.consume(1);
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unpack;

    /// Python: `lzma.compress(b'abc' * 32)`
    const PACKED: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00,
        0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x5f, 0x00, 0x09, 0x5d, 0x00, 0x30, 0x98, 0x88, 0xab, 0x9a,
        0xa0, 0xe9, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x56, 0x7e, 0xf0, 0xc7, 0x69, 0x19, 0x72, 0xc0, 0x00, 0x01,
        0x25, 0x60, 0x94, 0x04, 0xc7, 0x85, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
    ];

    fn text() -> Vec<u8> {
        b"abc".repeat(32)
    }

    #[test]
    fn a_stream_is_unpacked_up_to_the_limit() {
        assert_eq!(unpack(PACKED, 1000), Some(text()));
        assert_eq!(unpack(PACKED, text().len()), Some(text()));
        assert_eq!(unpack(PACKED, text().len() - 1), None);
        assert_eq!(unpack(PACKED, 0), None);
    }

    #[test]
    fn any_damage_is_survived() {
        for len in 0..PACKED.len() {
            if let Some(output) = unpack(&PACKED[..len], 1000) {
                assert_eq!(output, text(), "cut to {len}");
            }
        }
        for at in 0..PACKED.len() {
            for bit in 0..8 {
                let mut damaged = PACKED.to_vec();
                damaged[at] ^= 1 << bit;
                assert!(unpack(&damaged, 1000).is_none_or(|output| output.len() <= 1000));
            }
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        // A block of LZMA2 chunks, each a run of one byte: 2 MiB out of some hundred bytes.
        let mut bomb = PACKED[..24].to_vec();
        for _ in 0..4096 {
            bomb.extend_from_slice(&[0x01, 0xff, 0xff]);
            bomb.extend_from_slice(&[0; 0x1_0000]);
        }
        assert_eq!(unpack(&bomb, 1 << 20), None);
    }
}

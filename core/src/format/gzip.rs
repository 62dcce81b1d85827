//! Gzip around any format: recognised by its first bytes, with a limit on what comes out.

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{FORMATS, ReadError, WriteError, unknown_format};

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// After this many bytes it is looked whether they begin like a file of any format: a little file can hold gigabytes.
const START: u64 = 64 << 10;

/// Whether a file that begins so is compressed.
pub(super) fn is_compressed(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// `bytes`, decompressed if they are compressed.
pub(super) fn decompress(bytes: &[u8], max_size: u64) -> Result<Cow<'_, [u8]>, ReadError> {
    if !is_compressed(bytes) {
        return if bytes.len() as u64 > max_size { Err(ReadError::TooLarge { max_size }) } else { Ok(bytes.into()) };
    }
    let mut plain = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(START.min(max_size));
    let mut result = decoder.read_to_end(&mut plain);
    if result.is_ok() && decoder.limit() == 0 {
        if !FORMATS.iter().any(|format| (format.begins)(&plain)) {
            return Err(unknown_format(&plain));
        }
        decoder.set_limit((max_size - plain.len() as u64).saturating_add(1));
        result = decoder.read_to_end(&mut plain);
    }
    let decompressed = plain.len() as u64;
    match result {
        Ok(_) if decompressed > max_size => Err(ReadError::TooLarge { max_size }),
        Ok(_) => Ok(plain.into()),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(ReadError::TruncatedGzip { decompressed }),
        Err(error) => Err(ReadError::DamagedGzip { decompressed, reason: error.to_string() }),
    }
}

/// Compresses what `write` writes. The header carries no name and no time, so that equal input gives equal bytes.
pub(super) fn compress<T>(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, WriteError>,
) -> Result<T, WriteError> {
    let mut encoder = BufWriter::with_capacity(1 << 16, GzEncoder::new(out, Compression::fast()));
    let result = write(&mut encoder)?;
    let encoder = encoder.into_inner().map_err(io::IntoInnerError::into_error)?;
    encoder.finish()?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(&mut out, |out| Ok(out.write_all(bytes)?)).expect("memory does not fail");
        out
    }

    #[test]
    fn only_compressed_bytes_are_decompressed() {
        assert_eq!(&*decompress(b"plain", 100).expect("plain"), b"plain");
        assert_eq!(&*decompress(&packed(b"plain"), 100).expect("whole"), b"plain");
        assert_eq!(packed(b"x"), packed(b"x"));
    }

    #[test]
    fn what_exceeds_the_limit_is_refused_before_it_fills_memory() {
        let mut text = vec![b' '; 10_000_000];
        text[0] = b'{';
        let blanks = packed(&text);
        assert!(blanks.len() < 100_000);
        let error = decompress(&blanks, 9_999_999).expect_err("too large").to_string();
        assert!(error.contains("larger than 9999999 bytes"), "{error}");
        assert_eq!(decompress(&blanks, 10_000_000).expect("as large as allowed").len(), 10_000_000);
        assert!(matches!(decompress(b"plain", 4), Err(ReadError::TooLarge { max_size: 4 })));
    }

    #[test]
    fn what_begins_like_no_profile_is_not_decompressed_to_its_end() {
        let mut bytes = packed(&vec![0; 10_000_000]);
        // Damage that would be found at the end.
        let last = bytes.len() - 1;
        bytes[last] ^= 0xff;
        assert!(matches!(decompress(&bytes, u64::MAX), Err(ReadError::UnknownFormat { .. })));
    }

    #[test]
    fn a_cut_is_told_from_damage() {
        let whole = packed(b"some text that is long enough to be cut anywhere");
        for len in 2..whole.len() {
            let error = decompress(&whole[..len], 1000).expect_err("cut");
            assert!(matches!(error, ReadError::TruncatedGzip { .. }), "cut at {len}: {error}");
        }
        let mut damaged = whole.clone();
        let at = whole.len() - 6;
        damaged[at] ^= 0xff;
        assert!(matches!(decompress(&damaged, 1000), Err(ReadError::DamagedGzip { .. })));
    }
}

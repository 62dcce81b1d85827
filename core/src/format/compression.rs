//! Compression around any format, told by its first bytes, with a limit on what comes out: gzip is read and written,
//! zstd is read.

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, BufWriter, ErrorKind, Read, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use super::{FORMATS, ReadError, WriteError, unknown_format};

/// After this many bytes it is looked whether they begin like a file of any format: a little file can hold gigabytes.
const START: u64 = 64 << 10;

/// What a gzip member begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a zstd frame begins with.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A way to compress that is read.
#[derive(Clone, Copy)]
enum Method {
    Gzip,
    Zstd,
}

impl Method {
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            _ if start.starts_with(&GZIP) => Some(Self::Gzip),
            _ if start.starts_with(&ZSTD) => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn decoder<'a>(self, bytes: &'a [u8]) -> Box<dyn Read + 'a> {
        match self {
            Self::Gzip => Box::new(GzipMembers { rest: bytes, member: None }),
            Self::Zstd => Box::new(ZstdFrames { rest: bytes, frame: None }),
        }
    }
}

/// Whether a file that begins so is compressed.
pub(super) fn is_compressed(start: &[u8]) -> bool {
    Method::of(start).is_some()
}

/// `bytes`, decompressed if they are compressed.
pub(super) fn decompress(bytes: &[u8], max_size: u64) -> Result<Cow<'_, [u8]>, ReadError> {
    let Some(method) = Method::of(bytes) else {
        return if bytes.len() as u64 > max_size { Err(ReadError::TooLarge { max_size }) } else { Ok(bytes.into()) };
    };
    let mut plain = Vec::new();
    let mut decoder = method.decoder(bytes).take(START.min(max_size));
    let mut result = decoder.read_to_end(&mut plain);
    if result.is_ok() && decoder.limit() == 0 {
        if !FORMATS.iter().any(|format| (format.begins)(&plain)) {
            return Err(unknown_format(&plain));
        }
        decoder.set_limit((max_size - plain.len() as u64).saturating_add(1));
        result = decoder.read_to_end(&mut plain);
    }
    let (method, decompressed) = (method.name(), plain.len() as u64);
    match result {
        Ok(_) if decompressed > max_size => Err(ReadError::TooLarge { max_size }),
        Ok(_) => Ok(plain.into()),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(ReadError::TruncatedCompression { method, decompressed })
        }
        Err(error) => Err(ReadError::DamagedCompression { method, decompressed, reason: error.to_string() }),
    }
}

/// The content of all members of a gzip file, one after the other.
struct GzipMembers<'a> {
    rest: &'a [u8],
    member: Option<GzDecoder<&'a [u8]>>,
}

impl Read for GzipMembers<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let member = match &mut self.member {
                Some(member) => member,
                // Tapes and some tools fill blocks with zeros.
                None if self.rest.iter().all(|byte| *byte == 0) => return Ok(0),
                None if self.rest.starts_with(&GZIP) || GZIP.starts_with(self.rest) => {
                    self.member.insert(GzDecoder::new(self.rest))
                }
                None => return Err(not_compressed(self.rest)),
            };
            let got = member.read(out)?;
            if got > 0 || out.is_empty() {
                return Ok(got);
            }
            self.rest = member.get_ref();
            self.member = None;
        }
    }
}

/// The content of all frames of a zstd file, one after the other.
struct ZstdFrames<'a> {
    rest: &'a [u8],
    frame: Option<StreamingDecoder<&'a [u8], ruzstd::decoding::FrameDecoder>>,
}

impl Read for ZstdFrames<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else {
                if self.rest.is_empty() {
                    return Ok(0);
                }
                self.start_frame()?;
                continue;
            };
            let got = frame.read(out).map_err(|error| end_or_damage(&error))?;
            if got > 0 || out.is_empty() {
                return Ok(got);
            }
            let (said, is) = (frame.decoder.get_checksum_from_data(), frame.decoder.get_calculated_checksum());
            if said.is_some() && said != is {
                return Err(io::Error::new(ErrorKind::InvalidData, "the checksum is wrong"));
            }
            self.rest = frame.get_ref();
            self.frame = None;
        }
    }
}

impl ZstdFrames<'_> {
    /// Begins with the frame at `rest`, or passes over it if it is one that decoders skip.
    fn start_frame(&mut self) -> io::Result<()> {
        match StreamingDecoder::new(self.rest) {
            Ok(frame) => self.frame = Some(frame),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                // Behind its magic number and length.
                let end = (length as usize).saturating_add(8);
                self.rest = self.rest.get(end..).ok_or(ErrorKind::UnexpectedEof)?;
            }
            Err(_) if self.rest.len() >= ZSTD.len() && !self.rest.starts_with(&ZSTD) && !is_skipped(self.rest) => {
                return Err(not_compressed(self.rest));
            }
            Err(error) => return Err(end_or_damage(&io::Error::other(error))),
        }
        Ok(())
    }
}

/// Whether a frame of zstd begins so that decoders pass over.
fn is_skipped(start: &[u8]) -> bool {
    start.get(1..4) == Some(&[0x2a, 0x4d, 0x18]) && start[0] >> 4 == 5
}

/// Something else stands behind what is compressed.
fn not_compressed(rest: &[u8]) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{} bytes follow that are not compressed", rest.len()))
}

/// `error` of the decoder of zstd as the end of the data, where that is its cause; else in words of our own, as its own are
/// for those who write it.
fn end_or_damage(error: &io::Error) -> io::Error {
    let mut cause = error.get_ref().map(|inner| -> &(dyn Error + 'static) { inner });
    while let Some(inner) = cause {
        if inner.downcast_ref::<io::Error>().is_some_and(|inner| inner.kind() == ErrorKind::UnexpectedEof) {
            return ErrorKind::UnexpectedEof.into();
        }
        cause = inner.source();
    }
    io::Error::new(ErrorKind::InvalidData, "its content is no zstd")
}

/// Compresses what `write` writes with gzip. The header carries no name and no time, so that equal input gives equal
/// bytes.
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

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
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
            assert!(matches!(error, ReadError::TruncatedCompression { .. }), "cut at {len}: {error}");
        }
        let mut damaged = whole.clone();
        let at = whole.len() - 6;
        damaged[at] ^= 0xff;
        assert!(matches!(decompress(&damaged, 1000), Err(ReadError::DamagedCompression { .. })));
    }

    #[test]
    fn all_members_of_gzip_are_read_and_nothing_else() {
        let mut bytes = [packed(b"{ one "), packed(b"two }")].concat();
        assert_eq!(&*decompress(&bytes, 100).expect("whole"), b"{ one two }");
        bytes.extend([0; 1000]);
        assert_eq!(&*decompress(&bytes, 100).expect("padded"), b"{ one two }");
        bytes.extend(b"rest");
        let error = decompress(&bytes, 100).expect_err("followed by something").to_string();
        assert_eq!(
            error,
            "the gzip data is damaged after 11 decompressed bytes: 1004 bytes follow that are not compressed"
        );
    }

    #[test]
    fn all_frames_of_zstd_are_read() {
        let mut bytes = zstd(b"{ one ");
        let first = bytes.len();
        // A frame for others (magic number, length, content), which decoders pass over.
        bytes.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        let skipped = bytes.len();
        bytes.extend(zstd(b"two }"));
        assert_eq!(&*decompress(&bytes, 11).expect("whole"), b"{ one two }");
        assert!(matches!(decompress(&bytes, 10), Err(ReadError::TooLarge { max_size: 10 })));
        for end in 4..bytes.len() {
            match decompress(&bytes[..end], 100) {
                // Nothing is missing from the frames that are there.
                Ok(plain) => assert!([first, skipped].contains(&end) && *plain == *b"{ one ", "cut at {end}"),
                Err(ReadError::TruncatedCompression { method: "zstd", .. }) => {}
                Err(error) => panic!("cut at {end}: {error}"),
            }
        }
        bytes.extend(b"rest");
        let error = decompress(&bytes, 100).expect_err("followed by something").to_string();
        assert_eq!(
            error,
            "the zstd data is damaged after 11 decompressed bytes: 4 bytes follow that are not compressed"
        );
        let mut damaged = zstd(&(0..100_u8).cycle().take(5000).collect::<Vec<_>>());
        for at in 4..damaged.len() {
            damaged[at] ^= 0xff;
            if let Err(error @ ReadError::DamagedCompression { .. }) = decompress(&damaged, 1 << 20) {
                let error = error.to_string();
                let reason = error.rsplit(": ").next().expect("a reason");
                let known = ["its content is no zstd", "the checksum is wrong"];
                assert!(known.contains(&reason) || reason.ends_with("bytes follow that are not compressed"), "{error}");
            }
            damaged[at] ^= 0xff;
        }
    }
}

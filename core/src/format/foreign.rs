//! Files that people open by mistake, and what to do about them.

/// What a file is that is no profile, as far as its first bytes say, and what to do with it.
pub(super) fn hint(bytes: &[u8]) -> Option<&'static str> {
    let starts = |start: &[u8]| bytes.starts_with(start);
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    Some(match () {
        () if starts(b"\xff\xfe") || starts(b"\xfe\xff") => {
            "it is text in UTF-16, as some shells on Windows write it: save it as UTF-8"
        }
        () if starts(b"PERFILE2") || starts(b"2ELIFREP") => {
            "it is perf's own data: `perf script -F +pid > FILE.perf` makes a text of it that can be read"
        }
        () if starts(b"\x1f\x8b") || starts(b"\x28\xb5\x2f\xfd") => "it is compressed twice: decompress it once",
        () if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") => "it is a zip archive: unpack the profile from it",
        () if starts(b"\xfd7zXZ\0")
            || starts(b"BZh")
            || starts(b"\x04\x22\x4d\x18")
            || starts(b"7z\xbc\xaf\x27\x1c") =>
        {
            "it is compressed in a way that is not read (gzip and zstd are): decompress it"
        }
        () if bytes.get(257..262) == Some(b"ustar") => "it is a tar archive: unpack the profile from it",
        () if starts(b"\x7fELF") => {
            "it is a program or library: `cargo traceview record -- PROGRAM` records what one does"
        }
        () if begins("<!doctype html") || begins("<html") => {
            "it is a page of the web, perhaps one that says why the file could not be had: download it again"
        }
        () if begins("<svg") || (begins("<?xml") && memchr::memmem::find(text, b"<svg").is_some()) => {
            "it is a picture: what it was drawn from, for example collapsed stacks, can be read"
        }
        () if starts(b"\x89PNG") || starts(b"\xff\xd8\xff") => "it is a picture",
        () if starts(b"FLR\0") => "it is a recording of Java's flight recorder: async-profiler's `jfrconv` converts it",
        () if starts(b"# callgrind format") || begins("version: 1\ncreator: callgrind") => {
            "it is a profile of callgrind"
        }
        () if starts(b"SQLite format 3\0") => "it is a database of SQLite",
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{FORMATS, ReadOptions, can_begin, compression, read};
    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compression::compress(&mut out, |out| Ok(out.write_all(bytes)?)).expect("memory does not fail");
        out
    }

    fn error(bytes: &[u8]) -> String {
        read(bytes, &ReadOptions::default()).expect_err("no profile").to_string()
    }

    #[test]
    fn what_is_opened_by_mistake_is_told() {
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let utf16: Vec<u8> = "\u{feff}main;a 5\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let files: [(&[u8], &str); 15] = [
            (&utf16, "UTF-8"),
            (b"\xfe\xff\0m\0a", "UTF-8"),
            (b"PERFILE2\x68\0\0\0\0\0\0\0", "perf script"),
            (&gzip(&gzip(b"main;a 5\n")), "compressed twice"),
            (b"PK\x03\x04\x14\0\0\0", "zip archive"),
            (b"\xfd7zXZ\0\0\x04", "gzip and zstd are"),
            (b"BZh91AY&SY", "gzip and zstd are"),
            (&tar, "tar archive"),
            (b"\x7fELF\x02\x01\x01\0", "traceview record"),
            (b"\n<!DOCTYPE html>\n<html><head>", "download it again"),
            (b"<HTML>\n", "download it again"),
            (b"<?xml version=\"1.0\"?>\n<svg version=\"1.1\">", "collapsed stacks"),
            (b"\x89PNG\r\n\x1a\n", "picture"),
            (b"FLR\0\0\x02", "jfrconv"),
            (b"# callgrind format\nversion: 1\n", "callgrind"),
        ];
        for (file, word) in files {
            let error = error(file);
            assert!(error.contains(word) && error.starts_with("not a profile in a known format"), "{word}: {error}");
            assert!(!error.contains("begins with"), "the bytes say less: {error}");
        }
        assert!(error(b"hello").ends_with(r#"the file begins with "hello""#));
        assert_eq!([error(b""), error(b" \n"), error(&gzip(b""))], ["the file is empty"; 3]);
    }

    #[test]
    fn no_format_begins_so() {
        for start in [&b"\xff\xfem\0"[..], b"PERFILE2", b"PK\x03\x04", b"\x7fELF", b"<!doctype html>"] {
            assert!(hint(start).is_some() && !can_begin(start), "{start:?}");
            assert!(!FORMATS.iter().any(|format| (format.sniff)(start)), "{start:?}");
        }
    }
}

//! The lines below an event line: frames, the innermost first, and where in the source they are.

/// The parts of a frame's line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FrameLine<'a> {
    pub address: Option<u64>,
    /// The function, without the offset in it; empty if not known.
    pub symbol: &'a [u8],
    /// The file with the code; `None` if not known.
    pub file: Option<&'a [u8]>,
    /// Whether it was inlined into the next frame.
    pub is_inlined: bool,
}

/// What a line in the place of a frame's says of the source of the frame before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SourceLine<'a> {
    /// File and line, if known.
    pub place: Option<(&'a [u8], u32)>,
    pub is_inlined: bool,
}

const UNKNOWN: &[u8] = b"[unknown]";

/// Takes `address symbol+offset (file)` apart. Without an address (`-F sym`) it must begin with a tab.
pub(super) fn parse(line: &[u8]) -> Option<FrameLine<'_>> {
    let text = line.trim_ascii();
    let word = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let address = hex(&text[..word]);
    if text.is_empty() || (address.is_none() && !line.starts_with(b"\t")) {
        return None;
    }
    let rest = if address.is_some() { text[word..].trim_ascii_start() } else { text };
    let (symbol, file) = split_file(rest);
    let symbol = without_offset(symbol);
    let file = file.map(|file| file.strip_suffix(b" (deleted)").unwrap_or(file));
    Some(FrameLine {
        address,
        symbol: if symbol == UNKNOWN { b"" } else { symbol },
        file: file.filter(|file| *file != UNKNOWN && *file != b"inlined" && !file.is_empty()),
        is_inlined: file == Some(b"inlined"),
    })
}

/// Takes `  file:line` apart, as `-F +srcline` prints it, or `  library[address]` where that is not known.
pub(super) fn parse_source(line: &[u8]) -> Option<SourceLine<'_>> {
    let text = line.strip_prefix(b"  ").filter(|text| !text.starts_with(b" "))?.trim_ascii_end();
    let (text, is_inlined) = match text.strip_suffix(b" (inlined)") {
        Some(text) => (text, true),
        None => (text, false),
    };
    if let Some(inside) = text.strip_suffix(b"]") {
        let bracket = memchr::memrchr(b'[', inside)?;
        return hex(&inside[bracket + 1..]).map(|_| SourceLine { place: None, is_inlined });
    }
    let colon = memchr::memrchr(b':', text)?;
    let number = &text[colon + 1..];
    let line = std::str::from_utf8(number).ok().filter(|_| number.iter().all(u8::is_ascii_digit))?.parse().ok()?;
    // `:0` is what is not known.
    Some(SourceLine { place: (colon > 0 && line > 0).then_some((&text[..colon], line)), is_inlined })
}

/// Symbol and file of `symbol (file)`. The file can have brackets in its name, the symbol those of arguments.
fn split_file(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(inside) = text.strip_suffix(b")") else { return (text, None) };
    let is_start = |at: usize| at == 0 || text[at - 1] == b' ';
    let mut depth = 1_usize;
    for (at, byte) in inside.iter().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let is_file = is_start(at);
            return if is_file { (text[..at].trim_ascii_end(), Some(&inside[at + 1..])) } else { (text, None) };
        }
    }
    // More brackets are closed than opened: of a file with an odd name.
    match memchr::memmem::rfind(inside, b" (") {
        Some(at) => (text[..at].trim_ascii_end(), Some(&inside[at + 2..])),
        None => (text, None),
    }
}

fn without_offset(symbol: &[u8]) -> &[u8] {
    match memchr::memrchr(b'+', symbol) {
        Some(at) if symbol[at..].strip_prefix(b"+0x").and_then(hex).is_some() => &symbol[..at],
        _ => symbol,
    }
}

fn hex(word: &[u8]) -> Option<u64> {
    let is_hex = !word.is_empty() && word.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(word).ok().filter(|_| is_hex)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_versions_are_understood() {
        for (line, symbol, file, is_inlined) in [
            ("\t            11a8 leaf+0x1f (/tmp/w)", "leaf", Some("/tmp/w"), false),
            ("\t            11a8 mix+0x1f (inlined)", "mix", None, true),
            ("\tffffffff817554ea elf_load+0x28a ([kernel.kallsyms])", "elf_load", Some("[kernel.kallsyms]"), false),
            ("\t    7fcb56cf2ad7 [unknown] ([unknown])", "", None, false),
            ("\t          146f7c [unknown] (/usr/bin/perf)", "", Some("/usr/bin/perf"), false),
            (
                "\t 8b9dcdc (anonymous namespace)::f(int, char)+0xf96 (/a b/(c)/x.so (deleted))",
                "(anonymous namespace)::f(int, char)",
                Some("/a b/(c)/x.so"),
                false,
            ),
            ("\t    11a8 mix", "mix", None, false),
            ("\t    11a8 f(int)", "f(int)", None, false),
            ("\t 7f1e2215d058  (/lib/libc-2.15.so)", "", Some("/lib/libc-2.15.so"), false),
            ("555e674741a8 leaf+0x1f (/tmp/x)y)", "leaf", Some("/tmp/x)y"), false),
            ("\tmain (/x)", "main", Some("/x"), false),
            ("\t   4000b0", "", None, false),
            ("\t 12 a+0xzz", "a+0xzz", None, false),
        ] {
            let frame = parse(line.as_bytes()).expect(line);
            let parts = (frame.symbol, frame.file, frame.is_inlined);
            assert_eq!(parts, (symbol.as_bytes(), file.map(str::as_bytes), is_inlined), "{line}");
        }
        assert_eq!(parse(b"\t 11a8 leaf").expect("a frame").address, Some(0x11a8));
        assert!([b"  w.c:10".as_slice(), b"", b"\t", b"main 5"].iter().all(|line| parse(line).is_none()));
    }

    #[test]
    fn places_in_the_source_are_told_from_frames() {
        let source = |line: &'static str| {
            let source = parse_source(line.as_bytes())?;
            Some((source.place.map(|(file, line)| (std::str::from_utf8(file).unwrap(), line)), source.is_inlined))
        };
        assert_eq!(source("  w.c:9 (inlined)"), Some((Some(("w.c", 9)), true)));
        assert_eq!(source("  /a b/c.rs:10"), Some((Some(("/a b/c.rs", 10)), false)));
        assert_eq!(source("  [kernel.kallsyms][ffffffff817554ea]"), Some((None, false)));
        assert_eq!(source("  :0"), Some((None, false)));
        assert_eq!(source("  libc.so.6[1098eb] (inlined)"), Some((None, true)));
        for line in ["  a[xyz]", "w.c:9", "   w.c:9", "  w.c:", "  w.c:99999999999", "  w.c:-1"] {
            assert_eq!(source(line), None, "{line}");
        }
    }
}

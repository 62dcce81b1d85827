//! The lines of a text file, each with its place.

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Where it begins in the file.
    pub offset: usize,
    /// What is in it, without `\n` or `\r\n`.
    pub text: &'a [u8],
    /// Whether the file goes on behind it: a line that was cut off has no end.
    pub is_ended: bool,
}

/// The lines of `text`, which may begin with a byte order mark.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut offset = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    std::iter::from_fn(move || {
        let rest = text.get(offset..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest);
        let content = &rest[..end.unwrap_or(rest.len())];
        let line = Line { offset, text: content.strip_suffix(b"\r").unwrap_or(content), is_ended: end.is_some() };
        offset += end.map_or(rest.len(), |end| end + 1);
        Some(line)
    })
}

/// The lines that say what sort of text this is: whole ones from its first few kilobytes, blank ones left out. `None`
/// where a byte among them is in no text.
pub(super) fn first_lines(text: &[u8]) -> Option<Vec<Line<'_>>> {
    const ENOUGH_LINES: usize = 200;
    const ENOUGH_BYTES: usize = 64 << 10;
    let mut first: Vec<Line<'_>> = Vec::new();
    for line in lines(text) {
        let is_enough = line.offset > ENOUGH_BYTES || first.len() >= ENOUGH_LINES || !line.is_ended;
        if is_enough && !first.is_empty() {
            break;
        }
        if line.text.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return None;
        }
        if !line.text.trim_ascii().is_empty() {
            first.push(line);
        }
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_places_whatever_ends_them() {
        let all = |text: &'static str| {
            lines(text.as_bytes())
                .map(|line| (line.offset, std::str::from_utf8(line.text).unwrap(), line.is_ended))
                .collect::<Vec<_>>()
        };
        assert_eq!(all("\u{feff}a\r\n\nb\n"), [(3, "a", true), (6, "", true), (7, "b", true)]);
        assert_eq!(all("a\rb"), [(0, "a\rb", false)]);
        assert_eq!(all("\u{feff}"), []);
    }

    #[test]
    fn a_few_whole_lines_are_looked_at() {
        let texts = |text: &'static str| {
            let lines = first_lines(text.as_bytes())?;
            Some(lines.iter().map(|line| std::str::from_utf8(line.text).unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(texts("a\n \nb\ncut of"), Some(vec!["a", "b"]));
        assert_eq!(texts("only"), Some(vec!["only"]));
        assert_eq!(texts("a\n\0b\n"), None);
        assert_eq!(texts(""), Some(vec![]));
        let long = "a\n".repeat(1_000_000);
        assert_eq!(first_lines(long.as_bytes()).map(|lines| lines.len()), Some(200));
    }
}

//! The keys of a JSON file's outermost object, to tell formats apart: found without parsing what they hold, so that a large
//! file costs no more than a pass over the part before the telling key.

/// A text without the byte order mark and the blanks before it.
pub(super) fn start(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start()
}

/// Whether a JSON object can begin with `text`.
pub(super) fn begins_object(text: &[u8]) -> bool {
    start(text).starts_with(b"{")
}

/// The keys of the object that `text` begins with, in order, each with the text behind its colon. Ends where the text is
/// no object any more. Keys are as written, with escapes.
pub(super) fn top_level_keys(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = start(text).strip_prefix(b"{");
    std::iter::from_fn(move || {
        let (key, behind) = string(rest?.trim_ascii_start())?;
        let value = behind.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        rest = behind_value(value);
        Some((key, value))
    })
}

/// The content of the string that `text` begins with, and what follows it.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &text[from..])?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        from = at + 2;
        if from > text.len() {
            return None;
        }
    }
}

/// What follows the comma behind the value that `text` begins with; `None` at the end of the object or the text.
fn behind_value(mut text: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_usize;
    loop {
        let at = text.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b','))?;
        match text[at] {
            b'"' => {
                text = string(&text[at..])?.1;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return Some(&text[at + 1..]),
            _ => {}
        }
        text = &text[at + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        top_level_keys(text.as_bytes()).map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect()
    }

    #[test]
    fn only_the_outermost_keys_are_given() {
        let text =
            "\u{feff} { \"a\" : {\"x\": [1, {\"y\": \"}\\\"]\"}]}, \"b\\\"\":[],\n\"c\":-1.5, \"d\" : null }, \"e\": 1";
        assert_eq!(keys(text), ["a", "b\\\"", "c", "d"]);
        assert!(top_level_keys(text.as_bytes()).nth(2).expect("c").1.starts_with(b"-1.5,"));
    }

    #[test]
    fn what_is_cut_or_no_object_ends_the_keys() {
        assert_eq!(keys("{\"a\": [1, 2"), ["a"]);
        assert_eq!(keys("{\"a\": 1, \"b"), ["a"]);
        assert_eq!(keys("{\"a\": 1, \"b\\"), ["a"]);
        assert_eq!(keys("{\"a\" 1}"), [""; 0]);
        assert_eq!(keys("[{\"a\": 1}]"), [""; 0]);
        assert_eq!(keys(&format!("{{\"a\": {}", "[".repeat(100_000))), ["a"]);
        assert_eq!(keys(""), [""; 0]);
    }
}

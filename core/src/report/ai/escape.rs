//! Names that can't break the text they stand in.

use std::borrow::Cow;

use crate::report::style::shorten;

/// Longer names are shortened: one name must not take the room of a hundred others.
pub(super) const MOST_NAME: usize = 500;

/// `name` on one line, without anything that separates fields, hides text or turns its direction; escapes are those of
/// Rust's strings, and `\x3b` for a semicolon. Names that are longer than [`MOST_NAME`] are shortened first.
pub(super) fn escaped(name: &str) -> Cow<'_, str> {
    let short = if name.len() > MOST_NAME { shorten(name, MOST_NAME) } else { name.into() };
    if short.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b';' && byte != b'\\') {
        return short;
    }
    let mut text = String::with_capacity(short.len() + 8);
    for c in short.chars() {
        match c {
            ';' => text.push_str("\\x3b"),
            '\\' | '\n' | '\r' | '\t' => text.extend(c.escape_default()),
            _ if c.is_control() || is_hidden(c) => text.extend(c.escape_unicode()),
            _ => text.push(c),
        }
    }
    text.into()
}

/// Whether `c` ends a line for some readers, is not seen, or changes the order of what is around it.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_field() {
        let hostile = "a;b\\n\n\r\t\u{0}\u{2028}\u{202e}é→ [u8; 4]";
        let expected = r"a\x3bb\\n\n\r\t\u{0}\u{2028}\u{202e}é→ [u8\x3b 4]";
        assert_eq!(escaped(hostile), expected);
        assert!(matches!(escaped("<a::B<T> as C>::d"), Cow::Borrowed(_)));
        assert_eq!(escaped(&"é".repeat(MOST_NAME)).chars().count(), MOST_NAME, "letters count, not bytes");
        let long = escaped(&"x".repeat(MOST_NAME + 1)).into_owned();
        assert!(long.starts_with('…') && long.chars().count() == MOST_NAME);
    }
}

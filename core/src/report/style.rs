//! What text may look like: its width and colours, and names that must fit.

use std::borrow::Cow;

/// What text may look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Columns that a line may have; `None`: as many as it takes.
    pub width: Option<usize>,
    /// Whether to use the terminal's colours.
    pub color: bool,
}

const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

impl Style {
    /// `text`, greyed.
    pub(super) fn dim(self, text: &str) -> Cow<'_, str> {
        self.paint(DIM, text)
    }

    /// `text`, emphasized.
    pub(super) fn bold(self, text: &str) -> Cow<'_, str> {
        self.paint(BOLD, text)
    }

    fn paint<'a>(self, code: &str, text: &'a str) -> Cow<'a, str> {
        if self.color && !text.is_empty() { format!("{code}{text}{RESET}").into() } else { text.into() }
    }
}

/// How many columns `text` takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `text` with everything that would not stay on its line, or would command the terminal, written out as an escape.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return text.into();
    }
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect::<String>().into()
}

/// `name` in at most `width` columns. The end of a name tells most: the front is cut off, at a `::` if there is one
/// near, and `…` says so.
pub fn shorten(name: &str, width: usize) -> Cow<'_, str> {
    let length = columns(name);
    if length <= width {
        return name.into();
    }
    if width == 0 {
        return "".into();
    }
    let kept = width - 1;
    let start = name.char_indices().nth(length - kept).map_or(name.len(), |(start, _)| start);
    let end = &name[start..];
    // A cut in the middle of a word reads badly, but losing half of what fits is worse.
    match end.find("::") {
        Some(at) if at + 2 < end.len() && columns(&end[..at]) <= kept / 3 => format!("…{}", &end[at + 2..]).into(),
        _ => format!("…{end}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_last_segments() {
        assert_eq!(shorten("alloc::vec::Vec<T>::push", 30), "alloc::vec::Vec<T>::push");
        assert_eq!(shorten("alloc::vec::Vec<T>::push", 20), "…vec::Vec<T>::push");
        assert_eq!(shorten("alloc::vec::Vec<T>::push", 15), "…Vec<T>::push");
        assert_eq!(shorten("a_function_without_any_path", 10), "…_any_path");
        assert_eq!(shorten("größe::maße", 8), "…maße");
        assert_eq!(shorten("abc", 1), "…");
        assert_eq!(shorten("abc", 0), "");
        for width in 0..40 {
            assert!(columns(&shorten("<alloc::vec::Vec<T> as core::iter::Extend>::extend", width)) <= width);
        }
    }

    #[test]
    fn names_cannot_command_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
        assert!(matches!(printable("plain → text"), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_only_where_wanted() {
        assert_eq!(Style { width: None, color: true }.dim("x"), "\x1b[2mx\x1b[0m");
        assert_eq!(Style::default().bold("x"), "x");
    }
}

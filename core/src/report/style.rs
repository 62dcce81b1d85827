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
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return text.into();
    }
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect::<String>().into()
}

/// `name` in at most `width` columns. Generic arguments go first: they are long and say least. Then, since the end of
/// a path tells most, its front is cut off, at a `::` if there is one near. `…` stands for what is left out.
pub fn shorten(name: &str, width: usize) -> Cow<'_, str> {
    if columns(name) <= width {
        return name.into();
    }
    let name = without_generic_arguments(name);
    let length = columns(&name);
    if length <= width || width == 0 {
        return if width == 0 { "".into() } else { name.into() };
    }
    let kept = width - 1;
    let start = name.char_indices().nth(length - kept).map_or(name.len(), |(start, _)| start);
    let end = &name[start..];
    // A cut in the middle of a word reads badly, but losing half of what fits is worse.
    let end = match end.find("::") {
        Some(at) if at + 2 < end.len() && columns(&end[..at]) <= kept / 3 => &end[at + 2..],
        _ => end,
    };
    // A name can have a `…` of its own there.
    format!("…{}", end.trim_start_matches('…')).into()
}

/// `name` with `…` for what stands in the `<>` behind a name or `::`. Other `<>`, as in `<Type as Trait>::method`
/// and `module::<impl Trait for Type>::method`, stay.
fn without_generic_arguments(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    // By open `<`: whether it opens arguments.
    let mut open: Vec<bool> = Vec::new();
    let mut arguments = 0_u32;
    let mut previous = ' ';
    for (at, c) in name.char_indices() {
        let closes = c == '>' && !matches!(previous, '-' | '=');
        if closes && open.pop() == Some(true) {
            arguments -= 1;
        }
        if arguments == 0 {
            short.push(c);
        }
        if c == '<' {
            let behind_path = previous.is_alphanumeric() || matches!(previous, '_' | ':');
            let opens_arguments = behind_path && !name[at..].starts_with("<impl ");
            if opens_arguments {
                if arguments == 0 {
                    short.push('…');
                }
                arguments += 1;
            }
            open.push(opens_arguments);
        }
        previous = c;
    }
    // Not brackets after all: `operator<`, or a name that was cut off.
    if open.is_empty() { short } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_last_segments() {
        assert_eq!(shorten("alloc::vec::Vec<T>::push", 30), "alloc::vec::Vec<T>::push");
        assert_eq!(shorten("alloc::vec::Vec<T>::push", 20), "…vec::Vec<…>::push");
        assert_eq!(shorten("alloc::vec::Vec<T>::push", 15), "…Vec<…>::push");
        assert_eq!(shorten("a_function_without_any_path", 10), "…_any_path");
        assert_eq!(shorten("größe::maße", 8), "…maße");
        assert_eq!(shorten("std::thread::…::run", 9), "…::run");
        assert_eq!(shorten("abc", 1), "…");
        assert_eq!(shorten("abc", 0), "");
        for width in 0..40 {
            assert!(columns(&shorten("<alloc::vec::Vec<T> as core::iter::Extend>::extend", width)) <= width);
        }
    }

    #[test]
    fn generic_arguments_go_first() {
        for (name, short) in [
            (
                "std::panicking::do_call::<core::panic::AssertUnwindSafe<a::b::{closure#0}>, ()>",
                "std::panicking::do_call::<…>",
            ),
            ("<alloc::boxed::Box<dyn Fn(u8) -> Vec<u8>> as Fn<()>>::call", "<alloc::boxed::Box<…> as Fn<…>>::call"),
            (
                "serde::de::<impl De<'de> for Value<Yy>>::deserialize",
                "serde::de::<impl De<…> for Value<…>>::deserialize",
            ),
            ("<a::B<<C as D>::E> as F>::g::{closure#1}", "<a::B<…> as F>::g::{closure#1}"),
        ] {
            assert_eq!(without_generic_arguments(name), short);
            assert_eq!(shorten(name, columns(short)), short);
            assert_eq!(shorten(name, columns(name)), name, "only where needed");
        }
        for odd in ["std::operator<", "a::operator<<(b)", "Vec<Vec<u8>", "a->b"] {
            assert_eq!(without_generic_arguments(odd), odd);
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

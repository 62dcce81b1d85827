//! Names as they can stand in a line.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::line;
use super::read::UNKNOWN;

/// Distinct names that lines are made of.
#[derive(Default)]
pub(super) struct Names {
    texts: Vec<String>,
    index: FxHashMap<String, u32>,
    /// How many names had to be changed, and the first of them.
    pub changed: u64,
    pub first_changed: Option<String>,
}

impl Names {
    /// The number of `name`, made fit for a line.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        let fit = fit(name);
        if fit != name {
            self.changed += 1;
            self.first_changed.get_or_insert_with(|| name.to_owned());
        }
        if let Some(known) = self.index.get(&*fit) {
            return *known;
        }
        let number = u32::try_from(self.texts.len()).expect("a profile has fewer than u32::MAX names");
        self.texts.push(fit.clone().into_owned());
        self.index.insert(fit.into_owned(), number);
        number
    }

    /// All names by their numbers.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// `name` without what would end it, its line, or the line's stack.
fn fit(name: &str) -> Cow<'_, str> {
    let is_blank = |character: char| character.is_control() || character == '\u{feff}';
    let mut fit = Cow::Borrowed(name);
    if name.contains(|character| character == ';' || is_blank(character)) {
        fit = name
            .chars()
            .map(|c| {
                if c == ';' {
                    ':'
                } else if is_blank(c) {
                    ' '
                } else {
                    c
                }
            })
            .collect();
    }
    if fit.trim() != fit {
        fit = Cow::Owned(fit.trim().to_owned());
    }
    if fit.is_empty() {
        fit = Cow::Borrowed(UNKNOWN);
    }
    if line::is_comment(fit.as_bytes()) || line::is_json(fit.as_bytes()) {
        fit = Cow::Owned(format!("_{fit}"));
    }
    // `GC thread 3` at a stack's end would be read as a stack with two counts.
    if let Some((words, last)) = fit.rsplit_once(' ').filter(|(_, last)| line::count(last.as_bytes()).is_some()) {
        fit = Cow::Owned(format!("{words}_{last}"));
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn what_would_break_a_line_is_replaced() {
        for (name, expected) in [
            ("core::fmt::Formatter<'_>::pad", "core::fmt::Formatter<'_>::pad"),
            ("[u8; 32]::hash", "[u8: 32]::hash"),
            ("a\r\nb\tc", "a  b c"),
            ("\u{feff} a ", "a"),
            (" \n", "[unknown]"),
            ("# note", "_# note"),
            ("#private", "#private"),
            ("GC thread 3", "GC thread_3"),
            ("x 1 2", "x 1_2"),
            ("12", "12"),
        ] {
            assert_eq!(fit(name), expected, "{name:?}");
            assert_eq!(fit(expected), expected, "what is fit stays");
        }
    }
}

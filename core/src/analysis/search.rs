//! Which functions a search text matches.

use std::ops::Range;

use crate::model::{FunctionId, Profile};

/// What was typed as a search: the words that a name must contain, in any case and order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SearchQuery {
    words: Vec<String>,
}

/// Some of the functions of a profile, for example those that a [`SearchQuery`] matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionSet {
    contains: Vec<bool>,
    count: usize,
}

impl SearchQuery {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Self {
        Self { words: text.split_whitespace().map(str::to_lowercase).collect() }
    }

    /// Whether nothing is searched for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether each word stands in one of `texts`.
    pub fn matches<'a>(&self, texts: &(impl Iterator<Item = &'a str> + Clone)) -> bool {
        self.words.iter().all(|word| texts.clone().any(|text| contains_ignoring_case(text, word)))
    }

    /// Where its words stand in `text`: byte ranges in order, which do not overlap.
    pub fn hits(&self, text: &str) -> Vec<Range<usize>> {
        let mut hits: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.char_indices() {
            let longest = self.words.iter().filter_map(|word| length_of_hit(&text[at..], word)).max();
            if let Some(length) = longest.filter(|_| hits.last().is_none_or(|last| last.end <= at)) {
                hits.push(at..at + length);
            }
        }
        hits
    }

    /// The functions whose name, source path, or crate it matches: time grows with the functions, so a job's work for
    /// large profiles.
    pub fn functions(&self, profile: &Profile) -> FunctionSet {
        let texts = |row: usize| {
            let functions = &profile.functions;
            let source = functions.source[row].map(|id| profile.sources[id.index()].path);
            let origin = functions.origin[row].map(|id| profile.crates[id.index()].name);
            [Some(functions.name[row]), functions.full_name[row], source, origin]
        };
        let contains: Vec<bool> = (0..profile.functions.len())
            .map(|row| self.matches(&texts(row).into_iter().flatten().map(|id| profile.string(id))))
            .collect();
        FunctionSet::from_rows(contains)
    }
}

impl FunctionSet {
    /// The functions of whose rows `contains` says so.
    pub(super) fn from_rows(contains: Vec<bool>) -> Self {
        let count = contains.iter().filter(|it| **it).count();
        Self { contains, count }
    }

    /// Whether `function` is one of them.
    pub fn contains(&self, function: FunctionId) -> bool {
        self.contains[function.index()]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// `word` is in lower case.
fn contains_ignoring_case(text: &str, word: &str) -> bool {
    if text.is_ascii() && word.is_ascii() {
        let (text, word) = (text.as_bytes(), word.as_bytes());
        return text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    }
    text.to_lowercase().contains(word)
}

/// How many bytes of `text` are `word`, which is in lower case, if it starts with it.
fn length_of_hit(text: &str, word: &str) -> Option<usize> {
    let mut rest = word;
    for (at, c) in text.char_indices() {
        if rest.is_empty() {
            return Some(at);
        }
        for lower in c.to_lowercase() {
            rest = rest.strip_prefix(lower)?;
        }
    }
    rest.is_empty().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &str, text: &str) -> bool {
        SearchQuery::parse(query).matches(&[text].into_iter())
    }

    #[test]
    fn words_match_in_any_case_and_order() {
        assert!(matches("MEMMEM find", "memchr::memmem::Finder::find"));
        assert!(!matches("memmem lost", "memchr::memmem::Finder::find"));
        assert!(matches("größe", "Größe::messen"));
        assert!(matches("  ", "anything"));
        assert!(SearchQuery::parse(" \t").is_empty());
        assert!(!matches("longer than the text", "lo"));
    }

    #[test]
    fn hits_are_where_the_words_stand() {
        let hits = |query: &str, text: &str| {
            SearchQuery::parse(query).hits(text).into_iter().map(|hit| text[hit].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(hits("find mem", "memchr::Memmem::find"), ["mem", "Mem", "mem", "find"]);
        assert_eq!(hits("mem memchr", "memchr"), ["memchr"], "the longer one");
        assert_eq!(hits("größe", "a::GRÖßE::b"), ["GRÖßE"]);
        assert!(hits("", "abc").is_empty() && hits("abcd", "abc").is_empty());
    }
}

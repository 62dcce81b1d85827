//! What to type instead, where clap can't know: a word that no flag asked for.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The verbs that take no words of their own before `--`.
const VERBS: [&str; 5] = ["run", "record", "info", "report", "export"];
/// So many letters can be wrong in a verb.
const MOST_WRONG: usize = 2;

/// Adds a tip to the complaint about a word where none can stand. `first` is the first argument: the verb, if any.
pub(super) fn add(mut error: clap::Error, first: Option<&OsString>) -> clap::Error {
    let word = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if !word.starts_with('-') => word.clone(),
        _ => return error,
    };
    let verb = first.and_then(|first| VERBS.into_iter().find(|verb| first == verb));
    let is_first = first.is_some_and(|first| *first == *word);
    if let Some(tip) = tip(&word, verb, is_first) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

fn tip(word: &str, verb: Option<&str>, is_first: bool) -> Option<String> {
    match verb {
        Some("record") => Some(format!("the program goes after `--`: `record -- {word}`")),
        Some("info" | "report" | "export") => None,
        _ if is_first && word == "help" => Some("write `--help`, also behind a command: `report --help`".to_owned()),
        _ => match VERBS.into_iter().find(|verb| is_first && distance(word, verb) <= MOST_WRONG) {
            Some(verb) => Some(format!("a similar command exists: '{verb}'")),
            None => Some(format!("arguments for your program go after `--`: `-- {word}`")),
        },
    }
}

/// How many letters must be inserted, removed or replaced to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, wanted) in other.chars().enumerate() {
            let replaced = diagonal + usize::from(letter != wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.chars().count()]
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn words_in_the_wrong_place_get_a_tip() {
        for (line, tip) in [
            ("reprot", "a similar command exists: 'report'"),
            ("inf", "a similar command exists: 'info'"),
            ("needle", "arguments for your program go after `--`: `-- needle`"),
            ("run --bin tool 40", "arguments for your program go after `--`: `-- 40`"),
            ("--bin tool reprot", "arguments for your program go after `--`: `-- reprot`"),
            ("record ls -la", "the program goes after `--`: `record -- ls`"),
            ("help", "write `--help`, also behind a command: `report --help`"),
        ] {
            let words = format!("cargo-traceview traceview {line}");
            let error = Cli::parse_args(words.split(' ').map(OsString::from)).unwrap_err().to_string();
            assert!(error.contains(&format!("  tip: {tip}\n")), "{line}: {error}");
        }
        let error = Cli::parse_args(["cargo-traceview", "report", "a", "b"].map(OsString::from)).unwrap_err();
        assert!(!error.to_string().contains("tip:"), "{error}");
    }

    #[test]
    fn distances() {
        for (one, other, expected) in
            [("report", "report", 0), ("reprot", "report", 2), ("", "run", 3), ("ran", "run", 1)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}

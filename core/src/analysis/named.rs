//! Functions that a person names, as one does in a shell: by the whole name, or by the part of it that is enough.

use super::amount::Amount;
use super::filter::name_some;
use super::search::FunctionSet;
use super::stack_values::StackValues;
use crate::model::{FunctionId, Profile};

/// Why a name does not say which function is meant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FunctionNameError {
    /// None is called so.
    #[error("no function that was seen has `{0}` in its name")]
    None(String),
    /// Several are.
    #[error("`{pattern}` can be any of {known}; write more of the name")]
    Several {
        /// What was looked for.
        pattern: String,
        /// What it can be, as text.
        known: String,
    },
}

/// The functions of `values` that `pattern` names: those that are called exactly so, else the ones whose path ends so
/// (`find` or `memmem::find` for `memchr::memmem::find`), else those that have it in their names. Functions of one name
/// count as one, such as the instances of a generic one.
///
/// # Errors
/// When different names match equally well, or none does.
pub fn functions_named(
    profile: &Profile,
    values: &StackValues,
    pattern: &str,
) -> Result<FunctionSet, FunctionNameError> {
    let mut seen = vec![false; profile.functions.len()];
    for (stack, total) in values.totals(&profile.stacks).iter().enumerate() {
        if total.samples > 0 {
            seen[profile.frames.function[profile.stacks.frame[stack].index()].index()] = true;
        }
    }
    let name = |row: usize| profile.string(profile.functions.name[row]);
    let matching = |matches: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..seen.len()).filter(|row| seen[*row] && matches(name(*row))).collect()
    };
    let ways: [&dyn Fn(&str) -> bool; 3] =
        [&|name| name == pattern, &|name| ends_path(name, pattern), &|name| name.contains(pattern)];
    let found = ways.into_iter().map(matching).find(|found| !found.is_empty()).unwrap_or_default();
    let Some(first) = found.first().map(|row| name(*row)) else {
        return Err(FunctionNameError::None(pattern.to_owned()));
    };
    if found.iter().any(|row| name(*row) != first) {
        let known = name_some(found.iter().map(|row| name(*row)));
        return Err(FunctionNameError::Several { pattern: pattern.to_owned(), known });
    }
    let mut contains = vec![false; seen.len()];
    found.into_iter().for_each(|row| contains[row] = true);
    Ok(FunctionSet::from_rows(contains))
}

/// What `values` has in `functions` themselves (waits in system calls included), and in these or below, each sample once.
pub fn amounts_of(profile: &Profile, values: &StackValues, functions: &FunctionSet) -> (Amount, Amount) {
    let through = super::stacks_through(profile, |function| functions.contains(function));
    let (mut own, mut total) = (Amount::default(), Amount::default());
    for (row, amount) in values.with_waits().into_iter().enumerate().filter(|(row, _)| through[*row]) {
        total += amount;
        let function: FunctionId = profile.frames.function[profile.stacks.frame[row].index()];
        if functions.contains(function) {
            own += amount;
        }
    }
    (own, total)
}

/// Whether `name` ends with `path`, at the beginning of a segment.
fn ends_path(name: &str, path: &str) -> bool {
    let before = name.strip_suffix(path);
    before.is_some_and(|before| before.is_empty() || before.ends_with("::") || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Measure, Selection};
    use super::*;
    use crate::model::{Frame, Function};

    fn profile() -> Profile {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("main", 1);
        fixture.samples(
            thread,
            &[
                ("main;memchr::find;memchr::find::step", 4),
                ("main;regex::find", 2),
                ("main;find;memchr::find;find", 1),
                ("main;parse_all", 1),
                ("main;parse_one", 1),
            ],
        );
        for full in ["a", "b"] {
            let [name, full] = ["twice", full].map(|text| fixture.builder.string(text));
            let function = fixture.builder.function(Function { full_name: Some(full), ..Function::named(name) });
            let frame = fixture.builder.frame(Frame::of(function));
            let stack = fixture.builder.stack(None, frame);
            fixture.sample(thread, 1_000_000_000, Some(stack), Some(1_000_000));
        }
        fixture.stack("never_seen");
        fixture.finish()
    }

    fn named(pattern: &str) -> Result<Vec<String>, String> {
        let profile = profile();
        let values = StackValues::of(&profile, &Selection::default(), Measure::Cpu).expect("it adds up");
        let found = functions_named(&profile, &values, pattern).map_err(|error| error.to_string())?;
        let rows = (0..profile.functions.len()).filter(|row| found.contains(FunctionId::new(*row)));
        Ok(rows.map(|row| profile.string(profile.functions.name[row]).to_owned()).collect())
    }

    #[test]
    fn the_whole_name_wins_over_the_end_and_the_end_over_a_part() {
        assert_eq!(named("find"), Ok(vec!["find".to_owned()]));
        assert_eq!(named("memchr::find"), Ok(vec!["memchr::find".to_owned()]));
        assert_eq!(named("step"), Ok(vec!["memchr::find::step".to_owned()]));
        assert_eq!(named("rse_o"), Ok(vec!["parse_one".to_owned()]));
        assert_eq!(named("twice").map(|found| found.len()), Ok(2), "instances of one name");
    }

    #[test]
    fn what_is_not_clear_is_told_with_what_it_can_be() {
        assert_eq!(
            named("parse"),
            Err("`parse` can be any of `parse_all`, `parse_one`; write more of the name".to_owned())
        );
        assert_eq!(named("never_seen"), Err("no function that was seen has `never_seen` in its name".to_owned()));
    }

    #[test]
    fn recursion_counts_once() {
        let profile = profile();
        let values = StackValues::of(&profile, &Selection::default(), Measure::Samples).expect("it adds up");
        let amounts = |pattern| {
            let functions = functions_named(&profile, &values, pattern).expect("one of these");
            let (own, total) = amounts_of(&profile, &values, &functions);
            (own.samples, total.samples)
        };
        assert_eq!(amounts("find"), (1, 1));
        assert_eq!(amounts("memchr::find"), (0, 5));
        assert_eq!(amounts("main"), (0, 9));
    }
}

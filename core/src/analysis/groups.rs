//! Where the time went by what functions belong to: crates, categories, libraries, files, lines, threads.

use rustc_hash::FxHashMap;

use super::amount::Amount;
use super::crates::{CrateGroup, group_of, name_of};
use super::facts::FunctionFacts;
use super::filter::{Measure, Selection};
use super::functions::{Step, walk};
use super::stack_values::{MeasureError, StackValues};
use super::whole::Whole;
use crate::model::{CategoryId, FrameId, LibraryId, Profile, SourceId, ThreadId};

/// What code is grouped by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GroupBy {
    /// Rust crates; what is in none by library.
    Crate,
    /// Whose code it is.
    Category,
    /// Libraries and executables.
    Library,
    /// Source files.
    File,
    /// Lines of source files.
    Line,
}

/// A group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum GroupKey {
    /// The code of a category.
    Category(CategoryId),
    /// The code of a source file.
    File(SourceId),
    /// A line of a source file.
    Line(SourceId, u32),
    /// A thread.
    Thread(ThreadId),
    /// A crate, a library, or what else is known of code that the groups asked for say nothing of.
    Whose(CrateGroup),
}

/// What was taken in a group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupRow {
    /// Which.
    pub key: GroupKey,
    /// Samples taken in its code; waits in system calls that it made.
    pub own: Amount,
    /// Samples taken in its code or in what that called, each once.
    pub total: Amount,
}

/// The groups of a selection, the largest `own` first, then the largest total, then by name.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupList {
    /// What shares are of.
    pub whole: Whole,
    /// The groups.
    pub rows: Vec<GroupRow>,
}

impl GroupKey {
    /// What it is called.
    pub fn name(self, profile: &Profile) -> String {
        let path = |source: SourceId| profile.string(profile.sources[source.index()].path);
        match self {
            Self::Category(category) => profile.string(profile.categories[category.index()].name).to_owned(),
            Self::File(source) => path(source).to_owned(),
            Self::Line(source, line) => format!("{}:{line}", path(source)),
            Self::Thread(thread) => profile.string(profile.threads[thread.index()].name).to_owned(),
            Self::Whose(whose) => {
                let version = match whose {
                    CrateGroup::Crate(id) => profile.crates[id.index()].version,
                    _ => None,
                };
                let name = name_of(profile, whose);
                version.map_or_else(|| name.to_owned(), |version| format!("{name} {}", profile.string(version)))
            }
        }
    }

    fn of_frame(profile: &Profile, facts: &FunctionFacts, by: GroupBy, frame: FrameId) -> Self {
        let row = profile.frames.get(frame);
        let source = profile.functions.source[row.function.index()];
        let whose = || group_of(profile, facts, row.function);
        let known = match by {
            GroupBy::Crate => None,
            GroupBy::Category => row.category.or_else(|| facts.category(row.function)).map(Self::Category),
            GroupBy::Library => {
                let library: Option<LibraryId> = row.library.or_else(|| facts.library(row.function));
                library.map(|library| Self::Whose(CrateGroup::Library(library)))
            }
            GroupBy::File => source.map(Self::File),
            GroupBy::Line => source.map(|source| match row.line {
                Some(line) => Self::Line(source, line),
                None => Self::File(source),
            }),
        };
        known.unwrap_or_else(|| Self::Whose(whose()))
    }
}

/// The groups of `values`.
pub fn groups(profile: &Profile, values: &StackValues, by: GroupBy) -> GroupList {
    let facts = FunctionFacts::of(profile);
    let mut index: FxHashMap<GroupKey, usize> = FxHashMap::default();
    let mut rows: Vec<GroupRow> = Vec::new();
    let of_frame: Vec<usize> = (0..profile.frames.len())
        .map(|frame| {
            let key = GroupKey::of_frame(profile, &facts, by, FrameId::new(frame));
            *index.entry(key).or_insert_with(|| {
                rows.push(GroupRow { key, own: Amount::default(), total: Amount::default() });
                rows.len() - 1
            })
        })
        .collect();
    let group = |stack: usize| of_frame[profile.stacks.frame[stack].index()];
    for (stack, own) in values.with_waits().iter().enumerate() {
        rows[group(stack)].own += *own;
    }
    let totals = values.totals(&profile.stacks);
    let mut times_on_path = vec![0_u32; rows.len()];
    walk(profile, &totals, |step| match step {
        Step::Enter(stack) => {
            let group = group(stack.index());
            if times_on_path[group] == 0 {
                rows[group].total += totals[stack.index()];
            }
            times_on_path[group] += 1;
        }
        Step::Leave(stack) => times_on_path[group(stack.index())] -= 1,
    });
    GroupList { whole: values.whole(), rows: sorted(profile, rows) }
}

/// What `measure` counts in `selection`, by thread: at the [stacks](super::stacks_through) that `kept` says; `None`: at all,
/// and without one.
///
/// # Errors
/// When the samples of the selected threads can't be added up.
pub fn thread_groups(
    profile: &Profile,
    selection: &Selection,
    measure: Measure,
    kept: Option<&[bool]>,
) -> Result<GroupList, MeasureError> {
    let whole = StackValues::of(profile, selection, measure)?.whole();
    let amounts = StackValues::of_threads(profile, selection, measure, kept)?;
    let row = |(thread, amount)| GroupRow { key: GroupKey::Thread(thread), own: amount, total: amount };
    Ok(GroupList { whole, rows: sorted(profile, amounts.into_iter().map(row).collect()) })
}

fn sorted(profile: &Profile, mut rows: Vec<GroupRow>) -> Vec<GroupRow> {
    rows.retain(|row| row.total.samples > 0);
    rows.sort_by_cached_key(|row| row.key.name(profile));
    rows.sort_by(|left, right| {
        let by_value = right.own.value.total_cmp(&left.own.value);
        by_value.then_with(|| right.total.value.total_cmp(&left.total.value))
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn found(by: GroupBy) -> Vec<(String, f64, f64)> {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("t", 1);
        fixture.samples(
            thread,
            &[
                ("main:3;regex::find:7;regex::step:9", 4),
                ("main:3;regex::find:7;memchr::find", 2),
                ("main:4;regex::find:7;main:3", 1),
                ("main:4;[kernel] read", 5),
                ("main:4;libc.so.6+0x10", 3),
            ],
        );
        let profile = fixture.finish();
        let values = StackValues::of(&profile, &Selection::default(), Measure::Cpu).expect("CPU time adds up");
        let list = groups(&profile, &values, by);
        let sum: f64 = list.rows.iter().map(|row| row.own.value).sum();
        assert_eq!(sum, list.whole.total.value, "each sample belongs to one group");
        let ms = |amount: Amount| amount.value / 1e6;
        list.rows.iter().map(|row| (row.key.name(&profile), ms(row.own), ms(row.total))).collect()
    }

    fn expect(by: GroupBy, rows: &[(&str, f64, f64)]) {
        let rows: Vec<(String, f64, f64)> =
            rows.iter().map(|(name, own, total)| ((*name).to_owned(), *own, *total)).collect();
        assert_eq!(found(by), rows, "{by:?}");
    }

    #[test]
    fn samples_count_once_in_each_group_that_they_passed() {
        expect(
            GroupBy::Crate,
            &[
                ("kernel", 5.0, 5.0),
                ("regex 1.0", 4.0, 7.0),
                ("libc.so.6", 3.0, 3.0),
                ("memchr 1.0", 2.0, 2.0),
                ("demo", 1.0, 15.0),
            ],
        );
        expect(
            GroupBy::Category,
            &[("Dependency", 6.0, 7.0), ("Kernel", 5.0, 5.0), ("System", 3.0, 3.0), ("Workspace", 1.0, 15.0)],
        );
        expect(GroupBy::Library, &[("demo", 7.0, 15.0), ("kernel", 5.0, 5.0), ("libc.so.6", 3.0, 3.0)]);
        expect(
            GroupBy::File,
            &[
                ("kernel", 5.0, 5.0),
                ("src/regex.rs", 4.0, 7.0),
                ("libc.so.6", 3.0, 3.0),
                ("src/memchr.rs", 2.0, 2.0),
                ("demo", 1.0, 15.0),
            ],
        );
        expect(
            GroupBy::Line,
            &[
                ("kernel", 5.0, 5.0),
                ("src/regex.rs:9", 4.0, 4.0),
                ("libc.so.6", 3.0, 3.0),
                ("src/memchr.rs", 2.0, 2.0),
                ("demo", 1.0, 15.0),
                ("src/regex.rs:7", 0.0, 7.0),
            ],
        );
    }

    #[test]
    fn threads_with_what_they_did() {
        let mut fixture = Fixture::new();
        let [first, second] = ["a", "b"].map(|name| fixture.thread(name, 1));
        fixture.samples(first, &[("main", 2)]);
        fixture.samples(second, &[("main", 3)]);
        fixture.sample(second, 1_000_000_000, None, Some(500_000));
        fixture.thread("idle", 3);
        let profile = fixture.finish();
        let list = thread_groups(&profile, &Selection::default(), Measure::Cpu, None).expect("CPU time adds up");
        let rows: Vec<_> =
            list.rows.iter().map(|row| (row.key.name(&profile), row.own.value, row.total.samples)).collect();
        assert_eq!(rows, [("b".to_owned(), 3.5e6, 4), ("a".to_owned(), 2e6, 2)]);
        assert_eq!(list.whole.total.value, 5.5e6);
    }
}

//! Whose code the time was spent in: shares by crate.

use rustc_hash::FxHashMap;

use super::amount::Amount;
use super::facts::FunctionFacts;
use super::functions::FunctionList;
use crate::model::{CategoryId, CrateId, FunctionId, FunctionKind, LibraryId, Profile};

/// What functions are grouped under.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CrateGroup {
    /// A Rust crate.
    Crate(CrateId),
    /// System calls.
    Kernel,
    /// A library that is not made of known crates.
    Library(LibraryId),
    /// Code of which only the category is known.
    Category(CategoryId),
    /// CPU time that no sample saw.
    Unsampled,
    /// Nothing is known.
    Unknown,
}

/// The self time of a group.
#[derive(Clone, PartialEq, Debug)]
pub struct CrateShare {
    /// Which.
    pub group: CrateGroup,
    /// What it is called: the crate's name, with its version where crates of one name differ in it.
    pub name: String,
    /// What was taken in its functions.
    pub own: Amount,
}

/// The groups with own samples, the largest first, then by name.
pub fn crate_shares(profile: &Profile, list: &FunctionList, facts: &FunctionFacts) -> Vec<CrateShare> {
    let mut groups: FxHashMap<CrateGroup, Amount> = FxHashMap::default();
    for row in list.rows.iter().filter(|row| row.own.samples > 0) {
        *groups.entry(group_of(profile, facts, row.function)).or_default() += row.own;
    }
    let mut shares: Vec<CrateShare> = groups
        .into_iter()
        .map(|(group, own)| CrateShare { group, name: name_of(profile, group).to_owned(), own })
        .collect();
    add_versions(profile, &mut shares);
    shares.sort_unstable_by(|left, right| {
        let by_value = right.own.value.total_cmp(&left.own.value);
        by_value.then_with(|| left.name.cmp(&right.name)).then_with(|| left.group.cmp(&right.group))
    });
    shares
}

/// What `function` is grouped under.
pub(super) fn group_of(profile: &Profile, facts: &FunctionFacts, function: FunctionId) -> CrateGroup {
    let row = function.index();
    if let Some(origin) = profile.functions.origin[row] {
        return CrateGroup::Crate(origin);
    }
    match profile.functions.kind[row] {
        FunctionKind::Kernel => CrateGroup::Kernel,
        FunctionKind::Unsampled => CrateGroup::Unsampled,
        FunctionKind::Cut => CrateGroup::Unknown,
        FunctionKind::Native | FunctionKind::Unsymbolized | FunctionKind::Script => {
            let library = facts.library(function).map(CrateGroup::Library);
            library.or_else(|| facts.category(function).map(CrateGroup::Category)).unwrap_or(CrateGroup::Unknown)
        }
    }
}

/// What a group is called, without a version.
pub(super) fn name_of(profile: &Profile, group: CrateGroup) -> &str {
    match group {
        CrateGroup::Crate(id) => profile.string(profile.crates[id.index()].name),
        CrateGroup::Kernel => "kernel",
        CrateGroup::Library(id) => profile.string(profile.libraries[id.index()].name),
        CrateGroup::Category(id) => profile.string(profile.categories[id.index()].name),
        CrateGroup::Unsampled => "not sampled",
        CrateGroup::Unknown => "unknown",
    }
}

/// Adds the version to crates that share their name with another one.
fn add_versions(profile: &Profile, shares: &mut [CrateShare]) {
    let mut uses: FxHashMap<String, u32> = FxHashMap::default();
    for share in shares.iter().filter(|share| matches!(share.group, CrateGroup::Crate(_))) {
        *uses.entry(share.name.clone()).or_default() += 1;
    }
    for share in shares {
        if let CrateGroup::Crate(id) = share.group
            && uses.get(&share.name).is_some_and(|uses| *uses > 1)
            && let Some(version) = profile.crates[id.index()].version
        {
            share.name = format!("{} {}", share.name, profile.string(version));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Measure, Selection, StackValues, functions};
    use super::*;
    use crate::model::{Crate, Frame, Function};

    #[test]
    fn time_belongs_to_crates_else_to_libraries() {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("t", 1);
        fixture.samples(
            thread,
            &[
                ("main;regex::find", 3),
                ("main;regex::find;regex::step", 4),
                ("main;[kernel] read", 5),
                ("main;libc.so.6+0x10", 2),
                ("main;[not sampled]", 1),
                ("main", 6),
                ("[cut: why]", 1),
            ],
        );
        // A second crate of the same name.
        let [name, version, function] = ["regex", "0.2", "regex::old"].map(|text| fixture.builder.string(text));
        let origin = Some(fixture.builder.add_crate(Crate { name, version: Some(version) }));
        let function = fixture.builder.function(Function { origin, ..Function::named(function) });
        let frame = fixture.builder.frame(Frame::of(function));
        let stack = fixture.builder.stack(None, frame);
        fixture.sample(thread, 1_000_000_000, Some(stack), Some(500_000));

        let profile = fixture.finish();
        let values = StackValues::of(&profile, &Selection::default(), Measure::Cpu).expect("CPU time adds up");
        let shares = crate_shares(&profile, &functions(&profile, &values), &FunctionFacts::of(&profile));
        let found: Vec<(&str, f64)> = shares.iter().map(|share| (&*share.name, share.own.value / 1e6)).collect();
        assert_eq!(
            found,
            [
                ("regex 1.0", 7.0),
                ("demo", 6.0),
                ("kernel", 5.0),
                ("libc.so.6", 2.0),
                ("not sampled", 1.0),
                ("unknown", 1.0),
                ("regex 0.2", 0.5),
            ]
        );
        let sum: f64 = shares.iter().map(|share| share.own.value).sum();
        assert_eq!(sum, values.total.value);
    }
}

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

fn group_of(profile: &Profile, facts: &FunctionFacts, function: FunctionId) -> CrateGroup {
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

fn name_of(profile: &Profile, group: CrateGroup) -> &str {
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

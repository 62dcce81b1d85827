//! Changes of what a profile shows: functions left out, one function brought to the root, samples dropped.
//!
//! A transform makes another profile of a profile, so that every view and every
//! report shows it. Functions keep their ids and new ones come behind them: a transform that was made for one profile may be
//! applied to what other transforms made of it. Stacks get other ids.

mod paths;
mod spans;
mod stacks;

#[cfg(test)]
mod brute_force;
#[cfg(test)]
mod tests;

use spans::Spans;
use stacks::{Fate, NewStacks};

use super::async_fold::fold_async;
use super::facts::FunctionFacts;
use crate::model::{CategoryId, FunctionId, LibraryId, Profile, ProfileBuilder, Thread, ThreadId};

/// A change of what is shown. The paths of functions go from the root inwards, without gaps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Transform {
    /// Shows tasks by their async functions: what [`fold_async`] does.
    FoldAsync,
    /// Leaves a function out; its own time is its caller's.
    MergeFunction(FunctionId),
    /// Leaves it out in this one place.
    MergeNode(Vec<FunctionId>),
    /// Begins stacks with the outermost call of a function; samples without it are dropped.
    FocusFunction(FunctionId),
    /// Begins stacks with what is called by this path; samples elsewhere are dropped.
    FocusNode(Vec<FunctionId>),
    /// Drops samples whose innermost functions are not these, from the innermost outwards: one function for its own time
    /// alone, more of them for a node of the inverted tree.
    FocusSelf(Vec<FunctionId>),
    /// Leaves out what is not of this category; its own time is the caller's that is.
    FocusCategory(CategoryId),
    /// Drops samples whose innermost function is of this category.
    DropCategory(CategoryId),
    /// Drops samples with a function on their stack.
    DropFunction(FunctionId),
    /// Leaves out what a function calls; its time is that function's own.
    CollapseFunction(FunctionId),
    /// Makes one function of neighbours on a stack that are of this library.
    CollapseLibrary(LibraryId),
    /// Makes one call of a function that calls itself; what lies between stays only where the innermost call did not return
    /// to it.
    CollapseRecursion(FunctionId),
    /// Makes one call of calls of a function that follow each other without another one between them.
    CollapseDirectRecursion(FunctionId),
    /// Drops what did not happen while a marker or slice lasted that is called so, in the same thread. A part of the name is
    /// enough, in capitals or not.
    Within(String),
}

impl Transform {
    /// `profile` so changed.
    ///
    /// # Panics
    /// If the transform was made for another profile and speaks of functions that this one does not have.
    #[must_use]
    pub fn apply(&self, profile: &Profile) -> Profile {
        if *self == Self::FoldAsync {
            return fold_async(profile);
        }
        let mut builder = ProfileBuilder::with_stacks_to_replace(profile);
        let new = NewStacks::of(profile, self, &mut builder);
        if new.drops() {
            drop_rows(profile, &new, &mut builder);
        }
        if let Self::Within(name) = self {
            keep_spans(profile, name, &mut builder);
        }
        builder.replace_stacks(&new.stacks());
        builder.finish().expect("other stacks, fewer samples and shorter waits break no rule")
    }

    /// What it does, and the name of what it does that to, which is empty if it is done to all.
    pub fn title<'a>(&'a self, profile: &'a Profile) -> (&'static str, &'a str) {
        let name = |function: &FunctionId| profile.string(profile.functions.name[function.index()]);
        let last = |path: &[FunctionId]| path.last().map_or("", name);
        let category = |id: &CategoryId| profile.string(profile.categories[id.index()].name);
        match self {
            Self::FoldAsync => ("Async folded", ""),
            Self::MergeFunction(function) => ("Without", name(function)),
            Self::MergeNode(path) => ("Without node", last(path)),
            Self::FocusFunction(function) => ("Focus", name(function)),
            Self::FocusNode(path) => ("Focus node", last(path)),
            Self::FocusSelf(path) if path.len() > 1 => ("Callers from", last(path)),
            Self::FocusSelf(path) => ("Self of", last(path)),
            Self::FocusCategory(id) => ("Only", category(id)),
            Self::DropCategory(id) => ("Drop", category(id)),
            Self::DropFunction(function) => ("Drop", name(function)),
            Self::CollapseFunction(function) => ("Collapse", name(function)),
            Self::CollapseLibrary(id) => ("Collapse", profile.string(profile.libraries[id.index()].name)),
            Self::CollapseRecursion(function) => ("Recursion of", name(function)),
            Self::CollapseDirectRecursion(function) => ("Direct recursion of", name(function)),
            Self::Within(text) => ("Within", text),
        }
    }
}

/// Takes away the samples and waits whose stacks are dropped.
fn drop_rows(profile: &Profile, new: &NewStacks, builder: &mut ProfileBuilder) {
    for (id, thread) in threads(profile) {
        let stacks = &thread.samples.stack;
        let thread = builder.thread_mut(id);
        thread.samples.drop_unless(|row| new.fate(stacks[row]) != Fate::Dropped);
        thread.waits.retain(|wait| new.fate(wait.stack) != Fate::Dropped);
    }
}

/// Takes away the samples and waits that do not lie within what is called `name` in their thread.
fn keep_spans(profile: &Profile, name: &str, builder: &mut ProfileBuilder) {
    for (id, thread) in threads(profile) {
        let (spans, times) = (Spans::named(profile, thread, name), &thread.samples.time);
        let thread = builder.thread_mut(id);
        // Without times nothing lies within anything.
        thread.samples.drop_unless(|row| times.get(row).is_some_and(|time| spans.contains(*time)));
        thread.waits = spans.parts_of(&thread.waits);
    }
}

fn threads(profile: &Profile) -> impl Iterator<Item = (ThreadId, &Thread)> {
    profile.threads.iter().enumerate().map(|(row, thread)| (ThreadId::new(row), thread))
}

/// Which functions are in `library`.
fn is_in_library(profile: &Profile, library: LibraryId) -> Vec<bool> {
    let facts = FunctionFacts::of(profile);
    (0..profile.functions.len()).map(|row| facts.library(FunctionId::new(row)) == Some(library)).collect()
}

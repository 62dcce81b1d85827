//! Transforms against the plainest computation: one stack after the other, as lists of functions.

use proptest::prelude::Strategy;
use proptest::sample::Index;
use proptest::{prop_assert_eq, proptest};

use super::super::FunctionFacts;
use super::super::brute_force::{build, plans};
use super::super::facts::node_categories;
use super::*;
use crate::model::{Nanos, StackId, Time};

/// A call on a stack.
#[derive(Clone, PartialEq, Debug)]
struct Call {
    name: String,
    function: FunctionId,
    category: Option<CategoryId>,
}

/// A sample or wait as far as transforms change it: when, how long, and the calls from the root inwards.
type Row = (Time, Option<Nanos>, Option<Vec<Call>>);

fn calls(profile: &Profile, stack: Option<StackId>) -> Option<Vec<Call>> {
    let categories = node_categories(profile);
    let mut calls: Vec<Call> = profile
        .stacks
        .ancestors(stack?)
        .map(|node| {
            let function = profile.leaf_function(node);
            let name = profile.string(profile.functions.name[function.index()]).to_owned();
            Call { name, function, category: categories[node.index()] }
        })
        .collect();
    calls.reverse();
    Some(calls)
}

/// By thread its samples and its waits.
fn rows(profile: &Profile) -> Vec<(Vec<Row>, Vec<Row>)> {
    let of_thread = |thread: &Thread| {
        let samples = &thread.samples;
        let sample = |row| (samples.time[row], samples.cpu_of(row), calls(profile, samples.stack[row]));
        let waits = thread.waits.iter().map(|wait| (wait.start, Some(wait.duration), calls(profile, wait.stack)));
        ((0..samples.len()).map(sample).collect(), waits.collect())
    };
    profile.threads.iter().map(of_thread).collect()
}

/// What `transform` makes of a stack; the outer `None`: it is dropped.
fn changed(profile: &Profile, transform: &Transform, calls: Option<&[Call]>) -> Option<Option<Vec<Call>>> {
    let focuses = matches!(transform, Transform::FocusFunction(_) | Transform::FocusNode(_) | Transform::FocusSelf(_));
    let Some(calls) = calls else { return (!focuses).then_some(None) };
    let functions: Vec<FunctionId> = calls.iter().map(|call| call.function).collect();
    let all = || Some(calls.to_vec());
    let filtered = |keep: &dyn Fn(usize) -> bool| -> Vec<Call> {
        (0..calls.len()).filter(|at| keep(*at)).map(|at| calls[at].clone()).collect()
    };
    let changed = match transform {
        Transform::MergeFunction(merged) => filtered(&|at| functions[at] != *merged),
        Transform::MergeNode(path) => filtered(&|at| functions[..=at] != path[..]),
        Transform::FocusFunction(root) => calls[functions.iter().position(|function| function == root)?..].to_vec(),
        Transform::FocusNode(path) => functions.starts_with(path).then(|| calls[path.len() - 1..].to_vec())?,
        Transform::FocusSelf(path) => functions.iter().rev().take(path.len()).eq(path).then(all)??,
        Transform::FocusCategory(category) => filtered(&|at| calls[at].category == Some(*category)),
        Transform::DropCategory(category) => (calls.last()?.category != Some(*category)).then(all)??,
        Transform::DropFunction(dropped) => (!functions.contains(dropped)).then(all)??,
        Transform::CollapseFunction(leaf) => {
            let end = functions.iter().position(|function| function == leaf).map_or(calls.len(), |at| at + 1);
            calls[..end].to_vec()
        }
        Transform::CollapseLibrary(library) => {
            let facts = FunctionFacts::of(profile);
            let is_in = |call: &Call| facts.library(call.function) == Some(*library);
            let name = profile.string(profile.libraries[library.index()].name).to_owned();
            let joined = calls.chunk_by(|left, right| is_in(left) && is_in(right)).map(|run| match is_in(&run[0]) {
                true => Call { name: name.clone(), ..run[0].clone() },
                false => run[0].clone(),
            });
            joined.collect()
        }
        Transform::CollapseRecursion(function) => {
            let first = functions.iter().position(|it| it == function);
            let last = functions.iter().rposition(|it| it == function);
            filtered(&|at| first.zip(last).is_none_or(|(first, last)| at <= first || at > last))
        }
        Transform::CollapseDirectRecursion(function) => {
            filtered(&|at| functions[at] != *function || at == 0 || functions[at - 1] != *function)
        }
        Transform::FoldAsync | Transform::Within(_) => unreachable!("they are not among the choices"),
    };
    Some((!changed.is_empty()).then_some(changed))
}

/// A transform for a profile, of functions, nodes and so on that it has and that it does not have.
fn choices() -> impl Strategy<Value = (u8, Index, Index, Index)> {
    (0..12_u8, proptest::arbitrary::any::<(Index, Index, Index)>())
        .prop_map(|(kind, (one, two, three))| (kind, one, two, three))
}

fn choose(profile: &Profile, (kind, one, two, three): &(u8, Index, Index, Index)) -> Transform {
    let function = FunctionId::new(one.index(profile.functions.len()));
    let category = CategoryId::new(one.index(profile.categories.len()));
    let stack: Vec<FunctionId> = calls(profile, Some(StackId::new(one.index(profile.stacks.len()))))
        .into_iter()
        .flatten()
        .map(|call| call.function)
        .collect();
    let path = stack[..=two.index(stack.len())].to_vec();
    let mut ending: Vec<FunctionId> = stack[two.index(stack.len())..].iter().rev().copied().collect();
    // Some that match nowhere, or where the search has to go back.
    if three.index(4) == 0 {
        ending.push(function);
    }
    match kind {
        0 => Transform::MergeFunction(function),
        1 => Transform::MergeNode(path),
        2 => Transform::FocusFunction(function),
        3 => Transform::FocusNode(path),
        4 => Transform::FocusSelf(ending),
        5 => Transform::FocusCategory(category),
        6 => Transform::DropCategory(category),
        7 => Transform::DropFunction(function),
        8 => Transform::CollapseFunction(function),
        9 => Transform::CollapseLibrary(LibraryId::new(one.index(profile.libraries.len()))),
        10 => Transform::CollapseRecursion(function),
        _ => Transform::CollapseDirectRecursion(function),
    }
}

/// Names and categories: functions get other ids when libraries are collapsed.
fn named(calls: Option<Vec<Call>>) -> Option<Vec<(String, Option<CategoryId>)>> {
    calls.map(|calls| calls.into_iter().map(|call| (call.name, call.category)).collect())
}

proptest! {
    #[test]
    fn transforms_do_to_stacks_what_is_done_by_hand(plan in plans(), choice in choices()) {
        let profile = build(&plan);
        let transform = choose(&profile, &choice);
        let new = rows(&transform.apply(&profile));
        for ((samples, waits), (new_samples, new_waits)) in rows(&profile).into_iter().zip(new) {
            let after = |(time, amount, calls): &Row| {
                changed(&profile, &transform, calls.as_deref()).map(|calls| (*time, *amount, named(calls)))
            };
            // Dropped samples stay as moments at which nothing ran.
            let samples: Vec<_> = samples
                .iter()
                .map(|row| after(row).unwrap_or((row.0, row.1.map(|_| Nanos::ZERO), None)))
                .collect();
            let plain = |(time, amount, calls): Row| (time, amount, named(calls));
            prop_assert_eq!(samples, new_samples.into_iter().map(plain).collect::<Vec<_>>(), "{:?}", transform);
            let waits: Vec<_> = waits.iter().filter_map(after).collect();
            prop_assert_eq!(waits, new_waits.into_iter().map(plain).collect::<Vec<_>>(), "{:?}", transform);
        }
    }
}

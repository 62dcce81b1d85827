//! A tree as the rows that are shown of it. Nothing here is recursive: stacks can be of any depth.

use std::collections::VecDeque;

use traceview_core::analysis::{Callee, GrowingTree, NodeId, Tree};
use traceview_core::model::Profile;

use super::paths::{PathId, Paths};
use crate::search::FunctionSet;
use crate::widget::Sort;

/// A row of the outline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OutlineRow {
    pub(super) id: NodeId,
    /// Its path, if anything ever happened to it.
    pub(super) path: Option<PathId>,
    /// Whether it is expanded, if anything is below it.
    pub(super) expanded: Option<bool>,
}

/// A tree opens with its heaviest path down to where it branches: where the next node has less than this share of the
/// one around it.
pub(super) const UNTIL_IT_BRANCHES: f64 = 0.8;
/// A heaviest path that was asked for goes on while most of a node is in the next one.
pub(super) const WHILE_MOST: f64 = 0.5;
/// A subtree is expanded up to so many nodes.
pub(super) const MOST_EXPANDED: usize = 5_000;

/// The rows of `tree`, each before those below it; grows it where it is expanded.
pub(super) fn outline(tree: &mut dyn GrowingTree, paths: &Paths, sort: Sort, profile: &Profile) -> Vec<OutlineRow> {
    let mut rows = Vec::new();
    let mut pending: Vec<(NodeId, Option<PathId>)> = Vec::new();
    let mut siblings: Vec<NodeId> = tree.tree().roots().collect();
    sort_siblings(&mut siblings, tree.tree(), sort, profile);
    pending.extend(siblings.drain(..).rev().map(|id| (id, None)));
    while let Some((id, around)) = pending.pop() {
        let path = paths.find(around, tree.tree().node(id).callee);
        let expanded = (!tree.is_leaf(id)).then(|| path.is_some_and(|path| paths.is_open(path)));
        rows.push(OutlineRow { id, path, expanded });
        if expanded == Some(true) {
            tree.expand(id);
            siblings.extend(tree.tree().children(id));
            sort_siblings(&mut siblings, tree.tree(), sort, profile);
            pending.extend(siblings.drain(..).rev().map(|id| (id, path)));
        }
    }
    rows
}

/// Expands the heaviest path from `from` (or the heaviest root) on, while the next node has at least `share` of the one
/// around it; gives its last node.
pub(super) fn open_heaviest(
    tree: &mut dyn GrowingTree,
    paths: &mut Paths,
    from: Option<NodeId>,
    share: f64,
) -> Option<NodeId> {
    let mut at = from.or_else(|| tree.tree().roots().next())?;
    let mut path = paths.of(tree.tree(), at);
    loop {
        tree.expand(at);
        paths.set_open(path, true);
        let Some(heaviest) = tree.tree().children(at).next() else { return Some(at) };
        let [here, next] = [at, heaviest].map(|id| tree.tree().node(id).total.value);
        if next < here * share {
            return Some(at);
        }
        at = heaviest;
        path = paths.step(Some(path), tree.tree().node(at).callee);
    }
}

/// Expands `from` and what is below it, the nearest nodes first; gives whether that was all.
pub(super) fn open_all(tree: &mut dyn GrowingTree, paths: &mut Paths, from: NodeId) -> bool {
    let mut pending = VecDeque::from([(from, paths.of(tree.tree(), from))]);
    let mut opened = 0;
    while let Some((id, path)) = pending.pop_front() {
        if tree.is_leaf(id) {
            continue;
        }
        if opened == MOST_EXPANDED {
            return false;
        }
        opened += 1;
        tree.expand(id);
        paths.set_open(path, true);
        for child in tree.tree().children(id) {
            pending.push_back((child, paths.step(Some(path), tree.tree().node(child).callee)));
        }
    }
    true
}

/// The node with the largest total of those that `matches`; of equal ones the outermost.
pub(super) fn heaviest(tree: &Tree, matches: impl Fn(Callee) -> bool) -> Option<NodeId> {
    let total = |id: &NodeId| tree.node(*id).total.value;
    // Outer nodes come first, and of equal ones `max_by` would take the last.
    let candidates = tree.ids().filter(|id| matches(tree.node(*id).callee)).rev();
    candidates.max_by(|left, right| total(left).total_cmp(&total(right)))
}

/// Whether `found` has the function.
pub(super) fn is_found(found: Option<&FunctionSet>, callee: Callee) -> bool {
    match callee {
        Callee::Function(function) => found.is_some_and(|found| found.contains(function)),
        Callee::Wait(_) => false,
    }
}

/// Siblings come with the largest total first, which is where equal ones stay.
fn sort_siblings(siblings: &mut [NodeId], tree: &Tree, sort: Sort, profile: &Profile) {
    let ordered = |ascending: std::cmp::Ordering| if sort.descending { ascending.reverse() } else { ascending };
    match (sort.key, sort.descending) {
        ("total" | "total %", true) => {}
        ("total" | "total %", false) => {
            siblings.sort_by(|left, right| tree.node(*left).total.value.total_cmp(&tree.node(*right).total.value));
        }
        ("self", _) => {
            let own = |id: &NodeId| tree.node(*id).own.value;
            siblings.sort_by(|left, right| ordered(own(left).total_cmp(&own(right))));
        }
        ("samples", _) => {
            siblings
                .sort_by(|left, right| ordered(tree.node(*left).total.samples.cmp(&tree.node(*right).total.samples)));
        }
        ("name", _) => siblings.sort_by(|left, right| {
            let [left, right] = [left, right].map(|id| tree.node(*id).callee.name(profile));
            ordered(left.cmp(&right))
        }),
        // A key of no column here.
        _ => {}
    }
}

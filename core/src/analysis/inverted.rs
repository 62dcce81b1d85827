//! The call tree upside down: each function that samples were taken in, and below it who called it.

use std::ops::Deref;

use rustc_hash::FxHashMap;

use super::amount::Amount;
use super::search::FunctionSet;
use super::stack_values::StackValues;
use super::tree::{Callee, Draft, GrowingTree, NodeId, Tree, by_total_then_name};
use crate::model::{Profile, StackId};

/// An inverted call tree, which grows where it is [expanded](GrowingTree::expand): in full it can be as large as all stacks
/// written out.
///
/// Each sample is below exactly one root, the function that it was taken in, and is on one path there: its stack from
/// the innermost frame outwards. So a recursive function's root counts each sample once. `own` is what was taken in
/// the node itself: everything at a root, nothing at its callers.
///
/// `P` is a reference to the profile, or an `Arc` of it for a tree that outlives the function that made it.
#[derive(Clone, Debug)]
pub struct InvertedTree<P> {
    profile: P,
    tree: Tree,
    /// By node.
    state: Vec<State>,
}

/// What is known of a node's callers.
#[derive(Clone, Debug)]
struct State {
    is_leaf: bool,
    /// Its samples by caller. Empty once the callers are nodes, which have all of it.
    callers: Vec<Entry>,
}

/// Samples of a node that go on to the same caller.
#[derive(Clone, Copy, Debug)]
struct Entry {
    caller: Option<StackId>,
    amount: Amount,
}

impl<P: Deref<Target = Profile>> InvertedTree<P> {
    /// The roots of the inverted tree of `values`.
    pub fn new(profile: P, values: &StackValues) -> Self {
        let samples = values.own.iter().enumerate().filter(|(_, own)| own.samples > 0).map(|(stack, own)| {
            let stack = StackId::new(stack);
            let entry = Entry { caller: profile.stacks.prefix[stack.index()], amount: *own };
            (Callee::Function(profile.leaf_function(stack)), entry)
        });
        let waits = values.waits.iter().map(|waits| {
            let entry = Entry { caller: waits.stack, amount: waits.amount };
            (Callee::Wait(values.wait_kinds[waits.kind]), entry)
        });
        let grouped: Vec<(Callee, Entry)> = samples.chain(waits).collect();
        Self::with_roots(profile, values, grouped, |_, total| total)
    }

    /// The tree of who called `functions`: its roots are those, with all that was taken in them and below. Where several of
    /// them, or one several times, are on a stack, the outermost counts, as in a [`callee_tree`](super::callee_tree). `own` is
    /// what was taken in the functions themselves.
    pub fn callers(profile: P, values: &StackValues, functions: &FunctionSet) -> Self {
        let totals = values.totals(&profile.stacks);
        let mut grouped: Vec<(Callee, Entry)> = Vec::new();
        let mut own: FxHashMap<Callee, Amount> = FxHashMap::default();
        // By stack, the function that it is below.
        let mut roots: Vec<Option<Callee>> = Vec::with_capacity(totals.len());
        for (row, total) in totals.iter().enumerate() {
            let caller = profile.stacks.prefix[row];
            let function = profile.leaf_function(StackId::new(row));
            let is_member = functions.contains(function);
            let above = caller.and_then(|caller| roots[caller.index()]);
            if above.is_none() && is_member && total.samples > 0 {
                grouped.push((Callee::Function(function), Entry { caller, amount: *total }));
            }
            let root = above.or_else(|| is_member.then_some(Callee::Function(function)));
            if let Some(root) = root.filter(|_| is_member) {
                *own.entry(root).or_default() += values.own[row];
            }
            roots.push(root);
        }
        Self::with_roots(profile, values, grouped, |callee, _| own.get(&callee).copied().unwrap_or_default())
    }

    /// `own`: what a root has of its own, of its total.
    fn with_roots(
        profile: P,
        values: &StackValues,
        mut roots: Vec<(Callee, Entry)>,
        own: impl Fn(Callee, Amount) -> Amount,
    ) -> Self {
        let mut inverted = Self { profile, tree: Tree::empty(values.whole()), state: Vec::new() };
        inverted.add(None, &mut roots, own);
        inverted
    }

    /// Expands nodes, the ones near the roots first, until all are expanded or there are `most` nodes.
    pub fn expand_up_to(&mut self, most: usize) {
        let mut next = 0;
        while next < self.tree.len() && self.tree.len() < most {
            if let Some(id) = self.tree.ids().nth(next) {
                self.expand(id);
            }
            next += 1;
        }
    }

    /// Makes nodes of `grouped` by callee, and puts them below `parent`.
    fn add(&mut self, parent: Option<NodeId>, grouped: &mut [(Callee, Entry)], own: impl Fn(Callee, Amount) -> Amount) {
        grouped.sort_unstable_by_key(|(callee, entry)| (order(*callee), entry.caller));
        let mut nodes: Vec<(Draft, State)> = Vec::new();
        for same in grouped.chunk_by(|left, right| left.0 == right.0) {
            let mut callers = Vec::new();
            for to_caller in same.chunk_by(|left, right| left.1.caller == right.1.caller) {
                let caller = to_caller[0].1.caller;
                if caller.is_some() {
                    callers.push(Entry { caller, amount: to_caller.iter().map(|(_, entry)| entry.amount).sum() });
                }
            }
            let total = same.iter().map(|(_, entry)| entry.amount).sum();
            let own = own(same[0].0, total);
            let state = State { is_leaf: callers.is_empty(), callers };
            nodes.push((Draft { callee: same[0].0, parent: None, own, total }, state));
        }
        nodes.sort_unstable_by(|(left, _), (right, _)| {
            by_total_then_name((left.callee, left.total), (right.callee, right.total), &self.profile)
        });
        let (drafts, states): (Vec<Draft>, Vec<State>) = nodes.into_iter().unzip();
        self.tree.add_children(parent, &drafts);
        self.state.extend(states);
    }
}

impl<P: Deref<Target = Profile>> GrowingTree for InvertedTree<P> {
    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn is_leaf(&self, id: NodeId) -> bool {
        self.state[id.index()].is_leaf
    }

    fn expand(&mut self, id: NodeId) {
        let callers = std::mem::take(&mut self.state[id.index()].callers);
        if callers.is_empty() {
            return;
        }
        let mut grouped: Vec<(Callee, Entry)> = Vec::with_capacity(callers.len());
        for entry in callers {
            if let Some(caller) = entry.caller {
                let callee = Callee::Function(self.profile.leaf_function(caller));
                let caller = self.profile.stacks.prefix[caller.index()];
                grouped.push((callee, Entry { caller, amount: entry.amount }));
            }
        }
        self.add(Some(id), &mut grouped, |_, _| Amount::default());
    }
}

/// A key that brings equal callees together.
fn order(callee: Callee) -> impl Ord {
    match callee {
        Callee::Function(function) => (function.index() + 1, 0, None, None),
        Callee::Wait(kind) => (0, kind.reason as u8, kind.syscall, kind.target),
    }
}

//! The call tree from the outermost functions inwards.

use rustc_hash::FxHashMap;

use super::amount::Amount;
use super::search::FunctionSet;
use super::stack_values::StackValues;
use super::tree::{Callee, Draft, Tree, row};
use crate::model::{FunctionId, Profile};

/// The call tree of `values`, merged by function: frames of one function below the same node are one node, whatever
/// their lines. Waits are leaves of their own below the frame that waited.
pub fn call_tree(profile: &Profile, values: &StackValues) -> Tree {
    below_roots(profile, values, None)
}

/// The call tree of what `functions` called: a root is the outermost of them on a stack, so that each sample is below one root,
/// once, and a root's total is what the function has in a [list](super::functions()). Stacks without them are in no node.
pub fn callee_tree(profile: &Profile, values: &StackValues, functions: &FunctionSet) -> Tree {
    below_roots(profile, values, Some(functions))
}

/// `roots`: where stacks begin; `None`: at their outermost frames.
fn below_roots(profile: &Profile, values: &StackValues, roots: Option<&FunctionSet>) -> Tree {
    let mut drafts: Vec<Draft> = Vec::new();
    let node_of_stack = merge_stacks(profile, values, roots, &mut drafts);
    add_waits(values, &node_of_stack, roots.is_none(), &mut drafts);
    // Callers stand before their callees: from the end, each node is complete before it is added to its caller.
    for index in (0..drafts.len()).rev() {
        let Draft { parent, own, .. } = drafts[index];
        drafts[index].total += own;
        if let Some(parent) = parent {
            let total = drafts[index].total;
            drafts[parent as usize].total += total;
        }
    }
    let mut tree = Tree::empty(values.whole());
    tree.fill(&drafts, profile);
    tree
}

/// Makes a node for each function below each node; gives the node of each stack that is part of the selection.
fn merge_stacks(
    profile: &Profile,
    values: &StackValues,
    roots: Option<&FunctionSet>,
    drafts: &mut Vec<Draft>,
) -> Vec<Option<u32>> {
    let totals = values.totals(&profile.stacks);
    let mut nodes: FxHashMap<(Option<u32>, FunctionId), u32> = FxHashMap::default();
    let mut node_of_stack = vec![None; totals.len()];
    for (stack, total) in totals.iter().enumerate() {
        if total.samples == 0 {
            continue;
        }
        let parent = profile.stacks.prefix[stack].and_then(|prefix| node_of_stack[prefix.index()]);
        let function = profile.frames.function[profile.stacks.frame[stack].index()];
        if parent.is_none() && roots.is_some_and(|roots| !roots.contains(function)) {
            continue;
        }
        let node = *nodes.entry((parent, function)).or_insert_with(|| {
            drafts.push(Draft::new(Callee::Function(function), parent));
            row(drafts.len() - 1)
        });
        drafts[node as usize].own += values.own[stack];
        node_of_stack[stack] = Some(node);
    }
    node_of_stack
}

/// `bare`: whether waits without a node to be below are roots.
fn add_waits(values: &StackValues, node_of_stack: &[Option<u32>], bare: bool, drafts: &mut Vec<Draft>) {
    let mut leaves: FxHashMap<(Option<u32>, usize), u32> = FxHashMap::default();
    for waits in &values.waits {
        let parent = waits.stack.and_then(|stack| node_of_stack[stack.index()]);
        if parent.is_none() && !bare {
            continue;
        }
        let leaf = *leaves.entry((parent, waits.kind)).or_insert_with(|| {
            drafts.push(Draft::new(Callee::Wait(values.wait_kinds[waits.kind]), parent));
            row(drafts.len() - 1)
        });
        drafts[leaf as usize].own += waits.amount;
    }
}

impl Draft {
    fn new(callee: Callee, parent: Option<u32>) -> Self {
        Self { callee, parent, own: Amount::default(), total: Amount::default() }
    }
}

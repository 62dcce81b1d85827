//! Which nodes are expanded, by the functions that lead to them: so it stays known when the tree is computed anew.

use rustc_hash::FxHashMap;
use traceview_core::analysis::{Callee, NodeId, Tree};

/// Paths of functions from a root, each stored as its last step and the path before it.
#[derive(Debug, Default)]
pub(super) struct Paths {
    steps: Vec<Step>,
    ids: FxHashMap<(Option<PathId>, Callee), PathId>,
    /// Changes whenever something is expanded or collapsed.
    version: u64,
}

/// A path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct PathId(u32);

#[derive(Clone, Copy, Debug)]
struct Step {
    before: Option<PathId>,
    callee: Callee,
    open: bool,
}

impl Paths {
    /// The path that goes on from `before` with `callee`, if it was ever asked for.
    pub(super) fn find(&self, before: Option<PathId>, callee: Callee) -> Option<PathId> {
        self.ids.get(&(before, callee)).copied()
    }

    /// The path of a node.
    pub(super) fn of(&mut self, tree: &Tree, id: NodeId) -> PathId {
        let mut callees = vec![tree.node(id).callee];
        let mut at = tree.node(id).parent;
        while let Some(around) = at {
            callees.push(tree.node(around).callee);
            at = tree.node(around).parent;
        }
        let outermost = callees.pop().map(|callee| self.step(None, callee));
        callees.into_iter().rev().fold(outermost, |path, callee| Some(self.step(path, callee))).expect("one at least")
    }

    /// The node of a path, as far as `tree` has grown.
    pub(super) fn resolve(&self, tree: &Tree, path: PathId) -> Option<NodeId> {
        let mut callees = Vec::new();
        let mut at = Some(path);
        while let Some(PathId(index)) = at {
            let step = self.steps[index as usize];
            callees.push(step.callee);
            at = step.before;
        }
        let outermost = callees.pop()?;
        let mut node = tree.roots().find(|id| tree.node(*id).callee == outermost)?;
        for callee in callees.into_iter().rev() {
            node = tree.children(node).find(|id| tree.node(*id).callee == callee)?;
        }
        Some(node)
    }

    /// Whether what is below the path is shown.
    pub(super) fn is_open(&self, path: PathId) -> bool {
        self.steps[path.0 as usize].open
    }

    /// Expands or collapses the path.
    pub(super) fn set_open(&mut self, path: PathId, open: bool) {
        let step = &mut self.steps[path.0 as usize];
        if step.open != open {
            step.open = open;
            self.version += 1;
        }
    }

    /// Expands all that is around the path, so that it can be seen.
    pub(super) fn uncover(&mut self, path: PathId) {
        let mut at = self.steps[path.0 as usize].before;
        while let Some(around) = at {
            self.set_open(around, true);
            at = self.steps[around.0 as usize].before;
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The path that goes on from `before` with `callee`.
    pub(super) fn step(&mut self, before: Option<PathId>, callee: Callee) -> PathId {
        let next = PathId(u32::try_from(self.steps.len()).expect("nobody opens so many rows"));
        let id = *self.ids.entry((before, callee)).or_insert(next);
        if id == next {
            self.steps.push(Step { before, callee, open: false });
        }
        id
    }
}

//! A node of a call tree by the functions that lead to it: it stays known whatever part of the profile is counted.

use std::sync::Arc;

use traceview_core::analysis::{Callee, NodeId, Tree};
use traceview_core::model::{FunctionId, Profile, StackId};

/// What leads to a node of the call tree, the outermost function first, with the node itself. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallPath(Arc<[Callee]>);

impl CallPath {
    /// The path of a node.
    pub fn of_node(tree: &Tree, id: NodeId) -> Self {
        let callees = std::iter::successors(Some(id), |id| tree.node(*id).parent).map(|id| tree.node(id).callee);
        Self::from_innermost(callees.collect())
    }

    /// The path of the node that a stack is counted in.
    pub fn of_stack(profile: &Profile, stack: StackId) -> Self {
        let callees = profile.stacks.ancestors(stack).map(|stack| Callee::Function(profile.leaf_function(stack)));
        Self::from_innermost(callees.collect())
    }

    fn from_innermost(mut callees: Vec<Callee>) -> Self {
        callees.reverse();
        Self(callees.into())
    }

    /// Its node in `tree`, if it has one there.
    pub fn find_in(&self, tree: &Tree) -> Option<NodeId> {
        let nearest = self.nearest_in(tree)?;
        (tree.node(nearest).depth as usize + 1 == self.0.len()).then_some(nearest)
    }

    /// Its node in `tree`, or else the nearest one around it that is there.
    pub fn nearest_in(&self, tree: &Tree) -> Option<NodeId> {
        let (outermost, others) = self.0.split_first()?;
        let mut at = tree.roots().find(|id| tree.node(*id).callee == *outermost)?;
        for callee in others {
            match tree.children(at).find(|id| tree.node(*id).callee == *callee) {
                Some(next) => at = next,
                None => break,
            }
        }
        Some(at)
    }

    /// The node itself.
    pub fn innermost(&self) -> Option<Callee> {
        self.0.last().copied()
    }

    /// Its functions, the outermost first.
    pub fn functions(&self) -> Vec<FunctionId> {
        let functions = self.0.iter().filter_map(|callee| match callee {
            Callee::Function(function) => Some(*function),
            Callee::Wait(_) => None,
        });
        functions.collect()
    }

    /// Its function; that of a wait is the one that waits.
    pub fn function(&self) -> Option<FunctionId> {
        self.0.iter().rev().find_map(|callee| match callee {
            Callee::Function(function) => Some(*function),
            Callee::Wait(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use traceview_core::analysis::{Measure, Selection, StackValues, call_tree};

    use super::*;
    use crate::testing::{document, profiles};

    #[test]
    fn nodes_are_found_again_in_another_tree() {
        let document = document(profiles::functions());
        let tree = |measure| {
            let values = StackValues::of(&document.profile, &Selection::default(), measure).expect("it adds up");
            call_tree(&document.profile, &values)
        };
        let (wall, cpu) = (tree(Measure::Wall), tree(Measure::Cpu));
        for id in wall.ids() {
            let path = CallPath::of_node(&wall, id);
            assert_eq!(path.find_in(&wall), Some(id));
            let node = wall.node(id);
            assert_eq!(path.innermost(), Some(node.callee));
            let name = |function| document.function_name(function);
            match node.callee {
                Callee::Function(function) => {
                    assert_eq!(path.function(), Some(function));
                    let found = path.find_in(&cpu).expect("it ran");
                    assert_eq!(cpu.node(found).callee, node.callee);
                }
                Callee::Wait(_) => {
                    assert_eq!((path.function().map(name), path.find_in(&cpu)), (Some("io::write"), None));
                }
            }
        }
    }

    #[test]
    fn stacks_lead_to_the_nodes_that_they_are_counted_in() {
        let document = document(profiles::functions());
        let profile = &document.profile;
        let values = StackValues::of(profile, &Selection::default(), Measure::Cpu).expect("it adds up");
        let tree = call_tree(profile, &values);
        for stack in profile.threads[0].samples.stack.iter().flatten() {
            let node = CallPath::of_stack(profile, *stack).find_in(&tree).expect("it was counted");
            assert!(tree.node(node).own.samples > 0);
        }
    }
}

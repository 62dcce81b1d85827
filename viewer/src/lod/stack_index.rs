//! Depths and common ancestors of stack nodes, fast for stacks of any depth.

use traceview_core::model::{StackId, StackTable};

/// How deep each node of a [`StackTable`] is, and a shortcut towards its root.
///
/// With the shortcuts, which reach over distances that grow like powers of two, an ancestor at a given depth and the
/// node at which two stacks part are found in a number of steps that grows with the logarithm of the depth. It takes
/// 8 bytes for each node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackIndex {
    depth: Vec<u32>,
    /// A root's is itself.
    shortcut: Vec<StackId>,
}

impl StackIndex {
    /// Indexes all nodes of `stacks`.
    pub fn new(stacks: &StackTable) -> Self {
        let mut depth: Vec<u32> = Vec::with_capacity(stacks.len());
        let mut shortcut: Vec<StackId> = Vec::with_capacity(stacks.len());
        for (row, prefix) in stacks.prefix.iter().enumerate() {
            let Some(caller) = *prefix else {
                depth.push(0);
                shortcut.push(StackId::new(row));
                continue;
            };
            // Two shortcuts of equal length in a row are followed by one over both.
            let near = shortcut[caller.index()];
            let far = shortcut[near.index()];
            let depths = [caller, near, far].map(|node| depth[node.index()]);
            depth.push(depths[0] + 1);
            shortcut.push(if depths[0] - depths[1] == depths[1] - depths[2] { far } else { caller });
        }
        Self { depth, shortcut }
    }

    /// How many callers `node` has.
    pub fn depth(&self, node: StackId) -> u32 {
        self.depth[node.index()]
    }

    /// The ancestor of `node` (or itself) that has `depth` callers; `node` must have as many or more.
    pub fn at_depth(&self, stacks: &StackTable, mut node: StackId, depth: u32) -> StackId {
        while self.depth(node) > depth {
            let far = self.shortcut[node.index()];
            let next = if self.depth(far) >= depth { Some(far) } else { stacks.prefix[node.index()] };
            node = next.expect("a node below a root has a caller");
        }
        node
    }

    /// How many nodes, from the root on, two stacks have in common.
    pub fn common(&self, stacks: &StackTable, a: StackId, b: StackId) -> u32 {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.at_depth(stacks, a, depth), self.at_depth(stacks, b, depth));
        // Nodes of equal depth have shortcuts of equal length.
        while a != b {
            let (far_a, far_b) = (self.shortcut[a.index()], self.shortcut[b.index()]);
            if far_a != far_b && self.depth(a) > 0 {
                (a, b) = (far_a, far_b);
            } else {
                let (Some(caller_a), Some(caller_b)) = (stacks.prefix[a.index()], stacks.prefix[b.index()]) else {
                    return 0;
                };
                (a, b) = (caller_a, caller_b);
            }
        }
        self.depth(a) + 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop, proptest};
    use traceview_core::model::FrameId;

    use super::*;

    fn table(prefix: &[Option<usize>]) -> StackTable {
        StackTable {
            prefix: prefix.iter().map(|prefix| prefix.map(StackId::new)).collect(),
            frame: vec![FrameId::new(0); prefix.len()],
        }
    }

    /// Trees with several roots; every other node continues the one before it, so that some get deep.
    fn forests() -> impl Strategy<Value = Vec<Option<usize>>> {
        prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..200).prop_map(|nodes| {
            let pick = |(row, (deepen, index)): (usize, &(bool, prop::sample::Index))| match row {
                0 => None,
                _ if *deepen => Some(row - 1),
                _ => index.index(row + 1).checked_sub(1),
            };
            nodes.iter().enumerate().map(pick).collect()
        })
    }

    proptest! {
        #[test]
        fn agrees_with_walking(
            (prefix, a, b) in forests().prop_flat_map(|forest| {
                let rows = 0..forest.len();
                (Just(forest), rows.clone(), rows)
            })
        ) {
            let stacks = table(&prefix);
            let index = StackIndex::new(&stacks);
            let path = |node: usize| {
                let mut path = stacks.ancestors(StackId::new(node)).collect::<Vec<_>>();
                path.reverse();
                path
            };
            let (path_a, path_b) = (path(a), path(b));
            let common = path_a.iter().zip(&path_b).take_while(|(a, b)| a == b).count();
            assert_eq!(index.common(&stacks, StackId::new(a), StackId::new(b)) as usize, common);
            for (depth, node) in path_a.iter().enumerate() {
                assert_eq!(index.at_depth(&stacks, StackId::new(a), u32::try_from(depth).unwrap()), *node);
                assert_eq!(index.depth(*node) as usize, depth);
            }
        }
    }
}

//! Stacks as a tree of shared prefixes.

use super::ids::{FrameId, StackId};

/// All stacks of a profile. A row is a node: its frame, and the row of its caller.
///
/// The stacks `main → a → b` and `main → a → c` are
///
/// | row | prefix | frame |
/// |----:|-------:|-------|
/// | 0   | –      | main  |
/// | 1   | 0      | a     |
/// | 2   | 1      | b     |
/// | 3   | 1      | c     |
///
/// and are named by their innermost rows, 2 and 3. A caller always stands before its callees, so one pass over the
/// rows visits parents first, and a pass from the end visits children first: no analysis needs recursion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StackTable {
    /// The caller's node, `None` at the root.
    pub prefix: Vec<Option<StackId>>,
    /// The node's frame.
    pub frame: Vec<FrameId>,
}

impl StackTable {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.frame.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.frame.is_empty()
    }

    /// The nodes of a stack from the innermost to the root.
    pub fn ancestors(&self, innermost: StackId) -> impl Iterator<Item = StackId> {
        std::iter::successors(Some(innermost), |node| self.prefix[node.index()])
    }

    pub(super) fn push(&mut self, prefix: Option<StackId>, frame: FrameId) -> StackId {
        let id = StackId::new(self.len());
        self.prefix.push(prefix);
        self.frame.push(frame);
        id
    }
}

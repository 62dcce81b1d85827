//! A tree as the rows that are shown of it.

use crate::analysis::{GrowingTree, NodeId};

/// What of a tree is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TreeLimits {
    /// Nodes with a smaller share than this (and what is below them) are left out.
    pub min_percent: f64,
    /// No more rows than this.
    pub max_rows: usize,
}

impl TreeLimits {
    /// What a person wants to read.
    pub const READABLE: Self = Self { min_percent: 0.5, max_rows: 500 };
    /// All nodes. The whole of an inverted tree of deep stacks can be very large.
    pub const NONE: Self = Self { min_percent: 0.0, max_rows: usize::MAX };
}

/// The rows that are shown of a tree: each node before the nodes below it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Outline {
    pub(super) rows: Vec<OutlineRow>,
    /// Nodes left out because their share is too small, not counting those below them.
    pub(super) small: u64,
    /// Whether there would have been more rows.
    pub(super) cut: bool,
}

/// A row of an outline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OutlineRow {
    pub(super) id: NodeId,
    /// The row of the node around it.
    pub(super) parent: Option<usize>,
    /// By how many steps it is indented. A chain of calls that never branches needs only one.
    pub(super) indent: usize,
    /// Whether all that the row above it called is this: it is indented no further.
    pub(super) chained: bool,
}

impl Outline {
    /// Goes through `tree`, growing it where needed, in the order of its rows.
    pub(super) fn of(tree: &mut dyn GrowingTree, limits: TreeLimits) -> Self {
        let mut outline = Self::default();
        let mut pending: Vec<OutlineRow> = Vec::new();
        for id in tree.tree().roots().rev() {
            pending.push(OutlineRow { id, parent: None, indent: 0, chained: false });
        }
        while let Some(row) = pending.pop() {
            let node = tree.tree().node(row.id);
            if tree.tree().whole.percent(node.total.value) < limits.min_percent {
                outline.small += 1;
                continue;
            }
            if outline.rows.len() >= limits.max_rows {
                outline.cut = true;
                break;
            }
            let parent = Some(outline.rows.len());
            outline.rows.push(row);
            tree.expand(row.id);
            let samples = tree.tree().node(row.id).total.samples;
            let children = tree.tree().children(row.id);
            let only = children.len() == 1;
            for id in children.rev() {
                let chained = only && tree.tree().node(id).total.samples == samples;
                pending.push(OutlineRow { id, parent, indent: row.indent + usize::from(!chained), chained });
            }
        }
        outline
    }
}

//! Call trees as flat arrays.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::amount::Amount;
use super::waits::WaitKind;
use super::whole::Whole;
use crate::model::{FunctionId, Profile};

/// A node of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

/// What a node or row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function.
    Function(FunctionId),
    /// Waiting in a system call.
    Wait(WaitKind),
}

/// A function (or wait) below its caller, or in an inverted tree above it.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// What it is.
    pub callee: Callee,
    /// The node around it.
    pub parent: Option<NodeId>,
    /// How many nodes are around it.
    pub depth: u32,
    /// Samples that were taken in itself.
    pub own: Amount,
    /// Samples that were taken in itself or below it.
    pub total: Amount,
    children: Range<u32>,
}

/// A call tree. The nodes below a node stand next to each other, the largest total first, then by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// What shares are of.
    pub whole: Whole,
    nodes: Vec<Node>,
    roots: u32,
}

/// A tree that may grow while it is looked at.
pub trait GrowingTree {
    /// The tree as far as it has grown.
    fn tree(&self) -> &Tree;

    /// Whether nothing is below `id`, also not once it is expanded.
    fn is_leaf(&self, id: NodeId) -> bool;

    /// Makes sure that the nodes directly below `id` are in the tree.
    fn expand(&mut self, id: NodeId);
}

/// A node before it has its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) callee: Callee,
    pub(super) parent: Option<u32>,
    pub(super) own: Amount,
    pub(super) total: Amount,
}

impl NodeId {
    /// The row this points to.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Callee {
    /// Its name.
    pub fn name(self, profile: &Profile) -> Cow<'_, str> {
        match self {
            Self::Function(id) => profile.string(profile.functions.name[id.index()]).into(),
            Self::Wait(kind) => kind.label(profile),
        }
    }

    /// By name; equal names in order of their rows.
    pub(super) fn compare(self, other: Self, profile: &Profile) -> Ordering {
        let by_row = || match (self, other) {
            (Self::Function(left), Self::Function(right)) => left.cmp(&right),
            (Self::Function(_), Self::Wait(_)) => Ordering::Less,
            (Self::Wait(_), Self::Function(_)) => Ordering::Greater,
            (Self::Wait(left), Self::Wait(right)) => (left.syscall, left.target).cmp(&(right.syscall, right.target)),
        };
        self.name(profile).cmp(&other.name(profile)).then_with(by_row)
    }
}

impl GrowingTree for Tree {
    fn tree(&self) -> &Tree {
        self
    }

    fn is_leaf(&self, id: NodeId) -> bool {
        self.node(id).children.is_empty()
    }

    fn expand(&mut self, _: NodeId) {}
}

impl Tree {
    /// The node `id`.
    ///
    /// # Panics
    /// If `id` belongs to another tree.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The outermost nodes.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.roots).map(NodeId)
    }

    /// The nodes directly below `id`.
    pub fn children(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        self.node(id).children.clone().map(NodeId)
    }

    /// All nodes; those around a node come before it.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..row(self.nodes.len())).map(NodeId)
    }

    /// A tree without nodes.
    pub(super) fn empty(whole: Whole) -> Self {
        Self { whole, nodes: Vec::new(), roots: 0 }
    }

    /// Gives the nodes of `drafts`, in which parents come before their children, their places in this empty tree.
    pub(super) fn fill(&mut self, drafts: &[Draft], profile: &Profile) {
        // Children by parent, as ranges of one array; the roots come last.
        let slot_of = |draft: &Draft| draft.parent.map_or(drafts.len(), |parent| parent as usize);
        let mut ends = vec![0_u32; drafts.len() + 1];
        drafts.iter().for_each(|draft| ends[slot_of(draft)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut starts = ends.clone();
        let mut by_parent = vec![0_u32; drafts.len()];
        for (index, draft) in drafts.iter().enumerate().rev() {
            let start = &mut starts[slot_of(draft)];
            *start -= 1;
            by_parent[*start as usize] = row(index);
        }
        let mut sorted_children = |slot: usize| {
            let children = starts[slot] as usize..ends[slot] as usize;
            by_parent[children.clone()].sort_unstable_by(|left, right| {
                let (left, right) = (&drafts[*left as usize], &drafts[*right as usize]);
                by_total_then_name((left.callee, left.total), (right.callee, right.total), profile)
            });
            by_parent[children].to_vec()
        };
        // Breadth first: whatever is appended for one node stays together.
        let mut placed: Vec<u32> = Vec::with_capacity(drafts.len());
        for child in sorted_children(drafts.len()) {
            placed.push(child);
            self.push(&drafts[child as usize], None);
        }
        self.roots = row(self.nodes.len());
        let mut next = 0;
        while next < placed.len() {
            let start = row(self.nodes.len());
            for child in sorted_children(placed[next] as usize) {
                placed.push(child);
                self.push(&drafts[child as usize], Some(NodeId(row(next))));
            }
            self.nodes[next].children = start..row(self.nodes.len());
            next += 1;
        }
    }

    /// Adds the sorted `drafts` (whose own parents do not matter) below `parent`, which has no children yet.
    pub(super) fn add_children(&mut self, parent: Option<NodeId>, drafts: &[Draft]) {
        let start = row(self.nodes.len());
        drafts.iter().for_each(|draft| self.push(draft, parent));
        let end = row(self.nodes.len());
        match parent {
            Some(parent) => self.nodes[parent.index()].children = start..end,
            None => self.roots = end,
        }
    }

    fn push(&mut self, draft: &Draft, parent: Option<NodeId>) {
        let depth = parent.map_or(0, |parent| self.node(parent).depth + 1);
        let Draft { callee, own, total, .. } = *draft;
        self.nodes.push(Node { callee, parent, depth, own, total, children: 0..0 });
    }
}

/// The largest total first, then by name.
pub(super) fn by_total_then_name(left: (Callee, Amount), right: (Callee, Amount), profile: &Profile) -> Ordering {
    right.1.value.total_cmp(&left.1.value).then_with(|| left.0.compare(right.0, profile))
}

/// A number of nodes as nodes are numbered.
pub(super) fn row(index: usize) -> u32 {
    u32::try_from(index).expect("a tree has fewer nodes than a profile has stacks")
}

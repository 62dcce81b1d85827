//! The new stack of each old one.

use super::paths::{ends_in, is_node_of};
use super::{Transform, is_in_library};
use crate::analysis::facts::node_categories;
use crate::analysis::stacks_through;
use crate::model::{CategoryId, Frame, FrameId, Function, FunctionId, Profile, ProfileBuilder, StackId};

/// What becomes of what carries a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// It carries this one; `None`: none, as all of its functions are left out.
    Kept(Option<StackId>),
    /// It goes.
    Dropped,
}

/// What becomes of each stack.
pub(super) struct NewStacks {
    fates: Vec<Fate>,
    /// Of what has no stack.
    stackless: Fate,
}

impl NewStacks {
    pub(super) fn of(profile: &Profile, transform: &Transform, builder: &mut ProfileBuilder) -> Self {
        let making = Making {
            profile,
            categories: node_categories(profile),
            builder,
            new: Vec::with_capacity(profile.stacks.len()),
        };
        let keep = Fate::Kept(None);
        let (fates, stackless) = match transform {
            Transform::MergeFunction(merged) => (making.without(|_, function| function == *merged), keep),
            Transform::MergeNode(path) => {
                let nodes = is_node_of(profile, path);
                (making.without(|node, _| nodes[node]), keep)
            }
            Transform::FocusFunction(root) => (making.below(|_, function| function == *root), Fate::Dropped),
            Transform::FocusNode(path) => {
                let nodes = is_node_of(profile, path);
                (making.below(|node, _| nodes[node]), Fate::Dropped)
            }
            Transform::FocusSelf(path) => {
                let ends = ends_in(profile, path);
                (making.only(|node| ends[node]), Fate::Dropped)
            }
            Transform::FocusCategory(category) => {
                let categories = making.categories.clone();
                (making.without(|node, _| categories[node] != Some(*category)), keep)
            }
            Transform::DropCategory(category) => {
                let categories = making.categories.clone();
                (making.only(|node| categories[node] != Some(*category)), keep)
            }
            Transform::DropFunction(dropped) => {
                let through = stacks_through(profile, |function| function == *dropped);
                (making.only(|node| !through[node]), keep)
            }
            Transform::CollapseFunction(leaf) => (making.ending_at(*leaf), keep),
            Transform::CollapseLibrary(library) => {
                let (members, name) = (is_in_library(profile, *library), profile.libraries[library.index()].name);
                let function = making.builder.function(Function::named(name));
                let frame = Frame { library: Some(*library), ..Frame::of(function) };
                (making.with_runs_joined(&members, frame), keep)
            }
            Transform::CollapseRecursion(function) => (making.without_recursion(*function, false), keep),
            Transform::CollapseDirectRecursion(function) => (making.without_recursion(*function, true), keep),
            // Neither changes stacks here: one does all by itself, the other looks at times.
            Transform::FoldAsync | Transform::Within(_) => (making.only(|_| true), keep),
        };
        Self { fates, stackless }
    }

    /// Whether anything is dropped.
    pub(super) fn drops(&self) -> bool {
        self.stackless == Fate::Dropped || self.fates.contains(&Fate::Dropped)
    }

    pub(super) fn fate(&self, stack: Option<StackId>) -> Fate {
        stack.map_or(self.stackless, |stack| self.fates[stack.index()])
    }

    /// The new stacks, by the old ones.
    pub(super) fn stacks(&self) -> Vec<Option<StackId>> {
        let stack = |fate: &Fate| match fate {
            Fate::Kept(stack) => *stack,
            Fate::Dropped => None,
        };
        self.fates.iter().map(stack).collect()
    }
}

/// The making of new stacks: nodes in order, callers before callees.
struct Making<'a> {
    profile: &'a Profile,
    builder: &'a mut ProfileBuilder,
    /// By node, as callees without a category take it over from callers that may be left out.
    categories: Vec<Option<CategoryId>>,
    /// Of each node so far the one that its callees are put below.
    new: Vec<Option<StackId>>,
}

impl Making<'_> {
    /// Without the nodes that are `left_out`.
    fn without(mut self, left_out: impl Fn(usize, FunctionId) -> bool) -> Vec<Fate> {
        for node in 0..self.profile.stacks.len() {
            let above = self.above(node);
            let stack = if left_out(node, self.function(node)) { above } else { Some(self.node(above, node)) };
            self.new.push(stack);
        }
        self.kept()
    }

    /// Stacks from the outermost node on that `is_root`.
    fn below(mut self, is_root: impl Fn(usize, FunctionId) -> bool) -> Vec<Fate> {
        for node in 0..self.profile.stacks.len() {
            let above = self.above(node);
            let is_in = above.is_some() || is_root(node, self.function(node));
            let stack = is_in.then(|| self.node(above, node));
            self.new.push(stack);
        }
        self.new.iter().map(|stack| stack.map_or(Fate::Dropped, |stack| Fate::Kept(Some(stack)))).collect()
    }

    /// The stacks that end in a node which `is_kept`.
    fn only(mut self, is_kept: impl Fn(usize) -> bool) -> Vec<Fate> {
        self.copy();
        let fate = |(node, stack): (usize, &Option<StackId>)| match is_kept(node) {
            true => Fate::Kept(*stack),
            false => Fate::Dropped,
        };
        self.new.iter().enumerate().map(fate).collect()
    }

    fn ending_at(mut self, leaf: FunctionId) -> Vec<Fate> {
        // Whether a node is that function or lies below it.
        let mut closed: Vec<bool> = Vec::with_capacity(self.profile.stacks.len());
        for node in 0..self.profile.stacks.len() {
            let (above, is_below) = (self.above(node), self.prefix(node).is_some_and(|prefix| closed[prefix]));
            let stack = if is_below { above } else { Some(self.node(above, node)) };
            closed.push(is_below || self.function(node) == leaf);
            self.new.push(stack);
        }
        self.kept()
    }

    /// With `joined` in place of nodes next to each other that are `members`.
    fn with_runs_joined(mut self, members: &[bool], joined: Frame) -> Vec<Fate> {
        for node in 0..self.profile.stacks.len() {
            let is_member = |node: usize| members[self.function(node).index()];
            let above = self.above(node);
            let stack = if !is_member(node) {
                Some(self.node(above, node))
            } else if self.prefix(node).is_some_and(is_member) {
                above
            } else {
                let frame = self.builder.frame(Frame { category: self.categories[node], ..joined });
                Some(self.builder.stack(above, frame))
            };
            self.new.push(stack);
        }
        self.kept()
    }

    fn without_recursion(mut self, function: FunctionId, direct_only: bool) -> Vec<Fate> {
        // Of each node the call of the function that another one below it is put into.
        let mut outer: Vec<Option<StackId>> = Vec::with_capacity(self.profile.stacks.len());
        for node in 0..self.profile.stacks.len() {
            let (above, is_call) = (self.above(node), self.function(node) == function);
            let around = self.prefix(node).and_then(|prefix| outer[prefix]);
            let stack = match around {
                Some(around) if is_call => around,
                _ => self.node(above, node),
            };
            outer.push(if is_call { Some(stack) } else { around.filter(|_| !direct_only) });
            self.new.push(Some(stack));
        }
        self.kept()
    }

    fn copy(&mut self) {
        for node in 0..self.profile.stacks.len() {
            let above = self.above(node);
            let stack = self.node(above, node);
            self.new.push(Some(stack));
        }
    }

    fn kept(self) -> Vec<Fate> {
        self.new.into_iter().map(Fate::Kept).collect()
    }

    /// What the node's caller became.
    fn above(&self, node: usize) -> Option<StackId> {
        self.prefix(node).and_then(|prefix| self.new[prefix])
    }

    fn prefix(&self, node: usize) -> Option<usize> {
        self.profile.stacks.prefix[node].map(StackId::index)
    }

    fn function(&self, node: usize) -> FunctionId {
        self.profile.leaf_function(StackId::new(node))
    }

    /// The frame of `node`, called from `above`.
    fn node(&mut self, above: Option<StackId>, node: usize) -> StackId {
        let frame = self.frame(node);
        self.builder.stack(above, frame)
    }

    /// The node's frame, with the category that it took over from its callers.
    fn frame(&mut self, node: usize) -> FrameId {
        let frame = self.profile.stacks.frame[node];
        let category = self.categories[node];
        if self.profile.frames.category[frame.index()] == category {
            return frame;
        }
        self.builder.frame(Frame { category, ..self.profile.frames.get(frame) })
    }
}

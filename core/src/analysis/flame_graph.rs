//! A call tree as a picture: each node is a box as wide as its total, inside the width of its caller.
//!
//! Siblings stand in order of their names, so that a box keeps its place among them whichever part of a profile is counted.

use std::ops::Range;

use super::tree::{NodeId, Tree, row};
use crate::model::Profile;

/// Where the nodes of a [`Tree`] stand in a flame graph. Widths are in what the tree counts; nothing is below zero wide,
/// and what is in a box fits into it.
///
/// Boxes are numbered row by row, from the outermost callers on, and from left to right: those below a box are a range of
/// each row.
#[derive(Clone, PartialEq, Debug)]
pub struct FlameGraph {
    boxes: Vec<Placed>,
    /// Where each row begins, and the end of the last one.
    rows: Vec<u32>,
    /// By node.
    box_of: Vec<BoxId>,
    width: f64,
}

/// A box of a [`FlameGraph`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BoxId(u32);

#[derive(Clone, Copy, PartialEq, Debug)]
struct Placed {
    node: NodeId,
    left: f64,
    width: f64,
    /// How wide all boxes before it are, from the first one of the graph on.
    before: f64,
    /// The first box below it, or where that would be.
    children: u32,
}

impl BoxId {
    /// The box that is the `index`-th.
    pub fn new(index: usize) -> Self {
        Self(row(index))
    }

    /// How many are before it.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlameGraph {
    /// The graph of `tree`, in a width of at least `width`: what has no stack is free at the right.
    pub fn new(profile: &Profile, tree: &Tree, width: f64) -> Self {
        let mut graph = Self {
            boxes: Vec::with_capacity(tree.len()),
            rows: vec![0],
            box_of: vec![BoxId(0); tree.len()],
            width: 0.0,
        };
        let roots: f64 = tree.roots().map(|id| width_of(tree, id)).sum();
        graph.width = width.max(roots);
        let mut siblings: Vec<NodeId> = tree.roots().collect();
        graph.add(profile, tree, &mut siblings, (0.0, graph.width));
        let mut next = 0;
        while next < graph.boxes.len() {
            let end = graph.boxes.len();
            graph.rows.push(row(end));
            while next < end {
                let Placed { node, left, width, .. } = graph.boxes[next];
                graph.boxes[next].children = row(graph.boxes.len());
                siblings.clear();
                siblings.extend(tree.children(node));
                graph.add(profile, tree, &mut siblings, (left, width));
                next += 1;
            }
        }
        graph
    }

    /// Adds boxes side by side in a width that begins at `left`.
    fn add(&mut self, profile: &Profile, tree: &Tree, siblings: &mut [NodeId], (mut left, room): (f64, f64)) {
        siblings.sort_unstable_by(|a, b| tree.node(*a).callee.compare(tree.node(*b).callee, profile));
        let sum: f64 = siblings.iter().map(|id| width_of(tree, *id)).sum();
        // Where some amounts are negative the others can add up to more than all of them.
        let scale = if sum > room { room / sum } else { 1.0 };
        for id in siblings {
            let width = width_of(tree, *id) * scale;
            let before = self.boxes.last().map_or(0.0, |last| last.before + last.width);
            self.box_of[id.index()] = BoxId::new(self.boxes.len());
            self.boxes.push(Placed { node: *id, left, width, before, children: 0 });
            left += width;
        }
    }

    /// How wide everything is.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len() - 1
    }

    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// The boxes of a row, from left to right.
    pub fn row(&self, depth: usize) -> Range<BoxId> {
        BoxId(self.rows[depth])..BoxId(self.rows[depth + 1])
    }

    /// The node that a box is of.
    pub fn node(&self, id: BoxId) -> NodeId {
        self.boxes[id.index()].node
    }

    /// The box of a node of the tree.
    pub fn box_of(&self, id: NodeId) -> BoxId {
        self.box_of[id.index()]
    }

    /// Where a box begins.
    pub fn left(&self, id: BoxId) -> f64 {
        self.boxes[id.index()].left
    }

    /// How wide it is.
    pub fn width_of(&self, id: BoxId) -> f64 {
        self.boxes[id.index()].width
    }

    /// How wide several boxes of a row are together.
    pub fn sum(&self, boxes: Range<BoxId>) -> f64 {
        let before = |id: BoxId| match self.boxes.get(id.index()) {
            Some(placed) => placed.before,
            None => self.boxes.last().map_or(0.0, |last| last.before + last.width),
        };
        before(boxes.end) - before(boxes.start)
    }

    /// The boxes directly below those of a range of a row: a range of the next row.
    pub fn children(&self, boxes: Range<BoxId>) -> Range<BoxId> {
        let child = |id: BoxId| self.boxes.get(id.index()).map_or(row(self.boxes.len()), |placed| placed.children);
        BoxId(child(boxes.start))..BoxId(child(boxes.end))
    }

    /// Of the boxes in a range of a row, the first one that begins at `x` or behind it.
    pub fn first_from(&self, boxes: Range<BoxId>, x: f64) -> BoxId {
        let (mut start, end) = (boxes.start.index(), boxes.end.index());
        // It is often near: steps that double find it without a look at all of the row.
        let mut step = 1;
        while start + step < end && self.boxes[start + step].left < x {
            start += step;
            step *= 2;
        }
        let near = &self.boxes[start..end.min(start + step)];
        BoxId::new(start + near.partition_point(|placed| placed.left < x))
    }
}

fn width_of(tree: &Tree, id: NodeId) -> f64 {
    tree.node(id).total.value.max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::super::fixture::Fixture;
    use super::super::{Measure, Selection, StackValues, call_tree};
    use super::*;

    /// The graph of one thread with so many samples of each stack, and the names of its boxes with their places.
    fn graph(counts: &[(&str, usize)]) -> (Profile, Tree, FlameGraph) {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("main", 1);
        fixture.samples(thread, counts);
        let profile = fixture.finish();
        let values = StackValues::of(&profile, &Selection::default(), Measure::Samples).expect("samples add up");
        let tree = call_tree(&profile, &values);
        let graph = FlameGraph::new(&profile, &tree, values.total.value);
        (profile, tree, graph)
    }

    fn rows(profile: &Profile, tree: &Tree, graph: &FlameGraph) -> Vec<Vec<(String, f64, f64)>> {
        let of = |index: usize| {
            let id = BoxId::new(index);
            let name = tree.node(graph.node(id)).callee.name(profile).into_owned();
            (name, graph.left(id), graph.width_of(id))
        };
        (0..graph.rows())
            .map(|depth| (graph.row(depth).start.index()..graph.row(depth).end.index()).map(of).collect())
            .collect()
    }

    #[test]
    fn boxes_stand_by_name_in_the_width_of_their_callers() {
        let (profile, tree, graph) =
            graph(&[("main;z", 5), ("main;a", 1), ("main;a;deep", 2), ("main", 4), ("clone;work", 3)]);
        let at = |name: &str, left: f64, width: f64| (name.to_owned(), left, width);
        assert_eq!(
            rows(&profile, &tree, &graph),
            [
                vec![at("clone", 0.0, 3.0), at("main", 3.0, 12.0)],
                vec![at("work", 0.0, 3.0), at("a", 3.0, 3.0), at("z", 6.0, 5.0)],
                vec![at("deep", 3.0, 2.0)],
            ]
        );
        let main = BoxId::new(1);
        assert_eq!(graph.children(main..BoxId::new(2)), BoxId::new(3)..BoxId::new(5));
        assert_eq!(graph.children(BoxId::new(3)..BoxId::new(5)), BoxId::new(5)..BoxId::new(6));
        assert!(graph.children(BoxId::new(5)..BoxId::new(6)).is_empty());
        assert_eq!((graph.sum(graph.row(1)), graph.sum(main..BoxId::new(2)), graph.width()), (11.0, 12.0, 15.0));
        assert_eq!(graph.first_from(graph.row(1), 3.5), BoxId::new(4));
    }

    #[test]
    fn nothing_makes_an_empty_graph() {
        let (.., graph) = graph(&[]);
        assert_eq!((graph.rows(), graph.len(), graph.width(), graph.is_empty()), (0, 0, 0.0, true));
    }

    #[test]
    fn a_stack_of_any_depth_has_its_rows() {
        let names: Vec<String> = (0..50_000).map(|depth| format!("f{}", depth % 7)).collect();
        let (.., graph) = graph(&[(&names.join(";"), 1)]);
        assert_eq!((graph.rows(), graph.len()), (50_000, 50_000));
    }

    proptest! {
        #[test]
        fn boxes_have_their_totals_and_do_not_overlap(
            counts in prop::collection::vec((prop::collection::vec(0..4usize, 1..6), 1..9usize), 0..30),
        ) {
            let texts: Vec<(String, usize)> = counts
                .into_iter()
                .map(|(path, count)| (path.into_iter().map(|it| ["b", "a", "d", "c"][it]).collect::<Vec<_>>().join(";"), count))
                .collect();
            let counts: Vec<(&str, usize)> = texts.iter().map(|(text, count)| (text.as_str(), *count)).collect();
            let (_, tree, graph) = graph(&counts);
            assert_eq!(graph.len(), tree.len());
            for id in tree.ids() {
                let (node, at) = (tree.node(id), graph.box_of(id));
                assert_eq!((graph.node(at), graph.width_of(at)), (id, node.total.value));
                let depth = node.depth as usize;
                assert!(graph.row(depth).contains(&at));
                if let Some(around) = node.parent {
                    let around = graph.box_of(around);
                    assert!(graph.left(around) <= graph.left(at));
                    assert!(graph.left(at) + graph.width_of(at) <= graph.left(around) + graph.width_of(around));
                    assert!(graph.children(around..BoxId::new(around.index() + 1)).contains(&at));
                }
            }
            for depth in 0..graph.rows() {
                let row = graph.row(depth);
                let all: Vec<BoxId> = (row.start.index()..row.end.index()).map(BoxId::new).collect();
                for x in (0..30).map(|x| f64::from(x) * graph.width() / 29.0) {
                    let first = all.iter().copied().find(|id| graph.left(*id) >= x);
                    assert_eq!(graph.first_from(row.clone(), x), first.unwrap_or(row.end));
                }
                for index in row.start.index() + 1..row.end.index() {
                    let [before, at] = [index - 1, index].map(BoxId::new);
                    assert!(graph.left(before) + graph.width_of(before) <= graph.left(at));
                }
            }
        }
    }
}

//! The graph of what the tables count, and the part of it that is shown.

use std::ops::Range;
use std::sync::Arc;

use traceview_core::analysis::{BoxId, Callee, FlameGraph, Node};
use traceview_core::model::StandardCategory;

use crate::analyses::Tables;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::latest::Latest;
use crate::search::FunctionSet;

/// A graph with the tables that it is made of.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) tables: Arc<Tables>,
    pub(super) boxes: FlameGraph,
    /// By box: how many of those before it a search found. Empty where nothing is searched for.
    found_before: Vec<u32>,
    /// The row that is seen first: where code begins that somebody has written for the program.
    pub(super) opening: usize,
}

/// The part of a graph that fills the width: all of it, or one node with what is below it, and around it its callers.
pub(super) struct Part {
    pub(super) graph: Arc<Graph>,
    /// The node that fills the width.
    pub(super) zoom: Option<BoxId>,
    /// By row: what is to be seen of it.
    rows: Vec<Range<BoxId>>,
    /// Different for different parts.
    pub(super) generation: u64,
}

/// Has the graph of `tables` made, if there is none yet.
pub(super) fn update(latest: &mut Latest<Graph>, document: &Arc<Document>, tables: &Arc<Tables>, jobs: &Jobs) {
    latest.update(
        |graph| Arc::ptr_eq(&graph.tables, tables),
        || {
            let (document, tables) = (Arc::clone(document), Arc::clone(tables));
            jobs.start("flame graph", move |_| Graph::new(&document, tables))
        },
    );
}

/// A box with the next one: the range that has only it.
pub(super) fn only(id: BoxId) -> Range<BoxId> {
    id..BoxId::new(id.index() + 1)
}

impl Graph {
    fn new(document: &Document, tables: Arc<Tables>) -> Self {
        let boxes = FlameGraph::new(&document.profile, &tables.tree, tables.kept().value);
        let mut graph = Self { tables, boxes, found_before: Vec::new(), opening: 0 };
        if let Some(found) = graph.tables.found.clone() {
            graph.found_before = graph.count_found(&found);
        }
        let of_category = |category: StandardCategory| {
            let is_it = document.categories_called(category);
            let is_of_it = |id: &BoxId| match graph.node(*id).callee {
                Callee::Function(function) => document.facts.category(function).is_some_and(|id| is_it[id.index()]),
                Callee::Wait(_) => false,
            };
            (0..graph.boxes.len()).map(BoxId::new).find(is_of_it)
        };
        let first = of_category(StandardCategory::Workspace).or_else(|| of_category(StandardCategory::Dependency));
        graph.opening = first.map_or(0, |id| graph.node(id).depth as usize);
        graph
    }

    fn count_found(&self, found: &FunctionSet) -> Vec<u32> {
        let mut count = 0;
        let mut before = vec![0];
        for index in 0..self.boxes.len() {
            count += u32::from(is_found(found, self.node(BoxId::new(index)).callee));
            before.push(count);
        }
        before
    }

    /// The node of a box.
    pub(super) fn node(&self, id: BoxId) -> &Node {
        self.tables.tree.node(self.boxes.node(id))
    }

    /// The box around it.
    pub(super) fn caller(&self, id: BoxId) -> Option<BoxId> {
        self.node(id).parent.map(|node| self.boxes.box_of(node))
    }

    /// Whether a search found one of some boxes; `None`: nothing is searched for.
    pub(super) fn has_found(&self, boxes: &Range<BoxId>) -> Option<bool> {
        let before = |id: BoxId| self.found_before.get(id.index()).copied();
        Some(before(boxes.start)? < before(boxes.end)?)
    }
}

impl Part {
    /// All of `graph`, or what is below `zoom`.
    pub(super) fn new(graph: Arc<Graph>, zoom: Option<BoxId>, generation: u64) -> Self {
        // What has no width can't fill it.
        let zoom = zoom.filter(|id| graph.boxes.width_of(*id) > 0.0);
        let mut rows = Vec::new();
        match zoom {
            None => rows.extend((0..graph.boxes.rows()).map(|depth| graph.boxes.row(depth))),
            Some(zoom) => {
                rows.extend(std::iter::successors(Some(zoom), |id| graph.caller(*id)).map(only));
                rows.reverse();
                let mut below = graph.boxes.children(only(zoom));
                while !below.is_empty() {
                    rows.push(below.clone());
                    below = graph.boxes.children(below);
                }
            }
        }
        Self { graph, zoom, rows, generation }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// What is to be seen of a row.
    pub(super) fn row(&self, depth: usize) -> Range<BoxId> {
        self.rows[depth].clone()
    }

    /// Whether a box is to be seen.
    pub(super) fn has(&self, id: BoxId) -> bool {
        self.rows.get(self.graph.node(id).depth as usize).is_some_and(|row| row.contains(&id))
    }

    /// Where a box begins and how wide it is, as parts of the whole width.
    pub(super) fn span(&self, id: BoxId) -> (f64, f64) {
        let (left, width) = self.bounds();
        if self.is_around(id) {
            return (0.0, 1.0);
        }
        ((self.graph.boxes.left(id) - left) / width, self.graph.boxes.width_of(id) / width)
    }

    /// How wide several boxes of a row are together, as a part of the whole width.
    pub(super) fn sum(&self, boxes: Range<BoxId>) -> f64 {
        self.graph.boxes.sum(boxes) / self.bounds().1
    }

    /// Of some boxes of a row, the first one that begins at this part of the width or behind it.
    pub(super) fn first_from(&self, boxes: Range<BoxId>, part: f64) -> BoxId {
        let (left, width) = self.bounds();
        self.graph.boxes.first_from(boxes, left + part * width)
    }

    /// Whether it is the node that fills the width, or one around it.
    pub(super) fn is_around(&self, id: BoxId) -> bool {
        self.zoom.is_some_and(|zoom| self.graph.node(id).depth <= self.graph.node(zoom).depth)
    }

    fn bounds(&self) -> (f64, f64) {
        let boxes = &self.graph.boxes;
        self.zoom.map_or((0.0, boxes.width().max(f64::MIN_POSITIVE)), |zoom| (boxes.left(zoom), boxes.width_of(zoom)))
    }
}

/// Whether a search found it.
pub(super) fn is_found(found: &FunctionSet, callee: Callee) -> bool {
    match callee {
        Callee::Function(function) => found.contains(function),
        Callee::Wait(_) => false,
    }
}

//! From one box to the next by keys.

use traceview_core::analysis::BoxId;

use super::graph::{Part, only};
use super::layout::Layout;

/// A way to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// To the caller.
    Out,
    /// To what took most of what it called.
    In,
    /// To the box at the right.
    Next,
    /// To the box at the left.
    Previous,
}

/// Narrower boxes, in pixels, are passed over.
const NARROWEST: f64 = 2.0;

/// The box that is one step from `from`; from nowhere, the one that fills the width or the widest outermost one.
pub(super) fn step(layout: &Layout<'_>, from: Option<BoxId>, step: Step) -> Option<BoxId> {
    let part = layout.part;
    let Some(from) = from.filter(|id| part.has(*id)) else {
        return part.zoom.or_else(|| widest(part, (part.rows() > 0).then(|| part.row(0))?));
    };
    let row = part.row(part.graph.node(from).depth as usize);
    let is_wide = |id: &BoxId| layout.pixels(part.span(*id).1) >= NARROWEST;
    match step {
        Step::Out => part.graph.caller(from),
        Step::In => widest(part, part.graph.boxes.children(only(from))),
        Step::Next => (from.index() + 1..row.end.index()).map(BoxId::new).find(is_wide),
        Step::Previous => (row.start.index()..from.index()).rev().map(BoxId::new).find(is_wide),
    }
}

fn widest(part: &Part, boxes: std::ops::Range<BoxId>) -> Option<BoxId> {
    let width = |id: &BoxId| part.graph.boxes.width_of(*id);
    // The first of equal ones.
    (boxes.start.index()..boxes.end.index()).rev().map(BoxId::new).max_by(|a, b| width(a).total_cmp(&width(b)))
}

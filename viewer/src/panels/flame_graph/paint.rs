//! A part of a graph as a scene.

use std::ops::Range;
use std::rc::Rc;

use egui::{Color32, Rect, vec2};
use traceview_core::analysis::{BoxId, Callee};
use traceview_core::model::FunctionId;

use super::layout::Layout;
use crate::document::Document;
use crate::panels::amounts::Words;
use crate::panels::box_names::fitting;
use crate::panels::boxes::{Boxes, label};
use crate::panels::labels;
use crate::panels::legend::Legend;
use crate::scene::{Align, Label, NARROWEST_LABEL, Scene};
use crate::theme::Theme;

/// How a graph is drawn, besides what is shown of it.
pub(super) struct Look<'a> {
    /// Where names come from.
    pub(super) document: &'a Document,
    /// Its colours.
    pub(super) theme: &'a Theme,
    /// What its colours mean.
    pub(super) legend: Rc<Legend>,
    /// The selected function.
    pub(super) function: Option<FunctionId>,
}

/// A box that is drawn with its name.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Named {
    /// Where, on the canvas.
    pub(super) rect: Rect,
    /// Its name.
    pub(super) name: String,
    /// Which it is.
    pub(super) id: BoxId,
}

/// More labels than this make a frame late; narrow boxes go without.
const MOST_LABELS: usize = 1_000;
/// The colour of boxes that share a pixel is that of the widest of so many.
const MOST_COMPARED: usize = 32;
/// Boxes that are as wide as this have room for their share.
const NARROWEST_WITH_SHARE: f32 = 150.0;
/// The room for a share.
const SHARE: f32 = 52.0;

/// Draws what is seen, with the boxes that carry their names.
pub(super) fn scene(layout: &Layout<'_>, look: &Look<'_>) -> (Scene, Vec<Named>) {
    let scene = Scene::new(layout.size, look.theme.canvas);
    let mut painter = Painter { layout, look, boxes: Boxes::new(scene, layout.pixel), named: Vec::new() };
    for depth in layout.visible() {
        painter.row(depth);
    }
    painter.finish()
}

struct Painter<'a> {
    layout: &'a Layout<'a>,
    look: &'a Look<'a>,
    boxes: Boxes,
    named: Vec<(Named, Color32)>,
}

impl Painter<'_> {
    fn row(&mut self, depth: usize) {
        let mut rest = self.layout.part.row(depth);
        let top = self.layout.top(depth);
        while !rest.is_empty() {
            let sharing = self.layout.sharing(&rest);
            let (left, width) = self.layout.part.span(sharing.start);
            if self.layout.pixels(width) >= 1.0 || self.layout.part.is_around(sharing.start) {
                self.one(sharing.start, self.layout.rect_of(top, left, width));
            } else {
                self.many(&sharing, top, left);
            }
            rest.start = sharing.end;
        }
        self.boxes.continued_ends();
    }

    fn one(&mut self, id: BoxId, rect: Rect) {
        self.boxes.continued_ends();
        let (theme, graph) = (self.look.theme, &self.layout.part.graph);
        let callee = graph.node(id).callee;
        let full = labels::swatch(self.look.document, theme, callee);
        let found = graph.has_found(&super::graph::only(id));
        self.boxes.separate(rect, if found == Some(false) { theme.dimmed(full) } else { full });
        if found == Some(true) {
            self.boxes.underline(rect, theme.found);
        }
        if self.look.function.is_some_and(|function| callee == Callee::Function(function)) {
            self.boxes.outline(rect, theme.outline.gamma_multiply(0.6));
        }
        if rect.width() >= NARROWEST_LABEL {
            let text = match (found, callee) {
                (Some(false), _) => theme.weak_text,
                (_, Callee::Wait(_)) => theme.text,
                (_, Callee::Function(_)) => theme.box_text,
            };
            let name = callee.name(&self.look.document.profile).into_owned();
            self.named.push((Named { rect, name, id }, text));
        }
    }

    /// Draws boxes that share a pixel as one.
    fn many(&mut self, sharing: &Range<BoxId>, top: f32, left: f64) {
        let (theme, part) = (self.look.theme, self.layout.part);
        let sum = part.sum(sharing.clone());
        if sum <= 0.0 {
            return;
        }
        let some = (sharing.start.index()..sharing.end.index()).take(MOST_COMPARED).map(BoxId::new);
        let width = |id: &BoxId| part.graph.boxes.width_of(*id);
        let widest = some.max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(sharing.start);
        let found = part.graph.has_found(sharing);
        let full = labels::swatch(self.look.document, theme, part.graph.node(widest).callee);
        let color = if found == Some(false) { theme.dimmed(full) } else { full };
        // Few steps, so that neighbours are alike and are drawn as one.
        #[expect(clippy::cast_possible_truncation, reason = "a share of a pixel")]
        let coverage = ((self.layout.pixels(sum) * 8.0).ceil() / 8.0) as f32;
        let rect = self.layout.rect_of(top, left, sum);
        self.boxes.continued(rect, theme.covered(color, coverage));
        if found == Some(true) {
            self.boxes.continued_ends();
            self.boxes.underline(rect, theme.found);
        }
    }

    fn finish(mut self) -> (Scene, Vec<Named>) {
        if self.named.len() > MOST_LABELS {
            self.named.sort_by(|a, b| b.0.rect.width().total_cmp(&a.0.rect.width()));
            self.named.truncate(MOST_LABELS);
        }
        let words = Words::new(self.layout.part.graph.tables.whole());
        for (named, color) in &self.named {
            let mut rect = named.rect;
            if rect.width() >= NARROWEST_WITH_SHARE {
                let share = words.percent(self.layout.part.graph.node(named.id).total);
                let place = rect.with_min_x(rect.right() - SHARE);
                self.boxes.scene.labels.push(label(place, share, *color, Align::Right));
                rect.max.x -= SHARE;
            }
            if let Some((text, elide)) = fitting(&named.name, rect.width()) {
                let label = label(rect, text.into_owned(), *color, Align::Left);
                self.boxes.scene.labels.push(Label { elide, ..label });
            }
        }
        self.legend();
        (self.boxes.scene, self.named.into_iter().map(|(named, _)| named).collect())
    }

    /// What colours mean, over a row that is half seen.
    fn legend(&mut self) {
        let (theme, area) = (self.look.theme, self.layout.legend());
        // Text of a row that is half under it would lie over it.
        let covers =
            |rect: &Rect| area.height() > 0.0 && rect.y_range().intersects(area.y_range()) && !touches(rect, &area);
        self.boxes.scene.labels.retain(|label| !covers(&label.rect));
        self.named.retain(|(named, _)| !covers(&named.rect));
        self.boxes.quad(area, theme.canvas);
        self.look.legend.paint_line(&mut self.boxes.scene, area.translate(vec2(2.0, 0.0)), theme);
    }
}

/// Whether `rect` is beside `area`, but for what is rounded.
fn touches(rect: &Rect, area: &Rect) -> bool {
    const ROUNDED: f32 = 3.0;
    rect.bottom() <= area.top() + ROUNDED || rect.top() >= area.bottom() - ROUNDED
}

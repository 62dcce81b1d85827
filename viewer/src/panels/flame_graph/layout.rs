//! Where boxes are on the canvas, and what is where.

use std::ops::Range;

use egui::{Pos2, Rect, Vec2, pos2, vec2};
use traceview_core::analysis::BoxId;

use super::graph::{Part, only};
use crate::panels::SCROLL_BAR;

/// The height of a row, in points.
pub(super) const ROW: f32 = 18.0;
/// The height of the line that says what colours mean, on the side where the outermost functions are not.
const LEGEND: f32 = 18.0;
/// A canvas that is not as high as this has no room for that line.
const LOWEST_WITH_LEGEND: f32 = 90.0;

/// A part of a graph at a place: lengths count from the canvas's top left corner.
pub(super) struct Layout<'a> {
    pub(super) part: &'a Part,
    /// How large the canvas is.
    pub(super) size: Vec2,
    /// How far it is scrolled away from the outermost functions.
    pub(super) scroll: f64,
    /// Whether these are at the lower edge.
    pub(super) upwards: bool,
    /// Whether there is a line that says what colours mean.
    pub(super) has_legend: bool,
    /// How large a pixel is, in points.
    pub(super) pixel: f32,
}

impl Layout<'_> {
    /// Where the rows are.
    pub(super) fn area(&self) -> Rect {
        let all = Rect::from_min_size(pos2(0.0, 0.0), vec2((self.size.x - SCROLL_BAR).max(1.0), self.size.y));
        match (self.legend_height(), self.upwards) {
            (height, true) => all.with_min_y(height),
            (height, false) => all.with_max_y(self.size.y - height),
        }
    }

    /// Where it says what colours mean.
    pub(super) fn legend(&self) -> Rect {
        let (area, height) = (self.area(), self.legend_height());
        if self.upwards {
            area.with_min_y(0.0).with_max_y(height)
        } else {
            Rect { max: pos2(area.right(), self.size.y), min: pos2(0.0, area.bottom()) }
        }
    }

    fn legend_height(&self) -> f32 {
        if !self.has_legend || self.size.y < LOWEST_WITH_LEGEND { 0.0 } else { LEGEND }
    }

    /// The furthest that it can be scrolled.
    pub(super) fn most_scroll(&self) -> f64 {
        most_scroll(self.part.rows(), self.area().height())
    }

    /// The rows that are seen, at least in part.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate, which is meant")]
    pub(super) fn visible(&self) -> Range<usize> {
        let row = f64::from(ROW);
        let end = ((self.scroll + f64::from(self.area().height())) / row).ceil() as usize;
        let end = end.min(self.part.rows());
        ((self.scroll / row).floor() as usize).min(end)..end
    }

    /// Where a row begins; it may be outside of what is seen.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "places near the screen are small numbers"
    )]
    pub(super) fn top(&self, depth: usize) -> f32 {
        let from_root = (depth as f64 * f64::from(ROW) - self.scroll) as f32;
        if self.upwards { self.area().bottom() - from_root - ROW } else { self.area().top() + from_root }
    }

    /// Where a box is: at least a pixel wide.
    pub(super) fn rect(&self, id: BoxId) -> Rect {
        let (left, width) = self.part.span(id);
        self.rect_of(self.top(self.part.graph.node(id).depth as usize), left, width)
    }

    /// Where a part of the width is in the row that begins at `top`.
    #[expect(clippy::cast_possible_truncation, reason = "places on the screen")]
    pub(super) fn rect_of(&self, top: f32, left: f64, width: f64) -> Rect {
        let whole = f64::from(self.area().width());
        let [left, right] = [left, left + width].map(|at| (at * whole) as f32);
        let left = left.min(self.area().right() - self.pixel).max(0.0);
        let right = right.min(self.area().right()).max(left + self.pixel);
        Rect { min: pos2(left, top), max: pos2(right, top + ROW - self.pixel) }
    }

    /// How many pixels a part of the width is wide.
    pub(super) fn pixels(&self, part: f64) -> f64 {
        part * f64::from(self.area().width() / self.pixel)
    }

    /// Of boxes of a row, from the first on, those that share its pixel: it alone if it is wider.
    pub(super) fn sharing(&self, boxes: &Range<BoxId>) -> Range<BoxId> {
        let first = boxes.start;
        let (left, width) = self.part.span(first);
        if self.pixels(width) >= 1.0 || self.part.is_around(first) {
            return only(first);
        }
        let next_pixel = (self.pixels(left).floor() + 1.0) / self.pixels(1.0);
        let rest = BoxId::new(first.index() + 1)..boxes.end;
        let mut end = self.part.first_from(rest, next_pixel);
        // The last one that begins in the pixel may go on.
        if let Some(last) = end.index().checked_sub(1).map(BoxId::new).filter(|last| *last > first)
            && self.pixels(self.part.span(last).1) >= 1.0
        {
            end = last;
        }
        first..end
    }

    /// The box at `pos`, or at most a pixel beside it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a row that exists")]
    pub(super) fn hit(&self, pos: Pos2) -> Option<BoxId> {
        let area = self.area();
        if !area.contains(pos) || pos.x >= area.right() {
            return None;
        }
        let from_root = if self.upwards { area.bottom() - pos.y } else { pos.y - area.top() };
        let depth = ((f64::from(from_root) + self.scroll) / f64::from(ROW)).max(0.0) as usize;
        if depth >= self.part.rows() {
            return None;
        }
        let row = self.part.row(depth);
        if self.part.is_around(row.start) {
            return Some(row.start);
        }
        let behind = self.part.first_from(row.clone(), f64::from(pos.x / area.width()));
        let before = behind.index().checked_sub(1).map(BoxId::new);
        let distance = |id: &BoxId| {
            let rect = self.rect(*id);
            (rect.left() - pos.x).max(pos.x - rect.right()).max(0.0)
        };
        let near = [before, Some(behind)].into_iter().flatten().filter(|id| row.contains(id));
        near.filter(|id| distance(id) <= self.pixel).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// How far to scroll so that a row is seen whole, as little as possible.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer rows than that")]
    pub(super) fn reveal(&self, depth: usize) -> f64 {
        let from = depth as f64 * f64::from(ROW);
        let last = from + f64::from(ROW) - f64::from(self.area().height());
        self.scroll.max(last).min(from).clamp(0.0, self.most_scroll())
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer rows than that")]
fn most_scroll(rows: usize, height: f32) -> f64 {
    let (content, height) = (rows as f64 * f64::from(ROW), f64::from(height));
    // A little room behind the last row says that it is the last.
    if content <= height { 0.0 } else { content + f64::from(ROW) / 2.0 - height }
}

//! What is where: under the pointer, and next to what was picked.

use egui::Pos2;
use traceview_core::model::{SliceId, Time, TimeRange};

use super::layout::{Layout, Row, SectionKind};
use super::matches::Matches;
use super::model::Chart;
use crate::document::Document;
use crate::lod::{Cell, Pyramid, Spans};
use crate::selection::{Picked, PickedKind};
use crate::widget::TimeView;

/// A chart at a place: all that drawing it and finding things on it depend on. Lengths count from the canvas's top left
/// corner.
pub(super) struct Shown<'a> {
    /// Where names come from.
    pub(super) document: &'a Document,
    /// What is shown.
    pub(super) chart: &'a Chart,
    /// Where its rows are.
    pub(super) layout: &'a Layout,
    /// Where times are.
    pub(super) view: TimeView,
    /// How high the canvas is.
    pub(super) height: f32,
    /// How far its rows are scrolled.
    pub(super) scroll: f64,
    /// How fine the screen is.
    pub(super) pixels_per_point: f32,
}

impl Shown<'_> {
    /// How many pixels the view is wide.
    pub(super) fn pixels(&self) -> u32 {
        self.view.pixels(self.pixels_per_point)
    }

    /// What is drawn at `pos`, or at most a pixel beside it. Where many share a pixel, one that `found` has comes first.
    pub(super) fn hit(&self, pos: Pos2, found: Option<&Matches>) -> Option<Picked> {
        if pos.x < self.view.left || pos.x > self.view.left + self.view.width {
            return None;
        }
        let chart = self.chart;
        match self.layout.row_at(pos.y, self.scroll)? {
            Row::Waits => Some(self.wait(self.cell_at(&chart.rows.waits, 0, pos.x)?.item)),
            Row::Of(SectionKind::Slices, row) => {
                let cell = self.cell_at(&chart.rows.slices, row, pos.x)?;
                let better = found.filter(|_| !cell.exact).and_then(|found| {
                    Some(found.slices.spans().original(self.cell_at(&found.slices, row, pos.x)?.item))
                });
                Some(self.slice(better.unwrap_or(cell.item)))
            }
            Row::Of(SectionKind::Boxes, depth) => {
                let row = depth.checked_sub(chart.window().start)?;
                let cell = self.cell_at(&chart.boxes, row, pos.x)?;
                let better = found
                    .filter(|_| !cell.exact)
                    .and_then(|found| Some(found.boxes.spans().original(self.cell_at(&found.boxes, row, pos.x)?.item)));
                Some(self.box_(better.unwrap_or(cell.item)))
            }
        }
    }

    /// The row of what was picked.
    pub(super) fn row_of(&self, picked: &Picked) -> Option<Row> {
        row_of(self.document, self.chart, picked)
    }

    /// The wait that is an item of its pyramid.
    pub(super) fn wait(&self, item: u32) -> Picked {
        self.picked(PickedKind::Wait(item as usize), &self.chart.rows.waits, item)
    }

    /// The slice that is an item of its pyramid.
    pub(super) fn slice(&self, item: u32) -> Picked {
        self.picked(PickedKind::Slice(SliceId::new(item as usize)), &self.chart.rows.slices, item)
    }

    /// The box that is an item of its pyramid.
    pub(super) fn box_(&self, item: u32) -> Picked {
        self.chart.pick_box(self.document, item)
    }

    fn picked<S: Spans>(&self, what: PickedKind, pyramid: &Pyramid<S>, item: u32) -> Picked {
        let (start, duration) = (pyramid.spans().start(item as usize), pyramid.spans().duration(item as usize));
        Picked { thread: self.chart.thread, what, start, duration }
    }

    /// The cell of a row at `x` or at most a pixel beside it, the nearest one.
    fn cell_at<S: Spans>(&self, pyramid: &Pyramid<S>, row: u32, x: f32) -> Option<Cell> {
        let mut cells = Vec::new();
        let (range, pixels) = self.around(x);
        pyramid.query(range, pixels, row..row + 1, &mut cells);
        let pixel = 1.0 / self.pixels_per_point;
        let distance = |cell: &Cell| {
            let left = self.view.x(cell.start);
            let right = self.view.x(cell.end()).max(left + pixel);
            (left - x).max(x - right).max(0.0)
        };
        let near = cells.into_iter().filter(|cell| distance(cell) <= pixel);
        near.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// A few pixels around `x` at the same zoom level, so that the cells are those that are drawn.
    fn around(&self, x: f32) -> (TimeRange, u32) {
        const PIXELS: i64 = 8;
        let (range, pixels) = (self.view.range, self.pixels());
        let length = range.end.0.saturating_sub(range.start.0).unsigned_abs();
        if length < u64::from(pixels) {
            return (range, pixels);
        }
        let pixel = i64::try_from(length.div_ceil(u64::from(pixels))).unwrap_or(i64::MAX / PIXELS);
        let start = Time(self.view.time(x).0.saturating_sub(pixel.saturating_mul(PIXELS / 2)));
        let end = Time(start.0.saturating_add(pixel.saturating_mul(PIXELS)));
        (TimeRange { start, end }, PIXELS as u32)
    }
}

/// The row of what was picked in the chart of its thread; markers have none.
pub(super) fn row_of(document: &Document, chart: &Chart, picked: &Picked) -> Option<Row> {
    if picked.thread != chart.thread {
        return None;
    }
    Some(match picked.what {
        PickedKind::Wait(_) => Row::Waits,
        PickedKind::Slice(slice) => Row::Of(SectionKind::Slices, chart.rows.slices.spans().row(slice.index())),
        PickedKind::Box(node) => Row::Of(SectionKind::Boxes, document.stack_index.depth(node)),
        PickedKind::Marker(_) | PickedKind::Station(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};
    use traceview_core::model::ThreadId;

    use super::super::model::{Charts, Readiness};
    use super::super::paint::time_view;
    use super::*;
    use crate::jobs::Jobs;
    use crate::panels::{GUTTER, SCROLL_BAR};
    use crate::testing::{MS, TestProfile, document};

    const STACKS: [&str; 4] = ["main", "main;a", "main;a;b", "main;c"];

    /// The distance of `x` from a box, which is drawn at least a pixel wide.
    fn distance(shown: &Shown<'_>, picked: &Picked, x: f32) -> f32 {
        let (left, right) = (shown.view.x(picked.start), shown.view.x(picked.range().end));
        (left - x).max(x - right.max(left + 1.0 / shown.pixels_per_point)).max(0.0)
    }

    proptest! {
        #[test]
        fn what_is_under_the_pointer_is_what_looking_at_all_boxes_finds(
            runs in prop::collection::vec((0..4usize, 0..40i64, 0..3i64), 1..60),
            start in 0..1000i64, length in 1..2000i64, x in GUTTER..1000.0 - SCROLL_BAR, depth in 0..3u32, fine in 1..=2u32,
        ) {
            let mut profile = TestProfile::recorded();
            let thread = profile.thread("main");
            let stacks = STACKS.map(|stack| profile.stack(stack));
            let mut time = 0;
            for (stack, samples, pause) in runs {
                for _ in 0..samples {
                    profile.sample(thread, time * MS, stacks[stack]);
                    time += 1;
                }
                time += pause * 10;
            }
            let document = document(profile.finish());
            let charts = Charts::default().update(&document, ThreadId::new(0), &(0..3), &Jobs::immediate());
            let Readiness::Ready(chart) = charts else { panic!("immediate jobs are done") };
            let layout = Layout::of(&chart);
            let range = TimeRange { start: Time(start * MS), end: Time((start + length) * MS) };
            let view = time_view(range, egui::vec2(1000.0, 400.0));
            let pixels_per_point = fine as f32;
            let shown =
                Shown { document: &document, chart: &chart, layout: &layout, view, height: 400.0, scroll: 0.0, pixels_per_point };
            let Some(top) = layout.top(Row::Of(SectionKind::Boxes, depth), 0.0) else { return Ok(()) };
            let hit = shown.hit(egui::pos2(x, top + 9.0), None);
            let boxes: Vec<Picked> = chart.boxes.items(depth).iter().map(|item| shown.box_(*item)).collect();
            let pixel = 1.0 / pixels_per_point;
            let inside = |picked: &&Picked| distance(&shown, picked, x) <= 0.0;
            if let Some(around) = boxes.iter().find(inside) {
                let wide = view.x(around.range().end) - view.x(around.start) >= 2.0 * pixel;
                assert!(hit.is_some(), "{around:?}");
                assert!(!wide || hit == Some(*around), "{around:?}, not {hit:?}");
            }
            if let Some(hit) = hit {
                assert!(boxes.contains(&hit));
                // A cell that short boxes share is up to two pixels wide.
                assert!(distance(&shown, &hit, x) <= 3.1 * pixel, "{hit:?} is {} away", distance(&shown, &hit, x));
            }
        }
    }
}

//! The lane of markers above a thread's graph: spans as bars, moments as diamonds, crowds of them as ticks side by side.

use std::sync::Arc;

use egui::{Color32, Rect, pos2};
use traceview_core::model::{CategoryId, Nanos, ThreadId, Time, TimeRange};

use super::layout::{HALF_LANE, MARKER_LANE};
use super::paint::Look;
use crate::document::Document;
use crate::lod::{Cell, Pyramid, Spans};
use crate::markers::MarkerSpan;
use crate::scene::Scene;
use crate::selection::Picked;
use crate::widget::TimeView;

/// The markers of a thread, indexed.
#[derive(Debug)]
pub(super) struct MarkerLane {
    pyramid: Pyramid<MarkerRows>,
    thread: ThreadId,
}

/// The markers of a thread in rows in which none overlaps another: spans, those within others further down, and moments in
/// the last row. All rows are drawn in one place, one over the other.
#[derive(Debug)]
struct MarkerRows {
    document: Arc<Document>,
    thread: ThreadId,
    rows: Vec<u8>,
    /// The row of moments.
    moments: u8,
}

/// Spans within each other that can be told apart; deeper ones share a row.
const MOST_ROWS: usize = 4;
/// More are not needed to see where markers are.
const MOST_PIXELS: u32 = 1000;
/// Moments nearer to each other than this are a crowd.
const CROWD: f32 = 4.0;
/// Half as wide as a tick of a crowd.
const HALF_TICK: f32 = 1.0;
/// How far from a marker it can still be hit.
const REACH: f32 = 5.0;
/// Diamonds of all tracks together, at most: then ticks.
const MOST_DIAMONDS: usize = 8_000;

impl MarkerRows {
    fn new(document: &Arc<Document>, thread: ThreadId) -> Self {
        let mut ends: Vec<Time> = Vec::new();
        let mut rows = Vec::new();
        for span in document.markers[thread.index()].spans() {
            let free = ends.iter().position(|end| *end <= span.start);
            rows.push(match free {
                _ if span.is_moment => None,
                None if ends.len() < MOST_ROWS => {
                    ends.push(span.start + span.duration);
                    Some(ends.len() - 1)
                }
                free => {
                    let row = free.unwrap_or(MOST_ROWS - 1);
                    ends[row] = ends[row].max(span.start + span.duration);
                    Some(row)
                }
            });
        }
        let small = |row: usize| u8::try_from(row).expect("there are few rows");
        let moments = small(ends.len());
        let rows = rows.into_iter().map(|row| row.map_or(moments, small)).collect();
        Self { document: Arc::clone(document), thread, rows, moments }
    }

    fn spans(&self) -> &[MarkerSpan] {
        self.document.markers[self.thread.index()].spans()
    }

    fn color(&self, item: usize, look: &Look) -> Color32 {
        let profile = &self.document.profile;
        let markers = &profile.threads[self.thread.index()].markers;
        let category: CategoryId = markers.category[self.spans()[item].marker.index()];
        look.theme.category(profile.categories[category.index()].color)
    }
}

impl Spans for MarkerRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn rows(&self) -> u32 {
        u32::from(self.moments) + 1
    }

    fn row(&self, item: usize) -> u32 {
        u32::from(self.rows[item])
    }

    fn start(&self, item: usize) -> Time {
        self.spans()[item].start
    }

    fn duration(&self, item: usize) -> Nanos {
        self.spans()[item].duration
    }
}

/// The lane in the row of a thread.
pub(super) fn lane(row: Rect) -> Rect {
    let middle = row.top() + MARKER_LANE;
    Rect::from_min_max(pos2(row.left(), middle - HALF_LANE), pos2(row.right(), middle + HALF_LANE))
}

impl MarkerLane {
    /// Indexes the markers of `thread`; `None` if it has none.
    pub(super) fn build(document: &Arc<Document>, thread: ThreadId) -> Option<Self> {
        let rows = MarkerRows::new(document, thread);
        (!rows.is_empty()).then(|| Self { pyramid: Pyramid::build(rows), thread })
    }

    fn rows(&self) -> &MarkerRows {
        self.pyramid.spans()
    }

    /// What can be seen in `view`, spans before moments.
    fn cells(&self, view: &TimeView, pixels_per_point: f32) -> (Vec<Cell>, Vec<Cell>) {
        // What lies at the very end of the profile is part of it.
        let range = TimeRange { end: view.range.end + Nanos(1), ..view.range };
        let (pixels, moments) = (view.pixels(pixels_per_point).min(MOST_PIXELS), u32::from(self.rows().moments));
        let (mut bars, mut points) = (Vec::new(), Vec::new());
        self.pyramid.query(range, pixels, 0..moments, &mut bars);
        self.pyramid.query(range, pixels, moments..moments + 1, &mut points);
        (bars, points)
    }

    /// Draws it, each colour as `shade` makes it.
    pub(super) fn paint(&self, scene: &mut Scene, row: Rect, look: &Look, shade: impl Fn(Color32) -> Color32) {
        let (lane, view) = (lane(row), TimeView::new(look.visible, row));
        let (bars, points) = self.cells(&view, look.pixels_per_point);
        let bar = lane.shrink2(egui::vec2(0.0, 2.0));
        for cell in bars {
            let (left, right) = (view.x(cell.start).max(row.left()), view.x(cell.end()).min(row.right()));
            let color = look.theme.covered(self.rows().color(cell.item as usize, look), cell.coverage());
            scene.quad(Rect::from_min_max(pos2(left, bar.top()), pos2(right.max(left), bar.bottom())), shade(color));
        }
        let places: Vec<f32> = points.iter().map(|cell| view.x(self.rows().start(cell.item as usize))).collect();
        let mut open: Option<(Rect, Color32)> = None;
        for (at, (cell, x)) in points.iter().zip(&places).enumerate() {
            let color = shade(self.rows().color(cell.item as usize, look));
            let is_near = |other: Option<&f32>| other.is_some_and(|other| (other - x).abs() < CROWD);
            let crowd = is_near(at.checked_sub(1).and_then(|before| places.get(before))) || is_near(places.get(at + 1));
            if !crowd && scene.lines.len() < MOST_DIAMONDS {
                scene.diamond(pos2(*x, lane.center().y), HALF_LANE, color);
                continue;
            }
            let tick = Rect::from_x_y_ranges(x - HALF_TICK..=x + HALF_TICK, lane.y_range());
            match &mut open {
                // Ticks of one colour side by side are one rectangle.
                Some((rect, of)) if *of == color && rect.right() >= tick.left() => rect.max.x = tick.right(),
                open => {
                    if let Some((rect, color)) = open.replace((tick, color)) {
                        scene.quad(rect, color);
                    }
                }
            }
        }
        if let Some((rect, color)) = open {
            scene.quad(rect, color);
        }
    }

    /// The marker at `x`: the nearest moment, or else the innermost span.
    pub(super) fn hit(&self, view: &TimeView, x: f32) -> Option<Picked> {
        let rows = self.rows();
        let (time, moments) = (view.time(x), u32::from(rows.moments));
        let last_before = |row: u32| {
            let items = self.pyramid.items(row);
            (items, items.partition_point(|item| rows.start(*item as usize) <= time))
        };
        let (items, after) = last_before(moments);
        let neighbours = [after.checked_sub(1), Some(after)].into_iter().flatten();
        let near = neighbours.filter_map(|at| items.get(at).map(|item| *item as usize));
        let distance = |item: &usize| (view.x(rows.start(*item)) - x).abs();
        let nearest = near.filter(|item| distance(item) <= REACH).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let inside = || {
            let spans = (0..moments).filter_map(|row| {
                let (items, after) = last_before(row);
                items.get(after.checked_sub(1)?).map(|item| *item as usize)
            });
            let end = |item: usize| view.x(rows.start(item) + rows.duration(item)).max(view.x(rows.start(item)) + 1.0);
            spans.filter(|item| x <= end(*item) + 1.0).max_by_key(|item| rows.start(*item))
        };
        nearest.or_else(inside).map(|item| rows.spans()[item].picked(self.thread))
    }
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use traceview_core::model::{MarkerTiming, TimeRange};

    use super::*;
    use crate::selection::PickedKind;
    use crate::testing::{TestProfile, document};
    use crate::theme::Theme;

    fn lane_of(fill: impl FnOnce(&mut TestProfile, ThreadId)) -> MarkerLane {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("main");
        fill(&mut profile, thread);
        MarkerLane::build(&document(profile.finish()), thread).expect("there are markers")
    }

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Time(start), end: Time(end) }
    }

    /// A row 1000 points wide.
    fn row() -> Rect {
        Rect::from_min_size(pos2(0.0, 0.0), vec2(1000.0, 28.0))
    }

    fn painted(lane: &MarkerLane, visible: TimeRange) -> Scene {
        let mut scene = Scene::new(row().size(), Color32::BLACK);
        let look = Look { theme: Theme::dark(), visible, pixels_per_point: 1.0 };
        lane.paint(&mut scene, row(), &look, |color| color);
        scene
    }

    #[test]
    fn a_crowd_costs_what_its_pixels_do_and_single_ones_are_diamonds() {
        let crowd = lane_of(|profile, thread| {
            for time in 0..50_000 {
                profile.instant(thread, time * 10, "tick", None);
            }
            profile.instant(thread, 900_000, "apart", None);
        });
        let scene = painted(&crowd, range(0, 1_000_000));
        assert_eq!((scene.quads.len(), scene.lines.len()), (1, 1), "of one colour they are one bar");
        let bar = scene.quads[0].rect;
        assert!(bar.left() <= 1.0 && (bar.right() - 500.0).abs() < 3.0, "{bar:?}");
        let diamond = scene.lines[0];
        assert!(((diamond.from + diamond.to.to_vec2()) / 2.0).distance(pos2(900.0, MARKER_LANE)) < 0.1);
        let near = painted(&crowd, range(100, 200));
        assert_eq!((near.quads.len(), near.lines.len()), (0, 11), "nearer, each is one, also at the edge");
    }

    #[test]
    fn all_colours_of_a_crowd_are_not_too_much_to_draw() {
        let crowd = lane_of(|profile, thread| {
            for time in 0..20_000 {
                let marker = profile.instant(thread, time * 50, "tick", None);
                let categories = traceview_core::model::StandardCategory::ALL;
                let category = categories[marker.index() % categories.len()];
                profile.builder.thread_mut(thread).markers.category[marker.index()] = category.id();
            }
            for start in 0..20_000 {
                profile.marker(thread, MarkerTiming::Interval(Time(start * 50), Time(start * 50 + 80)), "span", None);
            }
        });
        let scene = painted(&crowd, range(0, 1_000_000));
        assert!(scene.quads.len() + scene.lines.len() < 5 * 1000, "{} {}", scene.quads.len(), scene.lines.len());
    }

    #[test]
    fn spans_are_bars_of_their_length() {
        let lane = lane_of(|profile, thread| {
            profile.marker(thread, MarkerTiming::Interval(Time(100), Time(400)), "outer", None);
            profile.marker(thread, MarkerTiming::Interval(Time(200), Time(300)), "inner", None);
        });
        let scene = painted(&lane, range(0, 1000));
        let x: Vec<_> = scene.quads.iter().map(|quad| (quad.rect.left(), quad.rect.right())).collect();
        assert_eq!(x, [(100.0, 400.0), (200.0, 300.0)], "the inner one is drawn over the outer");
    }

    #[test]
    fn what_is_under_the_pointer_is_the_nearest_moment_or_the_innermost_span() {
        let lane = lane_of(|profile, thread| {
            profile.marker(thread, MarkerTiming::Interval(Time(100), Time(400)), "outer", None);
            profile.marker(thread, MarkerTiming::Interval(Time(200), Time(300)), "inner", None);
            profile.instant(thread, 250, "moment", None);
            profile.instant(thread, 253, "another", None);
        });
        let view = TimeView::new(range(0, 1000), row());
        let hit = |x: f32| match lane.hit(&view, x).map(|picked| picked.what) {
            Some(PickedKind::Marker(marker)) => Some(marker.index()),
            None => None,
            other => panic!("{other:?} is no marker"),
        };
        let expected =
            [(50.0, None), (150.0, Some(0)), (210.0, Some(1)), (249.0, Some(2)), (252.5, Some(3)), (350.0, Some(0))];
        for (x, marker) in expected {
            assert_eq!(hit(x), marker, "at {x}");
        }
        assert_eq!(hit(402.0), None);
    }
}

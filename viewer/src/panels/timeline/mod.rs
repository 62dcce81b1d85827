//! The timeline: all threads along one time axis, with an overview of the whole profile above them.

mod arrows;
mod counters;
mod graph;
mod layout;
mod markers;
mod model;
mod overview;
mod paint;
mod range;
mod text;
mod tracks;

#[cfg(test)]
mod marker_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::{Rect, Sense, Ui, Vec2, pos2};
use traceview_core::model::{ThreadId, Time};

use self::arrows::Arrows;
use self::counters::Counters;
use self::layout::{Areas, Folding, Row, Rows};
use self::model::{Overview, Overviews, Tracks};
use self::paint::{Body, Look};
use super::{Panel, PanelContext};
use crate::document::Document;
use crate::jobs::Jobs;
use crate::scene::{CachedScene, Scene};
use crate::selection::{Picked, PickedKind};
use crate::widget::{TimeCanvas, TimeView};

/// The panel.
#[derive(Default)]
pub struct Timeline {
    folding: Folding,
    /// `None` when it has to be made anew.
    rows: Option<Arc<Rows>>,
    tracks: Tracks,
    overviews: Overviews,
    counters: Counters,
    arrows: Arrows,
    /// The marker that was scrolled to last.
    revealed: Option<Picked>,
    /// How far the tracks are scrolled down.
    scroll: f32,
    /// The thread to which the arrow keys have come.
    cursor: Option<ThreadId>,
    overview_drag: Option<overview::Drag>,
    /// While an edge of the selected range is dragged, the other one.
    range_drag: Option<Time>,
    header: CachedScene<HeaderKey>,
    body: CachedScene<BodyKey>,
}

#[derive(Clone, PartialEq)]
struct HeaderKey {
    width: f32,
    look: Look,
    folding: Folding,
    overview: Option<Arc<Overview>>,
    counted: Option<usize>,
}

#[derive(Clone, PartialEq)]
struct BodyKey {
    size: Vec2,
    look: Look,
    body: Body,
    folding: Folding,
    tracks: u64,
}

/// What the numbers beside the overview mean.
const USE_OF_CPUS: &str = "How many CPUs were busy on average over the whole profile, and in the pixel of the overview \
in which most were. The line across the overview is at one CPU.";

/// How high the panel is by default for the rows of a document, by their [`row_bottoms`], in a window with `room` points for
/// all panels.
pub fn default_height(row_bottoms: &[f32], room: f32) -> f32 {
    layout::fitting_height(row_bottoms, room)
}

/// Where each row of `document` ends, from the top of the first.
pub fn row_bottoms(document: &Document) -> Vec<f32> {
    Rows::new(document, &Folding::default()).bottoms().to_vec()
}

impl Panel for Timeline {
    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let (rect, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        let areas = Areas::of(rect, context.document.timed);
        let view = TimeView::new(context.selection.visible, layout::plot(areas.tracks));
        self.reveal(areas.tracks.height(), context);
        let rows = self.rows(context);
        let id = ui.scope_id().with("timeline");
        let canvas = TimeCanvas {
            id: id.with("tracks"),
            rect: layout::plot(areas.tracks),
            name: "Timeline",
            view,
            drag_selects: false,
        };
        let input = canvas.input(ui, context.actions);
        let mut hover = input.hover;
        self.scroll_by(input.scroll + tracks::gutter_scroll(ui, areas.tracks), &rows, areas.tracks);
        self.update(&rows, areas.tracks.height(), context, context.jobs);

        self.paint(ui, areas, &rows, context);
        if context.document.timed {
            hover = hover.or(self.take_header_input(ui, areas, view, context));
        }
        self.take_track_input(ui, areas.tracks, &rows, &input, context);
        if context.document.timed {
            let over = Rect::from_min_max(areas.ruler.min, areas.tracks.max);
            let marked = range::Marked {
                id: id.with("range"),
                ruler: layout::plot(areas.ruler),
                area: layout::plot(over),
                view,
            };
            marked.show(ui, &mut self.range_drag, context);
            let pointed = hover.map(|at| view.time(at.x));
            *context.pointed = pointed.or(*context.pointed);
            if let Some(time) = pointed.or(context.pointer) {
                tracks::paint_hover(ui, &marked, time, context.theme);
            }
        }
        self.show_scroll_bar(ui, id, areas.tracks, &rows, context);
        if let Some(at) = hover.filter(|_| context.document.timed && input.response.contains_pointer()) {
            self.show_tooltip(&input.response, at, (areas.tracks, &rows, view), context);
        }
    }

    fn forget_stacks(&mut self) {
        let Self { folding, scroll, cursor, revealed, .. } = std::mem::take(self);
        *self = Self { folding, scroll, cursor, revealed, ..Self::default() };
    }

    fn scene(&mut self, size: Vec2, context: &mut PanelContext<'_>) -> Option<Scene> {
        let areas = Areas::of(Rect::from_min_size(pos2(0.0, 0.0), size), context.document.timed);
        let rows = self.rows(context);
        // A picture is of what is there, not of what is ready by now.
        let jobs = Jobs::immediate();
        let scroll = std::mem::take(&mut self.scroll);
        self.update(&rows, areas.tracks.height(), context, &jobs);
        let look = Look { theme: context.theme.clone(), visible: context.selection.visible, pixels_per_point: 1.0 };
        let body = self.body(context);
        self.scroll = scroll;
        let overview = self.overviews.current().map(Arc::as_ref).zip(self.tracks.palette());
        let counted = body.counted.as_ref().map(Vec::len);
        let mut scene = paint::header(size.x, &look, context.document, (&rows, counted), overview);
        let tracks =
            paint::tracks(areas.tracks.size(), &look, &body, context.document, (&rows, &self.tracks, &self.counters));
        append(&mut scene, tracks, areas.tracks.min.to_vec2());
        scene.size = size;
        if let Some(range) = context.selection.range.filter(|_| context.document.timed) {
            let area = Rect::from_min_max(areas.ruler.min, areas.tracks.max);
            paint::mark_range(&mut scene, layout::plot(area), range, &look);
        }
        Some(scene)
    }
}

impl Timeline {
    fn rows(&mut self, context: &PanelContext<'_>) -> Arc<Rows> {
        Arc::clone(self.rows.get_or_insert_with(|| Arc::new(Rows::new(context.document, &self.folding))))
    }

    fn scroll_by(&mut self, points: f32, rows: &Rows, area: Rect) {
        self.scroll = (self.scroll + points).clamp(0.0, rows.most_scroll(area.height()));
    }

    /// Has made what the rows in view need.
    fn update(&mut self, rows: &Rows, height: f32, context: &PanelContext<'_>, jobs: &Jobs) {
        if !context.document.timed {
            return;
        }
        let visible = rows.visible(self.scroll, self.scroll + height);
        let (mut threads, mut counters): (Vec<ThreadId>, Vec<usize>) = (Vec::new(), Vec::new());
        for row in visible {
            match rows.get(row).0 {
                Row::Thread(thread) => threads.push(thread),
                Row::Counter(counter) => counters.push(counter),
                Row::Process(_) | Row::MoreCounters | Row::Empty => {}
            }
        }
        self.counters.update(context.document, &counters, jobs);
        self.tracks.update(context.document, &threads, jobs);
        self.overviews.update(context.document, context.selection.threads.as_ref(), &self.tracks, jobs);
    }

    /// Brings the track of what was picked into sight, here or elsewhere, once: where arrows lead there.
    fn reveal(&mut self, height: f32, context: &PanelContext<'_>) {
        let picked = context.selection.picked;
        if picked == self.revealed {
            return;
        }
        self.revealed = picked;
        let (document, flows) = (context.document, &context.document.profile.flows);
        let linked = |picked: &Picked| !document.flows.members_at(flows, picked).is_empty();
        let is_marker = |picked: &Picked| matches!(picked.what, PickedKind::Marker(_));
        let Some(picked) = picked.filter(|it| is_marker(it) || linked(it)) else { return };
        let rows = self.rows(context);
        if rows.position(picked.thread).is_none() {
            match rows.get(rows.place(picked.thread)).0 {
                Row::Process(process) => _ = self.folding.collapsed.remove(&process),
                Row::Empty => self.folding.empty_open = true,
                Row::Thread(_) | Row::Counter(_) | Row::MoreCounters => {}
            }
            self.rows = None;
        }
        let rows = self.rows(context);
        if let Some(row) = rows.position(picked.thread) {
            self.scroll = rows.scroll_to(row, self.scroll, height);
        }
    }

    fn body(&mut self, context: &PanelContext<'_>) -> Body {
        let selection = context.selection;
        Body {
            scroll: self.scroll,
            charted: selection.charted,
            counted: selection.threads.clone(),
            picked: selection.picked,
            arrows: Arc::clone(self.arrows.update(context.document, selection)),
        }
    }

    fn paint(&mut self, ui: &Ui, areas: Areas, rows: &Rows, context: &PanelContext<'_>) {
        let painter = ui.painter();
        let look = Look {
            theme: context.theme.clone(),
            visible: context.selection.visible,
            pixels_per_point: painter.pixels_per_point(),
        };
        let key = BodyKey {
            size: areas.tracks.size(),
            look: look.clone(),
            body: self.body(context),
            folding: self.folding.clone(),
            tracks: self.tracks.generation() + self.counters.generation(),
        };
        let (document, tracks, counters) = (context.document, &self.tracks, &self.counters);
        self.body.paint(&painter.with_clip_rect(areas.tracks), areas.tracks.min, key, |key| {
            paint::tracks(key.size, &key.look, &key.body, document, (rows, tracks, counters))
        });
        let overview = self.overviews.current().cloned();
        let counted = context.selection.threads.as_ref().map(Vec::len);
        let key = HeaderKey { width: areas.ruler.width(), look, folding: self.folding.clone(), overview, counted };
        let header = Rect::from_min_max(areas.overview.min, areas.ruler.max);
        self.header.paint(&painter.with_clip_rect(header), header.min, key, |key| {
            let overview = key.overview.as_deref().zip(tracks.palette());
            paint::header(key.width, &key.look, document, (rows, key.counted), overview)
        });
    }

    /// Input of the overview and the ruler; gives where the pointer is on the ruler.
    fn take_header_input(
        &mut self,
        ui: &Ui,
        areas: Areas,
        view: TimeView,
        context: &mut PanelContext<'_>,
    ) -> Option<egui::Pos2> {
        let id = ui.scope_id().with("timeline");
        let names = ui.interact(layout::gutter(areas.overview), id.with("use of CPUs"), Sense::hover());
        names.on_hover_text(USE_OF_CPUS);
        let place = overview::Place {
            id: id.with("overview"),
            plot: layout::plot(areas.overview),
            extent: context.document.extent,
            visible: context.selection.visible,
        };
        place.input(ui, &mut self.overview_drag, context.actions);
        let ruler = TimeCanvas {
            id: id.with("ruler"),
            rect: layout::plot(areas.ruler),
            name: "Time ruler",
            view,
            drag_selects: true,
        };
        let input = ruler.input(ui, context.actions);
        if input.response.hovered() && self.range_drag.is_none() {
            ui.set_cursor_icon(egui::CursorIcon::Text);
        }
        input.hover
    }
}

/// Adds what is on `part` to `scene`, moved by `offset`.
fn append(scene: &mut Scene, part: Scene, offset: Vec2) {
    scene.quads.extend(part.quads.into_iter().map(|mut quad| {
        quad.rect = quad.rect.translate(offset);
        quad
    }));
    scene.lines.extend(part.lines.into_iter().map(|mut line| {
        line.from += offset;
        line.to += offset;
        line
    }));
    scene.labels.extend(part.labels.into_iter().map(|mut label| {
        label.rect = label.rect.translate(offset);
        label
    }));
}

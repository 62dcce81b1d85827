//! The flame chart: what one thread did over time, the root of its stacks at the top.

mod hit;
mod layout;
mod matches;
mod menu;
mod model;
mod opening;
mod paint;
mod steps;
mod tooltip;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use egui::{Context, Id, Key, Modifiers, PopupAnchor, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, vec2};
use traceview_core::model::{ThreadId, Time, TimeRange};

pub use steps::Step;

use super::boxes::message_scene;
use super::legend::Legend;
use super::scroll_bar::{ScrollBar, Scrolled};
use super::{Panel, PanelContext};
use crate::action::Action;
use crate::call_path::CallPath;
use crate::describe;
use crate::scene::{CachedScene, Scene};
use crate::search::SearchQuery;
use crate::selection::{Picked, PickedKind};
use crate::theme::Theme;
use crate::widget::{CanvasInput, TimeCanvas, TimeView, take_key};
use hit::Shown;
use layout::Layout;
use matches::{Emphasis, Finder, Matches, Wanted};
use model::{Chart, Charts, Readiness};
use paint::{Look, Named};

/// The panel.
#[derive(Default)]
pub struct FlameChart {
    charts: Charts,
    search: Finder,
    of_function: Finder,
    /// What colours mean, once it was asked for.
    legend: OnceCell<Rc<Legend>>,
    scene: CachedScene<SceneKey>,
    /// The boxes with names of the scene that was painted last.
    named: Vec<Named>,
    /// The thread that is scrolled, and how far, in points.
    scrolled: Option<(ThreadId, f64)>,
    /// What was scrolled to last.
    revealed: Option<Picked>,
    /// What the context menu is of.
    menu: Option<Picked>,
}

/// What the scene depends on.
#[derive(Clone, PartialEq)]
struct SceneKey {
    range: TimeRange,
    size: Vec2,
    scroll: f64,
    theme: Theme,
    chart: u64,
    search: Option<u64>,
    function: Option<u64>,
}

/// Asks the chart to pick what is one step away from what is picked, in its next frame: for keys and menus of the window.
pub fn request_step(context: &Context, step: Step) {
    context.data_mut(|data| data.insert_temp(Id::unique(REQUESTED), step));
    context.request_repaint();
}

const REQUESTED: &str = "flame chart step";
/// A narrower time axis shows nothing.
const NARROWEST: f32 = 10.0;
/// How many boxes assistive technology is told of.
const MOST_NODES: usize = 300;

impl Panel for FlameChart {
    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let (rect, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        if !ui.is_rect_visible(rect) || rect.width() < 1.0 || rect.height() < 1.0 {
            return;
        }
        match self.prepare(rect.size(), context) {
            Ok(chart) => self.chart(ui, rect, context, &chart),
            Err(sentence) => message(ui, rect, context.theme, sentence),
        }
    }

    fn forget_stacks(&mut self) {
        *self = Self { scrolled: self.scrolled, ..Self::default() };
    }

    fn scene(&mut self, size: Vec2, context: &mut PanelContext<'_>) -> Option<Scene> {
        let chart = match self.prepare(size, context) {
            Ok(chart) => chart,
            Err(sentence) => return Some(message_scene(size, context.theme, sentence)),
        };
        let look = self.look(context, &chart);
        let layout = Layout::of(&chart);
        let shown = Shown {
            document: context.document,
            chart: &chart,
            layout: &layout,
            view: paint::time_view(context.selection.visible, size),
            height: size.y,
            scroll: self.scroll_in(&chart, &layout, size.y),
            pixels_per_point: 1.0,
        };
        Some(paint::scene(&shown, &look).0)
    }
}

impl FlameChart {
    /// The chart of the selected thread, or a sentence that says why there is none.
    fn prepare(&mut self, size: Vec2, context: &PanelContext<'_>) -> Result<Chart, &'static str> {
        let document = context.document;
        if size.x < super::GUTTER + super::SCROLL_BAR + NARROWEST {
            return Err("There is no room for the chart.");
        }
        let Some(thread) = context.selection.charted else {
            return Err("Click a thread in the timeline to see what it did over time.");
        };
        let row = &document.profile.threads[thread.index()];
        if !row.timed && row.slices.is_empty() {
            return Err("The samples of this thread have no times; the call tree shows where they were taken.");
        }
        let depths = self.depths_on_screen(thread, size.y, context);
        match self.charts.update(document, thread, &depths, context.jobs) {
            Readiness::Ready(chart) => Ok(chart),
            Readiness::Preparing => Err("Preparing…"),
            Readiness::Failed => Err("The chart could not be prepared; this is a fault of traceview."),
        }
    }

    /// The depths that are on screen, a few more rather than less, even before the thread's sections are known.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate, which is meant")]
    fn depths_on_screen(&self, thread: ThreadId, height: f32, context: &PanelContext<'_>) -> Range<u32> {
        let rows = (height / layout::ROW) as u32 + 2;
        let first = match self.charts.shown(thread) {
            Some(chart) => {
                let layout = Layout::of(chart);
                let section = layout.section(layout::SectionKind::Boxes);
                let scroll = self.scroll_in(chart, &layout, height);
                return section.map_or(0..0, |section| layout.visible(section, scroll, height));
            }
            None => (self.scroll_of(thread).unwrap_or(0.0) / f64::from(layout::ROW)) as u32,
        };
        let picked = context.selection.picked.filter(|picked| picked.thread == thread);
        let first = match picked.map(|picked| picked.what) {
            Some(PickedKind::Box(node)) => context.document.stack_index.depth(node).saturating_sub(rows / 2),
            _ => first,
        };
        first..first.saturating_add(rows)
    }

    /// How far the chart of `thread` was scrolled, if it is the one that was shown last.
    fn scroll_of(&self, thread: ThreadId) -> Option<f64> {
        self.scrolled.filter(|(of, _)| *of == thread).map(|(_, scroll)| scroll)
    }

    /// How far `chart` is to be scrolled.
    fn scroll_in(&self, chart: &Chart, layout: &Layout, height: f32) -> f64 {
        let opening = f64::from(chart.rows.opening) * f64::from(layout::ROW);
        self.scroll_of(chart.thread).unwrap_or(opening).min(layout.most_scroll(height))
    }

    fn look<'a>(&mut self, context: &PanelContext<'a>, chart: &Chart) -> Look<'a> {
        let wanted = context.found.map(|functions| Wanted::Found {
            functions: functions.clone(),
            query: SearchQuery::parse(&context.selection.search),
        });
        let function = context.selection.function.map(Wanted::Function);
        let legend = self.legend.get_or_init(|| Rc::new(Legend::of(context.document)));
        Look {
            theme: context.theme,
            legend: Rc::clone(legend),
            search: self.search.update(context.document, chart, wanted, context.jobs),
            function: self.of_function.update(context.document, chart, function, context.jobs),
        }
    }

    fn chart(&mut self, ui: &mut Ui, rect: Rect, context: &mut PanelContext<'_>, chart: &Chart) {
        let look = self.look(context, chart);
        let layout = Layout::of(chart);
        let view = paint::time_view(context.selection.visible, rect.size());
        let scroll = self.scroll_in(chart, &layout, rect.height());
        let mut scroll = self.reveal(context, chart, &layout, (scroll, rect.height()));
        let on_screen = TimeView { left: view.left + rect.left(), ..view };
        let axis = super::plot(rect);
        let name = format!("Flame chart of {}", context.document.thread_name(chart.thread));
        let id = ui.scope_id().with("flame chart");
        let canvas = TimeCanvas { id, rect: axis, name: &name, view: on_screen, drag_selects: false };
        let input = canvas.input(ui, context.actions);
        scroll = (scroll + f64::from(input.scroll)).clamp(0.0, layout.most_scroll(rect.height()));
        let scrolled = Scrolled {
            name: "Depth of the flame chart",
            from: layout.pinned(),
            most: layout.most_scroll(rect.height()),
            upwards: false,
        };
        let bar = ScrollBar::input(ui, rect, &scrolled, scroll);
        scroll = bar.scroll;
        self.scrolled = Some((chart.thread, scroll));
        let document = Arc::clone(context.document);
        let shown = Shown {
            document: &document,
            chart,
            layout: &layout,
            view,
            height: rect.height(),
            scroll,
            pixels_per_point: ui.pixels_per_point(),
        };
        self.paint(ui, rect, &shown, &look);
        look.legend.show_tooltip(ui, rect.with_max_x(axis.left()), context.theme, |ui| {
            ui.label(egui::RichText::new(describe::thread(context.document, chart.thread)).strong());
            ui.label(describe::process(context.document, chart.thread));
        });
        self.accessible(ui, rect, id, context);
        let found = look.search.as_ref().and_then(|search| search.matches.as_deref());
        let hit = |at: Pos2| shown.hit(at - rect.min.to_vec2(), found);
        let menu_open = self.menu(&input, context, hit);
        if let Some(at) = input.hover {
            *context.pointed = Some(shown.view.time(at.x - rect.left()));
        }
        let hovered = input.hover.filter(|_| !menu_open && !bar.hovered).and_then(&hit);
        overlay(ui, rect, context, &shown, hovered.or(self.menu));
        bar.paint(ui, context.theme);
        if input.response.has_focus() {
            ui.painter_at(rect).vline(rect.left() + 1.0, rect.y_range(), Stroke::new(2.0, context.theme.accent));
        }
        if let Some(picked) = &hovered {
            tooltip(ui, &input, context, picked);
        }
        click(&input, context, hit);
        keys(ui, &input, context, (chart, found));
        // What was scrolled to just now is prepared in the next frame.
        let section = layout.section(layout::SectionKind::Boxes);
        let depths = section.map(|section| layout.visible(section, scroll, rect.height()));
        if depths.is_some_and(|depths| !chart.shows(&depths)) && !self.charts.is_working() {
            ui.ctx().request_repaint();
        }
    }

    fn paint(&mut self, ui: &Ui, rect: Rect, shown: &Shown<'_>, look: &Look<'_>) {
        let generation = |of: &Option<Emphasis>| of.as_ref().map(|emphasis| emphasis.generation);
        let key = SceneKey {
            range: shown.view.range,
            size: rect.size(),
            scroll: shown.scroll,
            theme: look.theme.clone(),
            chart: shown.chart.generation,
            search: generation(&look.search),
            function: generation(&look.function),
        };
        let painter = ui.painter_at(rect);
        let named = &mut self.named;
        self.scene.paint(&painter, rect.min, key, |_| {
            let (scene, its_named) = paint::scene(shown, look);
            *named = its_named;
            scene
        });
    }

    /// Scrolls to what was picked, here or elsewhere, once.
    fn reveal(&mut self, context: &PanelContext<'_>, chart: &Chart, layout: &Layout, at: (f64, f32)) -> f64 {
        let (scroll, height) = at;
        let picked = context.selection.picked;
        if picked == self.revealed {
            return scroll;
        }
        self.revealed = picked;
        let row = picked.and_then(|picked| hit::row_of(context.document, chart, &picked));
        row.map_or(scroll, |row| layout.reveal(row, scroll, height))
    }

    /// Tells assistive technology of the boxes that carry their names.
    fn accessible(&self, ui: &Ui, rect: Rect, canvas: Id, context: &mut PanelContext<'_>) {
        for (index, named) in self.named.iter().take(MOST_NODES).enumerate() {
            let id = canvas.with(("box", index));
            let place = named.rect.translate(rect.min.to_vec2()).intersect(rect);
            if !place.is_positive() {
                continue;
            }
            let response = ui.interact(place, id, Sense::hover());
            response.widget_info(|| egui::WidgetInfo {
                current_text_value: Some(traceview_core::report::format_duration(named.picked.duration)),
                ..egui::WidgetInfo::labeled(egui::Role::ListItem, true, &named.name)
            });
            ui.ctx().accesskit_node_builder(id, |node| node.add_action(egui::accesskit::Action::Click));
            if ui.input(|input| input.has_accesskit_action_request(id, egui::accesskit::Action::Click)) {
                pick(context, Some(named.picked));
            }
        }
    }

    /// Shows the context menu; gives whether it is open.
    fn menu(
        &mut self,
        input: &CanvasInput,
        context: &mut PanelContext<'_>,
        hit: impl Fn(Pos2) -> Option<Picked>,
    ) -> bool {
        if input.response.secondary_clicked() {
            self.menu = input.response.interact_pointer_pos().and_then(hit);
        }
        if let Some(picked) = self.menu {
            let (document, actions) = (context.document, &mut *context.actions);
            input.response.context_menu(|ui| menu::show(ui, document, &picked, actions));
        }
        let open = self.menu.is_some() && input.response.context_menu_opened();
        if !open {
            self.menu = None;
        }
        open
    }
}

fn message(ui: &mut Ui, rect: Rect, theme: &Theme, sentence: &str) {
    ui.painter().rect_filled(rect, 0.0, theme.canvas);
    ui.scope_builder(egui::UiBuilder::new().max_rect(rect.shrink(12.0)), |ui| {
        ui.centered_and_justified(|ui| ui.label(egui::RichText::new(sentence).color(theme.weak_text)));
    });
}

/// Draws over the scene what changes from frame to frame: the selected time, and what is pointed at and picked.
fn overlay(ui: &Ui, rect: Rect, context: &PanelContext<'_>, shown: &Shown<'_>, hovered: Option<Picked>) {
    let theme = context.theme;
    let axis = super::plot(rect);
    let painter = ui.painter_at(axis);
    let place = |range: TimeRange, top: f32, height: f32| {
        let [left, right] = [range.start, range.end].map(|time| shown.view.x(time) + rect.left());
        Rect::from_min_size(egui::pos2(left, rect.top() + top), vec2((right - left).max(1.0), height))
    };
    if let Some(range) = context.selection.range {
        let range = place(range, 0.0, shown.height);
        painter.rect_filled(range, 0.0, theme.range);
        for x in [range.left(), range.right()] {
            painter.vline(x, range.y_range(), Stroke::new(1.0, theme.accent));
        }
    }
    if let Some(time) = context.pointer {
        painter.vline(shown.view.x(time) + rect.left(), axis.y_range(), Stroke::new(1.0, theme.weak_text));
    }
    let below_pinned = Rect { min: axis.min + vec2(0.0, shown.layout.pinned()), max: axis.max };
    for (picked, width) in [(hovered, 1.0), (context.selection.picked, 2.0)] {
        let Some((picked, row)) = picked.and_then(|picked| Some((picked, shown.row_of(&picked)?))) else { continue };
        let Some(top) = shown.layout.top(row, shown.scroll) else { continue };
        let clip = if row == layout::Row::Waits { axis } else { below_pinned };
        let outline = place(picked.range(), top, layout::ROW - 1.0);
        let stroke = Stroke::new(width, theme.outline);
        painter.with_clip_rect(clip).rect_stroke(outline, 0.0, stroke, StrokeKind::Inside);
    }
}

fn tooltip(ui: &Ui, input: &CanvasInput, context: &PanelContext<'_>, picked: &Picked) {
    let response = &input.response;
    let tooltip = egui::Tooltip::always_open(ui.ctx().clone(), response.layer_id, response.id, PopupAnchor::Pointer);
    tooltip.gap(12.0).show(|ui| tooltip::show(ui, context, picked));
}

fn click(input: &CanvasInput, context: &mut PanelContext<'_>, hit: impl Fn(Pos2) -> Option<Picked>) {
    if let Some(at) = input.clicked {
        pick(context, hit(at));
    }
    if let Some(picked) = input.double_clicked.and_then(hit) {
        context.actions.push(menu::zoom(&picked));
    }
}

fn keys(ui: &Ui, input: &CanvasInput, context: &mut PanelContext<'_>, (chart, found): (&Chart, Option<&Matches>)) {
    let requested = ui.data_mut(|data| {
        let step = data.get_temp::<Step>(Id::unique(REQUESTED));
        data.remove::<Step>(Id::unique(REQUESTED));
        step
    });
    let pressed = |key| take_key(ui, Modifiers::NONE, key) > 0;
    let mut step = requested;
    if input.response.has_focus() {
        let keys = [
            (Key::ArrowUp, Step::Out),
            (Key::ArrowDown, Step::In),
            (Key::ArrowLeft, Step::Previous),
            (Key::ArrowRight, Step::Next),
        ];
        for (key, meaning) in keys {
            if pressed(key) {
                step = Some(meaning);
            }
        }
        if let Some(picked) = context.selection.picked.filter(|_| pressed(Key::Enter)) {
            context.actions.push(menu::zoom(&picked));
        }
    }
    let Some(step) = step else { return };
    let visible = context.selection.visible;
    let picked = steps::step(context.document, chart, visible, context.selection.picked.as_ref(), (step, found));
    if let Some(picked) = picked {
        pick(context, Some(picked));
        if let Some(range) = brought_into_view(visible, &picked) {
            context.actions.push(Action::Show(range));
        }
    }
}

/// `visible` moved so that `picked` is in the middle, if nothing of it is to be seen.
fn brought_into_view(visible: TimeRange, picked: &Picked) -> Option<TimeRange> {
    let range = picked.range();
    if range.end >= visible.start && range.start < visible.end {
        return None;
    }
    let length = visible.end - visible.start;
    let shorter = picked.duration.0.min(length.0);
    let start = range.start.0.saturating_add(shorter / 2).saturating_sub(length.0 / 2);
    let start = Time(start);
    Some(TimeRange { start, end: start + length })
}

/// Picks a box with its node of the call tree, or something that has none, or nothing.
fn pick(context: &mut PanelContext<'_>, picked: Option<Picked>) {
    context.actions.push(Action::Pick(picked));
    let selected = match picked.map(|picked| picked.what) {
        Some(PickedKind::Box(stack)) => Action::SelectCall(CallPath::of_stack(&context.document.profile, stack)),
        _ => Action::SelectFunction(None),
    };
    context.actions.push(selected);
}

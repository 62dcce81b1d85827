//! The flame graph: all samples that are counted, merged into boxes as wide as what they took. Time is not its axis.

mod graph;
mod layout;
mod menu;
mod paint;
mod steps;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use egui::{Event, Id, Key, Modifiers, PopupAnchor, Rect, Response, Sense, Stroke, StrokeKind, Ui, Vec2};
use traceview_core::analysis::BoxId;
use traceview_core::model::FunctionId;

use self::graph::{Graph, Part};
use self::layout::Layout;
use self::paint::{Look, Named};
use self::steps::Step;
use super::amounts::Words;
use super::boxes::message_scene;
use super::legend::Legend;
use super::scroll_bar::{ScrollBar, Scrolled};
use super::{Panel, PanelContext, counted, labels};
use crate::action::Action;
use crate::analyses::Tables;
use crate::call_path::CallPath;
use crate::command::Command;
use crate::latest::Latest;
use crate::scene::{CachedScene, Scene};
use crate::theme::Theme;
use crate::widget::take_key;

/// The panel.
#[derive(Default)]
pub struct FlameGraph {
    graph: Latest<Graph>,
    /// What is shown of it, and the node that was asked for.
    part: Option<(Option<CallPath>, Rc<Part>)>,
    parts: u64,
    legend: OnceCell<Rc<Legend>>,
    scene: CachedScene<SceneKey>,
    /// The boxes with names of the scene that was painted last.
    named: Vec<Named>,
    /// How far it is scrolled, once it was shown.
    scroll: Option<f64>,
    /// The box of the selected node, of which part.
    selected: Option<(u64, CallPath, Option<BoxId>)>,
    /// What was scrolled to last.
    revealed: Option<CallPath>,
    /// What the context menu is of.
    menu: Option<BoxId>,
    /// Whether the last click zoomed: a second one at once is no wish to zoom out again.
    zoomed_by_click: bool,
}

/// What the scene depends on.
#[derive(Clone, PartialEq)]
struct SceneKey {
    size: Vec2,
    scroll: f64,
    upwards: bool,
    theme: Theme,
    part: u64,
    function: Option<FunctionId>,
}

/// How many boxes assistive technology is told of.
const MOST_NODES: usize = 300;
/// A smaller canvas shows nothing.
const SMALLEST: f32 = 12.0;

impl Panel for FlameGraph {
    fn forget_stacks(&mut self) {
        *self = Self { scroll: self.scroll, ..Self::default() };
    }

    fn head(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let (zoomed, mut upwards) = (context.selection.graph_zoom.is_some(), context.selection.graph_upwards);
        let mut zoom_out = false;
        counted::line(ui, context, counted::in_stacks_that_match, |ui| {
            let button = ui.add_enabled(zoomed, egui::Button::new("Zoom out").small());
            zoom_out = button.on_hover_text(Command::GraphZoomOut.help()).clicked();
            ui.checkbox(&mut upwards, "Upwards").on_hover_text(Command::GraphUpwards.help());
        });
        if zoom_out {
            context.actions.push(Action::ZoomGraph(None));
        }
        if upwards != context.selection.graph_upwards {
            context.actions.push(Action::GraphUpwards(upwards));
        }
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let Some(tables) = counted::listed(ui, context) else { return };
        let Some(part) = self.prepare(context, &tables) else {
            ui.label("Merging stacks…");
            return;
        };
        let (rect, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        if ui.is_rect_visible(rect) && rect.width() >= SMALLEST + super::SCROLL_BAR && rect.height() >= SMALLEST {
            self.canvas(ui, rect, context, &part);
        }
    }

    fn scene(&mut self, size: Vec2, context: &mut PanelContext<'_>) -> Option<Scene> {
        let tables = match counted::tables(context) {
            Ok(tables) => tables,
            Err(nothing) => return Some(message_scene(size, context.theme, &nothing.reason)),
        };
        let Some(part) = self.prepare(context, &tables) else {
            return Some(message_scene(size, context.theme, "Merging stacks…"));
        };
        let upwards = context.selection.graph_upwards;
        let look = self.look(context);
        let has_legend = !look.legend.is_empty();
        let mut layout = Layout { part: &part, size, scroll: 0.0, upwards, has_legend, pixel: 1.0 };
        layout.scroll = self.scroll_of(&layout);
        Some(paint::scene(&layout, &look).0)
    }
}

impl FlameGraph {
    /// What is to be shown of the newest graph.
    fn prepare(&mut self, context: &PanelContext<'_>, tables: &Arc<Tables>) -> Option<Rc<Part>> {
        graph::update(&mut self.graph, context.document, tables, context.jobs);
        let graph = self.graph.newest()?;
        let wanted = &context.selection.graph_zoom;
        if let Some((zoom, part)) = &self.part
            && zoom == wanted
            && Arc::ptr_eq(&part.graph, &graph)
        {
            return Some(Rc::clone(part));
        }
        let tree = &graph.tables.tree;
        let zoom = wanted.as_ref().and_then(|path| path.nearest_in(tree)).map(|node| graph.boxes.box_of(node));
        self.parts += 1;
        let part = Rc::new(Part::new(graph, zoom, self.parts));
        self.part = Some((wanted.clone(), Rc::clone(&part)));
        Some(part)
    }

    fn look<'a>(&self, context: &PanelContext<'a>) -> Look<'a> {
        let legend = self.legend.get_or_init(|| Rc::new(Legend::of(context.document)));
        Look {
            document: context.document,
            theme: context.theme,
            legend: Rc::clone(legend),
            function: context.selection.function,
        }
    }

    /// How far `layout` is to be scrolled: at first, to where code begins that somebody has written for the program.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer rows than that")]
    fn scroll_of(&self, layout: &Layout<'_>) -> f64 {
        let opening = || layout.part.graph.opening as f64 * f64::from(layout::ROW);
        self.scroll.unwrap_or_else(opening).clamp(0.0, layout.most_scroll())
    }

    fn canvas(&mut self, ui: &mut Ui, rect: Rect, context: &mut PanelContext<'_>, part: &Rc<Part>) {
        let (size, upwards) = (rect.size(), context.selection.graph_upwards);
        let (look, pixel) = (self.look(context), 1.0 / ui.pixels_per_point());
        let has_legend = !look.legend.is_empty();
        let mut layout = Layout { part, size, scroll: 0.0, upwards, has_legend, pixel };
        layout.scroll = self.scroll_of(&layout);
        let selected = self.selected_box(context, part);
        layout.scroll = self.reveal(context, &layout, selected);
        let response = Self::interact(ui, rect, &mut layout);
        let scrolled = Scrolled {
            name: "Depth of the flame graph",
            from: if upwards { layout.area().top() } else { 0.0 },
            most: layout.most_scroll(),
            upwards,
        };
        let bar_rect = rect.with_max_y(rect.top() + layout.area().bottom());
        let bar = ScrollBar::input(ui, bar_rect, &scrolled, layout.scroll);
        layout.scroll = bar.scroll;
        self.scroll = Some(layout.scroll);
        self.paint(ui, rect, &layout, &look);
        if has_legend {
            let legend = layout.legend().translate(rect.min.to_vec2());
            look.legend.show_tooltip(ui, legend, context.theme, |_| {});
        }
        self.accessible(ui, rect, response.id, context, part);
        let menu_open = self.menu(&response, rect, context, &layout);
        let at = response.hover_pos().filter(|_| !ui.input(|input| input.pointer.is_decidedly_dragging()));
        let hovered = at.filter(|_| !menu_open && !bar.hovered).and_then(|at| layout.hit(at - rect.min.to_vec2()));
        outlines(ui, rect, context.theme, &layout, [hovered.or(self.menu), selected]);
        bar.paint(ui, context.theme);
        if response.has_focus() {
            let area = layout.area().translate(rect.min.to_vec2());
            ui.painter_at(rect).vline(area.left() + 1.0, area.y_range(), Stroke::new(2.0, context.theme.accent));
        }
        if let Some(id) = hovered {
            tooltip(ui, &response, context, part, id);
        }
        self.click(&response, rect, context, &layout);
        if response.has_focus() {
            self.keys(ui, context, &layout, selected);
        }
    }

    /// Takes what scrolls the canvas; gives the rest.
    fn interact(ui: &Ui, rect: Rect, layout: &mut Layout<'_>) -> Response {
        let id = ui.scope_id().with("flame graph");
        let canvas = rect.with_max_x(rect.left() + layout.area().right());
        let response = ui.interact(canvas, id, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Flame graph"));
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        let mut down = 0.0;
        if response.has_focus() {
            let filter = egui::EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                escape: true,
                ..Default::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
            let page = layout.area().height() - layout::ROW;
            for (key, by) in [(Key::PageDown, page), (Key::PageUp, -page)] {
                #[expect(clippy::cast_precision_loss, reason = "a key is pressed few times a frame")]
                let times = take_key(ui, Modifiers::NONE, key) as f32;
                down += times * by;
            }
        }
        if response.dragged() {
            down -= response.drag_delta().y;
            ui.set_cursor_icon(egui::CursorIcon::Grabbing);
        }
        if response.contains_pointer() {
            down -= ui.input(egui::InputState::smooth_scroll_delta).y;
        }
        let away = if layout.upwards { -down } else { down };
        layout.scroll = (layout.scroll + f64::from(away)).clamp(0.0, layout.most_scroll());
        response
    }

    fn paint(&mut self, ui: &Ui, rect: Rect, layout: &Layout<'_>, look: &Look<'_>) {
        let key = SceneKey {
            size: layout.size,
            scroll: layout.scroll,
            upwards: layout.upwards,
            theme: look.theme.clone(),
            part: layout.part.generation,
            function: look.function,
        };
        let named = &mut self.named;
        self.scene.paint(&ui.painter_at(rect), rect.min, key, |_| {
            let (scene, its_named) = paint::scene(layout, look);
            *named = its_named;
            scene
        });
    }

    /// The box of the selected node.
    fn selected_box(&mut self, context: &PanelContext<'_>, part: &Part) -> Option<BoxId> {
        let call = context.selection.call.as_ref()?;
        if let Some((generation, of, id)) = &self.selected
            && (*generation, of) == (part.generation, call)
        {
            return *id;
        }
        let node = call.find_in(&part.graph.tables.tree);
        let id = node.map(|node| part.graph.boxes.box_of(node)).filter(|id| part.has(*id));
        self.selected = Some((part.generation, call.clone(), id));
        id
    }

    /// Scrolls to what was selected, here or elsewhere, once.
    fn reveal(&mut self, context: &PanelContext<'_>, layout: &Layout<'_>, selected: Option<BoxId>) -> f64 {
        if context.selection.call == self.revealed {
            return layout.scroll;
        }
        self.revealed.clone_from(&context.selection.call);
        selected.map_or(layout.scroll, |id| layout.reveal(layout.part.graph.node(id).depth as usize))
    }

    /// Tells assistive technology of the boxes that carry their names.
    fn accessible(&self, ui: &Ui, rect: Rect, canvas: Id, context: &mut PanelContext<'_>, part: &Part) {
        let words = Words::new(part.graph.tables.whole());
        for (index, named) in self.named.iter().take(MOST_NODES).enumerate() {
            let id = canvas.with(("box", index));
            let place = named.rect.translate(rect.min.to_vec2()).intersect(rect);
            if !place.is_positive() {
                continue;
            }
            let response = ui.interact(place, id, Sense::hover());
            let total = part.graph.node(named.id).total;
            response.widget_info(|| egui::WidgetInfo {
                current_text_value: Some(format!("{}, {}", words.amount(total).trim_end(), words.percent(total))),
                ..egui::WidgetInfo::labeled(egui::Role::ListItem, true, &named.name)
            });
            ui.ctx().accesskit_node_builder(id, |node| node.add_action(egui::accesskit::Action::Click));
            if ui.input(|input| input.has_accesskit_action_request(id, egui::accesskit::Action::Click)) {
                zoom(context, part, named.id);
            }
        }
    }

    /// Shows the context menu; gives whether it is open.
    fn menu(&mut self, response: &Response, rect: Rect, context: &mut PanelContext<'_>, layout: &Layout<'_>) -> bool {
        if response.secondary_clicked() {
            self.menu = response.interact_pointer_pos().and_then(|at| layout.hit(at - rect.min.to_vec2()));
        }
        // It may be of a graph that is gone.
        self.menu = self.menu.filter(|id| id.index() < layout.part.graph.boxes.len());
        if let Some(id) = self.menu {
            let (document, actions) = (context.document, &mut *context.actions);
            response.context_menu(|ui| menu::show(ui, document, layout.part, id, actions));
        }
        let open = self.menu.is_some() && response.context_menu_opened();
        if !open {
            self.menu = None;
        }
        open
    }

    /// A click zooms to a box. Two clicks on what fills the width already, or beside all boxes, zoom out.
    fn click(&mut self, response: &Response, rect: Rect, context: &mut PanelContext<'_>, layout: &Layout<'_>) {
        let Some(at) = response.interact_pointer_pos() else { return };
        let hit = layout.hit(at - rect.min.to_vec2());
        let part = layout.part;
        if response.double_clicked() {
            if part.zoom.is_some() && !self.zoomed_by_click && (hit.is_none() || hit == part.zoom) {
                context.actions.push(Action::ZoomGraph(None));
            }
        } else if response.clicked() {
            self.zoomed_by_click = hit.is_some() && hit != part.zoom;
            match hit {
                Some(id) => zoom(context, part, id),
                None => context.actions.push(Action::SelectFunction(None)),
            }
        }
    }

    fn keys(&self, ui: &Ui, context: &mut PanelContext<'_>, layout: &Layout<'_>, selected: Option<BoxId>) {
        let part = layout.part;
        let pressed = |key| take_key(ui, Modifiers::NONE, key) > 0;
        let (out, into) = if layout.upwards { (Key::ArrowDown, Key::ArrowUp) } else { (Key::ArrowUp, Key::ArrowDown) };
        let keys =
            [(out, Step::Out), (into, Step::In), (Key::ArrowLeft, Step::Previous), (Key::ArrowRight, Step::Next)];
        let steps = keys.into_iter().filter(|(key, _)| pressed(*key)).map(|(_, step)| step);
        let moved = steps.fold(selected, |at, step| steps::step(layout, at, step).or(at));
        if let Some(id) = moved.filter(|id| Some(*id) != selected) {
            context.actions.push(Action::SelectCall(path(part, id)));
        }
        if pressed(Key::Enter)
            && let Some(id) = moved
        {
            context.actions.push(Action::ZoomGraph(Some(path(part, id))));
        }
        if context.selection.graph_zoom.is_some() && pressed(Key::Escape) {
            context.actions.push(Action::ZoomGraph(None));
        }
        let copies = ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Copy)));
        if let Some(id) = moved.filter(|_| copies) {
            let name = part.graph.node(id).callee.name(&context.document.profile).into_owned();
            context.actions.push(Action::Copy(name));
        }
    }
}

fn path(part: &Part, id: BoxId) -> CallPath {
    CallPath::of_node(&part.graph.tables.tree, part.graph.boxes.node(id))
}

/// Selects a box and gives it all of the width.
fn zoom(context: &mut PanelContext<'_>, part: &Part, id: BoxId) {
    let path = path(part, id);
    context.actions.push(Action::SelectCall(path.clone()));
    if part.zoom != Some(id) {
        // An outermost one that is all there is shows no more than everything.
        let is_all = part.graph.boxes.width_of(id) >= part.graph.boxes.width() && part.graph.caller(id).is_none();
        context.actions.push(Action::ZoomGraph((!is_all).then_some(path)));
    }
}

/// Draws over the scene what changes from frame to frame: around what is pointed at, and around what is selected.
fn outlines(ui: &Ui, rect: Rect, theme: &Theme, layout: &Layout<'_>, [hovered, selected]: [Option<BoxId>; 2]) {
    let area = layout.area().translate(rect.min.to_vec2());
    let painter = ui.painter_at(area);
    for (id, width) in [(hovered, 1.0), (selected, 2.0)] {
        let Some(id) = id.filter(|id| layout.part.has(*id)) else { continue };
        let outline = layout.rect(id).translate(rect.min.to_vec2());
        painter.rect_stroke(outline, 0.0, Stroke::new(width, theme.outline), StrokeKind::Inside);
    }
}

fn tooltip(ui: &Ui, response: &Response, context: &PanelContext<'_>, part: &Part, id: BoxId) {
    let tooltip = egui::Tooltip::always_open(ui.ctx().clone(), response.layer_id, response.id, PopupAnchor::Pointer);
    let words = Words::new(part.graph.tables.whole());
    let node = part.graph.node(id);
    tooltip.gap(12.0).show(|ui| {
        labels::describe_node(ui, context.document, context.theme, node, &words);
        if let Some(around) = part.graph.caller(id) {
            let around = part.graph.node(around);
            let share = traceview_core::analysis::percent(node.total.value, around.total.value);
            let share = traceview_core::report::format_percent(share);
            let text = format!("{share} of its caller, at depth {}", node.depth);
            ui.label(egui::RichText::new(text).color(context.theme.weak_text));
        }
    });
}

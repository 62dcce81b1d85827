//! The input of everything that has a time axis: zooming, panning, selecting a range, pointing at things.

use egui::{CursorIcon, Id, Modifiers, PointerButton, Pos2, Rect, Response, Sense, Ui, Vec2};
use traceview_core::model::{Time, TimeRange};

use super::time_view::TimeView;
use crate::action::Action;

/// A canvas with a time axis.
pub struct TimeCanvas<'a> {
    /// Its id.
    pub id: Id,
    /// The part of it that has the time axis.
    pub rect: Rect,
    /// What it is called for assistive technology.
    pub name: &'a str,
    /// What is shown where.
    pub view: TimeView,
    /// Whether dragging with the left button selects a range, as on a ruler, instead of panning.
    pub drag_selects: bool,
}

/// What a person did on a canvas, apart from zooming, panning and selecting a range.
pub struct CanvasInput {
    /// egui's response.
    pub response: Response,
    /// Where the pointer is, if it is over the canvas and nothing is dragged.
    pub hover: Option<Pos2>,
    /// Where it was clicked.
    pub clicked: Option<Pos2>,
    /// Where it was clicked twice.
    pub double_clicked: Option<Pos2>,
    /// How far to scroll down, in points.
    pub scroll: f32,
    /// What was held down.
    pub modifiers: Modifiers,
}

/// A shorter drag is a click with an unsteady hand.
const SHORTEST_SELECTION: f32 = 3.0;

impl TimeCanvas<'_> {
    /// Takes the input of this frame; adds what it means to `actions`.
    pub fn input(&self, ui: &Ui, actions: &mut Vec<Action>) -> CanvasInput {
        let response = ui.interact(self.rect, self.id, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, self.name));
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if response.has_focus() {
            // Arrow keys move in time, not to another widget.
            let filter = egui::EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(self.id, filter));
        }
        let modifiers = ui.input(|input| input.modifiers);
        let dragged = self.drag(ui, &response, modifiers, actions);
        let turned = if response.contains_pointer() { self.wheel(ui, &response, actions) } else { 0.0 };
        let at = response.interact_pointer_pos();
        CanvasInput {
            hover: response.hover_pos().filter(|_| !ui.input(|input| input.pointer.is_decidedly_dragging())),
            clicked: at.filter(|_| response.clicked()),
            double_clicked: at.filter(|_| response.double_clicked()),
            scroll: dragged + turned,
            modifiers,
            response,
        }
    }

    /// Pans or selects; gives how far to scroll down.
    fn drag(&self, ui: &Ui, response: &Response, modifiers: Modifiers, actions: &mut Vec<Action>) -> f32 {
        let mut scroll = 0.0;
        let selecting = self.id.with("selecting from");
        if response.drag_started_by(PointerButton::Primary) && (self.drag_selects != modifiers.shift) {
            let origin = ui.input(|input| input.pointer.press_origin());
            let from = origin.map(|origin| self.view.time(origin.x));
            ui.data_mut(|data| data.insert_temp(selecting, from));
        }
        let from = ui.data(|data| data.get_temp::<Option<Time>>(selecting)).flatten();
        if let (Some(from), Some(at)) = (from, response.interact_pointer_pos())
            && (response.dragged() || response.drag_stopped())
        {
            let to = self.view.time(at.x.clamp(self.rect.left(), self.rect.right()));
            if (self.view.x(from) - at.x).abs() >= SHORTEST_SELECTION {
                actions.push(Action::SelectRange(Some(TimeRange { start: from.min(to), end: from.max(to) })));
            }
        } else if response.dragged() {
            let by = response.drag_delta();
            scroll = -by.y;
            if by.x != 0.0 {
                actions.push(Action::Show(self.view.panned(-by.x)));
            }
            ui.set_cursor_icon(CursorIcon::Grabbing);
        }
        if response.drag_stopped() {
            ui.data_mut(|data| data.remove::<Option<Time>>(selecting));
        }
        scroll
    }

    /// Zooms and pans; gives how far to scroll down.
    fn wheel(&self, ui: &Ui, response: &Response, actions: &mut Vec<Action>) -> f32 {
        let (zoom, scroll, shift) =
            ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta(), input.modifiers.shift));
        if let Some(at) = response.hover_pos()
            && (zoom - 1.0).abs() > f32::EPSILON
        {
            actions.push(Action::Show(self.view.zoomed(f64::from(zoom), self.view.time(at.x))));
            return 0.0;
        }
        let (pan, down) = pan_and_scroll(scroll, shift);
        if pan != 0.0 {
            actions.push(Action::Show(self.view.panned(-pan)));
        }
        -down
    }
}

/// The wheel scrolls; with Shift, or sideways, it pans.
fn pan_and_scroll(scroll: Vec2, shift: bool) -> (f32, f32) {
    if shift && scroll.x == 0.0 { (scroll.y, 0.0) } else { (scroll.x, scroll.y) }
}

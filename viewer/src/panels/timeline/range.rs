//! The selected range: drawn over the ruler and the tracks, with edges to drag and buttons beside its duration.

use egui::{Align2, CursorIcon, FontId, Id, Painter, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use traceview_core::model::{Nanos, Time, TimeRange};
use traceview_core::report::format_duration;

use crate::action::Action;
use crate::panels::PanelContext;
use crate::widget::{TimeView, label_width};

/// Where the selected range is drawn.
pub(super) struct Marked {
    pub(super) id: Id,
    /// The part of the ruler with the time axis.
    pub(super) ruler: Rect,
    /// The ruler and the tracks.
    pub(super) area: Rect,
    pub(super) view: TimeView,
}

/// How wide the edges are for the mouse.
const GRIP: f32 = 8.0;
/// How wide each button is.
const BUTTON: f32 = 20.0;

impl Marked {
    /// Draws it and takes its input. `fixed` is the other edge while one is dragged.
    pub(super) fn show(&self, ui: &Ui, fixed: &mut Option<Time>, context: &mut PanelContext<'_>) {
        let Some(range) = context.selection.range else {
            *fixed = None;
            return;
        };
        let (start, end) = (self.view.x(range.start), self.view.x(range.end));
        let painter = ui.painter().with_clip_rect(self.area);
        let fill = Rect::from_min_max(pos2(start, self.area.top()), pos2(end, self.area.bottom()));
        painter.rect_filled(fill, 0.0, context.theme.range);
        for x in [start, end] {
            painter.vline(x, self.area.y_range(), (1.0, context.theme.accent));
            let handle = Rect::from_center_size(pos2(x, self.ruler.center().y), vec2(4.0, self.ruler.height() - 6.0));
            painter.rect_filled(handle, 1.0, context.theme.accent);
        }
        // The grips of a narrow range lie outside of it, so that both can be taken.
        let inside = if end - start < 2.0 * GRIP { 0.0 } else { GRIP / 2.0 };
        for (name, x, other) in [
            ("Start of the selected range", start - (GRIP - inside), range.end),
            ("End of the selected range", end - inside, range.start),
        ] {
            self.grip(ui, name, x, other, fixed, context);
        }
        self.show_buttons(ui, (start, end), range, context);
    }

    fn grip(
        &self,
        ui: &Ui,
        name: &str,
        left: f32,
        other: Time,
        fixed: &mut Option<Time>,
        context: &mut PanelContext<'_>,
    ) {
        let rect = Rect::from_min_size(pos2(left, self.area.top()), vec2(GRIP, self.area.height()));
        let id = self.id.with(name);
        // What is dragged beyond the edge is still being dragged.
        if !rect.intersects(self.area) && !ui.ctx().is_being_dragged(id) {
            return;
        }
        let response = ui.interact(rect.intersect(self.area), id, Sense::drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, name));
        let response = response.on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
        if response.drag_started() {
            *fixed = Some(other);
        }
        if let (Some(other), Some(at)) = (*fixed, response.interact_pointer_pos())
            && response.dragged()
        {
            let at = self.view.time(at.x.clamp(self.area.left(), self.area.right()));
            if at != other {
                let range = TimeRange { start: at.min(other), end: at.max(other) };
                context.actions.push(Action::SelectRange(Some(range)));
            }
        }
        if response.drag_stopped() {
            *fixed = None;
        }
    }

    /// The duration, and buttons to zoom to the range and to clear it.
    fn show_buttons(&self, ui: &Ui, (start, end): (f32, f32), range: TimeRange, context: &mut PanelContext<'_>) {
        let text = format_duration(duration(range));
        let width = label_width(&text) + 8.0 + 2.0 * BUTTON;
        if end < self.area.left() || start > self.area.right() || self.area.width() < width {
            return;
        }
        let (from, to) = (start.max(self.area.left()), end.min(self.area.right()));
        // In the middle of what is seen of it, or beside it where it is too narrow.
        let left = if to - from >= width + 12.0 {
            (from + to - width) / 2.0
        } else if to + 6.0 + width <= self.area.right() {
            to + 6.0
        } else {
            (from - 6.0 - width).max(self.area.left())
        };
        let height = (self.ruler.height() - 4.0).max(0.0);
        let chip = Rect::from_min_size(pos2(left, self.ruler.top() + 2.0), vec2(width, height));
        let theme = context.theme;
        ui.painter().rect_filled(chip, 3.0, theme.canvas);
        ui.painter().rect_stroke(chip, 3.0, (1.0, theme.accent), egui::StrokeKind::Inside);
        let middle = pos2(chip.left() + (width - 2.0 * BUTTON) / 2.0, chip.center().y);
        ui.painter().text(middle, Align2::CENTER_CENTER, text, FontId::proportional(11.0), theme.text);
        let button = |index: f32| {
            let right = chip.right() - BUTTON * index;
            Rect::from_min_max(pos2(right - BUTTON, chip.top() + 1.0), pos2(right - 1.0, chip.bottom() - 1.0))
        };
        for (name, place, action, icon) in [
            ("Zoom to the selected range", button(1.0), Action::Show(range), magnifier as fn(&Painter, Pos2, Stroke)),
            ("Clear the selected range", button(0.0), Action::SelectRange(None), cross),
        ] {
            let response = ui.interact(place, self.id.with(name), Sense::click());
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
            if response.hovered() || response.has_focus() {
                ui.painter().rect_filled(place, 2.0, theme.range);
            }
            icon(ui.painter(), place.center(), Stroke::new(1.5, theme.text));
            if response.on_hover_text(name).on_hover_cursor(CursorIcon::PointingHand).clicked() {
                context.actions.push(action);
            }
        }
    }
}

fn magnifier(painter: &Painter, center: Pos2, stroke: Stroke) {
    let lens = center + vec2(-1.0, -1.0);
    painter.circle_stroke(lens, 3.5, stroke);
    painter.line_segment([lens + vec2(2.5, 2.5), lens + vec2(6.0, 6.0)], stroke);
}

fn cross(painter: &Painter, center: Pos2, stroke: Stroke) {
    for side in [-3.5, 3.5] {
        painter.line_segment([center + vec2(-3.5, side), center + vec2(3.5, -side)], stroke);
    }
}

fn duration(range: TimeRange) -> Nanos {
    range.end - range.start
}

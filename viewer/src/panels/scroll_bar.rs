//! The scroll bar at the right of a canvas.

use egui::{Rect, Sense, Ui, pos2, vec2};

use super::SCROLL_BAR as WIDTH;
use crate::theme::Theme;

/// What is scrolled.
pub(super) struct Scrolled {
    /// What the bar is called.
    pub(super) name: &'static str,
    /// Where it begins, in points from the canvas's top.
    pub(super) from: f32,
    /// The furthest that the canvas can be scrolled.
    pub(super) most: f64,
    /// Whether the canvas begins at its lower edge.
    pub(super) upwards: bool,
}

/// The scroll bar in one frame: it takes input before the canvas is painted, and is painted over it.
pub(super) struct ScrollBar {
    /// How far the canvas is scrolled from where it begins, in points.
    pub(super) scroll: f64,
    /// Whether the pointer is on it.
    pub(super) hovered: bool,
    /// Its handle; `None` where there is nothing to scroll.
    handle: Option<Rect>,
    /// Whether it is in use.
    active: bool,
}

/// The shortest handle that can be grabbed.
const SHORTEST_HANDLE: f32 = 24.0;

impl ScrollBar {
    /// Takes the input of this frame on a canvas at `rect` that was scrolled to `scroll`.
    #[expect(clippy::cast_possible_truncation, reason = "places of a handle on a bar")]
    pub(super) fn input(ui: &Ui, rect: Rect, scrolled: &Scrolled, scroll: f64) -> Self {
        let Scrolled { name, from, most, upwards } = *scrolled;
        if most <= 0.0 {
            return Self { scroll, hovered: false, handle: None, active: false };
        }
        let bar = Rect { min: pos2(rect.right() - WIDTH, rect.top() + from), max: rect.max };
        let seen = f64::from(bar.height());
        let length = ((seen / (most + seen) * seen) as f32).max(SHORTEST_HANDLE).min(bar.height());
        let way = f64::from(bar.height() - length).max(1.0);
        // The bar counts from the top, whichever way the canvas does.
        let turned = |scroll: f64| if upwards { most - scroll } else { scroll };
        let mut down = turned(scroll);
        let handle = |down: f64| {
            let top = bar.top() + (down / most * way) as f32;
            Rect::from_min_size(pos2(bar.left() + 2.0, top), vec2(WIDTH - 4.0, length))
        };
        let response = ui.interact(bar, ui.scope_id().with("scroll bar"), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ScrollBar, true, name));
        if let Some(at) = response.interact_pointer_pos() {
            if response.dragged() {
                down += f64::from(response.drag_delta().y) / way * most;
            } else if response.clicked() && !handle(down).y_range().contains(at.y) {
                down = f64::from(at.y - bar.top() - length / 2.0) / way * most;
            }
        }
        let down = down.clamp(0.0, most);
        let hovered = response.contains_pointer();
        Self { scroll: turned(down), hovered, handle: Some(handle(down)), active: hovered || response.dragged() }
    }

    /// Paints it.
    pub(super) fn paint(&self, ui: &Ui, theme: &Theme) {
        let Some(handle) = self.handle else { return };
        let color = if self.active { theme.text } else { theme.weak_text };
        ui.painter().rect_filled(handle, 3.0, color);
    }
}

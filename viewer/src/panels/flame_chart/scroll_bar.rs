//! The scroll bar, beside the time axis.

use egui::{Rect, Sense, Ui, pos2, vec2};

use super::layout::Layout;
use crate::panels::SCROLL_BAR as WIDTH;
use crate::theme::Theme;

/// The scroll bar in one frame: it takes input before the chart is painted, and is painted over it.
pub(super) struct ScrollBar {
    /// How far the chart is scrolled, in points.
    pub(super) scroll: f64,
    /// Whether the pointer is on it.
    pub(super) hovered: bool,
    /// The bar and its handle; `None` where there is nothing to scroll.
    shapes: Option<(Rect, Rect)>,
    /// Whether it is in use.
    active: bool,
}

/// The shortest handle that can be grabbed.
const SHORTEST_HANDLE: f32 = 24.0;

impl ScrollBar {
    /// Takes the input of this frame on a chart at `rect` that was scrolled to `scroll`.
    #[expect(clippy::cast_possible_truncation, reason = "places of a handle on a bar")]
    pub(super) fn input(ui: &Ui, rect: Rect, layout: &Layout, mut scroll: f64) -> Self {
        let most = layout.most_scroll(rect.height());
        if most <= 0.0 {
            return Self { scroll, hovered: false, shapes: None, active: false };
        }
        let bar = Rect { min: pos2(rect.right() - WIDTH, rect.top() + layout.pinned()), max: rect.max };
        let seen = f64::from(bar.height());
        let length = ((seen / (most + seen) * seen) as f32).max(SHORTEST_HANDLE).min(bar.height());
        let way = f64::from(bar.height() - length).max(1.0);
        let handle = |scroll: f64| {
            let top = bar.top() + (scroll / most * way) as f32;
            Rect::from_min_size(pos2(bar.left() + 2.0, top), vec2(WIDTH - 4.0, length))
        };
        let response = ui.interact(bar, ui.scope_id().with("scroll bar"), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ScrollBar, true, "Depth of the flame chart"));
        if let Some(at) = response.interact_pointer_pos() {
            if response.dragged() {
                scroll += f64::from(response.drag_delta().y) / way * most;
            } else if response.clicked() && !handle(scroll).y_range().contains(at.y) {
                scroll = f64::from(at.y - bar.top() - length / 2.0) / way * most;
            }
        }
        let scroll = scroll.clamp(0.0, most);
        let hovered = response.contains_pointer();
        Self { scroll, hovered, shapes: Some((bar, handle(scroll))), active: hovered || response.dragged() }
    }

    /// Paints it.
    pub(super) fn paint(&self, ui: &Ui, theme: &Theme) {
        let Some((_, handle)) = self.shapes else { return };
        let color = if self.active { theme.text } else { theme.weak_text };
        ui.painter().rect_filled(handle, 3.0, color);
    }
}

//! The input of the overview: the visible part is a frame that can be moved, and whose edges can be moved.

use egui::{CursorIcon, Id, PointerButton, Rect, Role, Sense, Ui, WidgetInfo};
use traceview_core::model::{Nanos, Time, TimeRange};

use super::paint::visible_frame;
use crate::action::{Action, SHORTEST_VIEW};
use crate::widget::TimeView;

/// What a drag on the overview does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Drag {
    /// Moves where the visible part begins.
    Start,
    /// Moves where it ends.
    End,
    /// Moves all of it, held this long after its beginning.
    Whole(Nanos),
    /// Shows what lies between this and the pointer.
    New(Time),
}

/// Where the overview is, and what it shows.
pub(super) struct Place {
    pub(super) id: Id,
    pub(super) plot: Rect,
    pub(super) extent: TimeRange,
    pub(super) visible: TimeRange,
}

/// How far from an edge it can still be taken.
const GRIP: f32 = 5.0;
/// A shorter drag is a click with an unsteady hand.
const SHORTEST_DRAG: f32 = 3.0;

impl Place {
    /// Takes the input of this frame.
    pub(super) fn input(&self, ui: &Ui, drag: &mut Option<Drag>, actions: &mut Vec<Action>) {
        let response = ui.interact(self.plot, self.id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "Overview of the profile"));
        let view = TimeView::new(self.extent, self.plot);
        if response.drag_started_by(PointerButton::Primary) {
            let origin = ui.input(|input| input.pointer.press_origin());
            *drag = origin.map(|origin| self.drag_at(origin.x));
        }
        if let (Some(drag), Some(at)) = (*drag, response.interact_pointer_pos())
            && (response.dragged() || response.drag_stopped())
        {
            let x = at.x.clamp(self.plot.left(), self.plot.right());
            actions.extend(self.dragged(drag, view.time(x), x).map(Action::Show));
        }
        if response.drag_stopped() || !response.is_pointer_button_down_on() {
            *drag = None;
        }
        if response.double_clicked() {
            actions.push(Action::Show(self.extent));
        } else if response.clicked()
            && let Some(at) = response.interact_pointer_pos()
            && !self.visible.contains(view.time(at.x))
        {
            let half = Nanos(self.length().0 / 2);
            let start = view.time(at.x) + Nanos(-half.0);
            actions.push(Action::Show(TimeRange { start, end: start + self.length() }));
        }
        let Some(at) = response.hover_pos() else { return };
        ui.set_cursor_icon(match drag.unwrap_or_else(|| self.drag_at(at.x)) {
            Drag::Start | Drag::End => CursorIcon::ResizeHorizontal,
            Drag::Whole(_) if drag.is_some() => CursorIcon::Grabbing,
            Drag::Whole(_) => CursorIcon::Grab,
            Drag::New(_) => CursorIcon::Crosshair,
        });
        let zoom = ui.input(egui::InputState::zoom_delta);
        if (zoom - 1.0).abs() > f32::EPSILON {
            let center = view.time(at.x).clamp(self.visible.start, self.visible.end);
            let shown = TimeView { range: self.visible, ..view };
            actions.push(Action::Show(shown.zoomed(f64::from(zoom), center)));
        }
    }

    fn length(&self) -> Nanos {
        self.visible.end - self.visible.start
    }

    /// What a drag does that begins at `x`.
    fn drag_at(&self, x: f32) -> Drag {
        let view = TimeView::new(self.extent, self.plot);
        let (start, end) = visible_frame(&view, self.visible);
        // Of a very narrow frame both edges stay in reach: from outside.
        if (x - end).abs() <= GRIP && (x - end).abs() <= (x - start).abs() {
            Drag::End
        } else if (x - start).abs() <= GRIP {
            Drag::Start
        } else if start < x && x < end && self.visible != self.extent {
            Drag::Whole(view.time(x) - self.visible.start)
        } else {
            Drag::New(view.time(x))
        }
    }

    fn dragged(&self, drag: Drag, at: Time, x: f32) -> Option<TimeRange> {
        let TimeRange { start, end } = self.visible;
        let shortest = Nanos(SHORTEST_VIEW.0.min(self.length().0));
        Some(match drag {
            Drag::Start => TimeRange { start: at.min(end + Nanos(-shortest.0)), end },
            Drag::End => TimeRange { start, end: at.max(start + shortest) },
            Drag::Whole(held) => {
                let start = at + Nanos(-held.0);
                TimeRange { start, end: start + self.length() }
            }
            Drag::New(from) => {
                let far_enough = (TimeView::new(self.extent, self.plot).x(from) - x).abs() >= SHORTEST_DRAG;
                return far_enough.then(|| TimeRange { start: from.min(at), end: from.max(at) });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Time(start), end: Time(end) }
    }

    fn place(visible: TimeRange) -> Place {
        let plot = Rect::from_min_size(pos2(100.0, 0.0), vec2(1000.0, 30.0));
        Place { id: Id::unique("overview"), plot, extent: range(0, 1_000_000), visible }
    }

    #[test]
    fn a_drag_does_what_is_under_it() {
        let part = place(range(200_000, 400_000));
        assert_eq!(part.drag_at(302.0), Drag::Start);
        assert_eq!(part.drag_at(497.0), Drag::End);
        assert_eq!(part.drag_at(400.0), Drag::Whole(Nanos(100_000)));
        assert_eq!(part.drag_at(800.0), Drag::New(Time(700_000)));
        let all = place(range(0, 1_000_000));
        assert_eq!(all.drag_at(600.0), Drag::New(Time(500_000)), "where all is in view there is nothing to move");
    }

    #[test]
    fn the_frame_follows_the_pointer() {
        let part = place(range(200_000, 400_000));
        let at = |time: i64| (Time(time), 100.0 + time as f32 / 1000.0);
        let dragged = |drag, time| part.dragged(drag, at(time).0, at(time).1);
        assert_eq!(dragged(Drag::Start, 100_000), Some(range(100_000, 400_000)));
        assert_eq!(dragged(Drag::Start, 900_000), Some(range(399_950, 400_000)), "not beyond the other edge");
        assert_eq!(dragged(Drag::End, 500_000), Some(range(200_000, 500_000)));
        assert_eq!(dragged(Drag::Whole(Nanos(50_000)), 300_000), Some(range(250_000, 450_000)));
        assert_eq!(dragged(Drag::New(Time(700_000)), 600_000), Some(range(600_000, 700_000)));
        assert_eq!(dragged(Drag::New(Time(700_000)), 701_000), None);
    }
}

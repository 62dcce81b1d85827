//! Where a moment is on the screen.

use egui::Rect;
use traceview_core::model::{Nanos, Time, TimeRange};

/// A part of time across a number of points. Places are computed from whole nanoseconds: no zoom level is too deep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeView {
    /// What is shown.
    pub range: TimeRange,
    /// Where it begins.
    pub left: f32,
    /// How wide it is.
    pub width: f32,
}

impl TimeView {
    /// `range` across the width of `rect`.
    pub fn new(range: TimeRange, rect: Rect) -> Self {
        Self { range, left: rect.left(), width: rect.width() }
    }

    /// Where `time` is; far outside the view, a place outside of it.
    #[expect(clippy::cast_possible_truncation, reason = "places on a screen")]
    pub fn x(&self, time: Time) -> f32 {
        let offset = difference(time, self.range.start) / self.length() * f64::from(self.width);
        // Larger numbers lose the exactness that neighbours on the screen need.
        self.left + offset.clamp(-1e5, 1e5) as f32
    }

    /// Which moment is at `x`.
    pub fn time(&self, x: f32) -> Time {
        self.range.start + self.duration(x - self.left)
    }

    /// How long `points` last.
    #[expect(clippy::cast_possible_truncation, reason = "durations of a profile are whole nanoseconds")]
    pub fn duration(&self, points: f32) -> Nanos {
        Nanos((f64::from(points) / f64::from(self.width.max(1.0)) * self.length()).round() as i64)
    }

    /// How many pixels wide it is, as level-of-detail queries ask.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a screen has few pixels")]
    pub fn pixels(&self, pixels_per_point: f32) -> u32 {
        (self.width * pixels_per_point).round().max(1.0) as u32
    }

    /// What is shown after zooming by `factor` (2: twice as near) so that what is at `center` stays there.
    #[expect(clippy::cast_possible_truncation, reason = "durations of a profile are whole nanoseconds")]
    pub fn zoomed(&self, factor: f64, center: Time) -> TimeRange {
        let scale = |from: Time| Nanos((difference(from, center) / factor).round() as i64);
        TimeRange { start: center + scale(self.range.start), end: center + scale(self.range.end) }
    }

    /// What is shown after moving by `points` to the right in time.
    pub fn panned(&self, points: f32) -> TimeRange {
        let by = self.duration(points);
        TimeRange { start: self.range.start + by, end: self.range.end + by }
    }

    fn length(&self) -> f64 {
        difference(self.range.end, self.range.start).max(1.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "only for places on a screen")]
fn difference(later: Time, earlier: Time) -> f64 {
    (i128::from(later.0) - i128::from(earlier.0)) as f64
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    fn view(start: i64, end: i64) -> TimeView {
        let range = TimeRange { start: Time(start), end: Time(end) };
        TimeView::new(range, Rect::from_min_size(pos2(100.0, 0.0), vec2(1000.0, 10.0)))
    }

    #[test]
    fn places_and_moments_correspond() {
        let view = view(1_000, 2_000);
        assert!((view.x(Time(1_500)) - 600.0).abs() < 1e-3);
        assert_eq!(view.time(600.0), Time(1_500));
        assert_eq!(view.pixels(2.0), 2000);
        assert_eq!(view.panned(100.0), TimeRange { start: Time(1_100), end: Time(2_100) });
    }

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let view = view(1_000, 2_000);
        let zoomed = TimeView { range: view.zoomed(4.0, Time(1_250)), ..view };
        assert_eq!(zoomed.range, TimeRange { start: Time(1_187), end: Time(1_438) });
        assert!((zoomed.x(Time(1_250)) - view.x(Time(1_250))).abs() < 2.5, "to the nanosecond");
    }

    #[test]
    fn nanoseconds_after_a_day_have_places_of_their_own() {
        let day = 86_400_000_000_000;
        let view = view(day, day + 100);
        assert!((view.x(Time(day + 51)) - view.x(Time(day + 50)) - 10.0).abs() < 1e-2);
        assert!(view.x(Time(i64::MIN)) < 0.0 && view.x(Time(i64::MAX)) > 1100.0);
    }
}

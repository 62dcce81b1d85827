//! The ticks of a time axis: where they are, and what they are called.

use traceview_core::model::{Nanos, Time, TimeRange};

use super::time_view::TimeView;

/// Round moments in view, far enough apart for their labels.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeAxis {
    view: TimeView,
    step: Nanos,
    /// One for all, so that labels can be compared at a glance.
    unit: Unit,
}

/// A round moment.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    /// When.
    pub time: Time,
    /// Where.
    pub x: f32,
    /// What it is called.
    pub label: String,
}

/// How wide a character of a label is, at most, in points.
const CHARACTER: f32 = 6.6;
/// The `m` of milliseconds.
const WIDE_CHARACTER: f32 = 11.0;
/// What stays free between labels.
const GAP: f32 = 18.0;
/// Labels nearer than this to each other are a crowd.
const SMALLEST_STEP: f32 = 64.0;
/// Units with their length in ns as a power of ten.
const UNITS: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("µs", 3), ("ns", 0)];

impl TimeAxis {
    /// The ticks of `view`: 1, 2 or 5 times a power of ten apart.
    pub fn new(view: TimeView) -> Self {
        let fits = |step: &Nanos| {
            let unit = Unit::of(furthest(view.range), *step);
            let widest = [view.range.start, view.range.end].map(|time| label_width(&unit.format(time)));
            let length = view.range.end.0.saturating_sub(view.range.start.0).max(1);
            let points = Nanos(length).as_secs_f64();
            step.as_secs_f64() / points * f64::from(view.width)
                >= f64::from((widest[0].max(widest[1]) + GAP).max(SMALLEST_STEP))
        };
        let step = steps().find(fits).unwrap_or(Nanos(i64::MAX));
        Self { view, step, unit: Unit::of(furthest(view.range), step) }
    }

    /// How far apart the ticks are.
    pub fn step(&self) -> Nanos {
        self.step
    }

    /// What a moment is called beside the ticks: in their unit, as exactly as `resolution` says.
    pub fn name(&self, time: Time, resolution: Nanos) -> String {
        Unit { decimals: decimals(self.unit.power, resolution), ..self.unit }.format(time)
    }

    /// The ticks in view, in order.
    pub fn ticks(&self) -> impl Iterator<Item = Tick> {
        let multiples = self.multiples(self.step);
        multiples.map(|time| Tick { time, x: self.view.x(time), label: self.unit.format(time) })
    }

    /// The places of the finer ticks that have no labels.
    pub fn minor_ticks(&self) -> impl Iterator<Item = f32> {
        // From 5 and 1 to 1/5 of it, from 2 to 1/4, so that all are round.
        let leading_two = self.step.0.to_string().starts_with('2');
        let step = Nanos((self.step.0 / if leading_two { 4 } else { 5 }).max(1));
        self.multiples(step).map(|time| self.view.x(time))
    }

    fn multiples(&self, step: Nanos) -> impl Iterator<Item = Time> {
        let range = self.view.range;
        let first = range.start.0.div_euclid(step.0).saturating_mul(step.0);
        let following = std::iter::successors(Some(first), move |time| time.checked_add(step.0));
        following.map(Time).skip_while(move |time| *time < range.start).take_while(move |time| *time <= range.end)
    }
}

/// How moments are written.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Unit {
    name: &'static str,
    /// Its length in ns as a power of ten.
    power: u32,
    decimals: u32,
}

impl Unit {
    /// The unit for moments up to `furthest` ns from 0, each written as exactly as `resolution` says.
    fn of(furthest: u64, resolution: Nanos) -> Self {
        let size = furthest.max(resolution.0.unsigned_abs());
        let (name, power) = UNITS.into_iter().find(|(_, power)| size >= 10u64.pow(*power)).unwrap_or(("ns", 0));
        Self { name, power, decimals: decimals(power, resolution) }
    }

    fn format(self, time: Time) -> String {
        let in_last_digit = 10u64.pow(self.power - self.decimals);
        let digits = (time.0.unsigned_abs() + in_last_digit / 2) / in_last_digit;
        let scale = 10u64.pow(self.decimals);
        let sign = if time.0 < 0 && digits > 0 { "-" } else { "" };
        let (whole, fraction, name) = (digits / scale, digits % scale, self.name);
        if self.decimals == 0 {
            format!("{sign}{whole} {name}")
        } else {
            format!("{sign}{whole}.{fraction:0width$} {name}", width = self.decimals as usize)
        }
    }
}

/// How many digits after the point `resolution` takes in a unit of 10^`power` ns.
fn decimals(power: u32, resolution: Nanos) -> u32 {
    power.saturating_sub(resolution.0.unsigned_abs().max(1).ilog10())
}

/// How far from 0 anything in `range` is.
fn furthest(range: TimeRange) -> u64 {
    range.start.0.unsigned_abs().max(range.end.0.unsigned_abs())
}

/// How much room a label needs.
pub fn label_width(label: &str) -> f32 {
    label.chars().map(|c| if c == 'm' { WIDE_CHARACTER } else { CHARACTER }).sum()
}

/// 1, 2, 5, 10, 20, … ns.
fn steps() -> impl Iterator<Item = Nanos> {
    (0..19).flat_map(|power| [1, 2, 5].map(|factor| 10i64.pow(power).checked_mul(factor))).flatten().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Rect, pos2, vec2};
    use proptest::prelude::proptest;

    fn view(start: i64, end: i64, width: f32) -> TimeView {
        let range = TimeRange { start: Time(start), end: Time(end) };
        TimeView::new(range, Rect::from_min_size(pos2(0.0, 0.0), vec2(width, 20.0)))
    }

    fn labels(start: i64, end: i64, width: f32) -> Vec<String> {
        TimeAxis::new(view(start, end, width)).ticks().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_in_one_step() {
        assert_eq!(labels(0, 1_000_000_000, 300.0), ["0.0 s", "0.5 s", "1.0 s"]);
        assert_eq!(labels(0, 10_000_000_000, 500.0), ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]);
        assert_eq!(labels(-3_000, 3_000, 300.0), ["-2 µs", "0 µs", "2 µs"]);
        assert_eq!(
            labels(12_000_000_000, 12_000_000_010, 300.0),
            ["12.000000000 s", "12.000000005 s", "12.000000010 s"]
        );
    }

    fn format_time(time: Time, resolution: Nanos) -> String {
        Unit::of(time.0.unsigned_abs(), resolution).format(time)
    }

    #[test]
    fn moments_are_named_in_their_unit() {
        for (time, resolution, text) in [
            (0, 1, "0 ns"),
            (999, 1, "999 ns"),
            (1_500, 100, "1.5 µs"),
            (1_500, 1_000, "2 µs"),
            (2_345_678, 10_000, "2.35 ms"),
            (1_999_999_999, 1_000_000, "2.000 s"),
            (-1_234_000_000, 1_000_000, "-1.234 s"),
            (-4, 1_000, "0 µs"),
            (3_600_000_000_000, 60_000_000_000, "3600 s"),
        ] {
            assert_eq!(format_time(Time(time), Nanos(resolution)), text, "{time} to {resolution}");
        }
        let axis = TimeAxis::new(view(0, 10_000_000_000, 500.0));
        assert_eq!(axis.name(Time(717_000_000), Nanos(1_000_000)), "0.717 s", "in the unit of the axis");
        format_time(Time(i64::MIN), Nanos(i64::MAX));
        format_time(Time(i64::MAX), Nanos(1));
    }

    proptest! {
        #[test]
        fn labels_do_not_overlap(
            start in -(1i64 << 50)..1 << 50, bits in 0..50u32, length in 1i64 << 49..1 << 50, width in 20.0..4000.0f32
        ) {
            let view = view(start, start + (length >> bits).max(1), width);
            let axis = TimeAxis::new(view);
            let ticks: Vec<Tick> = axis.ticks().collect();
            for pair in ticks.windows(2) {
                assert!(pair[0].x + label_width(&pair[0].label) <= pair[1].x, "{pair:?}");
                assert_eq!((pair[1].time - pair[0].time), axis.step());
            }
            assert!(axis.minor_ticks().count() <= 5 * (ticks.len() + 2));
            let expected = (view.range.end.0 - view.range.start.0) / axis.step().0;
            assert!((ticks.len() as i64 - expected).abs() <= 1, "{} ticks for {expected} steps", ticks.len());
        }
    }

    #[test]
    fn all_of_time_has_an_axis() {
        TimeAxis::new(view(i64::MIN, i64::MAX, 800.0)).ticks().for_each(drop);
        TimeAxis::new(view(5, 5, 0.0)).minor_ticks().for_each(drop);
    }
}

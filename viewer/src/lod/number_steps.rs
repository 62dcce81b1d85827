//! A number over time, and its extremes in any part of it.

use traceview_core::model::{Nanos, Time, TimeRange};

/// A number that changes in steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NumberSteps {
    /// When each step begins; ascending.
    start: Vec<Time>,
    value: Vec<f64>,
    /// Up to each step: the number times seconds.
    integral: Vec<f64>,
    /// Where the last step ends.
    end: Time,
    /// The extremes of each [`BLOCK`] of steps.
    blocks: Vec<Extremes>,
}

/// The least and the greatest of some numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extremes {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// Steps between two of which the extremes are kept: few enough to be looked at for each pixel.
const BLOCK: usize = 64;

impl Extremes {
    const NONE: Self = Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY };

    fn with(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    fn of(values: &[f64]) -> Self {
        values.iter().fold(Self::NONE, |so_far, value| so_far.with(Self { least: *value, greatest: *value }))
    }
}

impl NumberSteps {
    /// Steps in order of time, the last of which ends at `end`. Numbers that are none are left out.
    pub fn new(steps: impl IntoIterator<Item = (Time, f64)>, end: Time) -> Self {
        let (start, value): (Vec<Time>, Vec<f64>) = steps.into_iter().filter(|(_, value)| value.is_finite()).unzip();
        let mut sum = 0.0;
        let ends = start.iter().skip(1).copied().chain([end]);
        let integral = start.iter().zip(ends).zip(&value).map(|((start, end), value)| {
            let before = sum;
            sum += value * (end - *start).as_secs_f64().max(0.0);
            before
        });
        let integral = integral.collect();
        let blocks = value.chunks(BLOCK).map(Extremes::of).collect();
        let end = start.last().map_or(end, |last| end.max(*last));
        Self { start, value, integral, end, blocks }
    }

    /// The number at `time`; `None` before it is known and after.
    pub fn at(&self, time: Time) -> Option<f64> {
        (time <= self.end).then(|| self.step(time).map(|step| self.value[step])).flatten()
    }

    /// Where the last step ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// The extremes of all steps of which something lies in `range`.
    pub fn extremes(&self, range: TimeRange) -> Option<Extremes> {
        if range.start > self.end || range.start >= range.end {
            return None;
        }
        let first = self.step(range.start).unwrap_or(0);
        let end = self.start.partition_point(|start| *start < range.end);
        (first < end).then(|| self.extremes_of(first, end))
    }

    /// The extremes of all steps.
    pub fn all(&self) -> Option<Extremes> {
        (!self.value.is_empty()).then(|| self.extremes_of(0, self.value.len()))
    }

    /// The mean over that part of `range` in which it is known.
    pub fn mean(&self, range: TimeRange) -> Option<f64> {
        let start = range.start.max(*self.start.first()?);
        let end = range.end.min(self.end);
        if start >= end {
            return self.at(start);
        }
        Some((self.integral_at(end)? - self.integral_at(start)?) / (end - start).as_secs_f64())
    }

    fn integral_at(&self, time: Time) -> Option<f64> {
        let step = self.step(time)?;
        Some(self.integral[step] + self.value[step] * Nanos((time - self.start[step]).0.max(0)).as_secs_f64())
    }

    /// The step around `time`, or the last before it.
    fn step(&self, time: Time) -> Option<usize> {
        self.start.partition_point(|start| *start <= time).checked_sub(1)
    }

    fn extremes_of(&self, first: usize, end: usize) -> Extremes {
        let (first_block, end_block) = (first.div_ceil(BLOCK), end / BLOCK);
        if first_block >= end_block {
            return Extremes::of(&self.value[first..end]);
        }
        let blocks = self.blocks[first_block..end_block].iter().copied().fold(Extremes::NONE, Extremes::with);
        let before = Extremes::of(&self.value[first..first_block * BLOCK]);
        blocks.with(before).with(Extremes::of(&self.value[end_block * BLOCK..end]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Time(start), end: Time(end) }
    }

    #[test]
    fn a_number_holds_until_the_next_step() {
        let steps = NumberSteps::new([(Time(10), 1.0), (Time(20), f64::NAN), (Time(30), 5.0)], Time(40));
        let at = [9, 10, 29, 30, 40, 41].map(|time| steps.at(Time(time)));
        assert_eq!(at, [None, Some(1.0), Some(1.0), Some(5.0), Some(5.0), None]);
        assert_eq!(steps.extremes(range(12, 15)), Some(Extremes { least: 1.0, greatest: 1.0 }));
        assert_eq!(steps.extremes(range(12, 31)), Some(Extremes { least: 1.0, greatest: 5.0 }));
        assert_eq!((steps.extremes(range(0, 10)), steps.extremes(range(41, 50))), (None, None));
        let mean = |start, end| steps.mean(range(start, end)).expect("it is known there");
        assert!((mean(20, 40) - 3.0).abs() < 1e-9 && (mean(0, 100) - 7.0 / 3.0).abs() < 1e-9);
        assert_eq!(NumberSteps::new([], Time(0)).all(), None);
    }

    proptest! {
        #[test]
        fn extremes_are_those_of_looking_at_all_steps(
            values in prop::collection::vec(-100..100i32, 1..500), start in -10..2600i64, length in 1..2600i64,
        ) {
            let times = (0..).map(|step| Time(step * 5));
            let end = Time(i64::try_from(values.len()).expect("few") * 5);
            let steps = NumberSteps::new(times.clone().zip(values.iter().map(|value| f64::from(*value))), end);
            let asked = range(start, start + length);
            let touched = times.zip(&values).filter(|(time, _)| time.0 < asked.end.0 && time.0 + 5 > asked.start.0);
            let numbers: Vec<f64> = touched.map(|(_, value)| f64::from(*value)).collect();
            // The moment of the end is still known.
            if asked.start < end {
                assert_eq!(steps.extremes(asked), (!numbers.is_empty()).then(|| Extremes::of(&numbers)));
            }
        }
    }
}

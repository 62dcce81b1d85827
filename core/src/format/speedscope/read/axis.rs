//! Values on the axis of a profile, and what becomes of them in the model.

use super::super::super::json_value::Number;
use super::super::clock::Clock;
use super::super::unit::{Unit, near_whole};
use crate::model::{Time, Values};

/// A column of numbers: whole ones for as long as all are whole.
#[derive(Debug)]
pub(super) enum Column {
    Integer(Vec<i64>),
    Float(Vec<f64>),
}

impl Default for Column {
    fn default() -> Self {
        Self::Integer(Vec::new())
    }
}

impl Column {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integer(values) => values.len(),
            Self::Float(values) => values.len(),
        }
    }

    pub(super) fn push(&mut self, number: Number) {
        match (&mut *self, number) {
            (Self::Integer(values), Number::Integer(value)) => values.push(value),
            (Self::Integer(values), Number::Float(value)) => {
                let mut floats: Vec<f64> = values.iter().map(|value| Number::Integer(*value).as_f64()).collect();
                floats.push(value);
                *self = Self::Float(floats);
            }
            (Self::Float(values), number) => values.push(number.as_f64()),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Integer(values) => values.truncate(len),
            Self::Float(values) => values.truncate(len),
        }
    }

    /// The weights of a thread without times.
    pub(super) fn into_values(self) -> Values {
        match self {
            Self::Integer(values) if values.iter().all(|value| *value == 1) => Values::Ones,
            Self::Integer(values) => Values::Integer(values),
            Self::Float(values) => Values::Float(values),
        }
    }

    /// The times at which rows begin if the first does at `start` and each lasts as long as its value says, in units of
    /// `scale` ns; and these lengths in milliseconds.
    pub(super) fn into_times(self, start: Time, scale: i64) -> (Vec<Time>, Values) {
        let mut clock = Clock::at(start);
        let mut begin = |length: Number| {
            let begin = clock.rounded();
            clock.pass(length);
            begin
        };
        match self {
            Self::Integer(values) => {
                let times =
                    values.iter().map(|value| begin(Number::Integer(Number::Integer(*value).scaled(scale)))).collect();
                let weights = values.into_iter().map(|value| millis(Number::Integer(value), scale)).collect();
                (times, Values::Float(weights))
            }
            Self::Float(mut values) => {
                values.iter_mut().for_each(|value| *value = millis(Number::Float(*value), scale));
                // From the weights as they are kept, so that these give the same times again.
                let times = values.iter().map(|value| begin(Number::Float(near_whole(value * 1e6)))).collect();
                (times, Values::Float(values))
            }
        }
    }
}

/// How far `to` lies behind `from`.
pub(super) fn distance(from: Number, to: Number) -> Number {
    match (from, to) {
        (Number::Integer(from), Number::Integer(to)) => Number::Integer(to.saturating_sub(from)),
        _ => Number::Float(to.as_f64() - from.as_f64()),
    }
}

/// Whether `left` is less than `right`.
pub(super) fn is_before(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => left < right,
        _ => left.as_f64() < right.as_f64(),
    }
}

/// The moment `value`, if `unit` is one of time.
pub(super) fn moment(value: Number, unit: Unit) -> Option<Time> {
    let scale = unit.nanos()?;
    Some(Time(value.scaled(scale)))
}

/// `value` in units of `scale` ns as milliseconds. What is a whole number of ns but for the rounding of doubles is one.
fn millis(value: Number, scale: i64) -> f64 {
    near_whole(value.as_f64() * Number::Integer(scale).as_f64()) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(numbers: &[Number]) -> Column {
        let mut column = Column::default();
        numbers.iter().for_each(|number| column.push(*number));
        column
    }

    #[test]
    fn whole_numbers_stay_whole() {
        let whole = column(&[Number::Integer(i64::MAX), Number::Integer(2)]);
        assert_eq!(whole.into_values(), Values::Integer(vec![i64::MAX, 2]));
        let mixed = column(&[Number::Integer(1), Number::Float(0.5), Number::Integer(3)]);
        assert_eq!(mixed.into_values(), Values::Float(vec![1.0, 0.5, 3.0]));
        assert_eq!(column(&[Number::Integer(1)]).into_values(), Values::Ones);
    }

    #[test]
    fn lengths_add_up_to_times() {
        let (times, weights) =
            column(&[Number::Integer(3), Number::Integer(0), Number::Integer(4)]).into_times(Time(5), 1000);
        assert_eq!(times, [Time(5), Time(3005), Time(3005)]);
        assert_eq!(weights, Values::Float(vec![0.003, 0.0, 0.004]));
        let (times, weights) = column(&[Number::Float(0.1), Number::Float(0.2)]).into_times(Time(0), 1_000_000_000);
        assert_eq!(times, [Time(0), Time(100_000_000)]);
        assert_eq!(weights, Values::Float(vec![100.0, 200.0]));
        let (times, _) = column(&[Number::Integer(i64::MAX), Number::Integer(1)]).into_times(Time(1), 1000);
        assert_eq!(times, [Time(1), Time(i64::MAX)], "what does not fit ends at the edge");
        let (times, _) = column(&[Number::Float(1e300), Number::Float(1e300)]).into_times(Time(1), 1000);
        assert_eq!(times, [Time(1), Time(i64::MAX)]);
    }
}

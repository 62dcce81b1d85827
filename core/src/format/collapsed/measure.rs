//! What is counted when writing, and what each sample adds to it.

use super::super::WriteOptions;
use crate::analysis::{self, Unit, Worth, counts_without_stack, default_measure};
use crate::model::{FunctionKind, Profile, StackId, Thread, ValueTypeId, Values, WeightUnit};

/// What the numbers of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measure {
    /// Weights of this unit, which is samples or bytes.
    Weights(WeightUnit),
    /// Time, summed in nanoseconds and written in microseconds.
    Time,
    /// A column of values in this unit, of which each is so many.
    Column(ValueTypeId, Unit, i64),
}

/// What a sample counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    /// Times in ns; wide enough for the product of two numbers of the model.
    Whole(i128),
    Fraction(f64),
}

impl Measure {
    /// What is asked for; else the type that the file shows first, unless waits are to be counted; else samples.
    pub(super) fn of(profile: &Profile, options: &WriteOptions) -> Self {
        let column = |measure: analysis::Measure| match measure {
            analysis::Measure::Value(id) => {
                let (unit, factor) = measure.value_unit(profile).unwrap_or((Unit::Samples, 1));
                Some(Self::Column(id, unit, factor))
            }
            _ => None,
        };
        let by_weights = Self::by_weights(profile);
        let has_time = |thread: &Thread| Worth::time(profile, thread).is_some() || !thread.waits.is_empty();
        let has_times = || profile.threads.iter().any(has_time);
        match options.measure {
            Some(analysis::Measure::Weights | analysis::Measure::Samples) => by_weights,
            Some(measure @ analysis::Measure::Value(_)) => column(measure).unwrap_or(by_weights),
            Some(_) if has_times() => Self::Time,
            None if options.off_cpu && has_times() => Self::Time,
            _ => column(default_measure(profile)).unwrap_or(by_weights),
        }
    }

    fn by_weights(profile: &Profile) -> Self {
        let any_of = |unit| {
            let mut sampled = profile.threads.iter().filter(|thread| !thread.samples.is_empty());
            sampled.any(|thread| thread.samples.weight_unit == unit)
        };
        if any_of(WeightUnit::TracingMs) && !any_of(WeightUnit::Samples) {
            Self::Time
        } else if any_of(WeightUnit::Bytes) && !any_of(WeightUnit::Samples) {
            Self::Weights(WeightUnit::Bytes)
        } else {
            Self::Weights(WeightUnit::Samples)
        }
    }

    /// Whether some sample counts a fraction.
    pub(super) fn is_fractional(self, profile: &Profile) -> bool {
        profile
            .threads
            .iter()
            .any(|thread| !self.is_time() && self.worth(profile, thread).is_some_and(Worth::is_fractional))
    }

    /// How many of what is summed is one of what is written.
    pub(super) fn divisor(self) -> i128 {
        if self.is_time() { 1000 } else { 1 }
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::Column(_, Unit::Nanoseconds, _))
    }

    /// The samples of `thread` that count something, with their stacks; `None` where they cannot be counted so.
    pub(super) fn counted<'a>(
        self,
        profile: &'a Profile,
        thread: &'a Thread,
    ) -> Option<impl Iterator<Item = (Option<StackId>, Value)> + use<'a>> {
        let worth = self.worth(profile, thread)?;
        let counts_all = matches!(self, Self::Column(..)) || matches!(worth, Worth::Cpu(_));
        let rows = thread.samples.stack.iter().copied().enumerate();
        Some(rows.filter_map(move |(row, stack)| {
            let ran = stack.is_some() || counts_without_stack(thread, row);
            let value = self.value(worth, row);
            let is_sample = counts_all || stack.is_none_or(|stack| !is_unsampled(profile, stack));
            let counts = ran && is_sample && value != Value::Whole(0) && value != Value::Fraction(0.0);
            counts.then_some((stack, value))
        }))
    }

    fn worth<'a>(self, profile: &Profile, thread: &'a Thread) -> Option<Worth<'a>> {
        match self {
            Self::Weights(unit) => Worth::weights(thread, unit),
            Self::Time => Worth::time(profile, thread),
            Self::Column(id, _, factor) => Worth::column(thread, id, factor),
        }
    }

    /// What sample `row` counts: of times whole nanoseconds.
    fn value(self, worth: Worth<'_>, row: usize) -> Value {
        match worth {
            Worth::Cpu(deltas) => Value::Whole(deltas[row].get().map_or(0, |cpu| cpu.0.into())),
            Worth::Values(Values::Ones, factor) => Value::Whole(factor.into()),
            Worth::Values(Values::Integer(values), factor) => {
                Value::Whole(i128::from(values[row]) * i128::from(factor))
            }
            Worth::Values(Values::Float(values), factor) if self.is_time() => to_whole(values[row] * to_float(factor)),
            Worth::Values(Values::Float(values), factor) => Value::Fraction(values[row] * to_float(factor)),
        }
    }
}

/// Whether this is CPU time that no sample was taken of.
pub(super) fn is_unsampled(profile: &Profile, stack: StackId) -> bool {
    profile.functions.kind[profile.leaf_function(stack).index()] == FunctionKind::Unsampled
}

/// In whole nanoseconds, unless it is no number.
fn to_whole(nanos: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, far beyond what is written")]
    if nanos.is_finite() { Value::Whole(nanos.round() as i128) } else { Value::Fraction(nanos) }
}

#[expect(clippy::cast_precision_loss, reason = "a sampling interval or the size of a unit is far below 2^53")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

//! What is counted when writing, and what each sample adds to it.

use super::super::WriteOptions;
use crate::analysis::{self, Unit, default_measure};
use crate::model::{CpuDelta, FunctionKind, Profile, StackId, Thread, ValueTypeId, Values, WeightUnit};

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
    Whole(i64),
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
        let has_time = |thread: &Thread| Self::Time.source(profile, thread).is_some() || !thread.waits.is_empty();
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
        let mut threads = profile.threads.iter().filter(|thread| self.source(profile, thread).is_some());
        threads.any(|thread| matches!(self.source(profile, thread), Some(Source::Amounts(Values::Float(_), _))))
    }

    /// How many of what is summed is one of what is written.
    pub(super) fn divisor(self) -> i128 {
        if matches!(self, Self::Time | Self::Column(_, Unit::Nanoseconds, _)) { 1000 } else { 1 }
    }

    /// The samples of `thread` that count something, with their stacks; `None` where they cannot be counted so.
    ///
    /// A sample without a stack says that nothing ran, unless CPU time says otherwise.
    pub(super) fn counted<'a>(
        self,
        profile: &'a Profile,
        thread: &'a Thread,
    ) -> Option<impl Iterator<Item = (Option<StackId>, Value)> + use<'a>> {
        let source = self.source(profile, thread)?;
        let has_cpu = thread.knows_cpu();
        let is_column = matches!(self, Self::Column(..));
        let counts_all = is_column || matches!(source, Source::Cpu(_));
        let rows = thread.samples.stack.iter().copied().enumerate();
        Some(rows.filter_map(move |(row, stack)| {
            // A row of a file without times is a sum, with a stack or without.
            let ran = stack.is_some()
                || (is_column && !thread.timed)
                || (has_cpu && thread.samples.cpu_of(row).is_some_and(|cpu| cpu.0 != 0));
            let value = source.value(row);
            let is_sample = counts_all || stack.is_none_or(|stack| !is_unsampled(profile, stack));
            let counts = ran && is_sample && value != Value::Whole(0) && value != Value::Fraction(0.0);
            counts.then_some((stack, value))
        }))
    }

    fn source<'a>(self, profile: &Profile, thread: &'a Thread) -> Option<Source<'a>> {
        let samples = &thread.samples;
        let interval = profile.meta.interval.filter(|interval| interval.0 > 0);
        match (self, samples.weight_unit) {
            (Self::Column(id, unit, factor), _) => {
                let values = &samples.values.iter().find(|column| column.value_type == id)?.values;
                Some(match unit {
                    Unit::Nanoseconds => Source::Times(values, factor),
                    Unit::Samples | Unit::Bytes | Unit::Named(_) => Source::Amounts(values, factor),
                })
            }
            (Self::Weights(unit), of_thread) => (unit == of_thread).then_some(Source::Amounts(&samples.weight, 1)),
            (Self::Time, _) if thread.knows_cpu() => Some(Source::Cpu(&samples.cpu)),
            (Self::Time, WeightUnit::TracingMs) => Some(Source::Times(&samples.weight, 1_000_000)),
            (Self::Time, WeightUnit::Samples) => interval.map(|interval| Source::Times(&samples.weight, interval.0)),
            (Self::Time, WeightUnit::Bytes) => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Cpu(&'a [CpuDelta]),
    /// Values, each of them so many.
    Amounts(&'a Values, i64),
    /// Values, each of them so many nanoseconds.
    Times(&'a Values, i64),
}

impl Source<'_> {
    fn value(self, row: usize) -> Value {
        match self {
            Self::Cpu(deltas) => Value::Whole(deltas.get(row).and_then(|cpu| cpu.get()).map_or(0, |cpu| cpu.0)),
            Self::Amounts(Values::Float(values), factor) => Value::Fraction(values[row] * to_float(factor)),
            Self::Times(Values::Float(values), factor) => to_whole(values[row] * to_float(factor)),
            Self::Amounts(Values::Ones, factor) | Self::Times(Values::Ones, factor) => Value::Whole(factor),
            Self::Amounts(Values::Integer(values), factor) | Self::Times(Values::Integer(values), factor) => {
                Value::Whole(values[row].saturating_mul(factor))
            }
        }
    }
}

/// Whether this is CPU time that no sample was taken of.
pub(super) fn is_unsampled(profile: &Profile, stack: StackId) -> bool {
    profile.functions.kind[profile.leaf_function(stack).index()] == FunctionKind::Unsampled
}

/// In whole nanoseconds, unless it is no number.
fn to_whole(nanos: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest number")]
    if nanos.is_finite() { Value::Whole(nanos.round() as i64) } else { Value::Fraction(nanos) }
}

#[expect(clippy::cast_precision_loss, reason = "a sampling interval or the size of a unit is far below 2^53")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

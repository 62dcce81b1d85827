//! What is counted when writing, and what each sample adds to it.

use super::super::WriteOptions;
use crate::model::{FunctionKind, Profile, StackId, Thread, Values, WeightUnit};

/// What the numbers of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measure {
    /// Weights of this unit, which is samples or bytes.
    Weights(WeightUnit),
    /// Time, summed in nanoseconds and written in microseconds.
    Time,
}

/// What a sample counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Whole(i64),
    Fraction(f64),
}

impl Measure {
    pub(super) fn of(profile: &Profile, options: &WriteOptions) -> Self {
        let any_of = |unit| {
            let mut sampled = profile.threads.iter().filter(|thread| !thread.samples.is_empty());
            sampled.any(|thread| thread.samples.weight_unit == unit)
        };
        let has_time = |thread: &Thread| Self::Time.source(profile, thread).is_some() || !thread.waits.is_empty();
        let wants_time = options.off_cpu && profile.threads.iter().any(has_time);
        if wants_time || (any_of(WeightUnit::TracingMs) && !any_of(WeightUnit::Samples)) {
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
        matches!(self, Self::Weights(_)) && threads.any(|thread| matches!(thread.samples.weight, Values::Float(_)))
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
        let has_cpu = knows_cpu(thread);
        let rows = thread.samples.stack.iter().copied().enumerate();
        Some(rows.filter_map(move |(row, stack)| {
            let ran = stack.is_some() || (has_cpu && thread.samples.cpu_of(row).is_some_and(|cpu| cpu.0 != 0));
            let value = source.value(thread, row);
            let is_sample = source == Source::Cpu || stack.is_none_or(|stack| !is_unsampled(profile, stack));
            let counts = ran && is_sample && value != Value::Whole(0) && value != Value::Fraction(0.0);
            counts.then_some((stack, value))
        }))
    }

    fn source(self, profile: &Profile, thread: &Thread) -> Option<Source> {
        let interval = profile.meta.interval.filter(|interval| interval.0 > 0);
        match (self, thread.samples.weight_unit) {
            (Self::Weights(unit), of_thread) => (unit == of_thread).then_some(Source::Weights),
            (Self::Time, _) if knows_cpu(thread) => Some(Source::Cpu),
            (Self::Time, WeightUnit::TracingMs) => Some(Source::Times(1_000_000)),
            (Self::Time, WeightUnit::Samples) => interval.map(|interval| Source::Times(interval.0)),
            (Self::Time, WeightUnit::Bytes) => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Weights,
    Cpu,
    /// Weights times so many nanoseconds.
    Times(i64),
}

impl Source {
    fn value(self, thread: &Thread, row: usize) -> Value {
        let samples = &thread.samples;
        match (self, &samples.weight) {
            (Self::Cpu, _) => Value::Whole(samples.cpu_of(row).map_or(0, |cpu| cpu.0)),
            (Self::Weights, Values::Ones) => Value::Whole(1),
            (Self::Weights, Values::Integer(weights)) => Value::Whole(weights[row]),
            (Self::Weights, Values::Float(weights)) => Value::Fraction(weights[row]),
            (Self::Times(factor), Values::Ones) => Value::Whole(factor),
            (Self::Times(factor), Values::Integer(weights)) => Value::Whole(weights[row].saturating_mul(factor)),
            (Self::Times(factor), Values::Float(weights)) => to_whole(weights[row] * to_float(factor)),
        }
    }
}

/// Whether this is CPU time that no sample was taken of.
pub(super) fn is_unsampled(profile: &Profile, stack: StackId) -> bool {
    profile.functions.kind[profile.leaf_function(stack).index()] == FunctionKind::Unsampled
}

pub(super) fn knows_cpu(thread: &Thread) -> bool {
    thread.samples.cpu.iter().any(|delta| delta.get().is_some())
}

/// In whole nanoseconds, unless it is no number.
fn to_whole(nanos: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest number")]
    if nanos.is_finite() { Value::Whole(nanos.round() as i64) } else { Value::Fraction(nanos) }
}

#[expect(clippy::cast_precision_loss, reason = "a sampling interval is far below 2^53 ns")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

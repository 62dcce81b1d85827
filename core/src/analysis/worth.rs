//! What the samples of a thread are worth: the one place that knows in which columns of the model an amount stands.
//!
//! | amount | column | each of it is |
//! |--------|--------|---------------|
//! | CPU time | `cpu` | ns |
//! | samples, bytes | `weight`, if that is its unit | one |
//! | traced time | `weight` in ms | 1,000,000 ns |
//! | time of samples | `weight` in samples | an interval of the profile |
//! | anything else | the column of that type | as many as its unit says |
//!
//! Who adds up chooses the amount, and says how numbers are rounded: views and reports add up doubles, pprof rounds sums,
//! collapsed stacks and speedscope samples, as they are whole nanoseconds there.

use crate::model::{CpuDelta, Nanos, Profile, Thread, ValueTypeId, Values, WeightUnit};

/// What each sample of a thread is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Worth<'a> {
    /// CPU time in ns, where that is known.
    Cpu(&'a [CpuDelta]),
    /// Values, each of which is so many of the unit that is counted in.
    Values(&'a Values, i64),
}

impl<'a> Worth<'a> {
    /// One for each row.
    pub(crate) const ONES: Self = Self::Values(&Values::Ones, 1);

    /// CPU time, if that of any sample is known.
    pub(crate) fn cpu(thread: &'a Thread) -> Option<Self> {
        thread.knows_cpu().then_some(Self::Cpu(&thread.samples.cpu))
    }

    /// The weights, if they are in this unit; traced time is in ns.
    pub(crate) fn weights(thread: &'a Thread, unit: WeightUnit) -> Option<Self> {
        let factor = if unit == WeightUnit::TracingMs { 1_000_000 } else { 1 };
        (thread.samples.weight_unit == unit).then_some(Self::Values(&thread.samples.weight, factor))
    }

    /// The time in ns that samples stand for, if weights count samples and it is known how often one was taken.
    pub(crate) fn intervals(profile: &Profile, thread: &'a Thread) -> Option<Self> {
        let interval = profile.meta.interval.filter(|interval| *interval > Nanos::ZERO)?;
        (thread.samples.weight_unit == WeightUnit::Samples).then_some(Self::Values(&thread.samples.weight, interval.0))
    }

    /// The time in ns that weights say, traced or by the interval.
    pub(crate) fn time_of_weights(profile: &Profile, thread: &'a Thread) -> Option<Self> {
        Self::weights(thread, WeightUnit::TracingMs).or_else(|| Self::intervals(profile, thread))
    }

    /// Time in ns: of the CPU, or what weights say.
    pub(crate) fn time(profile: &Profile, thread: &'a Thread) -> Option<Self> {
        Self::cpu(thread).or_else(|| Self::time_of_weights(profile, thread))
    }

    /// The first column of this type, if the thread has one; each value is `factor` of the unit.
    pub(crate) fn column(thread: &'a Thread, id: ValueTypeId, factor: i64) -> Option<Self> {
        let column = thread.samples.values.iter().find(|column| column.value_type == id)?;
        Some(Self::Values(&column.values, factor))
    }

    /// Whether it has fractions.
    pub(crate) fn is_fractional(self) -> bool {
        matches!(self, Self::Values(Values::Float(_), _))
    }

    /// Whether sample `row` is worth nothing.
    pub(crate) fn is_zero(self, row: usize) -> bool {
        match self {
            Self::Cpu(deltas) => deltas[row].get().is_none_or(|delta| delta == Nanos::ZERO),
            Self::Values(Values::Ones, _) => false,
            Self::Values(Values::Integer(values), _) => values[row] == 0,
            Self::Values(Values::Float(values), _) => values[row] == 0.0,
        }
    }
}

/// Whether sample `row` counts if it has no stack. Where samples have times, it says that nothing ran, unless the thread used
/// the CPU; without times it is a sum, as all rows are.
pub(crate) fn counts_without_stack(thread: &Thread, row: usize) -> bool {
    !thread.timed || thread.samples.cpu_of(row).is_some_and(|cpu| cpu != Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn time_is_that_of_the_cpu_or_what_weights_say() {
        let profile_of = |interval| {
            let mut fixture = Fixture::new();
            let threads = [fixture.thread("cpu", 1), fixture.thread("plain", 2), fixture.thread("traced", 3)];
            let stack = fixture.stack("main");
            for (thread, cpu) in threads.into_iter().zip([Some(7), None, None]) {
                fixture.sample(thread, 0, Some(stack), cpu);
            }
            fixture.builder.thread_mut(threads[2]).samples.weight_unit = WeightUnit::TracingMs;
            fixture.builder.meta_mut().interval = Some(Nanos(interval));
            fixture.finish()
        };
        let factors = |profile: &Profile| {
            let times = profile.threads.iter().map(|thread| Worth::time(profile, thread));
            let factor = |worth| match worth {
                Some(Worth::Cpu(deltas)) => deltas[0].get().map(|cpu| cpu.0),
                Some(Worth::Values(_, factor)) => Some(factor),
                None => None,
            };
            times.map(factor).collect::<Vec<_>>()
        };
        let profile = profile_of(250);
        assert_eq!(factors(&profile), [Some(7), Some(250), Some(1_000_000)]);
        assert_eq!(factors(&profile_of(0)), [Some(7), None, Some(1_000_000)]);
        let thread = &profile.threads[1];
        assert!(Worth::weights(thread, WeightUnit::Bytes).is_none() && !Worth::ONES.is_zero(0));
        assert!(!counts_without_stack(thread, 0) && counts_without_stack(&profile.threads[0], 0));
    }
}

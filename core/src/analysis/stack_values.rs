//! What each stack was seen with: the one pass over samples and waits that all other analyses start from.

use rustc_hash::FxHashMap;

use super::amount::{Amount, Unit};
use super::filter::{Measure, Selection};
use super::waits::WaitKind;
use super::whole::Whole;
use super::worth::Worth;
use crate::model::{CpuDelta, FunctionKind, Profile, StackId, StackTable, Thread, ThreadId, Values, WeightUnit};

/// The amounts of a selection, by stack.
#[derive(Clone, PartialEq, Debug)]
pub struct StackValues {
    /// What was counted.
    pub measure: Measure,
    /// What the values count.
    pub unit: Unit,
    /// Samples, by the [`StackId`] that they carry.
    pub own: Vec<Amount>,
    /// Waits by stack and kind, in this order; those without a stack come first.
    pub waits: Vec<StackWaits>,
    /// The kinds of wait that there are, in order of first use.
    pub wait_kinds: Vec<WaitKind>,
    /// CPU time of samples that carry no stack. Where CPU times are not known, such samples mean that nothing ran, and
    /// count nothing.
    pub without_stack: Amount,
    /// The sum of all these.
    pub total: Amount,
    /// The sum of the squares of all samples' values.
    squares: f64,
    /// What shares are of.
    whole: Whole,
}

/// The waits of one kind at one stack.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StackWaits {
    /// What the thread had called, without the system call; `None` where that could not be seen.
    pub stack: Option<StackId>,
    /// Index into [`StackValues::wait_kinds`].
    pub kind: usize,
    /// Their time, and how many they were.
    pub amount: Amount,
}

/// Why a [`Measure`] can't be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MeasureError {
    /// The weights of different threads don't add up.
    #[error("the samples of these threads count different things ({0} and {1}); choose threads that count the same")]
    MixedUnits(Unit, Unit),
    /// Samples are to be added to waits but have no time.
    #[error("these samples count {0}, which can't be added to the time of waits; choose CPU or off-CPU time")]
    NoTime(Unit),
}

impl StackValues {
    /// Adds up what `measure` counts in `selection`.
    ///
    /// # Errors
    /// When the samples of the selected threads can't be added up.
    pub fn of(profile: &Profile, selection: &Selection, measure: Measure) -> Result<Self, MeasureError> {
        let threads = selected_threads(profile, selection);
        let unit = unit_of(profile, &threads, measure)?;
        Ok(Self::add_up(profile, &threads, selection, (measure, unit)))
    }

    /// Counts the samples of `selection`: [`Measure::Samples`], which can always be taken.
    pub fn sample_counts(profile: &Profile, selection: &Selection) -> Self {
        let threads = selected_threads(profile, selection);
        Self::add_up(profile, &threads, selection, (Measure::Samples, Unit::Samples))
    }

    /// What `measure` counts in each thread of `selection`: at the stacks that `kept` says; `None`: at all, and without one.
    ///
    /// # Errors
    /// When the samples of the selected threads can't be added up.
    pub fn of_threads(
        profile: &Profile,
        selection: &Selection,
        measure: Measure,
        kept: Option<&[bool]>,
    ) -> Result<Vec<(ThreadId, Amount)>, MeasureError> {
        let unit = unit_of(profile, &selected_threads(profile, selection), measure)?;
        let mask = selection.label_mask(profile);
        let is_kept = |stack: Option<StackId>| is_kept(kept, stack);
        let amount_of = |id: ThreadId| {
            let thread = &profile.threads[id.index()];
            let mut amount = Amount::default();
            if measure != Measure::OffCpu {
                let counted = Counted::of(profile, thread, measure, unit);
                counted.visit(thread, selection, mask.as_deref(), |stack, value, samples| {
                    if is_kept(stack) {
                        amount += Amount { value, samples };
                    }
                });
            }
            if counts_waits(measure, selection) {
                let waits = thread.waits.iter().filter(|wait| is_kept(wait.stack));
                let times = waits.map(|wait| selection.range.overlap(wait.start, wait.duration));
                times.filter(|time| time.0 != 0).for_each(|time| amount.add_one(to_float(time.0)));
            }
            (id, amount)
        };
        Ok(selection.thread_ids(profile).into_iter().map(amount_of).collect())
    }

    fn add_up(profile: &Profile, threads: &[&Thread], selection: &Selection, (measure, unit): (Measure, Unit)) -> Self {
        let whole = Whole {
            measure,
            unit,
            total: Amount::default(),
            unsampled: 0,
            stackless: Amount::default(),
            effective_samples: None,
        };
        let mut values = Self {
            measure,
            unit,
            own: vec![Amount::default(); profile.stacks.len()],
            waits: Vec::new(),
            wait_kinds: Vec::new(),
            without_stack: Amount::default(),
            total: Amount::default(),
            squares: 0.0,
            whole,
        };
        if measure != Measure::OffCpu {
            let mask = selection.label_mask(profile);
            for thread in threads {
                let counted = Counted::of(profile, thread, measure, unit);
                values.add_samples(thread, selection, mask.as_deref(), counted);
            }
        }
        if counts_waits(measure, selection) {
            values.add_waits(profile, threads, selection);
        }
        values.total = values.sum();
        values.whole = values.measure_whole(profile);
        values
    }

    /// The sum of what is counted.
    pub(super) fn sum(&self) -> Amount {
        let waits = self.waits.iter().map(|waits| waits.amount);
        self.own.iter().copied().chain(waits).chain([self.without_stack]).sum()
    }

    /// What shares of these values are of: everything that was selected, also what [`retain`](Self::retain) took away.
    pub fn whole(&self) -> Whole {
        self.whole
    }

    /// For each stack its samples and, added to their innermost user frame, its waits.
    pub fn with_waits(&self) -> Vec<Amount> {
        let mut amounts = self.own.clone();
        for waits in &self.waits {
            if let Some(stack) = waits.stack {
                amounts[stack.index()] += waits.amount;
            }
        }
        amounts
    }

    /// For each stack node the sum over itself and all that it called.
    pub fn totals(&self, stacks: &StackTable) -> Vec<Amount> {
        let mut totals = self.with_waits();
        // Callees stand behind their callers, so each is complete before it is added to its caller.
        for row in (0..totals.len()).rev() {
            if let Some(prefix) = stacks.prefix[row] {
                let amount = totals[row];
                totals[prefix.index()] += amount;
            }
        }
        totals
    }

    fn measure_whole(&self, profile: &Profile) -> Whole {
        let is_unsampled = |stack: usize| {
            profile.functions.kind[profile.leaf_function(StackId::new(stack)).index()] == FunctionKind::Unsampled
        };
        let seen = self.own.iter().enumerate().filter(|(_, own)| own.samples > 0);
        let unsampled = seen.filter(|(stack, _)| is_unsampled(*stack)).map(|(_, own)| own.samples).sum();
        let stackless_waits = self.waits.iter().filter(|waits| waits.stack.is_none()).map(|waits| waits.amount);
        let sampled = self.own.iter().map(|own| own.value).sum::<f64>() + self.without_stack.value;
        Whole {
            measure: self.measure,
            unit: self.unit,
            total: self.total,
            unsampled,
            stackless: std::iter::once(self.without_stack).chain(stackless_waits).sum(),
            // (Σw)² / Σw² equal samples would scatter as these of different weights do.
            effective_samples: (self.measure != Measure::Slices
                && self.waits.is_empty()
                && self.squares > 0.0
                && self.total.samples > unsampled)
                .then(|| sampled * sampled / self.squares),
        }
    }

    fn add_samples(&mut self, thread: &Thread, selection: &Selection, mask: Option<&[bool]>, counted: Counted<'_>) {
        counted.visit(thread, selection, mask, |stack, value, samples| {
            // As if all samples that the row is a sum of had counted the same.
            self.squares += value * value / to_float(samples.cast_signed());
            match stack {
                Some(stack) => self.own[stack.index()] += Amount { value, samples },
                None => self.without_stack += Amount { value, samples },
            }
        });
    }

    fn add_waits(&mut self, profile: &Profile, threads: &[&Thread], selection: &Selection) {
        let mut kinds: FxHashMap<WaitKind, usize> = FxHashMap::default();
        let mut cells: FxHashMap<(Option<StackId>, usize), Amount> = FxHashMap::default();
        for wait in threads.iter().flat_map(|thread| thread.waits.iter()) {
            let time = selection.range.overlap(wait.start, wait.duration);
            if time.0 == 0 {
                continue;
            }
            let next = self.wait_kinds.len();
            let of_wait = WaitKind::of(profile, &wait);
            let kind = *kinds.entry(of_wait).or_insert(next);
            if kind == next {
                self.wait_kinds.push(of_wait);
            }
            cells.entry((wait.stack, kind)).or_default().add_one(to_float(time.0));
        }
        self.waits = cells.into_iter().map(|((stack, kind), amount)| StackWaits { stack, kind, amount }).collect();
        self.waits.sort_unstable_by_key(|waits| (waits.stack, waits.kind));
    }
}

/// Whether what carries `stack` is meant, of the stacks that `kept` says; `None`: all, and what has none.
pub(super) fn is_kept(kept: Option<&[bool]>, stack: Option<StackId>) -> bool {
    kept.is_none_or(|kept| stack.is_some_and(|stack| kept[stack.index()]))
}

/// What the samples of one thread count.
#[derive(Clone, Copy)]
enum Counted<'a> {
    /// What they are worth.
    Worth(Worth<'a>),
    /// One each, if they used any CPU.
    CpuPresence(&'a [CpuDelta]),
    /// Nothing: not known in the unit asked for.
    Nothing,
}

impl<'a> Counted<'a> {
    fn of(profile: &Profile, thread: &'a Thread, measure: Measure, unit: Unit) -> Self {
        let samples = &thread.samples;
        let worth = match (measure, unit) {
            (Measure::Samples, _) if thread.knows_cpu() => return Self::CpuPresence(&samples.cpu),
            (Measure::Samples, _) if thread.timed || samples.weight_unit != WeightUnit::Samples => Some(Worth::ONES),
            (Measure::Slices, _) => Some(Worth::Values(&samples.weight, 1)),
            (Measure::Value(id), _) => {
                Worth::column(thread, id, measure.value_unit(profile).map_or(1, |(_, factor)| factor))
            }
            (Measure::Weights, Unit::Nanoseconds) => Worth::time_of_weights(profile, thread),
            (_, Unit::Nanoseconds) => Worth::time(profile, thread),
            (_, Unit::Samples) => Worth::weights(thread, WeightUnit::Samples),
            (_, Unit::Bytes) => Worth::weights(thread, WeightUnit::Bytes),
            (_, Unit::Named(_)) => None,
        };
        worth.map_or(Self::Nothing, Self::Worth)
    }

    /// Tells `visit` what each of the selected samples of `thread` counts, if it counts anything, at which stack, and how
    /// many samples it stands for. `mask`: which sets of labels are selected.
    fn visit(
        self,
        thread: &Thread,
        selection: &Selection,
        mask: Option<&[bool]>,
        mut visit: impl FnMut(Option<StackId>, f64, u64),
    ) {
        let samples = &thread.samples;
        let mut each = |row: usize, value: f64| {
            // With times, a row without a stack says that nothing ran.
            let counts = match self {
                Self::Worth(Worth::Cpu(_)) | Self::CpuPresence(_) => true,
                Self::Worth(Worth::Values(..)) | Self::Nothing => samples.stack[row].is_some() || !thread.timed,
            };
            let is_meant =
                |mask: &[bool]| samples.labels.get(row).copied().flatten().is_some_and(|set| mask[set.index()]);
            if counts && value.is_finite() && value != 0.0 && mask.is_none_or(is_meant) {
                visit(samples.stack[row], value, thread.samples_in(row));
            }
        };
        let rows = selection.sample_rows(samples, thread.timed);
        match self {
            Self::Worth(Worth::Cpu(deltas)) => {
                rows.for_each(|row| each(row, deltas[row].get().map_or(0.0, |nanos| to_float(nanos.0))));
            }
            Self::CpuPresence(deltas) => rows.for_each(|row| {
                if deltas[row].get().is_some_and(|nanos| nanos.0 != 0) {
                    each(row, to_float(thread.samples_in(row).cast_signed()));
                }
            }),
            Self::Worth(Worth::Values(values, factor)) => {
                let scale = to_float(factor);
                match values {
                    Values::Ones => rows.for_each(|row| each(row, scale)),
                    Values::Integer(values) => rows.for_each(|row| each(row, to_float(values[row]) * scale)),
                    Values::Float(values) => rows.for_each(|row| each(row, values[row] * scale)),
                }
            }
            Self::Nothing => {}
        }
    }
}

/// Whether waits are added up as well. They have no labels to be chosen by.
fn counts_waits(measure: Measure, selection: &Selection) -> bool {
    matches!(measure, Measure::OffCpu | Measure::Wall) && selection.label_sets.is_none()
}

fn selected_threads<'a>(profile: &'a Profile, selection: &Selection) -> Vec<&'a Thread> {
    selection.thread_ids(profile).into_iter().map(|id| &profile.threads[id.index()]).collect()
}

/// The unit that the samples of `threads` (and waits, if `measure` counts them) can be added up in.
fn unit_of(profile: &Profile, threads: &[&Thread], measure: Measure) -> Result<Unit, MeasureError> {
    match measure {
        Measure::Samples => return Ok(Unit::Samples),
        Measure::OffCpu | Measure::Slices => return Ok(Unit::Nanoseconds),
        Measure::Value(_) => return Ok(measure.value_unit(profile).map_or(Unit::Samples, |(unit, _)| unit)),
        Measure::Cpu | Measure::Wall | Measure::Weights => {}
    }
    if measure != Measure::Weights && threads.iter().any(|thread| thread.knows_cpu()) {
        return Ok(Unit::Nanoseconds);
    }
    let mut units =
        threads.iter().filter(|thread| !thread.samples.is_empty()).map(|thread| match thread.samples.weight_unit {
            WeightUnit::Samples => Unit::Samples,
            WeightUnit::TracingMs => Unit::Nanoseconds,
            WeightUnit::Bytes => Unit::Bytes,
        });
    let Some(first) = units.next() else { return Ok(Unit::Nanoseconds) };
    if let Some(other) = units.find(|unit| *unit != first) {
        return Err(MeasureError::MixedUnits(first, other));
    }
    match (measure, first) {
        (Measure::Wall, Unit::Samples) if profile.meta.interval.is_some() => Ok(Unit::Nanoseconds),
        (Measure::Wall, Unit::Samples | Unit::Bytes | Unit::Named(_)) => Err(MeasureError::NoTime(first)),
        _ => Ok(first),
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts of time and weights stay below 2^53")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::model::{ThreadId, Time, TimeRange};

    fn fixture() -> (Fixture, ThreadId, StackId) {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("t", 1);
        let stack = fixture.stack("main");
        (fixture, thread, stack)
    }

    fn of(profile: &Profile, measure: Measure) -> Result<(Unit, f64, u64), MeasureError> {
        let values = StackValues::of(profile, &Selection::default(), measure)?;
        Ok((values.unit, values.total.value, values.total.samples))
    }

    #[test]
    fn samples_without_cpu_count_their_weight() {
        let (mut fixture, thread, stack) = fixture();
        for time in 0..3 {
            fixture.sample(thread, time, Some(stack), None);
        }
        let samples = &mut fixture.builder.thread_mut(thread).samples;
        samples.weight = Values::Integer(vec![1, 0, -3]);
        samples.cpu.clear();
        let profile = fixture.finish();
        assert_eq!(of(&profile, Measure::Cpu), Ok((Unit::Samples, -2.0, 2)));
        assert_eq!(of(&profile, Measure::Samples), Ok((Unit::Samples, 3.0, 3)));
        assert_eq!(of(&profile, Measure::Wall), Ok((Unit::Nanoseconds, -2e6, 2)), "the interval is 1 ms");
    }

    #[test]
    fn milliseconds_of_traces_are_time() {
        let (mut fixture, thread, stack) = fixture();
        fixture.sample(thread, 0, Some(stack), None);
        let samples = &mut fixture.builder.thread_mut(thread).samples;
        samples.weight = Values::Float(vec![1.5]);
        samples.weight_unit = WeightUnit::TracingMs;
        let profile = fixture.finish();
        assert_eq!(of(&profile, Measure::Cpu), Ok((Unit::Nanoseconds, 1.5e6, 1)));
    }

    #[test]
    fn what_does_not_add_up_is_refused() {
        let (mut fixture, thread, stack) = fixture();
        fixture.sample(thread, 0, Some(stack), None);
        let other = fixture.thread("allocations", 2);
        fixture.sample(other, 0, Some(stack), None);
        fixture.builder.thread_mut(other).samples.weight_unit = WeightUnit::Bytes;
        let profile = fixture.finish();
        assert_eq!(of(&profile, Measure::Cpu), Err(MeasureError::MixedUnits(Unit::Samples, Unit::Bytes)));
        let selection = Selection { threads: Some(vec![other, other]), ..Selection::default() };
        let values = StackValues::of(&profile, &selection, Measure::Cpu).expect("one thread has one unit");
        assert_eq!((values.unit, values.total.value), (Unit::Bytes, 1.0), "a thread counts once");
        assert_eq!(StackValues::of(&profile, &selection, Measure::Wall), Err(MeasureError::NoTime(Unit::Bytes)));
    }

    #[test]
    fn threads_without_times_are_in_no_range() {
        let (mut fixture, thread, stack) = fixture();
        fixture.sample(thread, 5, Some(stack), Some(7));
        let row = fixture.builder.thread_mut(thread);
        row.timed = false;
        row.samples.time.clear();
        let profile = fixture.finish();
        assert_eq!(of(&profile, Measure::Cpu), Ok((Unit::Nanoseconds, 7.0, 1)));
        let range = TimeRange { start: Time(0), end: Time(100) };
        let values = StackValues::of(&profile, &Selection { range, ..Selection::default() }, Measure::Cpu);
        assert_eq!(values.map(|values| values.total.value), Ok(0.0));
    }

    #[test]
    fn equal_samples_are_as_many_as_they_are_and_unequal_ones_are_fewer() {
        let (mut fixture, thread, stack) = fixture();
        (0..10).for_each(|time| fixture.sample(thread, time, Some(stack), Some(1_000)));
        let effective = |fixture: Fixture| {
            let values = StackValues::of(&fixture.finish(), &Selection::default(), Measure::Cpu);
            values.expect("CPU time adds up").whole().effective_samples
        };
        assert_eq!(effective(fixture), Some(10.0));

        let (mut fixture, thread, stack) = self::fixture();
        [3_000, 1_000].into_iter().for_each(|cpu| fixture.sample(thread, 0, Some(stack), Some(cpu)));
        // (3 + 1)² / (9 + 1)
        assert_eq!(effective(fixture), Some(1.6));
    }

    #[test]
    fn waits_are_clipped_and_gathered_by_kind() {
        let (mut fixture, thread, stack) = fixture();
        fixture.wait(thread, 0, 100, Some(stack), "read");
        fixture.wait(thread, 200, 100, None, "read");
        fixture.wait(thread, 400, 100, Some(stack), "read");
        let profile = fixture.finish();
        let range = TimeRange { start: Time(50), end: Time(450) };
        let values = StackValues::of(&profile, &Selection { range, ..Selection::default() }, Measure::OffCpu)
            .expect("waits add up");
        let found: Vec<_> = values.waits.iter().map(|waits| (waits.stack, waits.amount.value)).collect();
        assert_eq!(found, [(None, 100.0), (Some(stack), 100.0)]);
        let whole = values.whole();
        assert_eq!((whole.stackless.value, whole.effective_samples), (100.0, None));
        assert_eq!(values.wait_kinds.iter().map(|kind| kind.label(&profile)).collect::<Vec<_>>(), ["[wait] read"]);
    }
}

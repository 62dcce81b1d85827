//! What an [`Activity`](super::Activity) is built over: CPU time of samples, waits, slices.

use std::borrow::Borrow;
use std::sync::Arc;

use traceview_core::model::{Nanos, SampleTable, StackId, Time, TimeRange};

use super::sample_time::SampleTiming;

/// An amount of time that was used evenly from `start` to `end`; where these are equal, just before `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// From when on.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// How much. Can be more than lies between `start` and `end`.
    pub amount: Nanos,
    /// By what.
    pub group: u8,
}

/// Uses in order of time.
///
/// None may begin before the one before it has ended, amounts must not be negative, and groups must be less than
/// [`groups`](Self::groups).
pub trait Uses {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many groups there are.
    fn groups(&self) -> usize;

    /// Use number `item`.
    fn get(&self, item: usize) -> Use;
}

impl Use {
    /// How much of it was used before `time`.
    #[inline]
    pub(super) fn amount_before(&self, time: Time) -> i64 {
        if self.end <= time {
            self.amount.0
        } else if time <= self.start {
            0
        } else {
            let (part, whole) = ((time - self.start).0, (self.end - self.start).0);
            match part.checked_mul(self.amount.0) {
                Some(product) => product / whole,
                None => i64::try_from(i128::from(part) * i128::from(self.amount.0) / i128::from(whole))
                    .expect("not more than the amount"),
            }
        }
    }
}

/// The group of each stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackGroups {
    /// By stack.
    pub of_stack: Vec<u8>,
    /// The group of samples without a stack.
    pub of_none: u8,
    /// How many groups there are.
    pub count: usize,
}

/// The CPU time of a thread's samples as [`Uses`].
///
/// A sample's CPU time was used evenly over the [time that it stands for](SampleTiming::span). Samples of a thread
/// without CPU times stand for one interval of CPU time each. `T` is what holds the table.
#[derive(Clone, Debug)]
pub struct SampleUses<T> {
    samples: T,
    groups: Arc<StackGroups>,
    timing: SampleTiming,
}

impl<T: Borrow<SampleTable>> SampleUses<T> {
    /// Of samples that fill the time as `timing` says.
    pub fn new(samples: T, groups: Arc<StackGroups>, timing: SampleTiming) -> Self {
        Self { samples, groups, timing }
    }

    fn group(&self, stack: Option<StackId>) -> u8 {
        stack.map_or(self.groups.of_none, |stack| self.groups.of_stack[stack.index()])
    }
}

impl<T: Borrow<SampleTable>> Uses for SampleUses<T> {
    fn len(&self) -> usize {
        // Without times there is no place for them.
        self.samples.borrow().time.len()
    }

    fn groups(&self) -> usize {
        self.groups.count
    }

    #[inline]
    fn get(&self, item: usize) -> Use {
        let samples = self.samples.borrow();
        let TimeRange { start, end } = self.timing.span(samples, item);
        let stack = samples.stack[item];
        let amount = match samples.cpu.get(item) {
            Some(cpu) => cpu.get().unwrap_or(Nanos::ZERO).max(Nanos::ZERO),
            // Without a stack nothing ran.
            None if stack.is_none() => Nanos::ZERO,
            None => self.timing.interval,
        };
        Use { start, end, amount, group: self.group(stack) }
    }
}

/// Spans of time that were used all over: waits, or slices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpanUses {
    start: Vec<Time>,
    end: Vec<Time>,
    group: Vec<u8>,
    groups: usize,
}

impl SpanUses {
    /// Of spans in order of their starts, each with its duration and group. Where some overlap, the first has the time.
    pub fn new(groups: usize, spans: impl Iterator<Item = (Time, Nanos, u8)>) -> Self {
        let mut uses = Self { groups, ..Self::default() };
        let mut free_from = Time(i64::MIN);
        for (start, duration, group) in spans {
            let (start, end) = (start.max(free_from), start + duration);
            if start < end {
                uses.start.push(start);
                uses.end.push(end);
                uses.group.push(group);
                free_from = end;
            }
        }
        uses
    }
}

impl Uses for SpanUses {
    fn len(&self) -> usize {
        self.start.len()
    }

    fn groups(&self) -> usize {
        self.groups
    }

    #[inline]
    fn get(&self, item: usize) -> Use {
        let (start, end) = (self.start[item], self.end[item]);
        Use { start, end, amount: end - start, group: self.group[item] }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};
    use traceview_core::model::CpuDelta;

    use super::*;

    proptest! {
        #[test]
        fn samples_follow_the_rules_of_uses(
            steps in prop::collection::vec((0..50i64, -5..60i64), 1..100), known in any::<bool>()
        ) {
            let mut time = 0;
            let mut samples = SampleTable::default();
            for (step, cpu) in &steps {
                time += step;
                samples.time.push(Time(time));
                samples.stack.push(Some(StackId::new(0)));
                if known {
                    samples.cpu.push(CpuDelta::new(Nanos(*cpu)));
                }
            }
            let groups = Arc::new(StackGroups { of_stack: vec![1], of_none: 0, count: 2 });
            let uses = SampleUses::new(&samples, groups, SampleTiming::for_interval(Nanos(10)));
            let all: Vec<Use> = (0..uses.len()).map(|item| uses.get(item)).collect();
            assert!(all.windows(2).all(|pair| pair[0].end <= pair[1].start));
            for (it, (step, cpu)) in all.iter().zip(&steps).skip(1) {
                let amount = if known { (*cpu).max(0) } else { 10 };
                assert_eq!((it.amount, it.group), (Nanos(amount), 1));
                assert!(it.end - it.start <= Nanos(*step));
            }
        }
    }

    #[test]
    fn samples_without_stacks_or_known_time_use_nothing() {
        let mut samples = SampleTable { time: vec![Time(10), Time(20)], ..SampleTable::default() };
        samples.stack = vec![None, Some(StackId::new(0))];
        let groups = Arc::new(StackGroups { of_stack: vec![1], of_none: 0, count: 2 });
        let amounts = |samples: &SampleTable| {
            let uses = SampleUses::new(samples, Arc::clone(&groups), SampleTiming::for_interval(Nanos(10)));
            [uses.get(0), uses.get(1)].map(|it| it.amount.0)
        };
        assert_eq!(amounts(&samples), [0, 10], "without CPU times");
        samples.cpu = vec![CpuDelta::new(Nanos(3)), CpuDelta::UNKNOWN];
        assert_eq!(amounts(&samples), [3, 0], "with them");
    }
}

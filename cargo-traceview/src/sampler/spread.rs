//! How times are spread: counted as they come, in little memory, to tell their quantiles at the end.

use traceview_core::model::{Nanos, Spread};

/// Steps from one power of two to the next: a quantile is at most an eighth too large.
const STEPS: u64 = 8;

/// Counts times by size.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// How many there are of each step.
    counts: Vec<u64>,
}

impl Times {
    /// Adds a time of `ns` nanoseconds; negative ones count as 0.
    pub(crate) fn add(&mut self, ns: i64) {
        let step = step_of(u64::try_from(ns).unwrap_or(0));
        if self.counts.len() <= step {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Median and 99th percentile; `None` if there was no time at all.
    pub(crate) fn spread(&self) -> Option<Spread> {
        let all: u64 = self.counts.iter().sum();
        let quantile = |percent: u64| {
            let mut left = (all * percent).div_ceil(100);
            let step = self.counts.iter().position(|count| {
                left = left.saturating_sub(*count);
                left == 0
            });
            step.map(|step| Nanos(i64::try_from(end_of(step)).unwrap_or(i64::MAX)))
        };
        if all == 0 { None } else { Some(Spread { median: quantile(50)?, p99: quantile(99)? }) }
    }
}

/// The step of a time: times below [`STEPS`] have one each, and each power of two above has [`STEPS`] of them.
fn step_of(ns: u64) -> usize {
    let Some(power) = ns.checked_ilog2().filter(|power| *power >= STEPS.ilog2()) else { return ns as usize };
    let shift = power - STEPS.ilog2();
    (STEPS * u64::from(shift) + (ns >> shift)) as usize
}

/// The largest time of a step.
fn end_of(step: usize) -> u64 {
    let step = step as u64;
    if step < STEPS {
        return step;
    }
    let shift = step / STEPS - 1;
    ((step - STEPS * shift + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_ends_where_the_next_begins() {
        for ns in [0, 1, 7, 8, 9, 15, 16, 17, 18, 1000, 123_456_789, 1 << 40] {
            let end = end_of(step_of(ns));
            assert!(end >= ns && end <= ns + ns / 8, "{ns}: {end}");
            assert_eq!(step_of(end), step_of(ns), "{ns}");
            assert_eq!(step_of(end + 1), step_of(ns) + 1, "{ns}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_times() {
        let mut times = Times::default();
        assert_eq!(times.spread(), None);
        for ns in 1..=1000 {
            times.add(ns * 1000);
        }
        let spread = times.spread().unwrap();
        assert!((500_000..=562_500).contains(&spread.median.0), "{spread:?}");
        assert!((990_000..=1_113_750).contains(&spread.p99.0), "{spread:?}");
        times.add(-5);
        assert_eq!(times.counts[0], 1);
    }
}

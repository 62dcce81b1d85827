//! Which time a sample stands for: the same for boxes of the chart and for graphs of activity.

use traceview_core::model::{Nanos, SampleTable, Time, TimeRange};

/// How samples fill the time between them.
///
/// A sample says what a thread did up to its moment: its CPU time is that since the thread's sample before. Where that
/// is half of the time since then or more, the thread is taken to have run all along, however late the sample came;
/// otherwise it ran just before the sample, for as long as the CPU time. Where the CPU time is not known or nothing,
/// the sample stands for the time since the one before, unless so much time passed that samples must be missing: then
/// for one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleTiming {
    /// How long a sample stands for where nothing else says it.
    pub interval: Nanos,
    /// How far apart samples may be for nothing to be missing between them.
    pub longest_step: Nanos,
    /// When recording began: no sample stands for time before it.
    pub from: Time,
}

impl SampleTiming {
    /// For samples taken each `interval`: up to three may be missing, as a late tick is no pause of the program.
    pub fn for_interval(interval: Nanos) -> Self {
        Self { interval, longest_step: Nanos(interval.0.saturating_mul(4)), from: Time(i64::MIN) }
    }

    /// For samples of an unknown interval: the median distance of neighbours is taken for it.
    pub fn estimate(samples: &SampleTable) -> Self {
        let mut steps: Vec<i64> = samples.time.windows(2).map(|pair| (pair[1] - pair[0]).0).collect();
        let middle = steps.len() / 2;
        let median = if steps.is_empty() { 1 } else { *steps.select_nth_unstable(middle).1 };
        Self::for_interval(Nanos(median.max(1)))
    }

    /// The time that sample `row` stands for. It ends with the sample, and no two overlap.
    #[inline]
    pub fn span(&self, samples: &SampleTable, row: usize) -> TimeRange {
        let end = samples.time[row];
        let step = row.checked_sub(1).map(|before| end - samples.time[before]);
        let cpu = samples.cpu.get(row).and_then(|cpu| cpu.get()).filter(|cpu| cpu.0 > 0);
        let length = match (cpu, step) {
            (Some(cpu), Some(step)) if cpu.0 >= step.0 / 2 => step,
            (Some(cpu), _) => cpu,
            (None, Some(step)) if step <= self.longest_step => step,
            (None, step) => step.map_or(self.interval, |step| step.min(self.interval)),
        };
        TimeRange { start: (end + Nanos(-length.0)).max(self.from.min(end)), end }
    }
}

#[cfg(test)]
mod tests {
    use traceview_core::model::CpuDelta;

    use super::*;

    const TIMING: SampleTiming = SampleTiming { interval: Nanos(10), longest_step: Nanos(40), from: Time(5) };

    /// The starts of the spans of samples, given as time and CPU time.
    fn starts(rows: &[(i64, Option<i64>)]) -> Vec<i64> {
        let cpu = |cpu: Option<i64>| cpu.map_or(CpuDelta::UNKNOWN, |cpu| CpuDelta::new(Nanos(cpu)));
        let samples = SampleTable {
            time: rows.iter().map(|row| Time(row.0)).collect(),
            stack: vec![None; rows.len()],
            cpu: rows.iter().map(|row| cpu(row.1)).collect(),
            ..SampleTable::default()
        };
        (0..rows.len()).map(|row| TIMING.span(&samples, row).start.0).collect()
    }

    #[test]
    fn cpu_time_says_how_long_a_thread_ran() {
        let late_but_busy = (1_000, Some(960));
        let woken = (2_000, Some(3));
        assert_eq!(starts(&[(20, Some(7)), (30, Some(5)), late_but_busy, woken]), [13, 20, 30, 1_997]);
    }

    #[test]
    fn without_cpu_time_what_is_near_is_joined() {
        assert_eq!(starts(&[(20, None), (60, None), (101, None), (105, Some(0))]), [10, 20, 91, 101]);
    }

    #[test]
    fn nothing_ran_before_recording_began() {
        assert_eq!(starts(&[(0, None)]), [0], "this sample did nevertheless");
        assert_eq!(starts(&[(8, Some(7))]), [5]);
    }

    #[test]
    fn the_interval_is_estimated_as_the_usual_step() {
        let time = [0, 10, 20, 31, 5000].map(Time).to_vec();
        let samples = SampleTable { stack: vec![None; time.len()], time, ..SampleTable::default() };
        assert_eq!(SampleTiming::estimate(&samples), SampleTiming::for_interval(Nanos(11)));
        assert_eq!(SampleTiming::estimate(&SampleTable::default()).interval, Nanos(1));
    }
}

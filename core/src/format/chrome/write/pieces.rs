//! The samples of a thread as V8 has them: each lasts until the next one.
//!
//! * The CPU time of a sample is what was used up to it, so it begins that much earlier; where it does not reach back to the
//!   sample before, nothing ran.
//! * Samples that last until the next one, as V8's own do, stay where they are.
//! * Without CPU times, samples stay where they are too, and last until the next one unless that is far away.
//! * Samples without times follow each other from the profile's start, as long as they weigh.

use crate::analysis::{Measure, Unit, default_measure};
use crate::format::WriteOptions;
use crate::model::{Nanos, Profile, StackId, Thread, Time, Values, WeightUnit};

/// Where profiles do not say how often they look.
const USUAL_INTERVAL: Nanos = Nanos(1_000_000);

/// How many intervals a sample without CPU time can last.
const LATEST: i64 = 10;

/// A sample of V8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sample {
    pub time: Time,
    /// `None`: nothing ran.
    pub stack: Option<StackId>,
}

/// The samples of a thread.
pub(super) struct Pieces<'a> {
    thread: &'a Thread,
    lasting: Lasting<'a>,
    interval: Nanos,
    row: usize,
    /// The next one that ran, and where it ends if that is known.
    next: Option<(Sample, Option<Time>)>,
    /// Where the last one that ran ended, if that is known.
    ended: Option<Time>,
    /// Where the next one begins, without times of its own; not before what the last one ended at.
    clock: Time,
    /// How many had negative or infinite weights.
    pub refused: u64,
}

/// How long samples last.
#[derive(Clone, Copy)]
enum Lasting<'a> {
    /// Up to their times, as long as their CPU times.
    Before,
    /// From their times on.
    Behind,
    /// From the one before on: values, and how many nanoseconds each counts.
    Weighed(&'a Values, i64),
    /// The same, by CPU time.
    Used,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(profile: &Profile, thread: &'a Thread, options: &WriteOptions) -> Self {
        let interval = profile.meta.interval.filter(|interval| interval.0 > 0).unwrap_or(USUAL_INTERVAL);
        let lasting = if thread.timed { timed(thread) } else { untimed(profile, thread, interval, options) };
        let clock = if thread.timed { Time(i64::MIN) } else { Time::ZERO };
        Self { thread, lasting, interval, row: 0, next: None, ended: None, clock, refused: 0 }
    }

    /// The sample of a row, and where it ends if that is known; `None` if nothing ran.
    fn sample(&mut self, row: usize) -> Option<(Sample, Option<Time>)> {
        let samples = &self.thread.samples;
        let stack = samples.stack[row];
        let cpu = samples.cpu_of(row);
        let (time, end) = match self.lasting {
            Lasting::Behind => {
                let time = samples.time[row];
                let is_last = |next: &Time| (*next - time).0 > self.interval.0.saturating_mul(LATEST);
                let until = match cpu {
                    Some(cpu) => (cpu.0 > 0).then(|| time + cpu),
                    None => samples.time.get(row + 1).filter(|next| is_last(next)).map(|_| time + self.interval),
                };
                (time, until.filter(|_| stack.is_some()))
            }
            Lasting::Before => {
                let end = samples.time[row];
                let unknown =
                    || row.checked_sub(1).map_or(self.interval, |row| self.interval.min(end - samples.time[row]));
                let length = cpu.unwrap_or_else(unknown);
                if length <= Nanos::ZERO {
                    return None;
                }
                ((end + Nanos(length.0.saturating_neg())).max(self.clock).min(end), Some(end))
            }
            Lasting::Weighed(values, factor) => self.lay(length(values, row, factor))?,
            Lasting::Used => self.lay(cpu)?,
        };
        self.clock = end.unwrap_or(time);
        Some((Sample { time, stack }, end))
    }

    /// Lays a sample behind the one before.
    fn lay(&mut self, length: Option<Nanos>) -> Option<(Time, Option<Time>)> {
        match length {
            Some(Nanos(0)) => None,
            Some(length) if length > Nanos::ZERO => Some((self.clock, Some(self.clock + length))),
            _ => {
                self.refused += 1;
                None
            }
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        while self.next.is_none() && self.row < self.thread.samples.len() {
            self.next = self.sample(self.row);
            self.row += 1;
        }
        // Shorter gaps are but the time that looking takes.
        let shortest = Nanos(self.interval.0 / 2);
        let is_gap = |end: &Time| self.next.is_none_or(|(sample, _)| sample.time - *end > shortest);
        if let Some(time) = self.ended.take().filter(is_gap) {
            return Some(Sample { time, stack: None });
        }
        let (sample, end) = self.next.take()?;
        self.ended = end;
        Some(sample)
    }
}

fn timed(thread: &Thread) -> Lasting<'_> {
    let samples = &thread.samples;
    if !thread.knows_cpu() {
        return Lasting::Behind;
    }
    let reaches_next = |row: &usize| samples.cpu_of(*row) == Some(samples.time[row + 1] - samples.time[*row]);
    let distances = samples.len() - 1;
    let used = (0..distances).filter(|row| samples.cpu_of(*row).is_some_and(|cpu| cpu.0 > 0)).count();
    let reaching = (0..distances).filter(reaches_next).count();
    if reaching > 0 && reaching >= used - used / 4 { Lasting::Behind } else { Lasting::Before }
}

fn untimed<'a>(profile: &Profile, thread: &'a Thread, interval: Nanos, options: &WriteOptions) -> Lasting<'a> {
    /// For what is no time.
    const MICROSECOND: i64 = 1000;
    let measure = options.measure.unwrap_or_else(|| default_measure(profile));
    let samples = &thread.samples;
    if let Measure::Value(id) = measure {
        let factor = match measure.value_unit(profile) {
            Some((Unit::Nanoseconds, factor)) => factor,
            _ => MICROSECOND,
        };
        if let Some(column) = samples.values.iter().find(|column| column.value_type == id) {
            return Lasting::Weighed(&column.values, factor);
        }
    }
    if thread.knows_cpu() && !matches!(measure, Measure::Weights | Measure::Samples) {
        return Lasting::Used;
    }
    let factor = match samples.weight_unit {
        WeightUnit::Samples => interval.0,
        WeightUnit::TracingMs => 1_000_000,
        WeightUnit::Bytes => MICROSECOND,
    };
    Lasting::Weighed(&samples.weight, factor)
}

/// A value as a length, if it can be one.
fn length(values: &Values, row: usize, factor: i64) -> Option<Nanos> {
    match values {
        Values::Ones => Some(Nanos(factor)),
        Values::Integer(values) => Some(Nanos(values[row].saturating_mul(factor))),
        Values::Float(values) => Nanos::from_millis_f64(values[row] * Nanos(factor).as_millis_f64()),
    }
    .filter(|length| *length >= Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CpuDelta, Frame, Function, OsId, Process, ProfileBuilder};

    /// Times and stacks (or `-` for nothing) of samples with these times and CPU times.
    fn pieces(samples: &[(i64, Option<i64>)], timed: bool) -> String {
        let mut builder = ProfileBuilder::with_standard_categories();
        builder.meta_mut().interval = Some(Nanos(10));
        let name = builder.string("f");
        let function = builder.function(Function::named(name));
        let frame = builder.frame(Frame::of(function));
        let stack = builder.stack(None, frame);
        let process = builder.add_process(Process::new(OsId::Number(1), name));
        let mut thread = Thread::new(process, OsId::Number(1), name);
        thread.timed = timed;
        let table = &mut thread.samples;
        table.stack = vec![Some(stack); samples.len()];
        if timed {
            table.time = samples.iter().map(|(time, _)| Time(*time)).collect();
        }
        let delta = |cpu: Option<i64>| cpu.map_or(CpuDelta::UNKNOWN, |cpu| CpuDelta::new(Nanos(cpu)));
        table.cpu = samples.iter().map(|(_, cpu)| delta(*cpu)).collect();
        builder.add_thread(thread);
        let profile = builder.finish().expect("a valid profile");
        let all = Pieces::of(&profile, &profile.threads[0], &WriteOptions::default());
        let text = |sample: Sample| format!("{}{}", sample.time.0, if sample.stack.is_some() { "" } else { "-" });
        all.map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_sample_ends_where_it_was_taken_and_idle_time_is_what_no_cpu_time_covers() {
        assert_eq!(pieces(&[(10, Some(9)), (20, Some(10)), (50, Some(5)), (60, Some(0))], true), "1 10 20- 45 50-");
        assert_eq!(pieces(&[(10, None), (20, Some(5)), (40, None)], true), "0 15 20- 30 40-");
    }

    #[test]
    fn samples_that_last_until_the_next_stay() {
        assert_eq!(pieces(&[(10, Some(10)), (20, Some(12)), (32, Some(11))], true), "10 20 32 43-");
        assert_eq!(pieces(&[(10, None), (20, None), (1000, None)], true), "10 20 30- 1000");
    }

    #[test]
    fn samples_without_times_follow_each_other() {
        assert_eq!(pieces(&[(0, Some(7)), (0, Some(0)), (0, Some(1)), (0, None)], false), "0 7 8-");
    }
}

//! The rows of a thread's samples in the file: its samples, its waits among them, and the ends of running.
//!
//! Viewers join equal stacks of consecutive rows however far apart these are. So a wait is a row with its stack at
//! its start and a row without a stack at its end, and where a thread stopped running and no wait says so, a row
//! without a stack follows.

use super::layout::{Layout, row, shows_waits, untimed_moment};
use crate::model::{Nanos, Thread, Time, WeightUnit};

/// A row of the file.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub time: Time,
    pub stack: Option<u32>,
    pub origin: Origin,
}

impl Row {
    /// The sample that the row is.
    pub(super) fn sample(&self) -> Option<usize> {
        match self.origin {
            Origin::Sample(sample) => Some(sample as usize),
            Origin::WaitStart(_) | Origin::Nothing => None,
        }
    }
}

/// What a row of the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// A sample of the model.
    Sample(u32),
    /// The start of a wait of the model.
    WaitStart(u32),
    /// The end of a wait, or of running.
    Nothing,
}

/// All rows of `thread` in order of time.
pub(super) fn merge(layout: &mut Layout<'_>, thread: &Thread) -> Vec<Row> {
    let samples = &thread.samples;
    let waits = if shows_waits(thread) { thread.waits.len() } else { 0 };
    let mut rows = Rows { rows: Vec::with_capacity(samples.len() + 2 * waits), thread, interval: layout.interval };
    let mut next = 0;
    for (index, wait) in thread.waits.iter().enumerate().take(waits) {
        // A sample at the moment of a wait's start was taken before it; one at the moment of its end, after it.
        next = rows.samples_while(next, |time| time <= wait.start);
        let stack = Some(layout.wait_stack(&wait));
        rows.push(Row { time: wait.start, stack, origin: Origin::WaitStart(row(index)) }, next);
        let end = wait.start + wait.duration;
        next = rows.samples_while(next, |time| time < end);
        rows.push(Row { time: end, stack: None, origin: Origin::Nothing }, next);
    }
    rows.samples_while(next, |_| true);
    rows.close_end();
    rows.rows
}

/// How much a wait's row counts, in the unit of the thread's weights.
#[expect(clippy::cast_precision_loss, reason = "weights are doubles to all other tools")]
pub(super) fn wait_weight(duration: Nanos, interval: Nanos, unit: WeightUnit) -> f64 {
    match unit {
        WeightUnit::Samples => (duration.0 as f64 / interval.0 as f64).round(),
        WeightUnit::TracingMs => duration.as_millis_f64(),
        WeightUnit::Bytes => 0.0,
    }
}

struct Rows<'a> {
    rows: Vec<Row>,
    thread: &'a Thread,
    interval: Nanos,
}

impl Rows<'_> {
    /// Adds the samples from `next` on as long as their time fits; gives the first that is left.
    fn samples_while(&mut self, mut next: usize, fits: impl Fn(Time) -> bool) -> usize {
        let samples = &self.thread.samples;
        while next < samples.len() {
            let time = samples.time.get(next).copied().unwrap_or_else(|| untimed_moment(next, self.interval));
            if !fits(time) {
                break;
            }
            let stack = samples.stack[next].map(|stack| row(stack.index()));
            self.push(Row { time, stack, origin: Origin::Sample(row(next)) }, next);
            next += 1;
        }
        next
    }

    /// Adds a row, and before it the end of running if the thread had stopped in between. `sample` is the first sample
    /// that is not before the row.
    fn push(&mut self, row: Row, sample: usize) {
        if let Some(last) = self.rows.last()
            && self.thread.timed
            && last.stack.is_some()
            && matches!(last.origin, Origin::Sample(_))
        {
            let gap = row.time - last.time;
            let ran = self.thread.samples.cpu_of(sample);
            let stopped = gap.0 / 2 > self.interval.0 && ran.is_none_or(|ran| ran.0 < gap.0 / 2);
            if stopped {
                let time = last.time + self.interval;
                self.rows.push(Row { time, stack: None, origin: Origin::Nothing });
            }
        }
        self.rows.push(row);
    }

    /// Ends what a thread was running when it ended.
    fn close_end(&mut self) {
        if let Some(last) = self.rows.last()
            && self.thread.timed
            && self.thread.end.is_some()
            && last.stack.is_some()
        {
            let time = last.time + self.interval;
            self.rows.push(Row { time, stack: None, origin: Origin::Nothing });
        }
    }
}

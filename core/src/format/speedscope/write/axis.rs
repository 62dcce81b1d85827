//! What stands on the axis of a thread, in order.

use crate::analysis::{self, Measure, WaitKind, Worth, default_measure};
use crate::format::WriteOptions;
use crate::format::json_value::Number;
use crate::model::{Nanos, Profile, StackId, Thread, Time, ValueTypeId, Values, Wait, WeightUnit};

use super::super::clock::{Clock, whole};
use super::super::unit::{Unit, near_whole};

/// What a piece of an axis is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Nothing ran.
    Nothing,
    /// A sample.
    Stack(StackId),
    /// A sample without a stack.
    NoStack,
    /// A wait.
    Wait(Option<StackId>, WaitKind),
}

impl What {
    pub(super) fn is_something(self) -> bool {
        self != Self::Nothing
    }
}

/// A piece of an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub what: What,
    /// How long it is: its weight.
    pub length: Number,
}

/// What the axes of all threads share. It takes a look at each thread to know it.
pub(super) struct Common<'a> {
    profile: &'a Profile,
    options: WriteOptions,
    /// What is to be counted.
    measure: Measure,
    /// Where an axis begins whose thread does not say it.
    start: Time,
}

impl<'a> Common<'a> {
    pub(super) fn of(profile: &'a Profile, options: &WriteOptions) -> Self {
        let measure = options.measure.unwrap_or_else(|| default_measure(profile));
        let start = profile.meta.recording_start.or_else(|| profile.extent().map(|extent| extent.start));
        Self { profile, options: *options, measure, start: start.unwrap_or_default() }
    }
}

/// How a thread is laid out.
pub(super) struct Axis<'a> {
    profile: &'a Profile,
    thread: &'a Thread,
    pub unit: Unit,
    counted: Counted,
    worth: Option<Worth<'a>>,
    /// Whether pieces stand at moments, and not only one after the other.
    timed: bool,
    /// Gaps that are shorter are not shown until they have added up.
    shortest_gap: i64,
    pub waits: bool,
    pub start: Time,
}

/// Where samples stand, and what is made of what they are worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// CPU time up to the sample.
    Cpu,
    /// Time since the sample before, as a number of intervals.
    Intervals,
    /// Milliseconds from the sample on.
    Traced,
    /// No time.
    Plain,
    /// A column of values; the thread may have none.
    Column,
}

/// Where profiles do not say how often they look.
const USUAL_INTERVAL: i64 = 1_000_000;
/// Rounded times of lengths that are not whole can differ by one.
const ROUNDING: i64 = 2;

impl<'a> Axis<'a> {
    pub(super) fn of(common: &Common<'a>, thread: &'a Thread) -> Self {
        let Common { profile, options, measure, start } = *common;
        let samples = &thread.samples;
        let only_waits = samples.is_empty() && options.off_cpu;
        let wants_weights = matches!(measure, Measure::Weights | Measure::Samples);
        let (unit, counted, worth) = if let Some(id) = column_of(measure) {
            let (unit, factor) = measure.value_unit(profile).unwrap_or((analysis::Unit::Samples, 1));
            (unit_of(unit), Counted::Column, Worth::column(thread, id, factor))
        } else if only_waits || (thread.knows_cpu() && !wants_weights) {
            (Unit::Nanoseconds, Counted::Cpu, Worth::cpu(thread))
        } else {
            let unit = samples.weight_unit;
            let intervals = Worth::intervals(profile, thread)
                .filter(|_| thread.timed && options.measure.is_none_or(|_| !wants_weights));
            match (unit, intervals) {
                (WeightUnit::TracingMs, _) => (Unit::Nanoseconds, Counted::Traced, Worth::weights(thread, unit)),
                (WeightUnit::Samples, Some(_)) => (Unit::Nanoseconds, Counted::Intervals, intervals),
                (WeightUnit::Samples, None) => (Unit::None, Counted::Plain, Worth::weights(thread, unit)),
                (WeightUnit::Bytes, _) => (Unit::Bytes, Counted::Plain, Worth::weights(thread, unit)),
            }
        };
        let shortest_gap = match (counted, profile.meta.interval) {
            (Counted::Traced, _) => ROUNDING,
            (_, Some(interval)) if interval > Nanos::ZERO => interval.0,
            _ => USUAL_INTERVAL,
        };
        // Columns count what happened at a moment, which takes no room in time.
        let timed = thread.timed && unit == Unit::Nanoseconds && counted != Counted::Column;
        let waits = timed && options.off_cpu;
        let mut axis = Self { profile, thread, unit, counted, worth, timed, shortest_gap, waits, start: Time::ZERO };
        if timed {
            let first = axis.pieces_from(Time::ZERO).next_start();
            axis.start = thread.start.unwrap_or(start).min(first.unwrap_or(Time(i64::MAX)));
        }
        axis
    }

    pub(super) fn pieces(&self) -> Pieces<'_> {
        self.pieces_from(self.start)
    }

    /// Where the axis ends, after all pieces.
    pub(super) fn end(&self, pieces: &Pieces<'_>) -> Number {
        let Clock { now, fraction } = pieces.clock;
        if self.unit != Unit::Nanoseconds && fraction > 0.0 {
            return Number::Float(Number::Integer(now.0).as_f64() + fraction);
        }
        let now = pieces.clock.ceiling();
        let known = self.thread.end.or(self.profile.meta.recording_end).filter(|_| self.timed);
        let covers = |end: &Time| (now - *end).0 < ROUNDING;
        Number::Integer(known.filter(covers).unwrap_or(now).0)
    }

    fn pieces_from(&self, start: Time) -> Pieces<'_> {
        Pieces { axis: self, row: 0, wait: 0, clock: Clock::at(start), sample: None, refused: 0, uncounted: 0 }
    }

    /// What sample `row` is and how long; `None` if it counts nothing.
    fn sample(&self, row: usize) -> Option<Piece> {
        let stack = self.thread.samples.stack[row];
        let length = self.length(row)?;
        let is_something = length.as_f64() != 0.0;
        let what = match (stack, self.counted) {
            (_, Counted::Cpu | Counted::Column) if !is_something => return None,
            (Some(stack), _) => What::Stack(stack),
            (None, Counted::Cpu) => What::NoStack,
            (None, Counted::Column) if !self.thread.timed => What::NoStack,
            (None, Counted::Traced) => What::Nothing,
            (None, Counted::Plain) if !self.thread.timed => What::Nothing,
            (None, Counted::Column | Counted::Plain | Counted::Intervals) => return None,
        };
        Some(Piece { what, length })
    }

    /// What sample `row` is worth, if that is known.
    fn length(&self, row: usize) -> Option<Number> {
        Some(match self.worth? {
            Worth::Cpu(deltas) => Number::Integer(deltas[row].get()?.0),
            Worth::Values(values, _) if self.counted == Counted::Traced => nanos(values.get(row)),
            Worth::Values(values, factor) => match value(values, row) {
                Number::Integer(value) => value.checked_mul(factor).map_or_else(
                    || Number::Float(Number::Integer(value).as_f64() * Number::Integer(factor).as_f64()),
                    Number::Integer,
                ),
                Number::Float(value) => {
                    let value = value * Number::Integer(factor).as_f64();
                    shortest(if self.counted == Counted::Intervals { value.round_ties_even() } else { value })
                }
            },
        })
    }

    /// Whether a column of values is written.
    pub(super) fn has_column(&self) -> bool {
        self.counted == Counted::Column && self.worth.is_some()
    }

    /// Where sample `row` begins, which lasts `length`.
    fn start_of_sample(&self, row: usize, length: Number) -> Option<Time> {
        let time = *self.thread.samples.time.get(row).filter(|_| self.timed)?;
        let before = match self.counted {
            Counted::Traced | Counted::Plain | Counted::Column => 0,
            Counted::Cpu | Counted::Intervals => match length {
                Number::Integer(length) => length,
                Number::Float(length) => whole(length),
            },
        };
        Some(time + Nanos(before.saturating_neg()))
    }
}

/// The pieces of an axis.
pub(super) struct Pieces<'a> {
    axis: &'a Axis<'a>,
    row: usize,
    wait: usize,
    /// Where the last piece ended.
    clock: Clock,
    /// The next sample and where it begins.
    sample: Option<(Piece, Option<Time>)>,
    /// How many samples had negative or infinite weights.
    pub refused: u64,
    /// Of how many it is not known what they count.
    pub uncounted: u64,
}

impl Pieces<'_> {
    /// Where the next piece begins, if it says.
    fn next_start(&mut self) -> Option<Time> {
        let sample = self.next_sample().and_then(|(_, start)| start);
        let wait = self.next_wait().map(|wait| wait.start);
        match (sample, wait) {
            (Some(sample), Some(wait)) => Some(sample.min(wait)),
            (sample, wait) => sample.or(wait),
        }
    }

    fn next_sample(&mut self) -> Option<(Piece, Option<Time>)> {
        while self.sample.is_none() && self.row < self.axis.thread.samples.len() {
            let row = self.row;
            self.row += 1;
            self.uncounted += u64::from(self.axis.length(row).is_none());
            let Some(piece) = self.axis.sample(row) else { continue };
            let length = piece.length.as_f64();
            if length < 0.0 || !length.is_finite() {
                self.refused += 1;
                continue;
            }
            self.sample = Some((piece, self.axis.start_of_sample(row, piece.length)));
        }
        self.sample
    }

    fn next_wait(&mut self) -> Option<Wait> {
        let waits = &self.axis.thread.waits;
        while self.axis.waits && self.wait < waits.len() {
            let wait = waits.get(self.wait);
            if wait.duration > Nanos::ZERO {
                return Some(wait);
            }
            self.wait += 1;
        }
        None
    }

    fn advance(&mut self, piece: Piece) -> Piece {
        self.clock.pass(piece.length);
        piece
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let sample = self.next_sample();
        let wait = self.next_wait();
        let wait = wait.filter(|wait| sample.and_then(|(_, start)| start).is_none_or(|start| wait.start < start));
        let start = wait.map(|wait| wait.start).or(sample.and_then(|(_, start)| start));
        if let Some(gap) = start.map(|start| start - self.clock.now).filter(|gap| gap.0 >= self.axis.shortest_gap) {
            return Some(self.advance(Piece { what: What::Nothing, length: Number::Integer(gap.0) }));
        }
        let piece = match wait {
            Some(wait) => {
                self.wait += 1;
                let what = What::Wait(wait.stack, WaitKind::of(self.axis.profile, &wait));
                Piece { what, length: Number::Integer(wait.duration.0) }
            }
            None => {
                self.sample = None;
                sample?.0
            }
        };
        Some(self.advance(piece))
    }
}

fn column_of(measure: Measure) -> Option<ValueTypeId> {
    match measure {
        Measure::Value(id) => Some(id),
        _ => None,
    }
}

/// The unit of the format for values of this unit.
fn unit_of(unit: analysis::Unit) -> Unit {
    match unit {
        analysis::Unit::Nanoseconds => Unit::Nanoseconds,
        analysis::Unit::Bytes => Unit::Bytes,
        analysis::Unit::Samples | analysis::Unit::Named(_) => Unit::None,
    }
}

fn value(values: &Values, row: usize) -> Number {
    match values {
        Values::Ones => Number::Integer(1),
        Values::Integer(values) => Number::Integer(values[row]),
        Values::Float(values) => shortest(values[row]),
    }
}

/// Milliseconds as nanoseconds, of which the reader makes the same milliseconds if any double does.
fn nanos(millis: f64) -> Number {
    let nanos = near_whole(millis * 1e6);
    let exact =
        [nanos, nanos.next_up(), nanos.next_down()].into_iter().find(|nanos| near_whole(*nanos) / 1e6 == millis);
    shortest(exact.unwrap_or(nanos))
}

/// `value` as an integer if it is one that doubles have exactly.
fn shortest(value: f64) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT { Number::Integer(whole(value)) } else { Number::Float(value) }
}

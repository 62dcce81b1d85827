//! Model to file: a sampled profile for each thread, in the order of the threads.
//!
//! * The axis of a thread with times is time, in ns: samples with their CPU time (or traced time) as weights, at the moments
//!   when they were taken, and between them stacks of no frames where the thread did not run. With `off_cpu` these are
//!   filled with the thread's waits, each of which ends in a frame named for what it waited for. Sums are exact; where a
//!   sample and its neighbour would overlap, or stand less than a sampling interval apart, the later one is shifted.
//! * Threads without times have one weight after the other, and so has a column of values: the one that is
//!   [asked for](WriteOptions::measure), or that the profile's file shows first.
//! * Three passes over the samples of a thread: one to know the frames and ends, one for stacks, one for weights. What is kept
//!   in memory is a number for each frame and for each node of a stack.

mod axis;
mod frames;
mod left_out;
mod text;

use std::io::Write;

use rustc_hash::FxHashMap;

use self::axis::{Axis, Common};
use self::frames::{FrameNumbers, Numbered, Paths};
use self::left_out::LeftOut;
use self::text::Text;
use super::super::{WriteError, WriteOptions};
use super::unit::Unit;
use super::{ACTIVE_PROFILE, FORMAT, SCHEMA};
use crate::format::json_value::Number;
use crate::model::{OsId, Profile, Thread, Warning};

/// Writes `profile`. Returns what the file has no place for.
///
/// # Errors
/// If `out` fails, or nothing was sampled: speedscope cannot show such a file.
pub fn write(profile: &Profile, options: &WriteOptions, out: &mut dyn Write) -> Result<Vec<Warning>, WriteError> {
    let mut frames = FrameNumbers::new(profile);
    let mut planned: Vec<Planned<'_>> = Vec::new();
    let mut left_out = LeftOut::default();
    let common = Common::of(profile, options);
    for thread in &profile.threads {
        let plan = Planned::of(&common, thread, &mut frames);
        left_out.refused += plan.refused;
        left_out.uncounted += plan.uncounted;
        left_out.columns_written += u64::from(plan.axis.has_column());
        left_out.waits += if plan.axis.waits { 0 } else { thread.waits.len() as u64 };
        planned.extend((plan.pieces > 0).then_some(plan));
    }
    if planned.is_empty() {
        return Err(WriteError::Unsupported { format: FORMAT, reason: "it has no samples" });
    }
    let frames = frames.finish();
    let mut text = Text::new(out);
    text.raw("{")?;
    text.first_field("$schema", SCHEMA)?;
    if let Some(recorder) = &profile.meta.recorder {
        text.field("exporter", recorder)?;
    }
    text.field("name", &profile.meta.name)?;
    let active = active_profile(profile, &planned);
    if active != 0 {
        text.raw(",\"activeProfileIndex\":")?;
        text.number(Number::Integer(active))?;
    }
    text.raw(",\"shared\":{\"frames\":[")?;
    frames.write(profile, &mut text)?;
    text.raw("]},\"profiles\":[")?;
    let names = names(profile, &planned);
    for (index, (plan, name)) in planned.iter().zip(names).enumerate() {
        text.raw(if index == 0 { "\n{" } else { ",\n{" })?;
        text.first_field("type", "sampled")?;
        text.field("name", &name)?;
        plan.write(&frames, &mut text)?;
        text.raw("}")?;
    }
    text.raw("]}\n")?;
    text.finish()?;
    Ok(left_out.warnings(profile, options))
}

/// A thread to write.
struct Planned<'a> {
    thread: &'a Thread,
    axis: Axis<'a>,
    /// How many stacks it has.
    pieces: usize,
    /// How many of its samples the format forbids.
    refused: u64,
    /// Of how many it is not known what they count.
    uncounted: u64,
    /// What its samples add up to.
    total: f64,
    /// Where the last of them ends.
    end: Number,
}

impl<'a> Planned<'a> {
    fn of(common: &Common<'a>, thread: &'a Thread, frames: &mut FrameNumbers<'_>) -> Self {
        let axis = Axis::of(common, thread);
        let (mut count, mut total) = (0, 0.0);
        let mut pieces = axis.pieces();
        for piece in pieces.by_ref() {
            frames.note(piece.what);
            count += 1;
            if piece.what.is_something() {
                total += piece.length.as_f64();
            }
        }
        let (refused, uncounted, end) = (pieces.refused, pieces.uncounted, axis.end(&pieces));
        Self { thread, axis, pieces: count, refused, uncounted, total, end }
    }

    fn write(&self, frames: &Numbered<'_>, text: &mut Text<'_>) -> Result<(), WriteError> {
        text.field("unit", self.axis.unit.name())?;
        text.raw(",\"startValue\":")?;
        text.number(Number::Integer(self.axis.start.0))?;
        text.raw(",\"endValue\":")?;
        text.number(self.end)?;
        text.raw(",\"samples\":[")?;
        let mut paths = Paths::default();
        for (index, piece) in self.axis.pieces().enumerate() {
            text.raw(if index == 0 { "[" } else { ",[" })?;
            text.bytes(paths.of(frames, piece.what))?;
            text.raw("]")?;
        }
        text.raw("],\"weights\":[")?;
        for (index, piece) in self.axis.pieces().enumerate() {
            if index > 0 {
                text.raw(",")?;
            }
            text.number(piece.length)?;
        }
        text.raw("]")?;
        Ok(())
    }
}

/// The profile to show first: the one that the file that this was read from says, or that of the busiest thread.
fn active_profile(profile: &Profile, planned: &[Planned<'_>]) -> i64 {
    let given = profile.meta.extra.iter().find(|(name, _)| name == ACTIVE_PROFILE);
    let given = given.and_then(|(_, index)| index.parse::<usize>().ok());
    let is_all = planned.len() == profile.threads.len();
    let index = given.filter(|index| is_all && *index < planned.len()).unwrap_or_else(|| {
        let rank = |plan: &Planned<'_>| (plan.axis.unit == Unit::Nanoseconds, plan.total);
        let busier =
            |best: usize, index: usize| if rank(&planned[index]) > rank(&planned[best]) { index } else { best };
        (0..planned.len()).fold(0, busier)
    });
    i64::try_from(index).unwrap_or_default()
}

/// What the profiles are called: as the threads, with what tells these apart.
fn names(profile: &Profile, planned: &[Planned<'_>]) -> Vec<String> {
    let several = planned.iter().any(|plan| plan.thread.process != planned[0].thread.process);
    let base = |plan: &Planned<'_>| {
        let name = profile.string(plan.thread.name);
        let process = &profile.processes[plan.thread.process.index()];
        if several { format!("{}: {name}", profile.string(process.name)) } else { name.to_owned() }
    };
    let mut uses: FxHashMap<String, u32> = FxHashMap::default();
    for plan in planned {
        *uses.entry(base(plan)).or_default() += 1;
    }
    let name = |plan: &Planned<'_>| {
        let name = base(plan);
        // Files without ids are read with process 0: what is numbered there says nothing.
        let has_id = profile.processes[plan.thread.process.index()].pid != OsId::Number(0);
        if has_id && uses[&name] > 1 { format!("{name} ({})", plan.thread.tid) } else { name }
    };
    planned.iter().map(name).collect()
}

//! What was recorded, before anything has a name.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashMap;
use traceview_core::model::{ExitStatus, Quality, SampleFlags, ThreadUsage, WaitReason};

use super::images::{ImageIndex, LoadedImage};
use super::walk::CutReason;
use crate::sampler::Progress;
pub use crate::sampler::event::SpawnKind;
pub use crate::sampler::kinship::Awaited;
use crate::sampler::ptrace::{TraceEnd, sys};

/// What was recorded. Times are ns from its start.
pub struct Recording {
    /// CLOCK_MONOTONIC ns at its start.
    pub start_monotonic_ns: i64,
    /// Unix ns at its start.
    pub start_unix_ns: i64,
    /// When it ended.
    pub end: i64,
    /// Processes in order of appearance.
    pub processes: Vec<ProcessRecord>,
    /// Threads in order of appearance.
    pub threads: Vec<ThreadRecord>,
    /// Files with code.
    pub images: Vec<LoadedImage>,
    /// Where they were mapped.
    pub mappings: Vec<MappingRecord>,
    /// Distinct frames.
    pub frames: Vec<RawFrame>,
    /// Distinct stacks: the caller's row, and the frame. Callers stand before callees.
    pub stacks: Vec<(Option<u32>, u32)>,
    /// How well it went.
    pub quality: Quality,
}

/// A process.
#[derive(Clone, Debug)]
pub struct ProcessRecord {
    /// Its id.
    pub pid: i32,
    /// Who forked it.
    pub parent: Option<usize>,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub command_line: Vec<String>,
    /// When it appeared.
    pub start: i64,
    /// When it ended, if it did.
    pub end: Option<i64>,
    /// How it ended.
    pub exit: Option<ExitStatus>,
    /// The process group that it was in when it ended.
    pub group: Option<i32>,
    /// What it used, in order of time.
    pub usage: Vec<RawUsage>,
    /// How often a thread of it was there, but could not be looked at.
    pub hidden_looks: u64,
}

/// What a process used from its start up to a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawUsage {
    /// When.
    pub time: i64,
    /// CPU time of all its threads in ns, if it could be read.
    pub cpu_ns: Option<i64>,
    /// Memory that it had then, if that could be read.
    pub resident_bytes: Option<u64>,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct ThreadRecord {
    /// Its process.
    pub process: usize,
    /// Its id.
    pub tid: i32,
    /// Its name.
    pub name: String,
    /// When it appeared.
    pub start: i64,
    /// When it ended, if it did.
    pub end: Option<i64>,
    /// What the kernel accounted to it.
    pub usage: Option<ThreadUsage>,
    /// Its samples, in order of time.
    pub samples: Vec<RawSample>,
    /// Its waits, in order of time.
    pub waits: Vec<RawWait>,
    /// How it came to be.
    pub origin: Origin,
    /// What it started, in order of time.
    pub spawns: Vec<RawSpawn>,
    /// The programs that it made its process run, in order of time.
    pub execs: Vec<RawExec>,
    /// How it ended, if that was seen.
    pub exit: Option<RawExit>,
    /// Its calls that waited for the end of another thread or process, in order of time.
    pub calls: Vec<RawCall>,
}

/// How a thread came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Another thread started it; with the stack that it started with, if that was seen.
    Created(Option<u32>),
    /// It was there before: the recording starts with it, or it was another thread before an exec.
    Present,
}

/// The start of a thread or process, as its creator reported it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawSpawn {
    /// When.
    pub time: i64,
    /// The id of what was started.
    pub child: i32,
    /// How.
    pub how: SpawnKind,
    /// The creator's stack.
    pub stack: Option<u32>,
}

/// The start of another program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawExec {
    /// When.
    pub time: i64,
    /// Its arguments.
    pub command_line: Vec<String>,
    /// Which thread it was that did this, if it has another id since.
    pub former: Option<usize>,
    /// Where the program starts.
    pub stack: Option<u32>,
}

/// How a thread ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawExit {
    /// The system call that it ended by; `None` if it was made to end.
    pub call: Option<u64>,
    /// Where its descriptor was.
    pub thread_pointer: u64,
    /// Its last stack.
    pub stack: Option<u32>,
}

/// A call that waited for the end of another thread or process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawCall {
    /// Whose end.
    pub awaited: Awaited,
    /// When the thread was first seen in it.
    pub start: i64,
    /// When it was first seen out of it.
    pub end: i64,
    /// Its stack, if that was seen.
    pub stack: Option<u32>,
}

impl ThreadRecord {
    /// The stack of its last sample, unless it waited after that.
    pub(super) fn latest_stack(&self) -> Option<u32> {
        let waited_until = self.waits.last().map_or(i64::MIN, |wait| wait.start + wait.duration);
        self.samples.last().filter(|sample| sample.time >= waited_until).map(|sample| sample.stack)
    }
}

/// A sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawSample {
    /// When.
    pub time: i64,
    /// Row in [`Recording::stacks`].
    pub stack: u32,
    /// CPU time since the last one.
    pub cpu_ns: Option<i64>,
    /// Marks.
    pub flags: SampleFlags,
}

/// A wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawWait {
    /// When it began.
    pub start: i64,
    /// How long it lasted.
    pub duration: i64,
    /// Row in [`Recording::stacks`], if its stack could be seen.
    pub stack: Option<u32>,
    /// Why.
    pub reason: WaitReason,
    /// In which system call.
    pub syscall: Option<u64>,
    /// On what.
    pub target: Option<Arc<str>>,
    /// Whether the stack was inferred.
    pub inferred: bool,
}

/// A part of a file in a process's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MappingRecord {
    /// Whose memory.
    pub process: usize,
    /// What.
    pub image: ImageIndex,
    /// First AVMA.
    pub start: u64,
    /// First AVMA behind it.
    pub end: u64,
    /// Where in the file it starts.
    pub file_offset: u64,
    /// AVMA − SVMA.
    pub bias: u64,
    /// When it was first seen.
    pub from: i64,
    /// When it was seen to be gone.
    pub until: Option<i64>,
}

/// A frame without a name yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RawFrame {
    /// Code of a file.
    Code {
        /// The file.
        image: ImageIndex,
        /// The address in it.
        svma: u64,
    },
    /// Code that belongs to no file.
    Anonymous {
        /// Its address in the process.
        avma: u64,
    },
    /// In the kernel, in this system call.
    Kernel {
        /// Its number.
        syscall: u64,
    },
    /// The stack was cut; stands at its root.
    Cut(CutReason),
    /// CPU time that no sample met.
    Unsampled,
}

impl Recording {
    /// Closes the recording with what the tracer counted.
    pub(crate) fn end(&mut self, end: &TraceEnd, progress: &Progress) {
        self.end = end.time - self.start_monotonic_ns;
        self.quality = Quality {
            ticks: progress.ticks.load(Relaxed),
            missed_ticks: end.missed_ticks,
            lost_samples: progress.lost.load(Relaxed),
            stopped: traceview_core::model::Nanos(i64::try_from(progress.stopped_ns.load(Relaxed)).unwrap_or(i64::MAX)),
            recorder_cpu: traceview_core::model::Nanos(sys::own_cpu_ns()),
            stops: end.stops.spread(),
            lateness: end.lateness.spread(),
        };
    }
}

/// Stores equal frames and stacks once.
#[derive(Default)]
pub(super) struct Interner {
    /// See [`Recording::frames`].
    pub(super) frames: Vec<RawFrame>,
    /// See [`Recording::stacks`].
    pub(super) stacks: Vec<(Option<u32>, u32)>,
    known_frames: FxHashMap<RawFrame, u32>,
    known_stacks: FxHashMap<(Option<u32>, u32), u32>,
}

impl Interner {
    /// The stack of `frames`, outermost first; `None` if there is none.
    pub(super) fn stack(&mut self, frames: impl IntoIterator<Item = RawFrame>) -> Option<u32> {
        frames.into_iter().fold(None, |prefix, frame| Some(self.push(prefix, frame)))
    }

    fn push(&mut self, prefix: Option<u32>, frame: RawFrame) -> u32 {
        let frame = *self.known_frames.entry(frame).or_insert_with(|| row(&mut self.frames, frame));
        let node = (prefix, frame);
        *self.known_stacks.entry(node).or_insert_with(|| row(&mut self.stacks, node))
    }
}

fn row<T>(table: &mut Vec<T>, value: T) -> u32 {
    table.push(value);
    u32::try_from(table.len() - 1).expect("fewer than 2^32 distinct frames and stacks")
}

//! The model: one [`Profile`] that recordings and files of every format become, and that views, reports and writers
//! read.
//!
//! * Tables are columns, and what repeats is stored once: one string, function, frame and stack table serves all
//!   threads. A row is named by a typed index ([`StackId`], [`FunctionId`], …).
//! * Time is integer nanoseconds from the profile's start ([`Time`], [`Nanos`]).
//! * CPU time and waiting are apart: [samples](SampleTable) are what ran, [waits](WaitTable) are what did not.
//! * A stack that was cut short has a root whose function is of kind [`FunctionKind::Cut`]: no view can mistake it
//!   for a whole one.
//! * A [`Profile`] is made by [`ProfileBuilder`] only, which [checks](check::Invalid) it; afterwards it never changes.

pub mod check;

mod allocation;
mod builder;
mod category;
mod counter;
mod flow;
mod frame;
mod function;
mod ids;
mod kept;
mod library;
mod marker;
mod memory;
mod meta;
mod process;
mod row_index;
mod sample;
mod script_trace;
mod slice;
mod stack;
mod stack_index;
mod stack_merge;
mod strings;
mod thread;
mod time;
mod wait;

pub use allocation::AllocationTable;
pub use builder::ProfileBuilder;
pub use category::{Category, CategoryTable, Color, StandardCategory};
pub use counter::{Counter, CounterDisplay, CounterGraph};
pub use flow::{FlowAnchor, FlowMember, FlowPhase, FlowTable};
pub use frame::{Frame, FrameTable, ScriptFrame};
pub use function::{
    Crate, Function, FunctionKind, FunctionTable, NativeSymbol, Resource, ResourceKind, Source, SourceLocation,
};
pub use ids::{
    CategoryId, CrateId, FrameId, FunctionId, Id, LabelSetId, LibraryId, MarkerId, MarkerSchemaId, NativeSymbolId,
    PayloadId, ProcessId, ResourceId, ScriptFrameId, SliceId, SourceId, SourceLocationId, StackId, StringId, ThreadId,
    ValueTypeId,
};
pub use kept::Kept;
pub(crate) use library::file_name;
pub use library::{Library, Mapping, SymbolStatus};
pub use marker::{
    Field, FieldValue, Marker, MarkerField, MarkerGraph, MarkerOrigin, MarkerSchema, MarkerTable, MarkerTiming,
    Payloads,
};
pub use meta::{Machine, Meta, Quality, Spread, TRACE_START, Warning};
pub use process::{ExitStatus, OsId, Process};
pub use sample::{
    CpuDelta, Label, LabelSets, LabelValue, SampleFlags, SampleTable, ValueColumn, ValueType, Values, WeightUnit,
};
pub use script_trace::ScriptTrace;
pub use slice::{Slice, SliceCpu, SliceTable};
pub use stack::StackTable;
pub use strings::StringTable;
pub use thread::{Pause, Thread, ThreadUsage};
pub use time::{Nanos, Time, TimeRange};
pub use wait::{Wait, WaitReason, WaitTable};

/// All tables of a profile. Reached through [`Profile`] (to read) and [`ProfileBuilder`] (to fill).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    /// What the profile is of.
    pub meta: Meta,
    /// Distinct strings.
    pub strings: StringTable,
    /// Categories of frames, slices and markers.
    pub categories: CategoryTable,
    /// Executables and shared libraries.
    pub libraries: Vec<Library>,
    /// Where libraries were mapped, in order of `from`.
    pub mappings: Vec<Mapping>,
    /// What functions are grouped under.
    pub resources: Vec<Resource>,
    /// Source files.
    pub sources: Vec<Source>,
    /// Places in source files that scripts were made from.
    pub source_locations: Vec<SourceLocation>,
    /// What only frames of scripts have.
    pub script_frames: Vec<ScriptFrame>,
    /// Crates.
    pub crates: Vec<Crate>,
    /// Symbols.
    pub native_symbols: Vec<NativeSymbol>,
    /// Functions.
    pub functions: FunctionTable,
    /// Frames.
    pub frames: FrameTable,
    /// Stacks.
    pub stacks: StackTable,
    /// Kinds of further sample values.
    pub value_types: Vec<ValueType>,
    /// Labels of samples.
    pub label_sets: LabelSets,
    /// Schemas of markers.
    pub marker_schemas: Vec<MarkerSchema>,
    /// Data of markers and arguments of slices.
    pub payloads: Payloads,
    /// Processes.
    pub processes: Vec<Process>,
    /// Threads, in the order in which they are shown by default.
    pub threads: Vec<Thread>,
    /// Counters.
    pub counters: Vec<Counter>,
    /// Flows.
    pub flows: FlowTable,
    /// What else the file says, for a format that has a place for it.
    pub kept: Vec<Kept>,
}

/// A profile: checked, and never changed again. Its tables are reached by dereference.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    tables: Tables,
}

impl std::ops::Deref for Profile {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl Profile {
    /// The string of `id`.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// The function of a stack's innermost frame.
    pub fn leaf_function(&self, stack: StackId) -> FunctionId {
        self.frames.function[self.stacks.frame[stack.index()].index()]
    }

    /// For each stack node whether it leads up to the root of its thread: unwinding was not cut short.
    pub fn rooted_stacks(&self) -> Vec<bool> {
        let mut rooted = Vec::with_capacity(self.stacks.len());
        for node in 0..self.stacks.len() {
            rooted.push(match self.stacks.prefix[node] {
                Some(prefix) => rooted[prefix.index()],
                None => {
                    let function = self.frames.function[self.stacks.frame[node].index()];
                    self.functions.kind[function.index()] != FunctionKind::Cut
                }
            });
        }
        rooted
    }

    /// From the first to the last moment that anything is recorded of; `None` when nothing is timed.
    pub fn extent(&self) -> Option<TimeRange> {
        let mut extent: Option<TimeRange> = None;
        let mut include = |start: Time, end: Time| {
            extent = Some(extent.map_or(TimeRange { start, end }, |so_far| TimeRange {
                start: so_far.start.min(start),
                end: so_far.end.max(end),
            }));
        };
        let has_times = self.threads.is_empty() || self.threads.iter().any(|thread| thread.timed);
        if let (Some(start), Some(end), true) = (self.meta.recording_start, self.meta.recording_end, has_times) {
            include(start, end);
        }
        for thread in &self.threads {
            if let (Some(first), Some(last)) = (thread.samples.time.first(), thread.samples.time.last()) {
                // Ranges end before their end, and the last sample is part of the profile.
                include(*first, *last + Nanos(1));
            }
            thread.waits.iter().for_each(|wait| include(wait.start, wait.start + wait.duration));
            for (start, duration) in thread.slices.start.iter().zip(&thread.slices.duration) {
                include(*start, *start + *duration);
            }
            for timing in &thread.markers.timing {
                match *timing {
                    MarkerTiming::Interval(start, end) => include(start, end),
                    MarkerTiming::Instant(time) | MarkerTiming::Start(time) | MarkerTiming::End(time) => {
                        include(time, time);
                    }
                }
            }
        }
        extent
    }
}

//! Threads: the tracks of a profile.

use super::allocation::AllocationTable;
use super::ids::{ProcessId, StringId};
use super::kept::Kept;
use super::marker::MarkerTable;
use super::process::OsId;
use super::sample::{SampleTable, Values, WeightUnit};
use super::script_trace::ScriptTrace;
use super::slice::SliceTable;
use super::time::{Nanos, Time};
use super::wait::WaitTable;

/// A thread and all that was recorded of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Thread {
    /// The process it belongs to.
    pub process: ProcessId,
    /// Its id.
    pub tid: OsId,
    /// What it was called last.
    pub name: StringId,
    /// The names that it had before, each with the moment at which it took the next one.
    pub earlier_names: Vec<(Time, StringId)>,
    /// Whether it is the thread that its process started with.
    pub is_main: bool,
    /// Whether its samples have times. Those of a pprof or collapsed file have none, and none are invented.
    pub timed: bool,
    /// When it started, if known.
    pub start: Option<Time>,
    /// When it ended, if it did within the profile.
    pub end: Option<Time>,
    /// What the kernel accounted to it; `None` when that was not recorded.
    pub usage: Option<ThreadUsage>,
    /// Its samples.
    pub samples: SampleTable,
    /// Its off-CPU spans.
    pub waits: WaitTable,
    /// Its slices.
    pub slices: SliceTable,
    /// Its markers.
    pub markers: MarkerTable,
    /// Its allocations of native memory, as a memory profiler sampled them.
    pub native_allocations: AllocationTable,
    /// Its allocations of script objects.
    pub script_allocations: AllocationTable,
    /// Every call of script functions, where a tracer recorded them.
    pub script_trace: ScriptTrace,
    /// When the recorder was not looking.
    pub paused: Vec<Pause>,
    /// What else its file says of it.
    pub kept: Vec<Kept>,
}

/// A span in which the recorder was paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause {
    /// When it began; `None` before the recording did.
    pub start: Option<Time>,
    /// When it ended; `None` after the recording did.
    pub end: Option<Time>,
    /// Why.
    pub reason: StringId,
}

/// What the kernel accounted to a thread over the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadUsage {
    /// CPU time in all, from the scheduler's clock.
    pub cpu: Nanos,
    /// CPU time in user code, where told apart.
    pub user: Option<Nanos>,
    /// CPU time in the kernel, where told apart.
    pub system: Option<Nanos>,
    /// Time that it could have run but had no CPU.
    pub run_queue_wait: Nanos,
    /// Page faults that were served from memory.
    pub minor_faults: Option<u64>,
    /// Page faults that had to read from a disk.
    pub major_faults: Option<u64>,
    /// Time that the recorder held it, an upper bound.
    pub stopped: Option<Nanos>,
    /// How often it gave up the CPU by itself (to wait). Stops for the recorder do not count.
    pub voluntary_switches: Option<u64>,
    /// How often the CPU was taken from it.
    pub involuntary_switches: Option<u64>,
}

impl Thread {
    /// A thread of which nothing was recorded yet.
    pub fn new(process: ProcessId, tid: OsId, name: StringId) -> Self {
        Self {
            process,
            tid,
            name,
            earlier_names: Vec::new(),
            is_main: false,
            timed: true,
            start: None,
            end: None,
            usage: None,
            samples: SampleTable::default(),
            waits: WaitTable::default(),
            slices: SliceTable::default(),
            markers: MarkerTable::default(),
            native_allocations: AllocationTable::default(),
            script_allocations: AllocationTable::default(),
            script_trace: ScriptTrace::default(),
            paused: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// How many samples a row of its table stands for: in a thread without times rows are sums, and their weights say it.
    pub fn samples_in(&self, row: usize) -> u64 {
        match &self.samples.weight {
            Values::Integer(weights) if !self.timed && self.samples.weight_unit == WeightUnit::Samples => {
                u64::try_from(weights[row]).unwrap_or(1).max(1)
            }
            _ => 1,
        }
    }

    /// Whether the CPU time of any of its samples is known.
    pub fn knows_cpu(&self) -> bool {
        self.samples.cpu.iter().any(|delta| delta.get().is_some())
    }

    /// CPU time of all its samples, `None` when its samples carry none.
    pub fn sampled_cpu(&self) -> Option<Nanos> {
        (!self.samples.cpu.is_empty()).then(|| self.samples.cpu.iter().filter_map(|cpu| cpu.get()).sum())
    }
}

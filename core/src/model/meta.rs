//! What a profile is of, and what its recorder has to say about it.

use super::time::{Nanos, Time};

/// What a profile is of: program, machine, moment, recorder.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Meta {
    /// The name of the profile: usually the program.
    pub name: String,
    /// The command line, the program first.
    pub command_line: Vec<String>,
    /// The moment that [`Time::ZERO`] is, in ns since 1970 (Unix).
    pub start_unix_ns: Option<i64>,
    /// The same moment on CLOCK_MONOTONIC, in ns since boot. Aligns recordings of one machine.
    pub start_monotonic_ns: Option<i64>,
    /// When recording began.
    pub recording_start: Option<Time>,
    /// When recording ended.
    pub recording_end: Option<Time>,
    /// Time between two samples of a running thread.
    pub interval: Option<Nanos>,
    /// The tool that recorded it, with version.
    pub recorder: Option<String>,
    /// The machine.
    pub machine: Machine,
    /// Version of the compiler that built the program, where known.
    pub rustc: Option<String>,
    /// How well the recording went; `None` for files of tools that do not say.
    pub quality: Option<Quality>,
    /// What a person should know about this profile: what is missing, repaired, doubtful.
    pub warnings: Vec<Warning>,
    /// Further facts by name, in order.
    pub extra: Vec<(String, String)>,
}

impl Meta {
    /// The name of a further fact: which of several sample types the file shows first.
    pub const DEFAULT_SAMPLE_TYPE: &str = "default sample type";

    /// The further fact called `name`, the first if there are several.
    pub fn extra_of(&self, name: &str) -> Option<&str> {
        self.extra.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }
}

/// The machine that a profile was recorded on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machine {
    /// Operating system and kernel, for example `Linux 6.18.1`.
    pub os: Option<String>,
    /// Architecture, for example `x86_64`.
    pub arch: Option<String>,
    /// Name of the processor.
    pub cpu_name: Option<String>,
    /// CPUs that the program could run on.
    pub logical_cpus: Option<u32>,
    /// Cores.
    pub physical_cpus: Option<u32>,
    /// Memory in bytes.
    pub memory: Option<u64>,
}

/// How well a recording went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Quality {
    /// Moments at which the recorder meant to look, and did.
    pub ticks: u64,
    /// Moments at which it meant to look, but came too late.
    pub missed_ticks: u64,
    /// Samples that were taken but could not be kept.
    pub lost_samples: u64,
    /// Time that threads were held for their samples, an upper bound.
    pub stopped: Nanos,
    /// CPU time that the recorder itself used.
    pub recorder_cpu: Nanos,
    /// For how long threads were held for one sample each; `None` if that is not known.
    pub stops: Option<Spread>,
    /// How much later than meant the recorder looked; `None` if that is not known.
    pub lateness: Option<Spread>,
}

/// How times are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spread {
    /// Half of them are not longer than this.
    pub median: Nanos,
    /// 99 % of them are not longer than this.
    pub p99: Nanos,
}

/// Something a person should know about a profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// A short stable name, for example `no-debug-info`.
    pub code: String,
    /// What it is, as a sentence.
    pub message: String,
    /// How often it came up.
    pub count: u64,
    /// Where it first came up.
    pub first: Option<String>,
}

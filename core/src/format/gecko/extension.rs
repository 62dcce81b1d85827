//! The key `traceview`: what the format has no place for, as columns of numbers. Times are whole ns, ids are rows of the
//! profile's tables. One structure for both directions, so that a field that is written is a field that is read.

use serde::{Deserialize, Serialize};

use super::number::Exact;

/// The version of this structure. A file with another one is refused.
pub(super) const EXTENSION_VERSION: u32 = 1;

/// What it is called.
pub(super) const FORMAT: &str = "meta.traceview";

/// Corrections to a column: where the file says something else than the model.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Patch<T> {
    pub row: Vec<u32>,
    pub value: Vec<T>,
}

/// `meta.traceview`.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Extension {
    pub version: u32,
    pub rows: Rows,
    pub meta: Meta,
    /// All categories as they are: a file can have 256, and demands some things of them.
    pub categories: Vec<Category>,
    pub symbol_status: Vec<u8>,
    pub mappings: Mappings,
    pub crates: Crates,
    pub functions: Functions,
    pub frames: Frames,
    pub value_types: ValueTypes,
    pub label_sets: LabelSets,
    pub marker_schemas: Vec<MarkerSchema>,
    pub payloads: Payloads,
    pub processes: Vec<Process>,
    pub counters: Vec<Counter>,
    pub flows: Flows,
    /// What is carried along for the format; what has a place in it without its value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
}

/// A value that is carried along.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Kept {
    pub path: String,
    /// `None` if the file has it at that path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
}

/// How many rows of the file's tables are the profile's own; what follows was added by the writer.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rows {
    pub strings: u32,
    pub categories: u32,
    pub functions: u32,
    pub frames: u32,
    pub stacks: u32,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub name: String,
    pub command_line: Vec<String>,
    pub start_unix: Option<i64>,
    pub start_monotonic: Option<i64>,
    pub recording_start: Option<i64>,
    pub recording_end: Option<i64>,
    pub interval: Option<i64>,
    pub recorder: Option<String>,
    pub os: Option<String>,
    pub arch: Option<String>,
    pub cpu_name: Option<String>,
    pub logical_cpus: Option<u32>,
    pub physical_cpus: Option<u32>,
    pub memory: Option<u64>,
    pub rustc: Option<String>,
    pub quality: Option<Quality>,
    pub warnings: Vec<Warning>,
    pub extra: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Quality {
    pub ticks: u64,
    pub missed_ticks: u64,
    pub lost_samples: u64,
    pub stopped: i64,
    pub recorder_cpu: i64,
    /// Median and 99th percentile.
    #[serde(default)]
    pub stops: Option<(i64, i64)>,
    #[serde(default)]
    pub lateness: Option<(i64, i64)>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Warning {
    pub code: String,
    pub message: String,
    pub count: u64,
    pub first: Option<String>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Category {
    pub name: u32,
    pub color: String,
    pub subcategories: Vec<u32>,
}

#[derive(Serialize, Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mappings {
    pub process: Vec<u32>,
    pub library: Vec<u32>,
    pub start: Vec<u64>,
    pub end: Vec<u64>,
    pub file_offset: Vec<u64>,
    /// Missing in the first files that had this key.
    #[serde(default)]
    pub base: Option<Vec<Option<u64>>>,
    pub from: Vec<i64>,
    pub until: Vec<Option<i64>>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Crates {
    pub name: Vec<u32>,
    pub version: Vec<Option<u32>>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Functions {
    /// The file's row of each function, where several functions had to share rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_row: Option<Vec<u32>>,
    pub full_name: Vec<Option<u32>>,
    pub origin: Vec<Option<u32>>,
    pub kind: Vec<u8>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub line: Patch<Option<u32>>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub column: Patch<Option<u32>>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub relevant_for_script: Patch<bool>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub original_location: Patch<Option<u32>>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frames {
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub function: Patch<u32>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub library: Patch<Option<u32>>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub address: Patch<Option<u64>>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub inline_depth: Patch<u16>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub category: Patch<Option<u32>>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub subcategory: Patch<u16>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct ValueTypes {
    pub name: Vec<u32>,
    pub unit: Vec<u32>,
}

/// Label `i` of set `s` is row `first[s] + i` of the other columns.
#[derive(Serialize, Deserialize, Debug, Default)]
pub(super) struct LabelSets {
    pub first: Vec<u32>,
    pub key: Vec<u32>,
    /// The number, or the string's row.
    pub value: Vec<i64>,
    /// −2: the value is a string, −1: a number without unit, else the unit's string.
    pub unit: Vec<i64>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct MarkerSchema {
    pub name: u32,
    pub display: Vec<u32>,
    pub chart_label: Option<u32>,
    pub tooltip_label: Option<u32>,
    pub table_label: Option<u32>,
    pub description: Option<u32>,
    pub color_field: Option<u32>,
    pub stack_based: bool,
    pub fields: Vec<MarkerField>,
    pub graphs: Vec<MarkerGraph>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct MarkerField {
    pub key: u32,
    pub label: Option<u32>,
    pub format: u32,
    pub hidden: bool,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct MarkerGraph {
    pub key: u32,
    pub kind: u32,
    pub color: Option<String>,
}

/// Field `i` of set `s` is row `first[s] + i` of `key`, `kind` and `value`.
#[derive(Serialize, Deserialize, Debug, Default)]
pub(super) struct Payloads {
    pub first: Vec<u32>,
    pub key: Vec<u32>,
    /// One letter a field: `s`tring, `i`nteger, `f`loat, `b`ool, `j`son text.
    pub kind: String,
    /// The string's row, the number, 0 or 1; of a float its row in `float`.
    pub value: Vec<i64>,
    pub float: Vec<Exact>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
    pub pid: OsId,
    pub parent: Option<u32>,
    pub name: u32,
    pub command_line: Vec<u32>,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub exit_code: Option<i32>,
    pub exit_signal: Option<i32>,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub(super) enum OsId {
    Number(i64),
    Text(String),
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counter {
    pub process: u32,
    pub main_thread: Option<u32>,
    pub color: Option<String>,
    /// Whether a row was put before the first, whose change other tools ignore.
    pub lead: bool,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub time: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub delta: Patch<Exact>,
}

/// Member `i` of flow `f` is row `first[f] + i` of the columns behind it.
#[derive(Serialize, Deserialize, Debug, Default)]
pub(super) struct Flows {
    pub name: Vec<u32>,
    pub category: Vec<u32>,
    pub id: Vec<u32>,
    pub first: Vec<u32>,
    pub thread: Vec<u32>,
    pub time: Vec<i64>,
    pub phase: Vec<u8>,
    pub slice: Vec<Option<u32>>,
    pub marker: Vec<Option<u32>>,
}

/// `threads[…].traceview`.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    pub process: u32,
    pub is_main: bool,
    pub timed: bool,
    pub start: Option<i64>,
    pub end: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_names: Vec<(i64, u32)>,
    pub usage: Option<Usage>,
    pub samples: Samples,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<Slices>,
    pub markers: Markers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_allocations: Option<Allocations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_allocations: Option<Allocations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_trace: Option<ScriptTrace>,
    /// Start, end, and the string of the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused: Vec<(Option<i64>, Option<i64>, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
}

/// What the file's own columns of allocations cannot say.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Allocations {
    pub weight_kind: ValueKind,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub time: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub weight: Patch<Exact>,
}

/// What the file's own columns of traced calls cannot say.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScriptTrace {
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub start: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub duration: Patch<Option<i64>>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Usage {
    pub cpu: i64,
    pub user: Option<i64>,
    pub system: Option<i64>,
    pub run_queue_wait: i64,
    pub minor_faults: Option<u64>,
    pub major_faults: Option<u64>,
    #[serde(default)]
    pub stopped: Option<i64>,
    pub voluntary_switches: Option<u64>,
    pub involuntary_switches: Option<u64>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Samples {
    /// Rows that the writer added: starts and ends of waits, ends of running. Ascending.
    pub added: Vec<u32>,
    pub weight_kind: ValueKind,
    /// Whether there is a column of CPU times in which each is unknown.
    pub cpu_unknown: bool,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub time: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub weight: Patch<Exact>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub cpu: Patch<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueColumn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Option<u32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<u8>,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) enum ValueKind {
    Ones,
    Integer,
    Float,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValueColumn {
    pub value_type: u32,
    pub kind: ValueKind,
    /// Whether the file's own column of this name has the values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_file: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub integer: Vec<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub float: Vec<Exact>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Waits {
    pub start: Vec<i64>,
    pub duration: Vec<i64>,
    pub stack: Vec<Option<u32>>,
    pub reason: Vec<u8>,
    pub syscall: Vec<Option<u32>>,
    pub target: Vec<Option<u32>>,
    /// Rows whose stacks were inferred.
    pub inferred: Vec<u32>,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Slices {
    pub start: Vec<i64>,
    pub duration: Vec<i64>,
    pub name: Vec<u32>,
    pub category: Vec<u32>,
    pub parent: Vec<Option<u32>>,
    pub depth: Vec<u32>,
    pub lane: Vec<u32>,
    pub args: Vec<Option<u32>>,
    /// Rows of those whose beginning or end was missing.
    pub incomplete: Vec<u32>,
    /// What the CPU clock said: when each began, and how much it went on. Empty if it is known of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu: Vec<(Option<i64>, Option<i64>)>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Markers {
    /// How many rows are the profile's own; slices follow.
    pub rows: u32,
    pub schema: Vec<Option<u32>>,
    pub payload: Vec<Option<u32>>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub start: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub end: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub category: Patch<u32>,
    /// Whether the markers have a column of origins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub origin: bool,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub cause_time: Patch<i64>,
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub cause_thread: Patch<OsId>,
}

impl<T> Default for Patch<T> {
    fn default() -> Self {
        Self { row: Vec::new(), value: Vec::new() }
    }
}

impl<T> Patch<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// The corrections that turn what the file `says` into what `is`.
    pub(super) fn between(says: impl Iterator<Item = T>, is: impl Iterator<Item = T>) -> Self
    where
        T: PartialEq,
    {
        let mut patch = Self::default();
        for (row, (says, is)) in (0..).zip(says.zip(is)) {
            if says != is {
                patch.push(row, is);
            }
        }
        patch
    }

    pub(super) fn push(&mut self, row: u32, value: T) {
        self.row.push(row);
        self.value.push(value);
    }

    /// The same rows with values of another type.
    pub(super) fn with<U>(&self, value: Vec<U>) -> Patch<U> {
        Patch { row: self.row.clone(), value }
    }
}

//! The structure of raw files, as far as it is read, of all versions at once: what a version lacks is optional here.
//!
//! What few processes have stands in boxes, since a file can have a million processes that are next to empty.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::extension::OsId;
use super::super::number::{Number, Text};
use super::super::schema::MarkerData;
use super::table::{Table, rows};

type Rare<T> = Option<Box<T>>;

/// The process that wrote the file, or with [`ProcessMeta`] one of its children.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile<M> {
    pub meta: M,
    #[serde(default)]
    pub libs: Rare<Libs>,
    pub threads: Vec<ThreadEntry>,
    #[serde(default)]
    pub processes: Vec<Profile<ProcessMeta>>,
    #[serde(default)]
    pub counters: Rare<Vec<Counter>>,
    #[serde(default)]
    pub profiler_overhead: Rare<Overhead>,
    #[serde(default)]
    pub pages: Rare<Vec<Value>>,
    #[serde(default)]
    pub paused_ranges: Rare<Vec<PausedRange>>,
    #[serde(default)]
    pub sources: Rare<Table<Source>>,
    #[serde(default)]
    pub js_tracer_dictionary: Rare<Vec<Text>>,
}

/// The form in which the old DevTools wrapped a profile.
#[derive(Deserialize)]
pub(super) struct Wrapped {
    pub profile: Profile<Meta>,
}

/// Enough of a file to say which version it is, whatever its structure.
#[derive(Deserialize)]
pub(super) struct Head {
    #[serde(default)]
    pub meta: Option<HeadMeta>,
    #[serde(default)]
    pub profile: Option<Box<Head>>,
}

#[derive(Deserialize)]
pub(super) struct HeadMeta {
    #[serde(default)]
    pub version: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProcessMeta {
    pub start_time: f64,
    #[serde(default)]
    pub shutdown_time: Option<f64>,
    #[serde(default)]
    pub marker_schema: Rare<Vec<MarkerSchema>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub version: Number,
    pub start_time: f64,
    #[serde(default)]
    pub shutdown_time: Option<f64>,
    pub interval: f64,
    #[serde(default)]
    pub marker_schema: Option<Vec<MarkerSchema>>,
    #[serde(default)]
    pub categories: Option<Vec<Category>>,
    #[serde(default)]
    pub extensions: Option<Table<Extension>>,
    #[serde(default)]
    pub sample_units: Option<SampleUnits>,
    #[serde(default)]
    pub profiling_start_time: Option<f64>,
    #[serde(default)]
    pub profiling_end_time: Option<f64>,
    #[serde(default)]
    pub start_time_as_clock_monotonic_nanoseconds_since_boot: Option<Number>,
    #[serde(default)]
    pub product: Option<Text>,
    #[serde(default)]
    pub oscpu: Option<Text>,
    #[serde(default)]
    pub abi: Option<Text>,
    #[serde(default, rename = "CPUName")]
    pub cpu_name: Option<Text>,
    #[serde(default, rename = "logicalCPUs")]
    pub logical_cpus: Option<u32>,
    #[serde(default, rename = "physicalCPUs")]
    pub physical_cpus: Option<u32>,
    #[serde(default)]
    pub main_memory: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct SampleUnits {
    #[serde(rename = "threadCPUDelta")]
    pub thread_cpu_delta: String,
}

#[derive(Deserialize)]
pub(super) struct Category {
    pub name: Text,
    pub color: String,
    #[serde(default)]
    pub subcategories: Vec<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MarkerSchema {
    pub name: Text,
    #[serde(default)]
    pub display: Vec<Text>,
    #[serde(default)]
    pub chart_label: Option<Text>,
    #[serde(default)]
    pub tooltip_label: Option<Text>,
    #[serde(default)]
    pub table_label: Option<Text>,
    #[serde(default)]
    pub data: Vec<MarkerField>,
    #[serde(default)]
    pub graphs: Option<Vec<MarkerGraph>>,
    #[serde(default)]
    pub color_field: Option<Text>,
    #[serde(default)]
    pub is_stack_based: Option<bool>,
}

/// A field, or without key a text about the markers.
#[derive(Deserialize)]
pub(super) struct MarkerField {
    #[serde(default)]
    pub key: Option<Text>,
    #[serde(default)]
    pub label: Option<Text>,
    #[serde(default)]
    pub format: Option<Value>,
    #[serde(default)]
    pub hidden: Option<bool>,
    #[serde(default)]
    pub value: Option<Text>,
}

#[derive(Deserialize)]
pub(super) struct MarkerGraph {
    pub key: Text,
    #[serde(rename = "type")]
    pub kind: Text,
    #[serde(default)]
    pub color: Option<String>,
}

/// A library's place in the memory of a process.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lib {
    pub start: u64,
    pub end: u64,
    #[serde(default)]
    pub offset: Option<u64>,
    #[serde(default)]
    pub arch: Option<Text>,
    #[serde(default)]
    pub name: Text,
    #[serde(default)]
    pub path: Option<Text>,
    #[serde(default)]
    pub debug_name: Option<Text>,
    #[serde(default)]
    pub debug_path: Option<Text>,
    #[serde(default)]
    pub breakpad_id: Option<Text>,
    #[serde(default)]
    pub code_id: Option<Text>,
    /// Of Windows, in version 3.
    #[serde(default)]
    pub pdb_name: Option<Text>,
    #[serde(default)]
    pub pdb_signature: Option<Text>,
    #[serde(default)]
    pub pdb_age: Option<Value>,
}

/// In version 3 the list is JSON inside a string.
pub(super) enum Libs {
    List(Vec<Lib>),
    Text(Text),
}

/// Up to version 4 the list of threads has whole profiles of other processes among them, as JSON inside a string.
pub(super) enum ThreadEntry {
    Thread(Box<Thread>),
    Process(Text),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    pub name: Text,
    #[serde(default)]
    pub process_type: Option<Text>,
    #[serde(default)]
    pub process_name: Option<Value>,
    #[serde(default)]
    pub register_time: Option<f64>,
    #[serde(default)]
    pub unregister_time: Option<f64>,
    #[serde(default)]
    pub pid: Option<OsId>,
    #[serde(default)]
    pub tid: Option<OsId>,
    pub samples: Table<Sample>,
    pub stack_table: Table<Stack>,
    pub frame_table: Table<Frame>,
    pub markers: Table<Marker>,
    pub string_table: Vec<Text>,
    #[serde(default)]
    pub js_tracer_events: Rare<JsTracer>,
}

#[derive(Deserialize)]
pub(super) struct JsTracer {
    pub events: Vec<u32>,
    pub timestamps: Vec<f64>,
    pub durations: Vec<Option<f64>>,
    pub line: Vec<Option<u32>>,
    pub column: Vec<Option<u32>>,
}

#[derive(Deserialize)]
pub(super) struct Counter {
    #[serde(default)]
    pub name: Text,
    #[serde(default)]
    pub category: Text,
    #[serde(default)]
    pub description: Text,
    #[serde(default)]
    pub samples: Option<Table<CounterSample>>,
    /// Up to version 28; up to 17 an object instead of a list.
    #[serde(default)]
    pub sample_groups: Option<SampleGroups>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum SampleGroups {
    List(Vec<SampleGroup>),
    One(SampleGroup),
}

#[derive(Deserialize)]
pub(super) struct SampleGroup {
    #[serde(default)]
    pub samples: Option<Table<CounterSample>>,
}

#[derive(Deserialize)]
pub(super) struct Overhead {
    pub samples: Table<OverheadSample>,
    #[serde(default)]
    pub statistics: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PausedRange {
    #[serde(default)]
    pub start_time: Option<f64>,
    #[serde(default)]
    pub end_time: Option<f64>,
    #[serde(default)]
    pub reason: Text,
}

rows! {
    /// A sample.
    Sample {
        stack: Option<u32> = "stack",
        time: Option<f64> = "time",
        event_delay: Option<f64> = "eventDelay",
        responsiveness: Option<f64> = "responsiveness",
        thread_cpu_delta: Option<Number> = "threadCPUDelta",
        argument_values: Option<Number> = "argumentValues",
    }
}

rows! {
    /// A stack: a frame and what called it.
    Stack {
        prefix: Option<u32> = "prefix",
        frame: Option<u32> = "frame",
    }
}

rows! {
    /// A frame: a place in the code, described by a string.
    Frame {
        location: Option<u32> = "location",
        relevant_for_js: Option<bool> = "relevantForJS",
        inner_window_id: Option<u64> = "innerWindowID",
        line: Option<u32> = "line",
        column: Option<u32> = "column",
        category: Option<u32> = "category",
        subcategory: Option<u32> = "subcategory",
    }
}

rows! {
    /// A marker. Up to version 19 it has one time.
    Marker {
        name: Option<u32> = "name",
        time: Option<f64> = "time",
        start_time: Option<f64> = "startTime",
        end_time: Option<f64> = "endTime",
        phase: Option<u8> = "phase",
        category: Option<u32> = "category",
        data: Option<MarkerData> = "data",
    }
}

rows! {
    /// A change of a counter.
    CounterSample {
        time: Option<f64> = "time",
        count: Option<f64> = "count",
        number: Option<Number> = "number",
    }
}

rows! {
    /// What the profiler itself took.
    OverheadSample {
        time: Option<f64> = "time",
        counters: Option<f64> = "counters",
        expired_marker_cleaning: Option<f64> = "expiredMarkerCleaning",
        locking: Option<f64> = "locking",
        threads: Option<f64> = "threads",
    }
}

rows! {
    /// An extension of the browser.
    Extension {
        id: Text = "id",
        name: Text = "name",
        base_url: Text = "baseURL",
    }
}

rows! {
    /// A source file of scripts.
    Source {
        id: Option<Text> = "id",
        /// Its name up to version 34.
        uuid: Option<Text> = "uuid",
        filename: Option<Text> = "filename",
        start_line: Option<u32> = "startLine",
        start_column: Option<u32> = "startColumn",
        source_map_url: Option<Text> = "sourceMapURL",
    }
}

impl<'de> Deserialize<'de> for Libs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;

        impl<'de> Visitor<'de> for Forms {
            type Value = Libs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of libraries, or one as JSON in a string")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Libs, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Libs::List)
            }

            fn visit_str<E>(self, value: &str) -> Result<Libs, E> {
                Ok(Libs::Text(Text(value.to_owned())))
            }
        }

        deserializer.deserialize_any(Forms)
    }
}

impl<'de> Deserialize<'de> for ThreadEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;

        impl<'de> Visitor<'de> for Forms {
            type Value = ThreadEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a thread, or another process as JSON in a string")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ThreadEntry, A::Error> {
                Thread::deserialize(MapAccessDeserializer::new(map)).map(|thread| ThreadEntry::Thread(Box::new(thread)))
            }

            fn visit_str<E>(self, value: &str) -> Result<ThreadEntry, E> {
                Ok(ThreadEntry::Process(Text(value.to_owned())))
            }
        }

        deserializer.deserialize_any(Forms)
    }
}

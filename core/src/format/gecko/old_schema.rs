//! The structure of a version 64 file, as far as it is read. Columns are typed, so that a wrong value is refused with
//! its offset while the file is parsed; lengths and rows are checked afterwards.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::extension;
use super::number::{Number, Text};

#[derive(Deserialize)]
pub(super) struct File {
    pub meta: Meta,
    #[serde(default)]
    pub libs: Vec<Lib>,
    #[serde(default)]
    pub counters: Option<Vec<Counter>>,
    pub threads: Vec<Thread>,
    pub shared: Shared,
}

/// Enough of a file to say which version it is, whatever its structure.
#[derive(Deserialize)]
pub(super) struct Head {
    pub meta: HeadMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeadMeta {
    pub preprocessed_profile_version: Value,
    #[serde(default)]
    pub traceview: Option<HeadExtension>,
}

#[derive(Deserialize)]
pub(super) struct HeadExtension {
    pub version: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub preprocessed_profile_version: Number,
    #[serde(default)]
    pub product: Option<Text>,
    #[serde(default)]
    pub imported_from: Option<Text>,
    #[serde(default)]
    pub arguments: Option<Text>,
    #[serde(default)]
    pub start_time: Option<f64>,
    #[serde(default)]
    pub start_time_as_clock_monotonic_nanoseconds_since_boot: Option<Number>,
    #[serde(default)]
    pub profiling_start_time: Option<f64>,
    #[serde(default)]
    pub profiling_end_time: Option<f64>,
    pub interval: f64,
    #[serde(default)]
    pub sample_units: Option<SampleUnits>,
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
    pub categories: Vec<Category>,
    pub marker_schema: Vec<MarkerSchema>,
    #[serde(default)]
    pub traceview: Option<extension::Extension>,
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
    pub display: Vec<Text>,
    #[serde(default)]
    pub chart_label: Option<Text>,
    #[serde(default)]
    pub tooltip_label: Option<Text>,
    #[serde(default)]
    pub table_label: Option<Text>,
    #[serde(default)]
    pub description: Option<Text>,
    pub fields: Vec<MarkerField>,
    #[serde(default)]
    pub graphs: Option<Vec<MarkerGraph>>,
    #[serde(default)]
    pub color_field: Option<Text>,
    #[serde(default)]
    pub is_stack_based: bool,
}

#[derive(Deserialize)]
pub(super) struct MarkerField {
    pub key: Text,
    #[serde(default)]
    pub label: Option<Text>,
    pub format: Value,
    #[serde(default)]
    pub hidden: bool,
}

#[derive(Deserialize)]
pub(super) struct MarkerGraph {
    pub key: Text,
    #[serde(rename = "type")]
    pub kind: Text,
    #[serde(default)]
    pub color: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lib {
    pub arch: Option<Text>,
    pub name: Text,
    pub path: Text,
    pub debug_name: Text,
    pub debug_path: Text,
    pub breakpad_id: Text,
    #[serde(default)]
    pub code_id: Option<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shared {
    pub stack_table: StackTable,
    pub frame_table: FrameTable,
    pub func_table: FuncTable,
    pub resource_table: ResourceTable,
    pub native_symbols: NativeSymbols,
    pub sources: Sources,
    pub string_array: Vec<Text>,
}

#[derive(Deserialize)]
pub(super) struct StackTable {
    pub frame: Vec<u32>,
    pub prefix: Vec<Option<u32>>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTable {
    pub func: Vec<u32>,
    pub address: Vec<i64>,
    pub inline_depth: Vec<u16>,
    pub category: Vec<Option<u32>>,
    /// Null in files of some tools where there is no category.
    pub subcategory: Vec<Option<u16>>,
    pub native_symbol: Vec<Option<u32>>,
    pub line: Vec<Option<u32>>,
    pub column: Vec<Option<u32>>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FuncTable {
    pub name: Vec<u32>,
    #[serde(rename = "isJS")]
    pub is_js: Vec<bool>,
    pub resource: Vec<i64>,
    pub source: Vec<Option<u32>>,
    pub line_number: Vec<Option<u32>>,
    pub column_number: Vec<Option<u32>>,
    pub length: usize,
}

#[derive(Deserialize)]
pub(super) struct ResourceTable {
    pub lib: Vec<Option<u32>>,
    pub name: Vec<u32>,
    pub host: Vec<Option<u32>>,
    #[serde(rename = "type")]
    pub kind: Vec<u8>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NativeSymbols {
    pub lib_index: Vec<u32>,
    pub address: Vec<u64>,
    pub name: Vec<u32>,
    pub function_size: Vec<Option<u64>>,
    pub length: usize,
}

#[derive(Deserialize)]
pub(super) struct Sources {
    pub filename: Vec<u32>,
    pub id: Vec<Option<Text>>,
    pub content: Vec<Option<Text>>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    pub name: Text,
    #[serde(default)]
    pub process_name: Option<Text>,
    pub pid: extension::OsId,
    pub tid: extension::OsId,
    pub is_main_thread: bool,
    #[serde(default)]
    pub process_startup_time: Option<f64>,
    #[serde(default)]
    pub process_shutdown_time: Option<f64>,
    #[serde(default)]
    pub register_time: Option<f64>,
    #[serde(default)]
    pub unregister_time: Option<f64>,
    pub samples: Samples,
    pub markers: Markers,
    #[serde(default)]
    pub js_allocations: Option<IgnoredAny>,
    #[serde(default)]
    pub native_allocations: Option<IgnoredAny>,
    #[serde(default)]
    pub js_tracer: Option<IgnoredAny>,
    #[serde(default)]
    pub traceview: Option<extension::Thread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Samples {
    pub stack: Vec<Option<u32>>,
    #[serde(default)]
    pub time: Option<Vec<f64>>,
    #[serde(default)]
    pub time_deltas: Option<Vec<f64>>,
    #[serde(default)]
    pub weight: Option<Vec<Number>>,
    #[serde(default)]
    pub weight_type: Option<String>,
    #[serde(default, rename = "threadCPUDelta")]
    pub thread_cpu_delta: Option<Vec<Option<Number>>>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Markers {
    pub data: Vec<Option<MarkerData>>,
    pub name: Vec<u32>,
    pub start_time: Vec<Option<f64>>,
    pub end_time: Vec<Option<f64>>,
    pub phase: Vec<u8>,
    pub category: Vec<u32>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counter {
    pub name: Text,
    pub category: Text,
    pub description: Text,
    pub pid: extension::OsId,
    pub main_thread_index: u32,
    pub samples: CounterSamples,
    pub display: CounterDisplay,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CounterSamples {
    #[serde(default)]
    pub time: Option<Vec<f64>>,
    #[serde(default)]
    pub time_deltas: Option<Vec<f64>>,
    pub count: Vec<f64>,
    #[serde(default)]
    pub number: Option<Vec<i64>>,
    pub length: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CounterDisplay {
    pub graph_type: String,
    pub unit: Text,
    pub color: String,
    pub sort_weight: i64,
    pub label: Text,
}

/// The fields of a marker's data in the order of the file.
pub(super) struct MarkerData(pub Vec<(Text, Value)>);

impl<'de> Deserialize<'de> for MarkerData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = MarkerData;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the data of a marker")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MarkerData, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(MarkerData(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

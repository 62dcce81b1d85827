//! The structure of raw files, as far as it is read, of all versions at once: what a version lacks is optional here.
//! Threads and processes stay text until their turn comes, so that only one at a time is taken apart.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::schema::{Fields, Id, JsTracer, Meta, PausedRange, Payload, Real, Row, Str, Strings, Wide};
use super::table::{Table, rows};

/// The process that wrote the file, or one of its children.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process<'a> {
    #[serde(borrow)]
    pub meta: Meta<'a>,
    /// A list; in version 3 as JSON inside a string.
    #[serde(borrow, default)]
    pub libs: Option<&'a RawValue>,
    /// A list. Up to version 4 whole processes are among them, as JSON inside strings.
    #[serde(borrow)]
    pub threads: &'a RawValue,
    /// A list.
    #[serde(borrow, default)]
    pub processes: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub counters: Option<Vec<Counter<'a>>>,
    #[serde(borrow, default)]
    pub profiler_overhead: Option<Overhead<'a>>,
    #[serde(borrow, default)]
    pub pages: Option<Vec<Fields<'a>>>,
    #[serde(borrow, default)]
    pub paused_ranges: Option<Vec<PausedRange<'a>>>,
    #[serde(borrow, default)]
    pub sources: Option<Table<Source<'a>>>,
    #[serde(borrow, default)]
    pub js_tracer_dictionary: Option<Strings<'a>>,
    #[serde(borrow, default)]
    pub profiling_log: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub profile_gathering_log: Option<&'a RawValue>,
}

/// A library's place in the memory of a process.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lib<'a> {
    pub start: u64,
    pub end: u64,
    #[serde(default)]
    pub offset: Option<u64>,
    #[serde(borrow, default)]
    pub arch: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub path: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub debug_name: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub debug_path: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub breakpad_id: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub code_id: Option<Str<'a>>,
    /// Of Windows, in version 3.
    #[serde(borrow, default)]
    pub pdb_name: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub pdb_signature: Option<Str<'a>>,
    #[serde(borrow, default)]
    pub pdb_age: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread<'a> {
    #[serde(borrow)]
    pub name: Str<'a>,
    #[serde(borrow, default)]
    pub process_type: Option<&'a RawValue>,
    /// Used if it is a string.
    #[serde(borrow, default)]
    pub process_name: Option<&'a RawValue>,
    #[serde(default)]
    pub register_time: Option<f64>,
    #[serde(default)]
    pub unregister_time: Option<f64>,
    #[serde(default)]
    pub pid: Id,
    #[serde(default)]
    pub tid: Id,
    pub samples: Table<Sample>,
    pub stack_table: Table<Stack>,
    pub frame_table: Table<Frame>,
    #[serde(borrow)]
    pub markers: Table<Marker<'a>>,
    #[serde(borrow)]
    pub string_table: Strings<'a>,
    #[serde(borrow, default)]
    pub js_tracer_events: Option<JsTracer<'a>>,
    #[serde(borrow, default, rename = "eTLD+1")]
    pub site: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub is_private_browsing: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub user_context_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub traced_values: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub traced_object_shapes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Counter<'a> {
    #[serde(borrow, default)]
    pub name: Str<'a>,
    #[serde(borrow, default)]
    pub category: Str<'a>,
    #[serde(borrow, default)]
    pub description: Str<'a>,
    #[serde(default)]
    pub samples: Option<Table<CounterSample>>,
    /// Up to version 28; a list, up to 17 an object.
    #[serde(borrow, default)]
    pub sample_groups: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct SampleGroup {
    #[serde(default)]
    pub samples: Option<Table<CounterSample>>,
}

#[derive(Deserialize)]
pub(super) struct Overhead<'a> {
    pub samples: Table<OverheadSample>,
    #[serde(borrow, default)]
    pub statistics: Option<&'a RawValue>,
}

/// The backtrace that a marker's data can have as `stack`: a thread with one sample.
#[derive(Deserialize)]
pub(super) struct Backtrace<'a> {
    #[serde(borrow, default)]
    pub tid: Option<&'a RawValue>,
    pub samples: Table<BacktraceSample>,
}

rows! {
    /// A sample.
    Sample {
        stack: Row = "stack",
        time: Real = "time",
        event_delay: Real = "eventDelay",
        responsiveness: Real = "responsiveness",
        thread_cpu_delta: Real = "threadCPUDelta",
        argument_values: Real = "argumentValues",
    }
}

rows! {
    /// The sample of a backtrace.
    BacktraceSample {
        stack: Row = "stack",
        time: Real = "time",
    }
}

rows! {
    /// A stack: a frame and what called it.
    Stack {
        prefix: Row = "prefix",
        frame: Row = "frame",
    }
}

rows! {
    /// A frame: a place in the code, described by a string.
    Frame {
        location: Row = "location",
        relevant_for_js: Option<bool> = "relevantForJS",
        inner_window_id: Wide = "innerWindowID",
        line: Row = "line",
        column: Row = "column",
        category: Row = "category",
        subcategory: Row = "subcategory",
    }
}

rows! {
    /// A marker. Up to version 19 it has one time. Which row of the table it is is kept.
    Marker<'a> {
        name: Row = "name",
        time: Real = "time",
        start_time: Real = "startTime",
        end_time: Real = "endTime",
        phase: Row = "phase",
        category: Row = "category",
        data: Payload<'a> = "data",
    } besides {
        row: u32,
    }
}

rows! {
    /// A change of a counter.
    CounterSample {
        time: Real = "time",
        count: Real = "count",
        number: Real = "number",
    }
}

rows! {
    /// What the profiler itself took, in microseconds.
    OverheadSample {
        time: Real = "time",
        counters: Real = "counters",
        expired_marker_cleaning: Real = "expiredMarkerCleaning",
        locking: Real = "locking",
        threads: Real = "threads",
    }
}

rows! {
    /// An extension of the browser.
    Extension<'a> {
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        base_url: Str<'a> = "baseURL",
    }
}

rows! {
    /// A source file of scripts.
    Source<'a> {
        id: Option<Str<'a>> = "id",
        uuid: Option<Str<'a>> = "uuid",
        filename: Option<Str<'a>> = "filename",
        start_line: Row = "startLine",
        start_column: Row = "startColumn",
        source_map_url: Option<Str<'a>> = "sourceMapURL",
    }
}

/// The form in which the old DevTools wrapped a profile.
#[derive(Deserialize)]
pub(super) struct Wrapped<'a> {
    #[serde(borrow)]
    pub profile: Process<'a>,
}

/// Enough of a file to say which version it is, whatever its structure.
#[derive(Deserialize)]
pub(super) struct Head {
    #[serde(default)]
    pub meta: Option<HeadMeta>,
    #[serde(default)]
    pub profile: Option<Inner>,
}

#[derive(Deserialize)]
pub(super) struct Inner {
    #[serde(default)]
    pub meta: Option<HeadMeta>,
}

#[derive(Deserialize)]
pub(super) struct HeadMeta {
    #[serde(default)]
    pub version: Value,
}

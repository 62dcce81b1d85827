//! The structure of processed profiles of all versions in one: what any version has is a field here, and what a file does
//! not have stays `None`. Text and kept values are borrowed from the file.
//!
//! Entries of columns take any value (see [`column`]), so that one odd entry does not make a file unreadable; lengths and
//! rows are checked when the tables go into the model. A raw Firefox profile is turned into the same structure.

mod column;
mod list;
mod object;
mod payload;
mod strings;

use serde_json::value::RawValue;

pub(super) use column::{Address, Flag, Numbers, Real, Row, Wide, stored_numbers};
pub(super) use list::List;
pub(super) use object::Id;
use object::object;
pub(super) use payload::{Fields, Payload};
pub(super) use strings::Strings;

pub(super) use crate::format::json_value::Str;

object! {
    /// A file.
    File {
        meta: Option<Meta<'a>> = "meta",
        /// Since version 41; before, each thread has its own.
        libs: Option<List<Lib<'a>>> = "libs",
        counters: Option<List<Counter<'a>>> = "counters",
        /// Missing in a file without any threads only.
        threads: Option<List<Thread<'a>>> = "threads",
        /// Strings since version 56, sources since 58, the other tables since 60.
        shared: Option<Tables<'a>> = "shared",
        /// The documents of a browser.
        pages: Option<List<Fields<'a>>> = "pages",
    }
}

object! {
    Meta {
        /// Missing in version 0.
        preprocessed_profile_version: Option<f64> = "preprocessedProfileVersion",
        product: Option<Str<'a>> = "product",
        imported_from: Option<Str<'a>> = "importedFrom",
        arguments: Option<Str<'a>> = "arguments",
        start_time: Option<f64> = "startTime",
        start_monotonic: Option<f64> = "startTimeAsClockMonotonicNanosecondsSinceBoot",
        profiling_start_time: Option<f64> = "profilingStartTime",
        profiling_end_time: Option<f64> = "profilingEndTime",
        interval: Option<f64> = "interval",
        sample_units: Option<SampleUnits<'a>> = "sampleUnits",
        oscpu: Option<Str<'a>> = "oscpu",
        abi: Option<Str<'a>> = "abi",
        cpu_name: Option<Str<'a>> = "CPUName",
        logical_cpus: Option<Wide> = "logicalCPUs",
        physical_cpus: Option<Wide> = "physicalCPUs",
        main_memory: Option<Wide> = "mainMemory",
        categories: Option<List<Category<'a>>> = "categories",
        /// Since version 33.
        marker_schema: Option<List<MarkerSchema<'a>>> = "markerSchema",
        /// Our own key, parsed when it is known to hold for the file.
        traceview: Option<&'a RawValue> = "traceview",
    }
}

object! {
    SampleUnits {
        time: Option<Str<'a>> = "time",
        event_delay: Option<Str<'a>> = "eventDelay",
        thread_cpu_delta: Option<Str<'a>> = "threadCPUDelta",
    }
}

object! {
    Category {
        name: Option<Str<'a>> = "name",
        color: Option<Str<'a>> = "color",
        /// Since version 23.
        subcategories: Option<Strings<'a>> = "subcategories",
    }
}

object! {
    MarkerSchema {
        name: Option<Str<'a>> = "name",
        display: Option<Strings<'a>> = "display",
        chart_label: Option<Str<'a>> = "chartLabel",
        tooltip_label: Option<Str<'a>> = "tooltipLabel",
        table_label: Option<Str<'a>> = "tableLabel",
        description: Option<Str<'a>> = "description",
        /// Called `data` before version 55.
        fields: Option<Vec<MarkerField<'a>>> = "fields",
        data: Option<Vec<MarkerField<'a>>> = "data",
        graphs: Option<Vec<MarkerGraph<'a>>> = "graphs",
        color_field: Option<Str<'a>> = "colorField",
        is_stack_based: Option<Flag> = "isStackBased",
    }
}

object! {
    MarkerField {
        /// Missing in the static fields that schemas had before version 55.
        key: Option<Str<'a>> = "key",
        label: Option<Str<'a>> = "label",
        /// A name, or an object for tables.
        format: Option<&'a RawValue> = "format",
        hidden: Option<Flag> = "hidden",
        /// The text of a static field.
        value: Option<Str<'a>> = "value",
        /// Versions 44 to 56; means nothing any more.
        searchable: Option<&'a RawValue> = "searchable",
    }
}

object! {
    MarkerGraph {
        key: Option<Str<'a>> = "key",
        kind: Option<Str<'a>> = "type",
        color: Option<Str<'a>> = "color",
    }
}

object! {
    Lib {
        arch: Option<Str<'a>> = "arch",
        name: Option<Str<'a>> = "name",
        path: Option<Str<'a>> = "path",
        debug_name: Option<Str<'a>> = "debugName",
        debug_path: Option<Str<'a>> = "debugPath",
        breakpad_id: Option<Str<'a>> = "breakpadId",
        code_id: Option<Str<'a>> = "codeId",
        /// Versions 0 and 1, in place of `debugName`; `name` is the path there.
        pdb_name: Option<Str<'a>> = "pdbName",
        /// Where it was mapped; before version 41.
        start: Option<Wide> = "start",
        end: Option<Wide> = "end",
        offset: Option<Wide> = "offset",
    }
}

object! {
    /// The tables of code: the shared ones, or a thread's own.
    Tables {
        string_array: Option<Strings<'a>> = "stringArray",
        stack_table: Option<StackTable<'a>> = "stackTable",
        frame_table: Option<FrameTable<'a>> = "frameTable",
        func_table: Option<FuncTable<'a>> = "funcTable",
        resource_table: Option<ResourceTable<'a>> = "resourceTable",
        native_symbols: Option<NativeSymbols<'a>> = "nativeSymbols",
        sources: Option<Sources<'a>> = "sources",
        source_locations: Option<SourceLocations<'a>> = "sourceLocationTable",
    }
}

object! {
    StackTable {
        frame: Option<Vec<Row>> = "frame",
        prefix: Option<Vec<Row>> = "prefix",
        /// In place of `prefix` since version 66: 0 at a root, else how many rows before this one the caller stands.
        prefix_offset: Option<Vec<Row>> = "prefixOffset",
        /// Versions 13 to 52.
        category: Option<Vec<Row>> = "category",
        /// Versions 23 to 52.
        subcategory: Option<Vec<Row>> = "subcategory",
        length: Option<Wide> = "length",
    }
}

object! {
    FrameTable {
        func: Option<Vec<Row>> = "func",
        address: Option<Vec<Address>> = "address",
        /// Since version 70; before, it is that of the function's resource.
        lib: Option<Vec<Row>> = "lib",
        /// Since version 40.
        inline_depth: Option<Vec<Row>> = "inlineDepth",
        category: Option<Vec<Row>> = "category",
        /// Since version 23.
        subcategory: Option<Vec<Row>> = "subcategory",
        /// Since version 36.
        native_symbol: Option<Vec<Row>> = "nativeSymbol",
        /// Since version 27.
        inner_window_id: Option<Vec<Wide>> = "innerWindowID",
        line: Option<Vec<Row>> = "line",
        /// Since version 15.
        column: Option<Vec<Row>> = "column",
        /// Since version 64.
        original_location: Option<Vec<Row>> = "originalLocation",
        /// Strings; before version 54.
        implementation: Option<Vec<Row>> = "implementation",
        /// Before version 45; never of use.
        optimizations: Option<&'a RawValue> = "optimizations",
        length: Option<Wide> = "length",
    }
}

object! {
    FuncTable {
        name: Option<Vec<Row>> = "name",
        is_js: Option<Vec<Flag>> = "isJS",
        /// Since version 17.
        relevant_for_js: Option<Vec<Flag>> = "relevantForJS",
        resource: Option<Vec<Row>> = "resource",
        /// Since version 58.
        source: Option<Vec<Row>> = "source",
        /// Strings; versions 4 to 57.
        file_name: Option<Vec<Row>> = "fileName",
        /// Since version 4.
        line_number: Option<Vec<Row>> = "lineNumber",
        /// Since version 18.
        column_number: Option<Vec<Row>> = "columnNumber",
        /// Since version 64.
        original_location: Option<Vec<Row>> = "originalLocation",
        /// Before version 36, where the function's symbol begins.
        address: Option<Vec<Address>> = "address",
        length: Option<Wide> = "length",
    }
}

object! {
    ResourceTable {
        kind: Option<Vec<Row>> = "type",
        name: Option<Vec<Row>> = "name",
        /// Before version 70.
        lib: Option<Vec<Row>> = "lib",
        host: Option<Vec<Row>> = "host",
        /// Never filled.
        icon: Option<&'a RawValue> = "icon",
        addon_id: Option<&'a RawValue> = "addonId",
        length: Option<Wide> = "length",
    }
}

object! {
    NativeSymbols {
        lib_index: Option<Vec<Row>> = "libIndex",
        /// Null where an old profile did not know it.
        address: Option<Vec<Wide>> = "address",
        name: Option<Vec<Row>> = "name",
        /// Since version 42.
        function_size: Option<Vec<Wide>> = "functionSize",
        length: Option<Wide> = "length",
    }
}

object! {
    Sources {
        filename: Option<Vec<Row>> = "filename",
        /// Called `uuid` before version 61.
        id: Option<Strings<'a>> = "id",
        uuid: Option<Strings<'a>> = "uuid",
        start_line: Option<Vec<Row>> = "startLine",
        start_column: Option<Vec<Row>> = "startColumn",
        /// Strings.
        source_map_url: Option<Vec<Row>> = "sourceMapURL",
        /// Since version 64.
        content: Option<Strings<'a>> = "content",
        length: Option<Wide> = "length",
    }
}

object! {
    SourceLocations {
        source: Option<Vec<Row>> = "source",
        line: Option<Vec<Row>> = "line",
        column: Option<Vec<Row>> = "column",
        length: Option<Wide> = "length",
    }
}

object! {
    Thread {
        name: Option<Str<'a>> = "name",
        process_name: Option<Str<'a>> = "processName",
        /// Since version 14; a string since 47.
        pid: Id = "pid",
        tid: Id = "tid",
        /// Since version 1; `default` for the process that all others were started by, `tab`, `plugin`, …
        process_type: Option<&'a RawValue> = "processType",
        /// Since version 46.
        is_main_thread: Option<Flag> = "isMainThread",
        process_startup_time: Option<f64> = "processStartupTime",
        process_shutdown_time: Option<f64> = "processShutdownTime",
        register_time: Option<f64> = "registerTime",
        unregister_time: Option<f64> = "unregisterTime",
        paused_ranges: Option<Vec<PausedRange<'a>>> = "pausedRanges",
        samples: Option<Samples<'a>> = "samples",
        markers: Option<Markers<'a>> = "markers",
        js_allocations: Option<Allocations<'a>> = "jsAllocations",
        native_allocations: Option<Allocations<'a>> = "nativeAllocations",
        js_tracer: Option<JsTracer<'a>> = "jsTracer",
        traceview: Option<&'a RawValue> = "traceview",
        /// Before version 41.
        libs: Option<Vec<Lib<'a>>> = "libs",
        /// The tables that are shared in later versions.
        string_array: Option<Strings<'a>> = "stringArray",
        stack_table: Option<StackTable<'a>> = "stackTable",
        frame_table: Option<FrameTable<'a>> = "frameTable",
        func_table: Option<FuncTable<'a>> = "funcTable",
        resource_table: Option<ResourceTable<'a>> = "resourceTable",
        native_symbols: Option<NativeSymbols<'a>> = "nativeSymbols",
    }
}

object! {
    PausedRange {
        start_time: Option<f64> = "startTime",
        end_time: Option<f64> = "endTime",
        reason: Option<Str<'a>> = "reason",
    }
}

object! {
    Samples {
        stack: Option<Vec<Row>> = "stack",
        time: Option<Vec<Real>> = "time",
        /// Since version 50, in place of `time`.
        time_deltas: Option<Vec<Real>> = "timeDeltas",
        weight: Option<Numbers> = "weight",
        /// Before version 29, in place of `weight`.
        duration: Option<Numbers> = "duration",
        weight_type: Option<Str<'a>> = "weightType",
        thread_cpu_delta: Option<Numbers> = "threadCPUDelta",
        /// Milliseconds until the thread would have handled an event.
        event_delay: Option<Numbers> = "eventDelay",
        /// The same by an older way of measuring.
        responsiveness: Option<Numbers> = "responsiveness",
        /// Memory in bytes; before version 20.
        rss: Option<Numbers> = "rss",
        uss: Option<Numbers> = "uss",
        /// Before version 5.
        frame_number: Option<Numbers> = "frameNumber",
        /// Where a function's arguments stand in `tracedValuesBuffer`.
        argument_values: Option<Numbers> = "argumentValues",
        length: Option<Wide> = "length",
    }
}

object! {
    Markers {
        data: Option<Vec<Payload<'a>>> = "data",
        name: Option<Vec<Row>> = "name",
        /// Before version 30, where the payload tells the rest.
        time: Option<Vec<Real>> = "time",
        start_time: Option<Vec<Real>> = "startTime",
        end_time: Option<Vec<Real>> = "endTime",
        phase: Option<Vec<Row>> = "phase",
        /// Since version 24.
        category: Option<Vec<Row>> = "category",
        /// The thread that a marker is about, where it is another one.
        thread_id: Option<Vec<Id>> = "threadId",
        length: Option<Wide> = "length",
    }
}

object! {
    /// Where a marker comes from: `data[…].cause`.
    Cause {
        time: Option<f64> = "time",
        stack: Row = "stack",
        tid: Id = "tid",
    }
}

object! {
    /// Allocations of JavaScript or native memory.
    Allocations {
        time: Option<Vec<Real>> = "time",
        /// Bytes; negative when freed.
        weight: Option<Numbers> = "weight",
        /// Before version 29, in place of `weight`.
        duration: Option<Numbers> = "duration",
        weight_type: Option<Str<'a>> = "weightType",
        stack: Option<Vec<Row>> = "stack",
        /// Of native allocations that are balanced.
        memory_address: Option<Vec<Wide>> = "memoryAddress",
        thread_id: Option<Vec<Wide>> = "threadId",
        /// Of allocations of JavaScript.
        class_name: Option<Strings<'a>> = "className",
        type_name: Option<Strings<'a>> = "typeName",
        coarse_type: Option<Strings<'a>> = "coarseType",
        in_nursery: Option<Vec<Flag>> = "inNursery",
        length: Option<Wide> = "length",
    }
}

object! {
    /// Events of the JavaScript tracer, in microseconds.
    JsTracer {
        /// Strings.
        events: Option<Vec<Row>> = "events",
        timestamps: Option<Vec<Real>> = "timestamps",
        durations: Option<Vec<Real>> = "durations",
        line: Option<Vec<Row>> = "line",
        column: Option<Vec<Row>> = "column",
        length: Option<Wide> = "length",
    }
}

object! {
    Counter {
        name: Option<Str<'a>> = "name",
        category: Option<Str<'a>> = "category",
        description: Option<Str<'a>> = "description",
        pid: Id = "pid",
        main_thread_index: Row = "mainThreadIndex",
        samples: Option<CounterSamples<'a>> = "samples",
        /// Before version 48: one object or (since 26) a list of them.
        sample_groups: Option<&'a RawValue> = "sampleGroups",
        /// Since version 62.
        display: Option<CounterDisplay<'a>> = "display",
    }
}

object! {
    SampleGroup {
        samples: Option<CounterSamples<'a>> = "samples",
        id: Option<&'a RawValue> = "id",
    }
}

object! {
    CounterSamples {
        time: Option<Vec<Real>> = "time",
        time_deltas: Option<Vec<Real>> = "timeDeltas",
        count: Option<Vec<Real>> = "count",
        number: Option<Numbers> = "number",
        length: Option<Wide> = "length",
    }
}

object! {
    CounterDisplay {
        graph_type: Option<Str<'a>> = "graphType",
        unit: Option<Str<'a>> = "unit",
        color: Option<Str<'a>> = "color",
        marker_schema_location: Option<Str<'a>> = "markerSchemaLocation",
        sort_weight: Option<&'a RawValue> = "sortWeight",
        label: Option<Str<'a>> = "label",
        /// Since version 63.
        tooltip_rows: Option<&'a RawValue> = "tooltipRows",
    }
}

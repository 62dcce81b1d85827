//! A profile in which every table of the model is filled and every optional value is there once and missing once.

use traceview_core::model::{
    AllocationTable, Category, Color, Counter, CounterDisplay, CounterGraph, CpuDelta, Crate, ExitStatus, Field,
    FieldValue, FlowAnchor, FlowMember, FlowPhase, Frame, FrameId, Function, FunctionKind, Kept, Label, LabelValue,
    Library, LibraryId, Machine, Mapping, Marker, MarkerField, MarkerGraph, MarkerId, MarkerOrigin, MarkerSchema,
    MarkerTiming, Meta, Nanos, NativeSymbol, OsId, Pause, Process, ProcessId, Profile, ProfileBuilder, Quality,
    Resource, ResourceKind, SampleFlags, ScriptFrame, ScriptTrace, Slice, SliceId, Source, SourceLocation, Spread,
    StackId, StandardCategory, SymbolStatus, Thread, ThreadId, ThreadUsage, Time, ValueColumn, ValueType, Values, Wait,
    WaitReason, Warning, WeightUnit,
};

/// See the module.
pub fn rich_profile() -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let (name, inlined) = (builder.string("Custom"), builder.string("Inlined"));
    let other = builder.string("Other");
    let custom = Category { name, color: Color::Purple, subcategories: vec![other, inlined] };
    builder.add_category(custom);
    *builder.meta_mut() = meta();
    let stacks = code(&mut builder);
    let [parent, child] = processes(&mut builder);
    let threads = threads(&mut builder, parent, child, &stacks);
    counters(&mut builder, parent, child, threads[0]);
    flows(&mut builder, &threads);
    builder.finish().expect("the rules of the model are kept")
}

fn meta() -> Meta {
    Meta {
        name: "demo \"quoted\"".to_owned(),
        command_line: vec!["target/demo".to_owned(), "--flag".to_owned(), "a b".to_owned()],
        start_unix_ns: Some(1_780_000_000_123_456_789),
        start_monotonic_ns: Some(987_654_321_012_345),
        recording_start: Some(Time(1_000)),
        recording_end: Some(Time(60_000_001)),
        interval: Some(Nanos(1_000_000)),
        recorder: Some("cargo-traceview 0.1.0".to_owned()),
        machine: Machine {
            os: Some("Linux 6.18.1".to_owned()),
            arch: Some("x86_64".to_owned()),
            cpu_name: Some("A CPU".to_owned()),
            logical_cpus: Some(8),
            physical_cpus: Some(4),
            memory: Some(16 << 30),
        },
        rustc: Some("rustc 1.95.0".to_owned()),
        quality: Some(Quality {
            ticks: 60,
            missed_ticks: 2,
            lost_samples: 1,
            stopped: Nanos(1_234_567),
            recorder_cpu: Nanos(7_654_321),
            stops: Some(Spread { median: Nanos(17_000), p99: Nanos(90_000) }),
            lateness: None,
        }),
        warnings: vec![
            Warning {
                code: "no-debug-info".to_owned(),
                message: "a library has no debug information".to_owned(),
                count: 3,
                first: Some("libc.so.6".to_owned()),
            },
            Warning { code: "lost".to_owned(), message: "samples were lost".to_owned(), count: 1, first: None },
        ],
        extra: vec![("RUSTFLAGS".to_owned(), "-C target-cpu=native".to_owned())],
    }
}

/// Libraries, functions, frames; gives some stacks.
fn code(builder: &mut ProfileBuilder) -> Vec<StackId> {
    let app = library(builder, "demo", Some("0123456789abcdef0123456789abcdef01234567"), SymbolStatus::DebugInfo);
    let libc = library(builder, "libc.so.6", None, SymbolStatus::Stripped);
    for (library, start, until) in [(app, 0x5555_5555_4000, None), (libc, 0x7fff_f7dd_0000, Some(Time(5)))] {
        let process = ProcessId::new(0);
        let end = start + 0x1000;
        let base = until.is_none().then_some(start - 0x1000);
        builder.add_mapping(Mapping { process, library, start, end, file_offset: 0x2000, base, from: Time(-7), until });
    }
    let [app_name, libc_name, host] = ["demo", "libc.so.6", "example"].map(|name| builder.string(name));
    let of_library = |name, library| Resource { name, kind: ResourceKind::Library, library: Some(library), host: None };
    let app_resource = builder.resource(of_library(app_name, app));
    let libc_resource = builder.resource(of_library(libc_name, libc));
    builder.resource(Resource { name: host, kind: ResourceKind::WebHost, library: None, host: Some(host) });
    let [path, id, content] =
        ["src/main.rs", "abc123", "fn main() {\n    \"🦀\";\n}\n"].map(|text| builder.string(text));
    let source = builder.source(Source { id: Some(id), content: Some(content), ..Source::at(path) });
    let bare_source = builder.source(Source { start_line: 7, start_column: 3, map_url: Some(path), ..Source::at(id) });
    let original = SourceLocation { source, line: Some(12), column: None };
    let original = builder.source_location(original);
    builder.source_location(SourceLocation { source: bare_source, line: None, column: Some(1) });
    let [crate_name, version] = ["demo", "0.1.0"].map(|text| builder.string(text));
    let origin = builder.add_crate(Crate { name: crate_name, version: Some(version) });
    builder.add_crate(Crate { name: libc_name, version: None });
    let [main, generic, full_a, full_b, read, unknown, cut, unsampled, script] = [
        "main",
        "demo::Vec<T>::push",
        "demo::Vec<u8>::push",
        "demo::Vec<u16>::push",
        "[kernel] read",
        "libc.so.6+0x1234",
        "[stack cut: too deep]",
        "[not sampled]",
        "script",
    ]
    .map(|name| builder.string(name));
    let symbol = builder.native_symbol(NativeSymbol { library: app, address: 0x1000, name: main, size: Some(0x200) });
    builder.native_symbol(NativeSymbol { library: libc, address: u64::MAX, name: unknown, size: None });
    let ours = Function {
        resource: Some(app_resource),
        source: Some(source),
        line: Some(3),
        column: Some(4),
        origin: Some(origin),
        ..Function::named(main)
    };
    let main_function = builder.function(ours);
    // Two instances of one generic function: one row to other tools.
    let instance = Function { name: generic, full_name: Some(full_a), line: Some(9), ..ours };
    let push_a = builder.function(instance);
    let push_b = Function { full_name: Some(full_b), column: None, relevant_for_script: true, ..instance };
    let push_b = builder.function(Function { original_location: Some(original), ..push_b });
    let of_libc = Function { resource: Some(libc_resource), source: Some(bare_source), ..Function::named(unknown) };
    let unknown = builder.function(Function { kind: FunctionKind::Unsymbolized, ..of_libc });
    let [kernel, cut, unsampled, script] = [
        (read, FunctionKind::Kernel),
        (cut, FunctionKind::Cut),
        (unsampled, FunctionKind::Unsampled),
        (script, FunctionKind::Script),
    ]
    .map(|(name, kind)| builder.function(Function { kind, ..Function::named(name) }));

    let at = |function, address| Frame { library: Some(app), address: Some(address), ..Frame::of(function) };
    let in_main = Frame {
        category: Some(StandardCategory::Workspace.id()),
        native_symbol: Some(symbol),
        line: Some(5),
        column: Some(6),
        ..at(main_function, 0x1010)
    };
    let custom = traceview_core::model::CategoryId::new(StandardCategory::ALL.len());
    let inlined = |function| Frame { function, inline_depth: 1, category: Some(custom), subcategory: 1, ..in_main };
    let mut frame = |row| builder.frame(row);
    let main_frame = frame(in_main);
    let [inlined_a, inlined_b] = [push_a, push_b].map(|function| frame(inlined(function)));
    let of_libc = frame(Frame { library: Some(libc), address: Some(0x1234), ..Frame::of(unknown) });
    // A library that is not its function's, and an address that no 31 bits hold.
    let far = frame(Frame { library: Some(libc), address: Some(0x7fff_f7dd_1234), ..Frame::of(main_function) });
    let [kernel, cut, unsampled, script] = [kernel, cut, unsampled, script].map(|function| {
        let row = Frame { category: Some(StandardCategory::Kernel.id()), ..Frame::of(function) };
        frame(row)
    });
    let in_document = ScriptFrame { inner_window: 21_474_836_485, original_location: Some(original) };
    let in_document = builder.script_frame(in_document);
    let script = builder.frame(Frame { script: Some(in_document), ..builder.tables().frames.get(script) });
    let paths: [&[FrameId]; 8] = [
        &[main_frame],
        &[main_frame, inlined_a],
        &[main_frame, inlined_b],
        &[main_frame, inlined_b, of_libc],
        &[main_frame, of_libc, kernel],
        &[cut, far],
        &[unsampled],
        &[script],
    ];
    paths.map(|path| stack(builder, path)).into()
}

fn stack(builder: &mut ProfileBuilder, frames: &[FrameId]) -> StackId {
    let node = frames.iter().fold(None, |prefix, frame| Some(builder.stack(prefix, *frame)));
    node.expect("a stack has a frame")
}

fn library(builder: &mut ProfileBuilder, name: &str, code_id: Option<&str>, symbols: SymbolStatus) -> LibraryId {
    let path = format!("/usr/lib/{name}");
    let library = Library {
        name: builder.string(name),
        path: builder.string(&path),
        debug_name: builder.string(&format!("{name}.debug")),
        debug_path: builder.string(&format!("{path}.debug")),
        code_id: code_id.map(|id| builder.string(id)),
        breakpad_id: builder.string(code_id.map_or("", |_| "67452301AB89EFCD0123456789ABCDEF0")),
        arch: builder.string("x86_64"),
        symbols,
    };
    builder.add_library(library)
}

/// A process and its child, which was given the pid of its parent again.
fn processes(builder: &mut ProfileBuilder) -> [ProcessId; 2] {
    let [name, argument] = ["demo", "--flag"].map(|text| builder.string(text));
    let parent = builder.add_process(Process {
        pid: OsId::Number(4_242),
        parent: None,
        name,
        command_line: vec![name, argument],
        start: Some(Time(-500)),
        end: None,
        exit: Some(ExitStatus::Signal(11)),
    });
    let child = builder.add_process(Process {
        pid: OsId::Text("4242".into()),
        parent: Some(parent),
        name: argument,
        command_line: Vec::new(),
        start: None,
        end: Some(Time(70_000_000)),
        exit: Some(ExitStatus::Code(-1)),
    });
    [parent, child]
}

fn threads(builder: &mut ProfileBuilder, parent: ProcessId, child: ProcessId, stacks: &[StackId]) -> Vec<ThreadId> {
    let [main, worker, early] = ["demo", "worker", "rayon 0"].map(|name| builder.string(name));
    let mut first = Thread::new(parent, OsId::Number(4_242), main);
    first.is_main = true;
    first.start = Some(Time(-100));
    first.usage = Some(ThreadUsage {
        cpu: Nanos(5_000_001),
        user: Some(Nanos(4_000_000)),
        system: None,
        run_queue_wait: Nanos(77),
        minor_faults: Some(12),
        major_faults: None,
        stopped: Some(Nanos(123_456)),
        voluntary_switches: Some(2),
        involuntary_switches: Some(0),
    });
    sampled(builder, &mut first, stacks);
    waits(builder, &mut first, stacks);
    // A second thread that says it is the main one.
    let mut second = Thread::new(parent, OsId::Text("worker#1".into()), worker);
    second.is_main = true;
    second.end = Some(Time(50_000_000));
    second.earlier_names = vec![(Time(3), early), (Time(9), main)];
    second.samples.time = vec![Time(1), Time(40_000_000)];
    second.samples.stack = vec![Some(stacks[0]), Some(stacks[5])];
    second.samples.weight = Values::Float(vec![0.1, -2.5]);
    second.samples.weight_unit = WeightUnit::TracingMs;
    second.samples.cpu = vec![CpuDelta::UNKNOWN; 2];
    slices(builder, &mut second);
    markers(builder, &mut second, stacks);
    of_browsers(builder, &mut second, stacks);
    // No thread of this process says that it is the main one; its samples have no times.
    let mut third = Thread::new(child, OsId::Number(9), early);
    third.timed = false;
    third.samples.stack = vec![Some(stacks[6]), None, Some(stacks[7])];
    third.samples.weight = Values::Integer(vec![5, -1, i64::MAX]);
    third.samples.weight_unit = WeightUnit::Bytes;
    let empty = Thread::new(child, OsId::Number(10), worker);
    [first, second, third, empty].map(|thread| builder.add_thread(thread)).into()
}

/// What only profiles of browsers have.
fn of_browsers(builder: &mut ProfileBuilder, thread: &mut Thread, stacks: &[StackId]) {
    let [delay, unit, call, reason] = ["eventDelay", "ms", "call", "collecting"].map(|text| builder.string(text));
    let value_type = builder.value_type(ValueType { name: delay, unit });
    thread.samples.values = vec![
        ValueColumn { value_type, values: Values::Float(vec![f64::NAN, 0.25]) },
        ValueColumn { value_type, values: Values::Integer(vec![7, -1]) },
    ];
    thread.native_allocations = AllocationTable {
        time: vec![Time(-3), Time(1 << 60)],
        weight: Values::Integer(vec![4_096, -4_096]),
        weight_unit: WeightUnit::Bytes,
        stack: vec![Some(stacks[0]), None],
        address: vec![Some(u64::MAX), None],
        thread: vec![Some(9), None],
        ..AllocationTable::default()
    };
    thread.script_allocations = AllocationTable {
        time: vec![Time(5)],
        weight: Values::Float(vec![f64::INFINITY]),
        stack: vec![Some(stacks[7])],
        class: vec![Some(call)],
        type_name: vec![None],
        coarse_type: vec![Some(unit)],
        in_nursery: vec![true],
        ..AllocationTable::default()
    };
    thread.script_trace = ScriptTrace {
        name: vec![call, delay],
        start: vec![Time(1_001), Time(i64::MIN)],
        duration: vec![Some(Nanos(3)), None],
        line: vec![None, Some(4)],
        column: vec![Some(1), None],
    };
    thread.paused = vec![
        Pause { start: None, end: Some(Time(4)), reason },
        Pause { start: Some(Time(1 << 60)), end: None, reason: call },
    ];
    let last = MarkerOrigin {
        thread: Some(OsId::Number(7)),
        cause_time: Some(Time(i64::MAX)),
        cause_thread: Some(OsId::Text("worker#2".into())),
    };
    thread.markers.set_last_origin(last);
    thread.markers.origin[0].cause_time = Some(Time(3));
    let kept = |path: &str, json: &str| Kept { path: path.into(), json: json.into() };
    thread.kept = vec![
        kept("eTLD+1", "\"example.com\""),
        kept("tracedObjectShapes", "[[\"a\"],null]"),
        kept("samples.more", "[1,2]"),
        kept("markers.more", "{}"),
        kept("name", "\"has a place of another kind\""),
        kept("broken", "[1,"),
    ];
    for (path, json) in [
        ("pages", "[{\"tabID\":1}]"),
        ("profilingLog", "{\"a b\":[1.5]}"),
        ("meta.extensions", "{\"length\":0}"),
        ("meta.product", "\"another\""),
        (
            "counters[0].display.tooltipRows",
            r#"[{"type":"value","source":"count","format":{"unit":"number"},"label":"at this time"}]"#,
        ),
        ("counters[0].display.markerSchemaLocation", "\"timeline-memory\""),
        ("meta.spaced", "[ 1 ]"),
        ("profilingLog", "\"twice\""),
    ] {
        builder.keep(path, json);
    }
}

fn sampled(builder: &mut ProfileBuilder, thread: &mut Thread, stacks: &[StackId]) {
    let [alloc, bytes, key, text, unit] =
        ["alloc_space", "bytes", "request", "GET /", "ms"].map(|text| builder.string(text));
    let value_type = builder.value_type(ValueType { name: alloc, unit: bytes });
    let float_type = builder.value_type(ValueType { name: key, unit });
    let label = |value| Label { key, value };
    let labels = vec![label(LabelValue::Text(text)), label(LabelValue::Number(-3, None))];
    let labels = builder.label_set(labels);
    let numbers = builder.label_set(vec![label(LabelValue::Number(i64::MIN, Some(unit)))]);
    let samples = &mut thread.samples;
    samples.time = [1_000_000, 2_000_001, 3_123_456, 30_000_000, 31_000_000, 59_000_000].map(Time).into();
    samples.stack = vec![Some(stacks[1]), Some(stacks[2]), Some(stacks[3]), Some(stacks[4]), None, Some(stacks[1])];
    samples.cpu = [0, 999_999, 1_000_000, -5, 1_000_000].map(|ns| CpuDelta::new(Nanos(ns))).into();
    samples.cpu.push(CpuDelta::UNKNOWN);
    samples.values = vec![
        ValueColumn { value_type, values: Values::Integer(vec![1, 2, 3, i64::MIN, 5, 6]) },
        ValueColumn { value_type: float_type, values: Values::Float(vec![0.1, f64::INFINITY, -0.0, 1e300, 5.0, 6.5]) },
        ValueColumn { value_type: float_type, values: Values::Ones },
    ];
    samples.labels = vec![None, Some(labels), Some(numbers), None, Some(labels), None];
    samples.flags = vec![SampleFlags::NONE; 6];
    samples.flags[3] = SampleFlags(SampleFlags::INFERRED.0 | SampleFlags::CHARGED_AT_EXIT.0);
}

fn waits(builder: &mut ProfileBuilder, thread: &mut Thread, stacks: &[StackId]) {
    let [futex, pipe] = ["futex", "pipe"].map(|text| builder.string(text));
    let rows = [
        (3_123_456, 20_000_000, Some(stacks[3]), WaitReason::Blocked, Some(futex), Some(pipe)),
        (25_000_000, 100_000, None, WaitReason::Blocked, None, None),
        (26_000_000, 4_000_000, Some(stacks[0]), WaitReason::Runnable, None, None),
        (30_000_000, 0, Some(stacks[0]), WaitReason::Stopped, None, None),
        (31_000_000, 5_000_000, Some(stacks[3]), WaitReason::Blocked, Some(futex), None),
    ];
    for (start, duration, stack, reason, syscall, target) in rows {
        let (start, duration) = (Time(start), Nanos(duration));
        let inferred = syscall.is_some();
        thread.waits.push(Wait { start, duration, stack, reason, syscall, target, inferred });
    }
}

fn slices(builder: &mut ProfileBuilder, thread: &mut Thread) {
    let [outer, inner, key, json] = ["outer", "inner", "items", "[1,{\"a\":null}]"].map(|text| builder.string(text));
    let args = builder.add_payload(vec![
        Field { key, value: FieldValue::Json(json) },
        Field { key: inner, value: FieldValue::Float(0.1) },
    ]);
    let slice = Slice {
        start: Time(10),
        duration: Nanos(1_000),
        name: outer,
        category: StandardCategory::Other.id(),
        parent: None,
        depth: 0,
        lane: 0,
        args: None,
        incomplete: true,
    };
    let parent = thread.slices.push(slice);
    thread.slices.push(Slice {
        duration: Nanos(500),
        name: inner,
        parent: Some(parent),
        depth: 1,
        args: Some(args),
        incomplete: false,
        ..slice
    });
    thread.slices.push(Slice { start: Time(600), lane: 1, ..slice });
}

fn markers(builder: &mut ProfileBuilder, thread: &mut Thread, stacks: &[StackId]) {
    let schema = schema(builder, "tv-Lock");
    let reserved = self::schema(builder, "Network");
    let twin = self::schema(builder, "tv-Lock");
    let [lock, key, text, missing, null] =
        ["lock", "what", "a \"mutex\"\n", "not in the schema", "null"].map(|text| builder.string(text));
    let [size, flow, list, kind] = ["size", "flow", "list", "type"].map(|text| builder.string(text));
    let json = builder.string("[1,\"two\"]");
    let field = |key, value| Field { key, value };
    let payload = builder.add_payload(vec![
        field(key, FieldValue::Text(text)),
        field(size, FieldValue::Integer(i64::MIN)),
        field(flow, FieldValue::Text(lock)),
        field(list, FieldValue::Json(json)),
        field(missing, FieldValue::Bool(true)),
        field(size, FieldValue::Float(0.5)),
        field(kind, FieldValue::Text(lock)),
    ]);
    // None of these is what its format demands.
    let odd = builder.add_payload(vec![
        field(size, FieldValue::Text(text)),
        field(flow, FieldValue::Integer(1 << 40)),
        field(list, FieldValue::Text(text)),
        field(key, FieldValue::Json(null)),
        field(missing, FieldValue::Float(f64::INFINITY)),
    ]);
    builder.add_payload(Vec::new());
    let marker = Marker {
        name: lock,
        timing: MarkerTiming::Instant(Time(7)),
        category: StandardCategory::Other.id(),
        schema: Some(schema),
        payload: Some(payload),
        stack: Some(stacks[1]),
    };
    let rows = [
        marker,
        Marker { timing: MarkerTiming::Interval(Time(-80_000_000), Time(90_000_000)), payload: Some(odd), ..marker },
        Marker { timing: MarkerTiming::Start(Time(8)), schema: Some(reserved), payload: None, ..marker },
        Marker { timing: MarkerTiming::End(Time(1 << 60)), schema: Some(twin), stack: None, ..marker },
        Marker { schema: None, ..marker },
        Marker { schema: None, payload: None, stack: None, ..marker },
    ];
    for marker in rows {
        thread.markers.push(marker);
    }
}

fn schema(builder: &mut ProfileBuilder, name: &str) -> traceview_core::model::MarkerSchemaId {
    let mut string = |text: &str| builder.string(text);
    let table = r#"{"type":"table","columns":[{"label":"a"}]}"#;
    let formats = [
        ("what", "string"),
        ("size", "bytes"),
        ("flow", "flow-id"),
        ("list", "list"),
        ("rows", table),
        ("odd", "no-such-format"),
        ("what", "duration"),
    ];
    let fields = formats.map(|(key, format)| MarkerField {
        key: string(key),
        label: (format != "list").then(|| string("A label")),
        format: string(format),
        hidden: format == "bytes",
    });
    let graphs = [("size", "bar", Some(Color::LightRed)), ("size", "line", None), ("size", "pie", Some(Color::Red))];
    let schema = MarkerSchema {
        name: string(name),
        display: ["marker-chart", "timeline-overview", "no-such-view"].map(&mut string).into(),
        chart_label: Some(string("{marker.data.what}")),
        tooltip_label: None,
        table_label: Some(string("{marker.name}")),
        description: Some(string("Waiting for a lock")),
        fields: fields.into(),
        graphs: graphs.map(|(key, kind, color)| MarkerGraph { key: string(key), kind: string(kind), color }).into(),
        color_field: Some(string("what")),
        stack_based: true,
    };
    builder.add_marker_schema(schema)
}

fn counters(builder: &mut ProfileBuilder, parent: ProcessId, child: ProcessId, main: ThreadId) {
    let [memory, description, bytes, label, none] =
        ["Memory", "Resident memory", "bytes", "Memory (RSS)", ""].map(|text| builder.string(text));
    let display = |graph, unit, color| CounterDisplay { graph, unit, color, label, sort_weight: -4 };
    let counter = |process, main_thread, display| Counter {
        name: label,
        category: memory,
        description,
        process,
        main_thread,
        display,
        time: vec![Time(0), Time(1_000_003), Time(1_000_003)],
        delta: vec![4096.5, -0.1, f64::NEG_INFINITY],
        operations: vec![3, 0, i64::MAX],
    };
    let accumulated = display(CounterGraph::Accumulated, bytes, Some(Color::Brown));
    builder.add_counter(counter(parent, Some(main), accumulated));
    let rate = display(CounterGraph::Rate, none, None);
    let plain = counter(child, None, rate);
    builder.add_counter(Counter { delta: vec![0.0, 1.0, 2.0], operations: Vec::new(), ..plain.clone() });
    builder.add_counter(Counter { time: Vec::new(), delta: Vec::new(), operations: Vec::new(), ..plain });
}

fn flows(builder: &mut ProfileBuilder, threads: &[ThreadId]) {
    let [name, category, id] = ["request", "net", "0x1f"].map(|text| builder.string(text));
    let member =
        |time, thread: usize, phase, anchor| FlowMember { thread: threads[thread], time: Time(time), phase, anchor };
    let members = [
        member(10, 1, FlowPhase::Start, FlowAnchor::Slice(SliceId::new(1))),
        member(20, 0, FlowPhase::Step, FlowAnchor::Thread),
        member(30, 1, FlowPhase::End, FlowAnchor::Marker(MarkerId::new(2))),
    ];
    builder.add_flow(name, category, id, &members);
    builder.add_flow(id, name, category, &[]);
    builder.add_flow(category, name, id, &members[1..2]);
}

//! Any profile that keeps the rules of the model is written as a valid file and read back equal.

use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::prop_assert_eq;
use traceview_core::model::{
    Category, CategoryId, Color, Counter, CounterDisplay, CounterGraph, CpuDelta, Crate, ExitStatus, Field, FieldValue,
    FlowAnchor, FlowMember, FlowPhase, Frame, Function, FunctionId, FunctionKind, Label, LabelSetId, LabelValue,
    Library, LibraryId, Mapping, Marker, MarkerField, MarkerGraph, MarkerId, MarkerSchema, MarkerSchemaId,
    MarkerTiming, Nanos, NativeSymbol, OsId, PayloadId, Process, ProcessId, Profile, ProfileBuilder, Resource,
    ResourceKind, SampleFlags, Slice, SliceId, Source, StackId, StringId, SymbolStatus, Thread, ThreadId, ThreadUsage,
    Time, ValueColumn, ValueType, Values, Wait, WaitReason, WeightUnit,
};
use traceview_tests::gecko_validator::violations;

use super::{difference, json, read, written};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn write_then_read_gives_the_same_profile(throws in proptest::collection::vec(any::<u32>(), 0..900)) {
        let profile = Dice { throws, next: 0 }.profile();
        let bytes = written(&profile);
        prop_assert_eq!(violations(&json(&bytes)), [""; 0]);
        let back = read(&bytes).expect("our own file");
        prop_assert_eq!(difference(&profile, &back), None);
    }
}

const WORDS: [&str; 16] = [
    "",
    "Idle",
    "Other",
    "Network",
    "tv-Network",
    "tv-Slice",
    "type",
    "cause",
    "flow-id",
    "integer",
    "list",
    "marker-chart",
    "[1,2]",
    "\"\n\\\u{0}🦀",
    "bar",
    "(waiting)",
];

const COLORS: [Color; 4] = [Color::Grey, Color::Blue, Color::Brown, Color::Transparent];

/// Decisions from a list of numbers; when it ends they are all the simplest ones, so that failures shrink.
struct Dice {
    throws: Vec<u32>,
    next: usize,
}

impl Dice {
    fn throw(&mut self) -> u32 {
        let throw = self.throws.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        throw
    }

    fn below(&mut self, count: usize) -> usize {
        self.throw() as usize % count
    }

    fn yes(&mut self) -> bool {
        self.throw() % 2 == 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of `count` rows, or none; never one when there are none.
    fn row(&mut self, count: usize) -> Option<usize> {
        (count > 0 && self.yes()).then(|| self.below(count))
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.yes() { Some(make(self)) } else { None }
    }

    fn integer(&mut self) -> i64 {
        let throw = i64::from(self.throw());
        match throw % 5 {
            0 => throw / 5,
            1 => -throw,
            2 => throw << 31,
            3 => i64::MAX - throw,
            _ => i64::MIN + throw,
        }
    }

    fn float(&mut self) -> f64 {
        let bits = (u64::from(self.throw()) << 32) | u64::from(self.throw());
        let value = f64::from_bits(bits);
        if value.is_nan() { 0.1 } else { value }
    }

    fn time(&mut self) -> Time {
        Time(self.integer())
    }

    fn nanos(&mut self) -> Nanos {
        Nanos(self.integer().saturating_abs())
    }

    /// `count` moments in order.
    fn times(&mut self, count: usize) -> Vec<Time> {
        let mut times: Vec<_> = if self.yes() {
            (0..count).map(|_| self.time()).collect()
        } else {
            (0..count).map(|_| Time(i64::from(self.throw() % 50_000_000))).collect()
        };
        times.sort();
        times
    }

    fn string(&mut self, builder: &mut ProfileBuilder) -> StringId {
        let throw = self.throw();
        if throw % 4 == 3 {
            return builder.string(&format!("name {}", throw % 64));
        }
        builder.string(WORDS[throw as usize / 4 % WORDS.len()])
    }

    fn values(&mut self, count: usize) -> Values {
        match self.below(3) {
            0 => Values::Ones,
            1 => Values::Integer((0..count).map(|_| self.integer()).collect()),
            _ => Values::Float((0..count).map(|_| self.float()).collect()),
        }
    }

    fn profile(&mut self) -> Profile {
        let mut builder = if self.yes() { ProfileBuilder::with_standard_categories() } else { ProfileBuilder::new() };
        self.categories(&mut builder);
        self.meta(&mut builder);
        self.code(&mut builder);
        self.shared_values(&mut builder);
        for _ in 0..=self.below(3) {
            let name = self.string(&mut builder);
            let parent = self.row(builder.tables().processes.len()).map(ProcessId::new);
            let process = Process {
                pid: if self.yes() { OsId::Number(7) } else { OsId::Text("7.1".into()) },
                parent,
                name,
                command_line: if self.yes() { vec![name, name] } else { Vec::new() },
                start: self.maybe(|dice| Time(-i64::from(dice.throw()))),
                end: self.maybe(|dice| Time(i64::from(dice.throw()))),
                exit: self.maybe(|dice| if dice.yes() { ExitStatus::Code(-3) } else { ExitStatus::Signal(9) }),
            };
            builder.add_process(process);
        }
        self.mappings(&mut builder);
        for _ in 0..=self.below(4) {
            let thread = self.thread(&mut builder);
            builder.add_thread(thread);
        }
        self.counters(&mut builder);
        self.flows(&mut builder);
        builder.finish().expect("the rules of the model are kept")
    }

    fn categories(&mut self, builder: &mut ProfileBuilder) {
        for _ in 0..=self.below(3) {
            let (name, color) = (self.string(builder), self.pick(&COLORS));
            let subcategories = (0..=self.below(2)).map(|_| self.string(builder)).collect();
            builder.add_category(Category { name, color, subcategories });
        }
    }

    fn meta(&mut self, builder: &mut ProfileBuilder) {
        let meta = builder.meta_mut();
        meta.name = self.pick(&WORDS).to_owned();
        meta.start_unix_ns = self.maybe(Self::integer);
        meta.start_monotonic_ns = self.maybe(Self::integer);
        meta.recording_start = self.maybe(Self::time);
        meta.recording_end = self.maybe(Self::time);
        meta.interval = self.maybe(|dice| Nanos(dice.integer()));
        meta.machine.memory = self.maybe(|dice| u64::MAX - u64::from(dice.throw()));
        meta.extra = (0..self.below(2)).map(|_| (self.pick(&WORDS).to_owned(), "value".to_owned())).collect();
    }

    fn code(&mut self, builder: &mut ProfileBuilder) {
        for _ in 0..self.below(3) {
            let [name, path, arch] = [(); 3].map(|()| self.string(builder));
            let code_id = self.maybe(|dice| dice.string(builder));
            let symbols = self.pick(&[SymbolStatus::Unknown, SymbolStatus::DebugInfo, SymbolStatus::Unavailable]);
            builder.add_library(Library {
                name,
                path,
                debug_name: path,
                debug_path: name,
                code_id,
                breakpad_id: arch,
                arch,
                symbols,
            });
        }
        for _ in 0..self.below(4) {
            let library = self.row(builder.tables().libraries.len()).map(LibraryId::new);
            let (name, host) = (self.string(builder), self.maybe(|dice| dice.string(builder)));
            let kind = self.pick(&[ResourceKind::Library, ResourceKind::Unknown, ResourceKind::Url]);
            builder.resource(Resource { name, kind, library, host });
            let (path, content) = (self.string(builder), self.maybe(|dice| dice.string(builder)));
            builder.source(Source { id: host, content, ..Source::at(path) });
            builder.add_crate(Crate { name, version: host });
            if let Some(library) = library {
                let address = self.integer().unsigned_abs();
                builder.native_symbol(NativeSymbol { library, address, name, size: self.maybe(|_| u64::MAX) });
            }
        }
        for _ in 0..=self.below(8) {
            let function = self.function(builder);
            builder.function(function);
        }
        for _ in 0..self.below(12) {
            self.stack(builder);
        }
    }

    fn function(&mut self, builder: &mut ProfileBuilder) -> Function {
        let tables = builder.tables();
        let resource = self.row(tables.resources.len()).map(traceview_core::model::ResourceId::new);
        let source = self.row(tables.sources.len()).map(traceview_core::model::SourceId::new);
        let origin = self.row(tables.crates.len()).map(traceview_core::model::CrateId::new);
        let name = self.string(builder);
        Function {
            full_name: self.maybe(|dice| dice.string(builder)),
            resource,
            source,
            line: self.maybe(|dice| dice.throw() % 3),
            column: self.maybe(|dice| dice.throw() % 3),
            origin,
            kind: self.pick(&[FunctionKind::Native, FunctionKind::Cut, FunctionKind::Script, FunctionKind::Unsampled]),
            ..Function::named(name)
        }
    }

    /// A node under any other, and sometimes what was inlined into it.
    fn stack(&mut self, builder: &mut ProfileBuilder) {
        let tables = builder.tables();
        let prefix = self.row(tables.stacks.len()).map(StackId::new);
        let function = FunctionId::new(self.below(tables.functions.len()));
        let category = self.row(tables.categories.len());
        let subcategories = category.map_or(1, |category| tables.categories[category].subcategories.len());
        let frame = Frame {
            library: self.row(tables.libraries.len()).map(LibraryId::new),
            address: self.maybe(|dice| dice.integer().unsigned_abs()),
            category: category.map(CategoryId::new),
            subcategory: u16::try_from(self.below(subcategories)).expect("small"),
            native_symbol: self.row(tables.native_symbols.len()).map(traceview_core::model::NativeSymbolId::new),
            line: self.maybe(|dice| dice.throw().max(1)),
            column: self.maybe(|dice| dice.throw().max(1)),
            ..Frame::of(function)
        };
        let resource = tables.functions.get(function).resource;
        let id = builder.frame(frame);
        let mut node = builder.stack(prefix, id);
        for inline_depth in 1..=u16::try_from(self.below(3)).expect("small") {
            let inlined = Function { resource, ..self.function(builder) };
            let function = builder.function(inlined);
            let inlined = builder.frame(Frame { function, inline_depth, line: Some(1), ..frame });
            node = builder.stack(Some(node), inlined);
        }
    }

    fn mappings(&mut self, builder: &mut ProfileBuilder) {
        for _ in 0..self.below(3) {
            let Some(library) = self.row(builder.tables().libraries.len()).map(LibraryId::new) else { continue };
            let process = ProcessId::new(self.below(builder.tables().processes.len()));
            let start = u64::from(self.throw());
            let end = u64::MAX - u64::from(self.throw() % 7);
            let until = self.maybe(|dice| Time(i64::from(dice.throw())));
            builder.add_mapping(Mapping {
                process,
                library,
                start,
                end,
                file_offset: end,
                base: until.map(|_| start),
                from: Time(-1),
                until,
            });
        }
    }

    fn shared_values(&mut self, builder: &mut ProfileBuilder) {
        for _ in 0..self.below(3) {
            let (name, unit) = (self.string(builder), self.string(builder));
            builder.value_type(ValueType { name, unit });
            let mut set = Vec::new();
            for _ in 0..self.below(3) {
                let (key, unit) = (self.string(builder), self.maybe(|dice| dice.string(builder)));
                let value = if self.yes() { LabelValue::Text(key) } else { LabelValue::Number(self.integer(), unit) };
                set.push(Label { key, value });
            }
            builder.label_set(set);
        }
        for _ in 0..self.below(4) {
            let mut fields = Vec::new();
            for _ in 0..self.below(4) {
                let (key, text) = (self.string(builder), self.string(builder));
                let value = match self.below(5) {
                    0 => FieldValue::Text(text),
                    1 => FieldValue::Integer(self.integer()),
                    2 => FieldValue::Float(self.float()),
                    3 => FieldValue::Bool(self.yes()),
                    _ => FieldValue::Json(text),
                };
                fields.push(Field { key, value });
            }
            builder.add_payload(fields);
        }
        for _ in 0..self.below(4) {
            let schema = self.schema(builder);
            builder.add_marker_schema(schema);
        }
    }

    fn schema(&mut self, builder: &mut ProfileBuilder) -> MarkerSchema {
        let mut string = || self.string(builder);
        let (name, view, kind, key) = (string(), string(), string(), string());
        let mut fields = Vec::new();
        for _ in 0..self.below(4) {
            let (key, format) = (self.string(builder), self.string(builder));
            fields.push(MarkerField { key, label: self.maybe(|_| format), format, hidden: self.yes() });
        }
        MarkerSchema {
            name,
            display: vec![view],
            chart_label: self.maybe(|_| kind),
            tooltip_label: None,
            table_label: self.maybe(|_| view),
            description: None,
            fields,
            graphs: vec![MarkerGraph { key, kind, color: self.maybe(|dice| dice.pick(&COLORS)) }],
            color_field: self.maybe(|_| key),
            stack_based: self.yes(),
        }
    }

    fn thread(&mut self, builder: &mut ProfileBuilder) -> Thread {
        let process = ProcessId::new(self.below(builder.tables().processes.len()));
        let tid = if self.yes() { OsId::Number(self.integer()) } else { OsId::Text("tid".into()) };
        let mut thread = Thread::new(process, tid, self.string(builder));
        thread.is_main = self.yes();
        thread.timed = !self.yes();
        thread.start = self.maybe(|dice| Time(-i64::from(dice.throw())));
        thread.end = self.maybe(|dice| Time(i64::from(dice.throw())));
        thread.usage = self.maybe(|dice| ThreadUsage {
            cpu: Nanos(dice.integer()),
            user: dice.maybe(Self::nanos),
            minor_faults: dice.maybe(|_| u64::MAX),
            ..ThreadUsage::default()
        });
        if self.yes() {
            thread.earlier_names = vec![(self.time(), self.string(builder))];
        }
        self.samples(builder, &mut thread);
        self.waits(builder, &mut thread);
        self.slices(builder, &mut thread);
        self.markers(builder, &mut thread);
        thread
    }

    fn samples(&mut self, builder: &ProfileBuilder, thread: &mut Thread) {
        let tables = builder.tables();
        let count = self.below(6);
        let samples = &mut thread.samples;
        samples.time = if thread.timed { self.times(count) } else { Vec::new() };
        samples.stack = (0..count).map(|_| self.row(tables.stacks.len()).map(StackId::new)).collect();
        samples.weight = self.values(count);
        samples.weight_unit = self.pick(&[WeightUnit::Samples, WeightUnit::TracingMs, WeightUnit::Bytes]);
        if self.yes() {
            let cpu = |dice: &mut Self| dice.maybe(|dice| CpuDelta::new(Nanos(dice.integer())));
            samples.cpu = (0..count).map(|_| cpu(self).unwrap_or(CpuDelta::UNKNOWN)).collect();
        }
        if let Some(value_type) = self.row(tables.value_types.len()) {
            let value_type = traceview_core::model::ValueTypeId::new(value_type);
            samples.values.push(ValueColumn { value_type, values: self.values(count) });
        }
        if self.yes() {
            let sets = tables.label_sets.sets.len();
            samples.labels = (0..count).map(|_| self.row(sets).map(LabelSetId::new)).collect();
            samples.flags = (0..count).map(|_| SampleFlags(self.throw() as u8)).collect();
        }
    }

    fn waits(&mut self, builder: &mut ProfileBuilder, thread: &mut Thread) {
        let count = self.below(4);
        for times in self.times(2 * count).chunks(2) {
            let wait = Wait {
                start: times[0],
                duration: times[1] - times[0],
                stack: self.row(builder.tables().stacks.len()).map(StackId::new),
                reason: self.pick(&[WaitReason::Blocked, WaitReason::Runnable, WaitReason::Stopped]),
                syscall: self.maybe(|dice| dice.string(builder)),
                target: self.maybe(|dice| dice.string(builder)),
                inferred: self.pick(&[false, true]),
            };
            thread.waits.push(wait);
        }
    }

    fn slices(&mut self, builder: &mut ProfileBuilder, thread: &mut Thread) {
        let payloads = builder.tables().payloads.sets.len();
        let count = self.below(4);
        for start in self.times(count) {
            let last = thread.slices.len().checked_sub(1).map(SliceId::new);
            let around = last.filter(|last| {
                let outer = thread.slices.get(last.index());
                start + Nanos(1) <= outer.start + outer.duration
            });
            let category = CategoryId::new(self.below(builder.tables().categories.len()));
            let depth = around.map_or(0, |outer| thread.slices.depth[outer.index()] + 1);
            let lane = around.map_or_else(|| self.throw(), |outer| thread.slices.lane[outer.index()]);
            thread.slices.push(Slice {
                start,
                duration: Nanos(
                    i64::from(around.is_some()) + if around.is_none() { i64::from(self.throw()) } else { 0 },
                ),
                name: self.string(builder),
                category,
                parent: around,
                depth,
                lane,
                args: self.row(payloads).map(PayloadId::new),
                incomplete: self.yes(),
            });
        }
    }

    fn markers(&mut self, builder: &mut ProfileBuilder, thread: &mut Thread) {
        for _ in 0..self.below(5) {
            let times = self.times(2);
            let name = self.string(builder);
            let tables = builder.tables();
            let timing = match self.below(4) {
                0 => MarkerTiming::Instant(times[0]),
                1 => MarkerTiming::Interval(times[0], times[1]),
                2 => MarkerTiming::Start(times[0]),
                _ => MarkerTiming::End(times[1]),
            };
            thread.markers.push(Marker {
                name,
                timing,
                category: CategoryId::new(self.below(tables.categories.len())),
                schema: self.row(tables.marker_schemas.len()).map(MarkerSchemaId::new),
                payload: self.row(tables.payloads.sets.len()).map(PayloadId::new),
                stack: self.row(tables.stacks.len()).map(StackId::new),
            });
        }
    }

    fn counters(&mut self, builder: &mut ProfileBuilder) {
        for _ in 0..self.below(3) {
            let [name, category, unit] = [(); 3].map(|()| self.string(builder));
            let count = self.below(4);
            let graph = self.pick(&[CounterGraph::Accumulated, CounterGraph::Rate]);
            let color = self.maybe(|dice| dice.pick(&COLORS));
            let sort_weight = self.integer();
            let counter = Counter {
                name,
                category,
                description: name,
                process: ProcessId::new(self.below(builder.tables().processes.len())),
                main_thread: self.row(builder.tables().threads.len()).map(ThreadId::new),
                display: CounterDisplay { graph, unit, color, label: category, sort_weight },
                time: self.times(count),
                delta: (0..count).map(|_| self.float()).collect(),
                operations: if self.yes() { (0..count).map(|_| self.integer()).collect() } else { Vec::new() },
            };
            builder.add_counter(counter);
        }
    }

    fn flows(&mut self, builder: &mut ProfileBuilder) {
        for _ in 0..self.below(3) {
            let [name, category, id] = [(); 3].map(|()| self.string(builder));
            let mut members = Vec::new();
            for _ in 0..self.below(4) {
                let thread = self.below(builder.tables().threads.len());
                let tables = &builder.tables().threads[thread];
                let slice = self.row(tables.slices.len()).map(|slice| FlowAnchor::Slice(SliceId::new(slice)));
                let marker = self.row(tables.markers.len()).map(|marker| FlowAnchor::Marker(MarkerId::new(marker)));
                members.push(FlowMember {
                    thread: ThreadId::new(thread),
                    time: self.time(),
                    phase: self.pick(&[FlowPhase::Start, FlowPhase::Step, FlowPhase::End]),
                    anchor: slice.or(marker).unwrap_or(FlowAnchor::Thread),
                });
            }
            builder.add_flow(name, category, id, &members);
        }
    }
}

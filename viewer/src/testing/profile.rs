//! A profile in the making, written as text: `main;work:12` is a stack, outermost first, with lines.

use std::ops::Range;
use std::sync::Arc;

use traceview_core::model::{
    Color, Counter, CounterDisplay, CounterGraph, CpuDelta, Crate, Field, FieldValue, FlowAnchor, FlowMember,
    FlowPhase, Frame, Function, FunctionKind, Library, LibraryId, Marker, MarkerField, MarkerId, MarkerSchema,
    MarkerTiming, Nanos, OsId, Process, ProcessId, Profile, ProfileBuilder, Slice, Source, StackId, StandardCategory,
    SymbolStatus, Thread, ThreadId, Time, Wait, WaitReason,
};

use crate::document::Document;

/// A millisecond: the interval of these profiles.
pub(crate) const MS: i64 = 1_000_000;

/// A profile in the making. Times are in milliseconds where they are ranges, else in nanoseconds.
pub(crate) struct TestProfile {
    pub(crate) builder: ProfileBuilder,
    /// The latest one.
    process: Option<ProcessId>,
    library: Option<LibraryId>,
}

impl TestProfile {
    /// One of which it is not known when it was recorded.
    pub(crate) fn new() -> Self {
        let mut builder = ProfileBuilder::with_standard_categories();
        builder.meta_mut().interval = Some(Nanos(MS));
        Self { builder, process: None, library: None }
    }

    /// One that was recorded for 100 ms.
    pub(crate) fn recorded() -> Self {
        let mut profile = Self::new();
        profile.builder.meta_mut().recording_start = Some(Time(0));
        profile.builder.meta_mut().recording_end = Some(Time(100 * MS));
        profile
    }

    /// A process, of which the threads that follow are.
    pub(crate) fn process(&mut self, name: &str, pid: i64) -> ProcessId {
        let name = self.builder.string(name);
        let process = self.builder.add_process(Process {
            pid: OsId::Number(pid),
            parent: None,
            name,
            command_line: vec![name],
            start: Some(Time(0)),
            end: None,
            exit: None,
        });
        self.process = Some(process);
        process
    }

    /// A library, of which the frames of stacks that follow are.
    pub(crate) fn library(&mut self, name: &str) {
        let path = format!("/usr/bin/{name}");
        let [name, path, empty] = [name, &path, ""].map(|text| self.builder.string(text));
        self.library = Some(self.builder.add_library(Library {
            name,
            path,
            debug_name: name,
            debug_path: path,
            code_id: None,
            breakpad_id: empty,
            arch: empty,
            symbols: SymbolStatus::DebugInfo,
        }));
    }

    /// A thread with the next id from 101 on; of the process `demo`, pid 100, if there is none yet.
    pub(crate) fn thread(&mut self, name: &str) -> ThreadId {
        let process = self.process.unwrap_or_else(|| self.process("demo", 100));
        let tid = 101 + i64::try_from(self.builder.tables().threads.len()).expect("few threads");
        let name = self.builder.string(name);
        self.builder.add_thread(Thread::new(process, OsId::Number(tid), name))
    }

    pub(crate) fn main_thread(&mut self, name: &str) -> ThreadId {
        let thread = self.thread(name);
        self.builder.thread_mut(thread).is_main = true;
        thread
    }

    /// The stack of `text`. `crate::name` is of that crate, version 1.2.3, in `src/crate.rs`; a name that ends in `!` is
    /// inlined into its caller; `[kernel] name` is a system call.
    pub(crate) fn stack(&mut self, text: &str) -> StackId {
        self.stack_of(text, None)
    }

    /// The same with all frames in `category`.
    pub(crate) fn stack_in(&mut self, category: StandardCategory, text: &str) -> StackId {
        self.stack_of(text, Some(category))
    }

    fn stack_of(&mut self, text: &str, in_category: Option<StandardCategory>) -> StackId {
        let mut stack = None;
        for text in text.split(';') {
            let (name, line) = match text.rsplit_once(':') {
                Some((name, line)) if line.parse::<u32>().is_ok() => (name, line.parse().ok()),
                _ => (text, None),
            };
            let (name, inline_depth) = name.strip_suffix('!').map_or((name, 0), |name| (name, 1));
            let mut function = Function::named(self.builder.string(name));
            let mut category = StandardCategory::Workspace;
            if let Some((origin, _)) = name.split_once("::") {
                let path = format!("src/{origin}.rs");
                let [origin, version, path] = [origin, "1.2.3", &path].map(|text| self.builder.string(text));
                function.origin = Some(self.builder.add_crate(Crate { name: origin, version: Some(version) }));
                function.source = Some(self.builder.source(Source::at(path)));
                category = StandardCategory::Dependency;
            }
            if name.starts_with("[kernel] ") {
                (function.kind, category) = (FunctionKind::Kernel, StandardCategory::Kernel);
            }
            let function = self.builder.function(function);
            let category = Some(in_category.unwrap_or(category).id());
            let library = self.library;
            let frame = self.builder.frame(Frame { inline_depth, line, category, library, ..Frame::of(function) });
            stack = Some(self.builder.stack(stack, frame));
        }
        stack.expect("a stack has a frame")
    }

    /// A sample of 1 ms.
    pub(crate) fn sample(&mut self, thread: ThreadId, time: i64, stack: StackId) {
        self.sample_with_cpu(thread, time, stack, MS);
    }

    pub(crate) fn sample_with_cpu(&mut self, thread: ThreadId, time: i64, stack: StackId, cpu: i64) {
        let samples = &mut self.builder.thread_mut(thread).samples;
        samples.time.push(Time(time));
        samples.stack.push(Some(stack));
        samples.cpu.push(CpuDelta::new(Nanos(cpu)));
    }

    /// A sample at the end of each millisecond of `ms`.
    pub(crate) fn samples(&mut self, thread: ThreadId, ms: Range<i64>, stack: &str) {
        let stack = self.stack(stack);
        for ms in ms {
            self.sample(thread, (ms + 1) * MS, stack);
        }
    }

    /// So many samples after the last one, or from 0 on.
    pub(crate) fn more_samples(&mut self, thread: ThreadId, count: i64, stack: &str) {
        let last = self.builder.thread_mut(thread).samples.time.last();
        let start = last.map_or(0, |last| last.0 / MS);
        self.samples(thread, start..start + count, stack);
    }

    /// Takes the times of a thread's samples away.
    pub(crate) fn untimed(&mut self, thread: ThreadId) {
        let thread = self.builder.thread_mut(thread);
        thread.timed = false;
        thread.samples.time.clear();
    }

    /// A wait in a system call: `futex`, or `read pipe` with what was waited for.
    pub(crate) fn wait(&mut self, thread: ThreadId, ms: Range<i64>, call: &str, stack: Option<&str>) {
        let stack = stack.map(|stack| self.stack(stack));
        let (syscall, target) = call.split_once(' ').map_or((call, None), |(call, target)| (call, Some(target)));
        let syscall = Some(self.builder.string(syscall));
        let target = target.map(|target| self.builder.string(target));
        self.builder.thread_mut(thread).waits.push(Wait {
            start: Time(ms.start * MS),
            duration: Nanos((ms.end - ms.start) * MS),
            stack,
            reason: WaitReason::Blocked,
            syscall,
            target,
            inferred: false,
        });
    }

    /// A slice with an argument, around which nothing is.
    pub(crate) fn slice(&mut self, thread: ThreadId, ms: Range<i64>, name: &str) {
        let [name, key, url] = [name, "url", "http://localhost/"].map(|text| self.builder.string(text));
        let args = self.builder.add_payload(vec![Field { key, value: FieldValue::Text(url) }]);
        self.builder.thread_mut(thread).slices.push(Slice {
            start: Time(ms.start * MS),
            duration: Nanos((ms.end - ms.start) * MS),
            name,
            category: StandardCategory::Other.id(),
            parent: None,
            depth: 0,
            lane: 0,
            args: Some(args),
            incomplete: false,
        });
    }

    /// A marker of a moment, in nanoseconds.
    pub(crate) fn instant(&mut self, thread: ThreadId, time: i64, name: &str, stack: Option<&str>) -> MarkerId {
        self.marker(thread, MarkerTiming::Instant(Time(time)), name, stack)
    }

    pub(crate) fn marker(
        &mut self,
        thread: ThreadId,
        timing: MarkerTiming,
        name: &str,
        stack: Option<&str>,
    ) -> MarkerId {
        let (name, stack) = (self.builder.string(name), stack.map(|stack| self.stack(stack)));
        let category = StandardCategory::Kernel.id();
        let marker = Marker { name, timing, category, schema: None, payload: None, stack };
        self.builder.thread_mut(thread).markers.push(marker)
    }

    /// Gives a marker data, each field with its format.
    pub(crate) fn marker_data(&mut self, thread: ThreadId, marker: MarkerId, data: &[(&str, &str, FieldValue)]) {
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        for (key, format, value) in data {
            let [key, format] = [key, format].map(|text| self.builder.string(text));
            fields.push(MarkerField { key, label: None, format, hidden: false });
            values.push(Field { key, value: *value });
        }
        let name = self.builder.string("kind");
        let schema = self.builder.add_marker_schema(MarkerSchema {
            name,
            display: Vec::new(),
            chart_label: None,
            tooltip_label: None,
            table_label: None,
            description: None,
            fields,
            graphs: Vec::new(),
            color_field: None,
            stack_based: false,
        });
        let payload = self.builder.add_payload(values);
        let markers = &mut self.builder.thread_mut(thread).markers;
        markers.schema[marker.index()] = Some(schema);
        markers.payload[marker.index()] = Some(payload);
    }

    /// A flow from the first of the members through the others to the last.
    pub(crate) fn flow(&mut self, name: &str, members: &[(ThreadId, i64, FlowAnchor)]) {
        let phase = |at: usize| match at {
            0 => FlowPhase::Start,
            _ if at + 1 == members.len() => FlowPhase::End,
            _ => FlowPhase::Step,
        };
        let members: Vec<_> = members.iter().enumerate().map(|(at, member)| (*member, phase(at))).collect();
        self.flow_of_phases(name, &members);
    }

    pub(crate) fn flow_of_phases(&mut self, name: &str, members: &[((ThreadId, i64, FlowAnchor), FlowPhase)]) {
        let member = |&((thread, time, anchor), phase): &_| FlowMember { thread, time: Time(time), phase, anchor };
        let members: Vec<FlowMember> = members.iter().map(member).collect();
        let [name, category] = [name, "flow"].map(|text| self.builder.string(text));
        self.builder.add_flow(name, category, name, &members);
    }

    /// A counter of the latest process with a change each at times in ms.
    pub(crate) fn counter(
        &mut self,
        name: &str,
        (graph, unit, color): (CounterGraph, &str, Option<Color>),
        deltas: &[(i64, f64)],
    ) {
        let process = self.process.unwrap_or_else(|| self.process("demo", 100));
        let [name, unit] = [name, unit].map(|text| self.builder.string(text));
        self.builder.add_counter(Counter {
            name,
            category: name,
            description: name,
            process,
            main_thread: None,
            display: CounterDisplay { graph, unit, color, label: name, sort_weight: 0 },
            time: deltas.iter().map(|(ms, _)| Time(ms * MS)).collect(),
            delta: deltas.iter().map(|(_, delta)| *delta).collect(),
            operations: Vec::new(),
        });
    }

    pub(crate) fn finish(self) -> Profile {
        self.builder.finish().expect("the profile keeps the rules")
    }
}

/// `profile` as a document of the same name as its file would have.
pub(crate) fn document(profile: Profile) -> Arc<Document> {
    Arc::new(Document::new("demo".to_owned(), None, Arc::new(profile)))
}

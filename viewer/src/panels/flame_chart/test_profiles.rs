//! Small profiles for tests of panels, written as text: `main;work:12` is a stack, outermost first, with lines.

use std::sync::Arc;

use traceview_core::model::{
    CpuDelta, Crate, Field, FieldValue, Frame, Function, Nanos, OsId, Process, ProcessId, Profile, ProfileBuilder,
    Slice, Source, StackId, StandardCategory, Thread, ThreadId, Time, Wait, WaitReason,
};

use crate::document::Document;

const MS: i64 = 1_000_000;

/// `profile` as a document of the same name as its file would have.
pub(crate) fn document(profile: Profile) -> Arc<Document> {
    Arc::new(Document::new("demo".to_owned(), None, Arc::new(profile)))
}

/// A profile in the making: one process, pid 100.
pub(crate) struct Making {
    pub(crate) builder: ProfileBuilder,
    process: ProcessId,
}

impl Making {
    pub(crate) fn new() -> Self {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("demo");
        let process = builder.add_process(Process {
            pid: OsId::Number(100),
            parent: None,
            name,
            command_line: vec![name],
            start: Some(Time(0)),
            end: None,
            exit: None,
        });
        builder.meta_mut().interval = Some(Nanos(MS));
        builder.meta_mut().recording_start = Some(Time(0));
        builder.meta_mut().recording_end = Some(Time(100 * MS));
        Self { builder, process }
    }

    /// A thread with the next id from 101 on.
    pub(crate) fn thread(&mut self, name: &str) -> ThreadId {
        let tid = 101 + i64::try_from(self.builder.tables().threads.len()).expect("few threads");
        let name = self.builder.string(name);
        self.builder.add_thread(Thread::new(self.process, OsId::Number(tid), name))
    }

    /// The stack of `text`. `crate::name` is of that crate, version 1.2.3, in `src/crate.rs`; a name that ends in `!` is
    /// inlined into its caller.
    pub(crate) fn stack(&mut self, text: &str) -> StackId {
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
                function.source = Some(self.builder.source(Source { path, id: None, content: None }));
                category = StandardCategory::Dependency;
            }
            let function = self.builder.function(function);
            let category = Some(category.id());
            let frame = self.builder.frame(Frame { inline_depth, line, category, ..Frame::of(function) });
            stack = Some(self.builder.stack(stack, frame));
        }
        stack.expect("a stack has a frame")
    }

    /// A sample at the end of each millisecond from `from` ms to `until` ms.
    pub(crate) fn samples(&mut self, thread: ThreadId, from: i64, until: i64, stack: &str) {
        let stack = self.stack(stack);
        for ms in from..until {
            self.sample(thread, (ms + 1) * MS, stack);
        }
    }

    pub(crate) fn sample(&mut self, thread: ThreadId, time: i64, stack: StackId) {
        let samples = &mut self.builder.thread_mut(thread).samples;
        samples.time.push(Time(time));
        samples.stack.push(Some(stack));
        samples.cpu.push(CpuDelta::new(Nanos(MS)));
    }

    /// A wait from `from` ms to `until` ms.
    pub(crate) fn wait(&mut self, thread: ThreadId, from: i64, until: i64, syscall: &str, target: Option<&str>) {
        let stack = Some(self.stack("main;waiting"));
        let syscall = Some(self.builder.string(syscall));
        let target = target.map(|target| self.builder.string(target));
        self.builder.thread_mut(thread).waits.push(Wait {
            start: Time(from * MS),
            duration: Nanos((until - from) * MS),
            stack,
            reason: WaitReason::Blocked,
            syscall,
            target,
            inferred: false,
        });
    }

    /// A slice from `from` ms to `until` ms, around which nothing is.
    pub(crate) fn slice(&mut self, thread: ThreadId, from: i64, until: i64, name: &str) {
        let [name, key, url] = [name, "url", "http://localhost/"].map(|text| self.builder.string(text));
        let args = self.builder.add_payload(vec![Field { key, value: FieldValue::Text(url) }]);
        self.builder.thread_mut(thread).slices.push(Slice {
            start: Time(from * MS),
            duration: Nanos((until - from) * MS),
            name,
            category: StandardCategory::Other.id(),
            parent: None,
            depth: 0,
            lane: 0,
            args: Some(args),
            incomplete: false,
        });
    }

    pub(crate) fn finish(self) -> Profile {
        self.builder.finish().expect("the profile keeps the rules")
    }
}

/// 100 ms: `main` works, waits from 60 ms to 80 ms, and works again; `idle` only waits; `tracer` has slices and samples.
pub(crate) fn simple() -> Profile {
    let mut making = Making::new();
    let main = making.thread("main");
    making.samples(main, 0, 40, "main:3;work:12;lib::inner!:7");
    making.samples(main, 40, 60, "main:3;work:14");
    making.wait(main, 60, 80, "futex", None);
    making.samples(main, 80, 100, "main:4;lib::rest:9");
    let idle = making.thread("idle");
    making.wait(idle, 0, 70, "read", Some("pipe"));
    making.wait(idle, 70, 100, "futex", None);
    let tracer = making.thread("tracer");
    making.slice(tracer, 10, 50, "request");
    making.slice(tracer, 50, 90, "answer");
    making.samples(tracer, 10, 50, "main:3;lib::serve:1");
    making.finish()
}

/// As many samples as `samples`, apart from each other, each with `depth` frames.
pub(crate) fn deep(depth: usize, samples: i64) -> Profile {
    let mut making = Making::new();
    let thread = making.thread("deep");
    let frames: Vec<String> = (0..depth).map(|depth| format!("f{depth}")).collect();
    let stack = making.stack(&frames.join(";"));
    for sample in 0..samples {
        making.sample(thread, (sample + 1) * 100 * MS, stack);
    }
    making.finish()
}

/// Some 20,000 samples of a program as a recording would have them, for pictures.
pub(crate) fn lively() -> Profile {
    let mut making = Making::new();
    let thread = making.thread("rg");
    let outer =
        "std::rt::lang_start;main:9;ripgrep::main:41;ripgrep::search:88;grep_searcher::Searcher::search_path:51";
    let kinds = [
        "grep_searcher::LineBuffer::fill:12;std::fs::File::read:71",
        "grep_searcher::core::match_by_line:140;<regex_automata::meta::Regex as grep_matcher::Matcher>::find_at:22!",
        "grep_searcher::core::match_by_line:144;grep_printer::Standard<W>::sink:70;termcolor::Ansi::write:17!",
        "grep_searcher::core::match_by_line:140;memchr::memmem::Finder::find:52;memchr::arch::x86_64::avx2::find:90",
        "ignore::walk::WalkParallel::visit:31",
    ];
    let stacks = kinds.map(|inner| making.stack(&format!("{outer};{inner}")));
    // A small generator whose numbers are the same each time.
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut time = 0;
    while time < 20_000 {
        let (stack, run) = (stacks[next(5) as usize], 1 + i64::try_from(next(60) * next(12)).expect("few"));
        for _ in 0..run {
            making.sample(thread, time * MS, stack);
            time += 1;
        }
        if next(6) == 0 {
            let until = time + 1 + i64::try_from(next(700)).expect("few");
            let (syscall, target) = if next(2) == 0 { ("futex", None) } else { ("read", Some("src/main.rs")) };
            making.wait(thread, time, until, syscall, target);
            time = until;
        }
    }
    making.finish()
}

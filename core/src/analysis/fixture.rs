//! Small profiles for tests, written as text: `main;work:12;inner:3` is a stack, outermost first, with lines.

use crate::model::{
    CpuDelta, Crate, Frame, Function, FunctionKind, Library, Nanos, OsId, Process, Profile, ProfileBuilder, Source,
    StackId, StandardCategory, SymbolStatus, Thread, ThreadId, Time, Wait, WaitReason,
};

/// A profile in the making: one process, `demo`, whose executable has that name.
pub(crate) struct Fixture {
    pub(crate) builder: ProfileBuilder,
    process: crate::model::ProcessId,
}

impl Fixture {
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
        let mut fixture = Self { builder, process };
        fixture.library("demo");
        fixture.library("libc.so.6");
        fixture.builder.meta_mut().interval = Some(Nanos(1_000_000));
        fixture
    }

    fn library(&mut self, name: &str) {
        let [name, path, empty] = [name, &format!("/usr/lib/{name}"), ""].map(|text| self.builder.string(text));
        self.builder.add_library(Library {
            name,
            path,
            debug_name: name,
            debug_path: path,
            code_id: None,
            breakpad_id: empty,
            arch: empty,
            symbols: SymbolStatus::DebugInfo,
        });
    }

    pub(crate) fn thread(&mut self, name: &str, tid: i64) -> ThreadId {
        let name = self.builder.string(name);
        self.builder.add_thread(Thread::new(self.process, OsId::Number(tid), name))
    }

    /// The stack of `text`. A name in `[]` is a system call, `[cut…]` a cut root, one with `+0x` an unnamed address;
    /// `crate::name` is of that crate, version 1.0, in file `crate.rs`.
    pub(crate) fn stack(&mut self, text: &str) -> StackId {
        let frames: Vec<&str> = text.split(';').collect();
        let mut stack = None;
        for text in frames {
            let (name, line) = match text.rsplit_once(':') {
                Some((name, line)) if line.parse::<u32>().is_ok() => (name, line.parse().ok()),
                _ => (text, None),
            };
            let frame = self.frame(name, line);
            stack = Some(self.builder.stack(stack, frame));
        }
        stack.expect("text is at least one frame")
    }

    fn frame(&mut self, name: &str, line: Option<u32>) -> crate::model::FrameId {
        let kind = match name {
            _ if name.starts_with("[cut") => FunctionKind::Cut,
            _ if name.starts_with("[not sampled") => FunctionKind::Unsampled,
            _ if name.starts_with('[') => FunctionKind::Kernel,
            _ if name.contains("+0x") => FunctionKind::Unsymbolized,
            _ => FunctionKind::Native,
        };
        let origin = name.split_once("::").map(|(origin, _)| origin).filter(|origin| !origin.starts_with('<'));
        let mut function = Function { kind, ..Function::named(self.builder.string(name)) };
        if let Some(origin) = origin {
            let [crate_name, version, path] =
                [origin, "1.0", &format!("src/{origin}.rs")].map(|text| self.builder.string(text));
            function.origin = Some(self.builder.add_crate(Crate { name: crate_name, version: Some(version) }));
            function.source = Some(self.builder.source(Source::at(path)));
        }
        let (library, category) = match (kind, origin) {
            (FunctionKind::Kernel, _) => (None, Some(StandardCategory::Kernel)),
            (FunctionKind::Cut | FunctionKind::Unsampled, _) => (None, None),
            (FunctionKind::Unsymbolized, _) => (Some(1), Some(StandardCategory::System)),
            (_, Some(_)) => (Some(0), Some(StandardCategory::Dependency)),
            (_, None) => (Some(0), Some(StandardCategory::Workspace)),
        };
        let function = self.builder.function(function);
        self.builder.frame(Frame {
            library: library.map(crate::model::LibraryId::new),
            category: category.map(StandardCategory::id),
            line,
            ..Frame::of(function)
        })
    }

    /// A sample with CPU time in ns (`None`: not known).
    pub(crate) fn sample(&mut self, thread: ThreadId, time: i64, stack: Option<StackId>, cpu: Option<i64>) {
        let samples = &mut self.builder.thread_mut(thread).samples;
        samples.time.push(Time(time));
        samples.stack.push(stack);
        samples.cpu.push(cpu.map_or(CpuDelta::UNKNOWN, |cpu| CpuDelta::new(Nanos(cpu))));
    }

    /// As many samples of 1 ms as `counts` says for each stack.
    pub(crate) fn samples(&mut self, thread: ThreadId, counts: &[(&str, usize)]) {
        for (text, count) in counts {
            let stack = self.stack(text);
            for _ in 0..*count {
                let time = self.builder.tables().threads[thread.index()].samples.len();
                self.sample(thread, i64::try_from(time).expect("few") * 1_000_000, Some(stack), Some(1_000_000));
            }
        }
    }

    /// A blocked wait, in ns.
    pub(crate) fn wait(&mut self, thread: ThreadId, start: i64, duration: i64, stack: Option<StackId>, syscall: &str) {
        let syscall = self.builder.string(syscall);
        self.builder.thread_mut(thread).waits.push(Wait {
            start: Time(start),
            duration: Nanos(duration),
            stack,
            reason: WaitReason::Blocked,
            syscall: Some(syscall),
            target: None,
            inferred: false,
        });
    }

    pub(crate) fn finish(self) -> Profile {
        self.builder.finish().expect("the fixture keeps the rules")
    }
}

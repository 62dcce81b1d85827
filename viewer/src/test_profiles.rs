//! Small documents for tests of panels.

use std::sync::Arc;

use traceview_core::model::{
    CpuDelta, Frame, Function, Nanos, OsId, Process, ProcessId, ProfileBuilder, Slice, StackId, StandardCategory,
    Thread, ThreadId, Time, Wait, WaitReason,
};

use crate::document::Document;

/// A millisecond: the interval of these profiles.
pub(crate) const MS: i64 = 1_000_000;

/// A document in the making.
pub(crate) struct TestProfile {
    pub(crate) builder: ProfileBuilder,
}

impl TestProfile {
    /// One without processes.
    pub(crate) fn new() -> Self {
        let mut builder = ProfileBuilder::with_standard_categories();
        builder.meta_mut().interval = Some(Nanos(MS));
        Self { builder }
    }

    pub(crate) fn process(&mut self, name: &str, pid: i64) -> ProcessId {
        let name = self.builder.string(name);
        self.builder.add_process(Process {
            pid: OsId::Number(pid),
            parent: None,
            name,
            command_line: Vec::new(),
            start: None,
            end: None,
            exit: None,
        })
    }

    /// A thread; the first of a process is its main thread.
    pub(crate) fn thread(&mut self, process: ProcessId, name: &str) -> ThreadId {
        let name = self.builder.string(name);
        let number = self.builder.tables().threads.len();
        let is_main = self.builder.tables().threads.iter().all(|thread| thread.process != process);
        let tid = OsId::Number(i64::try_from(number).expect("few threads") + 1000);
        self.builder.add_thread(Thread { is_main, ..Thread::new(process, tid, name) })
    }

    /// The stack of function names, outermost first, with the leaf in `category`.
    pub(crate) fn stack(&mut self, names: &[&str], category: StandardCategory) -> StackId {
        let mut stack = None;
        for name in names {
            let name = self.builder.string(name);
            let function = self.builder.function(Function::named(name));
            let frame = self.builder.frame(Frame { category: Some(category.id()), ..Frame::of(function) });
            stack = Some(self.builder.stack(stack, frame));
        }
        stack.expect("a stack has frames")
    }

    /// A sample of `thread` at `time` that used `cpu` ns.
    pub(crate) fn sample(&mut self, thread: ThreadId, time: i64, stack: StackId, cpu: i64) {
        let samples = &mut self.builder.thread_mut(thread).samples;
        samples.time.push(Time(time));
        samples.stack.push(Some(stack));
        samples.cpu.push(CpuDelta::new(Nanos(cpu)));
    }

    /// A sample each millisecond from 1 ms on, with full use of the CPU.
    pub(crate) fn samples(&mut self, thread: ThreadId, stack: StackId, count: usize) {
        for sample in 0..i64::try_from(count).expect("few samples") {
            self.sample(thread, (sample + 1) * MS, stack, MS);
        }
    }

    /// A wait for a lock.
    pub(crate) fn wait(&mut self, thread: ThreadId, start: i64, duration: i64) {
        let syscall = Some(self.builder.string("futex"));
        self.builder.thread_mut(thread).waits.push(Wait {
            start: Time(start),
            duration: Nanos(duration),
            stack: None,
            reason: WaitReason::Blocked,
            syscall,
            target: None,
            inferred: false,
        });
    }

    /// An outermost slice.
    pub(crate) fn slice(&mut self, thread: ThreadId, name: &str, start: i64, duration: i64) {
        let name = self.builder.string(name);
        self.builder.thread_mut(thread).slices.push(Slice {
            start: Time(start),
            duration: Nanos(duration),
            name,
            category: StandardCategory::Workspace.id(),
            parent: None,
            depth: 0,
            lane: 0,
            args: None,
            incomplete: false,
        });
    }

    pub(crate) fn finish(self) -> Arc<Document> {
        let profile = self.builder.finish().expect("the test profile keeps the rules");
        Arc::new(Document::new("test".to_owned(), None, Arc::new(profile)))
    }
}

/// One process with `threads` threads named `worker-N`, each with ten samples fewer than the one before it, to ten.
pub(crate) fn workers(threads: usize) -> Arc<Document> {
    let mut profile = TestProfile::new();
    let process = profile.process("demo", 7);
    let stack = profile.stack(&["main", "work"], StandardCategory::Workspace);
    for thread in 0..threads {
        let id = profile.thread(process, &format!("worker-{thread}"));
        profile.samples(id, stack, (100usize).saturating_sub(thread * 10).max(10));
    }
    profile.finish()
}

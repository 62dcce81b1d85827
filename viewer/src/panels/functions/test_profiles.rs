//! Profiles for tests of the tables, and a window with one panel in it.

use std::sync::Arc;

use egui::Vec2;
use egui_kittest::Harness;
use traceview_core::model::{
    CpuDelta, Crate, Frame, Function, FunctionKind, Library, Nanos, OsId, Process, Profile, ProfileBuilder, Source,
    StackId, StandardCategory, SymbolStatus, Thread, ThreadId, Time, Wait, WaitReason,
};

use crate::action::{Action, State};
use crate::analyses::Analyses;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::panels::{Panel, PanelContext};
use crate::theme::Theme;

/// A profile in the making: samples of 1 ms in threads of one process.
pub(crate) struct TestProfile {
    pub(crate) builder: ProfileBuilder,
    process: traceview_core::model::ProcessId,
}

impl TestProfile {
    pub(crate) fn new() -> Self {
        let mut builder = ProfileBuilder::with_standard_categories();
        let [name, path, empty] = ["demo", "/usr/bin/demo", ""].map(|text| builder.string(text));
        let process = builder.add_process(Process {
            pid: OsId::Number(100),
            parent: None,
            name,
            command_line: vec![name],
            start: Some(Time(0)),
            end: None,
            exit: None,
        });
        builder.add_library(Library {
            name,
            path,
            debug_name: name,
            debug_path: path,
            code_id: None,
            breakpad_id: empty,
            arch: empty,
            symbols: SymbolStatus::DebugInfo,
        });
        builder.meta_mut().interval = Some(Nanos(1_000_000));
        Self { builder, process }
    }

    pub(crate) fn thread(&mut self, name: &str) -> ThreadId {
        let name = self.builder.string(name);
        let tid = i64::try_from(self.builder.tables().threads.len()).expect("few threads");
        self.builder.add_thread(Thread::new(self.process, OsId::Number(100 + tid), name))
    }

    /// The stack of `names`, outermost first. `crate::name` is of that crate, in its file, at line 7;
    /// `[kernel] name` is a system call.
    pub(crate) fn stack<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Option<StackId> {
        let mut stack = None;
        for name in names {
            let mut function = Function::named(self.builder.string(name));
            let mut category = StandardCategory::Workspace;
            if let Some((origin, _)) = name.split_once("::") {
                let [crate_name, version, path] =
                    [origin, "1.0.0", &format!("/src/{origin}.rs")].map(|text| self.builder.string(text));
                function.origin = Some(self.builder.add_crate(Crate { name: crate_name, version: Some(version) }));
                function.source = Some(self.builder.source(Source { path, id: None, content: None }));
                category = if origin == "std" { StandardCategory::Std } else { StandardCategory::Dependency };
            }
            let is_kernel = name.starts_with("[kernel] ");
            if is_kernel {
                (function.kind, category) = (FunctionKind::Kernel, StandardCategory::Kernel);
            }
            let function = self.builder.function(function);
            let frame = Frame {
                library: Some(traceview_core::model::LibraryId::new(0)),
                category: Some(category.id()),
                line: (!is_kernel).then_some(7),
                ..Frame::of(function)
            };
            let frame = self.builder.frame(frame);
            stack = Some(self.builder.stack(stack, frame));
        }
        stack
    }

    /// Adds `count` samples of `stack`, each of 1 ms of CPU time, after those that are there.
    pub(crate) fn samples(&mut self, thread: ThreadId, stack: Option<StackId>, count: usize) {
        let samples = &mut self.builder.thread_mut(thread).samples;
        for _ in 0..count {
            let time = i64::try_from(samples.time.len()).expect("few samples") * 1_000_000;
            samples.time.push(Time(time));
            samples.stack.push(stack);
            samples.cpu.push(CpuDelta::new(Nanos(1_000_000)));
        }
    }

    pub(crate) fn wait(&mut self, thread: ThreadId, start: i64, duration: i64, stack: Option<StackId>) {
        let syscall = self.builder.string("futex");
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
        self.builder.finish().expect("the profile keeps the rules")
    }
}

/// `main` with 60 samples in `search::find`, 30 in `search::find;memchr::count`, 10 in `io::write`; 5 ms of waits.
pub(crate) fn small() -> Profile {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for (names, count) in [
        (&["main", "search::find"][..], 60),
        (&["main", "search::find", "memchr::count"], 30),
        (&["main", "io::write"], 10),
    ] {
        let stack = profile.stack(names.iter().copied());
        profile.samples(thread, stack, count);
    }
    let stack = profile.stack(["main", "io::write"]);
    profile.wait(thread, 1_000_000, 5_000_000, stack);
    profile.finish()
}

/// A profile without a sample.
pub(crate) fn empty() -> Profile {
    let mut profile = TestProfile::new();
    profile.thread("main");
    profile.finish()
}

/// One sample.
pub(crate) fn one_sample() -> Profile {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    let stack = profile.stack(["main"]);
    profile.samples(thread, stack, 1);
    profile.finish()
}

/// `number` functions, all called by `main`, the last with the most samples.
pub(crate) fn many_functions(number: usize) -> Profile {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for index in 0..number {
        let name = format!("krate::function_{index:06}");
        let stack = profile.stack(["main", &name]);
        profile.samples(thread, stack, 1 + usize::from(index + 1 == number) * 9);
    }
    profile.finish()
}

/// One stack of two functions that call each other `depth` times, sampled at its end.
pub(crate) fn deep(depth: usize) -> Profile {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    let stack = profile.stack((0..depth).map(|level| if level % 2 == 0 { "even" } else { "odd" }));
    profile.samples(thread, stack, 20);
    profile.finish()
}

/// Functions with names of 2,000 characters that differ at their ends.
pub(crate) fn long_names() -> Profile {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for end in ["first", "second"] {
        let name = format!("{}::{end}", "long::".repeat(332) + "segment");
        let stack = profile.stack([name.as_str()]);
        profile.samples(thread, stack, 20);
    }
    profile.finish()
}

/// A window with one panel.
pub(crate) struct TestWindow {
    pub(crate) document: Arc<Document>,
    pub(crate) state: State,
    analyses: Analyses,
    panel: Box<dyn Panel>,
    jobs: Jobs,
    now: f64,
    /// All that was done.
    pub(crate) actions: Vec<Action>,
}

impl TestWindow {
    pub(crate) fn new(profile: Profile, panel: Box<dyn Panel>) -> Self {
        let document = Arc::new(Document::new("test".to_owned(), None, Arc::new(profile)));
        let state = State::new(&document);
        let (analyses, jobs) = (Analyses::default(), Jobs::immediate());
        Self { document, state, analyses, panel, jobs, now: 0.0, actions: Vec::new() }
    }

    /// Does `action` as if another panel had.
    pub(crate) fn act(&mut self, action: &Action) {
        self.now += 10.0;
        self.state.apply(action, self.now);
    }

    /// The name of the selected function.
    pub(crate) fn selected(&self) -> Option<&str> {
        self.state.selection().function.map(|function| self.document.function_name(function))
    }

    /// The last text that was copied.
    pub(crate) fn copied(&self) -> Option<&str> {
        self.actions.iter().rev().find_map(|action| match action {
            Action::Copy(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub(crate) fn ui(&mut self, ui: &mut egui::Ui) {
        self.analyses.update(&self.document, self.state.selection(), &self.jobs);
        let theme = Theme::of(ui.visuals());
        ui.painter().rect_filled(ui.max_rect(), 0.0, theme.canvas);
        let mut actions = Vec::new();
        let mut context = PanelContext {
            document: &self.document,
            selection: self.state.selection(),
            analyses: &self.analyses,
            found: self.analyses.found().map(AsRef::as_ref),
            pointer: None,
            theme: &theme,
            jobs: &self.jobs,
            actions: &mut actions,
        };
        ui.horizontal(|ui| self.panel.head(ui, &mut context));
        self.panel.ui(ui, &mut context);
        for action in actions {
            self.act(&action);
            self.actions.push(action);
        }
    }
}

/// A window of `size` points in which a test can click and look.
pub(crate) fn window(profile: Profile, panel: Box<dyn Panel>, size: Vec2) -> Harness<'static, TestWindow> {
    let window = TestWindow::new(profile, panel);
    let mut harness =
        Harness::builder().with_size(size).build_ui_state(|ui, window: &mut TestWindow| window.ui(ui), window);
    harness.run();
    harness
}

//! Profiles that several tests look at.

use traceview_core::model::{Color, CounterGraph, FieldValue, FlowAnchor, MarkerId, Profile, ThreadId};

use super::{MS, TestProfile};

/// 100 ms: `main` works, waits from 60 ms to 80 ms, and works again; `idle` only waits; `tracer` has slices and samples.
pub(crate) fn simple() -> Profile {
    let mut profile = TestProfile::recorded();
    let waiting = Some("main;waiting");
    let main = profile.thread("main");
    profile.samples(main, 0..40, "main:3;work:12;lib::inner!:7");
    profile.samples(main, 40..60, "main:3;work:14");
    profile.wait(main, 60..80, "futex", waiting);
    profile.samples(main, 80..100, "main:4;lib::rest:9");
    let idle = profile.thread("idle");
    profile.wait(idle, 0..70, "read pipe", waiting);
    profile.wait(idle, 70..100, "futex", waiting);
    let tracer = profile.thread("tracer");
    profile.slice(tracer, 10..50, "request");
    profile.slice(tracer, 50..90, "answer");
    profile.samples(tracer, 10..50, "main:3;lib::serve:1");
    profile.finish()
}

/// `main` with 60 samples in `search::find`, 30 in `search::find;memchr::count`, 10 in `io::write`; 5 ms of waits.
pub(crate) fn functions() -> Profile {
    let mut profile = TestProfile::new();
    profile.library("demo");
    let thread = profile.thread("main");
    profile.samples(thread, 0..60, "main:7;search::find:7");
    profile.samples(thread, 60..90, "main:7;search::find:7;memchr::count:7");
    profile.samples(thread, 90..100, "main:7;io::write:7");
    profile.wait(thread, 1..6, "futex", Some("main:7;io::write:7"));
    profile.finish()
}

/// A thread without a sample.
pub(crate) fn empty() -> Profile {
    let mut profile = TestProfile::new();
    profile.thread("main");
    profile.finish()
}

/// As many functions, all called by `main`, the last with the most samples.
pub(crate) fn many_functions(number: usize) -> Profile {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for index in 0..number {
        let count = if index + 1 == number { 10 } else { 1 };
        profile.more_samples(thread, count, &format!("main;krate::function_{index:06}"));
    }
    profile.finish()
}

/// One process with `threads` threads named `worker-N`, each with ten samples fewer than the one before it, to ten.
pub(crate) fn workers(threads: i64) -> Profile {
    let mut profile = TestProfile::new();
    profile.process("demo", 7);
    for number in 0..threads {
        let name = format!("worker-{number}");
        let thread = if number == 0 { profile.main_thread(&name) } else { profile.thread(&name) };
        profile.samples(thread, 1..1 + (100 - number * 10).max(10), "main;work");
    }
    profile.finish()
}

/// As many samples as `samples`, apart from each other, each with `depth` frames: `f0;f1;f2` and so on.
pub(crate) fn deep(depth: usize, samples: i64) -> Profile {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("deep");
    let frames: Vec<String> = (0..depth).map(|depth| format!("f{depth}")).collect();
    let stack = profile.stack(&frames.join(";"));
    for sample in 0..samples {
        profile.sample(thread, (sample + 1) * 100 * MS, stack);
    }
    profile.finish()
}

/// Some 20,000 samples of a program as a recording would have them, for pictures.
pub(crate) fn lively() -> Profile {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("rg");
    let outer =
        "std::rt::lang_start;main:9;ripgrep::main:41;ripgrep::search:88;grep_searcher::Searcher::search_path:51";
    let kinds = [
        "grep_searcher::LineBuffer::fill:12;std::fs::File::read:71",
        "grep_searcher::core::match_by_line:140;<regex_automata::meta::Regex as grep_matcher::Matcher>::find_at:22!",
        "grep_searcher::core::match_by_line:144;grep_printer::Standard<W>::sink:70;termcolor::Ansi::write:17!",
        "grep_searcher::core::match_by_line:140;memchr::memmem::Finder::find:52;memchr::arch::x86_64::avx2::find:90",
        "ignore::walk::WalkParallel::visit:31",
    ];
    let stacks = kinds.map(|inner| profile.stack(&format!("{outer};{inner}")));
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
            profile.sample(thread, time * MS, stack);
            time += 1;
        }
        if next(6) == 0 {
            let until = time + 1 + i64::try_from(next(700)).expect("few");
            let call = if next(2) == 0 { "futex" } else { "read src/main.rs" };
            profile.wait(thread, time..until, call, Some("main;waiting"));
            time = until;
        }
    }
    profile.finish()
}

/// 100 ms of a shell that starts a program with two threads that it joins: markers with stacks, linked as flows, and
/// counters.
pub(crate) fn family() -> Profile {
    let mut profile = TestProfile::recorded();
    profile.process("sh", 100);
    let shell = profile.main_thread("sh");
    profile.samples(shell, 0..20, "main;execute");
    profile.wait(shell, 20..90, "wait4", Some("main;execute;waitpid"));
    profile.samples(shell, 90..98, "main;execute");
    memory_and_cpu(&mut profile, 0..98, 2_000_000.0);
    profile.process("tool", 200);
    let tool = profile.main_thread("tool");
    profile.samples(tool, 20..40, "main;prepare");
    profile.wait(tool, 40..80, "futex", Some("main;join"));
    profile.samples(tool, 80..88, "main;lib::report");
    let workers = ["worker-1", "worker-2"].map(|name| profile.thread(name));
    profile.samples(workers[0], 38..70, "clone;work:12;lib::inner:7");
    profile.samples(workers[1], 39..80, "clone;work:14");
    memory_and_cpu(&mut profile, 20..88, 12_300_000.0);

    let mut link = |name: &str, from: (ThreadId, i64, &str, &str), to: (ThreadId, i64, &str, &str)| {
        let mut member = |(thread, micros, name, stack): (ThreadId, i64, &str, &str)| {
            let marker = profile.instant(thread, micros * 1000, name, Some(stack));
            (thread, micros * 1000, marker)
        };
        let ends = [member(from), member(to)];
        profile.flow(name, &ends.map(|(thread, time, marker)| (thread, time, FlowAnchor::Marker(marker))));
        ends[0].2
    };
    let fork = link("process", (shell, 20_000, "fork", "main;execute;fork"), (tool, 20_120, "process start", "fork"));
    for (worker, at) in workers.into_iter().zip([38_000, 39_000]) {
        link("thread", (tool, at, "spawn", "main;prepare;spawn;clone3"), (worker, at + 90, "thread start", "clone"));
    }
    link("join", (workers[1], 80_000, "thread exit", "clone;exit"), (tool, 80_060, "join", "main;join"));
    link("wait", (tool, 88_000, "process exit", "main;exit_group"), (shell, 90_000, "wait", "main;execute;waitpid"));
    profile.instant(tool, 21_500_000, "exec", Some("execve"));
    profile.instant(workers[0], 70_000_000, "thread exit", Some("clone;exit"));
    profile.marker_data(shell, fork, &[("child", "pid", FieldValue::Integer(200))]);
    profile.finish()
}

/// Counters of the latest process with a number for each millisecond.
fn memory_and_cpu(profile: &mut TestProfile, ms: std::ops::Range<i64>, most: f64) {
    let count = (ms.end - ms.start) as f64;
    let memory: Vec<(i64, f64)> =
        ms.clone().map(|ms| (ms, if ms % 7 == 6 { -most / count } else { most / count })).collect();
    let cpu: Vec<(i64, f64)> = ms.map(|ms| (ms, if ms / 10 % 3 == 0 { 3e5 } else { 9e5 })).collect();
    profile.counter("Memory (RSS)", (CounterGraph::Accumulated, "bytes", Some(Color::Purple)), &memory);
    profile.counter("CPU", (CounterGraph::Rate, "percent", Some(Color::Blue)), &cpu);
}

/// The row of a thread's first marker of this name.
pub(crate) fn marker_named(profile: &Profile, thread: ThreadId, name: &str) -> MarkerId {
    let markers = &profile.threads[thread.index()].markers;
    let row = markers.name.iter().position(|it| profile.string(*it) == name);
    MarkerId::new(row.unwrap_or_else(|| panic!("{thread:?} has no marker {name}")))
}

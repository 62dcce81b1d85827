//! Profiles that several tests look at.

use traceview_core::model::Profile;

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

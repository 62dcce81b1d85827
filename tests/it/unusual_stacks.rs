//! Stacks that are not made by plain calls, and programs that are not built or loaded as most are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

use traceview_tests::firefox::{File, Frame, is_function};
use traceview_tests::process::until;
use traceview_tests::profiler::Profiler;
use traceview_tests::recording::{number, percent, percentage};

use crate::traceview;

/// A mode of `stacks`, and those of its functions that a stack with the first of them consists of, innermost first.
type Known = (&'static str, &'static [&'static str]);

const STACKS: [Known; 9] = [
    ("handler", &["handler_work", "work_in_handler", "interrupt", "main"]),
    ("alternate", &["handler_work", "work_in_handler", "interrupt", "main"]),
    ("trap", &["work_and_step_over", "trap_at_start", "trap", "main"]),
    ("context", &["context_work"]),
    ("switched", &["switched_work", "call_on_stack", "switch", "main"]),
    ("coroutine", &["coroutine_work"]),
    ("vforked", &["vforked_work", "spawn_by_vfork", "vforked", "main"]),
    ("never", &["work_and_leave", "calls_at_its_end", "main"]),
    ("bare", &["called_by_bare_code", "bare_code", "call_bare_code", "main"]),
];

/// All functions of `stacks` that such a stack must not have besides.
const OTHERS: [&str; 4] = ["just_before_the_trap", "enter_coroutine", "leave_coroutine", "run_coroutine"];

fn names<'a>(frames: &[&'a Frame], known: &[&str]) -> Vec<&'a str> {
    let last = |frame: &&'a Frame| frame.function.rsplit("::").next();
    let mut names: Vec<_> =
        frames.iter().filter_map(last).filter(|name| known.contains(name) || OTHERS.contains(name)).collect();
    // Below Rust's `main` there is the one that the C library calls.
    names.dedup();
    names
}

#[test]
fn stacks_that_are_not_made_by_calls_alone_are_whole() {
    let traceview = traceview();
    for (mode, order) in STACKS {
        let recorded = traceview.record("", "stacks", mode);
        assert_eq!(recorded.finished.code, 0, "{mode}: {}", recorded.finished.stderr);
        let file = recorded.file();
        let all = file.cpu_below(order[0]);
        let whole = file.cpu_where(|frames| names(frames, order) == *order);
        let share = percentage(all, number(&recorded.truth(), "cpu_ns"));
        assert!(share > 85.0, "{mode}: {share:.1} % of the time was seen in {}", order[0]);
        // The first stack of a kind can be cut: what it needs is copied from then on.
        let share = percentage(whole, all);
        assert!(share >= 96.0, "{mode}: {share:.2} % of {all} ns have the whole stack");
        let rooted = percent(&recorded.info(), "rooted_percent");
        assert!(rooted >= 96.0, "{mode}: {rooted} % rooted");
    }
}

#[test]
fn what_a_signal_interrupted_is_the_caller_of_its_handler() {
    let traceview = traceview();
    let file = traceview.record("", "stacks", "handler").file();
    let has = |frames: &[&Frame], name| frames.iter().any(|frame| is_function(&frame.function, name));
    let handler = file.cpu_where(|frames| has(frames, "handler_work"));
    // Where the next signal waits already when the handler returns, all come in one place: mostly in the work, but it can be
    // in the loop around it.
    let below = |function| file.cpu_where(|frames| has(frames, "handler_work") && has(frames, function));
    let (in_loop, in_work) = (below("interrupt"), below("interrupted_work"));
    assert!(percentage(in_loop, handler) > 98.0, "{in_loop} of {handler} ns");
    assert!(in_work <= in_loop && in_work > 0, "{in_work} of {in_loop} ns");
}

#[test]
fn code_made_in_memory_is_walked_by_its_frame_pointers() {
    let traceview = traceview();
    let recorded = traceview.record("", "stacks", "made");
    let file = recorded.file();
    let is_made = |frame: &&Frame| frame.function.contains("of no file");
    let (mut inside, mut below) = (0, 0);
    for (count, innermost) in [(&mut inside, true), (&mut below, false)] {
        *count = file.cpu_where(|frames| {
            let place = frames.iter().position(is_made);
            let Some(place) = place.filter(|place| (*place == 0) == innermost) else { return false };
            let callers: Vec<_> = frames[place + 1..].iter().map(|frame| &frame.function).collect();
            is_function(callers[0], "made_in_memory") && callers.iter().any(|name| is_function(name, "main"))
        });
    }
    let made = file.cpu_where(|frames| frames.iter().any(is_made));
    assert!(inside > 0 && below > 0, "{inside} ns in it, {below} ns below it");
    assert!(percentage(inside + below, made) > 98.0, "{inside} and {below} of {made} ns");
}

/// The stacks of samples and waits with this function.
fn stacks_with<'a>(file: &'a File, function: &str) -> Vec<Vec<&'a Frame>> {
    let samples = file.threads.iter().flat_map(|thread| &thread.samples);
    let stacks = samples.map(|sample| file.frames(sample.stack).collect::<Vec<_>>());
    stacks.filter(|frames| frames.iter().any(|frame| is_function(&frame.function, function))).collect()
}

#[test]
fn waits_on_other_stacks_and_in_vfork_reach_the_root() {
    let traceview = traceview();
    for (mode, innermost, callers) in
        [("nap", "handler_nap", ["nap_in_handler", "main"]), ("vforked", "vfork", ["spawn_by_vfork", "main"])]
    {
        let file = traceview.record("", "stacks", mode).file();
        let stacks = stacks_with(&file, innermost);
        assert!(!stacks.is_empty(), "{mode}: nothing in {innermost}");
        for frames in stacks {
            let has = |name: &&str| frames.iter().any(|frame| is_function(&frame.function, name));
            assert!(callers.iter().all(has), "{mode}: {frames:?}");
        }
    }
}

const PROGRAM: &str = r#"
use std::hint::black_box;
fn main() {
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, "started").unwrap();
    }
    black_box(outer(black_box(120_000_000)));
}
#[inline(never)]
fn outer(steps: u64) -> u64 { black_box(middle(steps)) + 1 }
#[inline(never)]
fn middle(steps: u64) -> u64 {
    let mut numbers = [steps, 3, 2, 1];
    black_box(&mut numbers);
    black_box(leaf(numbers[0])) + numbers[2]
}
#[inline(never)]
fn leaf(steps: u64) -> u64 {
    let mut x = 1_u64;
    for _ in 0..steps { x ^= x << 13; x ^= x >> 7; x ^= x << 17; x = black_box(x); }
    x
}
"#;

/// Compiles `source` with these flags.
fn compile(traceview: &Profiler, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let (path, output) = (traceview.path(format!("{name}.rs")), traceview.path(name));
    fs::write(&path, source).expect("there is room");
    let status = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "-A", "warnings", "-C", "opt-level=3", "-o"])
        .arg(&output)
        .arg(&path)
        .args(flags)
        .status();
    assert!(status.expect("rustc starts").success(), "{flags:?}");
    output
}

fn assert_calls_are_seen(traceview: &Profiler, what: &str, program: &Path, args: &str) {
    const ORDER: [&str; 4] = ["leaf", "middle", "outer", "main"];
    let recorded = traceview.record_program("", program, args, b"");
    let file = recorded.file();
    let whole = file.cpu_where(|frames| names(frames, &ORDER) == ORDER);
    let share = percentage(whole, file.cpu());
    assert!(share > 90.0, "{what}: {share:.1} % of {} ns have the whole stack", file.cpu());
    let rooted = percent(&recorded.info(), "rooted_percent");
    assert!(rooted >= 98.0, "{what}: {rooted} % rooted");
}

#[test]
fn programs_of_all_layouts_have_whole_stacks() {
    let traceview = traceview();
    let layouts: [(&str, &[&str]); 5] = [
        ("frameless", &["-Cforce-frame-pointers=no"]),
        ("fixed", &["-Crelocation-model=static"]),
        ("static", &["-Ctarget-feature=+crt-static", "-Crelocation-model=static"]),
        ("static-pie", &["-Ctarget-feature=+crt-static"]),
        ("aborting", &["-Cpanic=abort", "-Clink-arg=-Wl,-z,lazy"]),
    ];
    for (name, flags) in layouts {
        let program = compile(&traceview, name, PROGRAM, flags);
        assert_calls_are_seen(&traceview, name, &program, "");
    }
}

#[test]
fn a_program_that_is_removed_or_replaced_while_it_runs_keeps_its_stacks() {
    let traceview = traceview();
    for what in ["removed", "renamed", "replaced"] {
        let program = compile(&traceview, what, PROGRAM, &[]);
        let started = traceview.path(format!("{what}.started"));
        thread::scope(|scope| {
            scope.spawn(|| {
                until("the program starts", || started.exists());
                thread::sleep(Duration::from_millis(30));
                let done = match what {
                    "removed" => fs::remove_file(&program),
                    "renamed" => fs::rename(&program, program.with_extension("other")),
                    _ => fs::remove_file(&program).and_then(|()| fs::copy("/bin/true", &program).map(|_| ())),
                };
                done.expect("the file is ours");
            });
            assert_calls_are_seen(&traceview, what, &program, &started.display().to_string());
        });
    }
}

const PLUGIN: &str = r#"
#![no_std]
#[panic_handler] fn never(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }
use core::hint::black_box;
#[repr(C)] struct Time { seconds: i64, ns: i64 }
unsafe extern "C" { fn clock_gettime(clock: i32, time: *mut Time) -> i32; }
fn now() -> u64 {
    let mut time = Time { seconds: 0, ns: 0 };
    unsafe { clock_gettime(3, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.ns as u64
}
#[unsafe(no_mangle)]
pub extern "C" fn plugin_work(cpu_ns: u64) -> usize {
    black_box(work_of_this(cpu_ns));
    plugin_work as *const () as usize
}
#[inline(never)]
#[unsafe(no_mangle)]
fn work_of_this(cpu_ns: u64) -> u64 {
    let end = now() + cpu_ns;
    let mut x = 1_u64;
    while now() < end {
        for _ in 0..50_000 { x ^= x << 13; x ^= x >> 7; x ^= x << 17; x = black_box(x); }
    }
    x
}
"#;

#[test]
fn libraries_that_take_turns_at_one_address_are_told_apart() {
    let traceview = traceview();
    let [first, second] = ["a", "b"].map(|name| {
        let source = PLUGIN.replace("work_of_this", &format!("work_of_{name}"));
        compile(&traceview, &format!("plugin_{name}"), &source, &["--crate-type=cdylib", "-Cpanic=abort"])
    });
    let args = format!("{} {} 12 25", first.display(), second.display());
    let recorded = traceview.record("", "plugins", &args);
    let (truth, file) = (recorded.truth(), recorded.file());
    assert!(number(&truth, "together") > 0, "the loader put them at one address: {truth}");
    let mut seen = Vec::new();
    for (name, library) in [("a", "plugin_a"), ("b", "plugin_b")] {
        let function = format!("work_of_{name}");
        let is_ours = |frame: &&Frame| is_function(&frame.function, &function);
        let elsewhere = file.cpu_where(|frames| frames.iter().any(|f| is_ours(f) && f.library != library));
        assert_eq!(elsewhere, 0, "{function} is in {library}");
        let with_callers = |frames: &[&Frame]| {
            let after = frames.iter().skip_while(|frame| !is_ours(frame)).skip(1);
            names(&after.copied().collect::<Vec<_>>(), &["plugin_work", "work_in", "main"])
                == ["plugin_work", "work_in", "main"]
        };
        seen.push(percentage(file.cpu_where(with_callers), number(&truth, name)));
    }
    // A sample is charged with what its thread used since the last one, which can have been in the other library.
    assert!(
        seen.iter().all(|seen| (85.0..=115.0).contains(seen)),
        "{seen:.1?} % of their time seen with their callers"
    );
}

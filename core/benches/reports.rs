//! What reports cost: `cargo bench -p traceview-core --bench reports`.
//!
//! A track of 120,000 slices as text for an AI assistant, as the whole way and step by step, and 10,000,000 samples as a list of
//! functions. Times are CPU times, as others may use the machine; the best of five counts.
#![expect(clippy::disallowed_methods, reason = "the code does no I/O, its benches do")]
#![expect(clippy::print_stdout, reason = "a bench says what it measured")]

use std::error::Error;
use std::hint::black_box;

use traceview_core::analysis::{Measure, Selection, StackValues, call_tree, functions, slices_as_samples};
use traceview_core::model::{
    CpuDelta, Frame, Function, Nanos, OsId, Process, Profile, ProfileBuilder, SampleTable, Slice, SliceId, Source,
    StackId, StandardCategory, Thread, ThreadId, Time, TimeRange,
};
use traceview_core::report::{AiForm, AiOptions, AiSubject, ai_text};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SLICES: usize = 120_000;
const SAMPLES: usize = 10_000_000;
const THREADS: usize = 16;
/// Stacks that samples have, their depth, and how many functions there are, each with some lines.
const STACKS: usize = 20_000;
const DEPTH: u64 = 24;
const FUNCTIONS: u64 = 3_000;
const LINES: u64 = 4;
const RUNS: usize = 5;

fn main() -> Result<()> {
    let slices = slices();
    let as_samples = slices_as_samples(&slices, TimeRange::ALL);
    let values = sums(&as_samples, Measure::Slices);
    let nodes = call_tree(&as_samples, &values).len();
    println!("{SLICES} slices, {nodes} nodes");
    report("slices as samples", || slices_as_samples(&slices, TimeRange::ALL).stacks.len())?;
    report("their sums", || sums(&as_samples, Measure::Slices).own.len())?;
    report("their call tree", || call_tree(&as_samples, &values).len())?;
    for (name, form, min_percent, budget) in [
        ("text, default", AiForm::Lines, AiOptions::MIN_PERCENT, None),
        ("text, all nodes", AiForm::Lines, 0.0, None),
        ("text, all nodes in blocks", AiForm::Blocks, 0.0, None),
        ("text, 100,000 characters", AiForm::Lines, 0.0, Some(100_000)),
    ] {
        let options = AiOptions { form, min_percent, budget };
        report(name, || text(&as_samples, &values, options))?;
        report(&format!("{name}, from the slices"), || {
            let as_samples = slices_as_samples(&slices, TimeRange::ALL);
            text(&as_samples, &sums(&as_samples, Measure::Slices), options)
        })?;
    }
    let samples = samples();
    println!("{SAMPLES} samples, {} nodes of stacks", samples.stacks.len());
    let values = sums(&samples, Measure::Cpu);
    report("sums", || sums(&samples, Measure::Cpu).own.len())?;
    report("list of functions", || functions(&samples, &values).rows.len())?;
    report("both", || functions(&samples, &sums(&samples, Measure::Cpu)).rows.len())
}

fn sums(profile: &Profile, measure: Measure) -> StackValues {
    StackValues::of(profile, &Selection::default(), measure).expect("all is time")
}

fn text(profile: &Profile, values: &StackValues, options: AiOptions) -> usize {
    let subject = AiSubject { selection: &Selection::default(), range: TimeRange::ALL, file: None, filters: &[] };
    ai_text(profile, values, &subject, options).expect("there is room").len()
}

fn report(name: &str, mut work: impl FnMut() -> usize) -> Result<()> {
    let (mut best, mut size) = (f64::INFINITY, 0);
    for _ in 0..RUNS {
        let start = cpu_millis()?;
        size = black_box(work());
        best = best.min(cpu_millis()? - start);
    }
    println!("{best:9.1} ms  {name} ({size})");
    Ok(())
}

/// CPU time that this thread used.
fn cpu_millis() -> Result<f64> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos: u64 = schedstat.split(' ').next().ok_or("no CPU time")?.parse()?;
    Ok(nanos as f64 / 1e6)
}

/// A thread with slices of 500 names, nested up to 12 deep.
fn slices() -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let thread = thread(&mut builder, "CrRendererMain", 1);
    let mut random = 1;
    let (mut open, mut now): (Vec<(usize, i64)>, i64) = (Vec::new(), 0);
    for row in 0..SLICES {
        random = mixed(random);
        while open.last().is_some_and(|(_, end)| *end <= now) {
            open.pop();
        }
        let depth = u32::try_from(open.len()).expect("a few levels");
        let most = open.last().map_or(4_000_000, |(_, end)| end - now);
        let duration = (most / 2).max(1);
        let name = builder.string(&format!("Event{}", random % 500 * 7 % 500));
        builder.thread_mut(thread).slices.push(Slice {
            start: Time(now),
            duration: Nanos(duration),
            name,
            category: StandardCategory::Other.id(),
            parent: open.last().map(|(parent, _)| SliceId::new(*parent)),
            depth,
            lane: 0,
            args: None,
            incomplete: false,
        });
        if open.len() < 12 && random >> 40 & 3 != 0 {
            open.push((row, now + duration));
            now += duration / 8;
        } else {
            now += duration;
        }
    }
    builder.finish().expect("slices lie in slices")
}

/// Threads with samples of 1 ms.
fn samples() -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let path = builder.string("src/made_up.rs");
    let source = Some(builder.source(Source::at(path)));
    let frames: Vec<_> = (0..FUNCTIONS * LINES)
        .map(|index| {
            let name = builder.string(&format!("made_up::module_{}::function_{index}", index / LINES));
            let function = builder.function(Function { source, ..Function::named(name) });
            let line = u32::try_from(index % LINES + 1).ok();
            builder.frame(Frame { line, category: Some(StandardCategory::Workspace.id()), ..Frame::of(function) })
        })
        .collect();
    let mut random = 1;
    let stacks: Vec<StackId> = (0..STACKS)
        .map(|_| {
            random = mixed(random);
            let (mut choices, mut at, mut stack) = (random, 7, None);
            for _ in 0..DEPTH {
                at = mixed(at ^ (choices & 1));
                choices >>= 1;
                let frame = frames[usize::try_from(at % (FUNCTIONS * LINES)).expect("few")];
                stack = Some(builder.stack(stack, frame));
            }
            stack.expect("a frame")
        })
        .collect();
    for number in 0..THREADS {
        let thread = thread(&mut builder, &format!("worker {number}"), i64::try_from(number).expect("few"));
        let count = SAMPLES / THREADS;
        let mut pick = || {
            random = mixed(random);
            stacks[usize::try_from(random % STACKS as u64).expect("few")]
        };
        builder.thread_mut(thread).samples = SampleTable {
            time: (0..count).map(|at| Time(i64::try_from(at).expect("few") * 1_000_000)).collect(),
            stack: (0..count).map(|_| Some(pick())).collect(),
            cpu: (0..count).map(|at| CpuDelta::new(Nanos(999_000 + i64::try_from(at % 2_000).expect("few")))).collect(),
            ..SampleTable::default()
        };
    }
    builder.finish().expect("stacks of its own")
}

fn thread(builder: &mut ProfileBuilder, name: &str, tid: i64) -> ThreadId {
    let name = builder.string(name);
    let process = builder.add_process(Process::new(OsId::Number(tid), name));
    builder.add_thread(Thread::new(process, OsId::Number(tid), name))
}

/// The next number of a sequence that looks random (SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

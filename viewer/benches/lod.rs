//! What level of detail costs: `cargo bench -p traceview-viewer --bench lod [SLICES]`.
//!
//! Prints, for several shapes of data (10 million slices if not told otherwise), the time to build the index, its size,
//! and the time of queries over views of every zoom level; then the same of the index of the timeline, for one thread
//! with as many samples, and for 600 threads that share them. Times are CPU time, the least of several runs, as a shared
//! machine only ever adds to it. Everything is seeded: two runs see the same slices and views.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod shared;

use std::sync::Arc;
use std::time::Duration;

use shared::{Random, timed};
use traceview_core::model::{
    CategoryId, CpuDelta, Nanos, SampleTable, Slice, SliceTable, StackId, StringId, Time, TimeRange,
};
use traceview_viewer::lod::{
    Activity, Cell, Columns, Pyramid, SampleTiming, SampleUses, SliceRows, Spans, StackGroups,
};

const PIXELS: u32 = 1600;
const DEPTHS: u32 = 32;
const BUILDS: usize = 3;
const QUERIES: usize = 15;
const VIEWS_PER_ZOOM: usize = 4;
/// How long a sample stands for.
const TICK: Nanos = Nanos(1_000_000);
/// As many rows as the timeline has on a high screen when it is given all of it.
const VISIBLE_ROWS: usize = 40;
/// Zoom levels that share a line of the output: about a power of ten. Each view is 5/8 as long as the one before, so that
/// pixels come in all proportions to buckets, which are powers of two.
const ZOOMS_PER_LINE: u32 = 5;

fn main() {
    // `cargo bench` adds `--bench`, `cargo test --benches` runs it without: then only whether it runs is of interest.
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let given = arguments.iter().find_map(|argument| argument.parse().ok());
    let slices = given.unwrap_or(if is_bench { 10_000_000 } else { 20_000 });
    measure(&format!("stack chart, {DEPTHS} depths"), &stack_chart(slices));
    measure("one row, even", &row(slices, |random| (random.below(2000), random.below(8000))));
    measure("one row, bursts among single slices", &row(slices, bursts()));
    measure("one row, lengths of every magnitude", &row(slices, |random| (magnitude(random), magnitude(random))));
    measure_activity(1, slices);
    measure_activity(600, slices.div_ceil(600));
}

/// Builds and queries the index of the timeline for so many threads with so many samples each.
fn measure_activity(threads: usize, samples: usize) {
    let groups = StackGroups { of_stack: vec![0, 1, 2, 3, 4], of_none: 4, count: 5 };
    let groups = Arc::new(groups);
    let mut random = Random(5);
    let tables: Vec<Arc<SampleTable>> = (0..threads).map(|_| Arc::new(ticks(samples, &mut random))).collect();
    let build = || -> Vec<Activity<_>> {
        let uses = |table| SampleUses::new(Arc::clone(table), Arc::clone(&groups), SampleTiming::for_interval(TICK));
        tables.iter().map(|table| Activity::build(uses(table))).collect()
    };
    let time = shortest(BUILDS, || {
        std::hint::black_box(build());
    });
    let indices = build();
    let bytes: usize = indices.iter().map(Activity::index_bytes).sum();
    let all = (threads * samples) as f64;
    println!("timeline, {threads} threads with {samples} samples each");
    println!(
        "  build {:.2} s ({:.1} million samples/s), index {:.1} bytes a sample",
        time.as_secs_f64(),
        all / time.as_secs_f64() / 1e6,
        bytes as f64 / all
    );
    let length = tables[0].time.last().expect("there are samples").0;
    let mut amounts = Vec::new();
    for part in [1, 10, 1000] {
        let start = Time(length / 3 / part);
        let range = TimeRange { start, end: start + Nanos(length / part) };
        let columns = Columns::covering(range, PIXELS).expect("it is not empty");
        let visible = threads.min(VISIBLE_ROWS);
        let time = shortest(QUERIES, || {
            for index in &indices[..visible] {
                index.query(columns, &mut amounts);
                std::hint::black_box(&amounts);
            }
        });
        println!("  1/{part} of the time, {visible} rows: {:.3} ms", time.as_secs_f64() * 1e3);
    }
}

/// Samples of a thread that runs most of the time.
fn ticks(samples: usize, random: &mut Random) -> SampleTable {
    let mut table = SampleTable::default();
    let mut now = 0;
    for _ in 0..samples {
        now += TICK.0 * (1 + random.below(12) / 10);
        table.time.push(Time(now));
        table.stack.push(Some(StackId::new(usize::try_from(random.below(5)).expect("not negative"))));
        table.cpu.push(CpuDelta::new(TICK));
    }
    table
}

/// Builds and queries, and prints a block of figures.
fn measure(shape: &str, slices: &SliceTable) {
    let count = slices.len();
    let extent = slices.start.iter().zip(&slices.duration).map(|(start, duration)| *start + *duration);
    let range = TimeRange { start: slices.start[0], end: extent.max().expect("there are slices") };
    println!("{shape}: {count} slices in {:.1} s", (range.end - range.start).as_secs_f64());

    let build = shortest(BUILDS, || {
        std::hint::black_box(Pyramid::build(SliceRows::new(slices)));
    });
    let pyramid = Pyramid::build(SliceRows::new(slices));
    let per_slice = pyramid.index_bytes() as f64 / count as f64;
    println!(
        "  build {:.2} s ({:.1} million slices/s), index {per_slice:.1} bytes a slice ({:.0} % of the slices' own)",
        build.as_secs_f64(),
        count as f64 / build.as_secs_f64() / 1e6,
        per_slice / bytes_per_slice() * 100.0,
    );

    let mut random = Random(1);
    let mut cells = Vec::new();
    let mut worst = Duration::ZERO;
    let mut line = (Duration::ZERO, 0);
    let lengths = std::iter::successors(Some((range.end - range.start).0), |length| Some(length / 8 * 5));
    for (zoom, length) in (0..).zip(lengths.take_while(|&length| length >= i64::from(PIXELS))) {
        for _ in 0..if zoom == 0 { 1 } else { VIEWS_PER_ZOOM } {
            // Around slices, so that views of bursts are as likely as bursts have slices.
            let middle = slices.start[usize::try_from(random.below(count as i64)).expect("not negative")];
            let start = if zoom == 0 { range.start } else { middle + Nanos(-length / 2) };
            let (time, drawn) = query(&pyramid, TimeRange { start, end: start + Nanos(length) }, &mut cells);
            line = (line.0.max(time), line.1.max(drawn));
        }
        if zoom % ZOOMS_PER_LINE == 0 {
            let (time, drawn) = std::mem::take(&mut line);
            worst = worst.max(time);
            println!(
                "  views down to {:>13.6} s: {:.3} ms, {drawn} cells at most",
                length as f64 / 1e9,
                time.as_secs_f64() * 1e3
            );
        }
    }
    worst = worst.max(line.0);
    println!("  worst view: {:.3} ms", worst.as_secs_f64() * 1e3);
}

/// The time of one query and how many cells it gives.
fn query<S: Spans>(pyramid: &Pyramid<S>, range: TimeRange, cells: &mut Vec<Cell>) -> (Duration, usize) {
    let time = shortest(QUERIES, || {
        cells.clear();
        pyramid.query(range, PIXELS, 0..pyramid.rows(), cells);
    });
    (time, cells.len())
}

fn shortest(runs: usize, mut run: impl FnMut()) -> Duration {
    let times = (0..runs).map(|_| timed(&mut run).0);
    times.min().expect("there is a run")
}

fn bytes_per_slice() -> f64 {
    let one = |slice: &Slice| {
        size_of_val(&slice.start)
            + size_of_val(&slice.duration)
            + size_of_val(&slice.name)
            + size_of_val(&slice.category)
            + size_of_val(&slice.parent)
            + size_of_val(&slice.depth)
            + size_of_val(&slice.lane)
            + size_of_val(&slice.args)
            + size_of_val(&slice.incomplete)
    };
    one(&slice(0, 0, 0)) as f64
}

fn slice(start: i64, duration: i64, depth: u32) -> Slice {
    Slice {
        start: Time(start),
        duration: Nanos(duration),
        name: StringId::new(0),
        category: CategoryId::new(0),
        parent: None,
        depth,
        lane: 0,
        args: None,
        incomplete: false,
    }
}

/// Calls and returns at random, as a traced program makes them.
fn stack_chart(slices: usize) -> SliceTable {
    let mut random = Random(7);
    let mut table = SliceTable::default();
    let mut open: Vec<usize> = Vec::new();
    let mut now = 0;
    while table.len() < slices || !open.is_empty() {
        now += 1 + random.below(400);
        let calls = table.len() < slices && (open.is_empty() || random.below(2) == 0);
        if calls && open.len() < DEPTHS as usize {
            open.push(table.len());
            table.push(slice(now, 0, u32::try_from(open.len() - 1).expect("depths are few")));
        } else if let Some(row) = open.pop() {
            table.duration[row] = Time(now) - table.start[row];
        }
    }
    table
}

/// One slice after another, with (gap, length) as given.
fn row(slices: usize, mut next: impl FnMut(&mut Random) -> (i64, i64)) -> SliceTable {
    let mut random = Random(3);
    let mut table = SliceTable::default();
    let mut now = 0;
    for _ in 0..slices {
        let (gap, length) = next(&mut random);
        table.push(slice(now + gap, length, 0));
        now += gap + length;
    }
    table
}

/// Half of the slices are single, one each 100 µs; the others come 10,000 at once, nanoseconds apart.
fn bursts() -> impl FnMut(&mut Random) -> (i64, i64) {
    let mut index = 0;
    move |random| {
        index += 1;
        let single = index / 10_000 % 2 == 0;
        if single { (random.below(200_000), random.below(5000)) } else { (random.below(5), random.below(20)) }
    }
}

/// From 0 to 16 ms, each power of two as often as the others.
fn magnitude(random: &mut Random) -> i64 {
    let bits = random.below(24);
    random.below(2 << bits)
}

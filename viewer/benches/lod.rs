//! What level of detail costs: `cargo bench -p traceview-viewer --bench lod [SLICES]`.
//!
//! Prints, for several shapes of data (10 million slices if not told otherwise), the time to build the index, its size,
//! and the time of queries over views of every zoom level. Times are the shortest of several runs, as a shared machine
//! only ever adds to them. Everything is seeded: two runs see the same slices and views.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::{Duration, Instant};

use traceview_core::model::{CategoryId, Nanos, Slice, SliceTable, StringId, Time, TimeRange};
use traceview_viewer::lod::{Cell, Pyramid, SliceRows, Spans};

const PIXELS: u32 = 1600;
const DEPTHS: u32 = 32;
const BUILDS: usize = 3;
const QUERIES: usize = 15;
const VIEWS_PER_ZOOM: usize = 4;
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
    measure("one row, lengths of every magnitude", &row(slices, |random| (random.magnitude(), random.magnitude())));
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
            let middle = slices.start[random.index(count)];
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
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
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

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: i64) -> i64 {
        (self.next() % limit.unsigned_abs()).cast_signed()
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.next() % len as u64).expect("less than len")
    }

    /// From 0 to 16 ms, each power of two as often as the others.
    fn magnitude(&mut self) -> i64 {
        let bits = self.below(24);
        self.below(2 << bits)
    }
}

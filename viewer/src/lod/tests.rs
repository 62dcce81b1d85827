//! Properties of queries: nothing is lost, nothing is invented, panning changes nothing.

use std::collections::BTreeMap;

use proptest::prelude::{Just, Strategy, prop, prop_oneof, proptest};
use traceview_core::model::{Nanos, Time, TimeRange};

use super::{Cell, Pyramid, Spans};

const ROWS: u32 = 3;

/// Buckets of half of it count single nanoseconds: up to here cells are exact to the nanosecond.
const LONGEST_EXACT_PIXEL: i64 = 1 << 33;

/// Spans as (row, start, end).
#[derive(Clone, Debug)]
struct List(Vec<(u32, i64, i64)>);

impl Spans for List {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn rows(&self) -> u32 {
        ROWS
    }

    fn row(&self, item: usize) -> u32 {
        self.0[item].0
    }

    fn start(&self, item: usize) -> Time {
        Time(self.0[item].1)
    }

    fn duration(&self, item: usize) -> Nanos {
        Nanos(self.0[item].2 - self.0[item].1)
    }
}

#[derive(Clone, Copy, Debug)]
struct View {
    range: TimeRange,
    pixels: u32,
}

impl View {
    fn length(self) -> i64 {
        self.range.end.0 - self.range.start.0
    }

    fn is_a_pixel(self, length: i64) -> bool {
        i128::from(length) * i128::from(self.pixels) >= i128::from(self.length())
    }

    fn sees(self, start: i64, end: i64) -> bool {
        start < self.range.end.0 && end > self.range.start.0
    }

    fn query(self, list: &List, chunk_len: usize) -> Vec<Cell> {
        let mut cells = Vec::new();
        Pyramid::build_in_chunks(list.clone(), chunk_len).query(self.range, self.pixels, 0..ROWS, &mut cells);
        cells
    }
}

/// Lengths of time of every magnitude, from none to an hour, small ones most often.
fn lengths() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), 0..4i64, 0..100i64, 0..10_000i64, (0..42u32, 0..1i64 << 42).prop_map(|(bits, ns)| ns >> bits)]
}

fn lists() -> impl Strategy<Value = List> {
    let span = (0..ROWS, lengths(), lengths());
    (-(1i64 << 40)..1 << 40, prop::collection::vec(span, 0..150)).prop_map(|(origin, spans)| {
        let mut ends = [origin; ROWS as usize];
        let place = |(row, gap, length): (u32, i64, i64)| {
            let start = ends[row as usize] + gap;
            ends[row as usize] = start + length;
            (row, start, start + length)
        };
        List(spans.into_iter().map(place).collect())
    })
}

/// A list, and a view that begins near one of its spans.
fn lists_and_views() -> impl Strategy<Value = (List, View)> {
    let length = (0..46u32, 1i64 << 45..1 << 46).prop_map(|(bits, ns)| (ns >> bits).max(1));
    let view = (1..60u32, length, prop::sample::select(vec![-2i64, -1, 0, 1, 2, 3]), lengths(), 0..150usize);
    (lists(), view).prop_map(|(list, (pixels, length, eighths, nudge, near))| {
        let length = length.min(i64::from(pixels) * LONGEST_EXACT_PIXEL);
        let near = list.0.get(near % list.0.len().max(1)).map_or(0, |span| span.1);
        let start = near - length / 8 * eighths + nudge;
        (list, View { range: TimeRange { start: Time(start), end: Time(start + length) }, pixels })
    })
}

fn chunk_lens() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 3, 16, 4096])
}

/// The cells of one row, by their definition and span by span; grid cells are `cell` wide.
fn cells_by_definition(list: &List, view: View, row: u32, cell: i64) -> Vec<(i64, i64, i64, u32, bool)> {
    let spans = list.0.iter().zip(0u32..).filter(|(span, _)| span.0 == row).map(|(span, item)| (span.1, span.2, item));
    let (long, short): (Vec<_>, Vec<_>) = spans.partition(|span| view.is_a_pixel(span.1 - span.0));
    // By grid cell and number of exact spans before.
    let mut shared = BTreeMap::<_, Vec<(i64, i64, u32)>>::new();
    for span in short {
        let before = long.iter().filter(|it| it.2 < span.2).count();
        let last = span.0.max(span.1 - 1).div_euclid(cell);
        for index in span.0.div_euclid(cell)..=last {
            shared.entry((index, before)).or_default().push(span);
        }
    }
    let mut cells = Vec::new();
    for ((index, before), spans) in shared {
        let (grid_start, grid_end) = (index * cell, (index + 1) * cell);
        let start = before.checked_sub(1).map_or(grid_start, |it| long[it].1.max(grid_start));
        let end = long.get(before).map_or(grid_end, |it| it.0.min(grid_end));
        let covered = spans.iter().map(|it| it.1.min(grid_end) - it.0.max(grid_start)).sum::<i64>();
        let longest = spans.iter().map(|it| it.1 - it.0).max().unwrap();
        let item = spans.iter().find(|it| it.1 - it.0 == longest).unwrap().2;
        let points = view.length() < i64::from(view.pixels);
        let end = if points { start } else { end };
        if view.sees(start, end) || (start == end && view.range.contains(Time(start))) {
            cells.push((start, end, covered, item, false));
        }
    }
    let exact = long.iter().filter(|it| view.sees(it.0, it.1)).map(|it| (it.0, it.1, it.1 - it.0, it.2, true));
    cells.extend(exact);
    cells.sort_unstable_by_key(|it| (it.0, it.1));
    cells
}

proptest! {
    #[test]
    fn a_query_gives_what_looking_at_each_span_gives((list, view) in lists_and_views(), chunk_len in chunk_lens()) {
        let cells = view.query(&list, chunk_len);
        let cell = super::cell::Scale::new(view.range, view.pixels).unwrap().cell;
        for row in 0..ROWS {
            let mut of_row = cells
                .iter()
                .filter(|it| it.row == row)
                .map(|it| (it.start.0, it.end().0, it.covered.0, it.item, it.exact))
                .collect::<Vec<_>>();
            of_row.sort_unstable_by_key(|it| (it.0, it.1));
            assert_eq!(of_row, cells_by_definition(&list, view, row, cell), "row {row}");
        }
    }

    #[test]
    fn no_span_of_a_pixel_is_lost((list, view) in lists_and_views(), chunk_len in chunk_lens()) {
        let cells = view.query(&list, chunk_len);
        let mut drawn = cells.iter().filter(|it| it.exact).map(|it| (it.row, it.start.0, it.end().0)).collect::<Vec<_>>();
        let is_long = |it: &&(u32, i64, i64)| view.is_a_pixel(it.2 - it.1) && view.sees(it.1, it.2);
        let mut long = list.0.iter().filter(is_long).copied().collect::<Vec<_>>();
        drawn.sort_unstable();
        long.sort_unstable();
        assert_eq!(drawn, long);
    }

    #[test]
    fn every_covered_moment_is_in_a_cell((list, view) in lists_and_views(), chunk_len in chunk_lens()) {
        let cells = view.query(&list, chunk_len);
        for &(row, start, end) in list.0.iter().filter(|it| view.sees(it.1, it.2)) {
            let mut uncovered = start.max(view.range.start.0);
            let end = end.min(view.range.end.0);
            for cell in cells.iter().filter(|it| it.row == row) {
                if cell.start.0 <= uncovered {
                    uncovered = uncovered.max(cell.end().0);
                }
            }
            assert!(uncovered >= end, "row {row} is empty at {uncovered}");
        }
    }

    #[test]
    fn nothing_is_drawn_where_nothing_is((list, view) in lists_and_views(), chunk_len in chunk_lens()) {
        let cells = view.query(&list, chunk_len);
        for pair in cells.windows(2).filter(|pair| pair[0].row == pair[1].row) {
            assert!(pair[0].end() <= pair[1].start, "cells of a row follow each other: {pair:?}");
        }
        for cell in cells {
            let (row, start, end) = list.0[cell.item as usize];
            assert_eq!(cell.row, row);
            assert!(start <= cell.end().0 && end >= cell.start.0, "what it is named for is in it: {cell:?}");
            assert!(cell.covered <= cell.duration, "{cell:?}");
            if !cell.exact {
                assert!(!view.is_a_pixel(end - start));
                let pixels = i128::from(cell.duration.0) * i128::from(view.pixels);
                assert!(pixels <= 2 * i128::from(view.length()), "about a pixel wide: {cell:?}");
            }
        }
    }

    #[test]
    fn panning_moves_cells_and_changes_nothing(
        (list, view) in lists_and_views(), chunk_len in chunk_lens(), share in -1.0..1.0f64
    ) {
        let step = (view.length() as f64 * share) as i64;
        let range = TimeRange { start: Time(view.range.start.0 + step), end: Time(view.range.end.0 + step) };
        let panned = View { range, ..view };
        let in_both = |cells: Vec<Cell>| {
            let both = |it: &Cell| [view, panned].iter().all(|view| view.sees(it.start.0, it.end().0));
            cells.into_iter().filter(both).collect::<Vec<_>>()
        };
        assert_eq!(in_both(view.query(&list, chunk_len)), in_both(panned.query(&list, chunk_len)));
    }

    #[test]
    fn the_sum_of_coverage_is_the_sum_of_durations(
        list in lists(), pixels in 1..5000u32, chunk_len in chunk_lens()
    ) {
        let range = TimeRange { start: Time(-(1 << 60)), end: Time(1 << 60) };
        for row in 0..ROWS {
            let of_row = list.0.iter().filter(|it| it.0 == row);
            let total = of_row.clone().map(|it| it.2 - it.1).sum::<i64>();
            let start = of_row.clone().map(|it| it.1).min().unwrap_or(0);
            let end = of_row.map(|it| it.2).max().unwrap_or(0) + 1;
            let tight = View { range: TimeRange { start: Time(start), end: Time(end) }, pixels };
            let sum = |view: View| {
                let cells = view.query(&list, chunk_len);
                cells.iter().filter(|it| it.row == row).map(|it| it.covered.0).sum::<i64>()
            };
            for view in [tight, View { range, pixels }] {
                // Rounded beyond that: 2¹¹ ns for each bucket of an hour.
                let exact = view.length() <= i64::from(pixels) * LONGEST_EXACT_PIXEL;
                let rounding = if exact { 0 } else { list.0.len() as i64 * (1 << 11) };
                assert!((sum(view) - total).abs() <= rounding, "{} for {total} in {view:?}", sum(view));
            }
        }
    }
}

#[test]
fn full_chunks_agree_with_chunks_of_one() {
    // 20,000 spans: even ones, then bursts, then long ones, so that chunks of all kinds come up.
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut at = 0i64;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % limit) as i64
    };
    let spans = (0..20_000).map(|index| {
        let burst_ends = index % 100 == 0;
        let (gap, length) = match index / 5000 {
            0 => (below(50), below(100)),
            1 if burst_ends => (below(10_000_000), 3),
            1 => (below(2), below(5)),
            2 => (below(1000), below(1_000_000)),
            _ => {
                let magnitude = below(30);
                (0, below(1 << magnitude))
            }
        };
        let start = at + gap;
        at = start + length;
        (0, start, at)
    });
    let list = List(spans.collect());
    let (whole, single) = (Pyramid::build(list.clone()), Pyramid::build_in_chunks(list, 1));
    let mut shared = 0;
    // Not by powers of two: pixels in all proportions to buckets.
    let lengths = std::iter::successors(Some(at), |length| Some(length / 8 * 5));
    for length in lengths.take_while(|&length| length > 0) {
        for eighth in 0..8 {
            let start = Time(at / 8 * eighth);
            let range = TimeRange { start, end: start + Nanos(length) };
            let (mut a, mut b) = (Vec::new(), Vec::new());
            whole.query(range, 100, 0..1, &mut a);
            single.query(range, 100, 0..1, &mut b);
            assert_eq!(a, b, "{length} ns from {start:?}");
            shared += a.iter().filter(|it| !it.exact).count();
        }
    }
    assert!(shared > 1000, "the views have cells that spans share, and not by chance: {shared}");
}

/// Spans that count how often they are looked at.
struct Counted<'a> {
    list: &'a List,
    looks: std::cell::Cell<usize>,
}

impl Spans for Counted<'_> {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn rows(&self) -> u32 {
        self.list.rows()
    }

    fn row(&self, item: usize) -> u32 {
        self.list.row(item)
    }

    fn start(&self, item: usize) -> Time {
        self.looks.set(self.looks.get() + 1);
        self.list.start(item)
    }

    fn duration(&self, item: usize) -> Nanos {
        self.list.duration(item)
    }
}

#[test]
fn a_query_looks_at_spans_in_proportion_to_the_pixels() {
    const PIXELS: u32 = 100;
    // 200,000 spans: every other thousand comes within 4 µs, the others one a millisecond.
    let place = |at: &mut i64, index: i64| {
        let start = *at + if index / 1000 % 2 == 0 { 1_000_000 } else { 2 };
        *at = start + 2;
        Some((0, start, *at))
    };
    let list = List((0..200_000).scan(0, place).collect());
    let &(_, _, end) = list.0.last().unwrap();
    let pyramid = Pyramid::build(Counted { list: &list, looks: std::cell::Cell::new(0) });
    for length in std::iter::successors(Some(end), |length| Some(length / 8 * 5)).take_while(|&length| length > 0) {
        for middle in [50_000, 100_999, 101_000, 101_500] {
            let start = Time(list.0[middle].1 - length / 2);
            pyramid.spans().looks.set(0);
            let mut cells = Vec::new();
            pyramid.query(TimeRange { start, end: start + Nanos(length) }, PIXELS, 0..1, &mut cells);
            let looks = pyramid.spans().looks.get();
            let limit = 16 * PIXELS as usize + 4096;
            assert!(looks <= limit, "{looks} looks for {} cells of {length} ns", cells.len());
        }
    }
}

#[test]
fn odd_questions_have_empty_answers() {
    let list = List(vec![(0, 5, 6), (2, i64::MAX - 5, i64::MAX), (1, i64::MIN, i64::MIN + 5)]);
    let pyramid = Pyramid::build(list);
    let mut cells = Vec::new();
    pyramid.query(TimeRange { start: Time(0), end: Time(10) }, 0, 0..ROWS, &mut cells);
    pyramid.query(TimeRange { start: Time(9), end: Time(3) }, 10, 0..ROWS, &mut cells);
    pyramid.query(TimeRange { start: Time(0), end: Time(10) }, 10, 7..9, &mut cells);
    assert_eq!(cells, []);
    pyramid.query(TimeRange::ALL, 1000, 0..ROWS, &mut cells);
    assert_eq!(cells.iter().map(|it| it.item).collect::<Vec<_>>(), [0, 2, 1], "all of time is fine");
}

#[test]
fn rows_that_break_the_rules_do_no_harm() {
    let list = List(vec![(0, 5, 500), (0, 3, 900), (0, 3, 1), (0, i64::MIN, i64::MIN), (0, 4, 4000), (0, 6, 7)]);
    for chunk_len in [1, 2, 4096] {
        for pixels in [1, 3, 1000] {
            View { range: TimeRange { start: Time(0), end: Time(1000) }, pixels }.query(&list, chunk_len);
        }
    }
}

//! The index over rows of spans, and the query.

use std::ops::Range;

use traceview_core::model::TimeRange;

use super::bucket::{Bucket, Occupancy, Span, Sum, sum_of_all, sum_up};
use super::cell::{Cell, CellWriter, Scale};
use super::spans::Spans;

/// An index over [`Spans`] that finds what can be seen of them.
///
/// Each row is cut into chunks of up to 4096 consecutive spans. A chunk has sums over time buckets of the widths that
/// suit its own spans, so that bursts in an else quiet row are served as well as even ones, and one sum of all. Buckets
/// are aligned to absolute time. A query takes from every chunk in view the widest buckets of at most half a pixel, or
/// the spans themselves where they are further apart than that. Its time is proportional to the pixels, plus a few
/// nanoseconds for each chunk in view and for the spans of the two chunks at the view's edges.
///
/// Besides the spans it takes 4 bytes for each of them and at most 11 for the buckets (fewer where spans are spread
/// unevenly); a row takes about 100 bytes.
#[derive(Clone, Debug)]
pub struct Pyramid<S> {
    spans: S,
    /// The items, row after row.
    order: Vec<u32>,
    /// Where in `chunks` each row begins, and the last one ends.
    row_chunks: Vec<u32>,
    chunks: Vec<Chunk>,
    levels: Vec<Level>,
    /// The buckets of the widest level of each chunk, then those of the next ones. So those that a query reads lie side
    /// by side, however many chunks are in view.
    buckets: Vec<Vec<Bucket>>,
}

/// Consecutive spans of a row.
#[derive(Clone, Debug)]
struct Chunk {
    /// Its part of `order`.
    items: Range<u32>,
    /// Its part of `levels`, from wide buckets to narrow ones.
    levels: Range<u32>,
    /// The start of its first span.
    start: i64,
    /// From how many bits on one bucket holds all.
    bits: u32,
    /// The sum over that bucket.
    all: Bucket,
}

/// The buckets of one width of a chunk.
#[derive(Clone, Debug)]
struct Level {
    bits: u32,
    /// Its part of the `buckets` that are as many levels from the widest.
    buckets: Range<u32>,
}

/// Spans in a chunk: few enough to be cheap where a view begins or ends within it, many enough for chunks not to count.
const CHUNK: usize = 4096;

impl<S: Spans> Pyramid<S> {
    /// Builds the index.
    ///
    /// # Panics
    /// If an item's row is not less than the number of rows, or there are `u32::MAX` items or more.
    pub fn build(spans: S) -> Self {
        Self::build_in_chunks(spans, CHUNK)
    }

    pub(super) fn build_in_chunks(spans: S, chunk_len: usize) -> Self {
        let (order, row_ends) = sort_by_row(&spans);
        let mut pyramid =
            Self { spans, order, row_chunks: vec![0], chunks: Vec::new(), levels: Vec::new(), buckets: Vec::new() };
        let mut work = Vec::with_capacity(chunk_len);
        let mut first = 0;
        for end in row_ends {
            while first < end {
                let next = end.min(first + chunk_len);
                pyramid.add_chunk(first..next, &mut work);
                first = next;
            }
            pyramid.row_chunks.push(index(pyramid.chunks.len()));
        }
        pyramid.chunks.shrink_to_fit();
        pyramid.levels.shrink_to_fit();
        pyramid.buckets.iter_mut().for_each(Vec::shrink_to_fit);
        pyramid
    }

    /// What it was built over.
    pub fn spans(&self) -> &S {
        &self.spans
    }

    /// How many rows there are.
    pub fn rows(&self) -> u32 {
        index(self.row_chunks.len() - 1)
    }

    /// The items of `row` in order of time; none of a row that does not exist.
    pub fn items(&self, row: u32) -> &[u32] {
        let row = row as usize;
        let chunks = match (self.row_chunks.get(row), self.row_chunks.get(row + 1)) {
            (Some(first), Some(end)) => &self.chunks[*first as usize..*end as usize],
            _ => &[],
        };
        match (chunks.first(), chunks.last()) {
            (Some(first), Some(last)) => &self.order[as_usize(&(first.items.start..last.items.end))],
            _ => &[],
        }
    }

    /// How many bytes the index takes, besides the spans.
    pub fn index_bytes(&self) -> usize {
        size_of_val(&*self.order)
            + size_of_val(&*self.row_chunks)
            + size_of_val(&*self.chunks)
            + size_of_val(&*self.levels)
            + self.buckets.iter().map(|buckets| size_of_val(&**buckets)).sum::<usize>()
    }

    /// Adds to `cells` what can be seen of `rows` when `range` is `pixels` wide: row after row, each in order of time.
    ///
    /// Rows that do not exist are empty.
    pub fn query(&self, range: TimeRange, pixels: u32, rows: Range<u32>, cells: &mut Vec<Cell>) {
        let Some(scale) = Scale::new(range, pixels) else { return };
        // Grid cells that the range cuts are counted whole.
        let view = View { start: scale.cell_around(range.start.0).0, end: scale.cell_around(range.end.0 - 1).1 };
        for row in rows.start..rows.end.min(self.rows()) {
            let mut writer = CellWriter::new(scale, range, view.start, row, cells);
            let row = row as usize;
            let chunks = &self.chunks[self.row_chunks[row] as usize..self.row_chunks[row + 1] as usize];
            let first = chunks.partition_point(|chunk| chunk.all.last_end < view.start);
            for chunk in chunks[first..].iter().take_while(|chunk| chunk.start < view.end) {
                self.write_chunk(chunk, view, &mut writer);
            }
            writer.finish();
        }
    }

    fn add_chunk(&mut self, items: Range<usize>, spans: &mut Vec<Span>) {
        spans.clear();
        spans.extend(self.order[items.clone()].iter().map(|&item| self.span(item)));
        let occupancy = Occupancy::of(spans);
        let widths = occupancy.worthwhile_bits().collect::<Vec<_>>();
        let first_level = self.levels.len();
        let mut sums: Vec<Sum> = Vec::new();
        let mut wider = Vec::new();
        for (&bits, rank) in widths.iter().zip((0..widths.len()).rev()) {
            if sums.is_empty() {
                sum_up(spans.iter().copied().map(Sum::from), bits, &mut wider);
            } else {
                sum_up(sums.iter().copied(), bits, &mut wider);
            }
            std::mem::swap(&mut sums, &mut wider);
            if self.buckets.len() <= rank {
                self.buckets.resize_with(rank + 1, Vec::new);
            }
            let buckets = &mut self.buckets[rank];
            let first = index(buckets.len());
            buckets.extend(sums.iter().map(|sum| sum.pack(bits)));
            self.levels.push(Level { bits, buckets: first..index(buckets.len()) });
        }
        self.levels[first_level..].reverse();
        if sums.is_empty() {
            sums.extend(spans.iter().copied().map(Sum::from));
        }
        let all = sum_of_all(&sums).expect("a chunk has spans");
        self.chunks.push(Chunk {
            items: index(items.start)..index(items.end),
            levels: index(first_level)..index(self.levels.len()),
            start: spans[0].start,
            bits: occupancy.bits(),
            all: all.pack(occupancy.bits()),
        });
    }

    fn write_chunk(&self, chunk: &Chunk, view: View, writer: &mut CellWriter<'_>) {
        let widest = writer.scale.bucket_bits;
        if chunk.bits <= widest {
            chunk.all.write(chunk.start, chunk.bits, writer);
            return;
        }
        let levels = &self.levels[as_usize(&chunk.levels)];
        // What is wholly in view needs no search for where the view begins.
        let begun = chunk.start < view.start;
        if let Some((rank, level)) = levels.iter().enumerate().find(|(_, level)| level.bits <= widest) {
            let buckets = &self.buckets[rank][as_usize(&level.buckets)];
            let first = if begun { buckets.partition_point(|bucket| bucket.last_end < view.start) } else { 0 };
            for bucket in &buckets[first..] {
                let start = (bucket.last_start >> level.bits) << level.bits;
                if start >= view.end {
                    break;
                }
                bucket.write(start, level.bits, writer);
            }
        } else {
            let items = &self.order[as_usize(&chunk.items)];
            let first = if begun { items.partition_point(|&item| self.span(item).end < view.start) } else { 0 };
            for &item in &items[first..] {
                let span = self.span(item);
                if span.start >= view.end {
                    break;
                }
                writer.span(span.start, span.end, span.item);
            }
        }
    }

    #[inline]
    fn span(&self, item: u32) -> Span {
        let start = self.spans.start(item as usize).0;
        let duration = self.spans.duration(item as usize).0.max(0);
        Span { start, end: start.saturating_add(duration), item }
    }
}

/// The range of time whose spans matter: the queried one, widened to the cell grid.
#[derive(Clone, Copy)]
struct View {
    start: i64,
    end: i64,
}

/// The items row after row, each in its given order, and where in that each row ends.
fn sort_by_row(spans: &impl Spans) -> (Vec<u32>, Vec<usize>) {
    let mut next = vec![0; spans.rows() as usize];
    for item in 0..spans.len() {
        next[spans.row(item) as usize] += 1;
    }
    let mut first = 0;
    for place in &mut next {
        first += std::mem::replace(place, first);
    }
    let mut order = vec![0; spans.len()];
    for item in 0..spans.len() {
        let place = &mut next[spans.row(item) as usize];
        order[*place] = index(item);
        *place += 1;
    }
    (order, next)
}

fn index(index: usize) -> u32 {
    u32::try_from(index).ok().filter(|&index| index != u32::MAX).expect("there are fewer than u32::MAX items")
}

fn as_usize(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

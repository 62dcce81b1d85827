//! What a query gives, and the grid on which short spans share cells.

use traceview_core::model::{Nanos, Time, TimeRange};

/// Something to draw: a span with its exact times, or a grid cell that shorter spans share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Where it begins.
    pub start: Time,
    /// How wide it is. May be less than a pixel, or nothing, where a span of a pixel or more lies beside it.
    pub duration: Nanos,
    /// How much of it spans fill.
    pub covered: Nanos,
    /// The span, or the longest of those that share the cell (the first of equally long ones).
    pub item: u32,
    /// Its row.
    pub row: u32,
    /// Whether this is one span with its own times.
    pub exact: bool,
}

impl Cell {
    /// Where it ends.
    pub fn end(&self) -> Time {
        self.start + self.duration
    }

    /// How much of the cell is filled, from 0 to 1: its opacity.
    #[expect(clippy::cast_possible_truncation, reason = "opacity needs few digits")]
    pub fn coverage(&self) -> f32 {
        if self.exact {
            1.0
        } else if self.duration.0 == 0 {
            0.0
        } else {
            (self.covered.as_secs_f64() / self.duration.as_secs_f64()).min(1.0) as f32
        }
    }
}

/// The zoom level: how long a pixel is, and the cell grid that follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scale {
    /// The shortest duration that is a pixel or more.
    pub(super) pixel: i64,
    /// Buckets of `2^bucket_bits` ns or less fit: half a pixel at most (but a nanosecond at least).
    pub(super) bucket_bits: u32,
    /// The width of grid cells, from one pixel to one and a half (two, near a nanosecond a pixel), and a multiple of
    /// the widest bucket, so that every bucket lies in one cell.
    pub(super) cell: i64,
    /// Whether a nanosecond is wider than a pixel: what is shorter than a pixel has no length at all.
    points: bool,
}

/// Beyond it, "a pixel" (36 years) is not told apart: leaves room for the arithmetic.
const LONGEST_PIXEL: i64 = 1 << 60;

impl Scale {
    /// The zoom level at which `range` takes `pixels`; `None` when one of them is empty.
    pub(super) fn new(range: TimeRange, pixels: u32) -> Option<Self> {
        let length = u64::try_from(i128::from(range.end.0) - i128::from(range.start.0)).ok().filter(|&ns| ns > 0)?;
        let pixels = u64::from(pixels);
        if pixels == 0 {
            return None;
        }
        let pixel = i64::try_from(length.div_ceil(pixels)).map_or(LONGEST_PIXEL, |pixel| pixel.min(LONGEST_PIXEL));
        let bucket_bits = (pixel / 2).max(1).ilog2();
        let buckets = (pixel + (1 << bucket_bits) - 1) >> bucket_bits;
        Some(Self { pixel, bucket_bits, cell: buckets << bucket_bits, points: length < pixels })
    }

    /// The grid cell around `time`.
    pub(super) fn cell_around(&self, time: i64) -> (i64, i64) {
        let index = time.div_euclid(self.cell);
        (index.saturating_mul(self.cell), index.saturating_add(1).saturating_mul(self.cell))
    }
}

/// Turns the spans of one row, given in order of time, into cells.
pub(super) struct CellWriter<'a> {
    pub(super) scale: Scale,
    range: TimeRange,
    row: u32,
    out: &'a mut Vec<Cell>,
    /// The grid cell that something was in last.
    grid_start: i64,
    grid_end: i64,
    /// What is to be written of it.
    open: Option<OpenCell>,
    /// Where the last exact span ended: the grid cell around it begins only there.
    free_from: i64,
}

struct OpenCell {
    start: i64,
    covered: i64,
    item: u32,
    longest: i64,
}

/// Spans that are all shorter than a pixel and lie in one grid cell.
#[derive(Clone, Copy)]
pub(super) struct Crowd {
    /// A moment in their grid cell, not after their first start.
    pub(super) at: i64,
    /// The sum of their durations.
    pub(super) covered: i64,
    /// The longest of them.
    pub(super) item: u32,
    /// Its duration.
    pub(super) longest: i64,
}

impl<'a> CellWriter<'a> {
    /// For spans of which the first may begin before `grid_start`, the edge of a grid cell at or before the range's
    /// start.
    pub(super) fn new(scale: Scale, range: TimeRange, grid_start: i64, row: u32, out: &'a mut Vec<Cell>) -> Self {
        // What begins earlier shares the cell before it, which is not in view.
        let before = grid_start.saturating_sub(scale.cell);
        Self { scale, range, row, out, grid_start: before, grid_end: grid_start, open: None, free_from: i64::MIN }
    }

    /// Adds a span of any length.
    #[inline]
    pub(super) fn span(&mut self, start: i64, end: i64, item: u32) {
        let length = end.saturating_sub(start);
        if length >= self.scale.pixel {
            self.exact(start, end, item);
            return;
        }
        // Shorter than a grid cell, so it lies in two of them at most.
        self.enter_cell(start);
        let here = end.min(self.grid_end);
        self.add(here - start, item, length);
        if here < end {
            self.enter_cell(here);
            self.add(end - here, item, length);
        }
    }

    /// Adds short spans of one grid cell.
    #[inline]
    pub(super) fn crowd(&mut self, crowd: &Crowd) {
        self.enter_cell(crowd.at);
        self.add(crowd.covered, crowd.item, crowd.longest);
    }

    /// Writes what is still open.
    pub(super) fn finish(mut self) {
        self.close(i64::MAX);
    }

    fn exact(&mut self, start: i64, end: i64, item: u32) {
        self.close(start);
        self.free_from = end;
        if end > self.range.start.0 && start < self.range.end.0 {
            let duration = Nanos(end.saturating_sub(start));
            self.out.push(Cell { start: Time(start), duration, covered: duration, item, row: self.row, exact: true });
        }
    }

    /// Goes on to the grid cell around `time`, unless it was there already.
    #[inline]
    fn enter_cell(&mut self, time: i64) {
        if time >= self.grid_end {
            self.close(i64::MAX);
            // Mostly it is the next one: a division is dear among what else happens for each span.
            let next_end = self.grid_end.saturating_add(self.scale.cell);
            if time < next_end {
                self.grid_start = self.grid_end;
                self.grid_end = next_end;
            } else {
                (self.grid_start, self.grid_end) = self.scale.cell_around(time);
            }
        }
    }

    /// Adds to what is to be written of the grid cell.
    #[inline]
    fn add(&mut self, covered: i64, item: u32, length: i64) {
        let start = self.grid_start.max(self.free_from);
        let open = self.open.get_or_insert(OpenCell { start, covered: 0, item, longest: length });
        open.covered = open.covered.saturating_add(covered);
        if length > open.longest {
            open.longest = length;
            open.item = item;
        }
    }

    /// Writes the open cell, which ends at `limit` if not before.
    fn close(&mut self, limit: i64) {
        let Some(open) = self.open.take() else { return };
        let end = if self.scale.points { open.start } else { self.grid_end.min(limit).max(open.start) };
        let visible = if end > open.start {
            end > self.range.start.0 && open.start < self.range.end.0
        } else {
            self.range.contains(Time(open.start))
        };
        if visible {
            self.out.push(Cell {
                start: Time(open.start),
                duration: Nanos(end.saturating_sub(open.start)),
                covered: Nanos(open.covered),
                item: open.item,
                row: self.row,
                exact: false,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Time(start), end: Time(end) }
    }

    #[test]
    fn nothing_to_see_has_no_scale() {
        assert_eq!(Scale::new(range(5, 5), 100), None);
        assert_eq!(Scale::new(range(5, 4), 100), None);
        assert_eq!(Scale::new(range(0, 100), 0), None);
    }

    #[test]
    fn a_cell_is_a_pixel_or_a_little_more_and_holds_whole_buckets() {
        for pixel in (1..2000).chain([LONGEST_PIXEL - 1, LONGEST_PIXEL]) {
            let scale = Scale::new(range(0, pixel), 1).unwrap();
            assert_eq!(scale.pixel, pixel);
            assert!(scale.cell >= pixel && scale.cell <= pixel + pixel / 2, "{scale:?}");
            assert_eq!(scale.cell % (1 << scale.bucket_bits), 0, "{scale:?}");
            assert!(1 << scale.bucket_bits <= (pixel / 2).max(1), "{scale:?}");
        }
    }

    #[test]
    fn all_of_time_is_a_view_too() {
        let scale = Scale::new(TimeRange::ALL, 1).unwrap();
        assert_eq!(scale.pixel, LONGEST_PIXEL);
        assert_eq!(scale.cell_around(i64::MIN).0, i64::MIN);
        assert_eq!(scale.cell_around(i64::MAX).1, i64::MAX);
    }

    #[test]
    fn coverage_is_the_filled_share() {
        let cell = Cell { start: Time(0), duration: Nanos(8), covered: Nanos(2), item: 0, row: 0, exact: false };
        assert!((cell.coverage() - 0.25).abs() < 1e-6);
        assert!(Cell { duration: Nanos(0), covered: Nanos(0), ..cell }.coverage() < 1e-6);
        assert!((Cell { exact: true, ..cell }.coverage() - 1.0).abs() < 1e-6);
    }
}

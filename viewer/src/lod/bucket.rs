//! Runs of consecutive spans of a row, summed up over buckets of time of several widths.
//!
//! Bucket `b` of `n` bits holds the spans that start in `[b·2ⁿ, (b+1)·2ⁿ)`. As spans of a row do not overlap, all but
//! the last of them end in it too. So where the bucket is less than a pixel wide, all but the last are shorter than a
//! pixel, and it is enough to know their number in nanoseconds and the longest; the last is kept with its times.

use super::cell::{CellWriter, Crowd};

/// A span, with its place in the caller's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) item: u32,
}

/// What is known of the spans that start in one bucket. 32 bytes: half a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pub(super) last_start: i64,
    pub(super) last_end: i64,
    last: u32,
    /// The longest of the spans before the last, or [`NONE`].
    longest: u32,
    /// Its duration in [units](unit_bits).
    longest_units: u32,
    /// The sum of the durations of the spans before the last, in units.
    covered_units: u32,
}

/// No span.
const NONE: u32 = u32::MAX;

/// Durations within buckets of `bits` are counted in `2^unit_bits` ns: single ones up to buckets of 4.3 s, and a
/// 4,294,967,296th of the bucket beyond.
fn unit_bits(bits: u32) -> u32 {
    bits.saturating_sub(32)
}

impl Bucket {
    /// Writes the spans of this bucket, which is `bits` wide and begins at or after `at` in the same grid cell.
    #[inline]
    pub(super) fn write(&self, at: i64, bits: u32, writer: &mut CellWriter<'_>) {
        if self.longest != NONE {
            let unit_bits = unit_bits(bits);
            writer.crowd(&Crowd {
                at,
                covered: i64::from(self.covered_units) << unit_bits,
                item: self.longest,
                longest: i64::from(self.longest_units) << unit_bits,
            });
        }
        writer.span(self.last_start, self.last_end, self.last);
    }
}

/// A bucket while it is being summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    last: Span,
    longest: u32,
    longest_length: i64,
    covered: i64,
}

impl From<Span> for Sum {
    fn from(last: Span) -> Self {
        Self { last, longest: NONE, longest_length: -1, covered: 0 }
    }
}

impl Sum {
    /// Adds what comes after this.
    #[inline]
    fn append(&mut self, next: &Self) {
        let last_length = self.last.end.saturating_sub(self.last.start);
        for (item, length) in [(self.last.item, last_length), (next.longest, next.longest_length)] {
            // Of equally long ones the first stays, as when spans are looked at one by one.
            if length > self.longest_length {
                self.longest = item;
                self.longest_length = length;
            }
        }
        self.covered = self.covered.saturating_add(last_length).saturating_add(next.covered);
        self.last = next.last;
    }

    /// Packs the sum over a bucket of `bits`.
    pub(super) fn pack(&self, bits: u32) -> Bucket {
        // Spans that overlap against the rules can be longer than their bucket.
        let units = |length: i64| u32::try_from(length.max(0) >> unit_bits(bits)).unwrap_or(u32::MAX);
        Bucket {
            last_start: self.last.start,
            last_end: self.last.end,
            last: self.last.item,
            longest: self.longest,
            longest_units: units(self.longest_length),
            covered_units: units(self.covered),
        }
    }
}

/// Sums up `parts`, in order of time, over buckets of `bits`.
pub(super) fn sum_up(parts: impl Iterator<Item = Sum>, bits: u32, sums: &mut Vec<Sum>) {
    sums.clear();
    for part in parts {
        match sums.last_mut() {
            Some(sum) if sum.last.start >> bits == part.last.start >> bits => sum.append(&part),
            _ => sums.push(part),
        }
    }
}

/// Sums up all of `parts`; `None` when there is none.
pub(super) fn sum_of_all(parts: &[Sum]) -> Option<Sum> {
    let (first, rest) = parts.split_first()?;
    let mut all = *first;
    rest.iter().for_each(|part| all.append(part));
    Some(all)
}

/// How many buckets of each width a run of spans occupies.
pub(super) struct Occupancy {
    /// By number of bits, how many neighbours differ in that bit at most: in one bucket from that width on.
    joined_at: [u32; 65],
    len: u32,
}

impl Occupancy {
    /// Of spans that are in order of time.
    pub(super) fn of(spans: &[Span]) -> Self {
        let mut joined_at = [0; 65];
        for pair in spans.windows(2) {
            let differing_bits = 64 - (pair[0].start ^ pair[1].start).leading_zeros();
            joined_at[differing_bits as usize] += 1;
        }
        Self { joined_at, len: u32::try_from(spans.len()).unwrap_or(u32::MAX) }
    }

    /// The width from which on all are in one bucket; 64 when they are never.
    pub(super) fn bits(&self) -> u32 {
        (0..65).rev().find(|&bits| self.joined_at[bits as usize] > 0).unwrap_or(0)
    }

    /// The widths for which sums are worth their memory, narrow to wide: each leaves a quarter of the buckets of the
    /// one before, or less, but not a single one.
    pub(super) fn worthwhile_bits(&self) -> impl Iterator<Item = u32> {
        let mut occupied = self.len;
        let mut limit = self.len / 4;
        (0..63).filter(move |&bits| {
            occupied -= self.joined_at[bits as usize];
            let worthwhile = occupied > 1 && occupied <= limit;
            if worthwhile {
                limit = occupied / 4;
            }
            worthwhile
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(starts: &[i64]) -> Vec<Span> {
        starts.iter().zip(0..).map(|(&start, item)| Span { start, end: start + 1, item }).collect()
    }

    #[test]
    fn occupancy_is_what_counting_buckets_gives() {
        let spans = spans(&[-900, -3, -1, 0, 1, 2, 3, 7, 8, 8, 40, 41, 1000, 5000, 5001, 5002, 1 << 40]);
        let occupancy = Occupancy::of(&spans);
        let mut occupied = occupancy.len as usize;
        for bits in 0..63 {
            occupied -= occupancy.joined_at[bits] as usize;
            let mut buckets = spans.iter().map(|span| span.start >> bits).collect::<Vec<_>>();
            buckets.dedup();
            assert_eq!(occupied, buckets.len(), "{bits} bits");
        }
        assert_eq!(occupancy.bits(), 64, "negative and positive times never share a bucket");
    }

    #[test]
    fn each_level_is_a_quarter_of_the_one_before() {
        let starts = (0..4096).map(|start| start * 1000).collect::<Vec<_>>();
        let spans = spans(&starts);
        let mut limit = spans.len() / 4;
        let mut levels = 0;
        for bits in Occupancy::of(&spans).worthwhile_bits() {
            let mut sums = Vec::new();
            sum_up(spans.iter().copied().map(Sum::from), bits, &mut sums);
            assert!(sums.len() <= limit && sums.len() > 1, "{bits} bits: {} buckets", sums.len());
            limit = sums.len() / 4;
            levels += 1;
        }
        assert_eq!(levels, 5, "1001 (12 bits), 251, 63, 16, 4 buckets");
    }

    #[test]
    fn the_last_span_is_apart_and_the_first_of_equally_long_ones_stands_for_the_rest() {
        let spans = [(0, 2), (2, 5), (5, 8), (9, 100)].into_iter().zip(10..);
        let parts = spans.map(|((start, end), item)| Sum::from(Span { start, end, item })).collect::<Vec<_>>();
        let bucket = sum_of_all(&parts).unwrap().pack(4);
        assert_eq!((bucket.last, bucket.last_start, bucket.last_end), (13, 9, 100));
        assert_eq!((bucket.longest, bucket.longest_units, bucket.covered_units), (11, 3, 8));
    }

    #[test]
    fn wide_buckets_count_in_coarser_units() {
        let parts = [Span { start: 0, end: 1 << 38, item: 0 }, Span { start: 1 << 39, end: 1 << 41, item: 1 }];
        let bucket = sum_of_all(&parts.map(Sum::from)).unwrap().pack(40);
        assert_eq!(bucket.covered_units, 1 << 30);
    }
}

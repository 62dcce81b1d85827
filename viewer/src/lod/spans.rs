//! What a pyramid is built over.

use traceview_core::model::{Nanos, Time};

/// Spans of time in numbered rows: what a track shows.
///
/// Within a row, items must come in order of time and must not overlap: each begins at or after the end of the one
/// before it. A row that breaks this loses detail when drawn, no more.
pub trait Spans {
    /// How many items there are; fewer than `u32::MAX`.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many rows there are.
    fn rows(&self) -> u32;

    /// The row of `item`, less than [`rows`](Self::rows).
    fn row(&self, item: usize) -> u32;

    /// When `item` begins.
    fn start(&self, item: usize) -> Time;

    /// How long `item` lasts; not negative. An item of no length is shown too.
    fn duration(&self, item: usize) -> Nanos;
}

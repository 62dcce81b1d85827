//! Level of detail: what can be seen of many spans at a zoom level, in time that grows with the pixels.
//!
//! [`Spans`] in rows go in: the slices of a thread ([`SliceRows`]), or boxes made of its samples ([`SampleBoxes`],
//! [`BoxRows`]). A [`Pyramid`] is built over them once; [`Pyramid::query`] then gives [`Cell`]s for any range of time
//! and number of pixels:
//!
//! * A span of a pixel or more is a cell of its own, with its exact times.
//! * Shorter spans share cells about a pixel wide. Such a cell names its longest span, which gives colour and tooltip,
//!   and says how much of its time is covered, which gives opacity.
//!
//! Cells lie on a grid that depends on the zoom level but not on where the view begins, and a cell at the view's edge
//! counts what lies beyond the edge too: panning moves cells and changes nothing else, so that nothing flickers.
//! What a cell says is what looking at each span would give, whatever the pyramid did to find it fast. (Only where a
//! pixel is longer than eight seconds are covered times rounded, to a millionth of a pixel or better.)
//!
//! [`Activity`] answers a simpler question with exact sums: how much of the time of each pixel was used. [`NumberSteps`]
//! gives the extremes of a number in each pixel.
//!
//! Times are integer nanoseconds. Pixels, where floating point belongs, are the painter's: it should draw every cell at
//! least one pixel wide.

mod activity;
mod bucket;
mod call_nodes;
mod cell;
mod number_steps;
mod pyramid;
mod sample_boxes;
mod sample_time;
mod slice_rows;
mod spans;
mod stack_index;
mod uses;

#[cfg(test)]
mod tests;

pub use activity::{Activity, Columns};
pub use call_nodes::CallNodes;
pub use cell::Cell;
pub use number_steps::{Extremes, NumberSteps};
pub use pyramid::Pyramid;
pub use sample_boxes::{BoxRows, SampleBoxes, Strip};
pub use sample_time::SampleTiming;
pub use slice_rows::SliceRows;
pub use spans::Spans;
pub use stack_index::StackIndex;
pub use uses::{SampleUses, SpanUses, StackGroups, Use, Uses};

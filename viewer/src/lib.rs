//! What `cargo traceview` draws, apart from the window itself.
//!
//! Today this crate holds [`lod`], which finds what of a thread's slices or samples can be seen at a zoom level in
//! time that grows with the pixels, not with the profile. It draws nothing and depends on the profile model only, so
//! that windows, pictures and tests can all stand on it.
//!
//! ```
//! use traceview_core::model::{SliceTable, Time, TimeRange};
//! use traceview_viewer::lod::{Pyramid, SliceRows};
//!
//! # fn draw(slices: &SliceTable) {
//! let pyramid = Pyramid::build(SliceRows::new(slices));
//! let mut cells = Vec::new();
//! let second = TimeRange { start: Time(0), end: Time(1_000_000_000) };
//! pyramid.query(second, 1600, 0..pyramid.rows(), &mut cells);
//! for cell in &cells {
//!     println!("row {} at {} ns: slice {}", cell.row, cell.start.0, cell.item);
//! }
//! # }
//! # draw(&SliceTable::default());
//! ```
#![forbid(unsafe_code)]

pub mod lod;

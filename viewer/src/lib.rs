//! The window of `cargo traceview`, and pictures of it.
//!
//! One profile is a [`document::Document`]; what the person looks at is one [`selection::Selection`], which all
//! [`panels`] show and which only [`action::Action`]s change. A panel with a time axis asks [`lod`] what can be seen at
//! this zoom level, makes a [`scene`] of it, and has that painted. Whatever takes longer than a frame is one of the
//! [`jobs`].
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

pub mod action;
pub mod analyses;
pub mod app;
pub mod call_path;
pub mod chain;
pub mod command;
pub mod describe;
pub mod document;
pub mod flows;
pub mod headless;
pub mod jobs;
mod latest;
pub mod loading;
pub mod local_sources;
pub mod lod;
pub mod markers;
mod package_colors;
pub mod panels;
pub mod picture;
pub mod raster;
pub mod scene;
pub mod search;
pub mod selection;
pub mod theme;
pub mod transforms;
pub mod view;
pub mod widget;
mod window_error;

pub use window_error::WindowError;

#[cfg(test)]
mod testing;

//! Addresses of images to the names that people gave their code.
//!
//! - [`source`]: what one image has to offer: symbol tables ([`symbol_table`]), DWARF, a separate debug file
//!   ([`debug_file`]), files of split debug information, the linker's stubs
//! - [`resolve`]: one address to its functions (the inlined ones too), files and lines
//! - [`batch`]: many addresses of many images on all processors, DWARF unit by unit; [`book`]: in rounds, [`ahead`]: while more
//!   of them come in; `effort`: what may be read, and how much of it
//! - [`cache`]: names of earlier recordings
//! - [`demangle`]: raw names to readable ones, spelled alike whichever scheme mangled them
//! - [`origin`]: whose code a frame is; [`build_directory`]: where that code was built
//! - [`mod@module_path`]: crate and module for names that lack them
//! - [`unnamed`]: what stands for an address that nothing is known about
//!
//! All addresses here are the image's own (SVMA). Nothing here knows processes or samples.
//!
//! ```
//! use cargo_traceview::image::Image;
//! use cargo_traceview::symbolize::SymbolSource;
//! use std::sync::Arc;
//!
//! let image = Arc::new(Image::open(&std::env::current_exe()?)?);
//! let source = SymbolSource::load(image);
//! let mut symbolizer = source.symbolizer();
//! let text = source.image().section(".text").expect("a program has code");
//! let resolved = symbolizer.resolve(text.svma + text.bytes.len() as u64 / 2);
//! assert!(!resolved.frames.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ahead;
pub mod batch;
pub mod book;
pub mod build_directory;
pub mod cache;
mod crate_path;
pub mod debug_file;
pub mod demangle;
mod dwarf;
mod effort;
mod excess;
mod job;
mod manifests;
pub mod module_path;
pub mod origin;
mod parallel;
mod partial;
mod plt;
mod readable;
pub mod resolve;
pub mod source;
mod split;
pub mod symbol_table;
pub mod unnamed;

pub use ahead::Ahead;
pub use batch::{Answers, Request, Shortfall, symbolize_image, symbolize_images};
pub use book::NameBook;
pub use cache::NameCache;
pub use origin::{Category, CrateId, Origin, OriginRules};
pub use resolve::{Frame, NativeSymbol, Resolved, Symbolizer};
pub use source::SymbolSource;

#[cfg(test)]
mod tests;

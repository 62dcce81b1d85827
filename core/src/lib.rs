//! The heart of `cargo traceview`: the profile model, the analyses of it, and the file formats that it is read from and
//! written to.
//!
//! A [`Profile`](model::Profile) is what was recorded of a program, or read from a file; nobody else needs to know which.
//! Analyses are pure functions from a profile and a selection of it to numbers; reports turn those into text and JSON.
//! Nothing here does I/O or has a clock: readers take bytes, writers take [`std::io::Write`].
//!
//! ```
//! use traceview_core::analysis::{Measure, Selection, StackValues, functions};
//! use traceview_core::format::{self, ReadOptions, WriteOptions};
//! use traceview_core::model::{CpuDelta, Frame, Function, Nanos, OsId, Process, ProfileBuilder, Thread, Time};
//!
//! // A program that was looked at once, in `main`, having used 2 ms of CPU time.
//! let mut builder = ProfileBuilder::with_standard_categories();
//! let name = builder.string("main");
//! let function = builder.function(Function::named(name));
//! let frame = builder.frame(Frame::of(function));
//! let stack = builder.stack(None, frame);
//! let process = builder.add_process(Process {
//!     pid: OsId::Number(17),
//!     parent: None,
//!     name,
//!     command_line: Vec::new(),
//!     start: Some(Time::ZERO),
//!     end: None,
//!     exit: None,
//! });
//! let mut thread = Thread::new(process, OsId::Number(17), name);
//! thread.samples.time.push(Time(2_000_000));
//! thread.samples.stack.push(Some(stack));
//! thread.samples.cpu.push(CpuDelta::new(Nanos(2_000_000)));
//! builder.add_thread(thread);
//! let profile = builder.finish()?;
//!
//! // To a file, and back.
//! let mut file = Vec::new();
//! format::write(&profile, format::by_name("firefox")?.target(), &WriteOptions::default(), &mut file)?;
//! let profile = format::read(&file, &ReadOptions::default())?.profile;
//!
//! // Where did its time go?
//! let values = StackValues::of(&profile, &Selection::default(), Measure::Cpu)?;
//! for row in functions(&profile, &values).rows {
//!     let name = profile.string(profile.functions.name[row.function.index()]);
//!     println!("{name}: {} ns", row.own.value);
//!     assert_eq!((name, row.own.value), ("main", 2_000_000.0));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod analysis;
pub mod format;
pub mod model;
pub mod report;

//! Chrome traces: the JSON of trace events that browsers, Node, PyTorch, bazel, `tracing-chrome` and many others write.

pub mod events;

mod notes;
mod scan;
mod time;

//! Which functions a search text matches: the rule that reports follow too.

pub use traceview_core::analysis::{FunctionSet, SearchQuery};

//! Collapsed (folded) stacks: what `flamegraph.pl`, inferno and their like draw, and what the `stackcollapse` scripts,
//! async-profiler, py-spy and bcc write. A line is a stack, the root first, and how often it was seen:
//!
//! ```text
//! main;app::run;app::parse 42
//! ```
//!
//! * There is no more to it: no times, no addresses, and no rule for names. `;` cannot be in a name (the tools of `perf`
//!   put `:` there, and so do we), and neither can an end of a line.
//! * A frame is kept as it is written, marks such as `_[k]` included, for people search for them. Two of the marks say
//!   whose code it is: `_[k]` the kernel's, `_[j]` generated code.
//! * Where every line has two counts the file is a difference, as `difffolded` makes them: the second count is the
//!   weight, as it is the width in a flame graph; the first is a column of values, `before`.
//! * A line that begins with `# ` is a comment.
//! * Written are counts of samples, as everywhere with such files, or the column of values that the profile's file shows
//!   first; with [`measure`](super::WriteOptions::measure) what is asked for. Times are microseconds. With
//!   [`off_cpu`](super::WriteOptions::off_cpu) all is time, because waits have a time and no number. Where
//!   sampled threads have different names, the name is the first frame, as `perf`'s scripts do it; threads of one name
//!   are one. Lines are in the order of their frames, which tools that read them one after the other ask for.
//!
//! | file | concept |
//! |------|---------|
//! | `line` | the parts of a line |
//! | `recognize` | whether a text is such a file |
//! | `read` | file to model |
//! | `write` | model to file |
//! | `measure` | what is counted when writing |
//! | `names` | names as they can stand in a line |
//! | `tree` | stacks with their sums, in order |
//! | `left_out` | what a file has no place for |

mod left_out;
mod line;
mod measure;
mod names;
mod read;
mod recognize;
mod tree;
mod write;

pub use read::read;
pub use recognize::{begins, sniff};
pub use write::write;

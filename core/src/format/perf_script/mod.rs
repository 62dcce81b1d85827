//! The text that `perf script` prints, and simpleperf's report script in its likeness. Only read.
//!
//! ```text
//! worker 4711/4712 [003] 46501.000981:    1003009 task-clock:
//!             11a8 mix+0x1f (inlined)
//!             11a8 leaf+0x1f (/usr/bin/demo)
//!            891f4 start_thread+0x304 (/usr/lib/libc.so.6)
//! ```
//!
//! * Which fields a line has depends on `-F`, and nothing says which were chosen. Thread, time and event are found by their
//!   shapes; what is missing stays unknown. Without times a profile is untimed. Without process ids (`perf`'s default) all
//!   threads are in one process, unless `--show-task-events` tells.
//! * Moments count from the first sample.
//! * One event is what samples count: a clock or cycles where there is one, else the most frequent that is no tracepoint.
//!   Samples of other counting events have the weight 0 and a column of values; what tracepoints tell becomes
//!   markers. `cpu_core/cycles/` and `cpu_atom/cycles/` of one machine are both `cycles`, and so with any event.
//! * The periods of `cpu-clock` and `task-clock` are CPU time; those of other events are a column of values.
//! * A period of a sample is never its weight: a sample counts once, as in flame graphs.
//! * Addresses of code in files are left out: `perf` prints places in memory or in the file, depending on its version and on
//!   the line, and where a file lies in memory is not in the text.
//!
//! | file | concept |
//! |------|---------|
//! | `recognize` | whether a text is such output |
//! | `event_line` | the line that a sample begins with |
//! | `frame_line` | the lines below it |
//! | `header` | the comments of `--header` |
//! | `task` | what `--show-task-events` tells |
//! | `code` | frames, functions, libraries |
//! | `threads` | threads, their names and samples |
//! | `events` | what samples of different events count |
//! | `read` | the pass over the lines |

mod code;
mod event_line;
mod events;
mod frame_line;
mod header;
mod read;
mod recognize;
mod task;
mod threads;

pub use read::read;
pub use recognize::{begins, sniff};

//! pprof files (gzip around the message of `profile.proto`): those of any tool are read, and written as Go's runtime does.
//!
//! * Samples are added up: one row for each distinct stack and set of labels, with the count and the CPU time. Times of
//!   samples are not kept. A thread is three labels: `thread_name`, `tid`, `pid`.
//! * A location is an address of a mapping; functions that were inlined there are its lines, the innermost first.
//! * Three habits of Go would harm a Rust profile and are not followed. The readable name and the linker's are never equal
//!   (`pprof` would "simplify" the readable one as if it were C++). A mapping with addresses of both sorts, resolved and
//!   not, is written twice, with and without the flags that say so (without them `pprof` looks for names itself, and
//!   replaces ours). And every location has a line, because most viewers drop those without: code of a file that has no
//!   names is called `[FILE]`.
//! * Waits are written on request only ([`WriteOptions::off_cpu`](super::WriteOptions::off_cpu)), as a sample type of their
//!   own, `wall`: CPU time and time spent waiting. Slices, markers, flows and counters have no place.
//!
//! Rows of a file become samples without times: `samples/count` is their weight, `cpu` in any unit of time their CPU time, and
//! what else they count a further value each. Labels that name a thread or process are taken for that. Functions that the
//! file wants hidden (`drop_frames`) are shown, which pprof does not do, and said; they are kept, so that pprof still hides
//! them in what is written. Rows that are read are written as they are, not added up, and comments and the like come back,
//! so that a profile is the same from the first reading on.
//!
//! | file | concept |
//! |------|---------|
//! | `schema` | the file's own structure |
//! | `names` | names that stand for what the format has no field for |
//! | `wire` | fields of a message, walked over in place |
//! | `recognize` | whether some bytes are such a file |
//! | `read/…` | file to model, samples one by one |
//! | `write/…` | model to file, as a stream of parts |

mod names;
mod read;
mod recognize;
mod schema;
mod wire;
mod write;

#[cfg(test)]
mod tests;

pub use read::read;
pub use recognize::{begins, sniff};
pub use write::write;

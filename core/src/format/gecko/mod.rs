//! Firefox Profiler files ("processed" profiles): every version up to 70 is read, version 64 is written.
//!
//! * Shared tables of strings, functions, frames and stacks; threads with samples and markers as columns; times in
//!   milliseconds, which keep every nanosecond of our times as decimals.
//! * The format has no place for some of what the model knows: waits, slices, flows, kinds of functions, … All of that
//!   stands in the key `traceview` of `meta` and of each thread (see `extension`), which other tools pass over.
//!   A reader decodes the file as if it were anyone's, then applies what that key adds or corrects: reading back
//!   gives an equal profile. Slices are markers for other tools, and markers name the flows that pass through them.
//! * What the format forbids is repaired in the file and kept as it was under `traceview`. Rows that the writer
//!   had to add stand behind the profile's own rows, or are listed (samples).
//! * `traceview` describes rows by number. It holds only for the file as it was written: a tool that stores a profile
//!   again renumbers the rows (and raises the version).
//!
//! | file | concept |
//! |------|---------|
//! | `schema/…` | the file's own structure, of all versions in one, for reading: scanned, with serde behind that |
//! | `upgrade/…` | what each version changed |
//! | `extension` | the key `traceview`, for both directions |
//! | `number`, `names` | numbers and words of the file |
//! | `write/…`, `read/…` | model to file and back, by the same parts |

use super::ReadError;
use super::json_keys::{begins_object, top_level_keys};
use crate::model::Profile;

mod extension;
mod names;
mod number;
mod raw;
mod read;
mod schema;
mod upgrade;
mod write;

pub use write::write;

/// The version that is written.
pub const VERSION: u32 = 64;

/// The last version that is read.
const LATEST: u32 = 70;

const FORMAT: &str = "Firefox profiles";
const VERSION_KEY: &[u8] = b"preprocessedProfileVersion";

/// Whether a Firefox profile can begin with `bytes`: it is a JSON object.
pub fn begins(bytes: &[u8]) -> bool {
    begins_object(bytes)
}

/// Reads a Firefox profile, processed or raw. Gives the version of the file as well.
///
/// # Errors
/// If `bytes` are not a whole file of a known version, or contradict themselves so that nothing can be trusted.
pub fn read(bytes: &[u8]) -> Result<(Profile, Option<u64>), ReadError> {
    if is_processed(bytes) { read::read(bytes) } else { raw::read(bytes) }
}

/// Whether `bytes` look like a Firefox profile.
pub fn sniff(bytes: &[u8]) -> bool {
    is_processed(bytes) || raw::sniff(bytes)
}

/// Whether `bytes` look like a processed Firefox profile: a JSON object whose `meta` has its version, or (the first files did
/// not say) whose threads have strings of their own.
fn is_processed(bytes: &[u8]) -> bool {
    let Some((_, meta)) = top_level_keys(bytes).find(|(key, _)| *key == b"meta") else { return false };
    top_level_keys(meta).any(|(key, _)| key == VERSION_KEY) || is_first_version(bytes)
}

fn is_first_version(bytes: &[u8]) -> bool {
    let threads = top_level_keys(bytes).find(|(key, _)| *key == b"threads");
    let first = threads.and_then(|(_, threads)| threads.strip_prefix(b"["));
    first.is_some_and(|first| top_level_keys(first).any(|(key, _)| key == b"stringArray"))
}

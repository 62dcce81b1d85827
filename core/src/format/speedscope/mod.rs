//! speedscope files: JSON by the schema that speedscope publishes.
//!
//! * One table of frames (name, file, line, column) serves all profiles of a file. A profile is what one tab of speedscope
//!   shows, and a thread to us. It is `sampled` (stacks and their weights) or `evented` (frames that open and close).
//! * Both are call trees over one axis of values to speedscope: time, bytes or plain numbers. So both become samples: of an
//!   evented profile one for each span between two events, with the stack that was open and the span's length as its weight. All reports,
//!   trees and exports work on those; self time is what no callee was open in.
//! * A profile of time is a timed thread whose samples begin where their weights add up to; without a stack where nothing
//!   was open. Other profiles have no times.
//! * Written are sampled profiles (see `write`), which are read back with equal stacks and weights.
//!
//! | file | concept |
//! |------|---------|
//! | `unit` | what the values of a profile count |
//! | `clock` | moments that lengths add up to |
//! | `read/…` | file to model: frames, then one profile after the other |
//! | `write/…` | model to file: what stands on a thread's axis, then the tables |

mod clock;
mod read;
mod unit;
mod write;

pub use read::read;
pub use write::write;

use super::json_keys::{begins_object, top_level_keys};

const FORMAT: &str = "speedscope";
/// Names the format in its files.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";
/// The profile that speedscope shows first, where a file says: kept under this name in `extra`.
const ACTIVE_PROFILE: &str = "speedscope activeProfileIndex";

/// Whether a speedscope file can begin with `bytes`: it is a JSON object.
#[must_use]
pub fn begins(bytes: &[u8]) -> bool {
    begins_object(bytes)
}

/// Whether `bytes` look like a speedscope file: a JSON object that names the schema, or has profiles and a shared table of
/// frames.
#[must_use]
pub fn sniff(bytes: &[u8]) -> bool {
    let (mut shared, mut profiles) = (false, false);
    top_level_keys(bytes).any(|(key, value)| {
        match key {
            b"$schema" => return value.strip_prefix(b"\"").is_some_and(|text| text.starts_with(SCHEMA.as_bytes())),
            b"shared" => shared = top_level_keys(value).any(|(key, _)| key == b"frames"),
            b"profiles" => profiles = value.starts_with(b"["),
            _ => {}
        }
        shared && profiles
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_or_the_tables_tell_a_file() {
        assert!(sniff(br#"{"version": "0.0.1", "$schema": "https://www.speedscope.app/file-format-schema.json"}"#));
        assert!(sniff(br#"{"profiles": [], "shared": {"more": 1, "frames": []}}"#));
        assert!(sniff(b"\xef\xbb\xbf {\"shared\": {\"frames\": []}, \"profiles\": [{\"type\""), "also when cut off");
        assert!(!sniff(br#"{"profiles": [], "shared": {}}"#));
        assert!(!sniff(br#"{"profiles": {}, "shared": {"frames": []}}"#));
        assert!(!sniff(br#"{"$schema": "http://json.schemastore.org/package"}"#));
        assert!(!sniff(b"[]"));
        assert!(begins(b" {") && !begins(b"["));
    }
}

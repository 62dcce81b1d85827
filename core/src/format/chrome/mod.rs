//! Chrome traces: the JSON of trace events that browsers, Node, PyTorch, bazel, `tracing-chrome` and many others write.

pub mod calltree;
pub mod events;
pub mod flows;

mod arguments;
mod async_track;
mod colors;
mod notes;
mod read;
mod scan;
mod thread_clock;
mod time;
mod write;

pub use read::{read, read_bound};
pub use write::write;

use self::scan::{Event, Events, Value};
use super::json_keys::{self, top_level_keys};

/// The key of traces that we write under which stands what no other tool has a place for: `zero` (the moment in µs that is the
/// profile's zero, which without it is the first one), `start_unix_ns`, `start_monotonic_ns`.
const OWN_KEY: &str = "traceview";

/// Keys beside the events that are read elsewhere, or of no meaning without the events; the writer has values of its own for
/// them.
const OWN_KEYS: [&str; 5] = ["stackFrames", "samples", "traceEvents", "displayTimeUnit", OWN_KEY];

/// Before the keys that stand beside a trace's events, where a profile [keeps](crate::model::Kept) them.
const KEPT: &str = "chrome.";

/// How many values of a list are looked at before it is no list of events.
const LOOKED_AT: usize = 64;

/// Whether a trace can begin with `bytes`: it is a JSON object or list.
pub fn begins(bytes: &[u8]) -> bool {
    let start = json_keys::start(bytes);
    start.starts_with(b"{") || start.starts_with(b"[")
}

/// Whether `bytes` look like a trace: an object with `traceEvents`, or a list whose objects have phases.
pub fn sniff(bytes: &[u8]) -> bool {
    let start = json_keys::start(bytes);
    if start.starts_with(b"{") {
        return top_level_keys(bytes).any(|(key, value)| key == b"traceEvents" && value.starts_with(b"["));
    }
    if !start.starts_with(b"[") {
        return false;
    }
    let (mut events, mut event) = (Events::new(bytes), Event::default());
    let mut seen = 0;
    while seen < LOOKED_AT && events.next(&mut event) {
        seen += 1;
        let is_phase = |value: &Value<'_>| matches!(value, Value::Text(text) if text.raw.len() == 1);
        if event.fields.iter().any(|(key, value)| key.raw == b"ph" && is_phase(value)) {
            return true;
        }
    }
    false
}

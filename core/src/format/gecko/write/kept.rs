//! What a profile carries along of the file that it was read from, in its places.

use rustc_hash::FxHashSet;

use super::layout::Layout;
use super::{Out, Written};
use crate::format::gecko::extension::Kept as InExtension;
use crate::format::gecko::read::{VERSION_PATH, compact};
use crate::model::{Kept, Profile, Thread};

/// Keys of `meta` that the writer has values for, which are not those of the file.
const OWN_META: [&str; 21] = [
    "preprocessedProfileVersion",
    "product",
    "importedFrom",
    "startTime",
    "startTimeAsClockMonotonicNanosecondsSinceBoot",
    "profilingStartTime",
    "profilingEndTime",
    "interval",
    "sampleUnits",
    "arguments",
    "oscpu",
    "abi",
    "CPUName",
    "logicalCPUs",
    "physicalCPUs",
    "mainMemory",
    "categories",
    "markerSchema",
    "extra",
    "traceview",
    "",
];

const OWN_TOP_LEVEL: [&str; 6] = ["meta", "libs", "counters", "threads", "shared", "traceview"];

/// All keys of threads that the reader knows, and so would not take as carried along.
const OWN_THREAD: [&str; 27] = [
    "name",
    "processName",
    "pid",
    "tid",
    "isMainThread",
    "processStartupTime",
    "processShutdownTime",
    "registerTime",
    "unregisterTime",
    "pausedRanges",
    "samples",
    "markers",
    "jsAllocations",
    "nativeAllocations",
    "jsTracer",
    "traceview",
    "libs",
    "stringArray",
    "stackTable",
    "frameTable",
    "funcTable",
    "resourceTable",
    "nativeSymbols",
    "sources",
    "sourceLocationTable",
    "stringTable",
    "",
];

const SAMPLE_COLUMNS: [&str; 14] = [
    "stack",
    "time",
    "timeDeltas",
    "weight",
    "duration",
    "weightType",
    "threadCPUDelta",
    "eventDelay",
    "responsiveness",
    "rss",
    "uss",
    "frameNumber",
    "argumentValues",
    "length",
];

const MARKER_COLUMNS: [&str; 9] =
    ["data", "name", "time", "startTime", "endTime", "phase", "category", "threadId", "length"];

/// Whether a text is one JSON value.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// The rest of `path` behind `prefix`, if a value can stand there: it is not one of `own`.
fn key<'p>(path: &'p str, prefix: &str, own: &[&str]) -> Option<&'p str> {
    path.strip_prefix(prefix).filter(|key| !own.contains(key))
}

/// The values of a list, each with whether it can stand in the file: of several with one path the first.
fn with_place(kept: &[Kept]) -> impl Iterator<Item = (&Kept, bool)> {
    let mut seen = FxHashSet::default();
    kept.iter().map(move |entry| {
        let first = seen.insert(&entry.path);
        (entry, first && is_json(&entry.json) && compact(&entry.json) == *entry.json)
    })
}

fn all(kept: &[Kept]) -> impl Iterator<Item = &Kept> {
    with_place(kept).filter(|(_, can)| *can).map(|(entry, _)| entry)
}

fn top_level_key(entry: &Kept) -> Option<&str> {
    let elsewhere = entry.path.starts_with("meta.") || entry.path.starts_with("counters[");
    if elsewhere { None } else { key(&entry.path, "", &OWN_TOP_LEVEL) }
}

fn meta_key(entry: &Kept) -> Option<&str> {
    let elsewhere = &*entry.path == VERSION_PATH || entry.path.starts_with("meta.sampleUnits.");
    if elsewhere { None } else { key(&entry.path, "meta.", &OWN_META) }
}

/// Which key of which table of a thread.
fn thread_key(entry: &Kept) -> Option<(&'static str, &str)> {
    if entry.path.starts_with("samples.") {
        return key(&entry.path, "samples.", &SAMPLE_COLUMNS).map(|key| ("samples", key));
    }
    if entry.path.starts_with("markers.") {
        return key(&entry.path, "markers.", &MARKER_COLUMNS).map(|key| ("markers", key));
    }
    key(&entry.path, "", &OWN_THREAD).map(|key| ("", key))
}

pub(super) fn top_level(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let keys = all(&layout.profile.kept).filter_map(|entry| Some((top_level_key(entry)?, entry)));
    keys.into_iter().try_for_each(|(key, entry)| json.raw(key, &entry.json))
}

/// Those of `meta`, without the ones that the writer has written already.
pub(super) fn meta(json: &mut Out<'_>, layout: &Layout<'_>, written: &[&str]) -> Written {
    let keys = all(&layout.profile.kept).filter_map(|entry| Some((meta_key(entry)?, entry)));
    keys.filter(|(key, _)| !written.contains(key)).try_for_each(|(key, entry)| json.raw(key, &entry.json))
}

/// Those of a table of a thread, or (`""`) of the thread itself.
pub(super) fn thread(json: &mut Out<'_>, thread: &Thread, table: &str) -> Written {
    let keys = all(&thread.kept).filter_map(|entry| Some((thread_key(entry)?, entry)));
    keys.filter(|((of, _), _)| *of == table).try_for_each(|((_, key), entry)| json.raw(key, &entry.json))
}

/// Whether a thread keeps a key of its own.
pub(super) fn has_thread_key(thread: &Thread, wanted: &str) -> bool {
    all(&thread.kept).filter_map(thread_key).any(|key| key == ("", wanted))
}

/// All that a profile keeps, without the values that stand in the file.
pub(super) fn of_profile(layout: &Layout<'_>) -> Vec<InExtension> {
    let profile: &Profile = layout.profile;
    list(&profile.kept, |entry| top_level_key(entry).is_some() || meta_key(entry).is_some())
}

/// All that a thread keeps, without the values that stand in the file.
pub(super) fn of_thread(thread: &Thread) -> Vec<InExtension> {
    list(&thread.kept, |entry| thread_key(entry).is_some())
}

fn list(kept: &[Kept], has_place: impl Fn(&Kept) -> bool) -> Vec<InExtension> {
    let one = |(entry, can): (&Kept, bool)| {
        let Kept { path, json } = entry;
        let in_file = can && has_place(entry);
        InExtension { path: path.to_string(), json: (!in_file).then(|| json.to_string()) }
    };
    with_place(kept).map(one).collect()
}

//! What a profile carries along of the file that it was read from, in its places.

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

/// The values of a list that can stand in the file: of several with one path the first.
fn placed<'k>(kept: &'k [Kept], row: usize) -> Option<&'k Kept> {
    let entry = &kept[row];
    let first = kept[..row].iter().all(|other| other.path != entry.path);
    (first && is_json(&entry.json) && compact(&entry.json) == *entry.json).then_some(entry)
}

fn all(kept: &[Kept]) -> impl Iterator<Item = &Kept> {
    (0..kept.len()).filter_map(|row| placed(kept, row))
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
    let one = |row: usize| {
        let in_file = placed(kept, row).is_some_and(&has_place);
        let Kept { path, json } = &kept[row];
        InExtension { path: path.to_string(), json: (!in_file).then(|| json.to_string()) }
    };
    (0..kept.len()).map(one).collect()
}

//! Processed Firefox profiles of many versions, against what the front end of the Firefox Profiler computes from them.

use std::collections::BTreeMap;

use serde_json::Value;
use traceview_core::format::{self, ReadError, WriteOptions};
use traceview_core::model::{CounterGraph, FieldValue, Marker, MarkerTiming, Nanos, Profile, StackId, Thread};

use crate::fixtures;

/// The files, with what is special about each.
const FILES: [&str; 15] = [
    "argument-values.json",
    "cli-limit-boundaries.json",
    "processed-1.json",
    "processed-3.json",
    "samply-0.13-c-threads.json.gz",
    "samply-v41-ls-linux.json",
    "samply-v49-unsymbolicated.json",
    "v70-counters.json",
    "v70-diff-merged.json",
    "v70-flow-markers.json",
    "v70-inline-native-symbols.json",
    "v70-js-tracer.json",
    "v70-native-allocations-balanced.json",
    "v70-network.json",
    "v70-rich.json",
];
const LARGE: &str = "samply-0.13-cargo-build-large.json.gz";

fn read(name: &str) -> Profile {
    fixtures::read(&format!("gecko/{name}")).unwrap_or_else(|error| panic!("{name}: {error}")).profile
}

fn expected(name: &str) -> Value {
    let ending = if name == LARGE { ".expected.json.gz" } else { ".expected.json" };
    fixtures::json(&format!("gecko/expected/{name}{ending}"))
}

fn written(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    let firefox = format::Target { gzip: false, ..format::by_name("firefox").expect("a format").target() };
    format::write(profile, firefox, &WriteOptions::default(), &mut bytes).expect("memory does not fail");
    bytes
}

fn read_bytes(bytes: &[u8]) -> Result<Profile, ReadError> {
    format::read(bytes, &format::ReadOptions::default()).map(|contents| contents.profile)
}

/// What a function is called in the front end's lists.
fn label(profile: &Profile, stack: StackId) -> (usize, String) {
    let function = profile.functions.get(profile.leaf_function(stack));
    let name = profile.string(function.name);
    let resource = function.resource.map(|id| profile.resources[id.index()].name);
    // The front end names the file instead where there is one.
    let origin = resource.map(|id| profile.string(id));
    let label = origin.map_or_else(|| name.to_owned(), |origin| format!("{name}  [{origin}]"));
    (profile.leaf_function(stack).index(), label)
}

/// Self and total weight of each function, largest first.
fn leaders(profile: &Profile, thread: &Thread) -> [Vec<(f64, String)>; 2] {
    let mut own: BTreeMap<(usize, String), f64> = BTreeMap::new();
    let mut total: BTreeMap<(usize, String), f64> = BTreeMap::new();
    for (row, stack) in thread.samples.stack.iter().enumerate() {
        let Some(stack) = *stack else { continue };
        let weight = thread.samples.weight.get(row);
        *own.entry(label(profile, stack)).or_default() += weight;
        let mut seen = std::collections::BTreeSet::new();
        for node in profile.stacks.ancestors(stack) {
            let label = label(profile, node);
            if seen.insert(label.clone()) {
                *total.entry(label).or_default() += weight;
            }
        }
    }
    // The front end's tree has no row for a function whose weights add up to nothing.
    own.retain(|function, _| total[function] != 0.0);
    total.retain(|_, weight| *weight != 0.0);
    [own, total].map(|sums| {
        let mut list: Vec<_> = sums.into_iter().map(|((_, label), weight)| (weight, label)).collect();
        // What was taken away counts as much as what was added.
        list.sort_by(|left, right| right.0.abs().total_cmp(&left.0.abs()).then(left.1.cmp(&right.1)));
        list
    })
}

/// How many markers have a name, how many of them are spans, and of how many spans an end was not recorded.
type Counts = BTreeMap<String, [u64; 3]>;

/// Markers by name, starts and ends paired last in, first out. What was not ended reaches to the edge of the profile.
fn markers(profile: &Profile, thread: &Thread) -> Counts {
    let mut counts = Counts::new();
    let mut open: BTreeMap<String, u64> = BTreeMap::new();
    let mut requests: BTreeMap<(String, String), [bool; 2]> = BTreeMap::new();
    for row in 0..thread.markers.len() {
        let marker = thread.markers.get(row);
        let name = profile.string(marker.name).to_owned();
        if let Some((id, ended)) = request(profile, &marker) {
            requests.entry((name, id)).or_default()[usize::from(ended)] = true;
            continue;
        }
        let count = counts.entry(name.clone()).or_default();
        match marker.timing {
            MarkerTiming::Instant(_) => count[0] += 1,
            MarkerTiming::Interval(..) => *count = [count[0] + 1, count[1] + 1, count[2]],
            MarkerTiming::Start(_) => {
                *open.entry(name).or_default() += 1;
                *count = [count[0] + 1, count[1] + 1, count[2] + 1];
            }
            MarkerTiming::End(_) => match open.get_mut(&name) {
                Some(open) if *open > 0 => {
                    *open -= 1;
                    count[2] -= 1;
                }
                _ => *count = [count[0] + 1, count[1] + 1, count[2] + 1],
            },
        }
    }
    for ((name, _), seen) in requests {
        let count = counts.entry(name).or_default();
        *count = [count[0] + 1, count[1] + 1, count[2] + u64::from(seen != [true; 2])];
    }
    counts
}

/// Id of a network request, and whether the marker is of its end: the front end makes one marker of all that have an id.
fn request(profile: &Profile, marker: &Marker) -> Option<(String, bool)> {
    let fields = profile.payloads.get(marker.payload?);
    let value = |key: &str| fields.iter().find(|field| profile.string(field.key) == key).map(|field| &field.value);
    let by_schema = marker.schema.map(|id| profile.marker_schemas[id.index()].name);
    // Without a schema the type stays with the data.
    let kind = by_schema.map(FieldValue::Text).or_else(|| value("type").cloned());
    if !matches!(kind, Some(FieldValue::Text(kind)) if profile.string(kind) == "Network") {
        return None;
    }
    let FieldValue::Text(status) = value("status")? else { return None };
    Some((format!("{:?}", value("id")?), profile.string(*status) != "STATUS_START"))
}

fn counts_of(expected: &Value) -> Counts {
    let number = |count: &Value, key: &str| count[key].as_u64().expect("a count");
    let counts = expected.as_object().expect("markers by name").iter();
    counts
        .map(|(name, count)| (name.clone(), ["count", "intervals", "incomplete"].map(|key| number(count, key))))
        .collect()
}

fn list_of(expected: &Value) -> Vec<(f64, String)> {
    let entries = expected.as_array().expect("a list").iter();
    entries
        .map(|entry| (entry[0].as_f64().expect("a weight"), entry[1].as_str().expect("a label").to_owned()))
        .collect()
}

fn assert_thread(name: &str, index: usize, profile: &Profile, expected: &Value) {
    let thread = &profile.threads[index];
    let at = format!("{name}, thread {index}");
    let process = &profile.processes[thread.process.index()];
    assert_eq!(profile.string(thread.name), expected["name"], "{at}");
    assert_eq!(process.pid.to_string(), expected["pid"].as_str().expect("a pid"), "{at}");
    assert_eq!(thread.is_main, expected["isMainThread"], "{at}");
    assert_eq!(thread.samples.len() as u64, expected["samples"], "{at}");
    let nulls = thread.samples.stack.iter().filter(|stack| stack.is_none()).count() as u64;
    assert_eq!(nulls, expected["nullStacks"], "{at}");
    let weight: f64 = (0..thread.samples.len()).map(|row| thread.samples.weight.get(row)).sum();
    assert_close(weight, &expected["totalWeight"], &at);
    let [own, total] = leaders(profile, thread);
    for (list, expected) in [(own, list_of(&expected["topSelf"])), (total, list_of(&expected["topTotal"]))] {
        let count = expected.len();
        assert_eq!(&list[..count.min(list.len())], expected, "{at}");
    }
    if let Some(cpu) = expected["cpuMs"].as_f64() {
        let known: i64 = thread.samples.cpu.iter().skip(1).filter_map(|cpu| cpu.get()).map(|cpu| cpu.0).sum();
        let has_gaps = thread.samples.cpu.iter().skip(1).any(|cpu| cpu.get().is_none());
        // What is not known counts as 100 % there.
        assert!(has_gaps || (Nanos(known).as_millis_f64() - cpu).abs() < 0.001, "{at}: {known} ns, {cpu} ms");
    }
    assert_eq!(markers(profile, thread), counts_of(&expected["markers"]), "{at}");
}

fn assert_close(found: f64, expected: &Value, at: &str) {
    let expected = expected.as_f64().expect("a number");
    assert!((found - expected).abs() <= expected.abs() * 1e-9, "{at}: {found}, expected {expected}");
}

#[test]
fn files_match_what_the_front_end_computes() {
    for name in FILES.into_iter().chain([LARGE]) {
        let profile = read(name);
        let expected = expected(name);
        let threads = expected["threads"].as_array().expect("threads");
        assert!(!threads.is_empty(), "{name}");
        assert_eq!(profile.threads.len() as u64, expected["threads"].as_array().map_or(0, Vec::len) as u64, "{name}");
        for (index, wanted) in threads.iter().enumerate() {
            assert_thread(name, index, &profile, wanted);
        }
        let counters = expected["counters"].as_array().expect("counters");
        assert_eq!(profile.counters.len(), counters.len(), "{name}");
        for (counter, wanted) in profile.counters.iter().zip(counters) {
            assert_eq!(profile.string(counter.name), wanted["name"], "{name}");
            assert_eq!(profile.string(counter.category), wanted["category"], "{name}");
            assert_eq!(profile.string(counter.display.unit), wanted["unit"], "{name}");
            assert_eq!(profile.string(counter.display.label), wanted["label"], "{name}");
            assert_eq!(counter.time.len() as u64, wanted["samples"], "{name}");
            let graph = if counter.display.graph == CounterGraph::Rate { "line-rate" } else { "line-accumulated" };
            assert_eq!(graph, wanted["graphType"], "{name}");
            let pid = profile.processes[counter.process.index()].pid.to_string();
            assert_eq!(pid, wanted["pid"].as_str().expect("a pid"), "{name}");
        }
    }
}

/// The first table in which two profiles differ.
fn difference(left: &Profile, right: &Profile) -> Option<String> {
    macro_rules! compare {
        ($($table:ident)*) => {$(
            if left.$table != right.$table {
                return Some(format!("{}:\n  left {:?}\n right {:?}", stringify!($table), left.$table, right.$table));
            }
        )*};
    }
    compare!(meta kept strings categories libraries mappings resources sources source_locations script_frames crates
        native_symbols functions frames stacks value_types label_sets marker_schemas payloads processes);
    for (index, (left, right)) in left.threads.iter().zip(&right.threads).enumerate() {
        if left != right {
            return Some(format!("thread {index}:\n  left {left:?}\n right {right:?}"));
        }
    }
    compare!(threads counters flows);
    (left != right).then(|| "another table".to_owned())
}

#[test]
fn what_was_read_is_written_and_read_back_equal() {
    for name in FILES.into_iter().chain([LARGE]) {
        let profile = read(name);
        let bytes = written(&profile);
        let again = read_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(difference) = difference(&profile, &again) {
            panic!("{name}: {}", &difference[..difference.len().min(3000)]);
        }
        assert_eq!(written(&again), bytes, "{name}: equal profiles give equal bytes");
    }
}

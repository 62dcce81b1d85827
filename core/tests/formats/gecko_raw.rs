//! Raw Firefox profiles, against what the Firefox Profiler makes of them.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use traceview_core::format::{self, ReadError, ReadOptions, WriteOptions};
use traceview_core::model::{MarkerTiming, Nanos, OsId, Profile, StackId, Thread, Time};

use crate::fixtures;

const BROWSER: &str = "gecko/gecko-36-browser.json";

/// Markers that the profiler derives from several raw ones, or from one of which it knows more.
const DERIVED: [&str; 3] =
    ["CompositorScreenshot", "IPC", "Load 32: https://github.com/rustwasm/wasm-bindgen/issues/5"];

fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    format::read(bytes, &ReadOptions::default()).map(|contents| contents.profile)
}

fn browser() -> (Profile, Value) {
    let profile = read(&fixtures::bytes(BROWSER)).unwrap_or_else(|error| panic!("{error}"));
    (profile, fixtures::json("gecko/expected/gecko-36-browser.json.expected.json"))
}

fn text(id: &OsId) -> String {
    id.to_string()
}

/// A function as the profiler's lists show it.
fn shown(profile: &Profile, function: usize) -> String {
    let name = profile.string(profile.functions.name[function]);
    match profile.functions.resource[function] {
        Some(resource) => format!("{name}  [{}]", profile.string(profile.resources[resource.index()].name)),
        None => name.to_owned(),
    }
}

/// How many samples each function has, innermost or anywhere, the most first.
fn tops(profile: &Profile, thread: &Thread) -> [Value; 2] {
    let mut own: HashMap<usize, u64> = HashMap::new();
    let mut total: HashMap<usize, u64> = HashMap::new();
    for stack in thread.samples.stack.iter().flatten() {
        let mut seen = Vec::new();
        let mut next: Option<StackId> = Some(*stack);
        while let Some(stack) = next {
            let function = profile.frames.function[profile.stacks.frame[stack.index()].index()].index();
            if seen.is_empty() {
                *own.entry(function).or_default() += 1;
            }
            if !seen.contains(&function) {
                seen.push(function);
                *total.entry(function).or_default() += 1;
            }
            next = profile.stacks.prefix[stack.index()];
        }
    }
    [own, total].map(|counts| {
        let mut rows: Vec<_> = counts.into_iter().map(|(function, count)| (count, shown(profile, function))).collect();
        rows.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        rows.into_iter().map(|(count, name)| json!([count, name])).collect()
    })
}

/// By name: how many there are once starts and ends are paired, how many of them lack an end, and how long the others are.
fn markers(profile: &Profile, thread: &Thread) -> BTreeMap<String, (u64, u64, i64)> {
    let mut open: HashMap<&str, Vec<Time>> = HashMap::new();
    let mut found: BTreeMap<String, (u64, u64, i64)> = BTreeMap::new();
    for row in 0..thread.markers.len() {
        let marker = thread.markers.get(row);
        let name = profile.string(marker.name);
        let entry = found.entry(name.to_owned()).or_default();
        match marker.timing {
            MarkerTiming::Instant(_) => entry.0 += 1,
            MarkerTiming::Interval(start, end) => {
                entry.0 += 1;
                entry.2 += end.0 - start.0;
            }
            MarkerTiming::Start(start) => open.entry(name).or_default().push(start),
            MarkerTiming::End(end) => {
                entry.0 += 1;
                match open.entry(name).or_default().pop() {
                    Some(start) => entry.2 += end.0 - start.0,
                    None => entry.1 += 1,
                }
            }
        }
    }
    for (name, starts) in open {
        let entry = found.get_mut(name).expect("has markers");
        entry.0 += starts.len() as u64;
        entry.1 += starts.len() as u64;
    }
    found
}

#[test]
fn threads_samples_and_functions_are_those_of_the_profiler() {
    let (profile, expected) = browser();
    let of_threads = expected["threads"].as_array().expect("threads");
    assert_eq!(profile.threads.len(), of_threads.len());
    for (thread, expected) in profile.threads.iter().zip(of_threads) {
        let at = format!("{} {}", expected["pid"], expected["name"]);
        assert_eq!(profile.string(thread.name), expected["name"], "{at}");
        assert_eq!(
            text(&profile.processes[thread.process.index()].pid),
            expected["pid"].as_str().expect("a pid"),
            "{at}"
        );
        assert_eq!(text(&thread.tid), expected["tid"].to_string(), "{at}");
        assert_eq!(thread.is_main, expected["isMainThread"].as_bool().expect("a flag"), "{at}");
        assert_eq!(thread.samples.len() as u64, expected["samples"].as_u64().expect("a number"), "{at}");
        let [own, total] = tops(&profile, thread);
        assert_eq!(own, expected["topSelf"], "{at}");
        assert_eq!(total, expected["topTotal"], "{at}");
        // The profiler does not count what the first sample says.
        let cpu: Nanos = thread.samples.cpu.iter().skip(1).filter_map(|cpu| cpu.get()).sum();
        assert_eq!(cpu, Nanos::from_millis_f64(expected["cpuMs"].as_f64().expect("a time")).expect("a time"), "{at}");
    }
    assert_eq!(profile.meta.recording_start, Some(Time(0)));
    let end = expected["range"][1].as_i64().expect("a time");
    assert_eq!(profile.meta.recording_end, Some(Time(end * 1_000_000)));
    assert_eq!(profile.meta.name, expected["meta"]["product"]);
}

#[test]
fn markers_are_paired_as_the_profiler_pairs_them() {
    let (profile, expected) = browser();
    for (thread, expected) in profile.threads.iter().zip(expected["threads"].as_array().expect("threads")) {
        let at = format!("{} {}", expected["pid"], expected["name"]);
        let raw = expected["rawMarkers"].as_u64().expect("a number");
        assert_eq!(thread.markers.len() as u64, raw, "{at}");
        let found = markers(&profile, thread);
        let mut compared = 0;
        for (name, expected) in expected["markers"].as_object().expect("markers") {
            if DERIVED.iter().any(|derived| name.starts_with(derived)) {
                continue;
            }
            let (count, incomplete, length) = found.get(name).unwrap_or_else(|| panic!("{at}: {name} is missing"));
            assert_eq!(
                (json!(count), json!(incomplete)),
                (expected["count"].clone(), expected["incomplete"].clone()),
                "{at} {name}"
            );
            if *incomplete == 0 {
                assert_eq!(Some(*length), expected["totalMs"].as_i64().map(|ms| ms * 1_000_000), "{at} {name}");
            }
            compared += 1;
        }
        assert_eq!(compared, 11, "{at}");
    }
}

#[test]
fn the_other_process_is_a_second_later() {
    let (profile, _) = browser();
    let first = |thread: usize| profile.threads[thread].samples.time[0];
    assert_eq!((first(0), first(1), first(2)), (Time(0), Time(0), Time(1_000_000_000)));
    let starts: Vec<_> = profile.processes.iter().map(|process| process.start).collect();
    assert_eq!(starts, [Some(Time(0)), Some(Time(1_000_000_000))]);
    let thread = &profile.threads[2];
    let end = (0..thread.markers.len()).rev().map(|row| thread.markers.get(row).timing).next();
    assert_eq!(end, Some(MarkerTiming::Start(Time(1_100_000_000))));
}

#[test]
fn addresses_of_callers_lie_in_their_call() {
    let (profile, _) = browser();
    let mut found = BTreeMap::new();
    for (row, function) in profile.frames.function.iter().enumerate() {
        if let Some(address) = profile.frames.address[row] {
            found.entry(shown(&profile, function.index())).or_insert_with(Vec::new).push(address);
        }
    }
    for addresses in found.values_mut() {
        addresses.sort_unstable();
    }
    // Both as sampled and as caller, of which the latter is a return address.
    assert_eq!(found["0x100000f84  [firefox]"], [0xf83, 0xf84]);
    assert_eq!(found["0x100001a45  [firefox-webcontent]"], [0x1a44, 0x1a45]);
}

#[test]
fn backtraces_become_the_stacks_of_markers() {
    let (profile, _) = browser();
    let thread = &profile.threads[0];
    let with_stack: Vec<_> = (0..thread.markers.len())
        .map(|row| thread.markers.get(row))
        .filter_map(|marker| Some((profile.string(marker.name), marker.stack?)))
        .map(|(name, stack)| (name, shown(&profile, profile.leaf_function(stack).index())))
        .collect();
    let leaf = || "0x100001a45  [firefox]".to_owned();
    assert_eq!(with_stack, [("Reflow", leaf()), ("Reflow", leaf()), ("Reflow", leaf()), ("FileIO", leaf())]);
}

#[test]
fn the_counter_is_read() {
    let (profile, expected) = browser();
    let [counter] = &profile.counters[..] else { panic!("one counter") };
    let expected = &expected["counters"][0];
    assert_eq!(profile.string(counter.name), expected["name"]);
    assert_eq!(profile.string(counter.category), expected["category"]);
    assert_eq!(text(&profile.processes[counter.process.index()].pid), expected["pid"].as_str().expect("a pid"));
    assert_eq!(counter.main_thread.map(traceview_core::model::ThreadId::index), Some(0));
    assert_eq!(counter.time.len() as u64, expected["samples"].as_u64().expect("a number"));
    // The profiler takes the first change for none.
    assert_eq!(Some(counter.delta.iter().skip(1).sum::<f64>()), expected["countRange"].as_f64());
}

#[test]
fn written_and_read_again_it_is_equal() {
    for name in [BROWSER, "gecko/gecko-1.json"] {
        let profile = read(&fixtures::bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut file = Vec::new();
        let target = format::by_name("firefox").expect("a format").target();
        format::write(&profile, target, &WriteOptions::default(), &mut file).expect("written");
        assert!(read(&file).expect("our own file") == profile, "{name}");
    }
}

/// The Firefox Profiler fails at libraries without offset. They say where in memory they begin, which is enough where the
/// mapping begins with the file, and nothing else of the profile depends on it.
#[test]
fn version_3_is_read_with_a_note() {
    let profile = read(&fixtures::bytes("gecko/gecko-1.json")).unwrap_or_else(|error| panic!("{error}"));
    let warning = profile.meta.warnings.iter().find(|warning| warning.code == "raw-library-offset").expect("a note");
    assert_eq!(warning.first.as_deref(), Some("libs"));
    let file = fixtures::json("gecko/gecko-1.json");
    let listed = file["threads"].as_array().expect("threads");
    assert_eq!(profile.threads.len(), listed.len());
    let thread = &profile.threads[0];
    assert_eq!((profile.string(thread.name), thread.samples.len()), ("GeckoMain", 7));
    let [own, _] = tops(&profile, thread);
    assert_eq!(own[0], json!([2, "0x100000f84  [firefox]"]));
    // Each of the two events is a start and an end now.
    let raw = file["threads"][0]["markers"]["data"].as_array().expect("markers");
    let events = raw.iter().filter(|marker| marker[0] == 8).count();
    assert_eq!(thread.markers.len(), raw.len() + events);
    assert_eq!(markers(&profile, thread)["DOMEvent"], (events as u64, 0, 1_000_000));
}

#[test]
fn versions_that_are_too_old_or_new_are_refused_by_name() {
    let error = read(&fixtures::bytes("gecko/ancient-cleopatra-profile.sps.json.gz")).expect_err("too old").to_string();
    assert_eq!(error, "version 2 of raw Firefox profiles is not supported (3 to 36 is)");
    let mut file = fixtures::json(BROWSER);
    file["meta"]["version"] = json!(37);
    let error = read(&serde_json::to_vec(&file).expect("JSON")).expect_err("too new").to_string();
    assert_eq!(error, "version 37 of raw Firefox profiles is not supported (3 to 36 is)");
}

#[test]
fn a_file_that_is_cut_is_refused() {
    let file = fixtures::bytes(BROWSER);
    for length in (1..file.len()).step_by(97) {
        let error = read(&file[..length]).expect_err("cut");
        if length > 5_000 {
            // In the middle of a number or word it is that which is wrong.
            let at_end = match error {
                ReadError::Truncated { offset } => offset == length,
                ReadError::Syntax { offset, .. } => offset + 1 >= length,
                _ => false,
            };
            assert!(at_end, "{length}: {error}");
        }
    }
}

/// Replaces the value that is number `wanted` in the order of the file.
fn replace(value: &mut Value, wanted: &mut usize, with: &Value) -> bool {
    if *wanted == 0 {
        *value = with.clone();
        return true;
    }
    *wanted -= 1;
    match value {
        Value::Array(values) => values.iter_mut().any(|value| replace(value, wanted, with)),
        Value::Object(values) => values.values_mut().any(|value| replace(value, wanted, with)),
        _ => false,
    }
}

#[test]
fn no_value_of_a_wrong_type_does_harm() {
    let others = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!("x"),
        json!([]),
        json!({}),
        json!(4_000_000_000_u32),
        json!([[[]]]),
    ];
    for name in [BROWSER, "gecko/gecko-1.json"] {
        let good = fixtures::json(name);
        let mut read_again = 0;
        for (tried, other) in (0..).step_by(5).zip(others.iter().cycle()) {
            let mut file = good.clone();
            let mut wanted = tried;
            if !replace(&mut file, &mut wanted, other) {
                break;
            }
            match read(&serde_json::to_vec(&file).expect("JSON")) {
                Ok(_) => read_again += 1,
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        assert!(read_again > 20, "{name}: {read_again}");
    }
}

#[test]
fn many_processes_and_levels_are_borne() {
    let file = |more: &str| {
        format!(r#"{{"meta": {{"version": 36, "startTime": 0, "interval": 1}}, "libs": [], "threads": [], {more}}}"#)
    };
    let many = r#"{"meta":{},"threads":[]},"#.repeat(1_000_000);
    let profile =
        read(file(&format!(r#""processes": [{}]"#, many.trim_end_matches(','))).as_bytes()).expect("a profile");
    assert_eq!(profile.threads.len(), 0);
    let nested = r#"{"meta":{},"threads":[],"processes":["#.repeat(50_000) + &"]}".repeat(50_000);
    let profile = read(file(&format!(r#""processes": [{nested}]"#)).as_bytes()).expect("a profile");
    assert_eq!(profile.meta.warnings[0].code, "raw-process-depth");
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    read(file(&format!(r#""processes": {deep}"#)).as_bytes()).expect_err("no processes");
    read(file(&format!(r#""threads": {deep}"#)).as_bytes()).expect_err("no threads");
}

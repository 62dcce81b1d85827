//! Profiles of V8: what the Firefox Profiler and DevTools compute from them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use traceview_core::analysis::{Measure, Selection, StackValues, functions};
use traceview_core::format::{self, Contents, ReadOptions};
use traceview_core::model::{FunctionId, Nanos, Profile, StandardCategory, Time};

use crate::fixtures;

const FIREFOX: &str = "gecko/hello.cjs-20231120T211435.cpuprofile";
const CHROME: &str = "cpuprofile/chrome-65-simple.cpuprofile";
const NODE: &str = "cpuprofile/primes.cpuprofile";

fn read(value: &Value) -> Contents {
    format::read(value.to_string().as_bytes(), &ReadOptions::default()).expect("it can be read")
}

/// What each function is called, with its file or host, and in how many samples it is innermost and at all. Idle ones
/// count too, as in the Firefox Profiler.
fn counts(profile: &Profile) -> Vec<(String, [f64; 2])> {
    let mut counts = vec![[0.0; 2]; profile.functions.len()];
    for stack in profile.threads[0].samples.stack.iter().flatten() {
        counts[profile.leaf_function(*stack).index()][0] += 1.0;
        let mut functions: Vec<_> = profile.stacks.ancestors(*stack).map(|node| profile.leaf_function(node)).collect();
        functions.sort();
        functions.dedup();
        functions.iter().for_each(|function| counts[function.index()][1] += 1.0);
    }
    let label = |row| {
        let function = profile.functions.get(FunctionId::new(row));
        let name = profile.string(function.name);
        match function.resource {
            Some(resource) => format!("{name}  [{}]", profile.string(profile.resources[resource.index()].name)),
            None => name.to_owned(),
        }
    };
    counts.into_iter().enumerate().map(|(row, counts)| (label(row), counts)).collect()
}

/// Self and total values by name.
fn by_name(profile: &Profile) -> BTreeMap<&str, [f64; 2]> {
    let values = StackValues::of(profile, &Selection::default(), Measure::Cpu).expect("one unit");
    let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for row in functions(profile, &values).rows {
        let sum = sums.entry(profile.string(profile.functions.name[row.function.index()])).or_default();
        sum[0] += row.own.value;
        sum[1] += row.total.value;
    }
    sums
}

fn warnings(profile: &Profile) -> Vec<(&str, u64)> {
    profile.meta.warnings.iter().map(|warning| (warning.code.as_str(), warning.count)).collect()
}

#[test]
fn samples_and_leaders_are_those_of_the_firefox_profiler() {
    let contents = fixtures::read(FIREFOX).expect("a V8 profile");
    assert_eq!(contents.format.name, "cpuprofile");
    let profile = contents.profile;
    let expected = fixtures::json("gecko/expected/hello.cjs-20231120T211435.cpuprofile.expected.json");
    let thread = &expected["threads"][0];
    assert_eq!(json!(profile.threads[0].samples.len()), thread["samples"]);
    let sums = counts(&profile);
    for (key, column) in [("topSelf", 0), ("topTotal", 1)] {
        let mut ours: Vec<f64> = sums.iter().map(|(_, values)| values[column]).collect();
        ours.sort_by(|left, right| right.total_cmp(left));
        let leaders = thread[key].as_array().expect("a list");
        assert!(leaders.len() > 10);
        for (rank, leader) in leaders.iter().enumerate() {
            let (value, label) = (leader[0].as_f64().expect("a number"), leader[1].as_str().expect("a name"));
            assert_eq!(ours[rank], value, "{key} {rank}");
            assert!(sums.iter().any(|(ours, values)| ours == label && values[column] == value), "{key}: {label}");
        }
    }
    assert_eq!(sums.iter().map(|(_, values)| values[0]).sum::<f64>(), thread["totalWeight"].as_f64().expect("a sum"));
    let start = profile.meta.start_monotonic_ns.expect("a start");
    let range = profile.meta.recording_start.zip(profile.meta.recording_end).expect("a range");
    let millis = [range.0, range.1].map(|time| Time(start + time.0).as_millis_f64());
    assert_eq!(json!(millis), expected["range"]);
    assert_eq!(warnings(&profile), []);
}

#[test]
fn a_sample_lasts_until_the_next_and_idle_time_is_no_cpu_time() {
    for path in [FIREFOX, CHROME, NODE] {
        let profile = fixtures::read(path).expect(path).profile;
        let file = fixtures::json(path);
        let (samples, deltas) = (file["samples"].as_array().expect("ids"), file["timeDeltas"].as_array().expect("µs"));
        let mut expected: BTreeMap<String, f64> = BTreeMap::new();
        for (index, id) in samples.iter().enumerate().take(samples.len() - 1) {
            let node = file["nodes"].as_array().expect("nodes").iter().find(|node| node["id"] == *id).expect("a node");
            let name = node["callFrame"]["functionName"].as_str().expect("a name");
            let name = if name.is_empty() { "(anonymous)" } else { name };
            *expected.entry(name.to_owned()).or_default() += deltas[index + 1].as_f64().expect("µs") * 1000.0;
        }
        assert_eq!(expected.remove("(idle)").is_some(), path == NODE, "{path}");
        let last = profile.threads[0].samples.cpu_of(samples.len() - 1).expect("a length");
        // One of the files ends idle.
        assert!((last > Nanos::ZERO) == (path != FIREFOX) && last.0 < 3_000_000, "{path}: {last:?}");
        let ours: f64 = by_name(&profile).values().map(|[own, _]| own).sum();
        assert_eq!(ours, expected.values().sum::<f64>() + last.as_secs_f64() * 1e9, "{path}");
        for (name, value) in expected {
            let own = by_name(&profile)[&*name][0];
            assert!((own - value).abs() <= last.as_secs_f64() * 1e9, "{path}: {name}: {own} {value}");
        }
        assert_eq!(warnings(&profile), [], "{path}");
    }
}

#[test]
fn a_known_program_of_node_is_shown_as_it_is() {
    let profile = fixtures::read(NODE).expect("a V8 profile").profile;
    let sums = by_name(&profile);
    assert!(sums["sieve"][0] > sums["fib"][0] && sums["fib"][0] > 5e6, "{sums:?}");
    assert!(sums["main"][1] > sums["sieve"][0] + sums["garbage"][0]);
    let function = |name: &str| {
        let index = profile.functions.name.iter().position(|id| profile.string(*id) == name).expect(name);
        (index, profile.functions.line[index])
    };
    assert_eq!(function("sieve").1, Some(5));
    let category = |name: &str| {
        let frame = profile.frames.function.iter().position(|id| id.index() == function(name).0).expect(name);
        profile.frames.category[frame]
    };
    for (name, standard) in [
        ("sieve", StandardCategory::Workspace),
        ("executeUserEntryPoint", StandardCategory::Std),
        ("(idle)", StandardCategory::Idle),
        ("(program)", StandardCategory::Other),
        ("(garbage collector)", StandardCategory::System),
    ] {
        assert_eq!(category(name), Some(standard.id()), "{name}");
    }
}

#[test]
fn lines_are_counted_as_v8_counted_them() {
    let profile = fixtures::read(CHROME).expect("a V8 profile").profile;
    let values = StackValues::sample_counts(&profile, &Selection::default());
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    for (stack, amount) in values.own.iter().enumerate() {
        if let Some(line) = profile.frames.line[profile.stacks.frame[stack].index()] {
            *lines.entry(line).or_default() += amount.samples;
        }
    }
    assert_eq!(lines, BTreeMap::from([(14, 1), (16, 27)]));
}

fn node(id: u32, name: &str, children: &[u32]) -> Value {
    let call = json!({"functionName": name, "scriptId": "1", "url": "a.js", "lineNumber": 1, "columnNumber": 2});
    json!({"id": id, "callFrame": call, "hitCount": 0, "children": children})
}

/// The names of a sample's stack, the outermost first.
fn stack(profile: &Profile, sample: usize) -> Vec<&str> {
    let Some(stack) = profile.threads[0].samples.stack[sample] else { return Vec::new() };
    let name = |node: traceview_core::model::StackId| {
        profile.string(profile.functions.name[profile.leaf_function(node).index()])
    };
    let mut names: Vec<_> = profile.stacks.ancestors(stack).map(name).collect();
    names.reverse();
    names
}

#[test]
fn old_files_with_nodes_inside_each_other_are_read() {
    let leaf = json!({"functionName": "leaf", "url": "a.js", "lineNumber": 9, "id": 3, "hitCount": 2, "children": []});
    let head = json!({"functionName": "(root)", "url": "", "lineNumber": 0, "id": 1, "children": [leaf, {"id": 4}]});
    let profile = read(&json!({
        "typeId": "CPU", "uid": 1, "title": "old", "startTime": 1400.5, "endTime": 1401.5, "head": head,
        "samples": [3, 4, 3], "timestamps": [1_400_600_000, 1_400_700_000, 1_400_900_000],
    }))
    .profile;
    assert_eq!(stack(&profile, 0), ["(root)", "leaf"]);
    assert_eq!(stack(&profile, 1), ["(root)", "(anonymous)"]);
    let samples = &profile.threads[0].samples;
    assert_eq!(samples.time, [Time(100_000_000), Time(200_000_000), Time(400_000_000)]);
    assert_eq!(samples.cpu_of(1), Some(Nanos(200_000_000)));
    assert_eq!(samples.cpu_of(2), Some(Nanos(150_000_000)), "the mean");
    let leaf =
        profile.frames.function.iter().position(|id| profile.string(profile.functions.name[id.index()]) == "leaf");
    assert_eq!(profile.functions.line[profile.frames.function[leaf.expect("a leaf")].index()], Some(9));
    assert_eq!((profile.meta.name.as_str(), profile.meta.recording_end), ("old", Some(Time(1_000_000_000))));
}

#[test]
fn nodes_and_samples_that_fit_nothing_are_counted() {
    let profile = read(&json!({
        "samples": [2, 9, 3, 5, -1], "timeDeltas": [1000, 500, -700, 1000, 100, 7],
        "nodes": [node(1, "root", &[2, 3, 77]), node(2, "a", &[3]), node(3, "b", &[]), node(3, "again", &[]),
            node(5, "x", &[6]), node(6, "y", &[5])],
        "startTime": 10, "endTime": 4010, "$vscode": {"locations": []},
    }))
    .profile;
    let expected = [
        ("nodes-duplicate", 1),
        ("nodes-missing", 1),
        ("nodes-with-two-callers", 1),
        ("samples-without-time", 1),
        ("samples-out-of-order", 1),
        ("samples-without-node", 2),
        ("nodes-in-a-cycle", 1),
    ];
    assert_eq!(warnings(&profile), expected);
    let samples = &profile.threads[0].samples;
    assert_eq!(samples.time, [800, 1000, 1500, 1800, 1900].map(|micros| Time(micros * 1000)));
    assert_eq!(stack(&profile, 0), ["root", "b"]);
    assert_eq!(stack(&profile, 1), ["root", "a"]);
    assert_eq!(stack(&profile, 2), [""; 0]);
    assert_eq!(stack(&profile, 3), ["y", "x"], "a cycle ends where it began");
    assert_eq!(samples.cpu_of(2), Some(Nanos(300_000)), "time whose node is not known is time");
}

#[test]
fn parents_may_be_named_instead_of_children() {
    let mut nodes = [node(3, "b", &[]), node(1, "root", &[]), node(2, "a", &[])];
    nodes[0]["parent"] = json!(2);
    nodes[2]["parent"] = json!(1);
    let mut file = json!({"nodes": nodes, "samples": [3, 3], "timeDeltas": [0, 5], "startTime": 0, "endTime": 9});
    assert_eq!(stack(&read(&file).profile, 0), ["root", "a", "b"]);
    file["nodes"][2]["parent"] = json!(8);
    let profile = read(&file).profile;
    assert_eq!(stack(&profile, 0), ["a", "b"]);
    assert_eq!(warnings(&profile), [("callers-missing", 1)]);
}

#[test]
fn without_times_or_samples_there_is_still_a_profile() {
    let mut nodes = [node(1, "root", &[2]), node(2, "a", &[])];
    nodes[1]["hitCount"] = json!(7);
    let file = json!({"nodes": nodes, "samples": [2, 1], "startTime": 0, "endTime": 10});
    let profile = read(&file).profile;
    assert_eq!(profile.threads[0].samples.time, [Time(0), Time(5000)]);
    assert_eq!(warnings(&profile), [("times-missing", 1)]);
    let profile = read(&json!({"nodes": nodes, "startTime": 0, "endTime": 10})).profile;
    assert!(!profile.threads[0].timed);
    assert_eq!(by_name(&profile)["root"], [0.0, 7.0]);
    assert_eq!(warnings(&profile), [("samples-missing", 1)]);
}

#[test]
fn deep_and_broken_files_are_no_danger() {
    let deep = 1_000_000;
    let text = format!(
        "{{\"startTime\":0,\"endTime\":1,\"samples\":[1],\"timestamps\":[1],\"head\":{}{{\"id\":1}}{}}}",
        "{\"children\":[".repeat(deep),
        "]}".repeat(deep)
    );
    let profile = format::read(text.as_bytes(), &ReadOptions::default()).expect("deep").profile;
    assert_eq!(stack(&profile, 0).len(), deep + 1);
    let chain: Vec<Value> = (0..20_000).map(|id| node(id, "f", &[(id + 1) % 20_000])).collect();
    let samples: Vec<u32> = (0..20_000).rev().collect();
    let file = json!({"nodes": chain, "samples": samples, "timeDeltas": samples, "startTime": 0, "endTime": 1});
    assert_eq!(stack(&read(&file).profile, 0).len(), 20_000);
    let refused = |text: &str| format::read(text.as_bytes(), &ReadOptions::default()).expect_err(text).to_string();
    for (text, message) in [
        (
            r#"{"startTime":1,"nodes":[{"id":1"#,
            "the file ends too early, at byte 31: it is incomplete, copy or record it again",
        ),
        (r#"{"startTime":1,"nodes":[{"id":"1"}]}"#, "byte 32: expected an index, found the string \"1\""),
        (r#"{"startTime":1,"nodes":[],"nodes":[]}"#, "byte 32: the key \"nodes\" is there twice"),
        (r#"{"startTime":1,"head":{"children":[7]}}"#, "byte 35: expected a node, found '7'"),
        (r#"{"startTime":1,"nodes":[]} x"#, "byte 27: something follows where the file should end"),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
}

#[test]
fn times_that_do_not_fit_are_counted() {
    let far = 1e19;
    let file = |end: f64, times: Value| {
        let (key, times) = times.as_object().and_then(|times| times.iter().next()).expect("one");
        json!({"nodes": [{"id": 1, "callFrame": {"functionName": "f"}}], "startTime": 0, "endTime": end,
            "samples": [1, 1, 1], key: times})
    };
    for times in [json!({"timeDeltas": [1, far, 1]}), json!({"timestamps": [1, far, far]})] {
        let profile = read(&file(9.0, times)).profile;
        assert_eq!(warnings(&profile), [("value-out-of-range", 2)]);
        assert_eq!(profile.threads[0].samples.time[2], Time(i64::MAX));
    }
    let profile = read(&file(far, json!({"timeDeltas": [1, 1, 1]}))).profile;
    assert_eq!(warnings(&profile), [("value-out-of-range", 1)]);
    assert_eq!(profile.meta.warnings[0].first.as_deref(), Some("endTime"));
}

//! Files of every format, written as Chrome traces and read again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use traceview_core::format::{self, ReadOptions, Target, WriteOptions};
use traceview_core::model::{
    FieldValue, FlowAnchor, FlowMember, Marker, MarkerTiming, Nanos, OsId, PayloadId, Process, Profile, ProfileBuilder,
    Slice, SliceId, StackId, StandardCategory, StringId, Thread, Time, Warning,
};

use super::fixtures;

fn written(profile: &Profile) -> (Vec<u8>, Vec<Warning>) {
    let target = Target { format: format::by_name("chrome").expect("a format"), gzip: false };
    let mut text = Vec::new();
    let warnings = format::write(profile, target, &WriteOptions::default(), &mut text).expect("memory does not fail");
    (text, warnings)
}

fn again(text: &[u8]) -> Profile {
    let contents = format::read(text, &ReadOptions::default()).expect("it can be read");
    assert_eq!(contents.format.name, "chrome");
    contents.profile
}

fn count(warnings: &[Warning], code: &str) -> u64 {
    warnings.iter().find(|warning| warning.code == code).map_or(0, |warning| warning.count)
}

fn args(profile: &Profile, id: Option<PayloadId>) -> String {
    let fields = id.map_or(&[][..], |id| profile.payloads.get(id));
    let text = |id: StringId| profile.string(id);
    let mut args = String::new();
    for field in fields {
        args += text(field.key);
        args += &match field.value {
            FieldValue::Text(value) => format!("={:?},", text(value)),
            FieldValue::Json(value) => format!("=json {},", text(value)),
            other => format!("={other:?},"),
        };
    }
    args
}

/// How often there are slices with these facts: process, thread, name, start, duration, arguments. Where ids can differ, threads
/// go by their names.
fn slices(profile: &Profile, by_name: bool) -> HashMap<u64, i64> {
    let mut found = HashMap::new();
    for thread in &profile.threads {
        let process = &profile.processes[thread.process.index()];
        let name = |id: StringId| profile.string(id);
        let ids = if by_name { name(process.name).to_owned() } else { format!("{} {}", process.pid, thread.tid) };
        for row in 0..thread.slices.len() {
            let slice = thread.slices.get(row);
            let args = args(profile, slice.args);
            let mut hasher = DefaultHasher::new();
            (&ids, name(thread.name), name(slice.name), slice.start.0, slice.duration.0, args).hash(&mut hasher);
            *found.entry(hasher.finish()).or_insert(0) += 1;
        }
    }
    found
}

/// How many markers last, other than states of threads.
fn spans(profile: &Profile) -> i64 {
    let mut count = 0;
    for thread in &profile.threads {
        for (payload, timing) in thread.markers.payload.iter().zip(&thread.markers.timing) {
            let lasts = matches!(timing, MarkerTiming::Interval(..) | MarkerTiming::Start(_));
            count += i64::from(lasts && !args(profile, *payload).contains("event=\"thread state\""));
        }
    }
    count
}

/// Name and start of what a member of a flow is bound to.
fn place(profile: &Profile, member: &FlowMember) -> (String, i64) {
    let thread = &profile.threads[member.thread.index()];
    let name = |id: StringId| profile.string(id).to_owned();
    match member.anchor {
        FlowAnchor::Slice(slice) => {
            let slice = thread.slices.get(slice.index());
            (name(slice.name), slice.start.0)
        }
        FlowAnchor::Marker(marker) => {
            let marker = thread.markers.get(marker.index());
            let (MarkerTiming::Instant(time)
            | MarkerTiming::Interval(time, _)
            | MarkerTiming::Start(time)
            | MarkerTiming::End(time)) = marker.timing;
            (name(marker.name), time.0)
        }
        FlowAnchor::Thread => (name(thread.name), member.time.0),
    }
}

/// Name, category and what it passes through when, of each flow.
type FlowFacts = (String, String, Vec<((String, i64), i64)>);

fn flows(profile: &Profile) -> Vec<FlowFacts> {
    let flows = &profile.flows;
    let of_flow = |flow: usize| {
        let members = flows.members_of(flow).iter().map(|member| (place(profile, member), member.time.0));
        let (name, category) = (profile.string(flows.name[flow]), profile.string(flows.category[flow]));
        // Events of no category have none in the file.
        let category = if category == "Other" { "" } else { category };
        (name.to_owned(), category.to_owned(), members.collect())
    };
    let mut found: Vec<FlowFacts> = (0..flows.len()).map(of_flow).collect();
    found.sort();
    found
}

/// How many slices are unfinished.
fn unfinished(profile: &Profile) -> u64 {
    let of_thread = |thread: &Thread| thread.slices.incomplete.iter().filter(|incomplete| **incomplete).count() as u64;
    profile.threads.iter().map(of_thread).sum()
}

/// When which functions ran, the root first.
fn samples(profile: &Profile, thread: &Thread) -> Vec<(i64, Vec<String>)> {
    let mut found = Vec::new();
    for (time, stack) in thread.samples.time.iter().zip(&thread.samples.stack) {
        let Some(stack) = stack else { continue };
        let name = |node| {
            let function = profile.frames.function[profile.stacks.frame[StackId::index(node)].index()];
            profile.string(profile.functions.name[function.index()]).to_owned()
        };
        let mut names: Vec<String> = profile.stacks.ancestors(*stack).map(name).collect();
        names.retain(|name| name != "(root)");
        names.reverse();
        if names != ["(idle)"] {
            found.push((time.0, names));
        }
    }
    found
}

/// Threads with samples, by the ids of both profiles.
fn sampled<'a>(profile: &'a Profile, read: &'a Profile) -> impl Iterator<Item = (&'a Thread, &'a Thread)> {
    let ids = |profile: &Profile, thread: &Thread| {
        (profile.processes[thread.process.index()].pid.to_string(), thread.tid.to_string())
    };
    let timed = profile.threads.iter().filter(|thread| thread.timed && !thread.samples.is_empty());
    timed.filter_map(move |thread| {
        let is_twin = |other: &&Thread| ids(read, other) == ids(profile, thread);
        Some((thread, read.threads.iter().find(is_twin)?))
    })
}

/// What V8 sampled comes back as it was. Of other samples CPU times do, but for gaps that are shorter than the time between two
/// looks; what is said to be longer than the time since the sample before is as long as that.
fn check_samples(path: &str, format: &str, profile: &Profile, read: &Profile) -> usize {
    let mut count = 0;
    for (thread, twin) in sampled(profile, read) {
        count += 1;
        let all_ran = thread.samples.stack.iter().all(Option::is_some);
        let (cpu, found) = (thread.sampled_cpu(), twin.sampled_cpu());
        if matches!(format, "chrome" | "cpuprofile") {
            assert_eq!(samples(read, twin), samples(profile, thread), "{path}");
            assert!(!all_ran || cpu.is_none() || cpu == found, "{path}: {cpu:?} is {found:?}");
            continue;
        }
        let (Some(cpu), Some(found)) = (cpu.filter(|_| all_ran && thread.knows_cpu()), found) else { continue };
        let interval = profile.meta.interval.map_or(1_000_000, |interval| interval.0);
        let most = i64::try_from(thread.samples.len()).expect("few") * interval / 2;
        assert!((-cpu.0 / 1000..=most).contains(&(found.0 - cpu.0)), "{path}: {cpu:?} is {found:?}");
    }
    count
}

#[test]
fn every_file_of_every_format_comes_back_with_its_slices_flows_and_samples() {
    let (mut files, mut sliced, mut flowing, mut sampled) = (0, 0, 0, 0);
    let mut ended = 0;
    for (path, contents) in fixtures::profiles() {
        let profile = contents.profile;
        let (text, warnings) = written(&profile);
        let read = again(&text);
        let by_name = count(&warnings, "ids-changed") > 0;
        let (expected, mut found) = (slices(&profile, by_name), slices(&read, by_name));
        for (slice, number) in &expected {
            let left = found.entry(*slice).or_insert(0);
            *left -= number;
            assert!(*left >= 0, "{path}: slices are missing");
            sliced += number;
        }
        // What lasts has tracks of its own.
        assert_eq!(found.into_values().sum::<i64>(), spans(&profile), "{path}");
        assert_eq!(flows(&read), flows(&profile), "{path}");
        assert_eq!(count(&warnings, "flows-elsewhere"), 0, "{path}");
        let ended_here = count(&warnings, "unfinished-ended");
        // Markers that begin and never end are spans that don't either.
        if contents.format.name == "chrome" {
            assert_eq!(unfinished(&read) + ended_here, unfinished(&profile), "{path}");
        }
        if !by_name {
            sampled += check_samples(&path, contents.format.name, &profile, &read);
        }
        ended += ended_here;
        flowing += profile.flows.len();
        files += 1;
    }
    // One asynchronous span without an end is not the last thing of its file.
    assert_eq!(ended, 1);
    assert!(
        files > 150 && sliced > 250_000 && flowing > 30_000 && sampled > 100,
        "{files} {sliced} {flowing} {sampled}"
    );
}

/// The profile of a trace's events.
fn of_events(events: &str) -> Profile {
    super::of_text(&format!("[{events}]"))
}

/// What is read again of the file of what these events are.
fn round(events: &str) -> Profile {
    again(&written(&of_events(events)).0)
}

#[test]
fn a_profile_of_nothing_is_a_trace_without_events() {
    let empty = ProfileBuilder::with_standard_categories().finish().expect("a valid profile");
    let (text, warnings) = written(&empty);
    assert_eq!(warnings, []);
    assert_eq!(
        String::from_utf8(text.clone()).expect("text"),
        "{\"traceEvents\":[\n\n],\"displayTimeUnit\":\"ns\",\"traceview\":{\"zero\":0}}\n"
    );
    assert!(again(&text).threads.is_empty());
}

#[test]
fn events_are_written_as_other_tools_know_them() {
    let events = r#"{"ph":"X","name":"a \"b\"\n","cat":"c,d","ts":1.5,"dur":2.345,"pid":1,"tid":"T 2",
        "args":{"x":[1, 2],"y":"\u0007\ud800","z":1.0,"big":18446744073709551616,"no":null}},
        {"ph":"i","name":"here","ts":2,"pid":1,"tid":"T 2","s":"g"},
        {"ph":"b","name":"wait","cat":"net","ts":1.75,"pid":1,"tid":"T 2","id":7},
        {"ph":"n","name":"step","cat":"net","ts":2,"pid":1,"tid":"T 2","id":7},
        {"ph":"e","name":"wait","cat":"net","ts":3,"pid":1,"tid":"T 2","id":7},
        {"ph":"C","name":"mem","ts":2.5,"pid":1,"tid":"T 2","args":{"used":2.5}},
        {"ph":"T","name":"S","ts":3,"dur":1,"pid":1,"tid":"T 2","args":{"syscall":"futex","target":"0x7f"}},
        {"ph":"B","name":"open","ts":4,"pid":1,"tid":"T 2"}"#;
    let (text, warnings) = written(&of_events(events));
    assert_eq!(warnings, []);
    let text = String::from_utf8(text).expect("text");
    let written: Vec<&str> = text.lines().filter(|line| !line.contains("__metadata")).collect();
    let expected = [
        r#"{"traceEvents":["#,
        r#"{"ph":"X","name":"a \"b\"\n","cat":"c,d","pid":1,"tid":"T 2","ts":1.5,"dur":2.345,"args":{"x":[1, 2],"y":"\u0007�","z":1.0,"big":18446744073709551616,"no":null}},"#,
        r#"{"ph":"b","name":"wait","cat":"net","pid":1,"tid":"T 2","ts":1.75,"id":"0x2","args":{}},"#,
        r#"{"ph":"I","name":"here","pid":1,"tid":"T 2","ts":2,"s":"g","args":{}},"#,
        r#"{"ph":"n","name":"step","cat":"net","pid":1,"tid":"T 2","ts":2,"id":"0x2","args":{}},"#,
        r#"{"ph":"C","name":"mem","pid":1,"tid":"T 2","ts":2.5,"args":{"value":2.5}},"#,
        r#"{"ph":"T","name":"S","pid":1,"tid":"T 2","ts":3,"dur":1,"args":{"syscall":"futex","target":"0x7f"}},"#,
        r#"{"ph":"e","name":"wait","cat":"net","pid":1,"tid":"T 2","ts":3,"id":"0x2","args":{}},"#,
        r#"{"ph":"B","name":"open","pid":1,"tid":"T 2","ts":4,"args":{}}"#,
        r#"],"displayTimeUnit":"ns","traceview":{"zero":1.5}}"#,
    ];
    assert_eq!(written, expected);
}

#[test]
fn slices_of_one_moment_stay_in_their_order() {
    let slice = |name: &str, dur: i64| format!(r#"{{"ph":"X","name":"{name}","ts":5,"dur":{dur},"pid":1,"tid":1}}"#);
    let events = [slice("first", 0), slice("second", 0), slice("around", 3), slice("inside", 3), slice("third", 0)];
    let read = round(&events.join(","));
    let thread = &read.threads[0];
    let names: Vec<&str> = thread.slices.name.iter().map(|name| read.string(*name)).collect();
    assert_eq!(names, ["around", "inside", "first", "second", "third"]);
    assert_eq!(thread.slices.depth, [0, 1, 2, 2, 2]);
}

#[test]
fn overlaps_keep_their_lanes_and_are_counted() {
    let slice = |ts: i64| format!(r#"{{"ph":"X","name":"{ts}","ts":{ts},"dur":10,"pid":1,"tid":1}}"#);
    let profile = of_events(&[slice(0), slice(5), slice(7), slice(20)].join(","));
    let (text, warnings) = written(&profile);
    assert_eq!(count(&warnings, "overlaps"), 2);
    assert_eq!(again(&text).threads[0].slices, profile.threads[0].slices);
}

#[test]
fn what_comes_before_the_zero_of_the_file_moves_it() {
    let mut builder = ProfileBuilder::with_standard_categories();
    let name = builder.string("main");
    let process = builder.add_process(Process::new(OsId::Number(1), name));
    let thread = builder.add_thread(Thread::new(process, OsId::Number(1), name));
    let mut slice = Slice {
        start: Time(-1_500),
        duration: Nanos(500),
        name,
        category: StandardCategory::Other.id(),
        parent: None,
        depth: 0,
        lane: 0,
        args: None,
        incomplete: false,
    };
    builder.thread_mut(thread).slices.push(slice);
    slice.start = Time(250);
    builder.thread_mut(thread).slices.push(slice);
    let profile = builder.finish().expect("a valid profile");
    let (text, _) = written(&profile);
    let shown = String::from_utf8(text.clone()).expect("text");
    assert!(shown.contains(r#""ts":0,"dur":0.5,"#) && shown.contains(r#""ts":1.75,"#), "{shown}");
    assert_eq!(again(&text).threads[0].slices.start, [Time(-1_500), Time(250)]);
}

#[test]
fn ids_that_are_used_again_are_told_apart() {
    let mut builder = ProfileBuilder::with_standard_categories();
    let name = builder.string("main");
    for pid in [7, 7, 8] {
        let process = builder.add_process(Process::new(OsId::Number(pid), name));
        for tid in [OsId::Number(1), OsId::Text("1".into())] {
            let thread = builder.add_thread(Thread::new(process, tid, name));
            let timing = MarkerTiming::Instant(Time(0));
            let (category, schema, payload, stack) = (StandardCategory::Other.id(), None, None, None);
            builder.thread_mut(thread).markers.push(Marker { name, timing, category, schema, payload, stack });
        }
    }
    let (text, warnings) = written(&builder.finish().expect("a valid profile"));
    assert_eq!(count(&warnings, "ids-changed"), 4);
    let read = again(&text);
    assert_eq!((read.processes.len(), read.threads.len()), (3, 6));
}

#[test]
fn a_million_slices_inside_each_other_are_written_and_read() {
    const DEPTH: u32 = 1_000_000;
    let mut builder = ProfileBuilder::with_standard_categories();
    let name = builder.string("f");
    let process = builder.add_process(Process::new(OsId::Number(1), name));
    let thread = builder.add_thread(Thread::new(process, OsId::Number(1), name));
    for depth in 0..DEPTH {
        builder.thread_mut(thread).slices.push(Slice {
            start: Time(depth.into()),
            duration: Nanos((2 * DEPTH - 2 * depth).into()),
            name,
            category: StandardCategory::Other.id(),
            parent: depth.checked_sub(1).map(|parent| SliceId::new(parent as usize)),
            depth,
            lane: 0,
            args: None,
            incomplete: false,
        });
    }
    let profile = builder.finish().expect("a valid profile");
    assert!(again(&written(&profile).0).threads[0].slices == profile.threads[0].slices);
}

#[test]
fn clocks_of_threads_come_back_where_they_stood() {
    let cpu = |profile: &Profile, thread: usize| {
        let slices = &profile.threads[thread].slices;
        let cpu = |row| (slices.cpu_of(row).start().map(|at| at.0), slices.cpu_of(row).duration().map(|cpu| cpu.0));
        (0..slices.len()).map(cpu).collect::<Vec<_>>()
    };
    let events = r#"{"ph":"X","name":"a","ts":1,"dur":9,"tts":100,"tdur":4.5,"pid":1,"tid":1},
        {"ph":"B","name":"b","ts":2,"tts":101,"pid":1,"tid":1},{"ph":"E","ts":4,"tts":"102.25","pid":1,"tid":1},
        {"ph":"X","name":"c","ts":5,"dur":1,"tdur":0,"pid":1,"tid":1},
        {"ph":"X","name":"d","ts":7,"dur":1,"tts":null,"tdur":"long","pid":1,"tid":1},
        {"ph":"b","id":1,"name":"e","ts":20,"tts":7,"pid":1,"tid":1},{"ph":"e","id":1,"name":"e","ts":21,"tts":9,"pid":1,"tid":1},
        {"ph":"i","name":"f","ts":30,"tts":8,"args":{"x":1},"pid":1,"tid":1},
        {"ph":"C","name":"g","ts":30,"tts":8,"tdur":1,"args":{"x":1},"pid":1,"tid":1},
        {"ph":"X","name":"z","ts":40,"dur":0,"pid":1,"tid":1}"#;
    let profile = of_events(events);
    let expected =
        vec![(Some(100_000), Some(4_500)), (Some(101_000), Some(1_250)), (None, Some(0)), (None, None), (None, None)];
    assert_eq!((cpu(&profile, 0), cpu(&profile, 1)), (expected, vec![(Some(7_000), Some(2_000))]));
    assert_eq!(args(&profile, profile.threads[0].slices.args[3]), "tdur=\"long\",", "what is no time is kept as it is");
    assert_eq!(args(&profile, profile.threads[0].markers.payload[0]), "x=Integer(1),tts=Integer(8),");
    let left_out = count(&profile.meta.warnings, "thread-clock-left-out");
    assert_eq!(left_out, 1, "a counter's: {:?}", profile.meta.warnings);

    let (text, _) = written(&profile);
    let shown = String::from_utf8_lossy(&text);
    for part in [
        r#""dur":9,"tts":100,"tdur":4.5,"args":{}"#,
        r#""dur":2,"tts":101,"tdur":1.25,"args":{}"#,
        r#""dur":1,"tdur":0,"args":{}"#,
        r#""s":"t","tts":8,"args":{"x":1}"#,
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let read = again(&text);
    assert_eq!((cpu(&read, 0), cpu(&read, 1)), (cpu(&profile, 0), cpu(&profile, 1)), "{shown}");
    assert_eq!(read.threads[0].markers, profile.threads[0].markers);

    let target = Target { format: format::by_name("firefox").expect("a format"), gzip: false };
    let mut text = Vec::new();
    format::write(&profile, target, &WriteOptions::default(), &mut text).expect("memory does not fail");
    let read = format::read(&text, &ReadOptions::default()).expect("a profile").profile;
    assert_eq!((cpu(&read, 0), cpu(&read, 1)), (cpu(&profile, 0), cpu(&profile, 1)));
}

#[test]
fn what_stands_beside_the_events_comes_back() {
    let text = r#"{"otherData":{"version":"My tool 1.0", "n":[1,2.50]},"a \"key\"":"twice","traceEvents":[
        {"ph":"X","name":"a","ts":5,"dur":1,"pid":1,"tid":1}],"displayTimeUnit":"ms","a \"key\"":"ü","bad":{"x":NaN},
        "metadata":{"clock-domain":"LINUX_CLOCK_MONOTONIC","product-version":"Tool/1","trace-config":{"a":true}},
        "schemaVersion":1}"#;
    let profile = again(text.as_bytes());
    assert_eq!(count(&profile.meta.warnings, "keys-left-out"), 1, "the one that is no JSON");
    let beside = |text: &str| {
        let mut value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let object = value.as_object_mut().expect("an object");
        ["traceEvents", "displayTimeUnit", "traceview"].iter().for_each(|key| drop(object.remove(*key)));
        value
    };
    let expected = beside(&text.replace(r#""bad":{"x":NaN},"#, ""));
    let (written_once, _) = written(&profile);
    assert_eq!(beside(&String::from_utf8_lossy(&written_once)), expected);
    let read = again(&written_once);
    assert_eq!(read.kept, profile.kept);

    // Not what it was any more: what the file says of its clock would be wrong.
    let mut builder = ProfileBuilder::with_standard_categories();
    let name = builder.string("a");
    builder.keep("chrome.metadata", r#"{"clock-domain":"LINUX_CLOCK_MONOTONIC"}"#);
    builder.keep("chrome.otherData", "no JSON");
    builder.keep("chrome.traceEvents", "[]");
    builder.add_process(Process::new(OsId::Number(1), name));
    let (text, _) = written(&builder.finish().expect("a valid profile"));
    let text = String::from_utf8_lossy(&text);
    assert!(!text.contains("clock-domain") && !text.contains("otherData"), "{text}");
    assert_eq!(text.matches("traceEvents").count(), 1);
}

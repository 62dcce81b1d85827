//! speedscope files: what speedscope computes from them, and what survives being written.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof};
use proptest::proptest;
use serde_json::{Value, json};
use traceview_core::analysis::{Measure, Selection, StackValues, functions};
use traceview_core::format::{self, Contents, ReadError, ReadOptions, WriteOptions};
use traceview_core::model::{
    CpuDelta, Frame, Function, Nanos, OsId, Process, Profile, ProfileBuilder, Source, StackId, Thread, Time, Values,
    Wait, WaitReason, WeightUnit,
};

use crate::fixtures;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

fn read_text(text: &str) -> Result<Contents, ReadError> {
    format::read(text.as_bytes(), &ReadOptions::default())
}

fn read(value: &Value) -> Profile {
    read_text(&value.to_string()).expect("it can be read").profile
}

/// Writes `profile`, checks the file against the schema, and gives it with the codes of what was left out.
fn write(profile: &Profile, off_cpu: bool) -> (Value, Vec<String>) {
    write_as(profile, WriteOptions { off_cpu, measure: None })
}

fn write_as(profile: &Profile, options: WriteOptions) -> (Value, Vec<String>) {
    let mut bytes = Vec::new();
    let target = format::by_name("speedscope").expect("a format").target();
    let warnings = format::write(profile, target, &options, &mut bytes).expect("it can be written");
    let file: Value = serde_json::from_slice(&bytes).expect("JSON");
    check(&file);
    (file, warnings.into_iter().map(|warning| warning.code).collect())
}

/// What the schema and the reader of speedscope demand.
fn check(file: &Value) {
    assert_eq!(file["$schema"], SCHEMA);
    let frames = file["shared"]["frames"].as_array().expect("frames");
    for frame in frames {
        assert!(frame["name"].is_string() && (frame["file"].is_null() || frame["file"].is_string()), "{frame}");
        for key in ["line", "col"] {
            assert!(frame.get(key).is_none_or(|place| place.as_u64().is_some_and(|place| place > 0)), "{frame}");
        }
    }
    let profiles = file["profiles"].as_array().expect("profiles");
    assert!(file["activeProfileIndex"].as_u64().unwrap_or(0) < profiles.len() as u64, "{file}");
    for profile in profiles {
        assert_eq!(profile["type"], "sampled");
        assert!(profile["name"].is_string());
        let unit = profile["unit"].as_str().expect("a unit");
        assert!(["none", "nanoseconds", "bytes"].contains(&unit), "{unit}");
        let number = |value: &Value| value.as_f64().expect("a number");
        let (samples, weights) =
            (profile["samples"].as_array().expect("stacks"), profile["weights"].as_array().expect("weights"));
        assert_eq!(samples.len(), weights.len());
        assert!(weights.iter().all(|weight| number(weight) >= 0.0), "{weights:?}");
        let sum: f64 = weights.iter().map(number).sum();
        let (start, end) = (number(&profile["startValue"]), number(&profile["endValue"]));
        assert!(end - start >= sum * (1.0 - 1e-9), "{start} {end} {sum}");
        for index in samples.iter().flat_map(|stack| stack.as_array().expect("a stack")) {
            assert!((index.as_u64().expect("an index") as usize) < frames.len());
        }
    }
}

fn name_of(profile: &Profile, stack: StackId) -> String {
    let label = |node: StackId| {
        let frame = profile.frames.get(profile.stacks.frame[node.index()]);
        let function = profile.functions.get(frame.function);
        let file = function.source.map_or("", |source| profile.string(profile.sources[source.index()].path));
        let place = if frame.line.is_some() { (frame.line, frame.column) } else { (function.line, function.column) };
        format!("{} {file} {place:?}", profile.string(function.name))
    };
    let mut names: Vec<String> = profile.stacks.ancestors(stack).map(label).collect();
    names.reverse();
    names.join(";")
}

/// Names of the stacks of a thread and their weights; without what did not run.
fn rows(profile: &Profile, thread: usize) -> Vec<(String, f64)> {
    let samples = &profile.threads[thread].samples;
    let rows = samples.stack.iter().enumerate();
    rows.filter_map(|(row, stack)| Some((name_of(profile, (*stack)?), samples.weight.get(row)))).collect()
}

/// Self and total values by name.
fn sums(profile: &Profile) -> Vec<(String, [f64; 2])> {
    let values = StackValues::of(profile, &Selection::default(), Measure::Cpu).expect("one unit");
    let rows = functions(profile, &values).rows;
    let mut sums: Vec<_> = rows
        .iter()
        .map(|row| {
            let name = profile.string(profile.functions.name[row.function.index()]).to_owned();
            (name, [row.own.value, row.total.value])
        })
        .collect();
    sums.sort_by(|left, right| left.0.cmp(&right.0));
    sums
}

fn warnings(profile: &Profile) -> Vec<(&str, u64)> {
    profile.meta.warnings.iter().map(|warning| (warning.code.as_str(), warning.count)).collect()
}

fn expected(unit: f64) -> Vec<(String, [f64; 2])> {
    // a 14, b 14 (5 of its own), c 5, d 4: of speedscope's own samples.
    [("a", [0.0, 14.0]), ("b", [5.0, 14.0]), ("c", [5.0, 5.0]), ("d", [4.0, 4.0])]
        .map(|(name, sums)| (name.to_owned(), sums.map(|value| value * unit)))
        .to_vec()
}

#[test]
fn evented_and_sampled_profiles_are_the_same_trees() {
    let contents = fixtures::read("speedscope/simple.speedscope.json").expect("evented");
    assert_eq!(contents.format.name, "speedscope");
    assert_eq!(sums(&contents.profile), expected(1.0));
    assert!(!contents.profile.threads[0].timed);
    assert_eq!(contents.profile.threads[0].samples.weight, Values::Integer(vec![2, 4, 3, 5]));
    let profile = fixtures::read("speedscope/simple-sampled.speedscope.json").expect("sampled").profile;
    assert_eq!(sums(&profile), expected(1e9));
    let seconds: Vec<i64> = profile.threads[0].samples.time.iter().map(|time| time.0 / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 2, 6, 9]);
    let profile = fixtures::read("speedscope/two-sampled.speedscope.json").expect("two").profile;
    assert_eq!(profile.meta.name, "Two Samples");
    assert_eq!(profile.threads.iter().map(|thread| profile.string(thread.name)).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(profile.meta.recording_end, Some(Time(14_000_000_000)));
    assert_eq!(warnings(&profile), []);
}

#[test]
fn what_speedscope_wrote_is_written_again() {
    for name in ["simple", "simple-sampled", "two-sampled"] {
        let path = format!("speedscope/{name}.speedscope.json");
        let profile = fixtures::read(&path).expect(&path).profile;
        let (file, left_out) = write(&profile, false);
        assert_eq!(left_out, [""; 0], "{name}");
        let original = fixtures::json(&path);
        assert_eq!(file["shared"], original["shared"], "{name}");
        assert_eq!(file["activeProfileIndex"], original["activeProfileIndex"]);
        for (ours, theirs) in file["profiles"].as_array().unwrap().iter().zip(original["profiles"].as_array().unwrap())
        {
            assert_eq!(ours["name"], theirs["name"]);
            if theirs["type"] == "sampled" {
                assert_eq!(ours["samples"], theirs["samples"]);
                let weights = [1_000_000_000_u64, 1_000_000_000, 4_000_000_000, 3_000_000_000, 5_000_000_000];
                assert_eq!(ours["weights"], json!(weights));
                assert_eq!(ours["endValue"], json!(14_000_000_000_u64));
            }
        }
        assert_eq!(read(&file), profile, "{name}");
    }
}

#[test]
fn what_speedscope_refuses_is_repaired_and_counted() {
    let profile = fixtures::read("speedscope/incomplete-trace.json").expect("incomplete").profile;
    assert_eq!(sums(&profile), [("A".to_owned(), [100.0, 100.0])]);
    assert_eq!(warnings(&profile), [("frames-not-closed", 1)]);
    let profile = fixtures::read("speedscope/out-of-order-events.json").expect("out of order").profile;
    assert_eq!(sums(&profile), [("A".to_owned(), [3.0, 3.0]), ("B".to_owned(), [0.0, 2.0])]);
    assert_eq!(warnings(&profile), [("frames-closed-early", 1), ("close-without-open", 1)]);
    assert_eq!(profile.meta.warnings[0].first.as_deref(), Some("profiles[0].events[6]"));
}

/// A file with one profile.
fn file(profile: &Value) -> Value {
    let frames = json!([{"name": "a"}, {"name": "b", "file": "b.rs", "line": 3, "col": 7}, {"name": "c", "line": 0}]);
    json!({"$schema": SCHEMA, "profiles": [profile], "shared": {"frames": frames}})
}

fn event(kind: &str, frame: i64, at: Option<f64>) -> Value {
    json!({"type": kind, "frame": frame, "at": at})
}

#[test]
fn faults_of_single_values_are_counted() {
    let profile = read(&file(&json!({
        "events": [event("O", 0, Some(1.0)), event("O", 9, Some(2.0)), event("O", 1, Some(0.5)), event("C", 1, None),
            event("X", 0, Some(3.5)), event("C", 0, Some(4.0))],
        "type": "evented", "name": "e", "unit": "parsecs", "startValue": 0, "endValue": 5,
    })));
    assert_eq!(sums(&profile)[0], ("a".to_owned(), [3.0, 3.0]));
    let codes = ["place-left-out", "frames-missing", "events-out-of-order", "events-without-value", "events-unknown"];
    let found: Vec<_> = profile.meta.warnings.iter().map(|warning| &*warning.code).collect();
    assert_eq!(found, [&codes[..], &["units-unknown"]].concat());
    let profile = read(&file(&json!({
        "type": "sampled", "name": "s", "unit": "milliseconds", "startValue": 1e3, "endValue": 5,
        "samples": [[0, 1], [7, 0, -1], [0], [], [0]], "weights": [1.5, 2, null, -3],
    })));
    let expected = [
        ("place-left-out", 1),
        ("frames-missing", 2),
        ("weights-missing", 1),
        ("samples-without-weight", 1),
        ("weights-negative", 1),
    ];
    assert_eq!(warnings(&profile), expected);
    let thread = &profile.threads[0];
    assert_eq!(thread.samples.weight, Values::Float(vec![1.5, 2.0, 0.0, 0.0]));
    assert_eq!(thread.samples.time[1], Time(1_001_500_000));
    assert_eq!((thread.start, thread.end), (Some(Time(1_000_000_000)), None));
    assert_eq!(rows(&profile, 0)[0].0, "a  (None, None);b b.rs (Some(3), Some(7))");
}

#[test]
fn files_that_are_none_are_refused_with_a_place() {
    for (text, message) in [
        (
            r#"{"profiles":[{"type":"sampled"}],"shared":{"frames":[{"name":7}]}}"#,
            "byte 61: expected a string, found the number 7",
        ),
        (
            r#"{"shared":{"frames":[]},"profiles":[{"samples":[[0]],"samples":[]}]}"#,
            "byte 61: the key \"samples\" is there twice",
        ),
        (
            r#"{"shared":{"frames":[]},"profiles":[{"samples":[["#,
            "the file ends too early, at byte 49: it is incomplete, copy or record it again",
        ),
        (r#"{"shared":{"frames":[]},"profiles":[{"samples":[[1e999]]}]}"#, "byte 53: number out of range"),
        (r#"{"shared":{"frames":[]},"profiles":[]}"#, "profiles: it has no profiles"),
        (
            r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}"#,
            "shared: the table of frames is missing",
        ),
    ] {
        assert_eq!(read_text(text).expect_err(text).to_string(), message, "{text}");
    }
}

#[test]
fn depth_costs_no_stack_and_no_square() {
    let deep = 1_000_000;
    let opens: String = (0..deep).map(|at| format!("{{\"type\":\"O\",\"frame\":0,\"at\":{at}}},")).collect();
    // Frame 2 is innermost, so that each of these has to be seen to be not open without a search.
    let closes = vec!["{\"type\":\"C\",\"frame\":1,\"at\":1000000}"; deep].join(",");
    let text = format!(
        "{{\"shared\":{{\"frames\":[{{\"name\":\"a\"}},{{\"name\":\"b\"}}]}},\"profiles\":[{{\"type\":\"evented\",\
         \"unit\":\"none\",\"events\":[{opens}{closes}]}},{{\"type\":\"sampled\",\"unit\":\"none\",\"weights\":[1],\
         \"samples\":[[{}0]]}}]}}",
        "0,".repeat(deep)
    );
    let profile = read_text(&text).expect("deep").profile;
    assert_eq!(warnings(&profile), [("close-without-open", deep as u64), ("frames-not-closed", deep as u64)]);
    let stack = profile.threads[1].samples.stack[0].expect("a stack");
    assert_eq!(profile.stacks.ancestors(stack).count(), deep + 1);
}

fn process(builder: &mut ProfileBuilder, pid: i64) -> traceview_core::model::ProcessId {
    let name = builder.string(&format!("process {pid}"));
    builder.add_process(Process {
        pid: OsId::Number(pid),
        parent: None,
        name,
        command_line: Vec::new(),
        start: None,
        end: None,
        exit: None,
    })
}

#[test]
fn a_recording_shows_where_a_thread_did_not_run() {
    const MS: i64 = 1_000_000;
    let mut builder = ProfileBuilder::with_standard_categories();
    builder.meta_mut().interval = Some(Nanos(MS));
    (builder.meta_mut().recording_start, builder.meta_mut().recording_end) = (Some(Time(0)), Some(Time(100 * MS)));
    let process = process(&mut builder, 7);
    let [name, futex] = ["worker", "futex"].map(|text| builder.string(text));
    let function = builder.function(Function { line: Some(4), ..Function::named(name) });
    let frame = builder.frame(Frame::of(function));
    let stack = builder.stack(None, frame);
    let mut thread = Thread::new(process, OsId::Number(8), name);
    thread.samples.time = [11, 12, 40, 50].map(|ms| Time(ms * MS)).to_vec();
    thread.samples.stack = vec![Some(stack), Some(stack), None, Some(stack)];
    thread.samples.cpu = [MS, MS - 900, MS, 0].map(|cpu| CpuDelta::new(Nanos(cpu))).to_vec();
    let wait = Wait {
        start: Time(12 * MS),
        duration: Nanos(27 * MS),
        stack: Some(stack),
        reason: WaitReason::Blocked,
        syscall: Some(futex),
        target: None,
        inferred: false,
    };
    thread.waits.push(wait);
    builder.add_thread(thread.clone());
    thread.tid = OsId::Number(9);
    builder.add_thread(thread);
    let profile = builder.finish().expect("a valid profile");
    let (file, left_out) = write(&profile, false);
    assert_eq!(left_out, ["waits-left-out"]);
    let written = &file["profiles"][0];
    assert_eq!(written["name"], "worker (8)");
    assert_eq!((&written["startValue"], &written["endValue"]), (&json!(0), &json!(100 * MS)));
    assert_eq!(written["samples"], json!([[], [0], [0], [], [1]]));
    // The 900 ns between the first two are made up for before the third.
    assert_eq!(written["weights"], json!([10 * MS, MS, MS - 900, 27 * MS + 900, MS]));
    assert_eq!(file["shared"]["frames"], json!([{"name": "worker", "line": 4}, {"name": "[no stack]"}]));
    let (file, left_out) = write(&profile, true);
    assert_eq!(left_out, [""; 0]);
    let written = &file["profiles"][1];
    assert_eq!(written["samples"], json!([[], [0], [0], [0, 1], [2]]));
    assert_eq!(written["weights"], json!([10 * MS, MS, MS - 900, 27 * MS, MS]));
    assert_eq!(file["shared"]["frames"][1], json!({"name": "[wait] futex"}));
    let counted = WriteOptions { off_cpu: true, measure: Some(Measure::Weights) };
    let (file, left_out) = write_as(&profile, counted);
    assert_eq!((&file["profiles"][0]["unit"], &file["profiles"][0]["weights"]), (&json!("none"), &json!([1, 1, 1])));
    assert_eq!(left_out, ["waits-left-out"]);
}

#[test]
fn the_column_that_is_asked_for_is_written() {
    let (profile, [objects, space, delay]) = crate::collapsed::heap();
    for (measure, unit, weights) in [
        (None, "bytes", json!([409_600, 20_480])),
        (Some(space), "bytes", json!([409_600, 20_480])),
        (Some(objects), "none", json!([3, 1])),
        (Some(delay), "nanoseconds", json!([5_000_000])),
    ] {
        let (file, left_out) = write_as(&profile, WriteOptions { off_cpu: false, measure });
        let written = &file["profiles"][0];
        assert_eq!((&written["unit"], &written["weights"]), (&json!(unit), &weights));
        assert_eq!(left_out, ["values-left-out"]);
    }
}

/// A look at all threads for each of them would take minutes.
#[test]
fn many_threads_take_linear_time() {
    let mut builder = ProfileBuilder::with_standard_categories();
    let process = process(&mut builder, 1);
    let name = builder.string("thread");
    let function = builder.function(Function::named(name));
    let frame = builder.frame(Frame::of(function));
    let stack = builder.stack(None, frame);
    for tid in 0..40_000 {
        let mut thread = Thread::new(process, OsId::Number(tid), name);
        thread.samples.time = vec![Time(tid)];
        thread.samples.stack = vec![Some(stack)];
        builder.add_thread(thread);
    }
    let profile = builder.finish().expect("a profile");
    for format in format::written() {
        format::write(&profile, format.target(), &WriteOptions::default(), std::io::sink()).expect(format.name);
    }
}

#[test]
fn samples_of_unknown_cpu_time_are_told() {
    let mut builder = ProfileBuilder::with_standard_categories();
    let process = process(&mut builder, 7);
    let name = builder.string("worker");
    let function = builder.function(Function::named(name));
    let frame = builder.frame(Frame::of(function));
    let stack = builder.stack(None, frame);
    let mut thread = Thread::new(process, OsId::Number(8), name);
    thread.samples.time = [1, 2, 3].map(|ms| Time(ms * 1_000_000)).to_vec();
    thread.samples.stack = vec![Some(stack); 3];
    thread.samples.cpu = vec![CpuDelta::new(Nanos(500)), CpuDelta::UNKNOWN, CpuDelta::new(Nanos(0))];
    builder.add_thread(thread);
    let profile = builder.finish().expect("a valid profile");
    let mut bytes = Vec::new();
    let target = format::by_name("speedscope").expect("a format").target();
    let warnings = format::write(&profile, target, &WriteOptions::default(), &mut bytes).expect("it can be written");
    let told: Vec<_> = warnings.iter().map(|warning| (&*warning.code, warning.count)).collect();
    assert_eq!(told, [("samples-not-counted", 1)]);
}

/// What one made-up thread has.
#[derive(Clone, Debug)]
struct MadeUp {
    unit: WeightUnit,
    timed: bool,
    cpu: bool,
    /// Node of a stack (by number, if any), time since the sample before, weight.
    samples: Vec<(Option<usize>, i64, f64)>,
}

fn made_up() -> impl Strategy<Value = MadeUp> {
    let unit = prop_oneof![Just(WeightUnit::Samples), Just(WeightUnit::TracingMs), Just(WeightUnit::Bytes)];
    let weight = prop_oneof![
        (-3_i32..1000).prop_map(f64::from),
        (0_i64..10_000_000_000).prop_map(|nanos| nanos as f64 / 1e6),
        0.0..1e9,
        Just(f64::NAN),
    ];
    let sample = (prop::option::weighted(0.8, 0_usize..40), 0_i64..5_000_000, weight);
    (unit, any::<bool>(), any::<bool>(), prop::collection::vec(sample, 0..30))
        .prop_map(|(unit, timed, cpu, samples)| MadeUp { unit, timed, cpu, samples })
}

/// Frames with names, files and places; stacks that grow on each other.
fn profile_of(threads: &[MadeUp], nodes: &[(usize, usize)], interval: bool) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    builder.meta_mut().interval = interval.then_some(Nanos(1_000_000));
    let processes = [process(&mut builder, 1), process(&mut builder, 2)];
    let mut stacks: Vec<StackId> = Vec::new();
    for (prefix, frame) in nodes {
        let [name, path] =
            [format!("f\"{}\u{1f980}", frame % 7), format!("{}.rs", frame % 3)].map(|text| builder.string(&text));
        let source = (frame % 2 == 0).then(|| builder.source(Source::at(path)));
        let place = |from: usize| u32::try_from((frame + from) % 4).ok().filter(|place| *place > 0);
        let function = builder.function(Function { source, line: place(1), ..Function::named(name) });
        let frame = builder.frame(Frame { line: place(0), column: place(2), ..Frame::of(function) });
        let prefix = stacks.get(*prefix).copied();
        stacks.push(builder.stack(prefix, frame));
    }
    for (index, made_up) in threads.iter().enumerate() {
        let name = builder.string(&format!("thread {}", index % 3));
        let tid = OsId::Number(i64::try_from(index).expect("few threads"));
        let mut thread = Thread::new(processes[index % 2], tid, name);
        thread.timed = made_up.timed;
        let samples = &mut thread.samples;
        samples.weight_unit = made_up.unit;
        let mut now = Time(0);
        let mut weights = Vec::new();
        for (stack, after, weight) in &made_up.samples {
            now = now + Nanos(*after);
            if made_up.timed {
                samples.time.push(now);
            }
            samples.stack.push(stack.and_then(|stack| stacks.get(stack).copied()));
            if made_up.cpu {
                samples.cpu.push(CpuDelta::new(Nanos(*after)));
            }
            weights.push(*weight);
        }
        samples.weight = Values::Float(weights);
        builder.add_thread(thread);
    }
    builder.finish().expect("a valid profile")
}

/// What a thread counts in a speedscope file: stacks and weights in the file's unit.
fn counted(profile: &Profile, thread: &Thread) -> Vec<(String, f64)> {
    let samples = &thread.samples;
    let has_cpu = samples.cpu.iter().any(|cpu| cpu.get().is_some());
    let interval = profile.meta.interval.filter(|_| thread.timed && samples.weight_unit == WeightUnit::Samples);
    let row = |row: usize| {
        let name = samples.stack[row].map(|stack| name_of(profile, stack));
        if has_cpu {
            let value = samples.cpu_of(row)?.0 as f64 / 1e6;
            return (value != 0.0).then(|| (name.unwrap_or("[no stack]  (None, None)".to_owned()), value));
        }
        let value = samples.weight.get(row) * interval.map_or(1.0, Nanos::as_millis_f64);
        (value >= 0.0).then_some((name?, value))
    };
    (0..samples.len()).filter_map(row).collect()
}

proptest! {
    #[test]
    fn stacks_and_weights_survive(
        threads in prop::collection::vec(made_up(), 1..5),
        nodes in prop::collection::vec((0_usize..60, 0_usize..20), 1..40),
        interval in any::<bool>(),
    ) {
        let profile = profile_of(&threads, &nodes, interval);
        let has_samples = |thread: &&Thread| !counted(&profile, thread).is_empty();
        if !profile.threads.iter().any(|thread| has_samples(&thread)) {
            return Ok(());
        }
        let (file, _) = write(&profile, false);
        prop_assert_eq!(&write(&profile, false).0, &file, "the same bytes each time");
        let again = read(&file);
        // Threads that count nothing may be there for what did not run.
        let threads: Vec<_> = (0..again.threads.len()).map(|thread| rows(&again, thread)).collect();
        let expected: Vec<_> = profile.threads.iter().filter(has_samples).map(|thread| counted(&profile, thread)).collect();
        let threads: Vec<_> = threads.into_iter().filter(|rows| !rows.is_empty()).collect();
        prop_assert_eq!(threads.len(), expected.len());
        for (ours, expected) in threads.iter().zip(&expected) {
            let names = |rows: &[(String, f64)]| rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>();
            prop_assert_eq!(names(ours), names(expected));
            for (ours, expected) in ours.iter().zip(expected) {
                assert!((ours.1 - expected.1).abs() <= expected.1 * 1e-12 + 1e-6, "{ours:?} {expected:?}");
            }
        }
        prop_assert_eq!(warnings(&again), []);
        let twice = read(&write(&again, false).0);
        prop_assert_eq!(twice, again, "what was read once stays as it is");
    }
}

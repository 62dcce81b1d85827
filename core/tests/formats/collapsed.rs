//! Collapsed stacks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use traceview_core::analysis::Measure;
use traceview_core::format::{self, ReadOptions, WriteOptions};
use traceview_core::model::{
    CategoryId, CpuDelta, Frame, Function, FunctionKind, Meta, Nanos, OsId, Process, Profile, ProfileBuilder, StackId,
    StandardCategory, Thread, Time, ValueColumn, ValueType, Values, Wait, WaitReason, Warning, WeightUnit,
};

use crate::fixtures;
use crate::tops::{Tops, expected};

fn read(text: impl AsRef<[u8]>) -> Profile {
    let contents = format::read(text.as_ref(), &ReadOptions::default()).expect("collapsed stacks");
    assert_eq!(contents.format.name, "collapsed");
    contents.profile
}

/// Reads what may look like anything, as the file of an export is: by its name.
fn read_named(text: &str) -> Profile {
    let options = ReadOptions { named: format::named("stacks.folded".as_ref()), ..ReadOptions::default() };
    format::read(text.as_bytes(), &options).expect("collapsed stacks").profile
}

fn write(profile: &Profile, options: WriteOptions) -> (String, Vec<Warning>) {
    let mut out = Vec::new();
    let target = format::by_name("collapsed").expect("a format").target();
    let warnings = format::write(profile, target, &options, &mut out).expect("it can be written");
    (String::from_utf8(out).expect("UTF-8"), warnings)
}

fn written(profile: &Profile) -> String {
    write(profile, WriteOptions::default()).0
}

/// The warnings as `code count first`.
fn notes(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(|w| format!("{} {} {}", w.code, w.count, w.first.as_deref().unwrap_or("-"))).collect()
}

fn name_of(profile: &Profile, stack: StackId) -> &str {
    profile.string(profile.functions.name[profile.leaf_function(stack).index()])
}

/// The lines of a profile as `a;b;c` with their weights.
fn stacks(profile: &Profile) -> Vec<(String, f64)> {
    let samples = &profile.threads[0].samples;
    let rows = samples.stack.iter().enumerate();
    rows.map(|(row, stack)| {
        let mut names: Vec<&str> =
            profile.stacks.ancestors(stack.expect("a stack")).map(|node| name_of(profile, node)).collect();
        names.reverse();
        (names.join(";"), samples.weight.get(row))
    })
    .collect()
}

#[test]
fn the_front_ends_numbers_come_out() {
    let profile = fixtures::read("gecko/flamegraph.txt").expect("it can be read").profile;
    let thread = &fixtures::json("gecko/expected/flamegraph.txt.expected.json")["threads"][0];
    let tops = Tops::of(&profile, |node| name_of(&profile, node).to_owned());
    for (name, amount) in expected(&thread["topSelf"]) {
        assert_eq!(tops.own.get(&name), Some(&amount), "{name}");
    }
    for (name, amount) in expected(&thread["topTotal"]) {
        assert_eq!(tops.total.get(&name), Some(&amount), "{name}");
    }
    assert_eq!(Some(tops.own.values().sum()), thread["totalWeight"].as_f64());
    assert_eq!(Some(profile.stacks.len() as u64), thread["stacks"].as_u64());
    assert_eq!(Some(profile.functions.len() as u64), thread["funcs"].as_u64());
    assert!(!profile.threads[0].timed && profile.threads.len() == 1 && profile.meta.warnings.is_empty());
    let text = fixtures::bytes("gecko/flamegraph.txt");
    let mut lines: Vec<&str> = std::str::from_utf8(&text).expect("UTF-8").lines().collect();
    lines.sort_by_key(|line| line.rsplit_once(' ').map(|(stack, _)| stack.split(';').collect::<Vec<_>>()));
    assert_eq!(written(&profile).lines().collect::<Vec<_>>(), lines, "the same lines in order");
}

#[test]
fn every_way_to_write_a_line_is_read() {
    let text = "\u{feff}# made by hand\r\nmain;a b;c 2\r\n\r\n\tmain;[unknown]_[k] 1.0\nmain;x_[j]\t3\nmain;y 1e+02\nmain;z -4";
    let profile = read(text);
    assert_eq!(
        stacks(&profile),
        [("main;a b;c", 2.0), ("main;[unknown]_[k]", 1.0), ("main;x_[j]", 3.0), ("main;y", 100.0), ("main;z", -4.0)]
            .map(|(stack, count)| (stack.to_owned(), count))
    );
    assert!(matches!(&profile.threads[0].samples.weight, Values::Integer(counts) if counts.len() == 5));
    let category = |stack: usize| {
        let stack = profile.threads[0].samples.stack[stack].expect("a stack");
        profile.frames.category[profile.stacks.frame[stack.index()].index()].map(CategoryId::index)
    };
    let expected = [StandardCategory::Other, StandardCategory::Kernel, StandardCategory::Jit];
    assert_eq!([category(0), category(1), category(2)], expected.map(|category| Some(category.id().index())));
    assert!(profile.meta.warnings.is_empty());
    assert_eq!(read("a;b 1\na;b 1\na 1\n").threads[0].samples.weight, Values::Ones);
    assert_eq!(stacks(&read("a;b 1.5\na;c 2\n")), [("a;b".to_owned(), 1.5), ("a;c".to_owned(), 2.0)]);
}

#[test]
fn what_cannot_be_read_is_counted_with_its_place() {
    let mut text = b"a;b 1\n".repeat(20);
    text.extend(b"no count\na;;\xff 99999999999999999999\n5\n;x 1\n");
    let profile = read(&text);
    let large = "count-too-large 1 byte 129";
    assert_eq!(
        notes(&profile.meta.warnings),
        ["line-without-count 2 byte 120", large, "frame-without-name 2 byte 131", "name-not-utf8 1 byte 132"]
    );
    let last_two = &stacks(&profile)[20..];
    assert_eq!(last_two[0], ("a;[unknown];\u{fffd}".to_owned(), 1e20));
    assert_eq!(last_two[1], ("[unknown];x".to_owned(), 1.0));
}

#[test]
fn a_difference_has_two_counts_on_every_line() {
    let profile = read("a;b 10 12\na;c 0 3.5\n");
    assert_eq!(stacks(&profile), [("a;b".to_owned(), 12.0), ("a;c".to_owned(), 3.5)]);
    let before = &profile.threads[0].samples.values[0];
    assert_eq!(before.values, Values::Integer(vec![10, 0]));
    assert_eq!(profile.string(profile.value_types[before.value_type.index()].name), "before");
    assert_eq!(notes(&profile.meta.warnings), ["difference-of-two 1 line 1"]);
    assert_eq!(stacks(&read("a;GC 1 12\na;c 3\n")), [("a;GC 1".to_owned(), 12.0), ("a;c".to_owned(), 3.0)]);
}

#[test]
fn what_is_read_can_be_written_in_every_format() {
    let profile = fixtures::read("gecko/flamegraph.txt").expect("it can be read").profile;
    assert!(profile.functions.kind.contains(&FunctionKind::Unsymbolized), "code of no file and no name");
    for format in format::written() {
        let mut out = Vec::new();
        format::write(&profile, format.target(), &WriteOptions { off_cpu: true, measure: None }, &mut out)
            .expect(format.name);
        assert!(!out.is_empty(), "{}", format.name);
    }
}

#[test]
fn other_texts_keep_the_clear_error() {
    for text in
        ["readme: see; x 5\nand more\n", "a,b\n1,2\n", "{\"a;b\": 5\n}", "page one 5\n", "\u{1}a;b 5\n", "a;b five\n"]
    {
        let error = format::read(text.as_bytes(), &ReadOptions::default()).expect_err(text).to_string();
        assert!(error.starts_with("not a profile in a known format"), "{text}: {error}");
    }
}

#[test]
fn depth_and_length_take_linear_time() {
    let deep = format!("{}leaf 7\n", "f;".repeat(1_000_000));
    let profile = read(&deep);
    assert_eq!(profile.stacks.len(), 1_000_001);
    assert_eq!(written(&profile), deep);
    // Lines that begin alike are no slower: each shares with the one before.
    let common = "frame;".repeat(100);
    let mut text = String::new();
    for leaf in 0..2000 {
        writeln!(text, "{common}{leaf} 1").expect("memory");
    }
    assert_eq!(read(&text).stacks.len(), 2100);
}

fn process(builder: &mut ProfileBuilder) -> traceview_core::model::ProcessId {
    let name = builder.string("demo");
    let pid = OsId::Number(1);
    builder.add_process(Process { pid, parent: None, name, command_line: vec![], start: None, end: None, exit: None })
}

fn stack(builder: &mut ProfileBuilder, names: &[&str], kind: FunctionKind) -> StackId {
    let mut stack = None;
    for (row, name) in names.iter().enumerate() {
        let kind = if row + 1 == names.len() { kind } else { FunctionKind::Native };
        let name = builder.string(name);
        let function = builder.function(Function { kind, ..Function::named(name) });
        let frame = builder.frame(Frame::of(function));
        stack = Some(builder.stack(stack, frame));
    }
    stack.expect("a frame")
}

/// Two threads: one that works and waits, one that works and has CPU time beside its samples.
fn two_threads(names: [&str; 2]) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let process = process(&mut builder);
    let work = stack(&mut builder, &["main", "work;[u8; 4]"], FunctionKind::Native);
    let rest = stack(&mut builder, &["[not sampled]"], FunctionKind::Unsampled);
    let syscall = builder.string("futex");
    for (row, name) in names.into_iter().enumerate() {
        let name = builder.string(name);
        let mut thread = Thread::new(process, OsId::Number(row as i64), name);
        thread.samples.time = vec![Time(0), Time(1), Time(2)];
        thread.samples.stack = vec![Some(work), Some(work), Some(rest)];
        thread.samples.cpu = [1_500_000, 1_000_400, 200].map(|cpu| CpuDelta::new(Nanos(cpu))).to_vec();
        if row == 0 {
            thread.waits.push(Wait {
                start: Time(5),
                duration: Nanos(7_000_000),
                stack: Some(work),
                reason: WaitReason::Blocked,
                syscall: Some(syscall),
                target: None,
                inferred: false,
            });
        }
        builder.add_thread(thread);
    }
    builder.finish().expect("a profile")
}

#[test]
fn threads_of_different_names_are_the_first_frames() {
    let (text, warnings) = write(&two_threads(["main", "worker 3"]), WriteOptions::default());
    assert_eq!(text, "main;main;work:[u8: 4] 2\nworker_3;main;work:[u8: 4] 2\n");
    assert_eq!(
        notes(&warnings),
        [
            "waits-left-out 1 thread main",
            "unsampled-left-out 2 thread main",
            "cpu-left-out 6 thread main",
            "names-changed 2 worker 3"
        ]
    );
    assert_eq!(written(&two_threads(["pool", "pool"])), "main;work:[u8: 4] 4\n");
}

#[test]
fn with_waits_all_is_microseconds() {
    let (text, warnings) = write(&two_threads(["pool", "pool"]), WriteOptions { off_cpu: true, measure: None });
    assert_eq!(text, "main;work:[u8: 4] 5001\nmain;work:[u8: 4];[wait] futex 7000\n");
    assert_eq!(notes(&warnings), ["names-changed 1 work;[u8; 4]", "sums-too-small 1 -"]);
}

/// A profile of sums: of 3 and 1 objects, of 400 and 20 kilobytes, and of 5 and 0 milliseconds. Files show the size first.
pub(crate) fn heap() -> (Profile, [Measure; 3]) {
    let mut builder = ProfileBuilder::with_standard_categories();
    let process = process(&mut builder);
    let stacks = ["push", "new"].map(|name| Some(stack(&mut builder, &["main", name], FunctionKind::Native)));
    let name = builder.string("heap");
    let mut thread = Thread::new(process, OsId::Number(1), name);
    thread.timed = false;
    thread.samples.stack = stacks.to_vec();
    let columns = [("objects", "count", [3, 1]), ("space", "kb", [400, 20]), ("delay", "ms", [5, 0])];
    let measures = columns.map(|(name, unit, values)| {
        let [name, unit] = [name, unit].map(|text| builder.string(text));
        let value_type = builder.value_type(ValueType { name, unit });
        thread.samples.values.push(ValueColumn { value_type, values: Values::Integer(values.to_vec()) });
        Measure::Value(value_type)
    });
    builder.add_thread(thread);
    builder.meta_mut().extra.push((Meta::DEFAULT_SAMPLE_TYPE.to_owned(), "space".to_owned()));
    (builder.finish().expect("a profile"), measures)
}

#[test]
fn the_column_that_is_asked_for_is_written() {
    let (profile, [objects, space, delay]) = heap();
    let lines = |measure| write(&profile, WriteOptions { off_cpu: false, measure });
    let (text, warnings) = lines(None);
    assert_eq!(text, "main;new 20480\nmain;push 409600\n", "bytes, which the file shows first");
    assert_eq!(notes(&warnings), ["values-left-out 2 thread heap"]);
    assert_eq!(lines(Some(space)).0, text);
    assert_eq!(lines(Some(objects)).0, "main;new 1\nmain;push 3\n");
    assert_eq!(lines(Some(delay)).0, "main;push 5000\n", "microseconds");
}

#[test]
fn cpu_time_can_be_asked_for_without_waits() {
    let profile = two_threads(["pool", "pool"]);
    let (text, warnings) = write(&profile, WriteOptions { off_cpu: false, measure: Some(Measure::Cpu) });
    assert_eq!(text, "main;work:[u8: 4] 5001\n");
    let codes: Vec<&str> = warnings.iter().map(|warning| &*warning.code).collect();
    assert_eq!(codes, ["waits-left-out", "names-changed", "sums-too-small"]);
    let (text, _) = write(&profile, WriteOptions { off_cpu: true, measure: Some(Measure::Weights) });
    assert_eq!(text, "main;work:[u8: 4] 4\n");
}

/// A profile of one thread with these lines.
fn profile_of(lines: &[(Vec<String>, f64)], unit: WeightUnit) -> Profile {
    let mut builder = ProfileBuilder::with_standard_categories();
    let process = process(&mut builder);
    let stacks = lines.iter().map(|(names, _)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Some(stack(&mut builder, &names, FunctionKind::Native))
    });
    let stacks: Vec<_> = stacks.collect();
    let name = builder.string("all");
    let mut thread = Thread::new(process, OsId::Number(1), name);
    thread.timed = false;
    thread.samples.stack = stacks;
    thread.samples.weight = Values::Float(lines.iter().map(|(_, weight)| *weight).collect());
    thread.samples.weight_unit = unit;
    builder.add_thread(thread);
    builder.finish().expect("a profile")
}

#[test]
fn odd_numbers_are_told() {
    let weights = [0.25, -2.0, f64::NAN, 1e300, 0.0];
    let lines: Vec<_> = weights.iter().zip('a'..).map(|(weight, name)| (vec![name.to_string()], *weight)).collect();
    let (text, warnings) = write(&profile_of(&lines, WeightUnit::Bytes), WriteOptions::default());
    assert_eq!(text, format!("a 0.25\nb -2\nd {}\n", 1e300));
    assert_eq!(notes(&warnings), ["values-not-finite 1 -", "sums-negative 1 -"]);
    let (text, _) = write(&profile_of(&lines[..1], WeightUnit::TracingMs), WriteOptions::default());
    assert_eq!(text, "a 250\n", "microseconds");
}

#[test]
fn sums_without_a_stack_count_where_there_are_no_times() {
    let untimed = fixtures::read("speedscope/out-of-order-events.json").expect("it can be read").profile;
    assert_eq!(written(&untimed), "A 1\nB;A 1\nB;A;A 1\n[no stack] 2\n");
}

#[test]
fn what_does_not_fit_is_cut_off_and_counted() {
    let mut builder = ProfileBuilder::with_standard_categories();
    let process = process(&mut builder);
    let (name, unit) = (builder.string("delay"), builder.string("seconds"));
    let value_type = builder.value_type(ValueType { name, unit });
    let stacks = ["a", "b"].map(|name| stack(&mut builder, &[name], FunctionKind::Native));
    let mut thread = Thread::new(process, OsId::Number(1), name);
    thread.timed = false;
    thread.samples.stack = vec![Some(stacks[0]), Some(stacks[0]), Some(stacks[1])];
    thread.samples.weight = Values::Ones;
    thread.samples.values = vec![ValueColumn { value_type, values: Values::Integer(vec![i64::MAX, 1, 2]) }];
    builder.add_thread(thread);
    let profile = builder.finish().expect("a profile");
    let options = WriteOptions { off_cpu: false, measure: Some(Measure::Value(value_type)) };
    let (text, warnings) = write(&profile, options);
    assert_eq!(text, "a 9223372037854776\nb 2000000\n");
    assert_eq!(notes(&warnings), ["values-too-large 1 -"]);
}

#[test]
fn a_file_without_a_line_is_not_written() {
    for lines in [&[][..], &[(vec!["a".to_owned()], 0.0)]] {
        let target = format::by_name("collapsed").expect("a format").target();
        let profile = profile_of(lines, WeightUnit::Samples);
        let error =
            format::write(&profile, target, &WriteOptions::default(), Vec::new()).expect_err("nothing to write");
        assert!(error.to_string().contains("it has no samples that count something"), "{error}");
    }
}

/// Names that are not easily written, and plain ones that are equal now and then.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]{1,2}", 1 => "[ ;#\\n\\t0-9a\u{feff}é_:.-]{0,6}", 1 => any::<String>()]
}

/// Stacks of at least two frames, so that a file of them is told by its shape.
fn lines() -> impl Strategy<Value = Vec<(Vec<String>, f64)>> {
    let weight = prop_oneof![(1..100_i32).prop_map(f64::from), 0.001..1e9_f64];
    prop::collection::vec((prop::collection::vec(name(), 2..6), weight), 1..20)
}

proptest! {
    #[test]
    fn stacks_survive_the_way_there_and_back(lines in lines()) {
        let profile = profile_of(&lines, WeightUnit::Samples);
        let text = written(&profile);
        let again = read_named(&text);
        prop_assert_eq!(written(&again), text.clone(), "what was read is what is written");
        prop_assert!(again.meta.warnings.is_empty(), "{:?}", again.meta.warnings);
        // By the depth of stacks and the sum below each: names may have changed, and then be equal.
        let total: f64 = lines.iter().map(|(_, weight)| weight).sum();
        let read_total: f64 = stacks(&again).iter().map(|(_, weight)| weight).sum();
        prop_assert!((total - read_total).abs() <= total * 1e-12);
        let sums = |rows: Vec<(usize, f64)>| rows.into_iter().fold(BTreeMap::<usize, f64>::new(), |mut sums, (depth, weight)| {
            *sums.entry(depth).or_default() += weight;
            sums
        });
        let depths = sums(lines.iter().map(|(names, weight)| (names.len(), *weight)).collect());
        let read_depths = sums(stacks(&again).iter().map(|(names, weight)| (names.split(';').count(), *weight)).collect());
        prop_assert!(depths.keys().eq(read_depths.keys()));
        for (depth, sum) in depths {
            prop_assert!((sum - read_depths[&depth]).abs() <= sum * 1e-9);
        }
        // Lines are in the order of their frames, each stack once.
        let order: Vec<Vec<&str>> = text.lines().map(|line| line.rsplit_once(' ').unwrap().0.split(';').collect()).collect();
        prop_assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn plain_names_and_whole_counts_are_the_same_model(counts in prop::collection::btree_map(
        prop::collection::vec("[a-z:<>]{1,3}( [a-z]{1,2})?", 2..6).prop_map(|names| names.join(";")), 1..i64::MAX, 1..20,
    )) {
        let mut lines: Vec<(&str, i64)> = counts.iter().map(|(stack, count)| (stack.as_str(), *count)).collect();
        lines.sort_by_key(|(stack, _)| stack.split(';').collect::<Vec<_>>());
        let text: String = lines.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect();
        let profile = read(&text);
        prop_assert_eq!(&written(&profile), &text);
        prop_assert_eq!(read(&text), profile);
    }
}

//! What is read of files that are made here, and that it comes back from what is written of it.

use proptest::prelude::*;
use prost::Message as _;

use super::super::schema::{Function, Label, Line, Location, Mapping, Profile as File, Sample, ValueType};
use super::super::{read, write};
use crate::analysis::fixture::Fixture;
use crate::format::WriteOptions;
use crate::model::{FunctionKind, LabelValue, Nanos, OsId, Profile, Quality, Values};

const TEXTS: [&str; 23] = [
    "",
    "samples",
    "count",
    "cpu",
    "nanoseconds",
    "space",
    "bytes",
    "/bin/demo",
    "/lib/x.so",
    "a1b2",
    "main",
    "work::<T>",
    "_ZN4work",
    "src/main.rs",
    "thread_name",
    "tid",
    "pid",
    "request",
    "big",
    "worker",
    "comm",
    "helper",
    "ms",
];

fn text(text: &str) -> i64 {
    let row = TEXTS.iter().position(|known| *known == text).expect("a text of the table");
    i64::try_from(row).expect("few")
}

fn value_type(name: &str, unit: &str) -> ValueType {
    ValueType { r#type: text(name), unit: text(unit) }
}

fn mapping(id: u64, start: u64, filename: &str) -> Mapping {
    Mapping { id, memory_start: start, memory_limit: start + 0x3000, filename: text(filename), ..Mapping::default() }
}

/// Two samples of `work`, one in `main`.
fn file() -> File {
    let function = |id, name| Function { id, name: text(name), ..Function::default() };
    let location = |id, address, functions: &[u64]| Location {
        id,
        mapping_id: 1,
        address,
        line: functions.iter().map(|id| Line { function_id: *id, line: 7, column: 0 }).collect(),
        is_folded: false,
    };
    let sample = |locations: &[u64], value: [i64; 2], label| Sample {
        location_id: locations.to_vec(),
        value: value.to_vec(),
        label,
    };
    File {
        sample_type: vec![value_type("samples", "count"), value_type("cpu", "nanoseconds")],
        sample: vec![sample(&[2, 1], [2, 20], Vec::new()), sample(&[1], [1, 10], Vec::new())],
        mapping: vec![mapping(1, 0x1000, "/bin/demo")],
        location: vec![location(1, 0x1010, &[1]), location(2, 0x1020, &[2])],
        function: vec![function(1, "main"), function(2, "work::<T>")],
        string_table: TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect(),
        time_nanos: 5,
        ..File::default()
    }
}

fn read_file(file: &File) -> Profile {
    read(&file.encode_to_vec()).expect("a sound file")
}

fn refused(change: impl FnOnce(&mut File)) -> String {
    let mut file = file();
    change(&mut file);
    read(&file.encode_to_vec()).expect_err("pprof refuses it").to_string()
}

fn written(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(profile, &WriteOptions::default(), &mut bytes).expect("memory does not fail");
    bytes
}

fn again(profile: &Profile) -> Profile {
    read(&written(profile)).expect("what we write can be read")
}

/// The samples of all threads as text, but for the libraries of code without an address.
fn rows(profile: &Profile) -> Vec<String> {
    let mut rows = Vec::new();
    for thread in &profile.threads {
        let process = &profile.processes[thread.process.index()];
        let samples = &thread.samples;
        for row in 0..samples.len() {
            let mut line = format!(
                "{} {:?} {:?} {} {} {:?}",
                profile.string(thread.name),
                thread.tid,
                process.pid,
                profile.string(process.name),
                samples.weight.get(row),
                samples.cpu_of(row)
            );
            for column in &samples.values {
                let value_type = profile.value_types[column.value_type.index()];
                line += &format!(" {}={}", profile.string(value_type.name), column.values.get(row));
            }
            for label in
                samples.labels.get(row).copied().flatten().map_or(&[][..], |set| &profile.label_sets.sets[set.index()])
            {
                let value = match label.value {
                    LabelValue::Text(text) => profile.string(text).to_owned(),
                    LabelValue::Number(number, unit) => format!("{number} {:?}", unit.map(|unit| profile.string(unit))),
                };
                line += &format!(" {}={value}", profile.string(label.key));
            }
            for node in samples.stack[row].into_iter().flat_map(|stack| profile.stacks.ancestors(stack)) {
                let frame = profile.frames.get(profile.stacks.frame[node.index()]);
                let function = profile.functions.get(frame.function);
                line += &format!(
                    "; {:?} {} {:?} {:?} {:?} {} {:?} {:?} {:?}",
                    function.kind,
                    profile.string(function.name),
                    function.full_name.map(|name| profile.string(name)),
                    function.line,
                    frame.address,
                    frame.inline_depth,
                    frame.line,
                    frame.column,
                    frame.library.filter(|_| frame.address.is_some()),
                );
            }
            rows.push(line);
        }
    }
    rows
}

#[test]
fn faults_are_refused_with_number_and_place() {
    for (change, expected) in [
        (
            (|file: &mut File| file.sample[1].value.push(1)) as fn(&mut File),
            "sample 2 of 2 at byte 24: it has 3 values, and the file has 2 sample types",
        ),
        (|file| file.sample_type.clear(), "sample_type at byte 0: there is none for 2 samples"),
        (|file| file.sample[0].location_id[1] = 9, "sample 1 of 2 at byte 14: its location 9 is not in the file"),
        (|file| file.location[1].line[0].function_id = 0, "its function 0 is not in the file"),
        (|file| file.location[1].id = 1, "its id 1 is that of another location before"),
        (|file| file.function[0].id = 0, "its id is 0, which means none"),
        (|file| file.function[0].name = 99, "text 99 is not in the table, which has 23"),
        (|file| file.function[0].name = -1, "text -1 is not in the table, which has 23"),
        (|file| file.sample[0].label.push(Label { key: 77, ..Label::default() }), "sample 1 of 2 at byte 14: text 77"),
        (|file| file.string_table[0] = b"x".to_vec(), "\"x\" stands where the empty text must"),
    ] {
        let error = refused(change);
        assert!(error.contains(expected), "{error}");
    }
    let twice = [file().encode_to_vec(), file().encode_to_vec()].concat();
    assert!(read(&twice).is_err());
}

#[test]
fn ids_can_be_any_numbers_in_any_order() {
    let plain = rows(&read_file(&file()));
    let mut file = file();
    let renamed = |id: &mut u64| *id = u64::MAX - *id * 1_000;
    file.location.reverse();
    file.location.iter_mut().for_each(|location| {
        renamed(&mut location.id);
        renamed(&mut location.mapping_id);
        location.line.iter_mut().for_each(|line| renamed(&mut line.function_id));
    });
    file.mapping.iter_mut().for_each(|mapping| renamed(&mut mapping.id));
    file.function.iter_mut().for_each(|function| renamed(&mut function.id));
    file.sample.iter_mut().flat_map(|sample| &mut sample.location_id).for_each(renamed);
    assert_eq!(rows(&read_file(&file)), plain);
}

#[test]
fn tables_can_stand_behind_what_refers_to_them() {
    let file = file();
    let parts = [
        File { string_table: file.string_table.clone(), ..File::default() },
        File { function: file.function.clone(), ..File::default() },
        File { location: file.location.clone(), mapping: file.mapping.clone(), ..File::default() },
        File { sample: file.sample.clone(), ..File::default() },
        File { sample_type: file.sample_type.clone(), ..File::default() },
    ];
    let bytes = |parts: &mut dyn Iterator<Item = &File>| parts.flat_map(File::encode_to_vec).collect::<Vec<_>>();
    let forwards = read(&bytes(&mut parts.iter())).expect("sound");
    let backwards = read(&bytes(&mut parts.iter().rev())).expect("sound");
    assert_eq!(rows(&forwards), rows(&backwards));
    assert_eq!(rows(&forwards).len(), 2);
}

#[test]
fn what_is_doubtful_is_counted() {
    let mut file = file();
    file.string_table[usize::try_from(text("main")).expect("a row")] = b"caf\xe9".to_vec();
    file.location[0].mapping_id = 77;
    file.location[0].is_folded = true;
    file.location[1].line[0].line = -4;
    file.duration_nanos = -1;
    file.sample_type[1] = value_type("cpu", "ms");
    file.sample[0].value[1] = i64::MAX;
    file.sample[1].label = vec![Label { key: text("request"), str: text("big"), num: 3, num_unit: 0 }];
    let profile = read_file(&file);
    let codes: Vec<_> = profile.meta.warnings.iter().map(|warning| (&*warning.code, warning.count)).collect();
    let expected = [
        "duration-negative",
        "functions-folded",
        "mapping-unknown",
        "text-not-utf8",
        "line-out-of-range",
        "value-out-of-range",
        "label-two-values",
    ];
    assert_eq!(codes, expected.map(|code| (code, 1)));
    assert!(profile.meta.warnings.iter().all(|warning| warning.first.is_some()));
    assert!(profile.strings.find("caf\u{fffd}").is_some());
}

#[test]
fn deep_stacks_are_read_and_impossible_ones_refused() {
    let mut file = file();
    file.sample[0].location_id = vec![1; 1_000_000];
    let profile = read_file(&file);
    let depth = |stack| profile.stacks.ancestors(stack).count();
    assert_eq!(profile.threads[0].samples.stack.iter().flatten().copied().map(depth).max(), Some(1_000_000));
    // Ten thousand functions inlined into each other, ten thousand times.
    file.location[0].line = vec![file.location[0].line[0]; 10_000];
    file.sample[0].location_id.truncate(10_000);
    let error = read(&file.encode_to_vec()).expect_err("it is too much").to_string();
    assert!(error.contains("with its 100000000 frames there are more than a file of this size can have"), "{error}");
    file.sample[0].location_id.truncate(10);
    assert_eq!(read_file(&file).stacks.len(), 100_000, "the other sample has the outermost of them");
}

#[test]
fn what_was_inlined_hundredfold_is_made_once_below_each_caller() {
    let mut file = file();
    let (line, main) = (file.location[0].line[0], file.location[1].id);
    let long = file.location[0].id;
    file.location[0].line = vec![line; 300];
    let sample = |location_id| Sample { location_id, ..file.sample[0].clone() };
    file.sample = [vec![long], vec![long, main], vec![main], vec![long, main], vec![long]].map(sample).to_vec();
    let profile = read_file(&file);
    let stacks = &profile.threads[0].samples.stack;
    let depths = stacks.iter().map(|stack| profile.stacks.ancestors(stack.expect("a stack")).count());
    assert_eq!(depths.collect::<Vec<_>>(), [300, 301, 1, 301, 300]);
    assert_eq!((stacks[0], stacks[1]), (stacks[4], stacks[3]));
    assert_eq!(profile.stacks.len(), 601);
}

#[test]
fn more_lost_samples_than_can_be_told_are_counted() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let stack = fixture.stack("main");
    fixture.sample(thread, 0, Some(stack), Some(1));
    let meta = fixture.builder.meta_mut();
    meta.interval = Some(Nanos(1_000_000));
    meta.quality = Some(Quality { lost_samples: 7, ..Quality::default() });
    let mut bytes = Vec::new();
    write(&fixture.finish(), &WriteOptions::default(), &mut bytes).expect("memory does not fail");
    let mut file = File::decode(&*bytes).expect("a file");
    let lost = file.sample.last_mut().expect("the lost ones");
    assert_eq!(lost.value[0], 7);
    lost.value[0] = i64::MAX;
    let again = lost.clone();
    file.sample.push(again);
    let profile = read_file(&file);
    let meta = &profile.meta;
    assert_eq!(meta.quality.as_ref().expect("it is told").lost_samples, i64::MAX.unsigned_abs());
    let warning = &meta.warnings[0];
    assert_eq!((&*warning.code, warning.count), ("value-out-of-range", 1));
    assert!(warning.first.as_deref().is_some_and(|place| place.starts_with("sample 3 of 3 at byte ")), "{warning:?}");
}

#[test]
fn labels_name_threads_in_many_ways() {
    let number = |key, num| Label { key: text(key), num, ..Label::default() };
    let word = |key, str| Label { key: text(key), str: text(str), ..Label::default() };
    let mut file = file();
    let mut add = |label: Vec<Label>| file.sample.push(Sample { label, ..file.sample[0].clone() });
    add(vec![word("thread_name", "worker"), number("tid", 7), number("pid", 3), word("comm", "helper")]);
    add(vec![word("tid", "big"), number("pid", 3), word("comm", "helper")]);
    add(vec![number("tid", 9), word("request", "big")]);
    let profile = read_file(&file);
    let threads: Vec<_> = profile
        .threads
        .iter()
        .map(|thread| {
            let process = &profile.processes[thread.process.index()];
            let name = |id| profile.string(id).to_owned();
            (name(thread.name), thread.tid.to_string(), process.pid.to_string(), name(process.name))
        })
        .collect();
    let expected = [
        ("demo", "", "", "demo"),
        ("worker", "7", "3", "helper"),
        ("thread big", "big", "3", "helper"),
        ("thread 9", "9", "", "demo"),
    ];
    assert_eq!(threads, expected.map(|(a, b, c, d)| (a.to_owned(), b.to_owned(), c.to_owned(), d.to_owned())));
    assert_eq!(profile.threads[3].tid, OsId::Number(9));
    assert_eq!(profile.label_sets.sets.len(), 1, "only what is no thread's is a label");
    assert_eq!(rows(&again(&profile)), rows(&profile));
}

#[test]
fn a_recording_comes_back_as_far_as_the_format_goes() {
    let mut fixture = Fixture::new();
    let (main, worker) = (fixture.thread("main", 100), fixture.thread("worker", 101));
    fixture.samples(
        main,
        &[("main;work:3", 3), ("main;[kernel] read", 2), ("[stack cut: why];main", 1), ("main;libc.so.6+0x1f", 1)],
    );
    fixture.samples(worker, &[("main;work:4", 4), ("[not sampled]", 1)]);
    fixture.sample(worker, 99_000_000, None, Some(7));
    let meta = fixture.builder.meta_mut();
    meta.recorder = Some("cargo-traceview 1".to_owned());
    meta.command_line = vec!["demo".to_owned(), "it's one".to_owned()];
    meta.quality = Some(Quality { ticks: 10, missed_ticks: 2, lost_samples: 7, ..Quality::default() });
    let recorded = fixture.finish();
    let profile = again(&recorded);
    assert_eq!(profile.meta.quality, recorded.meta.quality);
    assert_eq!(
        (&profile.meta.command_line, &profile.meta.recorder),
        (&recorded.meta.command_line, &recorded.meta.recorder)
    );
    assert_eq!(profile.meta.interval, recorded.meta.interval);
    let threads: Vec<_> = profile.threads.iter().map(|thread| (profile.string(thread.name), &thread.tid)).collect();
    assert_eq!(threads, [("main", &OsId::Number(100)), ("worker", &OsId::Number(101))]);
    let kinds = |profile: &Profile, kind| profile.functions.kind.iter().filter(|each| **each == kind).count();
    for kind in [FunctionKind::Kernel, FunctionKind::Cut, FunctionKind::Unsampled, FunctionKind::Native] {
        assert_eq!(kinds(&profile, kind), kinds(&recorded, kind), "{kind:?}");
    }
    assert_eq!(profile.threads[0].samples.weight, Values::Integer(vec![3, 2, 1, 1]));
    assert!(profile.threads[1].samples.stack.contains(&None), "seen without a stack");
    let cpu = |profile: &Profile| -> Vec<_> { profile.threads.iter().map(crate::model::Thread::sampled_cpu).collect() };
    assert_eq!(cpu(&profile), cpu(&recorded));
    assert_eq!(profile.meta.warnings, []);
    assert_eq!(again(&profile), profile, "equal from the first reading on");
}

prop_compose! {
    fn any_location(functions: u64)(
        mapping_id in 0..4_u64,
        address in prop_oneof![Just(0), 0x1000..0x4000_u64, 0x7000_u64..0xa000, any::<u64>()],
        line in prop::collection::vec((1..=functions, 0..3_i64, 0..3_i64), 0..4),
    ) -> Location {
        let line = line.into_iter().map(|(function_id, line, column)| Line { function_id, line, column }).collect();
        Location { id: 0, mapping_id, address, line, is_folded: false }
    }
}

fn any_label() -> impl Strategy<Value = Label> {
    let number = (0..2_usize, 1..3_i64).prop_map(|(key, num)| Label {
        key: text(["tid", "request"][key]),
        num,
        ..Label::default()
    });
    let word = (0..4_usize, 0..2_usize).prop_map(|(key, str)| Label {
        key: text(["thread_name", "request", "comm", "pid"][key]),
        str: text(["worker", "helper"][str]),
        ..Label::default()
    });
    prop_oneof![number, word]
}

prop_compose! {
    fn any_file()(
        types in prop::sample::subsequence(
            vec![("samples", "count"), ("cpu", "nanoseconds"), ("space", "bytes"), ("request", "ms")], 1..=4
        ),
        functions in prop::collection::vec((0..3_usize, 0..2_usize, 0..2_usize, 0..3_i64), 3),
        locations in prop::collection::vec(any_location(3), 6),
        samples in prop::collection::vec(
            (prop::collection::vec(1..=6_u64, 0..6), prop::array::uniform4(-2..5_i64), prop::collection::vec(any_label(), 0..3)),
            1..12
        ),
        duration_nanos in 0..3_i64,
        (period, with_period) in (0..3_i64, any::<bool>()),
    ) -> File {
        let function = |(id, (name, system, file, start_line))| Function {
            id,
            name: text(["main", "work::<T>", "worker"][name]),
            system_name: text(["", "_ZN4work"][system]),
            filename: text(["", "src/main.rs"][file]),
            start_line,
        };
        let sample = |(location_id, values, mut label): (_, [i64; 4], Vec<Label>)| {
            // Of two values of a key one would be left out.
            label.sort_by_key(|label| label.key);
            label.dedup_by_key(|label| label.key);
            Sample { location_id, value: values[..types.len()].to_vec(), label }
        };
        File {
            sample_type: types.iter().map(|(name, unit)| value_type(name, unit)).collect(),
            function: (1..).zip(functions).map(function).collect(),
            location: (1..).zip(locations).map(|(id, location)| Location { id, ..location }).collect(),
            sample: samples.into_iter().map(sample).collect(),
            mapping: vec![mapping(1, 0x1000, "/bin/demo"), mapping(2, 0x7000, "/lib/x.so"), Mapping {
                build_id: text("a1b2"),
                ..mapping(3, 0x9000, "/bin/demo")
            }],
            duration_nanos,
            period,
            period_type: with_period.then(|| value_type("cpu", "nanoseconds")),
            ..file()
        }
    }
}

proptest! {
    #[test]
    fn generated_files_come_back(file in any_file()) {
        let first = read_file(&file);
        let samples: usize = first.threads.iter().map(|thread| thread.samples.len()).sum();
        prop_assert_eq!(samples, file.sample.len());
        let second = again(&first);
        prop_assert_eq!(rows(&first), rows(&second));
        let same_facts = crate::model::Meta { warnings: Vec::new(), ..first.meta.clone() };
        prop_assert_eq!(&same_facts, &second.meta);
        prop_assert_eq!(&again(&second), &second);
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes in any_file().prop_map(|file| file.encode_to_vec()), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        for (index, byte) in changes {
            *index.get_mut(&mut bytes) = byte;
        }
        if let Ok(profile) = read(&bytes) {
            let _file = written(&profile);
        }
    }
}

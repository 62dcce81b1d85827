//! pprof files: against what Go's `pprof` computes from them, and refused where it refuses them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use traceview_core::analysis::{
    GroupBy, Measure, Selection, StackValues, default_measure, functions, groups, sample_type, sample_types,
};
use traceview_core::format::{self, ReadOptions, WriteOptions};
use traceview_core::model::{FunctionKind, Meta, Profile};

use crate::fixtures::{bytes, json, read};

/// The files that have expected values, by their paths.
fn with_expectations() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for folder in ["derived", "golang", "google-pprof", "speedscope"] {
        for name in files(folder) {
            if let Some(file) = name.strip_suffix(".expected.json") {
                found.push((format!("pprof/{folder}/{file}"), json(&format!("pprof/{folder}/{name}"))));
            }
        }
    }
    assert!(found.len() > 30, "{}", found.len());
    found
}

fn files(folder: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/pprof").join(folder);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// Files from before the format had fields, which `pprof` reads and we don't.
fn is_legacy(expected: &Value) -> bool {
    expected["format"].as_str().expect("a format").starts_with("legacy")
}

/// The files that are read.
pub(crate) fn readable() -> Vec<(String, Value)> {
    let is_read = |(_, expected): &(String, Value)| expected["rc"] == 0 && !is_legacy(expected);
    with_expectations().into_iter().filter(is_read).collect()
}

pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// `480000000ns`, `1765955B` or `3`.
pub(crate) fn amount(text: &Value) -> i64 {
    let text = text.as_str().expect("text");
    text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or_else(|_| panic!("{text} is no amount"))
}

#[expect(clippy::cast_possible_truncation, reason = "amounts of whole numbers below 2^53")]
fn whole(value: f64) -> i64 {
    assert!(value.fract() == 0.0, "{value}");
    value as i64
}

fn total(profile: &Profile, measure: Measure) -> i64 {
    let values = StackValues::of(profile, &Selection::default(), measure).expect("samples of one file add up");
    whole(values.total.value)
}

#[test]
fn totals_are_those_of_pprof_for_every_sample_type() {
    for (path, expected) in readable() {
        let profile = read(&path).unwrap_or_else(|error| panic!("{path}: {error}")).profile;
        let types = expected["sample_types"].as_array().expect("types");
        assert_eq!(sample_types(&profile).len(), types.len(), "{path}");
        for (name, sum) in types.iter().zip(expected["totals"].as_array().expect("totals")) {
            let (name, unit) = name.as_str().and_then(|name| name.split_once('/')).expect("NAME/UNIT");
            let found = sample_type(&profile, name).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(found.unit, unit, "{path} {name}");
            assert_eq!(total(&profile, found.measure), number(sum), "{path} {name}");
        }
        let samples: usize = profile.threads.iter().map(|thread| thread.samples.len()).sum();
        assert_eq!(samples as i64, number(&expected["samples"]), "{path}");
        assert!(profile.threads.iter().all(|thread| !thread.timed), "{path}");
        assert_eq!(profile.extent(), None, "{path}: no times are invented");
        // Equal places of the file are one frame, and what no sample has is left out.
        let outer = profile.frames.inline_depth.iter().filter(|depth| **depth == 0).count();
        assert!(outer as i64 <= number(&expected["locations"]), "{path}: {outer}");
        assert!(profile.mappings.len() as i64 <= number(&expected["mappings"]), "{path}");
    }
}

/// What each function or, without names, library has: self and total, by the name that pprof shows.
fn shown(profile: &Profile, by_library: bool) -> BTreeMap<String, Vec<(i64, i64)>> {
    let values = StackValues::of(profile, &Selection::default(), default_measure(profile)).expect("it adds up");
    let mut rows: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    if by_library {
        for row in groups(profile, &values, GroupBy::Library).rows {
            let name = row.key.name(profile);
            let name = if profile.libraries.is_empty() { "<unknown>".to_owned() } else { format!("[{name}]") };
            rows.entry(name).or_default().push((whole(row.own.value), whole(row.total.value)));
        }
        return rows;
    }
    for row in functions(profile, &values).rows {
        let name = profile.string(profile.functions.name[row.function.index()]).to_owned();
        rows.entry(name).or_default().push((whole(row.own.value), whole(row.total.value)));
    }
    rows
}

#[test]
fn tops_are_those_of_pprof() {
    let mut compared = 0;
    for (path, expected) in readable() {
        let profile = read(&path).expect("it was read before").profile;
        let tops = ["top", "top_cum"].map(|key| expected[key].as_array().expect("rows"));
        let has_names = profile.functions.kind.contains(&FunctionKind::Native);
        let shown = shown(&profile, !has_names);
        for row in tops.into_iter().flatten() {
            let name = row["name"].as_str().expect("a name");
            let name = name.strip_suffix(" (inline)").or(name.strip_suffix(" (partial-inline)")).unwrap_or(name);
            let found = shown.get(name).unwrap_or_else(|| panic!("{path}: no {name}"));
            assert_eq!(found.iter().map(|(own, _)| own).sum::<i64>(), amount(&row["flat"]), "{path} {name}");
            assert_eq!(found.len(), 1, "{path} {name}");
            assert_eq!(found[0].1, amount(&row["cum"]), "{path} {name}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn what_files_say_of_themselves_is_kept() {
    for (path, expected) in readable() {
        let profile = read(&path).expect("it was read before").profile;
        let meta = &profile.meta;
        for line in expected["header"].as_array().expect("lines") {
            let (title, text) = line.as_str().and_then(|line| line.split_once(": ")).unwrap_or_default();
            match title {
                "File" => assert_eq!(meta.name, text, "{path}"),
                "Build ID" => {
                    assert_eq!(profile.libraries[0].code_id.map(|id| profile.string(id)), Some(text), "{path}");
                }
                "Type" => assert_eq!(meta.extra_of(Meta::DEFAULT_SAMPLE_TYPE), Some(text), "{path}"),
                "Time" => assert_eq!(meta.start_unix_ns.map(|ns| ns / 1_000_000_000), Some(unix(text)), "{path}"),
                "Duration" => {
                    let seconds = text.split('s').next().expect("a number");
                    let recorded = meta.recording_end.expect("an end").as_millis_f64() / 1e3;
                    let seconds: f64 = seconds.parse().expect("seconds");
                    assert!((recorded - seconds).abs() < 0.006, "{path}: {recorded} {seconds}");
                }
                _ => {}
            }
        }
        let period = number(&expected["period"]);
        let found = meta.interval.map(|interval| interval.0).or_else(|| {
            meta.extra_of("period").and_then(|text| text.split(' ').next()).and_then(|number| number.parse().ok())
        });
        assert_eq!(found.unwrap_or_default(), period, "{path}");
    }
}

/// `2018-09-16 20:47:43 UTC` in seconds since 1970.
fn unix(text: &str) -> i64 {
    let numbers: Vec<i64> =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = numbers[..] else { panic!("{text} is no time") };
    // Years that begin in March have their odd day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    ((days * 24 + hour) * 60 + minute) * 60 + second
}

#[test]
fn what_pprof_refuses_is_refused_with_its_reason() {
    let reasons = [
        ("derived/concatenated-gzip.pb.gz", "time_nanos at byte 1918: the time stands there twice"),
        ("derived/concatenated.pb", "time_nanos at byte 1918: the time stands there twice"),
        ("derived/empty-member.pb.gz", "the file is empty"),
        ("derived/empty.pb.gz", "the file is empty"),
        ("derived/trailing-garbage.pb.gz", "the gzip data is damaged after 1918 decompressed bytes"),
        ("derived/truncated-gzip.pb.gz", "the gzip data is cut off"),
        ("derived/truncated-proto.pb", "the file ends too early, at byte 959"),
        (
            "google-pprof/fuzz__7e3c92482f6f39fc502b822ded792c589849cca8",
            "the old text form of pprof, which is not read: `pprof -proto",
        ),
    ];
    let mut refused = 0;
    for (path, expected) in with_expectations() {
        if expected["rc"] == 0 && !is_legacy(&expected) {
            continue;
        }
        let error = read(&path).expect_err(&path).to_string();
        refused += 1;
        if is_legacy(&expected) {
            assert!(error.starts_with("this is the old "), "{path}: {error}");
            assert!(error.contains("`pprof -proto FILE"), "{path}: {error}");
        }
        if let Some((_, reason)) = reasons.iter().find(|(file, _)| path.ends_with(file)) {
            assert!(error.contains(reason), "{path}: {error}");
        } else {
            assert!(is_legacy(&expected), "{path}: {error}");
        }
    }
    assert!(refused >= reasons.len() + 10, "{refused}");
}

/// The codes of what was noted while a file of the folder `synth` was read.
fn notes(name: &str) -> Vec<String> {
    let profile = read(&format!("pprof/synth/{name}")).unwrap_or_else(|error| panic!("{name}: {error}")).profile;
    profile.meta.warnings.iter().map(|warning| format!("{} {}", warning.code, warning.count)).collect()
}

#[test]
fn single_faults_are_handled_as_pprof_does_or_better() {
    let refused = [
        ("dup_function.pb.gz", "its id 2 is that of another function before"),
        ("dup_mapping.pb.gz", "its id 1 is that of another mapping before"),
        ("empty.pb", "the file is empty"),
        ("loc_zero_ref.pb.gz", "its location 0 is not in the file"),
        ("nil_location.pb.gz", "is not in the file"),
        ("string_oob.pb.gz", "is not in the table, which has"),
        ("truncated_gz.pb.gz", "the gzip data is cut off"),
    ];
    let noted = [
        // Nothing uses the text that is not UTF-8.
        ("default_bad.pb.gz", &["default-sample-type-unknown 1"][..]),
        ("drop_bad_regexp.pb.gz", &["frames-not-dropped 1"]),
        ("numlabel0_nounit.pb.gz", &["label-without-value 1"]),
    ];
    for name in files("synth").iter().filter(|name| !name.ends_with(".tsv")) {
        if let Some((_, reason)) = refused.iter().find(|(file, _)| file == name) {
            let error = read(&format!("pprof/synth/{name}")).expect_err(name).to_string();
            assert!(error.contains(reason), "{name}: {error}");
            let names_its_place = error.contains(" at byte ") || reason.starts_with("the ");
            assert!(names_its_place, "{name}: {error}");
        } else {
            let expected = noted.iter().find(|(file, _)| file == name).map_or(&[][..], |(_, notes)| notes);
            assert_eq!(notes(name), expected, "{name}");
        }
    }
}

#[test]
fn odd_files_are_what_they_say() {
    let profile = |name: &str| read(&format!("pprof/synth/{name}")).expect(name).profile;
    let names = |profile: &Profile| -> Vec<String> {
        profile.functions.name.iter().map(|name| profile.string(*name).to_owned()).collect()
    };
    let rust = profile("rust_name_empty_sysname.pb.gz");
    assert!(names(&rust).iter().any(|name| name.starts_with("<demo::") || name.contains("::")), "{:?}", names(&rust));
    assert!(rust.functions.full_name.iter().all(Option::is_none));
    let values =
        StackValues::of(&profile("empty_stack.pb.gz"), &Selection::default(), Measure::Cpu).expect("it adds up");
    assert!(values.without_stack.samples > 0);
    assert!(profile("negative.pb.gz").threads[0].samples.cpu.iter().any(|cpu| cpu.get().is_some_and(|cpu| cpu.0 < 0)));
    let multi = profile("label_multi.pb.gz");
    let most = multi.label_sets.sets.iter().map(Vec::len).max();
    assert_eq!(most, Some(2), "both values of the key are kept");
    assert_eq!(profile("no_samples.pb.gz").threads, []);
}

/// A file of `profile` as it is read again.
fn again(profile: &Profile, path: &str) -> Profile {
    let mut bytes = Vec::new();
    let target = format::by_name("pprof").expect("a format").target();
    format::write(profile, target, &WriteOptions::default(), &mut bytes)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    let contents = format::read(&bytes, &ReadOptions::default()).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(contents.format.name, "pprof");
    contents.profile
}

/// All of a profile but what was noted when it was read, and the order in which tables were filled.
fn same(left: &Profile, right: &Profile) -> Result<(), String> {
    let lines = [left, right].map(lines);
    let differing = lines[0].iter().zip(&lines[1]).find(|(left, right)| left != right);
    match differing {
        Some((left, right)) => Err(format!("{left}\n{right}")),
        None if lines[0].len() == lines[1].len() => Ok(()),
        None => Err(format!("{} and {} lines", lines[0].len(), lines[1].len())),
    }
}

/// A profile written out.
fn lines(profile: &Profile) -> Vec<String> {
    let text = |id| profile.string(id);
    let meta = Meta { warnings: Vec::new(), ..profile.meta.clone() };
    let mut lines = vec![format!("{meta:?}")];
    for library in &profile.libraries {
        lines.push(format!("library {} {:?}", text(library.path), library.code_id.map(text)));
    }
    lines.extend(profile.mappings.iter().map(|mapping| format!("{mapping:?}")));
    lines.extend(profile.value_types.iter().map(|row| format!("{} {}", text(row.name), text(row.unit))));
    for thread in &profile.threads {
        let process = &profile.processes[thread.process.index()];
        lines.push(format!("{:?} {:?} {} {}", process.pid, thread.tid, text(thread.name), text(process.name)));
        let samples = &thread.samples;
        for row in 0..samples.len() {
            let stack = samples.stack[row].map(|stack| {
                profile
                    .stacks
                    .ancestors(stack)
                    .map(|node| {
                        let frame = profile.frames.get(profile.stacks.frame[node.index()]);
                        let function = profile.functions.get(frame.function);
                        format!(
                            "{:?} {} {:?} {:?} {:?} at {:?} {:?} {} {:?} {:?}",
                            function.kind,
                            text(function.name),
                            function.full_name.map(text),
                            function.source.map(|source| text(profile.sources[source.index()].path)),
                            function.line,
                            frame.library.map(|library| text(profile.libraries[library.index()].path)),
                            frame.address,
                            frame.inline_depth,
                            frame.line,
                            frame.column,
                        )
                    })
                    .collect::<Vec<_>>()
            });
            let values: Vec<f64> = samples.values.iter().map(|column| column.values.get(row)).collect();
            let labels = samples.labels.get(row).copied().flatten().map(|set| {
                let labels = profile.label_sets.sets[set.index()].iter();
                labels.map(|label| format!("{}={:?}", text(label.key), label.value)).collect::<Vec<_>>().len()
            });
            lines.push(format!(
                "{stack:?} {} {:?} {values:?} {labels:?}",
                samples.weight.get(row),
                samples.cpu_of(row)
            ));
        }
    }
    lines
}

#[test]
fn what_is_read_comes_back_from_a_file_of_ours() {
    let synth = files("synth").into_iter().filter(|name| !name.ends_with(".tsv"));
    let paths = readable().into_iter().map(|(path, _)| path).chain(synth.map(|name| format!("pprof/synth/{name}")));
    let mut compared = 0;
    for path in paths {
        let Ok(first) = read(&path) else { continue };
        let second = again(&first.profile, &path);
        let third = again(&second, &path);
        // A key stands once in what we write.
        let is_large = first.profile.stacks.len() > 10_000;
        if is_large {
            for found in sample_types(&first.profile) {
                let again = sample_type(&second, &found.name).unwrap_or_else(|error| panic!("{path}: {error}"));
                assert_eq!(total(&first.profile, found.measure), total(&second, again.measure), "{path}");
            }
        } else if !path.ends_with("label_multi.pb.gz") {
            same(&first.profile, &second).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        assert!(second == third, "{path}: {:?}", same(&second, &third));
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn files_cut_anywhere_are_refused_or_read_without_a_panic() {
    let whole = bytes("pprof/derived/uncompressed.pb");
    for len in 0..whole.len() {
        let _refused = format::read(&whole[..len], &ReadOptions::default());
        let mut damaged = whole.clone();
        damaged[len] ^= 0x55;
        let _either = format::read(&damaged, &ReadOptions::default());
    }
}

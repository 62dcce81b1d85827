//! The text that `perf script` prints.

use traceview_core::format::{self, ReadOptions, WriteOptions};
use traceview_core::model::{
    FieldValue, FunctionId, Nanos, OsId, Profile, StandardCategory, Thread, Time, Values, Warning,
};

use crate::fixtures;
use crate::tops::{Tops, expected};

fn read(text: impl AsRef<[u8]>) -> Profile {
    let contents = format::read(text.as_ref(), &ReadOptions::default()).expect("perf script's output");
    assert_eq!(contents.format.name, "perf-script");
    contents.profile
}

fn fixture(name: &str) -> (Profile, String) {
    let text = fixtures::bytes(&format!("perf/{name}.perf"));
    (read(&text), String::from_utf8(text).expect("UTF-8"))
}

fn notes(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(|w| format!("{} {} {}", w.code, w.count, w.first.as_deref().unwrap_or("-"))).collect()
}

fn function_name(profile: &Profile, function: FunctionId) -> &str {
    profile.string(profile.functions.name[function.index()])
}

/// A sample's stack, the innermost frame first, as `name (file)`.
fn frames(profile: &Profile, thread: &Thread, row: usize) -> Vec<String> {
    let stack = thread.samples.stack[row].expect("a stack");
    let frame = |node| {
        let frame = profile.frames.get(profile.stacks.frame[traceview_core::model::StackId::index(node)]);
        let file = frame.library.map_or("-", |library| profile.string(profile.libraries[library.index()].name));
        format!("{} ({file})", function_name(profile, frame.function))
    };
    profile.stacks.ancestors(stack).map(frame).collect()
}

/// Thread names with their ids and how many samples they have.
fn threads(profile: &Profile) -> Vec<(String, String, String, usize)> {
    let of = |thread: &Thread| {
        let pid = profile.processes[thread.process.index()].pid.to_string();
        (profile.string(thread.name).to_owned(), pid, thread.tid.to_string(), thread.samples.len())
    };
    profile.threads.iter().map(of).collect()
}

/// How many lines of `text` have `event` behind the time (and the period).
fn count(text: &str, event: &str) -> usize {
    let is_it = |line: &&str| line.split_whitespace().any(|word| word.strip_suffix(':') == Some(event));
    text.lines().filter(|line| !line.starts_with(['#', '\t'])).filter(is_it).count()
}

#[test]
fn the_front_ends_numbers_come_out() {
    let profile = fixtures::read("gecko/gzip.perf.gz").expect("it can be read").profile;
    let expected_values = &fixtures::json("gecko/expected/gzip.perf.gz.expected.json");
    let thread = &expected_values["threads"][0];
    assert_eq!(threads(&profile), [("gzip".to_owned(), "83220".to_owned(), "83220".to_owned(), 420)]);
    // The front end shows inlined functions under a library of that name; here they are in that of the function around,
    // where that is in the file.
    let tops = Tops::of(&profile, |node| {
        let frame = profile.frames.get(profile.stacks.frame[node.index()]);
        let name = function_name(&profile, frame.function);
        let path = frame.library.map(|library| profile.string(profile.libraries[library.index()].path));
        let path = match path.filter(|_| frame.inline_depth == 0) {
            Some(path) => path,
            None if name == "[unknown]" => name,
            None => "inlined",
        };
        format!("{name}  [{path}]")
    });
    for (list, tops) in [("topSelf", &tops.own), ("topTotal", &tops.total)] {
        for (name, amount) in expected(&thread[list]) {
            assert_eq!(tops.get(&name), Some(&amount), "{name}");
        }
    }
    assert_eq!(Some(tops.own.values().sum()), thread["totalWeight"].as_f64());
    let samples = &profile.threads[0].samples;
    let range = expected_values["range"].as_array().expect("a range");
    // The front end adds the interval of 1 ms to the last sample.
    let duration = (range[1].as_f64().expect("ms") - range[0].as_f64().expect("ms") - 1.0) * 1e6;
    assert_eq!((samples.time[0], samples.time.last().expect("a sample").0 as f64), (Time(0), duration.round()));
    let cycles = &samples.values[0];
    assert_eq!(profile.string(profile.value_types[cycles.value_type.index()].name), "cycles");
    assert!(matches!(&cycles.values, Values::Integer(periods) if periods.iter().sum::<i64>() == 283_922_691));
    assert_eq!((&samples.weight, samples.cpu.len(), profile.meta.interval), (&Values::Ones, 0, None));
    let earlier = &profile.threads[0].earlier_names;
    assert_eq!(earlier.iter().map(|(_, name)| profile.string(*name)).collect::<Vec<_>>(), ["perf"]);
    assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
}

#[test]
fn further_events_are_columns_without_weight() {
    let (profile, text) = fixture("two-events");
    let (clocks, faults) = (count(&text, "cpu-clock"), count(&text, "page-faults"));
    assert!(clocks > 10 && faults > 1);
    let names: Vec<_> = threads(&profile).into_iter().map(|(name, pid, tid, _)| (name, pid, tid)).collect();
    let renamed = |tid: &str| ("renamed".to_owned(), "21976".to_owned(), tid.to_owned());
    assert_eq!(names, [("workload".into(), "21976".into(), "21976".into()), renamed("21978"), renamed("21979")]);
    let earlier = |thread: usize| {
        let names = &profile.threads[thread].earlier_names;
        names.iter().map(|(_, name)| profile.string(*name)).collect::<Vec<_>>()
    };
    assert_eq!((earlier(1), earlier(2)), (vec!["a (b) [c]"], vec!["tokio-rt 7/3"]));
    assert!(profile.threads[0].is_main && !profile.threads[1].is_main);
    let mut weight = 0.0;
    let (mut cpu, mut faulted) = (0, 0);
    for samples in profile.threads.iter().map(|thread| &thread.samples) {
        weight += (0..samples.len()).map(|row| samples.weight.get(row)).sum::<f64>();
        cpu += (0..samples.len()).map(|row| samples.cpu_of(row).expect("known").0).sum::<i64>();
        for column in &samples.values {
            assert_eq!(profile.string(profile.value_types[column.value_type.index()].name), "page-faults");
            faulted += (0..samples.len()).map(|row| column.values.get(row) as i64).sum::<i64>();
        }
    }
    assert_eq!((weight, cpu), (clocks as f64, 1_003_009 * clocks as i64));
    let periods = text.lines().filter(|line| line.contains(" page-faults: "));
    let periods =
        periods.map(|line| line.split_whitespace().rev().nth(1).expect("a period").parse::<i64>().expect("a number"));
    assert_eq!(faulted, periods.sum::<i64>());
    assert_eq!(profile.meta.interval, Some(Nanos(1_003_009)));
    assert_eq!(notes(&profile.meta.warnings), [format!("events-as-values {faults} page-faults")]);
    let kernel = frames(&profile, &profile.threads[0], 0);
    assert_eq!(kernel[0], "elf_load ([kernel.kallsyms])");
    assert_eq!(kernel.last().map(String::as_str), Some("[unknown] (-)"));
    let leaf = profile.frames.get(profile.stacks.frame[profile.threads[0].samples.stack[0].expect("a stack").index()]);
    assert_eq!((leaf.category, leaf.address), (Some(StandardCategory::Kernel.id()), None));
}

#[test]
fn the_header_and_lines_about_tasks_are_used() {
    let (profile, text) = fixture("task-events");
    // No sample says its process: the lines about tasks do.
    let ids: Vec<_> = threads(&profile).into_iter().map(|(_, pid, tid, _)| (pid, tid)).collect();
    assert_eq!(
        ids,
        [("21994", "21996"), ("21994", "21994"), ("21994", "21997")].map(|(pid, tid)| (pid.into(), tid.into()))
    );
    let samples: usize = profile.threads.iter().map(|thread| thread.samples.len()).sum();
    assert_eq!(samples, count(&text, "cpu-clock:uH"));
    let meta = &profile.meta;
    assert_eq!(meta.recorder.as_deref(), Some("perf 6.1.187"));
    assert_eq!((meta.machine.os.as_deref(), meta.machine.logical_cpus), (Some("Linux 6.18.44"), Some(2)));
    assert!(meta.extra.iter().any(|(key, value)| key == "perf cmdline" && value.ends_with("./workload")));
    assert!(meta.extra.contains(&("perf clock at the first sample".to_owned(), "46498.509577000 s".to_owned())));
    assert!(meta.warnings.is_empty(), "{:?}", meta.warnings);
    let without = read(text.lines().filter(|line| !line.contains("PERF_RECORD")).collect::<Vec<_>>().join("\n") + "\n");
    assert_eq!(without.processes.len(), 1);
    assert_eq!(without.processes[0].pid, OsId::Text("?".into()));
    assert_eq!(notes(&without.meta.warnings), ["process-unknown 3 thread renamed"]);
}

#[test]
fn source_lines_and_inlined_functions_are_kept() {
    let (profile, text) = fixture("srcline");
    assert!(
        profile.meta.warnings.iter().all(|warning| warning.code == "events-as-values"),
        "{:?}",
        profile.meta.warnings
    );
    let thread = profile.threads.iter().find(|thread| thread.earlier_names.len() == 1).expect("a renamed thread");
    assert_eq!(
        frames(&profile, thread, 0),
        ["mix (workload)", "leaf (workload)", "worker (workload)", "start_thread (libc.so.6)", "clone3 (libc.so.6)"]
    );
    let stack = thread.samples.stack[0].expect("a stack");
    let places: Vec<_> = profile
        .stacks
        .ancestors(stack)
        .map(|node| {
            let frame = profile.frames.get(profile.stacks.frame[node.index()]);
            let source = profile.functions.source[frame.function.index()].expect("a source");
            (profile.string(profile.sources[source.index()].path), frame.line, frame.inline_depth)
        })
        .collect();
    let expected = [("w.c", 9, 1), ("w.c", 10, 0), ("w.c", 12, 0), ("pthread_create.c", 442, 0), ("clone3.S", 81, 0)];
    assert_eq!(places, expected.map(|(file, line, depth)| (file, Some(line), depth)));
    // Nanoseconds, from `--ns`.
    assert!(profile.threads.iter().flat_map(|thread| &thread.samples.time).any(|time| time.0 % 1000 != 0));
    assert!(text.contains(" (inlined)"));
}

#[test]
fn without_chains_the_frame_stands_on_the_line() {
    let (profile, text) = fixture("no-chains");
    let samples: usize = profile.threads.iter().map(|thread| thread.samples.len()).sum();
    assert_eq!(samples, text.lines().count());
    assert!(
        profile.threads.iter().all(|thread| {
            (0..thread.samples.len()).all(|row| frames(&profile, thread, row) == ["leaf (workload)"])
        })
    );
}

#[test]
fn stacks_alone_are_an_untimed_profile() {
    let (profile, text) = fixture("stacks-only");
    assert_eq!(profile.threads.len(), 1);
    let thread = &profile.threads[0];
    let leaves = text.split("\n\n").filter(|sample| !sample.trim().is_empty()).count();
    assert_eq!((thread.timed, thread.samples.len()), (false, leaves));
    assert_eq!(profile.string(thread.name), "[unknown]");
    assert_eq!(frames(&profile, thread, 0), ["mix (-)", "leaf (-)", "worker (-)", "start_thread (-)", "clone3 (-)"]);
    assert_eq!((profile.meta.recording_start, profile.meta.interval), (None, None));
}

#[test]
fn tracepoints_beside_a_clock_are_markers() {
    let (profile, text) = fixture("tracepoints");
    let markers: usize = profile.threads.iter().map(|thread| thread.markers.len()).sum();
    let switches = count(&text, "sched:sched_switch");
    assert_eq!(markers, switches + count(&text, "sched:sched_wakeup"));
    let samples: usize = profile.threads.iter().map(|thread| thread.samples.len()).sum();
    assert_eq!(samples, count(&text, "task-clock"));
    let first = profile.threads[0].markers.get(0);
    assert_eq!(profile.string(first.name), "sched:sched_switch");
    let fields = profile.payloads.get(first.payload.expect("its text"));
    let FieldValue::Text(told) = fields[0].value else { panic!("no text: {fields:?}") };
    assert!(profile.string(told).starts_with("prev_comm=workload prev_pid=10486 "), "{}", profile.string(told));
    assert_eq!(notes(&profile.meta.warnings), [format!("events-as-markers {markers} sched:sched_switch")]);
    // Alone, they are what is counted.
    let alone = read(text.lines().filter(|line| line.contains("sched_switch")).collect::<Vec<_>>().join("\n") + "\n");
    let samples: usize = alone.threads.iter().map(|thread| thread.samples.len()).sum();
    assert_eq!((samples, alone.threads.iter().all(|thread| thread.markers.is_empty())), (switches, true));
    assert_eq!(notes(&alone.meta.warnings), [format!("event-text {switches} the first of them")]);
}

#[test]
fn hybrid_machines_and_simpleperf_are_understood() {
    let text = "Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:\n\t         23fe921 f(int) (/a/libxul.so)\n\n\
                a 1/1 2.000000: 10 cpu_core/cycles/: \n\t              11 x (/b)\n\n\
                a 1/1 1.000000: 20 cpu_atom/cycles/: \n\t              11 x (/b)\n\n";
    let profile = read(&text.as_bytes()[text.find("a 1/1").expect("there")..]);
    assert_eq!(profile.value_types.len(), 1, "one event");
    let samples = &profile.threads[0].samples;
    assert_eq!((&samples.time, &samples.weight), (&vec![Time(-1_000_000_000), Time(0)], &Values::Ones));
    assert_eq!(samples.values[0].values, Values::Integer(vec![20, 10]));
    assert_eq!(notes(&profile.meta.warnings), ["samples-unordered 1 the first of them"]);
    let other = text[text.find("a 1/1").expect("there")..].replace("cycles", "instructions");
    let profile = read(&other);
    let columns: Vec<_> = profile.value_types.iter().map(|column| profile.string(column.name)).collect();
    assert_eq!(columns, ["instructions"], "one event, and no other counts");
    let samples = &profile.threads[0].samples;
    assert_eq!((&samples.weight, &samples.values[0].values), (&Values::Ones, &Values::Integer(vec![20, 10])));
    let profile = read(&text[..text.find("a 1/1").expect("there")]);
    assert_eq!(frames(&profile, &profile.threads[0], 0), ["f(int) (libxul.so)"]);
    assert_eq!(profile.threads[0].sampled_cpu(), Some(Nanos(1_000_000)));
}

#[test]
fn what_is_cut_or_odd_is_counted_with_its_place() {
    let sample = "a 1/1 2.000000: 10 cycles: \n\t              11 x\n\t              12 main\n\n";
    let cut = format!("{}a 1/1 3.000000: 10 cycles: \n\t            ", sample.repeat(10));
    let profile = read(&cut);
    assert_eq!(profile.threads[0].samples.len(), 10);
    assert_eq!(notes(&profile.meta.warnings), [format!("file-cut 1 byte {}", sample.len() * 10 + 28)]);
    let odd = format!("{}what is this\n\t!\nb 1/2 : cycles: \n\t              11 \u{fffd}\n\n", sample.repeat(30));
    let odd = [odd.as_bytes(), b"c 1/3 4.000000: 99999999999999999999 cycles: \n\t              11 \xff\n\n"].concat();
    let profile = read(&odd);
    let at = sample.len() * 30;
    let of = |text: &str| notes(&profile.meta.warnings).into_iter().find(|note| note.starts_with(text)).expect("noted");
    assert!(of("line-unknown").ends_with(&format!(" byte {at}")), "{}", of("line-unknown"));
    assert!(of("name-not-utf8 1 byte ").len() > 20);
    let last = profile.threads.last().expect("a thread");
    assert_eq!(last.samples.values[0].values, Values::Integer(vec![i64::MAX]));
}

#[test]
fn depth_takes_linear_time() {
    let frame = "\t              11 f (/x)\n";
    let text = format!("a 1/1 2.000000: 10 cycles: \n{}\n", frame.repeat(1_000_000));
    assert_eq!(read(&text).stacks.len(), 1_000_000);
    let inlined = frame.replace("/x", "inlined");
    let text = format!("a 1/1 2.000000: 10 cycles: \n{}{frame}\n", inlined.repeat(100_000));
    assert_eq!(read(&text).stacks.len(), 100_001);
}

#[test]
fn what_is_read_can_be_written_in_every_format() {
    for name in ["two-events", "task-events", "srcline", "no-chains", "stacks-only", "tracepoints"] {
        let (profile, _) = fixture(name);
        for format in format::written() {
            let mut out = Vec::new();
            let options = WriteOptions { off_cpu: true, measure: None };
            format::write(&profile, format.target(), &options, &mut out).expect(name);
            assert!(!out.is_empty(), "{name} as {}", format.name);
        }
    }
}

#[test]
fn other_texts_keep_the_clear_error() {
    for text in ["Nov 30 12:00:01 host prog[123]: text\n", "all: main.o\n\tcc -o main main.o\n", "a 1 2.500000:\n"] {
        let error = format::read(text.as_bytes(), &ReadOptions::default()).expect_err(text).to_string();
        assert!(error.starts_with("not a profile in a known format"), "{text}: {error}");
    }
}

//! Chrome traces of other tools.

use std::io::Read;

use serde_json::Value;
use traceview_core::format::{Contents, ReadOptions, read as read_bytes};
use traceview_core::model::{FieldValue, MarkerTiming, OsId, Profile, StackId, Thread, WaitReason};

use super::fixtures;

mod files;
mod hostile;
mod slice_list;
mod write;

fn text(path: &str) -> Vec<u8> {
    let bytes = fixtures::bytes(&format!("trace/{path}"));
    if !path.ends_with(".gz") {
        return bytes;
    }
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut text).expect("gzip");
    text
}

fn profile(path: &str) -> Profile {
    fixtures::read(&format!("trace/{path}")).unwrap_or_else(|error| panic!("{path}: {error}")).profile
}

fn of_text(text: &str) -> Profile {
    match read_bytes(text.as_bytes(), &ReadOptions::default()) {
        Ok(Contents { profile, format, .. }) => {
            assert_eq!(format.name, "chrome");
            profile
        }
        Err(error) => panic!("{error}: {text}"),
    }
}

fn is_async(thread: &Thread) -> bool {
    matches!(&thread.tid, OsId::Text(tid) if tid.starts_with("async"))
}

fn warning(profile: &Profile, code: &str) -> u64 {
    profile.meta.warnings.iter().find(|warning| warning.code == code).map_or(0, |warning| warning.count)
}

/// What is odd about a profile: codes and how often.
fn warnings(profile: &Profile) -> Vec<(&str, u64)> {
    profile.meta.warnings.iter().map(|warning| (&*warning.code, warning.count)).collect()
}

/// The moment in ns that the times of `profile` count from.
fn origin(profile: &Profile) -> i64 {
    let (_, micros) = profile.meta.extra.iter().find(|(key, _)| key == "trace start (µs)").expect("its start");
    let (whole, fraction) = micros.split_once('.').unwrap_or((micros, "0"));
    let fraction: i64 = format!("{fraction:0<3}").parse().expect("digits");
    whole.parse::<i64>().expect("digits") * 1000 + fraction
}

/// Name, start and duration in ns as in the file, depth, lane, whether it is incomplete: of all slices in order.
fn slices(profile: &Profile) -> Vec<(&str, i64, i64, u32, u32, bool)> {
    let origin = origin(profile);
    let of_thread = |thread: &Thread| {
        let rows = (0..thread.slices.len()).map(|row| thread.slices.get(row)).collect::<Vec<_>>();
        rows.into_iter().map(move |slice| {
            let times = (slice.start.0 + origin, slice.duration.0);
            (profile.string(slice.name), times.0, times.1, slice.depth, slice.lane, slice.incomplete)
        })
    };
    profile.threads.iter().flat_map(of_thread).collect()
}

/// The names of the frames of a stack, the innermost first.
fn frames(profile: &Profile, stack: StackId) -> Vec<&str> {
    let name = |node: StackId| profile.string(profile.functions.name[profile.leaf_function(node).index()]);
    profile.stacks.ancestors(stack).map(name).collect()
}

/// A field of the data of the marker or slice with this payload, as text.
fn field(profile: &Profile, payload: Option<traceview_core::model::PayloadId>, key: &str) -> Option<String> {
    let fields = profile.payloads.get(payload?);
    let field = fields.iter().find(|field| profile.string(field.key) == key)?;
    Some(match field.value {
        FieldValue::Text(text) | FieldValue::Json(text) => profile.string(text).to_owned(),
        FieldValue::Integer(number) => number.to_string(),
        FieldValue::Float(number) => number.to_string(),
        FieldValue::Bool(value) => value.to_string(),
    })
}

#[test]
fn cpu_profiles_inside_traces_are_samples() {
    let profile = profile("devtools/recursive-counting-js.json.gz");
    let json = fixtures::json("trace/devtools/recursive-counting-js.json.gz");
    let pieces = json.as_array().unwrap().iter().filter(|event| event["name"] == "ProfileChunk");
    let expected: usize =
        pieces.map(|piece| piece["args"]["data"]["cpuProfile"]["samples"].as_array().map_or(0, Vec::len)).sum();
    let sampled: Vec<&Thread> = profile.threads.iter().filter(|thread| !thread.samples.is_empty()).collect();
    assert_eq!(sampled.len(), 1, "the profile of one thread");
    assert_eq!((sampled[0].samples.len(), profile.string(sampled[0].name)), (expected, "CrRendererMain"));
    assert!(sampled[0].tid == OsId::Number(259));
    // DevTools shows the profile's first sample at its startTime and the first delta.
    let first = &json.as_array().unwrap().iter().find(|event| event["name"] == "ProfileChunk").unwrap()["args"]["data"];
    let start = json.as_array().unwrap().iter().find(|event| event["name"] == "Profile").unwrap();
    let start = start["args"]["data"]["startTime"].as_i64().unwrap() + first["timeDeltas"][0].as_i64().unwrap();
    assert_eq!(sampled[0].samples.time[0].0 + origin(&profile), start * 1000);
    let recursive = "foo";
    let deep = sampled[0].samples.stack.iter().flatten().map(|stack| frames(&profile, *stack));
    assert!(deep.into_iter().any(|stack| stack.iter().filter(|name| **name == recursive).count() > 2));
}

/// Each kind of odd text: the slices that are read, and what is said about it. The last column: whether Perfetto v52 reads as
/// many, or why not.
#[test]
fn texts_are_read_as_far_as_their_events_are_whole() {
    const ROWS: &[(&str, &str, &[&str])] = &[
        ("big_numbers", "A B", &[]),
        // Perfetto: unknown format.
        ("bom", "A", &[]),
        ("control_char_in_string", "A\tb\nc", &[]),
        ("dup_keys", "B", &[]),
        ("events_key_twice", "A B", &[]),
        ("garbage_after", "A", &["text-behind-end"]),
        // Perfetto: unknown format.
        ("leading_comma", "A", &["extra-comma"]),
        ("lone_surrogate", "A\u{fffd}", &[]),
        ("metadata_before_events", "A", &[]),
        ("nan", "A", &[]),
        ("no_commas_between", "A B", &["missing-comma"]),
        ("system_trace_events", "A", &["system-trace"]),
        ("trailing_comma_array", "A", &["extra-comma"]),
        ("trailing_comma_in_args", "A", &[]),
        ("trailing_comma_object_form", "A", &["extra-comma"]),
        ("trailing_empty_object", "A", &["empty-event"]),
        ("unterminated_array", "A", &["not-closed"]),
        ("unterminated_mid_event", "A", &["cut-event"]),
        // Perfetto says that it is incomplete, and shows the events.
        ("unterminated_object_form", "A", &["not-closed"]),
    ];
    for (name, expected, codes) in ROWS {
        let profile = profile(&format!("handmade/text_{name}.json"));
        let names: Vec<&str> = slices(&profile).iter().map(|slice| slice.0).collect();
        assert_eq!(names.join(" "), *expected, "{name}");
        let found: Vec<&str> = warnings(&profile).iter().map(|warning| warning.0).collect();
        assert_eq!(found, *codes, "{name}");
    }
    for (name, reason) in [
        ("empty_array", "not a profile in a known format"),
        ("empty_file", "the file is empty"),
        ("empty_object", "not a profile in a known format"),
        ("only_bracket", "not a profile in a known format"),
    ] {
        let error = fixtures::read(&format!("trace/handmade/text_{name}.json")).expect_err(name).to_string();
        assert!(error.contains(reason), "{name}: {error}");
    }
    let profile = profile("handmade/text_big_numbers.json");
    let times: Vec<(i64, i64)> = slices(&profile).iter().map(|slice| (slice.1, slice.2)).collect();
    assert_eq!(times, [(9_007_199_254_740_993_000, 1_000_000), (1_700_000_000_000_000_123, 1)]);
    let ids: Vec<String> = profile.threads.iter().map(|thread| thread.tid.to_string()).collect();
    assert_eq!(
        (ids, profile.processes[0].pid.to_string()),
        (vec!["-1".to_owned(), "1".to_owned()], "4294967295".to_owned())
    );
    let args = fixtures::read("trace/handmade/text_nan.json").unwrap().profile;
    let payload = args.threads[0].slices.args[0];
    assert_eq!(field(&args, payload, "x").as_deref(), Some("NaN"));
}

#[test]
fn slices_nest_as_perfetto_nests_them_but_for_reasons() {
    let matrix = String::from_utf8(fixtures::bytes("trace/handmade/expected/matrix.jsonl")).unwrap();
    let mut compared = 0;
    for line in matrix.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["f"].as_str().unwrap();
        if !name.starts_with("be_") && !name.starts_with("nest_") {
            continue;
        }
        let profile = profile(&format!("handmade/{name}"));
        let found: Vec<(&str, i64, i64, u32)> =
            slices(&profile).iter().map(|one| (one.0, one.1, one.2, one.3)).collect();
        let theirs: Vec<(&str, i64, i64, u32)> = row["perfettoSlices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slice| {
                let number = |column: usize| slice[column].as_i64().unwrap();
                (slice[0].as_str().unwrap(), number(1), number(2), u32::try_from(number(3)).unwrap())
            })
            .collect();
        let expected = match name {
            // `b` began inside `a` and never ended. Theirs has no length (−1); ours ends with `a`, marked incomplete. Their
            // end `x` without beginning is lost; ours is an instant.
            "be_unbalanced.json" => {
                assert!(slices(&profile)[1].5 && warning(&profile, "end-without-begin") == 1);
                vec![("a", 2_000, 3_000, 0), ("b", 3_000, 2_000, 1)]
            }
            // `B` goes on behind the end of `A`: dropped there (v58 keeps it as we do), on a lane of its own here.
            "nest_partial_overlap.json" => {
                let lanes: Vec<u32> = slices(&profile).iter().map(|slice| slice.4).collect();
                assert_eq!((lanes, warning(&profile, "partial-overlap")), (vec![0, 1, 0], 1));
                vec![("A", 0, 10_000, 0), ("B", 5_000, 10_000, 0), ("C", 16_000, 2_000, 0)]
            }
            _ => theirs,
        };
        assert_eq!(found, expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 6);
}

#[test]
fn beginnings_and_ends_pair_as_they_are_meant() {
    let pairs = |events: &str| {
        let text: String = events
            .split(' ')
            .zip(1..)
            .map(|(event, ts)| {
                let (phase, name) = event.split_at(1);
                let name = if name.is_empty() { String::new() } else { format!(r#","name":"{name}""#) };
                format!(r#"{{"ph":"{phase}","ts":{ts},"pid":1,"tid":1{name}}},"#)
            })
            .collect();
        let profile = of_text(&format!("[{text}]"));
        let found = slices(&profile);
        let text = |slice: &(&str, i64, i64, u32, u32, bool)| {
            let mark = if slice.5 { "…" } else { "" };
            format!("{}{}-{}{mark}/{}.{}", slice.0, slice.1 / 1000, (slice.1 + slice.2) / 1000, slice.3, slice.4)
        };
        (found.iter().map(text).collect::<Vec<_>>().join(" "), warning(&profile, "end-of-other-name"))
    };
    let found = |events: &str| pairs(events).0;
    assert_eq!(found("Ba Bb Eb Ea"), "a1-4/0.0 b2-3/1.0");
    assert_eq!(found("Ba Bb E E"), "a1-4/0.0 b2-3/1.0");
    // Crossing: each has its own end, on lanes. Catapult would end `b` at 3 and `a` at 4.
    assert_eq!(found("Ba Bb Ea Eb"), "a1-3/0.0 b2-4/0.1");
    // `b` never ends: no later than what was around it when it began.
    assert_eq!(found("Ba Bb Ea Bc Ec"), "a1-3/0.0 b2-3…/1.0 c4-5/0.0");
    // An end of a name that is not open ends the innermost, as in catapult. Perfetto would ignore it and leave `b` and `a` open
    // to the end of the trace.
    assert_eq!(pairs("Ba Bb Ex Ea"), ("a1-4/0.0 b2-3/1.0".to_owned(), 1));
    assert_eq!(found("Ba Ba Ea Ea"), "a1-4/0.0 a2-3/1.0");
    assert_eq!(found("Ba ii ii"), "a1-3…/0.0");
    assert_eq!(found("Ea Ba Ea"), "a2-3/0.0");
}

#[test]
fn times_are_exact_to_the_nanosecond() {
    // Below 2^53 ns, doubles of µs are exact enough to be rounded to the right ns: an independent way to the same numbers.
    for path in [
        "generated/tracing_chrome_threaded.json",
        "generated/viztracer_flow.json",
        "catapult/nanoseconds.json",
        "catapult/traceviewify.json",
        "devtools/one-second-interaction.json.gz",
    ] {
        let json = fixtures::json(&format!("trace/{path}"));
        let events = json.as_array().unwrap_or_else(|| json["traceEvents"].as_array().expect("events"));
        let nanos = |value: &Value| {
            let micros = value.as_f64().expect("a number");
            assert!(micros < 4e12, "{path}");
            (micros * 1000.0).round() as i64
        };
        let mut expected: Vec<i64> = events
            .iter()
            .filter(|event| ["X", "B"].contains(&event["ph"].as_str().unwrap()))
            .map(|event| nanos(&event["ts"]))
            .collect();
        let mut durations: Vec<i64> =
            events.iter().filter(|event| event["ph"] == "X").map(|event| nanos(&event["dur"])).collect();
        let profile = profile(path);
        let origin = origin(&profile);
        let of_threads = || profile.threads.iter().filter(|thread| !is_async(thread));
        let mut found: Vec<i64> =
            of_threads().flat_map(|thread| thread.slices.start.iter().map(|start| start.0 + origin)).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert!(expected == found, "{path}");
        if !events.iter().any(|event| event["ph"] == "B") {
            let mut found: Vec<i64> =
                of_threads().flat_map(|thread| thread.slices.duration.iter().map(|duration| duration.0)).collect();
            durations.sort_unstable();
            found.sort_unstable();
            assert!(durations == found, "{path}");
        }
    }
    // Since 1970: a double holds quarters of µs.
    let profile = of_text(
        r#"[{"ph":"X","ts":1732561094000123.457,"dur":0.001,"name":"a"},{"ph":"X","ts":1732561094000123.458,"dur":0.002,"name":"b"}]"#,
    );
    let found: Vec<_> = slices(&profile).iter().map(|slice| (slice.1, slice.2, slice.3, slice.4)).collect();
    assert_eq!(found, [(1_732_561_094_000_123_457, 1, 0, 0), (1_732_561_094_000_123_458, 2, 0, 0)]);
    assert_eq!(profile.meta.start_unix_ns, Some(1_732_561_094_000_123_457));
}

#[test]
fn small_files_of_perfettos_tests_say_what_perfetto_says() {
    let counters = profile("perfetto/counters_json_counters.json");
    assert_eq!(counters.counters.len(), 1);
    let counter = &counters.counters[0];
    assert_eq!(
        (counters.string(counter.name), &*counter.delta),
        ("ctr", &[0.0, 10.0, -10.0][..]),
        "theirs: \"ctr cats\""
    );
    assert_eq!(counter.time.iter().map(|time| time.0).collect::<Vec<_>>(), [0, 10_000, 20_000]);

    // As theirs, but in the order of the file: what is no number is left out.
    let counters = profile("perfetto/json_counter_args.json");
    let values: Vec<(&str, f64)> =
        counters.counters.iter().map(|counter| (counters.string(counter.name), counter.delta[0])).collect();
    assert_eq!(
        values,
        [
            ("CounterStringEdgeCases leading_dot", 0.75),
            ("CounterStringEdgeCases trailing_dot", 246.0),
            ("CounterStringEdgeCases leading_zero_float", 1.23),
            ("CounterStringEdgeCases leading_zero_int_str", 50.0),
            ("CounterStringEdgeCases plus_val", 10.5)
        ]
    );
    assert_eq!(warning(&counters, "counter-not-a-number"), 5);

    let states = profile("perfetto/json_thread_state.json");
    let waits: Vec<(i64, i64, WaitReason)> =
        states.threads[0].waits.iter().map(|wait| (wait.start.0, wait.duration.0, wait.reason)).collect();
    let expected = [
        (5_000_000, 10_000_000, WaitReason::Blocked),
        (15_000_000, 8_000_000, WaitReason::Blocked),
        (23_000_000, 2_000_000, WaitReason::Runnable),
    ];
    assert_eq!(waits, expected);
    let blocked_in =
        states.threads[0].waits.iter().nth(1).and_then(|wait| wait.target).map(|target| states.string(target));
    assert_eq!(blocked_in, Some("wait_on_page_locked"));
    let running: Vec<MarkerTiming> = states.threads[0].markers.timing.clone();
    assert!(
        matches!(running[..], [MarkerTiming::Interval(start, end), _] if end.0 - start.0 == 5_000_000),
        "{running:?}"
    );

    let strings = profile("perfetto/string_ts_and_dur.json");
    let found: Vec<_> = slices(&strings).iter().map(|slice| (slice.0, slice.1, slice.2)).collect();
    assert_eq!(found, [("BeginEvent", 100_000, 100_500), ("CompleteEvent", 250_000, 50_500)]);

    let depths = |path: &str| {
        let profile = profile(&format!("perfetto/{path}.json"));
        let mut found: Vec<(String, u32)> =
            slices(&profile).iter().map(|slice| (slice.0.to_owned(), slice.3)).collect();
        found.sort();
        found.iter().map(|one| one.1).collect::<Vec<_>>()
    };
    assert_eq!(depths("same_ts_zero_duration_slice_then_duration_slice_unnesting"), [1, 0]);
    assert_eq!(depths("same_ts_duration_slice_then_zero_duration_slice_unnesting"), [0, 0]);
    // Theirs is [0, 1]. What a clock of µs records of one moment followed each other; as a tower it would be as high as there
    // are calls within a µs.
    assert_eq!(depths("same_ts_two_zero_duration_slice_nesting"), [0, 0]);

    let ids: Vec<(String, usize)> = ["json_id2_local_int_id", "json_id2_global_int_id"]
        .map(|name| {
            let profile = profile(&format!("perfetto/{name}.json"));
            let (name, start, duration, ..) = slices(&profile)[0];
            (format!("{name} {start} {duration}"), profile.threads.iter().filter(|thread| is_async(thread)).count())
        })
        .into();
    assert_eq!(
        ids,
        [("write 1750244461563845000 167000".to_owned(), 1), ("write 1850244461563845000 167000".to_owned(), 1)]
    );

    let metadata = profile("perfetto/json_trace_metadata.json");
    for (key, value) in [("metadata.hardwareConcurrency", "12"), ("metadata.networkThrottling", "No throttling")] {
        assert!(metadata.meta.extra.contains(&(key.to_owned(), value.to_owned())), "{:?}", metadata.meta.extra);
    }
    let instants = profile("perfetto/json_all_slice_types.json");
    let events: Vec<(&str, Option<String>)> = instants
        .threads
        .iter()
        .flat_map(|thread| {
            (0..thread.markers.len())
                .map(|row| thread.markers.get(row))
                .map(|marker| (instants.string(marker.name), field(&instants, marker.payload, "event")))
        })
        .collect();
    assert!(
        events.contains(&("InstantGlobal", Some("global".to_owned()))) && events.contains(&("InstantThread", None)),
        "{events:?}"
    );
}

#[test]
fn ids_names_and_order_are_those_that_people_expect() {
    let profile = of_text(
        r#"[{"ph":"M","pid":2,"name":"process_sort_index","args":{"sort_index":"-5"}},
        {"ph":"M","pid":"1","tid":7,"name":"thread_sort_index","args":{"sort_index":3}},
        {"ph":"M","pid":1,"name":"process_name","args":{"name":"one"}},
        {"ph":"M","pid":1,"name":"process_labels","args":{"labels":"a tab"}},
        {"ph":"M","pid":1,"tid":"7","name":"thread_name","args":{"name":"seven"}},
        {"ph":"M","pid":9,"tid":9,"name":"thread_name","args":{"name":"nothing is here"}},
        {"ph":"M","name":"num_cpus","args":{"number":12}},
        {"ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"name":"a"},{"ph":"X","ts":2,"dur":1,"pid":"1","tid":"7","name":"b"},
        {"ph":"X","ts":1,"dur":1,"pid":1,"tid":8,"name":"c"},{"ph":"X","ts":1,"dur":1,"pid":2,"tid":"Spans","name":"d"},
        {"ph":"X","ts":1,"dur":1,"pid":5000000000,"tid":-3,"name":"e"},{"ph":"X","ts":1,"dur":1,"pid":1,"name":"f"}]"#,
    );
    let threads: Vec<String> = profile
        .threads
        .iter()
        .map(|thread| {
            let process = &profile.processes[thread.process.index()];
            let [process_name, name] = [process.name, thread.name].map(|name| profile.string(name));
            format!("{process_name} {} / {name} {}: {}", process.pid, thread.tid, thread.slices.len())
        })
        .collect();
    assert_eq!(
        threads,
        [
            "process 2 2 / thread Spans Spans: 1",
            "one (a tab) 1 / thread 1 1: 1",
            "one (a tab) 1 / thread 8 8: 1",
            "one (a tab) 1 / seven 7: 2",
            "process 5000000000 5000000000 / thread -3 -3: 1",
        ]
    );
    assert_eq!(profile.meta.machine.logical_cpus, Some(12));
    assert_eq!(warnings(&profile), [("empty-threads", 1)]);
}

#[test]
fn asynchronous_work_is_on_tracks_of_its_own() {
    let profile = of_text(
        r#"[{"ph":"b","ts":1,"pid":1,"cat":"net","name":"get","id":"0x1"},{"ph":"b","ts":2,"pid":1,"cat":"net","name":"dns","id":"0x1"},
        {"ph":"n","ts":3,"pid":1,"cat":"net","name":"hit","id":"0x1"},{"ph":"e","ts":4,"pid":1,"cat":"net","name":"dns","id":"0x1"},
        {"ph":"b","ts":3,"pid":1,"cat":"net","name":"get","id":"0x2"},{"ph":"e","ts":6,"pid":1,"cat":"net","name":"get","id":"0x1"},
        {"ph":"e","ts":5,"pid":1,"cat":"net","name":"get","id":"0x2"},
        {"ph":"b","ts":7,"pid":1,"cat":"net","name":"get","id":"0x1"},{"ph":"e","ts":8,"pid":1,"cat":"net","name":"get","id":"0x1"},
        {"ph":"b","ts":1,"pid":2,"cat":"net","name":"get","id":"0x1"},{"ph":"e","ts":9,"pid":2,"cat":"net","name":"get","id":"0x1"},
        {"ph":"S","ts":1,"pid":1,"cat":"old","name":"job","id":5},{"ph":"T","ts":2,"pid":1,"cat":"old","name":"job","id":5,"args":{"step":"half"}},
        {"ph":"F","ts":3,"pid":3,"cat":"old","name":"job","id":5},{"ph":"e","ts":3,"pid":3,"cat":"net","name":"lost","id":"0x9"}]"#,
    );
    let tracks: Vec<String> = profile
        .threads
        .iter()
        .filter(|thread| is_async(thread))
        .map(|thread| {
            let slices = (0..thread.slices.len()).map(|row| thread.slices.get(row)).map(|slice| {
                let end = slice.start + slice.duration;
                format!(
                    "{}@{}-{}/{}.{}",
                    profile.string(slice.name),
                    slice.start.0 / 1000,
                    end.0 / 1000,
                    slice.depth,
                    slice.lane
                )
            });
            let instants = thread.markers.name.iter().map(|name| profile.string(*name).to_owned());
            let process = profile.processes[thread.process.index()].pid.to_string();
            format!(
                "{process} {}: {}",
                profile.string(thread.name),
                slices.chain(instants).collect::<Vec<_>>().join(" ")
            )
        })
        .collect();
    assert_eq!(
        tracks,
        [
            "1 job: job@0-2/0.0 job",
            "1 get: get@0-5/0.0 dns@1-3/1.0 get@2-4/0.1 get@6-7/0.0 hit",
            "2 get: get@0-8/0.0",
            "3 lost: lost",
        ]
    );
    assert_eq!(warnings(&profile), [("end-without-begin", 1)]);

    let nested = self::profile("catapult/nestable_async.json");
    assert_eq!(warnings(&nested), [("end-without-begin", 1), ("never-ended", 1)], "as the names in the file say");
    let old = self::profile("catapult/async_begin_end.json");
    // `D` bf1 has no start; `S`, `b` and `D` bf2 have no end. `E` begins in one process and ends in another.
    assert_eq!(warnings(&old), [("end-without-begin", 1), ("never-ended", 3)]);
    let e: Vec<_> = slices(&old).into_iter().filter(|slice| slice.0 == "E").map(|slice| (slice.1, slice.2)).collect();
    assert_eq!(e, [(500_000, 200_000), (600_000, 200_000)]);
}

#[test]
fn stacks_arguments_and_colors_are_kept() {
    let simple = profile("catapult/simple_trace.json");
    let sampled = simple.threads.iter().find(|thread| !thread.samples.is_empty()).expect("SampleC has a stack");
    assert_eq!(frames(&simple, sampled.samples.stack[0].unwrap()), ["frame8", "main"]);
    let long = simple.threads.iter().flat_map(|thread| (0..thread.slices.len()).map(|row| thread.slices.get(row)));
    let long = long.into_iter().find(|slice| simple.string(slice.name) == "Long X type").unwrap();
    assert_eq!(field(&simple, long.args, "stack").as_deref(), Some("frame7\nmain"));

    let threaded = profile("generated/tracing_chrome_threaded.json");
    let payload = threaded.threads.iter().find_map(|thread| thread.slices.args.first().copied().flatten());
    assert!(field(&threaded, payload, ".file").is_some_and(|file| file.ends_with(".rs")), "where it was written");

    let profile = of_text(
        r#"{"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"a","cat":"x","cname":"terrible","args":{"n":1,"f":1.5,"s":"t","b":true,"l":[1,{"k":null}],"big":123456789012345678901,"n":2}},
        {"ph":"X","ts":3,"dur":1,"name":"b","cat":"x","args":"__stripped__"},{"ph":"i","ts":3,"name":"c","stack":["root","leaf"]},
        {"ph":"B","ts":5,"name":"d","args":{"in":1}},{"ph":"E","ts":6,"args":{"out":2}},
        {"ph":"O","ts":7,"name":"obj","id":"0x1","args":{"snapshot":{"x":1}}},{"ph":"?","ts":8,"name":"odd"}],
        "samples":[{"cpu":0,"tid":0,"ts":9,"name":"cycles","sf":2,"weight":3},{"cpu":0,"tid":0,"ts":8,"name":"cycles","sf":3,"weight":1}],
        "stackFrames":{"1":{"name":"main"},"2":{"name":"f","parent":1},"3":{"name":"loop","parent":"3"}}}"#,
    );
    let thread = &profile.threads[0];
    let (a, b) = (thread.slices.get(0), thread.slices.get(1));
    let get = |key: &str| field(&profile, a.args, key).unwrap_or_default();
    assert_eq!(
        ["n", "f", "s", "b", "l", "big"].map(get),
        ["2", "1.5", "t", "true", r#"[1,{"k":null}]"#, "123456789012345678901"]
    );
    let color = |category: traceview_core::model::CategoryId| profile.categories[category.index()].color;
    assert_eq!(color(a.category), traceview_core::model::Color::Red);
    assert_ne!(a.category, b.category);
    assert_eq!(field(&profile, b.args, "args").as_deref(), Some("__stripped__"));
    let d = thread.slices.args[2];
    assert_eq!((field(&profile, d, "in").as_deref(), field(&profile, d, "out").as_deref()), (Some("1"), Some("2")));
    assert_eq!(frames(&profile, thread.markers.stack[0].unwrap()), ["leaf", "root"]);
    let object = thread.markers.payload[1];
    assert_eq!(
        ["event", "id", "snapshot"].map(|key| field(&profile, object, key).unwrap_or_default()),
        ["object snapshot", "0x1", r#"{"x":1}"#]
    );
    assert_eq!(warnings(&profile), [("unknown-phase", 1), ("args-not-an-object", 1)]);
    let stacks: Vec<_> = thread.samples.stack.iter().map(|stack| frames(&profile, stack.unwrap())).collect();
    assert_eq!(stacks, [vec!["loop"], vec!["f", "main"]]);
    assert_eq!([0, 1].map(|row| thread.samples.weight.get(row)), [1.0, 3.0]);
}

#[test]
fn samples_of_the_system_are_of_a_thread_that_has_something() {
    let profile = of_text(
        r#"{"traceEvents":[{"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"nothing"}},
        {"ph":"X","ts":1,"dur":1,"pid":2,"tid":7,"name":"a"},{"ph":"X","ts":1,"dur":1,"pid":3,"tid":7,"name":"b"}],
        "samples":[{"tid":7,"ts":9,"name":"cycles"}]}"#,
    );
    let found: Vec<_> = profile.threads.iter().map(|thread| (thread.slices.len(), thread.samples.len())).collect();
    assert_eq!(found, [(1, 1), (1, 0)]);
}

#[test]
fn profiles_of_v8_that_cannot_be_read_are_counted() {
    let text = r#"[{"ph":"X","ts":1,"dur":1,"name":"a","tid":1},
        {"ph":"P","ts":2,"name":"Profile","id":1,"tid":1,"args":{"data":{"startTime":2}}},
        {"ph":"P","ts":3,"name":"ProfileChunk","id":1,"tid":1,"args":{"data":{"cpuProfile":{
            "nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1,1,1]}}}}]"#;
    let profile = of_text(text);
    assert_eq!((profile.threads[0].samples.len(), warnings(&profile)), (0, vec![("sample-without-time", 3)]));
    let place = text.find(r#"{"ph":"P""#).map(|at| format!("byte {at}"));
    assert_eq!(profile.meta.warnings[0].first, place, "where the profile begins");
}

#[test]
fn a_stack_written_out_is_one_field_of_a_slice_and_none_of_an_instant() {
    let profile = of_text(
        r#"[{"ph":"X","ts":1,"dur":1,"name":"a","tid":1,"stack":["root","leaf"]},
        {"ph":"X","ts":3,"dur":1,"name":"b","tid":1,"stack":"text"},
        {"ph":"B","ts":5,"name":"c","tid":1,"stack":["begin"]},{"ph":"E","ts":6,"name":"c","tid":1,"stack":["end"]},
        {"ph":"i","ts":7,"name":"d","tid":1,"stack":["root","leaf"]}]"#,
    );
    let thread = &profile.threads[0];
    let stacks = |row: usize| -> Vec<String> {
        let fields = profile.payloads.get(thread.slices.args[row].expect("it has a stack"));
        let stacks = fields.iter().filter(|field| profile.string(field.key) == "stack");
        stacks.map(|_| field(&profile, thread.slices.args[row], "stack").expect("a text")).collect()
    };
    assert_eq!([0, 1, 2].map(stacks), [["leaf\nroot"], ["text"], ["begin"]]);
    assert_eq!((thread.markers.stack[0].is_some(), thread.markers.payload[0]), (true, None));
}

#[test]
fn numbers_that_are_too_large_are_noted_wherever_they_stand() {
    let noted = |text: &str| warning(&of_text(text), "value-out-of-range");
    let head = r#"{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":1}"#;
    let chunk = |deltas: &str| {
        let nodes = r#"[{"id":1,"callFrame":{"functionName":"f"}}]"#;
        format!(
            r#"[{head},{{"ph":"P","name":"Profile","id":1,"pid":1,"tid":1,"ts":0,"args":{{"data":{{"startTime":0}}}}}},
            {{"ph":"P","name":"ProfileChunk","id":1,"pid":1,"tid":1,"ts":1,"args":{{"data":{{"cpuProfile":
            {{"nodes":{nodes},"samples":[1,1,1]}},"timeDeltas":[{deltas}]}}}}}}]"#
        )
    };
    assert_eq!(noted(&chunk("1,2,3")), 0);
    assert_eq!(noted(&chunk("9000000000000000,9000000000000000,1")), 2);
    let samples = |ts: &str, weight: &str| {
        format!(r#"{{"traceEvents":[{head}],"samples":[{{"ts":{ts},"tid":1,"name":"f","weight":{weight}}}]}}"#)
    };
    assert_eq!([noted(&samples("1", "2.5")), noted(&samples("1", "1e19")), noted(&samples("1", "-1e300"))], [0, 1, 1]);
    let early = r#"{"ph":"X","name":"a","ts":-9000000000000000,"dur":1,"pid":1,"tid":1}"#;
    let late = r#"{"ph":"X","name":"b","ts":9000000000000000,"dur":1,"pid":1,"tid":1}"#;
    assert_eq!(noted(&format!("[{early}]")), 0);
    let profile = of_text(&format!("[{early},{late}]"));
    assert_eq!(warning(&profile, "value-out-of-range"), 2, "its time, and its end: {:?}", profile.meta.warnings);
}

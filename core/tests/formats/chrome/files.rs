//! All files of the collection: nothing of them is lost.

use std::collections::{BTreeMap, BTreeSet};

use traceview_core::format::chrome::events::EventTable;

use super::{is_async, profile, text, warning, warnings};

/// Name, events, threads (pairs of pid and tid with other events than metadata), events by phase, spans that are never closed,
/// ends whose name no open span of their thread has.
type Row = (&'static str, usize, usize, &'static str, usize, u64);

/// What the collection of these files says about them, counted by another program.
const FILES: &[Row] = &[
    ("devtools/async-js-calls.json.gz", 9108, 39, "X7018 I706 P330 s261 f261 b240 e238 M51 O1 D1 n1", 0, 0),
    ("devtools/basic-stack.json.gz", 10809, 17, "X8404 b884 e884 I465 P102 M32 R18 s8 f8 O2 N1 D1", 0, 0),
    ("devtools/basic.json.gz", 32, 2, "M30 I2", 0, 0),
    ("devtools/crux.json.gz", 7303, 20, "X5288 b507 e504 I433 P359 s68 f68 M27 R27 O9 n8 N2 D2 B1", 1, 0),
    (
        "devtools/dom-size-long.json.gz",
        119486,
        27,
        "n33823 s24927 f24927 b16144 X10667 e7214 I1032 P683 M35 O22 R5 D4 B2 N1",
        2,
        0,
    ),
    ("devtools/enhanced-traces.json.gz", 47, 5, "M30 I16 X1", 0, 0),
    ("devtools/example-dot-com.json.gz", 3927, 20, "X2682 b356 e355 I230 P170 s38 f38 M28 R20 n5 N2 O2 D1", 0, 0),
    ("devtools/http1.1.json.gz", 4657, 16, "X3187 I419 b357 e353 s90 f90 P85 R27 M25 n14 O6 N2 D2", 0, 0),
    ("devtools/idle-callback.json.gz", 12019, 17, "X9196 b847 e846 I482 P442 O133 M32 R21 s8 f8 N2 B1 D1", 1, 0),
    (
        "devtools/idle-tasks.json.gz",
        36760,
        41,
        "X19383 I6383 s4463 f4463 b680 e536 P389 T119 n75 S61 F61 M45 R39 C31 B26 O4 N1 D1",
        26,
        0,
    ),
    (
        "devtools/lcp-multiple-frames.json.gz",
        17185,
        18,
        "X11116 b1772 e1768 I1202 P771 s194 f194 R66 n53 M26 O16 N6 D1",
        0,
        0,
    ),
    ("devtools/mainWasm_profile.json.gz", 2991, 18, "X2748 I121 P66 M34 s4 f4 B3 b3 N2 O2 D2 e2", 3, 0),
    ("devtools/missing-url.json.gz", 32, 2, "M30 I2", 0, 0),
    (
        "devtools/multi-frame-dom-stats.json.gz",
        51595,
        30,
        "X33109 s4444 f4444 I3704 b2595 e2584 P570 R60 M39 O21 n14 N7 D3 B1",
        1,
        0,
    ),
    (
        "devtools/nested-interactions.json.gz",
        14596,
        16,
        "X8315 b1275 e1273 s1214 f1214 I1085 P149 M31 O28 N5 D5 R2",
        0,
        0,
    ),
    (
        "devtools/network-websocket-messages.json.gz",
        5137,
        21,
        "X3299 I849 b363 e363 P86 s47 f47 M30 R23 O12 n12 N3 D3",
        0,
        0,
    ),
    ("devtools/one-second-interaction.json.gz", 7535, 23, "X4225 b694 e692 s599 f599 I484 P202 M39 R1", 0, 0),
    ("devtools/postmessage-initiators.json.gz", 4284, 18, "X3168 b381 e381 I239 P77 M26 O6 B4 s1 f1", 4, 0),
    ("devtools/recursive-counting-js.json.gz", 6114, 15, "X5168 P472 I416 M33 R13 O4 N3 D3 B2", 2, 0),
    ("devtools/slow-interaction-keydown.json.gz", 8599, 26, "X6283 b643 e641 I514 P449 M43 O17 D3 R2 B2 N2", 2, 0),
    ("devtools/timer-initiators.json.gz", 3087, 15, "X1881 I590 b208 e208 P111 M32 O28 R13 s6 f6 N2 B1 D1", 1, 0),
    (
        "devtools/user-timings-complex.json.gz",
        11065,
        19,
        "X8926 b433 e433 P394 I276 s268 f268 M34 R25 O4 N2 B1 D1",
        1,
        0,
    ),
    (
        "devtools/web-dev-outermost-frames.json.gz",
        106110,
        56,
        "X76838 I15843 b4232 e4230 s1629 f1629 P1180 R213 O128 M68 N65 n31 D23 B1",
        1,
        0,
    ),
    ("devtools/web-dev.json.gz", 8252, 25, "X6753 I825 P152 s111 f111 b98 e91 M41 O22 N22 n10 D9 B7", 7, 0),
    ("catapult/async_begin_end.json", 35, 6, "S11 F10 T7 B3 E3 b1", 0, 0),
    ("catapult/flow.json", 5017, 9, "B1625 E1622 f886 s866 M18", 3, 0),
    ("catapult/flow_simple.json", 10, 5, "X5 s2 f2 t1", 0, 0),
    ("catapult/instance_counters.json", 12, 1, "C8 B2 E2", 0, 0),
    ("catapult/instant_events.json", 5, 3, "i5", 0, 0),
    ("catapult/main_thread_has_unclosed_slices.json", 3386, 22, "B1684 E1680 M22", 4, 0),
    ("catapult/nanoseconds.json", 16, 1, "B8 E8", 0, 0),
    ("catapult/nestable_async.json", 20, 1, "b9 e9 n2", 0, 0),
    ("catapult/simple_trace.json", 37, 4, "B8 E8 I6 C5 X4 P3 M3", 0, 1),
    ("catapult/tall_trace.json", 39, 16, "B18 E18 M3", 0, 0),
    ("catapult/traceviewify.json", 1312, 1, "B656 E656", 0, 0),
    ("catapult/trivial_trace.json", 4, 1, "B2 E2", 0, 0),
    ("catapult/webview.json.gz", 9334, 38, "X8041 B568 E568 R73 M43 O14 I14 S5 F5 N2 c1", 0, 0),
    ("catapult/x_event_trace.json", 4027, 3, "X2799 B442 E442 T124 i59 S53 F53 C42 M9 D2 N2", 0, 0),
    ("perfetto/args_ordered.json", 2, 2, "b2", 0, 0),
    ("perfetto/counters_json_counters.json", 3, 1, "C3", 0, 0),
    ("perfetto/display_time_unit_slices.json", 3, 1, "M1 B1 E1", 0, 0),
    ("perfetto/flow_events_json_v2.json", 8, 5, "X5 B1 i1 E1", 0, 0),
    ("perfetto/json_all_slice_types.json", 9, 3, "I4 B1 E1 X1 R1 i1", 0, 1),
    ("perfetto/json_counter_args.json", 1, 1, "C1", 0, 0),
    ("perfetto/json_flow.json", 9, 3, "I4 B1 E1 X1 R1 i1", 0, 1),
    ("perfetto/json_id2_global_int_id.json", 4, 1, "M2 b1 e1", 0, 0),
    ("perfetto/json_id2_local_int_id.json", 4, 1, "M2 b1 e1", 0, 0),
    ("perfetto/json_incomplete.json", 1, 1, "X1", 0, 0),
    ("perfetto/json_metadata_missing_or_invalid_ts.json", 3, 0, "M3", 0, 0),
    ("perfetto/json_sort_index_hints.json", 4, 1, "M3 X1", 0, 0),
    ("perfetto/json_thread_state.json", 7, 1, "T5 M2", 0, 0),
    ("perfetto/json_trace_metadata.json", 1, 1, "X1", 0, 0),
    ("perfetto/overlapping_complete_event_import_log.json", 2, 1, "X2", 0, 0),
    ("perfetto/same_ts_duration_slice_then_zero_duration_slice_unnesting.json", 2, 1, "X2", 0, 0),
    ("perfetto/same_ts_two_zero_duration_slice_nesting.json", 2, 1, "X2", 0, 0),
    ("perfetto/same_ts_zero_duration_slice_then_duration_slice_unnesting.json", 2, 1, "X2", 0, 0),
    ("perfetto/string_ts_and_dur.json", 3, 2, "B1 E1 X1", 0, 0),
    ("perfetto/string_tts_and_tdur.json", 1, 1, "X1", 0, 0),
    ("perfetto/x_event_order.json", 2, 2, "X2", 0, 0),
    ("pytorch/backward_thread.json", 7, 3, "X7", 0, 0),
    ("pytorch/rank_non_gpu.json.gz", 2467, 1, "X2467", 0, 0),
    ("pytorch/triton_example.json.gz", 71, 6, "M58 X8 s2 i2 f1", 0, 0),
    ("generated/node20_trace_events.json", 154, 1, "X35 b30 e27 B19 E19 M18 I6", 0, 0),
    ("generated/tracing_chrome_async.json", 372, 4, "b178 e178 i12 M4", 0, 0),
    ("generated/tracing_chrome_threaded.json", 372, 4, "B178 E178 i12 M4", 0, 0),
    ("generated/tracing_chrome_unfinished.json", 211, 4, "B104 E95 i8 M4", 9, 0),
    ("generated/viztracer_flow.json", 1218, 9, "X1208 M10", 0, 0),
];

#[test]
fn every_event_of_every_file_is_somewhere() {
    for (path, events, threads, phases, unclosed, other_names) in FILES {
        let text = text(path);
        let table = EventTable::read(&text).expect(path);
        assert_eq!(table.len(), *events, "{path}");
        let mut counted: BTreeMap<char, usize> = BTreeMap::new();
        table.phase.iter().for_each(|phase| *counted.entry(char::from(*phase)).or_default() += 1);
        let expected: BTreeMap<char, usize> =
            phases.split(' ').map(|one| (one.chars().next().unwrap(), one[1..].parse().unwrap())).collect();
        assert_eq!(counted, expected, "{path}");
        let pairs: BTreeSet<u32> =
            (0..table.len()).filter(|row| table.phase[*row] != b'M').map(|row| table.thread[row]).collect();
        assert_eq!(pairs.len(), *threads, "{path}");

        let profile = profile(path);
        let real = profile.threads.iter().filter(|thread| !is_async(thread)).count();
        // Events without a tid are of the thread with the process's id there (in Perfetto too), where they were counted as of
        // one more.
        let merged = usize::from(["catapult/simple_trace.json", "perfetto/x_event_order.json"].contains(path));
        assert_eq!(real, *threads - merged, "{path}: {:?}", profile.meta.warnings);

        let count = |phases: &str| phases.chars().map(|phase| counted.get(&phase).copied().unwrap_or(0)).sum::<usize>();
        let states = if *path == "perfetto/json_thread_state.json" { 5 } else { 0 };
        let waits: usize = profile.threads.iter().map(|thread| thread.waits.len()).sum();
        let slices: usize = profile.threads.iter().map(|thread| thread.slices.len()).sum();
        assert_eq!(slices, count("XBbS"), "{path}");
        let markers: usize = profile.threads.iter().map(|thread| thread.markers.len()).sum();
        let instants = count("iIRNODvVc()nTp") - states + (states - waits);
        let without_begin = warning(&profile, "end-without-begin") as usize;
        let single_samples = warning(&profile, "sample-without-stack") as usize;
        assert_eq!(markers, instants + without_begin + single_samples, "{path}: {:?}", warnings(&profile));

        let incomplete =
            profile.threads.iter().flat_map(|thread| &thread.slices.incomplete).filter(|one| **one).count();
        let without_end = warning(&profile, "never-ended") + warning(&profile, "no-duration");
        assert_eq!(without_end as usize, incomplete, "{path}");
        let of_threads = profile.threads.iter().filter(|thread| !is_async(thread));
        let unclosed_here = of_threads.flat_map(|thread| &thread.slices.incomplete).filter(|one| **one).count();
        assert_eq!(unclosed_here - warning(&profile, "no-duration") as usize, *unclosed, "{path}");
        assert_eq!(warning(&profile, "end-of-other-name"), *other_names, "{path}: {:?}", warnings(&profile));
    }
}

//! Flows of Chrome traces, against what other tools find.

use serde_json::{Value, json};
use traceview_core::format::chrome::events::EventTable;
use traceview_core::format::chrome::flows::{Unbound, devtools, devtools_json};
use traceview_core::format::{FlowBinding, ReadOptions, read};

use traceview_core::model::{FlowAnchor, FlowMember, FlowPhase, Profile};

use super::{fixtures, sha256};

/// The flows that DevTools finds in a file, each event as `[name, cat, ph, ts, pid, tid]`.
fn devtools_list(path: &str) -> Vec<Value> {
    let text = fixtures::text(&format!("trace/{path}"));
    let table = EventTable::read(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let json: Value = serde_json::from_str(&devtools_json(&table, &devtools(&table))).expect(path);
    let event =
        |event: &Value| Value::from(["name", "cat", "ph", "ts", "pid", "tid"].map(|key| event[key].clone()).to_vec());
    let flow = |flow: &Value| flow.as_array().expect(path).iter().map(event).collect();
    json["flows"].as_array().expect(path).iter().map(flow).collect()
}

/// JavaScript has one sort of number.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| same(found, expected))
        }
        (Value::Number(found), Value::Number(expected)) => found.as_f64() == expected.as_f64(),
        _ => found == expected,
    }
}

/// The text that JavaScript makes of a list: no space, whole numbers without a fraction.
fn canonical(list: &[Value]) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    write(value, out);
                }
                out.push(']');
            }
            Value::Number(number) => out.push_str(&number.as_f64().expect("a double").to_string()),
            other => out.push_str(&other.to_string()),
        }
    }
    let mut out = String::new();
    write(&json!(list), &mut out);
    out
}

#[test]
fn devtools_rule_finds_in_every_file_what_devtools_finds() {
    let index = String::from_utf8(fixtures::bytes("trace/expected/flows.jsonl")).expect("text");
    let mut compared = (0, 0);
    for line in index.lines() {
        let row: Value = serde_json::from_str(line).expect(line);
        let path = row["file"].as_str().expect(line);
        // What DevTools does not read, and CPU profiles, in which it makes up events.
        if row.get("error").is_some() || path.contains(".cpuprofile") {
            continue;
        }
        let found = devtools_list(path);
        let bound: usize = found.iter().map(|flow| flow.as_array().map_or(0, Vec::len)).sum();
        assert_eq!((json!(found.len()), json!(bound)), (row["flows"].clone(), row["bound"].clone()), "{path}");
        assert_eq!(&sha256::hex(canonical(&found).as_bytes())[..12], row["sha256_12"], "{path}");
        if let Some(list) = row["out"].as_str() {
            assert!(same(&json!(found), &fixtures::json(&format!("trace/expected/{list}"))), "{path}");
            compared.1 += 1;
        }
        compared.0 += 1;
    }
    assert_eq!(compared, (114, 41));
}

#[test]
fn devtools_rule_finds_in_every_handmade_file_what_devtools_finds() {
    let names = fixtures::names("trace/handmade/expected");
    let names: Vec<_> = names.iter().filter_map(|name| name.strip_suffix(".devtools_flows.json")).collect();
    assert_eq!(names.len(), 46);
    for name in names {
        let expected = fixtures::json(&format!("trace/handmade/expected/{name}.devtools_flows.json"));
        let found = json!(devtools_list(&format!("handmade/{name}.json")));
        assert!(same(&found, &expected["flows"]), "{name}: {found}");
    }
}

/// The arrows of a file: what each leaves and where it leads, by name.
fn arrows(profile: &Profile) -> Vec<String> {
    let mut arrows = Vec::new();
    for flow in 0..profile.flows.len() {
        let mut source: Option<&FlowMember> = None;
        for member in profile.flows.members_of(flow) {
            if let Some(source) = source {
                arrows.push(format!("{}→{}", anchor(profile, source), anchor(profile, member)));
            }
            if member.phase != FlowPhase::End || source.is_none() {
                source = Some(member);
            }
        }
    }
    arrows
}

fn profile(path: &str) -> Profile {
    fixtures::read(&format!("trace/{path}")).expect(path).profile
}

fn anchor<'a>(profile: &'a Profile, member: &FlowMember) -> &'a str {
    let thread = &profile.threads[member.thread.index()];
    match member.anchor {
        FlowAnchor::Slice(slice) => profile.string(thread.slices.name[slice.index()]),
        FlowAnchor::Marker(marker) => profile.string(thread.markers.name[marker.index()]),
        FlowAnchor::Thread => "(thread)",
    }
}

fn unbound(profile: &Profile) -> Vec<(String, u64)> {
    let warnings = profile.meta.warnings.iter();
    warnings.filter(|one| Unbound::of(one).is_some()).map(|one| (one.code.clone(), one.count)).collect()
}

/// A file, its arrows, and why which phases are in no flow.
type Edges = (&'static str, &'static [&'static str], &'static [(&'static str, u64)]);

/// Each looked up in its file by hand.
const EDGES: &[Edges] = &[
    // `f` without `bp` at the very start of Blergh; a step inside OtherSlice; an end 1 µs before SomeSlice.
    ("catapult/flow_simple.json", &["SenderB→Blergh", "SenderA→OtherSlice", "OtherSlice→SomeSlice"], &[]),
    ("perfetto/flow_events_json_v1.json", &["SenderB→Blergh", "SenderA→OtherSlice", "OtherSlice→SomeSlice"], &[]),
    (
        "perfetto/flow_events_json_v2.json",
        &["SenderB→Blergh", "SenderA→OtherSlice", "OtherSlice→SomeSlice", "OtherSlice→SomeOtherSlice"],
        &[],
    ),
    (
        "perfetto/connected_flow_data.json",
        &[
            "Flow1_Slice0→Flow1_Slice1b",
            "Flow1_Slice0→Flow1_Slice1a",
            "Flow0_Slice0→Flow0_Slice1",
            "Flow2_Slice0→Flow2_Slice1",
            "Flow2_Slice1→Flow2_Slice2",
            "Flow2_Slice2→Flow2_Slice3b",
            "Flow2_Slice2a→Flow2_Slice3a",
        ],
        &[],
    ),
    // Another category than that of the slices; the second start is a synchronization that nothing comes of.
    ("pytorch/triton_example.json.gz", &["cuLaunchKernel→triton_poi_fused_add_cos_sin_0"], &[("flow-no-end", 1)]),
    ("handmade/flow_basic.json", &["A→B", "B→C"], &[]),
    ("handmade/flow_bp_e_basic.json", &["A→B"], &[]),
    ("handmade/flow_bp_e_fan_out_two_ends.json", &["A→B", "A→C"], &[]),
    ("handmade/flow_bp_e_id_reused_after_end.json", &["A→B", "C→D"], &[]),
    ("handmade/flow_bp_e_phase_before_slice_in_file.json", &["A→B"], &[]),
    ("handmade/flow_cat_empty_vs_missing.json", &["A→B"], &[]),
    ("handmade/flow_cat_mismatch.json", &["A→B"], &[]),
    ("handmade/flow_end_before_start_in_file.json", &["A→B"], &[]),
    ("handmade/flow_event_in_two_flows.json", &["A→B", "B→C"], &[]),
    ("handmade/flow_fan_out.json", &["A→B", "B→C", "C→D", "D→E"], &[]),
    ("handmade/flow_file_order_phase_first.json", &["A→B", "B→C"], &[]),
    ("handmade/flow_first_event_is_E.json", &["A→B"], &[]),
    ("handmade/flow_first_event_is_instant_or_counter.json", &["A→B"], &[]),
    ("handmade/flow_first_event_wins.json", &["inner→B"], &[]),
    ("handmade/flow_id2_only.json", &["A→B"], &[]),
    ("handmade/flow_id_hex_vs_decimal.json", &["A→B"], &[]),
    ("handmade/flow_id_reused_after_end.json", &["A→B", "C→D"], &[]),
    ("handmade/flow_id_string_vs_number.json", &["A→B", "C→D"], &[]),
    ("handmade/flow_inside_slice.json", &["A→B"], &[]),
    ("handmade/flow_metadata_event_binds.json", &["A→B"], &[]),
    ("handmade/flow_next_slice.json", &["A→B"], &[]),
    ("handmade/flow_no_cat.json", &["A→B"], &[]),
    ("handmade/flow_no_id.json", &[], &[("flow-no-id", 3)]),
    ("handmade/flow_no_id_two_starts.json", &[], &[("flow-no-id", 4)]),
    ("handmade/flow_out_of_order_list.json", &["A→B", "B→C"], &[]),
    ("handmade/flow_pid_string_vs_number.json", &["A→B"], &[]),
    ("handmade/flow_same_id_two_cats.json", &["A→B", "C→D"], &[]),
    ("handmade/flow_same_id_two_names.json", &["A→B", "C→D"], &[]),
    ("handmade/flow_same_ts_only_pair.json", &["A→B"], &[]),
    ("handmade/flow_same_ts_two_threads.json", &["A→B", "B→C"], &[]),
    ("handmade/flow_single_bound_event_dropped.json", &["A→B"], &[]),
    ("handmade/flow_start_twice_no_end.json", &["A2→B"], &[("flow-no-end", 1)]),
    ("handmade/flow_step_after_end.json", &["A→B", "A→C"], &[]),
    ("handmade/flow_step_without_start.json", &[], &[("flow-no-start", 2)]),
    ("handmade/flow_token_separator_clash.json", &[], &[("flow-no-end", 1), ("flow-no-start", 1)]),
    ("handmade/flow_ts_fraction.json", &["A→B"], &[]),
    ("handmade/flow_ts_negative_zero.json", &["A→B"], &[]),
    ("handmade/flow_ts_string.json", &["A→B"], &[]),
    ("handmade/flow_two_cycles_interleaved.json", &["A→C", "B→D"], &[]),
    ("handmade/flow_v2_bind_id.json", &["A→B", "B→C"], &[]),
];

#[test]
fn each_arrow_of_the_small_files_is_the_one_a_person_expects() {
    for (path, edges, none) in EDGES {
        let profile = profile(path);
        assert_eq!(arrows(&profile), *edges, "{path}");
        let none: Vec<_> = none.iter().map(|(why, count)| ((*why).to_owned(), *count)).collect();
        assert_eq!(unbound(&profile), none, "{path}");
    }
    let handmade = fixtures::names("trace/handmade");
    let flows = handmade.iter().filter(|name| name.starts_with("flow_")).count();
    assert_eq!(EDGES.iter().filter(|(path, ..)| path.starts_with("handmade/")).count(), flows);
}

/// A file, how many arrows it has, and why which phases are in no flow.
type Counts = (&'static str, usize, &'static [(&'static str, u64)]);

const COUNTS: &[Counts] = &[
    // Each of the 886 ends has its arrow, or its start was in no slice, or it has none.
    (
        "catapult/flow.json",
        588,
        &[("flow-no-slice", 265), ("flow-alone", 258), ("flow-no-start", 40), ("flow-no-end", 13)],
    ),
    // As many as Perfetto finds.
    ("catapult/webview.json.gz", 624, &[("flow-no-end", 34)]),
    ("devtools/async-js-calls.json.gz", 261, &[]),
    ("devtools/basic-stack.json.gz", 8, &[]),
    ("devtools/crux.json.gz", 68, &[]),
    ("devtools/dom-size-long.json.gz", 24927, &[]),
    ("devtools/example-dot-com.json.gz", 38, &[]),
    ("devtools/http1.1.json.gz", 90, &[]),
    ("devtools/idle-callback.json.gz", 8, &[]),
    ("devtools/idle-tasks.json.gz", 4463, &[]),
    ("devtools/lcp-multiple-frames.json.gz", 194, &[]),
    ("devtools/mainWasm_profile.json.gz", 4, &[]),
    ("devtools/multi-frame-dom-stats.json.gz", 4444, &[]),
    ("devtools/nested-interactions.json.gz", 1214, &[]),
    ("devtools/network-websocket-messages.json.gz", 47, &[]),
    ("devtools/one-second-interaction.json.gz", 599, &[]),
    ("devtools/postmessage-initiators.json.gz", 1, &[]),
    ("devtools/timer-initiators.json.gz", 6, &[]),
    ("devtools/user-timings-complex.json.gz", 268, &[]),
    ("devtools/web-dev-outermost-frames.json.gz", 1629, &[]),
    ("devtools/web-dev.json.gz", 111, &[]),
    ("generated/viztracer_flow.json", 0, &[]),
];

#[test]
fn each_flow_of_chrome_has_its_arrow() {
    for (path, count, none) in COUNTS {
        let profile = profile(path);
        assert_eq!(arrows(&profile).len(), *count, "{path}");
        let none: Vec<_> = none.iter().map(|(why, count)| ((*why).to_owned(), *count)).collect();
        assert_eq!(unbound(&profile), none, "{path}");
    }
}

#[test]
fn the_profile_has_devtools_flows_on_request() {
    let options = ReadOptions { flow_binding: FlowBinding::DevTools, ..ReadOptions::default() };
    for (path, flows, members) in [
        ("handmade/flow_out_of_order_list.json", 1, 3),
        ("handmade/flow_metadata_event_binds.json", 1, 2),
        ("handmade/flow_cat_mismatch.json", 0, 0),
        ("devtools/idle-tasks.json.gz", 764, 1528),
    ] {
        let bytes = fixtures::bytes(&format!("trace/{path}"));
        let profile = read(&bytes, &options).expect(path).profile;
        assert_eq!((profile.flows.len(), profile.flows.members.len()), (flows, members), "{path}");
        for flow in 0..profile.flows.len() {
            assert!(profile.flows.members_of(flow).is_sorted_by_key(|member| member.time), "{path}");
        }
    }
}

#[test]
fn markers_of_firefox_lead_from_one_to_the_next() {
    let arrows = |path: &str| arrows(&fixtures::read(path).expect(path).profile);
    assert_eq!(arrows("gecko/v70-flow-markers.json"), ["Send→Work", "Work→Recv"]);
    let messages = arrows("gecko/gecko-36-browser.json");
    assert_eq!(messages, ["IPC→IPC"; 4], "sent, through the pipe, received");
}

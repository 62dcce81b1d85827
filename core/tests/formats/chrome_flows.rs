//! Flows of Chrome traces, against what other tools find.

use serde_json::{Value, json};
use traceview_core::format::chrome::events::EventTable;
use traceview_core::format::chrome::flows::{devtools, devtools_json};

use traceview_core::model::{FlowAnchor, FlowMember, FlowPhase, Profile};

use super::{fixtures, sha256};

/// The flows that DevTools finds in a file, each event as `[name, cat, ph, ts, pid, tid]`.
fn devtools_list(path: &str) -> Vec<Value> {
    let text = fixtures::text(&format!("trace/{path}"));
    let table = EventTable::read(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let json: Value = serde_json::from_str(&devtools_json(&table, &devtools(&table))).expect(path);
    let event = |event: &Value| Value::from(["name", "cat", "ph", "ts", "pid", "tid"].map(|key| event[key].clone()).to_vec());
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
    assert_eq!(compared, (97, 41));
}

#[test]
fn devtools_rule_finds_in_every_handmade_file_what_devtools_finds() {
    let names = fixtures::names("trace/handmade/expected");
    let names: Vec<_> = names.iter().filter_map(|name| name.strip_suffix(".devtools_flows.json")).collect();
    assert_eq!(names.len(), 43);
    for name in names {
        let expected = fixtures::json(&format!("trace/handmade/expected/{name}.devtools_flows.json"));
        let found = json!(devtools_list(&format!("handmade/{name}.json")));
        assert!(same(&found, &expected["flows"]), "{name}: {found}");
    }
}

/// The arrows of a file: what each leaves and where it leads, by name.
fn arrows(path: &str) -> Vec<String> {
    let profile = fixtures::read(&format!("trace/{path}")).expect(path).profile;
    let mut arrows = Vec::new();
    for flow in 0..profile.flows.len() {
        let mut source: Option<&FlowMember> = None;
        for member in profile.flows.members_of(flow) {
            if let Some(source) = source {
                arrows.push(format!("{}→{}", anchor(&profile, source), anchor(&profile, member)));
            }
            if member.phase != FlowPhase::End || source.is_none() {
                source = Some(member);
            }
        }
    }
    arrows
}

fn anchor<'a>(profile: &'a Profile, member: &FlowMember) -> &'a str {
    let thread = &profile.threads[member.thread.index()];
    match member.anchor {
        FlowAnchor::Slice(slice) => profile.string(thread.slices.name[slice.index()]),
        FlowAnchor::Marker(marker) => profile.string(thread.markers.name[marker.index()]),
        FlowAnchor::Thread => "(thread)",
    }
}

fn unbound(path: &str) -> Vec<(String, u64)> {
    let profile = fixtures::read(&format!("trace/{path}")).expect(path).profile;
    let warnings = profile.meta.warnings.iter();
    warnings.filter(|one| one.code.starts_with("flow-")).map(|one| (one.code.clone(), one.count)).collect()
}

#[test]
fn scratch() {
    for path in ["catapult/flow_simple.json", "catapult/flow.json","catapult/webview.json.gz","perfetto/flow_events_json_v1.json","perfetto/flow_events_json_v2.json","perfetto/connected_flow_data.json","pytorch/triton_example.json.gz"] {
        let arrows = arrows(path);
        println!("{path} {} {:?} {:?}", arrows.len(), &arrows[..arrows.len().min(12)], unbound(path));
    }
    for name in fixtures::names("trace/handmade").iter().filter(|name| name.starts_with("flow_")) {
        println!("{name} {:?} {:?}", arrows(&format!("handmade/{name}")), unbound(&format!("handmade/{name}")));
    }
    for name in fixtures::names("trace/devtools").iter().filter(|name| name.ends_with(".json.gz")) {
        println!("{name} {:?} {:?}", arrows(&format!("devtools/{name}")).len(), unbound(&format!("devtools/{name}")));
    }
}

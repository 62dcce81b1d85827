//! Flows of other files, for the Firefox Profiler: read again as a tool reads them that knows nothing of what we say besides.

use serde_json::Value;
use traceview_core::format::{self, ReadOptions, WriteOptions};
use traceview_core::model::{FlowAnchor, Profile, Warning};

use crate::fixtures;

fn written(profile: &Profile) -> (Vec<u8>, Vec<Warning>) {
    let target = format::Target { format: format::by_name("firefox").expect("a format"), gzip: false };
    let mut bytes = Vec::new();
    let repairs = format::write(profile, target, &WriteOptions::default(), &mut bytes).expect("memory takes it");
    (bytes, repairs)
}

/// The file without what only we know.
fn foreign(bytes: &[u8]) -> Profile {
    let mut file: Value = serde_json::from_slice(bytes).expect("JSON");
    assert!(file["meta"].as_object_mut().expect("an object").remove("traceview").is_some());
    for thread in file["threads"].as_array_mut().expect("a list") {
        thread.as_object_mut().expect("an object").remove("traceview");
    }
    format::read(file.to_string().as_bytes(), &ReadOptions::default()).expect("it can be read").profile
}

/// Names and starts of what each flow passes through.
fn flows(profile: &Profile) -> Vec<Vec<(i64, String)>> {
    let of_flow = |flow: usize| {
        let members = profile.flows.members_of(flow).iter().map(|member| {
            let thread = &profile.threads[member.thread.index()];
            let (time, name) = match member.anchor {
                FlowAnchor::Slice(slice) => (thread.slices.start[slice.index()], thread.slices.name[slice.index()]),
                FlowAnchor::Marker(marker) => (member.time, thread.markers.name[marker.index()]),
                FlowAnchor::Thread => panic!("nothing is bound to a thread"),
            };
            (time.0, profile.string(name).to_owned())
        });
        let mut members: Vec<_> = members.collect();
        members.sort();
        members
    };
    let mut flows: Vec<_> = (0..profile.flows.len()).map(of_flow).collect();
    flows.sort();
    flows
}

#[test]
fn flows_of_traces_are_flows_of_markers() {
    let mut count = 0;
    for path in [
        "trace/catapult/flow_simple.json",
        "trace/perfetto/flow_events_json_v2.json",
        "trace/perfetto/connected_flow_data.json",
        "trace/catapult/flow.json",
        "trace/catapult/webview.json.gz",
        "trace/devtools/nested-interactions.json.gz",
        "trace/devtools/idle-tasks.json.gz",
        "trace/generated/viztracer_flow.json",
        "trace/handmade/flow_event_in_two_flows.json",
        "trace/handmade/flow_id_reused_after_end.json",
    ] {
        let profile = fixtures::read(path).expect(path).profile;
        let (bytes, repairs) = written(&profile);
        let left_out = repairs.iter().filter(|repair| repair.code == "flows-not-shown").map(|repair| repair.count);
        assert_eq!(left_out.sum::<u64>(), 0, "{path}");
        let read = foreign(&bytes);
        assert_eq!(flows(&read), flows(&profile), "{path}");
        let own = format::read(&bytes, &ReadOptions::default()).expect("it can be read").profile;
        assert!(own == profile, "{path} comes back changed");
        count += profile.flows.len();
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn markers_of_firefox_say_their_flows_themselves() {
    let profile = fixtures::read("gecko/v70-flow-markers.json").expect("a profile").profile;
    assert!(!profile.flows.is_empty());
    let (bytes, _) = written(&profile);
    assert!(!String::from_utf8_lossy(&bytes).contains("tv-flow"));
    assert_eq!(flows(&foreign(&bytes)), flows(&profile));
}

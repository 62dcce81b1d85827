//! Files of other tools: the same format without our key.

use serde_json::{Value, json};
use traceview_core::model::{CpuDelta, FieldValue, MarkerTiming, Nanos, OsId, Time, Values};
use traceview_tests::rich_profile::rich_profile;

use super::{json as parsed, read, written};

/// The rich file as another tool could have written it.
fn foreign() -> Value {
    let mut file = parsed(&written(&rich_profile()));
    file["meta"].as_object_mut().expect("an object").remove("traceview");
    for thread in file["threads"].as_array_mut().expect("threads") {
        thread.as_object_mut().expect("an object").remove("traceview");
    }
    file
}

#[test]
fn samples_markers_and_counters_are_read() {
    let rich = rich_profile();
    let profile = read(foreign().to_string().as_bytes()).expect("a valid file");
    assert_eq!(profile.meta.name, rich.meta.name);
    assert_eq!(profile.meta.start_monotonic_ns, rich.meta.start_monotonic_ns);
    assert_eq!(profile.meta.warnings, []);
    assert_eq!(profile.threads.len(), 4);
    assert_eq!(profile.processes.len(), 2, "threads of one pid are of one process");
    assert_eq!(profile.processes[0].pid, OsId::Number(4_242));
    let rows = &profile.threads[0].samples;
    // Waits are rows like others here.
    assert_eq!(rows.len(), parsed(&written(&rich))["threads"][0]["samples"]["length"].as_u64().expect("rows") as usize);
    assert_eq!(rows.time[..2], [Time(1_000_000), Time(2_000_001)]);
    assert_eq!(rows.cpu[1], CpuDelta::new(Nanos(999_999)));
    let leaf = profile.leaf_function(rows.stack[0].expect("a stack"));
    assert_eq!(profile.string(profile.functions.name[leaf.index()]), "demo::Vec<T>::push");
    let markers = &profile.threads[1].markers;
    assert_eq!(markers.timing[0], MarkerTiming::Instant(Time(7)));
    let schema = &profile.marker_schemas[markers.schema[0].expect("a schema").index()];
    assert_eq!(profile.string(schema.name), "tv-Lock");
    let fields = profile.payloads.get(markers.payload[0].expect("data"));
    let value = |name: &str| {
        let field = fields.iter().find(|field| profile.string(field.key) == name);
        &field.unwrap_or_else(|| panic!("{name}")).value
    };
    let FieldValue::Text(flow) = value("flow") else { panic!("a row of the string table") };
    assert_eq!(profile.string(*flow), "lock");
    assert_eq!(*value("size"), FieldValue::Integer(i64::MIN));
    assert_eq!(profile.counters.len(), 3);
    assert_eq!(profile.counters[0].delta[..2], [0.0, 4096.5]);
}

#[test]
fn time_deltas_microseconds_and_missing_columns_are_understood() {
    let mut file = foreign();
    file["meta"]["sampleUnits"]["threadCPUDelta"] = json!("\u{b5}s");
    let thread = &mut file["threads"][0];
    thread["samples"] =
        json!({"stack": [0, null, 1], "timeDeltas": [5, 0.000001, 2], "threadCPUDelta": [null, 3, 0.5], "length": 3});
    thread["jsAllocations"] = json!({"anything": []});
    let profile = read(file.to_string().as_bytes()).expect("a valid file");
    let samples = &profile.threads[0].samples;
    assert_eq!(samples.time, [Time(5_000_000), Time(5_000_001), Time(7_000_001)]);
    assert_eq!(samples.weight, Values::Ones);
    assert_eq!(samples.cpu, [CpuDelta::UNKNOWN, CpuDelta::new(Nanos(3_000)), CpuDelta::new(Nanos(500))]);
    let warning = &profile.meta.warnings[0];
    assert_eq!(
        (&*warning.code, warning.first.as_deref()),
        ("column-unknown", Some("threads[0].jsAllocations.anything"))
    );
}

#[test]
fn versions_that_are_not_known_are_refused_by_number() {
    // Their structure may differ, so that the number has to be found although the file cannot be parsed.
    for (file, version) in [
        (json!({"meta": {"preprocessedProfileVersion": 71}, "threads": {}}), "71"),
        (json!({"meta": {"preprocessedProfileVersion": -1}, "libs": [], "threads": []}), "-1"),
        (json!({"meta": {"preprocessedProfileVersion": 54.5}, "threads": []}), "54.5"),
        (json!({"meta": {"preprocessedProfileVersion": "64"}, "threads": []}), "\"64\""),
        (json!({"meta": {"preprocessedProfileVersion": 1e9}, "threads": []}), "1000000000"),
    ] {
        let error = read(file.to_string().as_bytes()).expect_err(version).to_string();
        assert_eq!(error, format!("version {version} of Firefox profiles is not supported (0 to 70 is)"));
    }
}

//! Files of every format, written as Chrome traces and read again.

use std::collections::BTreeMap;

use traceview_core::format::{self, ReadOptions, Target, WriteOptions};
use traceview_core::model::{
    FieldValue, FlowAnchor, FlowMember, MarkerTiming, PayloadId, Profile, StringId, Thread, ThreadId, Time, Warning,
};

use super::fixtures;

fn written(profile: &Profile) -> (Vec<u8>, Vec<Warning>) {
    let target = Target { format: format::by_name("chrome").expect("a format"), gzip: false };
    let mut text = Vec::new();
    let warnings = format::write(profile, target, &WriteOptions::default(), &mut text).expect("memory does not fail");
    (text, warnings)
}

fn again(text: &[u8]) -> Profile {
    let contents = format::read(text, &ReadOptions::default()).expect("it can be read");
    assert_eq!(contents.format.name, "chrome");
    contents.profile
}

fn count(warnings: &[Warning], code: &str) -> u64 {
    warnings.iter().find(|warning| warning.code == code).map_or(0, |warning| warning.count)
}

fn args(profile: &Profile, id: Option<PayloadId>) -> String {
    let fields = id.map_or(&[][..], |id| profile.payloads.get(id));
    let text = |id: StringId| profile.string(id);
    let mut args = String::new();
    for field in fields {
        args += text(field.key);
        args += &match field.value {
            FieldValue::Text(value) => format!("={:?},", text(value)),
            FieldValue::Json(value) => format!("=json {},", text(value)),
            other => format!("={other:?},"),
        };
    }
    args
}

/// Process, thread, name, start, duration, arguments.
type SliceFacts = (String, String, String, i64, i64, String);

/// How often there are such slices. Where ids can differ, threads go by their names.
fn slices(profile: &Profile, by_name: bool) -> BTreeMap<SliceFacts, i64> {
    let mut found = BTreeMap::new();
    for thread in &profile.threads {
        let process = &profile.processes[thread.process.index()];
        let name = |id: StringId| profile.string(id).to_owned();
        let [pid, tid] = if by_name {
            [process.name, thread.name].map(name)
        } else {
            [process.pid.to_string(), format!("{} {}", thread.tid, name(thread.name))]
        };
        for row in 0..thread.slices.len() {
            let slice = thread.slices.get(row);
            let args = args(profile, slice.args);
            let facts = (pid.clone(), tid.clone(), name(slice.name), slice.start.0, slice.duration.0, args);
            *found.entry(facts).or_insert(0) += 1;
        }
    }
    found
}

/// Names and starts of markers that last, which are slices when they are read again.
fn spans(profile: &Profile) -> BTreeMap<(String, i64), i64> {
    let mut found = BTreeMap::new();
    for thread in &profile.threads {
        for (name, timing) in thread.markers.name.iter().zip(&thread.markers.timing) {
            if let MarkerTiming::Interval(start, _) | MarkerTiming::Start(start) = timing {
                *found.entry((profile.string(*name).to_owned(), start.0)).or_insert(0) += 1;
            }
        }
    }
    found
}

fn place(profile: &Profile, member: &FlowMember) -> (String, i64, String) {
    let thread = &profile.threads[member.thread.index()];
    let name = |id: StringId| profile.string(id).to_owned();
    let time = |timing: &MarkerTiming| match *timing {
        MarkerTiming::Instant(time) | MarkerTiming::Interval(time, _) => time.0,
        MarkerTiming::Start(time) | MarkerTiming::End(time) => time.0,
    };
    match member.anchor {
        FlowAnchor::Slice(slice) => {
            let slice = thread.slices.get(slice.index());
            (name(slice.name), slice.start.0, args(profile, slice.args))
        }
        FlowAnchor::Marker(marker) => {
            let row = marker.index();
            (name(thread.markers.name[row]), time(&thread.markers.timing[row]), String::new())
        }
        FlowAnchor::Thread => (name(thread.name), member.time.0, String::new()),
    }
}

/// Name, category and what it passes through, of each flow.
type FlowFacts = (String, String, Vec<(String, i64, i64)>);

fn flows(profile: &Profile) -> Vec<FlowFacts> {
    let flows = &profile.flows;
    let of_flow = |flow: usize| {
        let members = flows.members_of(flow).iter().map(|member| {
            let (name, start, _) = place(profile, member);
            (name, start, member.time.0)
        });
        let (name, category) = (profile.string(flows.name[flow]), profile.string(flows.category[flow]));
        (name.to_owned(), category.to_owned(), members.collect())
    };
    let mut found: Vec<FlowFacts> = (0..flows.len()).map(of_flow).collect();
    found.sort();
    found
}

#[test]
fn every_file_of_every_format_comes_back_with_its_slices_and_flows() {
    let mut total = (0, 0, 0);
    for (path, contents) in fixtures::profiles() {
        let profile = contents.profile;
        let (text, warnings) = written(&profile);
        assert!(written(&profile).0 == text, "{path} is not the same twice");
        let read = again(&text);
        let by_name = count(&warnings, "ids-changed") > 0;
        let (expected, mut found) = (slices(&profile, by_name), slices(&read, by_name));
        for (slice, number) in &expected {
            let left = found.entry(slice.clone()).or_insert(0);
            *left -= number;
            if *left < 0 {
                eprintln!("{path}: {slice:?} is missing");
            }
            total.0 += number;
        }
        let mut rest: BTreeMap<(String, i64), i64> = BTreeMap::new();
        for ((_, _, name, start, ..), number) in found.into_iter().filter(|(_, number)| *number > 0) {
            *rest.entry((name, start)).or_insert(0) += number;
        }
        if rest != spans(&profile) {
            eprintln!("{path}: other slices {} {}", rest.len(), spans(&profile).len());
        }
        let (expected, found) = (flows(&profile), flows(&read));
        let lost = count(&warnings, "flows-elsewhere");
        total.1 += expected.len();
        total.2 += 1;
        if lost > 0 || expected != found {
            let different = expected.iter().filter(|flow| found.binary_search(flow).is_err()).count();
            eprintln!("{path}: flows {} {} lost {lost}, different {different}", expected.len(), found.len());
        }
        let odd: Vec<_> = warnings.iter().map(|one| (&*one.code, one.count)).collect();
        eprintln!("{path}: {odd:?} -> {:?}", super::warnings(&read));
    }
    eprintln!("{total:?}");
}

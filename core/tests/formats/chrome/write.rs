//! Files of every format, written as Chrome traces and read again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// How often there are slices with these facts: process, thread, name, start, duration, arguments. Where ids can differ, threads
/// go by their names.
fn slices(profile: &Profile, by_name: bool) -> HashMap<u64, i64> {
    let mut found = HashMap::new();
    for thread in &profile.threads {
        let process = &profile.processes[thread.process.index()];
        let name = |id: StringId| profile.string(id);
        let ids = if by_name { name(process.name).to_owned() } else { format!("{} {}", process.pid, thread.tid) };
        for row in 0..thread.slices.len() {
            let slice = thread.slices.get(row);
            let args = args(profile, slice.args);
            let mut hasher = DefaultHasher::new();
            (&ids, name(thread.name), name(slice.name), slice.start.0, slice.duration.0, args).hash(&mut hasher);
            *found.entry(hasher.finish()).or_insert(0) += 1;
        }
    }
    found
}

/// How many markers last, other than states of threads.
fn spans(profile: &Profile) -> i64 {
    let mut count = 0;
    for thread in &profile.threads {
        for (payload, timing) in thread.markers.payload.iter().zip(&thread.markers.timing) {
            let lasts = matches!(timing, MarkerTiming::Interval(..) | MarkerTiming::Start(_));
            count += i64::from(lasts && !args(profile, *payload).contains("event=\"thread state\""));
        }
    }
    count
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
        let read = again(&text);
        let by_name = count(&warnings, "ids-changed") > 0;
        let (expected, mut found) = (slices(&profile, by_name), slices(&read, by_name));
        let mut missing = 0;
        for (slice, number) in &expected {
            let left = found.entry(*slice).or_insert(0);
            *left -= number;
            missing -= (*left).min(0);
            total.0 += number;
        }
        assert_eq!(missing, 0, "{path}");
        // What lasts has tracks of its own.
        let others: i64 = found.into_values().sum();
        assert_eq!(others, spans(&profile), "{path}");
        let (expected, found) = (flows(&profile), flows(&read));
        if count(&warnings, "flows-elsewhere") > 0 || expected != found {
            let different: Vec<_> = expected.iter().filter(|flow| found.binary_search(flow).is_err()).take(3).collect();
            let rdifferent: Vec<_> =
                found.iter().filter(|flow| expected.binary_search(flow).is_err()).take(3).collect();
            eprintln!(
                "{path}: flows {} {} lost {}, different {different:?} {rdifferent:?}",
                expected.len(),
                found.len(),
                count(&warnings, "flows-elsewhere")
            );
        }
        total.1 += expected.len();
        total.2 += 1;
    }
    eprintln!("{total:?}");
}

//! Any bytes as a Chrome trace, also those that do not look like one: what can be read has flows by both rules, and can be
//! listed and written in every format. Written as a trace and read again it has as many slices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::analysis::{Selection, flows, slices_as_samples};
use traceview_core::format::chrome;
use traceview_core::format::chrome::events::EventTable;
use traceview_core::format::chrome::flows::{devtools, devtools_json};
use traceview_core::format::{FlowBinding, WriteOptions, written};
use traceview_core::model::{MarkerTiming, Profile, TimeRange};
use traceview_core::report::flows_json;

fuzz_target!(|bytes: &[u8]| {
    let Ok(table) = EventTable::read(bytes) else { return };
    for row in 0..table.len() {
        let _there = (table.args(row), table.duration(row), table.ids(row), table.more_ids(row), table.field(row, "ts"));
    }
    let _json = devtools_json(&table, &devtools(&table));
    for binding in [FlowBinding::Auto, FlowBinding::DevTools] {
        let profile = chrome::read_bound(bytes, binding).expect("what has a table of events has a model");
        let _json = flows_json(&profile, &flows(&profile, &Selection::default(), None));
        write_all(&profile);
        write_trace(&profile);
        write_all(&slices_as_samples(&profile, TimeRange::ALL));
    }
});

/// Writes a profile in every format. What a format can't hold it may refuse.
fn write_all(profile: &Profile) {
    for write in written().filter_map(|format| format.write) {
        let _refused = write(profile, &WriteOptions::default(), &mut Vec::new());
    }
}

/// Markers that last become slices.
fn write_trace(profile: &Profile) {
    let mut text = Vec::new();
    chrome::write(profile, &WriteOptions::default(), &mut text).expect("memory takes it");
    let read = chrome::read(&text).expect("it can be read");
    let slices = |profile: &Profile| profile.threads.iter().map(|thread| thread.slices.len()).sum::<usize>();
    let lasts = |timing: &&MarkerTiming| matches!(timing, MarkerTiming::Interval(..));
    let spans: usize = profile.threads.iter().map(|thread| thread.markers.timing.iter().filter(lasts).count()).sum();
    let (expected, found) = (slices(profile), slices(&read));
    assert!((expected..=expected + spans).contains(&found), "{expected} and {spans} slices are {found}");
}

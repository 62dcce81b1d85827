//! Any bytes as a Chrome trace, also those that do not look like one: what can be read has flows by both rules, and can be
//! listed and written in every format. Written as a trace and read again it has as many slices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::analysis::{Selection, flows, slices_as_samples};
use traceview_core::format::chrome;
use traceview_core::format::chrome::calltree::{CallTreeQuery, CallTreeSource, EventChoice, ThreadChoice, call_tree};
use traceview_core::format::chrome::events::{EventTable, Scalar};
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
    make_call_trees(&table);
    for binding in [FlowBinding::Auto, FlowBinding::DevTools] {
        let profile = chrome::read_bound(bytes, binding).expect("what has a table of events has a model");
        let _json = flows_json(&profile, &flows(&profile, &Selection::default(), None));
        write_all(&profile);
        write_trace(&profile);
        write_all(&slices_as_samples(&profile, TimeRange::ALL));
    }
});

/// Call trees of the first threads: of the whole time, and of their first event.
fn make_call_trees(table: &EventTable<'_>) {
    let text = |id: Scalar| match id {
        Scalar::Missing => "undefined".to_owned(),
        Scalar::Integer(number) => number.to_string(),
        Scalar::Number(text) | Scalar::Text(text) | Scalar::Other(text) => table.text(text).to_owned(),
    };
    for (ids, thread) in table.thread_ids().iter().zip(0..4_u32) {
        let choice = ThreadChoice { pid: text(ids.pid), tid: text(ids.tid) };
        let mut queries = vec![CallTreeQuery::Range { thread: choice.clone(), start: 0.0, end: 1e18 }];
        let first = (0..table.len()).find(|row| table.thread[*row] == thread && table.phase[*row] == b'X');
        queries.extend(first.map(|row| {
            let name = table.name[row].map_or_else(String::new, |name| table.text(name).to_owned());
            CallTreeQuery::Event(EventChoice { thread: choice, time: table.time[row] as f64 / 1000.0, name, nth: 0 })
        }));
        for query in queries {
            if let Ok(tree) = call_tree(CallTreeSource::Trace(table), &query) {
                let _texts = (tree.serialize(), tree.compressed());
            }
        }
    }
}

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

//! Any bytes as a Chrome trace, also those that do not look like one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::chrome;
use traceview_core::format::chrome::events::EventTable;

fuzz_target!(|bytes: &[u8]| {
    let Ok(table) = EventTable::read(bytes) else { return };
    for row in 0..table.len() {
        let _there = (table.args(row), table.duration(row), table.ids(row), table.more_ids(row), table.field(row, "ts"));
    }
    chrome::read(bytes).expect("what has a table of events has a model");
});

//! Any bytes as collapsed stacks: what can be read is written, read again, and written as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{WriteOptions, collapsed};

fuzz_target!(|text: &[u8]| {
    let Ok(profile) = collapsed::read(text) else { return };
    let write = |profile| {
        let mut out = Vec::new();
        collapsed::write(profile, &WriteOptions::default(), &mut out).expect("memory takes all");
        out
    };
    let once = write(&profile);
    // Counts that cancel each other out leave nothing to read.
    let Ok(again) = collapsed::read(&once) else { return assert!(once.is_empty()) };
    assert_eq!(write(&again), once, "what was written is what is read");
    let _is_one = (collapsed::begins(text), collapsed::sniff(text));
});

//! Any bytes as collapsed stacks: what can be read is written, read again, and written as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{WriteError, WriteOptions, collapsed};

fuzz_target!(|text: &[u8]| {
    let Ok(profile) = collapsed::read(text) else { return };
    let write = |profile| {
        let mut out = Vec::new();
        collapsed::write(profile, &WriteOptions::default(), &mut out).map(|_| out)
    };
    // Counts that cancel each other out leave nothing to write.
    let once = match write(&profile) {
        Ok(once) => once,
        Err(WriteError::Unsupported { .. }) => return,
        Err(error) => panic!("memory takes all: {error}"),
    };
    let again = collapsed::read(&once).expect("what was written can be read");
    assert_eq!(write(&again).expect("it counts something"), once, "what was written is what is read");
    let _is_one = (collapsed::begins(text), collapsed::sniff(text));
});

//! Any bytes as a Firefox profile, with raw files to begin with: what is read is the same when it was written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{gecko, WriteOptions};

fuzz_target!(|bytes: &[u8]| {
    let Ok((profile, _)) = gecko::read(bytes) else { return };
    let mut file = Vec::new();
    if gecko::write(&profile, &WriteOptions::default(), &mut file).is_ok() {
        let (again, _) = gecko::read(&file).expect("what was written can be read");
        assert!(again == profile, "reading again gives another profile");
    }
});

//! Any bytes as a Firefox profile: what can be read is written, and read back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{WriteOptions, gecko};

fuzz_target!(|bytes: &[u8]| {
    let Ok((profile, _)) = gecko::read(bytes) else { return };
    let mut written = Vec::new();
    if gecko::write(&profile, &WriteOptions::default(), &mut written).is_err() {
        return;
    }
    let (again, _) = gecko::read(&written).expect("our own file");
    assert!(again == profile, "a profile is read back as it was written");
});

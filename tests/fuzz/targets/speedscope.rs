//! Any bytes as a speedscope file: what can be read can be written, and is read back as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{WriteOptions, speedscope};

fuzz_target!(|bytes: &[u8]| {
    let _is_one = speedscope::sniff(bytes);
    let Ok(profile) = speedscope::read(bytes) else { return };
    let mut written = Vec::new();
    if speedscope::write(&profile, &WriteOptions { off_cpu: true, measure: None }, &mut written).is_ok() {
        let again = speedscope::read(&written).expect("what was written can be read");
        // Times at the end of what can be told are taken for ones beyond it.
        let mut others = again.meta.warnings.iter().filter(|warning| warning.code != "value-out-of-range");
        assert!(others.next().is_none(), "{:?}", again.meta.warnings);
    }
});

//! Any bytes as a CPU profile of V8: what can be read has as many samples as it has times, and can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{WriteOptions, cpuprofile, speedscope};

fuzz_target!(|bytes: &[u8]| {
    let _is_one = cpuprofile::sniff(bytes);
    let Ok(profile) = cpuprofile::read(bytes) else { return };
    let _refused = speedscope::write(&profile, &WriteOptions::default(), &mut std::io::sink());
});

//! Any bytes as a profile, in whatever format they claim to be: what can be read can be written in every format, or the
//! writer says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{self, ReadOptions, WriteOptions};

/// Decompressed; more takes too long to be worth it.
const MAX_SIZE: u64 = 4 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(contents) = format::read(bytes, &ReadOptions { max_size: MAX_SIZE }) else { return };
    for format in format::written() {
        let options = WriteOptions { off_cpu: true, ..WriteOptions::default() };
        let _refused = format::write(&contents.profile, format.target(), &options, std::io::sink());
    }
});

//! Any bytes as the text of `perf script`: what can be read can be written in every format, or the writer says why
//! not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::{self, WriteOptions, perf_script};

fuzz_target!(|text: &[u8]| {
    let _is_one = (perf_script::begins(text), perf_script::sniff(text));
    let Ok(profile) = perf_script::read(text) else { return };
    for format in format::written() {
        let _refused = format::write(&profile, format.target(), &WriteOptions { off_cpu: true, measure: None }, std::io::sink());
    }
});

//! Any bytes as a CPU profile of V8: what can be read has as many samples as it has times, and can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::format::chrome::calltree::{CallTreeQuery, CallTreeSource, EventChoice, ThreadChoice, call_tree};
use traceview_core::format::{WriteOptions, cpuprofile, speedscope};

fuzz_target!(|bytes: &[u8]| {
    let _is_one = cpuprofile::sniff(bytes);
    let thread = ThreadChoice { pid: "1".to_owned(), tid: "1".to_owned() };
    let first = EventChoice { thread, time: 0.0, name: "ProfileCall".to_owned(), nth: 0 };
    if let Ok(tree) = call_tree(CallTreeSource::CpuProfile(bytes), &CallTreeQuery::Event(first)) {
        let _texts = (tree.serialize(), tree.compressed());
    }
    let Ok(profile) = cpuprofile::read(bytes) else { return };
    let _refused = speedscope::write(&profile, &WriteOptions::default(), &mut std::io::sink());
});

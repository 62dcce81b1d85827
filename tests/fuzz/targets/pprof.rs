//! Any bytes as a pprof file: what can be read can be written, and is the same when it is read from that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceview_core::analysis::{Selection, StackValues, default_measure, sample_types};
use traceview_core::format::{WriteOptions, pprof};

fuzz_target!(|bytes: &[u8]| {
    let (_begins, _is_one) = (pprof::begins(bytes), pprof::sniff(bytes));
    let Ok(first) = pprof::read(bytes) else { return };
    for counted in sample_types(&first) {
        let _refused = StackValues::of(&first, &Selection::default(), counted.measure);
    }
    let _refused = StackValues::of(&first, &Selection::default(), default_measure(&first));
    let again = |profile| {
        let mut bytes = Vec::new();
        pprof::write(profile, &WriteOptions::default(), &mut bytes).expect("memory does not fail");
        pprof::read(&bytes).expect("what was written can be read")
    };
    let second = again(&first);
    let samples = |profile: &traceview_core::model::Profile| -> usize {
        profile.threads.iter().map(|thread| thread.samples.len()).sum()
    };
    assert_eq!(samples(&first), samples(&second));
    assert!(again(&second) == second, "equal from the first file of ours on");
});

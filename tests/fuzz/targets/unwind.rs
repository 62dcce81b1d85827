//! Any bytes as a program with its call frame information, and others as a stack that is walked by it.
#![no_main]

use std::path::PathBuf;
use std::sync::Arc;

use cargo_traceview::image::Image;
use cargo_traceview::unwind::OwnStack;
use libfuzzer_sys::fuzz_target;

/// So much of the end of the bytes is the stack.
const STACK: usize = 512;

/// Program counters that are tried in each range of code.
const IN_EACH: u64 = 32;

fuzz_target!(|bytes: &[u8]| {
    let (program, stack) = bytes.split_at(bytes.len().saturating_sub(STACK));
    let Ok(image) = Image::from_bytes(program.to_vec(), PathBuf::from("/fuzzed")) else { return };
    let image = Arc::new(image);
    for range in image.code().iter().take(4) {
        let step = (range.end.saturating_sub(range.start) / IN_EACH).max(1);
        for index in 0..IN_EACH {
            let pc = range.start.saturating_add(step * index);
            for sp in [0x7ffc_0000_0000, u64::MAX - 64] {
                assert!(OwnStack::made_up(&image, (pc, sp), stack.to_vec()).walk() > 0, "the frame that it starts with");
            }
        }
    }
});

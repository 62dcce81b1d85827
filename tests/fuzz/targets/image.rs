//! Any bytes as a program or library: sections, symbol tables and DWARF, and the names at some of its addresses.
#![no_main]

use std::path::PathBuf;
use std::sync::Arc;

use cargo_traceview::image::Image;
use cargo_traceview::symbolize::{SymbolSource, symbolize_image};
use libfuzzer_sys::fuzz_target;

/// Addresses that are asked for in each range of code.
const IN_EACH: u64 = 16;

fuzz_target!(|bytes: &[u8]| {
    let Ok(image) = Image::from_bytes(bytes.to_vec(), PathBuf::from("/fuzzed")) else { return };
    let source = SymbolSource::with_debug_file(Arc::new(image), None);
    let image = source.image();
    let mut symbolizer = source.symbolizer();
    let mut svmas = Vec::new();
    for range in image.code().iter().take(4) {
        let step = (range.end.saturating_sub(range.start) / IN_EACH).max(1);
        for index in 0..IN_EACH {
            let svma = range.start.saturating_add(step * index);
            assert!(!symbolizer.resolve(svma).frames.is_empty(), "each address has a frame");
            svmas.push(svma);
        }
    }
    let together = symbolize_image(image, &svmas, &|_| {});
    assert_eq!(together.len(), svmas.len());
    assert!(together.iter().all(|resolved| !resolved.frames.is_empty()), "each address has a frame");
    for offset in [0, 1, u64::MAX / 2, u64::MAX] {
        symbolizer.resolve(image.entry().wrapping_add(offset));
        let _any = (image.bias(0x1000, offset, 0x1000), image.svma_at_file_offset(offset));
    }
});

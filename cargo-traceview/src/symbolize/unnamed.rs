//! The text that stands for an address without a symbol.

use crate::image::Image;

/// `LIB+0xADDR`: the file's name and the address within the file, so that `addr2line -e LIB 0xADDR` can be asked.
///
/// The address is the file's own and not that of the process, hence the same in every run.
#[must_use]
pub fn unnamed(image: &Image, svma: u64) -> String {
    format!("{}+{svma:#x}", image.file_name())
}

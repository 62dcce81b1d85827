//! The code of one process: what is mapped where, and the unwinding rules for it.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::frame_table::FrameTable;
use super::images::{ImageIndex, Images};
use crate::image::Image;
use crate::sampler::proc_fs::MapEntry;
use crate::sampler::ptrace::sys::Tid;

/// A mapping that holds code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// First AVMA.
    pub(super) start: u64,
    /// First AVMA behind it.
    pub(super) end: u64,
    /// Where in the file it starts.
    pub(super) file_offset: u64,
    /// What is mapped; `None` for code that was made in memory.
    pub(super) image: Option<ImageIndex>,
    /// AVMA − SVMA.
    pub(super) bias: u64,
}

/// The code of one process. A fork starts with a clone of its parent's, which costs next to nothing.
#[derive(Clone, Default)]
pub(super) struct AddressSpace {
    regions: Arc<[Region]>,
    tables: Arc<FxHashMap<ImageIndex, Arc<FrameTable>>>,
    has_new_files: bool,
}

impl AddressSpace {
    /// Code of no file at these addresses.
    #[cfg(test)]
    pub(super) fn without_files(code: &[Range<u64>]) -> Self {
        let region =
            |code: &Range<u64>| Region { start: code.start, end: code.end, file_offset: 0, image: None, bias: 0 };
        Self { regions: code.iter().map(region).collect(), ..Self::default() }
    }

    /// The code of one file, mapped where it says.
    pub(super) fn of_image(image: &Arc<Image>) -> Self {
        let region =
            |code: &Range<u64>| Region { start: code.start, end: code.end, file_offset: 0, image: Some(0), bias: 0 };
        Self {
            regions: image.code().iter().map(region).collect(),
            tables: Arc::new([(0, Arc::new(FrameTable::new(Arc::clone(image))))].into_iter().collect()),
            has_new_files: true,
        }
    }

    /// What is mapped.
    pub(super) fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The mapping around `avma`.
    pub(super) fn region_at(&self, avma: u64) -> Option<&Region> {
        region_at(&self.regions, avma)
    }

    /// The call frame information of a file that is mapped, if it could be read.
    pub(super) fn table(&self, image: ImageIndex) -> Option<&FrameTable> {
        self.tables.get(&image).map(Arc::as_ref)
    }

    /// Whether this is the same code as `other`, as of the same map.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.regions, &other.regions)
    }

    /// Builds what would be built at the first walk: where a thread is held for walks it must not wait for that.
    pub(super) fn prepare(&self) {
        self.tables.values().for_each(|table| table.prepare());
    }

    /// Whether the last map brought code of files that was not known before.
    pub(super) fn has_new_files(&self) -> bool {
        self.has_new_files
    }

    /// Takes over a memory map; whether it brought code that was not known before. `tid` is a thread of the process, to
    /// reach files by that are not at their path any more.
    pub(super) fn update(&mut self, maps: &[MapEntry], images: &mut Images, tid: Tid) -> bool {
        let regions: Arc<[Region]> =
            maps.iter().filter(|map| map.executable).map(|map| region(map, images, tid)).collect();
        if regions == self.regions {
            self.has_new_files = false;
            return false;
        }
        let is_new = |region: &&Region| region_at(&self.regions, region.start) != Some(*region);
        let has_news = regions.iter().any(|region| is_new(&region));
        self.has_new_files = regions.iter().filter(is_new).any(|region| region.image.is_some());
        let mapped = regions.iter().filter_map(|region| region.image);
        self.tables = Arc::new(mapped.filter_map(|image| Some((image, Arc::clone(images.table(image)?)))).collect());
        self.regions = regions;
        has_news
    }
}

/// The mapping around `avma` among `regions`, which are in order.
fn region_at(regions: &[Region], avma: u64) -> Option<&Region> {
    let behind = regions.partition_point(|region| region.start <= avma);
    regions[..behind].last().filter(|region| avma < region.end)
}

fn region(map: &MapEntry, images: &mut Images, tid: Tid) -> Region {
    let image = images.of_mapping(map, tid);
    let bias = image
        .and_then(|index| images.loaded(index)?.code_bias(map.start, map.offset, map.end - map.start))
        // Without the file only file offsets can be told.
        .unwrap_or_else(|| map.start.wrapping_sub(map.offset));
    Region { start: map.start, end: map.end, file_offset: map.offset, image, bias }
}

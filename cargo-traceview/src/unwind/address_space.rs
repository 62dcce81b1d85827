//! The code of one process: what is mapped where, and the unwinding rules for it.

use framehop::{ExplicitModuleSectionInfo, Module, Unwinder as _};
use rustc_hash::{FxHashMap, FxHashSet};

use super::images::{ImageIndex, Images};
use super::walk::Rules;
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

/// The code of one process. A fork starts with a clone of its parent's.
#[derive(Clone, Default)]
pub(super) struct AddressSpace {
    regions: Vec<Region>,
    modules: FxHashMap<(ImageIndex, u64), u64>,
    rules: Rules,
}

impl AddressSpace {
    /// The unwinding rules of this code.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What is mapped.
    pub(super) fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The mapping around `avma`.
    pub(super) fn region_at(&self, avma: u64) -> Option<&Region> {
        region_at(&self.regions, avma)
    }

    /// Takes over a memory map; whether it brought code that was not known before. `tid` is a thread of the process, to
    /// reach files by that are not at their path any more.
    pub(super) fn update(&mut self, maps: &[MapEntry], images: &mut Images, tid: Tid) -> bool {
        let regions: Vec<Region> =
            maps.iter().filter(|map| map.executable).map(|map| region(map, images, tid)).collect();
        let has_news = regions.iter().any(|region| region_at(&self.regions, region.start) != Some(region));
        let mapped: FxHashSet<(ImageIndex, u64)> =
            regions.iter().filter_map(|region| Some((region.image?, region.bias))).collect();
        let rules = &mut self.rules;
        self.modules.retain(|module, start| {
            let stays = mapped.contains(module);
            if !stays {
                rules.remove_module(*start);
            }
            stays
        });
        for (index, bias) in mapped {
            if let std::collections::hash_map::Entry::Vacant(entry) = self.modules.entry((index, bias))
                && let Some(image) = images.loaded(index)
            {
                let module = module(image, bias);
                entry.insert(module.avma_range().start);
                self.rules.add_module(module);
            }
        }
        self.regions = regions;
        has_news
    }
}

/// The mapping around `avma` among `regions`, which are in order.
pub(super) fn region_at(regions: &[Region], avma: u64) -> Option<&Region> {
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

fn module(image: &Image, bias: u64) -> Module<crate::image::SharedBytes> {
    let segments = image.segments();
    let low = image.base_svma();
    let high = segments.iter().map(|segment| segment.svma.saturating_add(segment.mem_size)).max().unwrap_or(low);
    let section = |name: &str| image.section(name);
    let text = section(".text");
    let eh_frame = section(".eh_frame");
    let eh_frame_hdr = section(".eh_frame_hdr");
    let info = ExplicitModuleSectionInfo {
        base_svma: low,
        text_svma: text.as_ref().map(crate::image::SectionBytes::svma_range),
        text: text.map(|section| section.bytes),
        got_svma: section(".got").map(|section| section.svma_range()),
        eh_frame_svma: eh_frame.as_ref().map(crate::image::SectionBytes::svma_range),
        eh_frame: eh_frame.map(|section| section.bytes),
        eh_frame_hdr_svma: eh_frame_hdr.as_ref().map(crate::image::SectionBytes::svma_range),
        eh_frame_hdr: eh_frame_hdr.map(|section| section.bytes),
        debug_frame: section(".debug_frame").map(|section| section.bytes),
        stubs_svma: None,
        stub_helper_svma: None,
        unwind_info: None,
        text_segment_svma: None,
        text_segment: None,
    };
    let avma = |svma: u64| svma.wrapping_add(bias);
    Module::new(image.file_name(), avma(low)..avma(high), avma(low), info)
}

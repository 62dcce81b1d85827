//! The files with code that were mapped by any process of a recording. They stay open until it is symbolized, so that a
//! file that is deleted or replaced meanwhile still has its names.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, UnwindContext, UnwindSection as _};
use rustc_hash::FxHashMap;

use super::asleep;
use super::recording::RawFrame;
use crate::image::Image;
use crate::sampler::proc_fs::{self, MapEntry};
use crate::sampler::ptrace::sys::{self, Tid};

/// Start code is a few instructions: it calls the first real function, or jumps to it.
const START_CODE: u64 = 0x60;

/// A row of [`Recording::images`](super::Recording::images).
pub type ImageIndex = usize;

/// A file with code, or what is known of it.
#[derive(Clone, Debug)]
pub struct LoadedImage {
    /// The path it was mapped from, or `[vdso]`.
    pub path: PathBuf,
    /// Its contents; an error says why there are none.
    pub image: Result<Arc<Image>, String>,
}

/// All files with code.
#[derive(Default)]
pub(super) struct Images {
    rows: Vec<LoadedImage>,
    /// By path, device and inode.
    known: FxHashMap<(PathBuf, (u32, u32), u64), ImageIndex>,
    /// What is known of the functions around addresses that were asked about: where stacks end, or threads sleep.
    functions: FxHashMap<(ImageIndex, u64), Option<FunctionFacts>>,
}

impl Images {
    /// All of them, for the recording.
    pub(super) fn into_rows(self) -> Vec<LoadedImage> {
        self.rows
    }

    /// Image `index`, if its file could be read.
    pub(super) fn loaded(&self, index: ImageIndex) -> Option<&Arc<Image>> {
        self.rows[index].image.as_ref().ok()
    }

    /// The image of a mapping; `None` for anonymous memory. `tid` is a thread of the process.
    pub(super) fn of_mapping(&mut self, map: &MapEntry, tid: Tid) -> Option<ImageIndex> {
        let is_vdso = map.path == "[vdso]";
        if !is_vdso && (map.inode == 0 || !map.path.starts_with('/')) {
            return None;
        }
        let path = PathBuf::from(map.path.strip_suffix(" (deleted)").unwrap_or(&map.path));
        let key = (path, map.device, map.inode);
        if let Some(index) = self.known.get(&key) {
            return Some(*index);
        }
        let image = if is_vdso { vdso() } else { open(map, &key.0, tid) };
        let index = self.rows.len();
        self.rows.push(LoadedImage { path: key.0.clone(), image: image.map(Arc::new) });
        self.known.insert(key, index);
        Some(index)
    }

    /// Whether a stack that ends at address `svma` ends there rightly: the rules for that code say that it has no caller, or
    /// there is no rule for it at all (start code in assembly) and its frame pointer ended the chain.
    pub(super) fn is_root(&mut self, index: ImageIndex, svma: u64) -> bool {
        self.loaded(index).is_some() && self.function(index, svma).is_none_or(|function| function.has_no_caller)
    }

    /// Whether address `svma` is in the code that the kernel starts a program or its dynamic linker at. Nobody called that,
    /// whatever its rules say and its stack looks like.
    pub(super) fn is_start(&self, index: ImageIndex, svma: u64) -> bool {
        self.loaded(index)
            .is_some_and(|image| svma.checked_sub(image.entry()).is_some_and(|offset| offset < START_CODE))
    }

    /// The function around address `svma`, if the image says anything about it.
    pub(super) fn function(&mut self, index: ImageIndex, svma: u64) -> Option<FunctionFacts> {
        if let Some(known) = self.functions.get(&(index, svma)) {
            return *known;
        }
        let function = self.loaded(index).and_then(|image| function_facts(image, svma));
        self.functions.insert((index, svma), function);
        function
    }

    /// The code up to the return address whose call `caller` is in: the seven bytes that the longest call takes.
    pub(super) fn code_before(&self, caller: RawFrame) -> Option<&[u8]> {
        let RawFrame::Code { image, svma } = caller else { return None };
        self.code(image, svma.checked_sub(6)?)?.get(..7)
    }

    /// Whether the call that `caller` is in goes to another function than `callee`, as far as the instruction tells.
    pub(super) fn calls_another(&mut self, caller: RawFrame, callee: RawFrame) -> bool {
        let (RawFrame::Code { image, svma }, RawFrame::Code { image: of, svma: inside }) = (caller, callee) else {
            return false;
        };
        let Some(target) = self.code_before(caller).and_then(|code| asleep::call_target(code, svma.wrapping_add(1)))
        else {
            return false;
        };
        // A call through the linkage table goes wherever the linker decided.
        if self.is_linkage(image, target) {
            return false;
        }
        image != of || self.function(of, inside).is_some_and(|function| function.start != target)
    }

    fn is_linkage(&self, index: ImageIndex, svma: u64) -> bool {
        let Some(image) = self.loaded(index) else { return false };
        [".plt", ".plt.sec", ".plt.got", ".iplt"]
            .into_iter()
            .any(|name| image.section(name).is_some_and(|section| section.svma_range().contains(&svma)))
    }

    /// The code of image `index` from `svma` on, as far as its file has it.
    pub(super) fn code(&self, index: ImageIndex, svma: u64) -> Option<&[u8]> {
        let image = self.loaded(index)?;
        // Program headers can say anything.
        image.segments().iter().find_map(|segment| {
            let offset = svma.checked_sub(segment.svma).filter(|offset| *offset < segment.file_size)?;
            let start = usize::try_from(segment.file_offset.checked_add(offset)?).ok()?;
            let end = usize::try_from(segment.file_offset.checked_add(segment.file_size)?).ok()?;
            image.data().get(start..end)
        })
    }
}

/// What the call frame information says of the function around an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FunctionFacts {
    /// First SVMA.
    pub(super) start: u64,
    /// First SVMA behind it.
    pub(super) end: u64,
    /// Whether there is no return address at the address asked about.
    pub(super) has_no_caller: bool,
}

/// What the call frame information of `svma` says; `None` without information.
fn function_facts(image: &Image, svma: u64) -> Option<FunctionFacts> {
    let eh_frame = image.section(".eh_frame")?;
    let mut bases = BaseAddresses::default().set_eh_frame(eh_frame.svma);
    if let Some(text) = image.section(".text") {
        bases = bases.set_text(text.svma);
    }
    if let Some(got) = image.section(".got") {
        bases = bases.set_got(got.svma);
    }
    let table = EhFrame::new(&eh_frame.bytes, LittleEndian);
    let mut context = UnwindContext::new();
    let header = image.section(".eh_frame_hdr");
    let fde = match &header {
        Some(section) => {
            bases = bases.set_eh_frame_hdr(section.svma);
            let header = EhFrameHdr::new(&section.bytes, LittleEndian).parse(&bases, 8).ok()?;
            header.table()?.fde_for_address(&table, &bases, svma, EhFrame::cie_from_offset)
        }
        None => table.fde_for_address(&bases, svma, EhFrame::cie_from_offset),
    };
    let fde = fde.ok()?;
    let row = fde.unwind_info_for_address(&table, &bases, &mut context, svma).ok()?;
    let has_no_caller = matches!(row.register(gimli::X86_64::RA), None | Some(gimli::RegisterRule::Undefined));
    Some(FunctionFacts { start: fde.initial_address(), end: fde.end_address(), has_no_caller })
}

/// The vdso: the kernel maps the same code into every process, so our own will do.
fn vdso() -> Result<Image, String> {
    let us = Tid::try_from(std::process::id()).map_err(|error| error.to_string())?;
    let maps = proc_fs::read_thread_file(us, us, "maps").map_err(|error| error.to_string())?;
    let map =
        proc_fs::parse_maps(&maps).into_iter().find(|map| map.path == "[vdso]").ok_or("this process has no vdso")?;
    let mut bytes = vec![0; usize::try_from(map.end - map.start).map_err(|error| error.to_string())?];
    let read = sys::read_memory(us, map.start, &mut bytes);
    bytes.truncate(read);
    Image::from_bytes(bytes, PathBuf::from("[vdso]")).map_err(|error| error.to_string())
}

/// Opens the file that is mapped, and no other that stands in its place by now.
fn open(map: &MapEntry, path: &Path, tid: Tid) -> Result<Image, String> {
    let candidates = [
        // Through its path as the process sees it (it can have another root directory than we).
        PathBuf::from(format!("/proc/{tid}/root")).join(path.strip_prefix("/").unwrap_or(path)),
        path.to_owned(),
        PathBuf::from(format!("/proc/{tid}/map_files/{:x}-{:x}", map.start, map.end)),
        PathBuf::from(format!("/proc/{tid}/exe")),
    ];
    let mut reason = None;
    for candidate in candidates {
        let is_file = std::fs::metadata(&candidate).is_ok_and(|metadata| metadata.is_file());
        let file = match if is_file { File::open(&candidate) } else { Err(std::io::ErrorKind::NotFound.into()) } {
            Ok(file) => file,
            Err(error) => {
                reason.get_or_insert(format!("cannot open {}: {error}", path.display()));
                continue;
            }
        };
        // Some file systems report another inode in maps than in stat; then the contents decide.
        let same_inode = file.metadata().is_ok_and(|metadata| metadata.ino() == map.inode);
        let image = match Image::from_file(&file, path.to_owned()) {
            Ok(image) => image,
            Err(error) => {
                reason.get_or_insert(error.to_string());
                continue;
            }
        };
        if same_inode || is_same_in_memory(&image, map, tid) {
            return Ok(image);
        }
        reason = Some(format!("{} was replaced after it was loaded", path.display()));
    }
    Err(reason.unwrap_or_else(|| format!("cannot find {}", path.display())))
}

/// Whether the file has the bytes at the mapping's place that the process has in memory.
fn is_same_in_memory(image: &Image, map: &MapEntry, tid: Tid) -> bool {
    let Ok(offset) = usize::try_from(map.offset) else { return false };
    let Some(in_file) = image.data().get(offset..) else { return false };
    let len = in_file.len().min(16 << 10).min(usize::try_from(map.end - map.start).unwrap_or(usize::MAX));
    let mut in_memory = vec![0; len];
    sys::read_memory(tid, map.start, &mut in_memory) == len && in_memory == in_file[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vdso_can_be_read() {
        let image = vdso().expect("Linux has one");
        assert!(image.section(".eh_frame").is_some());
    }

    #[test]
    fn the_rules_of_start_code_end_a_stack_and_those_of_other_code_do_not() {
        let us = Tid::try_from(std::process::id()).unwrap();
        let maps = proc_fs::parse_maps(&proc_fs::read_thread_file(us, us, "maps").unwrap());
        let mut images = Images::default();
        let exe = std::env::current_exe().unwrap();
        let map = maps.iter().find(|map| map.executable && Path::new(&map.path) == exe).unwrap();
        let index = images.of_mapping(map, us).unwrap();
        assert_eq!(images.of_mapping(map, us), Some(index), "a file is opened once");
        let image = images.loaded(index).unwrap().clone();
        let bias = image.code_bias(map.start, map.offset, map.end - map.start).unwrap();
        assert!(images.is_start(index, image.entry()) && images.is_root(index, image.entry()), "_start has no caller");
        let function: fn() = the_rules_of_start_code_end_a_stack_and_those_of_other_code_do_not;
        let here = (function as *const ()).addr() as u64 - bias;
        assert!(!images.is_root(index, here) && !images.is_start(index, here));
    }
}

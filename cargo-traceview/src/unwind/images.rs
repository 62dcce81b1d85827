//! The files with code that were mapped by any process of a recording. They stay open until it is symbolized, so that a
//! file that is deleted or replaced meanwhile still has its names.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::frame_table::FrameTable;
use super::instructions;
use super::recording::RawFrame;
use crate::image::Image;
use crate::sampler::proc_fs::{self, MapEntry};
use crate::sampler::ptrace::sys::{self, Tid};

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
    /// The call frame information of each that could be read.
    tables: Vec<Option<Arc<FrameTable>>>,
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
        let image = if is_vdso { vdso() } else { open(map, &key.0, tid) }.map(Arc::new);
        let index = self.rows.len();
        self.tables.push(image.as_ref().ok().map(|image| Arc::new(FrameTable::new(Arc::clone(image)))));
        self.rows.push(LoadedImage { path: key.0.clone(), image });
        self.known.insert(key, index);
        Some(index)
    }

    /// The call frame information of image `index`, if its file could be read.
    pub(super) fn table(&self, index: ImageIndex) -> Option<&Arc<FrameTable>> {
        self.tables[index].as_ref()
    }

    /// The code up to the return address whose call `caller` is in.
    pub(super) fn code_before(&self, caller: RawFrame) -> Option<&[u8]> {
        let RawFrame::Code { image, svma } = caller else { return None };
        self.table(image)?.code_before(svma.wrapping_add(1))
    }

    /// Whether the call that `caller` is in goes to another function than `callee`, as far as the instruction tells.
    pub(super) fn calls_another(&self, caller: RawFrame, callee: RawFrame) -> bool {
        let (RawFrame::Code { image, svma }, RawFrame::Code { image: of, svma: inside }) = (caller, callee) else {
            return false;
        };
        let Some(target) =
            self.code_before(caller).and_then(|code| instructions::call_target(code, svma.wrapping_add(1)))
        else {
            return false;
        };
        // A call through the linkage table goes wherever the linker decided.
        if self.table(image).is_some_and(|table| table.is_stub(target)) {
            return false;
        }
        let function = || self.table(of).and_then(|table| table.function(inside));
        image != of || function().is_some_and(|function| function.start != target)
    }
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
    fn a_file_is_opened_once() {
        let us = Tid::try_from(std::process::id()).unwrap();
        let maps = proc_fs::parse_maps(&proc_fs::read_thread_file(us, us, "maps").unwrap());
        let mut images = Images::default();
        let exe = std::env::current_exe().unwrap();
        let map = maps.iter().find(|map| map.executable && Path::new(&map.path) == exe).unwrap();
        let index = images.of_mapping(map, us).unwrap();
        assert_eq!(images.of_mapping(map, us), Some(index));
        assert!(images.table(index).is_some());
    }
}

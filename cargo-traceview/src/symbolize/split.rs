//! Split debug information: most of the DWARF stands in other files than the program, one `.dwo` for each object file that
//! was compiled, or one `.dwp` that holds them all.
//!
//! What remains in the program (a "skeleton" unit) says which file to open and the id that the unit there must have: a
//! `.dwo` of a later compilation is passed over.

use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, DwarfPackageSections, DwoId, Section as _, UnitType};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::dwarf::Units;
use super::effort::Budget;
use super::excess;
use super::source::{Reader, Sections, SymbolSource, sections, slice};
use crate::image::{Image, SharedBytes};

/// The files of one image's split debug information, opened when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct SplitFiles {
    /// The image, and its debug file: what may lie beside them.
    beside: Vec<PathBuf>,
    package: OnceLock<Option<DwarfPackageSections<Option<SharedBytes>>>>,
    /// A place for each unit whose DWARF is elsewhere, by id.
    objects: OnceLock<Vec<SplitObject>>,
    /// The work of reading it all.
    budget: Budget,
    /// Whether some of it can take work out of all proportion.
    is_excessive: AtomicBool,
}

/// A unit in a `.dwo` file.
#[derive(Debug)]
struct SplitObject {
    id: DwoId,
    /// The sections of the file; `None` where there is none that has the unit.
    sections: OnceLock<Option<Sections>>,
}

impl SplitFiles {
    /// The files that belong to `files`: an image, and its debug file if it has one.
    pub(super) fn beside(files: &[&Image]) -> Self {
        SplitFiles { beside: files.iter().map(|file| file.path().to_owned()).collect(), ..SplitFiles::default() }
    }

    /// Whether there was a unit that was not read, because it can take work out of all proportion.
    pub(super) fn is_excessive(&self) -> bool {
        self.is_excessive.load(Ordering::Relaxed)
    }

    /// Whether a unit can be given to readers that can't be stopped.
    fn admits(&self, dwarf: &Dwarf<Reader<'_>>) -> bool {
        self.budget.allow_for_split(dwarf);
        let admits = Units::find(dwarf).is_ok_and(|units| !excess::is_excessive(dwarf, &units, &self.budget));
        if !admits {
            self.is_excessive.store(true, Ordering::Relaxed);
        }
        admits
    }

    fn package(&self) -> Option<&DwarfPackageSections<Option<SharedBytes>>> {
        let find = || self.beside.iter().flat_map(|path| package_paths(path)).find_map(|path| open_package(&path));
        self.package.get_or_init(find).as_ref()
    }

    /// The sections of the `.dwo` file that has unit `id`.
    fn object<'a>(&'a self, source: &'a SymbolSource, load: &SplitDwarfLoad<Reader<'a>>) -> Option<&'a Sections> {
        let objects = self.objects.get_or_init(|| split_objects(&source.dwarf()));
        let index = objects.binary_search_by_key(&load.dwo_id.0, |object| object.id.0).ok()?;
        let SplitObject { id, sections } = &objects[index];
        sections.get_or_init(|| self.object_paths(load).iter().find_map(|path| open_object(path, *id))).as_ref()
    }

    /// Where the compiler says that it put the file; else, for a program that was moved with its objects, beside it or where
    /// cargo has them.
    fn object_paths(&self, load: &SplitDwarfLoad<Reader<'_>>) -> Vec<PathBuf> {
        let as_path = |bytes: Reader<'_>| Path::new(OsStr::from_bytes(bytes.slice())).to_owned();
        let Some(path) = load.path.map(as_path) else { return Vec::new() };
        let mut paths = vec![load.comp_dir.map(as_path).unwrap_or_default().join(&path)];
        if let Some(name) = path.file_name() {
            let directories = self.beside.iter().filter_map(|file| file.parent());
            paths.extend(directories.flat_map(|directory| [directory.join(name), directory.join("deps").join(name)]));
        }
        // What is not absolute now would be looked for wherever we happen to run.
        paths.retain(|path| path.is_absolute());
        paths
    }
}

/// Answers the requests for split debug information that looking up an address can make; for one thread.
pub(super) struct SplitDwarf<'a> {
    source: &'a SymbolSource,
    package: OnceCell<Option<DwarfPackage<Reader<'a>>>>,
}

impl<'a> SplitDwarf<'a> {
    pub(super) fn new(source: &'a SymbolSource) -> Self {
        SplitDwarf { source, package: OnceCell::new() }
    }

    /// Brings a lookup to its end.
    pub(super) fn complete<L: LookupContinuation<Buf = Reader<'a>>>(&self, mut lookup: LookupResult<L>) -> L::Output {
        loop {
            match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => lookup = continuation.resume(self.load(&load)),
            }
        }
    }

    /// The DWARF of a split unit. The unit asked for is the first one of it.
    pub(super) fn load(&self, load: &SplitDwarfLoad<Reader<'a>>) -> Option<Arc<Dwarf<Reader<'a>>>> {
        let of_package = self.package().and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok().flatten());
        let dwarf = of_package.or_else(|| {
            let sections = self.source.split.object(self.source, load)?;
            let mut dwarf = sections.borrow(|section| slice(section.as_ref()));
            dwarf.make_dwo(&load.parent);
            only_unit(dwarf, load.dwo_id)
        })?;
        self.source.split.admits(&dwarf).then(|| Arc::new(dwarf))
    }

    fn package(&self) -> Option<&DwarfPackage<Reader<'a>>> {
        let source: &'a SymbolSource = self.source;
        let read = || source.split.package()?.borrow(|section| slice(section.as_ref()), slice(None)).ok();
        self.package.get_or_init(read).as_ref()
    }
}

/// `NAME.dwp` as compilers and linkers name it, and with the ending of a debug file or library replaced.
fn package_paths(path: &Path) -> [PathBuf; 2] {
    let mut appended = path.as_os_str().to_owned();
    appended.push(".dwp");
    [appended.into(), path.with_extension("dwp")]
}

fn open_package(path: &Path) -> Option<DwarfPackageSections<Option<SharedBytes>>> {
    let file = Image::open(path).ok()?;
    // Without an index it has no units that can be found.
    file.section(".debug_cu_index")?;
    let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        Ok(id.dwo_name().and_then(|name| file.section(name)).map(|section| section.bytes))
    };
    DwarfPackageSections::load(load).ok()
}

fn open_object(path: &Path, id: DwoId) -> Option<Sections> {
    let sections = sections(&Image::open(path).ok()?, gimli::SectionId::dwo_name);
    let mut dwarf = sections.borrow(|section| slice(section.as_ref()));
    dwarf.file_type = gimli::DwarfFileType::Dwo;
    only_unit(dwarf, id)?;
    Some(sections)
}

/// A `.dwo` file can have several units: those of types, and those of all crates where they were optimized as one. Leaves
/// only unit `id`.
fn only_unit(mut dwarf: Dwarf<Reader<'_>>, id: DwoId) -> Option<Dwarf<Reader<'_>>> {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Some(offset) = header.debug_info_offset() else { continue };
        let (start, len) = (offset.0, header.length_including_self());
        let stated = match header.type_() {
            UnitType::SplitCompilation(id) => Some(id),
            // Before DWARF 5 the id is an attribute.
            _ => dwarf.unit(header).ok().and_then(|unit| unit.dwo_id),
        };
        if stated == Some(id) {
            let info = dwarf.debug_info.reader().slice().get(start..)?.get(..len)?;
            dwarf.debug_info = gimli::DebugInfo::new(info, gimli::LittleEndian);
            return Some(dwarf);
        }
    }
    None
}

/// The units of a program whose DWARF is elsewhere, by id.
fn split_objects(dwarf: &Dwarf<Reader<'_>>) -> Vec<SplitObject> {
    let mut ids = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        // A damaged unit costs only its own.
        ids.extend(dwarf.unit(header).ok().and_then(|unit| unit.dwo_id));
    }
    ids.sort_unstable_by_key(|id| id.0);
    ids.dedup();
    ids.into_iter().map(|id| SplitObject { id, sections: OnceLock::new() }).collect()
}

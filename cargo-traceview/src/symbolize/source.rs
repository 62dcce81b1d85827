//! Everything that is known about one image's functions: symbol tables and DWARF, from the image and its debug file.

use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::debug_file;
use super::dwarf::Units;
use super::effort::{Budget, Exceeded};
use super::excess;
use super::parallel::{in_parallel, processors};
use super::partial;
use super::resolve::Symbolizer;
use super::split::SplitFiles;
use super::symbol_table::SymbolTable;
use crate::image::{Image, SharedBytes};

/// DWARF as this module reads it: slices of sections that the [`SymbolSource`] keeps.
pub(super) type Reader<'a> = EndianSlice<'a, LittleEndian>;
/// The DWARF sections of one file, decompressed; `None` for those it lacks.
pub(super) type Sections = DwarfSections<Option<SharedBytes>>;

/// The sections that names, files and lines are in, largest first.
const USED: [SectionId; 10] = [
    SectionId::DebugInfo,
    SectionId::DebugStr,
    SectionId::DebugLine,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStrOffsets,
    SectionId::DebugAddr,
    SectionId::DebugLineStr,
    SectionId::DebugAranges,
    SectionId::DebugAbbrev,
];

/// The sections and tables that symbolizing an image rests on, loaded (and decompressed) once.
///
/// It is shared by threads; each of them gets a [`Symbolizer`] of its own from it.
#[derive(Debug)]
pub struct SymbolSource {
    pub(super) image: Arc<Image>,
    pub(super) symbols: SymbolTable,
    pub(super) split: SplitFiles,
    dwarf: Sections,
    /// What the DWARF refers to in the file that dwz made for several.
    supplement: Option<Sections>,
    debug_file: Option<Image>,
    /// Of the DWARF, and of what it refers to.
    units: OnceLock<Result<[Units; 2], Exceeded>>,
    /// Whether the DWARF is too much for a reader that answers one address at a time; found out when one is made.
    is_excessive: OnceLock<bool>,
}

impl SymbolSource {
    /// Loads what `image` has, and its separate debug file if it has no debug information itself.
    #[must_use]
    pub fn load(image: Arc<Image>) -> Self {
        let debug_file = debug_file::wanted(&image);
        Self::with_debug_file(image, debug_file)
    }

    /// As [`SymbolSource::load`], with a debug file that was found before, or none.
    #[must_use]
    pub fn with_debug_file(image: Arc<Image>, debug_file: Option<Image>) -> Self {
        let supplement = debug_file::supplement_of(&image, debug_file.as_ref());
        Self::with_files(image, debug_file, supplement.as_ref(), processors())
    }

    /// As [`SymbolSource::with_debug_file`], with what [`debug_file::supplement_of`] both has found, on so many threads.
    pub(super) fn with_files(
        image: Arc<Image>,
        debug_file: Option<Image>,
        supplement: Option<&Image>,
        threads: usize,
    ) -> Self {
        let main_sections = |file: &Image| main_sections(file, threads);
        let mut files: Vec<&Image> = std::iter::once(&*image).chain(&debug_file).collect();
        let dwarf = debug_file::with_dwarf(&image, debug_file.as_ref()).map(&main_sections).unwrap_or_default();
        let supplement = supplement.map(&main_sections);
        let split = SplitFiles::beside(&files);

        let embedded = if files.iter().any(|file| file.has_symtab()) { None } else { image.embedded_symbols() };
        files.extend(&embedded);
        let symbols = SymbolTable::read(&files, image.code());
        let (units, is_excessive) = (OnceLock::new(), OnceLock::new());
        SymbolSource { image, symbols, split, dwarf, supplement, debug_file, units, is_excessive }
    }

    /// The image.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// The functions of the symbol tables.
    #[must_use]
    pub fn symbols(&self) -> &SymbolTable {
        &self.symbols
    }

    /// The separate debug file in use.
    #[must_use]
    pub fn debug_file(&self) -> Option<&Path> {
        self.debug_file.as_ref().map(Image::path)
    }

    /// Whether lines and inlined functions can be expected.
    #[must_use]
    pub fn has_debug_info(&self) -> bool {
        self.image.has_debug_info() || self.debug_file.as_ref().is_some_and(Image::has_debug_info)
    }

    /// A symbolizer for use on one thread. Reads the headers of all DWARF units: make one for many addresses.
    #[must_use]
    pub fn symbolizer(&self) -> Symbolizer<'_> {
        Symbolizer::new(self)
    }

    /// Whether reading the DWARF can take work out of all proportion, so that it can't be read by [`Symbolizer`]s.
    pub(super) fn is_excessive(&self) -> bool {
        *self.is_excessive.get_or_init(|| {
            let Ok([units, of_supplement]) = self.units() else { return true };
            let dwarf = self.dwarf();
            let budget = Budget::default();
            budget.allow_for(&dwarf);
            excess::is_excessive(&dwarf, units, &budget)
                || dwarf.sup().is_some_and(|sup| excess::is_excessive(sup, of_supplement, &budget))
        })
    }

    /// Whether DWARF was asked for that was not read, because it can take work out of all proportion.
    pub(super) fn has_lost_names(&self) -> bool {
        self.is_excessive.get().is_some_and(|is_excessive| *is_excessive) || self.split.is_excessive()
    }

    /// The units of the DWARF, and of what it refers to; or that finding their names can take work out of all proportion.
    pub(super) fn units(&self) -> Result<&[Units; 2], Exceeded> {
        let find = |sections: Option<&Sections>| {
            sections
                .map_or(Ok(Units::default()), |sections| Units::find(&sections.borrow(|bytes| slice(bytes.as_ref()))))
        };
        let units = self.units.get_or_init(|| Ok([find(Some(&self.dwarf))?, find(self.supplement.as_ref())?]));
        units.as_ref().map_err(|exceeded| *exceeded)
    }

    /// The DWARF of the image or its debug file, with what dwz moved elsewhere.
    pub(super) fn dwarf(&self) -> gimli::Dwarf<Reader<'_>> {
        let mut dwarf = borrow(&self.dwarf);
        let mut supplement = self.supplement.as_ref().map(borrow);
        if let Ok([units, of_supplement]) = self.units() {
            units.share_with(&mut dwarf);
            supplement.iter_mut().for_each(|supplement| of_supplement.share_with(supplement));
        }
        if let Some(supplement) = supplement {
            dwarf.set_sup(supplement);
        }
        dwarf
    }
}

fn borrow(sections: &Sections) -> gimli::Dwarf<Reader<'_>> {
    sections.borrow(|section| slice(section.as_ref()))
}

/// The DWARF sections of a file; `name` gives the name of each, or none for those that such a file can't have.
pub(super) fn sections(file: &Image, name: impl Fn(SectionId) -> Option<&'static str>) -> Sections {
    let load = |id| -> Result<_, Infallible> { Ok(name(id).and_then(|name| section(file, id, name))) };
    let Ok(sections) = DwarfSections::load(load);
    sections
}

/// The DWARF sections of an image or debug file that names and lines are found by.
fn main_sections(file: &Image, threads: usize) -> Sections {
    // Decompression can take longer than all that follows.
    let mut loaded =
        in_parallel(threads, USED.len(), || (), |(), index| section(file, USED[index], USED[index].name()));
    let load = |id| -> Result<_, Infallible> {
        Ok(USED.iter().position(|used| *used == id).and_then(|index| loaded[index].take().flatten()))
    };
    let Ok(sections) = DwarfSections::load(load);
    sections
}

fn section(file: &Image, id: SectionId, name: &str) -> Option<SharedBytes> {
    let bytes = file.section(name)?.bytes;
    Some(if id == SectionId::DebugAbbrev { partial::without_lines(bytes) } else { bytes })
}

/// A section as the DWARF reader takes it.
pub(super) fn slice(section: Option<&SharedBytes>) -> Reader<'_> {
    EndianSlice::new(section.map_or(&[], |bytes| bytes), LittleEndian)
}

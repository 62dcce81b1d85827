//! Where a Rust program was built: the directory that its compiler ran in, as its debug information has it.

use std::convert::Infallible;
use std::path::PathBuf;

use gimli::{AttributeValue, DwarfSections, EndianSlice, LittleEndian, SectionId};
use rustc_hash::FxHashSet;

use super::parallel::unless_it_panics;
use crate::image::{Image, SharedBytes};

type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// The directories that the Rust crates in `image` were compiled in, each once; first those of crates with a `main.rs`.
/// Cargo compiles the packages of a workspace in its root, and others in their own.
#[must_use]
pub fn build_directories(image: &Image) -> Vec<PathBuf> {
    // A fault in a reader must not cost the recording.
    unless_it_panics(|| find(image)).unwrap_or_default()
}

fn find(image: &Image) -> Vec<PathBuf> {
    let load = |id: SectionId| -> Result<Option<SharedBytes>, Infallible> {
        let is_needed = matches!(
            id,
            SectionId::DebugInfo
                | SectionId::DebugAbbrev
                | SectionId::DebugStr
                | SectionId::DebugLine
                | SectionId::DebugLineStr
                | SectionId::DebugStrOffsets
        );
        Ok(if is_needed { image.section(id.name()).map(|section| section.bytes) } else { None })
    };
    let Ok(sections) = DwarfSections::load(load);
    let dwarf = sections.borrow(|section| {
        let bytes: &[u8] = section.as_ref().map_or(&[], |bytes| bytes);
        EndianSlice::new(bytes, LittleEndian)
    });
    // There are tens of thousands of units, and few directories.
    let mut known: FxHashSet<(&[u8], bool)> = FxHashSet::default();
    let (mut of_programs, mut of_libraries) = (Vec::new(), Vec::new());
    let mut headers = dwarf.units();
    // What is damaged tells nothing.
    while let Ok(Some(header)) = headers.next() {
        let Some((directory, is_program)) = dwarf.unit(header).ok().and_then(|unit| rust_unit(&dwarf, &unit)) else {
            continue;
        };
        if known.insert((directory, is_program))
            && let Ok(directory) = std::str::from_utf8(directory)
        {
            let list = if is_program { &mut of_programs } else { &mut of_libraries };
            list.push(PathBuf::from(directory));
        }
    }
    of_libraries.retain(|directory| !of_programs.contains(directory));
    of_programs.extend(of_libraries);
    of_programs
}

/// Where a unit of Rust code was compiled, and whether it is of a program.
fn rust_unit<'a>(dwarf: &gimli::Dwarf<Reader<'a>>, unit: &gimli::Unit<Reader<'a>>) -> Option<(&'a [u8], bool)> {
    let mut entries = unit.entries();
    let entry = entries.next_dfs().ok()??;
    let language = entry.attr_value(gimli::DW_AT_language)?;
    if language != AttributeValue::Language(gimli::DW_LANG_Rust) {
        return None;
    }
    let directory = unit.comp_dir.as_ref()?.slice();
    let name = entry.attr_value(gimli::DW_AT_name).and_then(|name| dwarf.attr_string(unit, name).ok());
    let is_program = name.is_some_and(|name| String::from_utf8_lossy(name.slice()).contains("main.rs"));
    Some((directory, is_program))
}

#[cfg(test)]
mod tests {
    use super::build_directories;
    use crate::image::Image;

    #[test]
    fn a_program_says_where_it_was_built() {
        let image = Image::open(&std::env::current_exe().unwrap()).unwrap();
        let directories = build_directories(&image);
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(directories.iter().any(|directory| directory == root), "{directories:?}");
    }
}

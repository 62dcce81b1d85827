//! The file's mappings, and where in them the locations are.
//!
//! The first mapping is the program's; tools take its name for the profile's. A mapping with resolved and unresolved
//! locations is two of the file, the resolved one first.

use std::collections::{BTreeMap, BTreeSet};

use super::super::names::{KERNEL, MEMORY, UNKNOWN};
use super::super::schema::Mapping;
use super::code::{Location, Place};
use super::strings::Strings;
use crate::analysis::own_binary;
use crate::model::{self, LibraryId, Profile};

const DELETED: &str = " (deleted)";
const PAGE: u64 = 0x1000;

/// A part of a place that has a mapping of its own: the segment of a library.
type Part = (Place, usize);

/// In place of a segment: there is none, or none that an address lies in.
const NO_SEGMENT: usize = usize::MAX;

/// Which of its mappings is needed.
#[derive(Clone, Copy, Default)]
struct Use {
    resolved: bool,
    unresolved: bool,
    /// The lowest and highest address.
    range: Option<(u64, u64)>,
}

/// A part of a library in memory.
struct Segment {
    library: LibraryId,
    start: u64,
    end: u64,
    file_offset: u64,
    /// The library's base.
    base: u64,
}

/// The mappings of the file, and of each location the id of its mapping and its address.
pub(super) fn place<'a>(
    profile: &'a Profile,
    locations: &[Location],
    strings: &mut Strings<'a>,
) -> (Vec<Mapping>, Vec<(u64, u64)>) {
    let segments = segments(profile);
    let placed: Vec<(Part, u64)> = locations.iter().map(|location| part_of(&segments, location)).collect();
    // What nothing was sampled in is listed as well.
    let mut uses: BTreeMap<Part, Use> = segments
        .iter()
        .enumerate()
        .map(|(index, segment)| ((Place::Library(segment.library), index), Use::default()))
        .collect();
    for ((part, address), location) in placed.iter().zip(locations) {
        let entry = uses.entry(*part).or_default();
        entry.resolved |= location.resolved;
        entry.unresolved |= !location.resolved;
        let (low, high) = entry.range.unwrap_or((*address, *address));
        entry.range = Some((low.min(*address), high.max(*address)));
    }
    // The program too, where nothing is known of where it is.
    let main = main_library(profile, &segments).map(Place::Library);
    if let Some(main) = main.filter(|main| uses.keys().all(|(place, _)| place != main)) {
        uses.insert((main, NO_SEGMENT), Use::default());
    }
    let mut table = Table { profile, strings, segments: &segments, rows: Vec::new(), ids: BTreeMap::new() };
    table.fill(uses);
    let of_location =
        |((part, address), location): (&(Part, u64), &Location)| (table.ids[&(*part, location.resolved)], *address);
    let of_locations = placed.iter().zip(locations).map(of_location).collect();
    (table.rows, of_locations)
}

/// The name of the program's file.
pub(super) fn program_name(profile: &Profile) -> &str {
    let path = match main_library(profile, &segments(profile)) {
        Some(library) => {
            let path = profile.string(profile.libraries[library.index()].path);
            path.strip_suffix(DELETED).unwrap_or(path)
        }
        None => program(profile),
    };
    model::file_name(path)
}

/// The program as it was started, where its file is not known.
fn program(profile: &Profile) -> &str {
    let meta = &profile.meta;
    meta.command_line.first().unwrap_or(&meta.name)
}

/// The library of the first mapping.
fn main_library(profile: &Profile, segments: &[Segment]) -> Option<LibraryId> {
    own_binary(profile).or_else(|| segments.first().map(|segment| segment.library))
}

/// The distinct mappings of libraries: processes have the same ones at different addresses.
fn segments(profile: &Profile) -> Vec<Segment> {
    let mut known = BTreeSet::new();
    let distinct =
        |mapping: &&model::Mapping| known.insert((mapping.library, mapping.file_offset, mapping.end - mapping.start));
    let rows = profile.mappings.iter().filter(distinct);
    rows.map(|mapping| Segment {
        library: mapping.library,
        start: mapping.start,
        end: mapping.end,
        file_offset: mapping.file_offset,
        // Most linkers give code the address that it has in the file.
        base: mapping.base.unwrap_or_else(|| mapping.start.wrapping_sub(mapping.file_offset)),
    })
    .collect()
}

/// Where a location is, and its address there: an AVMA, or as it is in a library that is mapped nowhere.
fn part_of(segments: &[Segment], location: &Location) -> (Part, u64) {
    let Place::Library(library) = location.place else {
        return ((location.place, NO_SEGMENT), location.address.unwrap_or_default());
    };
    let Some(address) = location.address else {
        let segment = segments.iter().position(|segment| segment.library == library);
        return ((location.place, segment.unwrap_or(NO_SEGMENT)), 0);
    };
    let found = segments.iter().enumerate().find_map(|(index, segment)| {
        let avma = segment.base.wrapping_add(address);
        (segment.library == library && (segment.start..segment.end).contains(&avma)).then_some((index, avma))
    });
    match found {
        Some((index, avma)) => ((location.place, index), avma),
        None => ((location.place, NO_SEGMENT), address),
    }
}

/// The table in the making.
struct Table<'a, 's> {
    profile: &'a Profile,
    strings: &'s mut Strings<'a>,
    segments: &'s [Segment],
    rows: Vec<Mapping>,
    /// The id of the mapping of each part, of its resolved and of its unresolved locations.
    ids: BTreeMap<(Part, bool), u64>,
}

impl Table<'_, '_> {
    fn fill(&mut self, uses: BTreeMap<Part, Use>) {
        let main = main_library(self.profile, self.segments);
        let is_main = |part: &Part| main.is_some_and(|main| part.0 == Place::Library(main));
        let mut parts: Vec<(Part, Use)> = uses.into_iter().filter(|(part, _)| part.0 != Place::Nowhere).collect();
        parts.sort_by_key(|(part, _)| !is_main(part));
        // What is no code stands in the first mapping, so there is one whatever happened, and it is a resolved one.
        match parts.first_mut().filter(|(part, _)| is_main(part)) {
            Some((_, need)) => need.resolved = true,
            None => self.add_program(),
        }
        for resolved in [true, false] {
            self.ids.insert(((Place::Nowhere, NO_SEGMENT), resolved), 1);
        }
        for (part, need) in parts {
            self.add(part, need);
        }
    }

    /// Stands for a program whose file is not known.
    fn add_program(&mut self) {
        let name = program(self.profile);
        let filename = self.strings.text(if name.is_empty() { UNKNOWN } else { name });
        self.push(Mapping { filename, ..Mapping::default() }, true);
    }

    fn add(&mut self, part: Part, need: Use) {
        let mapping = self.mapping(part, need);
        for resolved in [true, false] {
            // One that nothing was sampled in has nothing to be resolved.
            let is_needed = if resolved { need.resolved || !need.unresolved } else { need.unresolved };
            if is_needed {
                let id = self.push(mapping, resolved);
                self.ids.insert((part, resolved), id);
            }
        }
    }

    fn mapping(&mut self, (place, segment): Part, need: Use) -> Mapping {
        let profile = self.profile;
        let (filename, build_id) = match place {
            Place::Library(library) => {
                let library = &profile.libraries[library.index()];
                let path = profile.string(library.path);
                let filename = self.strings.text(path.strip_suffix(DELETED).unwrap_or(path));
                (filename, library.code_id.map_or(0, |id| self.strings.id(id)))
            }
            Place::Memory => (self.strings.text(MEMORY), 0),
            Place::Kernel => (self.strings.text(KERNEL), 0),
            Place::Nowhere => (0, 0),
        };
        let (memory_start, memory_limit, file_offset) = match (self.segments.get(segment), place, need.range) {
            (Some(segment), _, _) => (segment.start, segment.end, segment.file_offset),
            // A library that is mapped nowhere is shown where its addresses are those of its file.
            (None, Place::Library(_), Some((_, high))) => (0, page_behind(high), 0),
            (None, Place::Memory, Some((low, high))) => (low - low % PAGE, page_behind(high), 0),
            _ => (0, 0, 0),
        };
        Mapping { memory_start, memory_limit, file_offset, filename, build_id, ..Mapping::default() }
    }

    fn push(&mut self, mapping: Mapping, resolved: bool) -> u64 {
        let id = self.rows.len() as u64 + 1;
        self.rows.push(Mapping {
            id,
            has_functions: resolved,
            has_filenames: resolved,
            has_line_numbers: resolved,
            has_inline_frames: resolved,
            ..mapping
        });
        id
    }
}

/// The first page behind the one with `address`.
fn page_behind(address: u64) -> u64 {
    (address - address % PAGE).saturating_add(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProfileBuilder;

    /// Found by fuzzing: processes of such a program were given a name of their own.
    #[test]
    fn a_program_whose_path_ends_in_a_slash_is_called_by_all_of_it() {
        let mut builder = ProfileBuilder::new();
        let library = builder.library_at("/srv/app/");
        let mapping = model::Mapping {
            process: model::ProcessId::new(0),
            library: builder.add_library(library),
            start: 0,
            end: 10,
            file_offset: 0,
            base: None,
            from: model::Time::ZERO,
            until: None,
        };
        let (name, process) = (builder.string("/srv/app/"), mapping.process);
        let (parent, start, end, exit) = (None, None, None, None);
        let pid = model::OsId::Number(1);
        assert_eq!(
            builder.add_process(model::Process { pid, parent, name, command_line: Vec::new(), start, end, exit }),
            process
        );
        builder.add_mapping(mapping);
        let profile = builder.finish().expect("a process and its library keep the rules");
        assert_eq!(program_name(&profile), profile.string(profile.libraries[0].name));
    }
}

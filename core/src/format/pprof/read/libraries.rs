//! Mappings of the file to libraries of the model, and addresses in memory to addresses in libraries.

use rustc_hash::FxHashMap;

use super::super::super::ReadError;
use super::super::super::import_report::ImportReport;
use super::super::names::{KERNEL, MEMORY, UNKNOWN};
use super::super::schema;
use super::rows::Rows;
use super::texts::Texts;
use crate::model::{Library, LibraryId, Mapping, ProcessId, ProfileBuilder, StringId, Time};

/// What the addresses of a mapping mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In a library, so far behind its base.
    Library { library: LibraryId, base: u64 },
    /// In no file.
    Memory,
    /// System calls.
    Kernel,
}

/// All mappings.
pub(super) struct Libraries {
    /// The place of each row of the file.
    places: Vec<Place>,
    /// Path and build id of each library.
    known: FxHashMap<(StringId, Option<StringId>), Known>,
    /// What the model has of the file's mappings, for when there is a process that they are of.
    mappings: Vec<Mapping>,
}

struct Known {
    library: LibraryId,
    /// The AVMA of its base, once a mapping says it.
    base: Option<u64>,
    /// Parts of its file that are mapped: offset and size, with the AVMA.
    parts: FxHashMap<(u64, u64), u64>,
}

impl Libraries {
    /// The libraries of `rows`. Without an address and a location a row says nothing, and is passed over.
    pub(super) fn of(
        rows: &Rows<'_>,
        is_used: &[bool],
        texts: &mut Texts<'_>,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Result<Self, ReadError> {
        let mut libraries = Self { places: Vec::new(), known: FxHashMap::default(), mappings: Vec::new() };
        for (row, is_used) in is_used.iter().enumerate() {
            let (mapping, _) = rows.decode::<schema::Mapping>(row)?;
            let place = libraries.place(mapping, *is_used || row == 0, texts, builder, report);
            libraries.places.push(place);
        }
        Ok(libraries)
    }

    /// What addresses in the mapping of this row mean.
    pub(super) fn get(&self, row: usize) -> Place {
        self.places[row]
    }

    /// Adds the mappings to the model, as those of `process`.
    pub(super) fn add_mappings(&mut self, process: ProcessId, builder: &mut ProfileBuilder) {
        for mapping in self.mappings.drain(..) {
            builder.add_mapping(Mapping { process, ..mapping });
        }
    }

    fn place(
        &mut self,
        row: schema::Mapping,
        is_used: bool,
        texts: &mut Texts<'_>,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Place {
        // Nothing is ever mapped at 0: tools that know no addresses write it.
        let is_mapped = row.memory_start != 0 && row.memory_start < row.memory_limit;
        let is_nameless = row.filename == 0 && row.build_id == 0;
        match &*texts.get(row.filename) {
            KERNEL if row.memory_limit == 0 => return Place::Kernel,
            MEMORY => return Place::Memory,
            UNKNOWN if row.memory_limit == 0 => return Place::Memory,
            _ if is_nameless || !(is_used || is_mapped) => return Place::Memory,
            _ => {}
        }
        let path = texts.id(row.filename, builder, report);
        let build_id = (row.build_id != 0).then(|| texts.id(row.build_id, builder, report));
        let known = self.known.entry((path, build_id)).or_insert_with(|| Known {
            library: add_library(path, build_id, builder),
            base: None,
            parts: FxHashMap::default(),
        });
        let library = known.library;
        if !is_mapped {
            return Place::Library { library, base: 0 };
        }
        let part = (row.file_offset, row.memory_limit - row.memory_start);
        let first_base = *known.base.get_or_insert(row.memory_start.wrapping_sub(row.file_offset));
        // The same part of the file is the same code, wherever it is mapped.
        if let Some(first_start) = known.parts.get(&part) {
            return Place::Library {
                library,
                base: row.memory_start.wrapping_sub(first_start.wrapping_sub(first_base)),
            };
        }
        known.parts.insert(part, row.memory_start);
        self.mappings.push(Mapping {
            process: ProcessId::new(0),
            library,
            start: row.memory_start,
            end: row.memory_limit,
            file_offset: row.file_offset,
            base: Some(first_base),
            from: Time::ZERO,
            until: None,
        });
        Place::Library { library, base: first_base }
    }
}

fn add_library(path: StringId, code_id: Option<StringId>, builder: &mut ProfileBuilder) -> LibraryId {
    let path = builder.tables().strings.get(path).to_owned();
    let library = builder.library_at(&path);
    builder.add_library(Library { code_id, ..library })
}

//! An ELF file as sampler, unwinder and symbolizer need it: segments, sections, build id.
//!
//! Nothing here knows about processes: an [`Image`] is a file (or the vdso's bytes), addresses are the file's own
//! (SVMA, "stated virtual memory address"). [`Image::bias`] gives the difference to the addresses of a process (AVMA,
//! "actual") for a mapping of the file. Symbols and debug information are read by `symbolize`.
//!
//! ```
//! use cargo_traceview::image::Image;
//!
//! let image = Image::open(&std::env::current_exe()?)?;
//! let text = image.section(".text").expect("a program has code");
//! let segment = image.segments().iter().find(|segment| segment.executable).expect("and a segment for it");
//! assert!(segment.svma <= text.svma);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod build_id;
pub mod bytes;
mod entry;
pub mod map;
mod section;
pub mod segment;
mod xz;

pub use build_id::BuildId;
pub use bytes::{SectionBytes, SharedBytes};
pub use segment::Segment;

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, NoteIterator, ProgramHeader as _, SectionHeader as _};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::ImageData;
use map::MappedFile;
use section::Section;

/// Symbol tables that xz packed are 4 to 12 times as large. A hostile file could claim thousands.
const MAX_EMBEDDED_RATIO: usize = 64;
/// The largest embedded image that is unpacked.
const MAX_EMBEDDED: usize = 512 << 20;

/// Why a file can't be used as an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file can't be opened: gone, or not ours to read.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A device, pipe or directory: opening those can have effects, so it is not tried.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file can't be mapped into memory.
    #[error("cannot map {}", path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file is not an ELF file of this machine's kind (64-bit, little-endian), or its headers are damaged.
    #[error("{} is not a 64-bit little-endian ELF file: {source}", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// What the parser met.
        source: object::Error,
    },
}

impl ImageError {
    /// Whether the file is simply not there (any more).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, ImageError::Open { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// An address (SVMA) with the image that it is in.
pub type AddressInImage = (Arc<Image>, u64);

/// An ELF file, mapped and with its headers read. Share it as `Arc<Image>`.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    data: Arc<ImageData>,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    code: Vec<Range<u64>>,
    build_id: Option<BuildId>,
    is_pie: bool,
    entry: u64,
    modified: Option<SystemTime>,
}

impl Image {
    /// Opens the ELF file at `path`.
    ///
    /// # Errors
    /// See [`ImageError`]. A damaged section table is not an error: the image then has no sections.
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        let open_error = |source| ImageError::Open { path: path.to_path_buf(), source };
        // Looked at before opening: opening a FIFO would wait, opening a device can do things.
        if !std::fs::metadata(path).map_err(open_error)?.is_file() {
            return Err(ImageError::NotAFile { path: path.to_path_buf() });
        }
        Self::from_file(&File::open(path).map_err(open_error)?, path.to_path_buf())
    }

    /// Reads an open file, for example one reached through `/proc/PID/map_files`; `path` is the name to show.
    ///
    /// # Errors
    /// See [`ImageError`].
    pub fn from_file(file: &File, path: PathBuf) -> Result<Self, ImageError> {
        match MappedFile::new(file) {
            Ok(map) => {
                let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
                Ok(Image { modified, ..Self::from_data(ImageData::Mapped(map), path)? })
            }
            Err(source) => Err(ImageError::Map { path, source }),
        }
    }

    /// Reads an image that is in memory already: the vdso.
    ///
    /// # Errors
    /// See [`ImageError`].
    pub fn from_bytes(bytes: Vec<u8>, name: PathBuf) -> Result<Self, ImageError> {
        Self::from_data(ImageData::Owned(bytes), name)
    }

    /// The path the image was opened by, or the name given to it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's name without its directories, as shown to people.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// The linker's build id, if the file has one.
    #[must_use]
    pub fn build_id(&self) -> Option<&BuildId> {
        self.build_id.as_ref()
    }

    /// When the file's content was last changed; `None` for one in memory.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// The whole file.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// What is loaded into memory, in the order of the program headers (by address).
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Where code is, sorted: the sections marked executable, or the segments of a file without sections.
    #[must_use]
    pub fn code(&self) -> &[Range<u64>] {
        &self.code
    }

    /// The address of the byte at `offset` of the file; `None` if that byte is not loaded.
    #[must_use]
    pub fn svma_at_file_offset(&self, offset: u64) -> Option<u64> {
        segment::svma_at_file_offset(&self.segments, offset)
    }

    /// AVMA − SVMA (modulo 2^64) for a mapping of this file as `/proc/PID/maps` lists it; `None` if the mapping holds
    /// nothing of a segment. For executable mappings use [`Image::code_bias`], which can't confuse segments.
    #[must_use]
    pub fn bias(&self, mapping_start_avma: u64, mapping_file_offset: u64, mapping_len: u64) -> Option<u64> {
        segment::bias(self.segments.iter(), mapping_start_avma, mapping_file_offset, mapping_len)
    }

    /// As [`Image::bias`] for an executable mapping: only segments with code are considered.
    #[must_use]
    pub fn code_bias(&self, mapping_start_avma: u64, mapping_file_offset: u64, mapping_len: u64) -> Option<u64> {
        let code = self.segments.iter().filter(|segment| segment.executable);
        segment::bias(code, mapping_start_avma, mapping_file_offset, mapping_len)
    }

    /// The lowest loaded address, rounded down to its page: 0 for libraries and PIEs, often 0x400000 otherwise.
    #[must_use]
    pub fn base_svma(&self) -> u64 {
        segment::base_svma(&self.segments)
    }

    /// Where the kernel starts the program (or the dynamic linker), in the image's own address space; 0 if it is no program.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// Whether the file can be loaded anywhere: a position-independent program, or a shared library.
    #[must_use]
    pub fn is_pie(&self) -> bool {
        self.is_pie
    }

    /// A section by name, decompressed. A name `.debug_…` finds an old `.zdebug_…` section too. `None` if the section
    /// is missing, has no content in this file, or can't be decompressed.
    ///
    /// Decompression happens at each call: keep the result.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<SectionBytes> {
        self.find_section(name)?.load(&self.data)
    }

    /// The image that is stored within this one, packed by xz, in `.gnu_debugdata` ("MiniDebugInfo"): its symbol table has the
    /// functions that `strip` took out of this one. Unpacked at each call.
    #[must_use]
    pub fn embedded_symbols(&self) -> Option<Image> {
        let packed = self.section(".gnu_debugdata")?;
        let limit = packed.bytes.len().saturating_mul(MAX_EMBEDDED_RATIO).min(MAX_EMBEDDED);
        let bytes = xz::unpack(&packed.bytes, limit)?;
        Image::from_bytes(bytes, self.path.clone()).ok()
    }

    /// Whether the full symbol table is there; what `strip` leaves is only the dynamic one.
    #[must_use]
    pub fn has_symtab(&self) -> bool {
        self.find_section(".symtab").is_some()
    }

    /// Whether there is DWARF debug information: lines and inlined functions.
    #[must_use]
    pub fn has_debug_info(&self) -> bool {
        self.find_section(".debug_info").is_some()
    }

    fn find_section(&self, name: &str) -> Option<&Section> {
        let by_name = |name: &str| self.sections.iter().find(|section| section.name == name);
        by_name(name).or_else(|| by_name(&format!(".zdebug_{}", name.strip_prefix(".debug_")?)))
    }

    fn from_data(data: ImageData, path: PathBuf) -> Result<Self, ImageError> {
        match Headers::read(&data) {
            Ok(Headers { segments, sections, code, build_id, is_pie, entry }) => Ok(Image {
                path,
                data: Arc::new(data),
                segments,
                sections,
                code,
                build_id,
                is_pie,
                entry,
                modified: None,
            }),
            Err(source) => Err(ImageError::NotElf { path, source }),
        }
    }
}

/// What is read of a file when it is opened.
struct Headers {
    segments: Vec<Segment>,
    sections: Vec<Section>,
    code: Vec<Range<u64>>,
    build_id: Option<BuildId>,
    is_pie: bool,
    entry: u64,
}

impl Headers {
    fn read(data: &[u8]) -> Result<Self, object::Error> {
        let endian = LittleEndian;
        let header = FileHeader64::<LittleEndian>::parse(data)?;
        // Refuses big-endian files: `LittleEndian` is the only order this header type supports.
        header.endian()?;
        let program_headers = header.program_headers(endian, data)?;
        let segments: Vec<Segment> = program_headers
            .iter()
            .filter(|program_header| program_header.p_type(endian) == elf::PT_LOAD)
            .map(|program_header| Segment {
                svma: program_header.p_vaddr(endian),
                file_offset: program_header.p_offset(endian),
                file_size: program_header.p_filesz(endian),
                mem_size: program_header.p_memsz(endian),
                executable: program_header.p_flags(endian).contains(elf::PF_X),
            })
            .collect();
        // Programs run without a section table, so a damaged one only costs what it would have told.
        let table = header.sections(endian, data).unwrap_or_default();
        let build_id = program_headers
            .iter()
            .filter_map(|program_header| program_header.notes(endian, data).ok().flatten())
            .find_map(build_id)
            .or_else(|| table.iter().filter_map(|header| header.notes(endian, data).ok().flatten()).find_map(build_id));
        let mut code = section::code(&table);
        if code.is_empty() {
            let executable = segments.iter().filter(|segment| segment.executable);
            code.extend(executable.map(|segment| segment.svma..segment.svma.saturating_add(segment.mem_size)));
        }
        code.sort_by_key(|stretch| stretch.start);
        Ok(Headers {
            segments,
            code,
            sections: section::read_sections(&table, data.len()),
            build_id,
            is_pie: header.e_type(endian) == elf::ET_DYN,
            entry: entry::read(header, program_headers, data),
        })
    }
}

fn build_id(mut notes: NoteIterator<'_, FileHeader64<LittleEndian>>) -> Option<BuildId> {
    // A damaged note ends the search of its section: the next note's place is unknown.
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(LittleEndian) == elf::NT_GNU_BUILD_ID {
            return BuildId::new(note.desc());
        }
    }
    None
}

#[cfg(test)]
mod tests;

//! Executables and shared libraries, and where they were mapped when.

use super::ids::{LibraryId, ProcessId, StringId};
use super::time::Time;

/// A file with code that was mapped into a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Library {
    /// File name, for example `libc.so.6`.
    pub name: StringId,
    /// Full path as the process had it.
    pub path: StringId,
    /// File name of its debug information, if apart; else as `name`.
    pub debug_name: StringId,
    /// Path of its debug information, if apart; else as `path`.
    pub debug_path: StringId,
    /// The full build id in lower-case hex.
    pub code_id: Option<StringId>,
    /// The id that Firefox's and Breakpad's tools know it by; empty if there is none.
    pub breakpad_id: StringId,
    /// The architecture, for example `x86_64`.
    pub arch: StringId,
    /// Whether its functions have names, and if not, why.
    pub symbols: SymbolStatus,
}

/// What a file at `path` is called: the last part; all of a path that ends in a slash.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Where the names of a library's functions came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolStatus {
    /// Not known: the file that this profile was read from does not say.
    Unknown,
    /// Symbol table and debug information: names, inlined functions, files, lines.
    DebugInfo,
    /// Symbol table only: names, no lines.
    SymbolTable,
    /// Exported names only; the rest was stripped.
    Stripped,
    /// The file could not be found or read, or is not the one that ran.
    Unavailable,
}

/// A part of a library in the memory of a process.
///
/// AVMA = actual virtual memory address (in the process), SVMA = stated one (in the file).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Whose memory.
    pub process: ProcessId,
    /// What is mapped.
    pub library: LibraryId,
    /// First AVMA.
    pub start: u64,
    /// First AVMA behind it.
    pub end: u64,
    /// Where in the file `start` is.
    pub file_offset: u64,
    /// The AVMA of the library's base, which the addresses of [frames](super::FrameTable::address) are relative to; it
    /// can lie outside. `None` if not known.
    pub base: Option<u64>,
    /// When it was first seen.
    pub from: Time,
    /// When it was seen to be gone, if it was.
    pub until: Option<Time>,
}

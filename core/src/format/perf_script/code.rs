//! Frames, functions and libraries.

use rustc_hash::FxHashMap;

use super::super::ReadError;
use super::super::import_report::{ImportReport, Note};
use super::super::room::Room;
use super::frame_line::{FrameLine, SourceLine};
use crate::model::{
    Frame, FrameId, Function, FunctionKind, LibraryId, ProfileBuilder, Resource, ResourceId, ResourceKind, Source,
    StackId, StandardCategory, file_name,
};

const NOT_UTF8: Note =
    Note { code: "name-not-utf8", message: "names that are no UTF-8 are shown with replacement characters" };

/// A frame as its lines tell it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    /// Where in the file.
    pub offset: usize,
    pub frame: FrameLine<'a>,
    pub source: Option<SourceLine<'a>>,
}

/// The code that was met so far.
#[derive(Default)]
pub(super) struct Code<'a> {
    frames: FxHashMap<Key<'a>, FrameId>,
    libraries: FxHashMap<&'a [u8], (LibraryId, ResourceId)>,
}

/// What tells frames apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'a> {
    symbol: &'a [u8],
    /// The file that it is in, be it that of the function that it was inlined into.
    file: Option<&'a [u8]>,
    source: Option<(&'a [u8], u32)>,
    inline_depth: u16,
    /// The place in memory, of code in no file.
    address: Option<u64>,
}

impl<'a> Code<'a> {
    /// The stack of some frames, the innermost first.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(super) fn stack(
        &mut self,
        frames: &[Lines<'a>],
        room: Room,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Result<Option<StackId>, ReadError> {
        let mut stack = None;
        // The function that the next ones may be inlined into.
        let mut around: Option<Key<'a>> = None;
        let mut address_around = None;
        for Lines { offset, frame, source } in frames.iter().rev() {
            let around_this = around.filter(|_| frame.is_inlined && frame.address == address_around);
            let source = source.and_then(|source| source.place);
            let key = match around_this {
                Some(around) => {
                    let inline_depth = around.inline_depth.saturating_add(1);
                    Key { symbol: frame.symbol, file: around.file, source, inline_depth, address: None }
                }
                None => {
                    let address = frame.address.filter(|_| frame.file.is_none() && !frame.is_inlined);
                    Key { symbol: frame.symbol, file: frame.file, source, inline_depth: 0, address }
                }
            };
            // Where `perf` leaves the function around out, what was inlined stands alone.
            if around_this.is_some() || !frame.is_inlined {
                (around, address_around) = (Some(key), frame.address);
            }
            let frame = self.frame(key, builder, || report.note(NOT_UTF8, || format!("byte {offset}")));
            stack = Some(builder.stack(stack, frame));
            // What is kept here takes its room, too: a line as much as two nodes, a known frame as four.
            let here = 2 * frames.len() + 4 * self.frames.len();
            room.check_stack(builder, here, || format!("byte {offset}"))?;
        }
        Ok(stack)
    }

    fn frame(&mut self, key: Key<'a>, builder: &mut ProfileBuilder, not_utf8: impl FnOnce()) -> FrameId {
        if let Some(frame) = self.frames.get(&key) {
            return *frame;
        }
        if std::str::from_utf8(key.symbol).is_err() {
            not_utf8();
        }
        let library = key.file.map(|file| self.library(file, builder));
        let kind = if key.symbol.is_empty() { FunctionKind::Unsymbolized } else { FunctionKind::Native };
        let symbol = String::from_utf8_lossy(key.symbol);
        let name = builder.string(if key.symbol.is_empty() { "[unknown]" } else { &symbol });
        let source = key.source.map(|(file, _)| {
            let path = builder.string(&String::from_utf8_lossy(file));
            builder.source(Source::at(path))
        });
        let resource = library.map(|(_, resource)| resource);
        let function = builder.function(Function { kind, resource, source, ..Function::named(name) });
        let frame = builder.frame(Frame {
            library: library.map(|(library, _)| library),
            address: key.address,
            inline_depth: key.inline_depth,
            category: Some(category(key.file.unwrap_or_default()).id()),
            line: key.source.map(|(_, line)| line).filter(|line| *line > 0),
            ..Frame::of(function)
        });
        self.frames.insert(key, frame);
        frame
    }

    fn library(&mut self, file: &'a [u8], builder: &mut ProfileBuilder) -> (LibraryId, ResourceId) {
        *self.libraries.entry(file).or_insert_with(|| {
            let text = String::from_utf8_lossy(file);
            let library = builder.library_at(&text);
            let name = library.name;
            let library = builder.add_library(library);
            let row = Resource { name, kind: ResourceKind::Library, library: Some(library), host: None };
            (library, builder.resource(row))
        })
    }
}

/// Whose code a file is, where its name leaves no doubt.
fn category(file: &[u8]) -> StandardCategory {
    let path = String::from_utf8_lossy(file);
    let name = file_name(&path);
    let in_kernel = ["[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon"].iter().all(|own| !name.starts_with(own));
    let is_module = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"].iter().any(|ending| name.ends_with(ending));
    let is_jit = (name.starts_with("perf-") && name.ends_with(".map")) || name.starts_with("jitted-");
    if (path.starts_with('[') && in_kernel) || name.starts_with("vmlinux") || is_module {
        StandardCategory::Kernel
    } else if is_jit || path.starts_with("//anon") || name.starts_with("[anon") {
        StandardCategory::Jit
    } else if is_of_system(&path) || ["[vdso]", "[vsyscall]"].contains(&name) {
        StandardCategory::System
    } else {
        StandardCategory::Other
    }
}

/// Whether a path is in one of the folders for the system's libraries themselves, not for what programs put below.
fn is_of_system(path: &str) -> bool {
    let path = path.strip_prefix("/usr").unwrap_or(path);
    let Some(rest) = ["/lib/", "/lib32/", "/lib64/"].iter().find_map(|folder| path.strip_prefix(folder)) else {
        return false;
    };
    rest.rsplit_once('/').is_none_or(|(folder, _)| folder.contains("-linux-") && !folder.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_whose_code_they_are() {
        for (file, expected) in [
            ("[kernel.kallsyms]", StandardCategory::Kernel),
            ("[nf_conntrack]", StandardCategory::Kernel),
            ("/usr/lib/debug/lib/modules/6.1/vmlinux", StandardCategory::Kernel),
            ("/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz", StandardCategory::Kernel),
            ("[vdso]", StandardCategory::System),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", StandardCategory::System),
            ("/lib64/ld-linux-x86-64.so.2", StandardCategory::System),
            ("/usr/lib/firefox/libxul.so", StandardCategory::Other),
            ("/tmp/perf-19982.map", StandardCategory::Jit),
            ("//anon", StandardCategory::Jit),
            ("[heap]", StandardCategory::Other),
            ("/home/me/target/release/demo", StandardCategory::Other),
            ("", StandardCategory::Other),
        ] {
            assert_eq!(category(file.as_bytes()), expected, "{file}");
        }
    }
}

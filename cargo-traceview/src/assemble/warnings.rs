//! What a person should know about a recording: what is missing in it, why, and what to do.

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object as _, ObjectSymbol as _};
use traceview_core::model::{SymbolStatus, Warning};

use super::code::file_name;
use crate::image::Image;
use crate::unwind::{ImageIndex, RawFrame, Recording};

/// A thread that ends can hide for a moment; more than this is a program that does.
const HIDDEN_LOOKS: u64 = 20;

/// All warnings. `symbols` says for each image where its names came from, `with_children` whether children of the program
/// were recorded.
pub(super) fn warnings(recording: &Recording, symbols: &[SymbolStatus], with_children: bool) -> Vec<Warning> {
    let mut warnings = about_names(recording, symbols);
    warnings.extend(about_hidden_threads(recording));
    if with_children {
        warnings.extend(about_tracers(recording));
    }
    warnings
}

fn about_names(recording: &Recording, symbols: &[SymbolStatus]) -> Vec<Warning> {
    let program = program(recording, 0);
    let mut frames = vec![0; recording.images.len()];
    for frame in &recording.frames {
        if let RawFrame::Code { image, .. } = frame {
            frames[*image] += 1;
        }
    }
    let mut warnings = Vec::new();
    for (index, loaded) in recording.images.iter().enumerate() {
        let name = file_name(loaded);
        let (code, message) = match (&loaded.image, symbols[index]) {
            (Err(reason), _) => ("no-file", format!("no names for the code of `{name}`: {reason}")),
            (Ok(_), SymbolStatus::SymbolTable) if program == Some(index) => (
                "no-debug-info",
                format!(
                    "`{name}` has no debug information: its functions have names, but no files and lines, and inlined \
                     functions are not seen; build it with debug = 1 (`cargo traceview` does that itself)"
                ),
            ),
            (Ok(_), SymbolStatus::Stripped) if program == Some(index) => (
                "stripped",
                format!(
                    "`{name}` was stripped: its functions have no names; build it with strip = \"none\" and debug = 1"
                ),
            ),
            _ => continue,
        };
        if frames[index] > 0 {
            let first = Some(loaded.path.display().to_string());
            warnings.push(Warning { code: code.to_owned(), message, count: frames[index], first });
        }
    }
    warnings
}

fn about_hidden_threads(recording: &Recording) -> Option<Warning> {
    (recording.hidden_looks > HIDDEN_LOOKS).then(|| Warning {
        code: "hidden-threads".to_owned(),
        message:
            "some threads could not be looked at, so their CPU time has no samples: their process hides its memory \
                  (PR_SET_DUMPABLE, or it changed its user); as root they can be recorded"
                .to_owned(),
        count: recording.hidden_looks,
        first: None,
    })
}

/// Programs that trace others cannot do so while they are traced themselves.
fn about_tracers(recording: &Recording) -> Option<Warning> {
    let mut tracers = (0..recording.processes.len()).filter_map(|process| {
        let index = program(recording, process)?;
        let image = recording.images[index].image.as_ref().ok()?;
        imports(image, b"ptrace").then(|| file_name(&recording.images[index]))
    });
    let first = tracers.next()?;
    let count = 1 + tracers.count() as u64;
    let message = format!(
        "`{first}` can trace other programs, which the kernel forbids while it is recorded with its children; if it failed, \
         record it with --no-children"
    );
    Some(Warning { code: "tracer".to_owned(), message, count, first: Some(first) })
}

/// The image of the program that a process ran: what it has lowest in memory, by the kernel's layout.
fn program(recording: &Recording, process: usize) -> Option<ImageIndex> {
    recording.mappings.iter().find(|mapping| mapping.process == process).map(|mapping| mapping.image)
}

/// Whether a program calls a function of a library by this name.
fn imports(image: &Image, name: &[u8]) -> bool {
    let Ok(file) = ElfFile::<FileHeader64<LittleEndian>>::parse(image.data()) else { return false };
    file.dynamic_symbols().any(|symbol| symbol.is_undefined() && symbol.name_bytes().is_ok_and(|bytes| bytes == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_from_what_is_not_called() {
        let this = Image::open(&std::env::current_exe().unwrap()).unwrap();
        assert!(imports(&this, b"__libc_start_main"), "every program does");
        assert!(!imports(&this, b"no_such_function"));
    }
}

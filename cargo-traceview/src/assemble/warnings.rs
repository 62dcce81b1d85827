//! What a person should know about a recording: what is missing in it, why, and what to do.

use traceview_core::model::{SymbolStatus, Warning};

use super::code::file_name;
use super::programs;
use crate::image::Image;
use crate::symbolize::Shortfall;
use crate::symbolize::debug_file::{self, NoDebugFile};
use crate::unwind::{ImageIndex, LoadedImage, RawFrame, Recording};

/// All warnings. `symbols` says for each image where its names came from, `shortfalls` what they lack, `with_children`
/// whether children of the program were recorded.
pub(super) fn warnings(
    recording: &Recording,
    symbols: &[SymbolStatus],
    shortfalls: &[Option<Shortfall>],
    with_children: bool,
) -> Vec<Warning> {
    let mut warnings = about_names(recording, symbols);
    warnings.extend(about_shortfalls(&recording.images, &frames_in(recording), shortfalls));
    warnings.extend(programs::about_hidden(recording));
    warnings.extend(programs::about_lost_privileges(recording));
    if with_children {
        warnings.extend(programs::about_tracers(recording));
    }
    warnings
}

/// How many distinct addresses were seen in each image.
fn frames_in(recording: &Recording) -> Vec<u64> {
    let mut frames = vec![0; recording.images.len()];
    for frame in &recording.frames {
        if let RawFrame::Code { image, .. } = frame {
            frames[*image] += 1;
        }
    }
    frames
}

/// `counts`: the distinct addresses that were seen in each image.
fn about_shortfalls(images: &[LoadedImage], counts: &[u64], shortfalls: &[Option<Shortfall>]) -> Vec<Warning> {
    let warning = |((loaded, shortfall), count): ((&LoadedImage, &Option<Shortfall>), &u64)| {
        let why = (*shortfall)?;
        let code = match why {
            Shortfall::Excess => "debug-info-not-read",
            Shortfall::Fault => "symbolizer-fault",
        };
        let message = format!(
            "debug information of `{}` was not used, or not all of it: {why}; functions are named by its symbol table there",
            file_name(loaded)
        );
        let first = Some(loaded.path.display().to_string());
        Some(Warning { code: code.to_owned(), message, count: *count, first })
    };
    images.iter().zip(shortfalls).zip(counts).filter_map(warning).collect()
}

fn about_names(recording: &Recording, symbols: &[SymbolStatus]) -> Vec<Warning> {
    let program = program(recording, 0);
    let frames = frames_in(recording);
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
            // One whose debug file has a name comes from a package, and is nobody's to build.
            (Ok(image), SymbolStatus::Stripped)
                if program == Some(index) && matches!(debug_file::search(image), Err(NoDebugFile::NotNamed)) =>
            {
                (
                    "stripped",
                    format!(
                        "`{name}` was stripped: its functions have no names; build it with strip = \"none\" and debug = 1"
                    ),
                )
            }
            (Ok(image), SymbolStatus::Stripped) if frames[index] > 0 => ("stripped", about_stripped(image, &name)),
            _ => continue,
        };
        if frames[index] > 0 {
            let first = Some(loaded.path.display().to_string());
            warnings.push(Warning { code: code.to_owned(), message, count: frames[index], first });
        }
    }
    warnings
}

/// Why a library has no names for some of its code, and what helps.
fn about_stripped(image: &Image, name: &str) -> String {
    let (why, remedy) = match debug_file::search(image) {
        Ok(file) => (
            format!("its debug file {} has no symbols either", file.path().display()),
            "install a complete one".to_owned(),
        ),
        Err(why) => {
            let remedy = match &why {
                NoDebugFile::NotNamed => "build it without `strip`",
                NoDebugFile::NotInstalled => {
                    "install its package's debug symbols (NAME-dbg, NAME-dbgsym or NAME-debuginfo)"
                }
                NoDebugFile::OtherBuild { .. } => "install both of the same version",
                NoDebugFile::Unusable { .. } => "replace that file",
            };
            (why.to_string(), remedy.to_owned())
        }
    };
    format!("`{name}` was stripped, only the functions that it exports have names, and {why}: {remedy}")
}

/// The image of the program that a process ran: what it has lowest in memory, by the kernel's layout.
fn program(recording: &Recording, process: usize) -> Option<ImageIndex> {
    recording.mappings.iter().find(|mapping| mapping.process == process).map(|mapping| mapping.image)
}

#[cfg(test)]
mod tests {
    use super::about_shortfalls;
    use crate::symbolize::Shortfall;
    use crate::unwind::LoadedImage;

    #[test]
    fn what_was_not_read_of_a_file_is_said_with_its_name() {
        let image = |path: &str| LoadedImage { path: path.into(), image: Err("not needed".to_owned()) };
        let images = ["/lib/whole.so", "/lib/faulty.so", "/lib/hostile.so"].map(image);
        let shortfalls = [None, Some(Shortfall::Fault), Some(Shortfall::Excess)];
        let warnings = about_shortfalls(&images, &[1, 2, 3], &shortfalls);
        let told = warnings.iter().map(|warning| (&*warning.code, warning.count, warning.first.as_deref()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [("symbolizer-fault", 2, Some("/lib/faulty.so")), ("debug-info-not-read", 3, Some("/lib/hostile.so"))]
        );
        for (warning, name) in warnings.iter().zip(["`faulty.so`", "`hostile.so`"]) {
            assert!(warning.message.contains(name), "{}", warning.message);
        }
    }
}

//! Which file a program's name means, and whether it is one that a shell would run itself.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Launch, SamplerError};

/// The file that `launch` means: a path if it has a slash, else the first executable file of that name in `PATH`.
///
/// # Errors
/// If there is none.
pub(super) fn find(launch: &Launch) -> Result<PathBuf, SamplerError> {
    let program = &launch.program;
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let set = launch.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = set.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| "/bin:/usr/bin".into());
    match find_in(&path, program) {
        Found::Executable(file) => Ok(file),
        Found::Forbidden => {
            let source = io::Error::from_raw_os_error(libc::EACCES);
            Err(SamplerError::NotExecutable { program: program.clone(), source })
        }
        Found::Nothing => Err(SamplerError::NotFound { program: program.clone() }),
    }
}

#[derive(PartialEq, Eq, Debug)]
enum Found {
    Executable(PathBuf),
    /// Only files of that name that cannot be executed.
    Forbidden,
    Nothing,
}

/// Looks through the directories of `path`.
fn find_in(path: &OsStr, program: &OsStr) -> Found {
    let mut found = Found::Nothing;
    if program.is_empty() {
        return found;
    }
    for directory in std::env::split_paths(path) {
        // An empty entry is the current directory.
        let candidate = Path::new(".").join(directory).join(program);
        let Ok(metadata) = candidate.metadata() else { continue };
        if metadata.is_file() {
            if metadata.permissions().mode() & 0o111 != 0 {
                return Found::Executable(candidate);
            }
            found = Found::Forbidden;
        }
    }
    found
}

/// Whether a file is text, so that a shell would run it although it names no interpreter. The kernel refuses both such a
/// script and a binary for another machine.
pub(super) fn is_plain_script(path: &Path) -> bool {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut start = Vec::new();
    is_file
        && File::open(path).and_then(|file| file.take(128).read_to_end(&mut start)).is_ok()
        && !start.starts_with(b"#!")
        && !start.starts_with(b"\x7fELF")
        && !start.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_searched_for_and_paths_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let tool = directory.path().join("tool");
        std::fs::write(&tool, "exit 3").unwrap();
        let path = std::env::join_paths([Path::new("/nonexistent"), directory.path()]).unwrap();
        assert_eq!(find_in(&path, OsStr::new("tool")), Found::Forbidden, "not executable yet");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find_in(&path, OsStr::new("tool")), Found::Executable(tool.clone()));
        assert_eq!(find_in(&path, OsStr::new("other")), Found::Nothing);
        assert_eq!(find_in(&path, OsStr::new("")), Found::Nothing);
        let launch = Launch { program: "./not/there".into(), args: Vec::new(), env: Vec::new() };
        assert_eq!(find(&launch).unwrap(), Path::new("./not/there"), "the kernel says what is wrong");
    }

    #[test]
    fn text_is_a_script_and_binaries_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let cases: [(&[u8], bool); 5] =
            [(b"exit 3\n", true), (b"", true), (b"#!/bin/sh\n", false), (b"\x7fELF\x02", false), (b"MZ\0", false)];
        for (content, expected) in cases {
            std::fs::write(&file, content).unwrap();
            assert_eq!(is_plain_script(&file), expected, "{content:?}");
        }
        assert!(!is_plain_script(directory.path()));
    }
}

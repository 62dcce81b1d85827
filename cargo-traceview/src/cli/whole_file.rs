//! Files that appear whole or not at all, whatever ends this process meanwhile.
//!
//! What is written has no name until it is complete (`O_TMPFILE`), so that a signal, even SIGKILL, leaves nothing behind. Only
//! where it takes the place of another file it has a name of its own for an instant, as names cannot be taken over. File
//! systems that know no such files get one with a name of its own from the start, which an error removes, but no signal.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::output::is_special;
use crate::sampler::ptrace::sys;

/// Writes a file beside `path` and puts it in its place when it is complete.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if is_special(path) {
        return write(&mut OpenOptions::new().write(true).open(path)?);
    }
    // What a symbolic link points to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // Not made of the file's own name, which can be as long as names may be.
    let temporary = path.with_file_name(format!(".traceview-{}.tmp", std::process::id()));
    let written = Unfinished::beside(&path, &temporary).and_then(|unfinished| {
        let mut writer = BufWriter::new(&unfinished.file);
        write(&mut writer)?;
        writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        if !unfinished.is_named {
            // Where there is none yet, the file gets its name at once.
            if link(&unfinished.file, &path).is_ok() {
                return Ok(());
            }
            name(&unfinished.file, &temporary)?;
        }
        fs::rename(&temporary, &path)
    });
    if written.is_err() {
        // The error is reported; a leftover that can't be removed either changes nothing.
        let _ignored = fs::remove_file(&temporary);
    }
    written
}

/// A file that is being written.
struct Unfinished {
    file: File,
    is_named: bool,
}

impl Unfinished {
    /// A file in the directory of `path`, without a name if that can be.
    fn beside(path: &Path, temporary: &Path) -> io::Result<Self> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut options = OpenOptions::new();
        // Readable, for the case that it has to be copied.
        options.read(true).write(true);
        if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
            return Ok(Self { file, is_named: false });
        }
        Ok(Self { file: options.create(true).truncate(true).open(temporary)?, is_named: true })
    }
}

/// Gives a file without a name the name `path`.
fn name(file: &File, path: &Path) -> io::Result<()> {
    // One that an earlier process of this id left.
    let _ignored = fs::remove_file(path);
    if link(file, path).is_ok() {
        return Ok(());
    }
    // Without /proc it can't be named.
    let mut source = file;
    io::Seek::rewind(&mut source)?;
    io::copy(&mut source, &mut File::create(path)?)?;
    Ok(())
}

/// Gives a file without a name the name `path`, which no other has.
fn link(file: &File, path: &Path) -> io::Result<()> {
    sys::name_file(file.as_fd(), &CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unfinished_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        let names =
            || fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        if Unfinished::beside(&path, &path).unwrap().is_named {
            println!("skipped: the file system of {} has no files without names", directory.path().display());
            return;
        }
        for content in ["first", "second"] {
            let before = names();
            replace(&path, |out| {
                out.write_all(content.as_bytes())?;
                out.flush()?;
                assert_eq!(names(), before, "a signal now would leave nothing");
                Ok(())
            })
            .unwrap();
            assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names().len()), (content, 1));
        }
    }

    #[test]
    fn a_file_has_the_mode_of_a_new_one() {
        use std::os::unix::fs::MetadataExt as _;
        let directory = tempfile::tempdir().unwrap();
        let (ours, usual) = (directory.path().join("ours"), directory.path().join("usual"));
        replace(&ours, |out| out.write_all(b"1")).unwrap();
        fs::write(&usual, b"1").unwrap();
        assert_eq!(fs::metadata(ours).unwrap().mode(), fs::metadata(usual).unwrap().mode());
    }
}

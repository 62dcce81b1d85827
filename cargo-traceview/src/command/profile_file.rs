//! Reading the profile that a verb is about, and printing what the verb says of it.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use traceview_core::format::chrome::calltree::{CallTree, CallTreeError, CallTreeQuery};
use traceview_core::format::{self, ReadError, ReadOptions};
use traceview_core::model::Profile;
use traceview_core::report::InfoSource;

use crate::cli::plan::{STANDARD_STREAM, Surroundings};
use crate::error::Error;

/// What a FILE argument means, before it is read as a profile.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
    options: ReadOptions,
}

impl Source {
    /// Reads the bytes.
    ///
    /// # Errors
    /// When there is no such recording, or it can't be read.
    pub fn read(file: Option<&Path>, options: ReadOptions, surroundings: &Surroundings) -> Result<Self, Error> {
        let (path, bytes) = if file == Some(Path::new(STANDARD_STREAM)) {
            ("stdin".into(), read(io::stdin().lock(), &options))
        } else {
            let path = surroundings.resolve_file(file)?;
            let bytes = File::open(&path).and_then(|file| read(file, &options));
            (path, bytes)
        };
        match bytes {
            Ok(bytes) => {
                let options = ReadOptions { named: format::named(&path), ..options };
                Ok(Self { path, bytes, options })
            }
            Err(source) => Err(Error::Read { path, source: source.into() }),
        }
    }

    /// The profile in it, and what sort of file it is.
    ///
    /// # Errors
    /// When it is none.
    pub fn profile(&self) -> Result<(Profile, InfoSource), Error> {
        let contents = format::read(&self.bytes, &self.options).map_err(|source| self.error(source))?;
        let source = InfoSource { format: contents.format.name.to_owned(), version: contents.version };
        Ok((contents.profile, source))
    }

    /// The flows that Chrome DevTools finds in it, as JSON; `None` unless it is a Chrome trace.
    ///
    /// # Errors
    /// When it is no whole file.
    pub fn devtools_flows(&self) -> Result<Option<String>, Error> {
        format::devtools_flows(&self.bytes, &self.options).map_err(|source| self.error(source))
    }

    /// The call tree that Chrome DevTools makes of it.
    ///
    /// # Errors
    /// When it makes none, or the file can't be read.
    pub fn devtools_call_tree(&self, query: &CallTreeQuery) -> Result<CallTree, Error> {
        format::devtools_call_tree(&self.bytes, &self.options, query).map_err(|error| match error {
            CallTreeError::Read(source) => self.error(source),
            error if error.is_no_answer() => Error::NothingFound(error.to_string()),
            error => Error::Read { path: self.path.clone(), source: error.into() },
        })
    }

    fn error(&self, source: ReadError) -> Error {
        Error::Read { path: self.path.clone(), source: source.into() }
    }
}

/// The profile that a FILE argument means, and what sort of file it is.
///
/// # Errors
/// When there is no such recording, or the file can't be read.
pub fn load(
    file: Option<&Path>,
    options: ReadOptions,
    surroundings: &Surroundings,
) -> Result<(Profile, InfoSource), Error> {
    Source::read(file, options, surroundings)?.profile()
}

fn read(input: impl Read, options: &ReadOptions) -> io::Result<Vec<u8>> {
    let bytes = format::read_input(input, options, |_| true)?;
    Ok(bytes.expect("nobody gives up here"))
}

/// Prints the result of a verb.
///
/// # Errors
/// When stdout does not take it.
pub fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Print)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::*;
    use crate::exit_code::ExitCode;

    #[test]
    fn a_file_that_is_no_profile_is_named_with_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            args: Vec::new(),
            cwd: directory.path().to_owned(),
            home: Some(OsString::from(directory.path())),
            xdg_data_home: None,
            xdg_cache_home: None,
        };
        let path = directory.path().join("missing.json");
        let missing = load(Some(&path), ReadOptions::default(), &surroundings).expect_err("there is no such file");
        assert_eq!(missing.exit_code(), ExitCode::Failed);
        assert!(missing.to_message().starts_with(&format!("error: can't read {}\n  cause: ", path.display())));

        let path = directory.path().join("empty.json");
        fs::write(&path, "").unwrap();
        let empty = load(Some(&path), ReadOptions::default(), &surroundings).expect_err("there is nothing in it");
        assert_eq!(empty.to_message(), format!("error: can't read {}\n  cause: the file is empty\n", path.display()));
    }
}

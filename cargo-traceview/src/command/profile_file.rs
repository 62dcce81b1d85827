//! Reading the profile that a verb is about, and printing what the verb says of it.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use traceview_core::format::{self, FORMATS, ReadOptions, gecko};
use traceview_core::model::Profile;
use traceview_core::report::InfoSource;

use crate::cli::plan::Surroundings;
use crate::error::Error;

/// The profile that a FILE argument means, and what sort of file it is.
///
/// # Errors
/// When there is no such recording, or the file can't be read.
pub fn load(file: Option<&Path>, surroundings: &Surroundings) -> Result<(Profile, InfoSource), Error> {
    let path = surroundings.resolve_file(file)?;
    let error = |source| Error::Read { path: path.clone(), source };
    let options = ReadOptions::default();
    let bytes = read(&path, &options).map_err(|source| error(source.into()))?;
    let profile = format::read(&bytes, &options).map_err(|source| error(source.into()))?;
    Ok((profile, source()))
}

/// The bytes of a file, or as many of them as it takes to see that it is no profile or too large: some have no end.
fn read(path: &Path, options: &ReadOptions) -> io::Result<Vec<u8>> {
    const START: u64 = 64 << 10;
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(START);
    file.read_to_end(&mut bytes)?;
    if file.limit() == 0 && format::can_begin(&bytes) {
        file.set_limit(options.max_size.saturating_add(1) - START);
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Prints the result of a verb.
///
/// # Errors
/// When stdout does not take it.
pub fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Print)
}

/// Every file that can be read is of this format and version. With a second one the reader must say which it was.
fn source() -> InfoSource {
    const { assert!(FORMATS.len() == 1, "the only format is the one that was read") };
    InfoSource { format: FORMATS[0].name.to_owned(), version: Some(gecko::VERSION.into()) }
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
        };
        let path = directory.path().join("missing.json");
        let missing = load(Some(&path), &surroundings).expect_err("there is no such file");
        assert_eq!(missing.exit_code(), ExitCode::Failed);
        assert!(missing.to_message().starts_with(&format!("error: can't read {}\n  cause: ", path.display())));

        let path = directory.path().join("empty.json");
        fs::write(&path, "").unwrap();
        let empty = load(Some(&path), &surroundings).expect_err("there is nothing in it");
        assert_eq!(empty.to_message(), format!("error: can't read {}\n  cause: the file is empty\n", path.display()));
    }
}

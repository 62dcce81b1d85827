//! Bytes to structure, and what can be wrong with that.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::extension::{EXTENSION_VERSION, Extension, FORMAT as EXTENSION_FORMAT, Thread};
use super::super::schema::File;
use super::super::{FORMAT, LATEST};
use super::repair::Repairs;
use super::rows::wrong;
use crate::format::ReadError;
use crate::format::json_error::{placed_at, syntax_error};
use crate::format::json_scan;

/// What `traceview` says in a file of our own.
pub(super) struct Own {
    pub meta: Extension,
    /// One for each thread.
    pub threads: Vec<Thread>,
}

/// Enough of a file to say which version it is, whatever its structure.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    meta: HeadMeta<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadMeta<'a> {
    #[serde(borrow)]
    preprocessed_profile_version: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ExtensionHead<'a> {
    #[serde(borrow)]
    version: &'a RawValue,
}

/// The text of a file. What is not UTF-8 in it is replaced.
pub(in super::super) fn text<'a>(bytes: &'a [u8], repairs: &mut Repairs) -> Cow<'a, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_or_else(
        |error| {
            let message = "bytes that are not UTF-8 are replaced";
            repairs.note("not-utf-8", message, || format!("byte {}", error.valid_up_to()));
            String::from_utf8_lossy(bytes)
        },
        Cow::Borrowed,
    )
}

/// The structure of a file and its version.
pub(super) fn file(text: &str) -> Result<(File<'_>, u32), ReadError> {
    let file: File<'_> = json_scan::from_str(text).map_err(|error| {
        // Of a version with another structure the version is what has to be said.
        let head = serde_json::from_str::<Head<'_>>(text).ok();
        let version = head.and_then(|head| head.meta.preprocessed_profile_version);
        version
            .and_then(|version| known_version(version.get()).err())
            .unwrap_or_else(|| syntax_error(text.as_bytes(), &error))
    })?;
    let version = version(&file)?;
    Ok((file, version))
}

/// The version of a file.
pub(super) fn version(file: &File<'_>) -> Result<u32, ReadError> {
    let meta = file.meta.as_ref().ok_or_else(|| wrong(format_args!("meta"), "missing"))?;
    let threads = file.threads.as_ref().ok_or_else(|| wrong(format_args!("threads"), "missing"))?;
    match meta.preprocessed_profile_version {
        Some(version) => known_version(&version.to_string()),
        // The first files did not say.
        None if threads.first().is_some_and(|thread| thread.string_array.is_some()) => Ok(0),
        None => Err(wrong(format_args!("meta.preprocessedProfileVersion"), "missing")),
    }
}

fn known_version(text: &str) -> Result<u32, ReadError> {
    let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0);
    number.and_then(|number| (0..=LATEST).find(|version| f64::from(*version) == number)).ok_or_else(|| {
        ReadError::Version { format: FORMAT, found: text.to_owned(), supported: format!("0 to {LATEST}") }
    })
}

/// What `traceview` says in a file of our own.
pub(super) fn own(file: &File<'_>, text: &str) -> Result<Own, ReadError> {
    let meta = file.meta.as_ref().and_then(|meta| meta.traceview);
    let meta = meta.ok_or_else(|| wrong(format_args!("meta.traceview"), "missing"))?;
    if let Ok(head) = serde_json::from_str::<ExtensionHead<'_>>(meta.get())
        && head.version.get().parse() != Ok(EXTENSION_VERSION)
    {
        let found = head.version.get().to_owned();
        let supported = EXTENSION_VERSION.to_string();
        return Err(ReadError::Version { format: EXTENSION_FORMAT, found, supported });
    }
    let mut threads = Vec::new();
    for (index, thread) in file.threads.iter().flatten().enumerate() {
        let missing = || wrong(format_args!("threads[{index}].traceview"), "missing, though meta has it");
        threads.push(parse(text, thread.traceview.ok_or_else(missing)?)?);
    }
    Ok(Own { meta: parse(text, meta)?, threads })
}

/// A part of `text`.
fn parse<'a, T: Deserialize<'a>>(text: &str, part: &'a RawValue) -> Result<T, ReadError> {
    serde_json::from_str(part.get()).map_err(|error| {
        let start = part.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
        placed_at(syntax_error(part.get().as_bytes(), &error), start)
    })
}

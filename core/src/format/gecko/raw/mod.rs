//! Raw Firefox profiles: what Firefox itself writes, versions 3 to 36. Each process has its own start time, libraries and
//! threads, each thread its own strings, frames and stacks, in tables of `{schema, data}`.
//!
//! A file is turned into the [structure](super::schema) of a processed file, as the Firefox Profiler does when it loads
//! one, and goes into the model from there.
//!
//! | file | concept |
//! |------|---------|
//! | `schema`, `table` | the file's own structure |
//! | `process` | processes, one after the other, and what the file says as a whole |
//! | `thread`, `frames`, `location`, `libs` | threads, and what their frames tell |
//! | `marker`, `counter`, `meta` | markers, counters, schemas |
//! | `upgrade` | what older versions say otherwise |
//! | `collect`, `strings` | the tables that all threads share |

mod collect;
mod counter;
mod frames;
mod libs;
mod location;
mod marker;
mod meta;
mod notes;
mod process;
mod schema;
mod strings;
mod table;
mod thread;
mod upgrade;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use self::process::Converter;
use super::super::ReadError;
use super::super::import_report::ImportReport;
use super::super::json_error::syntax_error;
use super::super::json_keys::top_level_keys;
use super::super::room::Room;
use super::read::{Repairs, import, text};
use super::schema::{File, Numbers, Real};
use super::upgrade::upgrade_raw;
use crate::model::Profile;

/// The versions that are read.
const VERSIONS: std::ops::RangeInclusive<u64> = 3..=36;

/// The version of processed files that a raw file is turned into: with the tables that later ones share, and the last that
/// had texts among the fields of marker schemas as raw files do.
const PROCESSED_VERSION: f64 = 54.0;

/// A process as version 3 and 4 have them; the first is the file itself.
#[derive(Default)]
struct Embedded {
    /// The whole process, as JSON, and where it stood.
    text: String,
    at: String,
    /// The list of its libraries, as JSON.
    libs: Option<String>,
}

/// Whether `bytes` look like a raw Firefox profile: an object with the version in its `meta`, and threads. DevTools wrapped
/// it into another object.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    let wrapped = top_level_keys(bytes).find(|(key, _)| *key == b"profile");
    is_raw(bytes) || wrapped.is_some_and(|(_, profile)| is_raw(profile))
}

fn is_raw(text: &[u8]) -> bool {
    let (mut has_version, mut has_threads) = (false, false);
    for (key, value) in top_level_keys(text) {
        match key {
            b"meta" => {
                let mut keys = top_level_keys(value);
                has_version =
                    keys.any(|(key, value)| key == b"version" && value.first().is_some_and(u8::is_ascii_digit));
            }
            // The last is that of files before version 3, which are refused by their version.
            b"threads" | b"libs" | b"profileJSON" => has_threads = true,
            _ => {}
        }
        if has_version && has_threads {
            return true;
        }
    }
    false
}

/// Reads a raw profile. Gives the version of the file as well.
///
/// # Errors
/// If `bytes` are no whole raw file of a known version, or its outer structure is not as it has to be.
pub(super) fn read(bytes: &[u8]) -> Result<(Profile, Option<u64>), ReadError> {
    let mut repairs = Repairs::default();
    let text = text(bytes, &mut repairs);
    let version = version(&text)?;
    let embedded = OnceCell::new();
    let mut file = convert(&text, version, &embedded, &mut repairs.0)?;
    upgrade_raw(&mut file, version, &mut repairs);
    Ok((import(file, repairs.0, Room::of(bytes.len()))?, Some(version)))
}

/// Turns a raw file into a processed one. `embedded` is where the texts inside of texts live.
fn convert<'a>(
    text: &'a str,
    version: u64,
    embedded: &'a OnceCell<Vec<Embedded>>,
    report: &mut ImportReport,
) -> Result<File<'a>, ReadError> {
    let file = Text { file: text };
    let is_wrapped = !top_level_keys(text.as_bytes()).any(|(key, _)| key == b"meta");
    let root = if is_wrapped { file.parse::<schema::Wrapped<'_>>(text, "")?.profile } else { file.parse(text, "")? };
    Converter::new(file, embedded, version, root, report)?.convert()
}

/// The version, which is what has to be said of a file that can't be read because of it.
fn version(text: &str) -> Result<u64, ReadError> {
    let head: schema::Head = serde_json::from_str(text).map_err(|error| syntax_error(text.as_bytes(), &error))?;
    let meta = head.meta.or(head.profile.and_then(|profile| profile.meta));
    let version = meta.map_or(Value::Null, |meta| meta.version);
    let known = version.as_f64().and_then(|number| VERSIONS.clone().find(|known| as_f64(*known) == Some(number)));
    known.ok_or_else(|| ReadError::Version {
        format: "raw Firefox profiles",
        found: version.to_string(),
        supported: format!("{} to {}", VERSIONS.start(), VERSIONS.end()),
    })
}

fn as_f64(version: u64) -> Option<f64> {
    u32::try_from(version).ok().map(f64::from)
}

/// The text of a file, to say where in it something is wrong.
#[derive(Clone, Copy)]
struct Text<'a> {
    file: &'a str,
}

impl<'a> Text<'a> {
    /// Parses a part of the file, or of a text that was a string in it.
    fn parse<T: Deserialize<'a>>(&self, part: &'a str, at: &str) -> Result<T, ReadError> {
        serde_json::from_str(part).map_err(|error| self.error(part, at, &error))
    }

    /// Gives the members of a list to `each`, without keeping them.
    fn for_each(
        &self,
        list: &'a RawValue,
        at: &str,
        each: impl FnMut(usize, &'a RawValue) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut each = Each { each, failed: None };
        let result = serde_json::Deserializer::from_str(list.get()).deserialize_seq(&mut each);
        match (each.failed, result) {
            (Some(error), _) => Err(error),
            (None, result) => result.map_err(|error| self.error(list.get(), at, &error)),
        }
    }

    fn error(&self, part: &str, at: &str, error: &serde_json::Error) -> ReadError {
        let base = (part.as_ptr() as usize).checked_sub(self.file.as_ptr() as usize);
        let base = base.filter(|base| base + part.len() <= self.file.len());
        match (syntax_error(part.as_bytes(), error), base) {
            (error, Some(0)) if part.len() == self.file.len() => error,
            (ReadError::Syntax { offset, message }, Some(base)) => {
                ReadError::Syntax { offset: base + offset, message: format!("{at}: {message}") }
            }
            (error, _) => {
                ReadError::Value { path: at.to_owned(), message: format!("in the text of the string: {error}") }
            }
        }
    }
}

/// Calls a function for the members of a list, one by one.
struct Each<F> {
    each: F,
    failed: Option<ReadError>,
}

impl<'de, F: FnMut(usize, &'de RawValue) -> Result<(), ReadError>> Visitor<'de> for &mut Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut index = 0;
        while let Some(text) = list.next_element()? {
            if let Err(error) = (self.each)(index, text) {
                self.failed = Some(error);
                return Err(de::Error::custom("a member of the list"));
            }
            index += 1;
        }
        Ok(())
    }
}

/// A column of numbers, whole ones as such.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers of the range are cast")]
fn numbers(values: impl Iterator<Item = Real> + Clone) -> Numbers {
    let is_whole = |value: Real| value.0.is_nan() || (value.0.fract() == 0.0 && value.0.abs() < 9e15);
    if values.clone().all(is_whole) {
        let whole = values.map(|Real(value)| if value.is_nan() { Numbers::NONE } else { value as i64 });
        Numbers::Whole(whole.collect())
    } else {
        Numbers::Real(values.map(|Real(value)| value).collect(), Vec::new())
    }
}

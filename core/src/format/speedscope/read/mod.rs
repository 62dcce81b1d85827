//! File to model, in one pass over the text: rows of samples are made while it is parsed, and nothing else is kept of it.
//! Only the table of frames is read before, wherever in the file it stands.

mod axis;
mod events;
mod frames;
mod path;
mod profile;
mod samples;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use self::frames::Frames;
use self::profile::ProfileSeed;
use super::super::ReadError;
use super::super::import_report::ImportReport;
use super::super::json_error::{placed_at, syntax_error};
use super::super::json_scan::{Scan, Scanner, scan_with};
use super::super::json_value::{Number, Text};
use super::super::room::{Room, most_threads};
use super::{ACTIVE_PROFILE, FORMAT};
use crate::model::{OsId, Process, ProcessId, Profile, ProfileBuilder};

/// Reads a speedscope file.
///
/// # Errors
/// If `bytes` are not a whole file of the format. What single frames, samples and events have wrong is counted in the
/// profile's warnings.
pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let in_file = |error| placed_at(error, bytes.len() - text.len());
    let mut context = Context::begin(text, bytes.len()).map_err(in_file)?;
    let scanned = std::str::from_utf8(text).ok().and_then(|text| scan_with(text, |scanner| context.scan(scanner)));
    let facts = match scanned {
        Some(facts) => facts,
        None => {
            // What a scanner does not take is told, or read after all, from the beginning.
            drop(context);
            context = Context::begin(text, bytes.len()).map_err(in_file)?;
            let mut deserializer = serde_json::Deserializer::from_slice(text);
            FileSeed(&mut context)
                .deserialize(&mut deserializer)
                .and_then(|facts| deserializer.end().map(|()| facts))
                .map_err(|error| context.refusal.take().unwrap_or_else(|| in_file(syntax_error(text, &error))))?
        }
    };
    let process = context.process;
    let Context { mut builder, report, profiles, .. } = context;
    if profiles == 0 {
        return Err(ReadError::Value { path: "profiles".to_owned(), message: "it has no profiles".to_owned() });
    }
    let name = facts.name.unwrap_or_default();
    builder.process_mut(process).name = builder.string(&name);
    let meta = builder.meta_mut();
    meta.name = name;
    meta.recorder = facts.exporter;
    meta.extra.extend(facts.active_profile.map(|index| (ACTIVE_PROFILE.to_owned(), index.to_string())));
    meta.warnings = report.into_warnings();
    Ok(builder.finish()?)
}

/// What is filled while the text is parsed.
struct Context {
    builder: ProfileBuilder,
    report: ImportReport,
    frames: Frames,
    process: ProcessId,
    /// How many profiles have been met.
    profiles: usize,
    /// How many can be kept.
    most_profiles: usize,
    room: Room,
    /// Why the file is not read to its end.
    refusal: Option<ReadError>,
}

impl Context {
    /// With the frames of `text`, before anything else. The file has `bytes`.
    fn begin(text: &[u8], bytes: usize) -> Result<Self, ReadError> {
        let mut builder = ProfileBuilder::with_standard_categories();
        let mut report = ImportReport::default();
        let frames = Frames::read(text, &mut builder, &mut report)?;
        let name = builder.string("");
        let process = builder.add_process(Process::new(OsId::Number(0), name));
        Ok(Self {
            builder,
            report,
            frames,
            process,
            profiles: 0,
            room: Room::of(bytes),
            most_profiles: most_threads(bytes),
            refusal: None,
        })
    }

    /// Whether there is room for more; else says why not in `refusal`.
    fn has_room(&mut self) -> bool {
        let profiles = self.profiles;
        self.refusal = self.room.check(&self.builder, || format!("profiles[{profiles}]")).err();
        self.refusal.is_none()
    }

    /// That there is room for more; else nothing more is parsed.
    fn check_room<E: Error>(&mut self) -> Result<(), E> {
        if self.has_room() { Ok(()) } else { Err(E::custom("refused")) }
    }

    /// Reads the outermost object: the same as a [`FileSeed`] reads, but that faults are left to that.
    fn scan(&mut self, scanner: &mut Scanner<'_>) -> Option<Facts> {
        let mut facts = Facts::default();
        scanner.object(|scanner, Text(key)| {
            match &*key {
                "profiles" if self.profiles > 0 => return None,
                "profiles" => scanner.array(|scanner| {
                    self.scan_profile(scanner)?;
                    self.profiles += 1;
                    Some(())
                })?,
                "name" => facts.name = known(Scan::scan(scanner)?),
                "exporter" => facts.exporter = known(Scan::scan(scanner)?),
                "activeProfileIndex" => facts.active_profile = not_first(Scan::scan(scanner)?),
                _ => _ = scanner.by_serde::<IgnoredAny>()?,
            }
            Some(())
        })?;
        Some(facts)
    }
}

/// What a file says about itself.
#[derive(Default)]
struct Facts {
    name: Option<String>,
    exporter: Option<String>,
    active_profile: Option<i64>,
}

fn known(text: Option<Text>) -> Option<String> {
    text.map(|text| text.0).filter(|text| !text.is_empty())
}

fn not_first(index: Option<Number>) -> Option<i64> {
    match index {
        Some(Number::Integer(index)) if index != 0 => Some(index),
        _ => None,
    }
}

/// The outermost object.
struct FileSeed<'a>(&'a mut Context);

impl<'de> DeserializeSeed<'de> for FileSeed<'_> {
    type Value = Facts;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Facts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileSeed<'_> {
    type Value = Facts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {FORMAT} file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Facts, A::Error> {
        let mut facts = Facts::default();
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                "profiles" if self.0.profiles > 0 => return Err(A::Error::duplicate_field("profiles")),
                "profiles" => map.next_value_seed(Profiles(self.0))?,
                "name" => facts.name = known(map.next_value()?),
                "exporter" => facts.exporter = known(map.next_value()?),
                "activeProfileIndex" => facts.active_profile = not_first(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(facts)
    }
}

/// The profiles.
struct Profiles<'a>(&'a mut Context);

impl<'de> DeserializeSeed<'de> for Profiles<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Profiles<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of profiles")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(ProfileSeed(self.0))?.is_some() {
            self.0.profiles += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key with an escape is left to serde_json, and the file with it.
    #[test]
    fn what_is_scanned_is_what_serde_json_reads() {
        let text = r#"{"exporter": "x", "name": "n\u00e9", "activeProfileIndex": 1, "other": [{}, 1e9],
            "shared": {"frames": [{"name": "a"}, {"name": "b", "file": "b.rs", "line": 7}]}, "profiles": [
            {"type": "sampled", "name": "one", "unit": "milliseconds", "startValue": 1, "endValue": 9.5,
             "samples": [[0, 1], [], [0, 9, null, 1], [ 1 , 0.5 ]], "weights": [1, null, 2.5, -3]},
            {"name": "two", "unit": "none", "endValue": null, "startValue": 0, "type": "evented", "more": "",
             "events": [{"type": "O", "frame": 0, "at": 1}, {"at": 2.5, "type": "O", "frame": 1, "x": [1]},
                {"type": "X", "frame": 1}, {"type": "C", "frame": 0, "at": null}, {"type": "O", "frame": 7, "at": 1}]}]}"#;
        let scanned = read(text.as_bytes()).expect("a profile");
        let by_serde = read(text.replace("\"x\"", "\"\\u0078\"").as_bytes()).expect("a profile");
        assert_eq!(scanned, by_serde);
        assert_eq!((scanned.threads.len(), scanned.threads[0].samples.len()), (2, 4));
        let mut codes: Vec<_> = scanned.meta.warnings.iter().map(|warning| (&*warning.code, warning.count)).collect();
        codes.sort_unstable();
        let expected = [
            ("events-out-of-order", 1),
            ("events-unknown", 1),
            ("events-without-value", 2),
            ("frames-closed-early", 1),
            ("frames-missing", 4),
            ("weights-missing", 1),
            ("weights-negative", 1),
        ];
        assert_eq!(codes, expected);
    }
}

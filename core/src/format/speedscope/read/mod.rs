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
    let mut builder = ProfileBuilder::with_standard_categories();
    let mut report = ImportReport::default();
    let in_file = |error| placed_at(error, bytes.len() - text.len());
    let frames = Frames::read(text, &mut builder, &mut report).map_err(in_file)?;
    let name = builder.string("");
    let process = builder.add_process(Process::new(OsId::Number(0), name));
    let mut context = Context {
        builder,
        report,
        frames,
        process,
        profiles: 0,
        room: Room::of(bytes.len()),
        most_profiles: most_threads(bytes.len()),
        refusal: None,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let facts = FileSeed(&mut context)
        .deserialize(&mut deserializer)
        .and_then(|facts| deserializer.end().map(|()| facts))
        .map_err(|error| context.refusal.take().unwrap_or_else(|| in_file(syntax_error(text, &error))))?;
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
    /// That there is room for more; else nothing more is parsed.
    fn check_room<E: Error>(&mut self) -> Result<(), E> {
        let profiles = self.profiles;
        self.room.check(&self.builder, || format!("profiles[{profiles}]")).map_err(|refusal| {
            self.refusal = Some(refusal);
            E::custom("refused")
        })
    }
}

/// What a file says about itself.
#[derive(Default)]
struct Facts {
    name: Option<String>,
    exporter: Option<String>,
    active_profile: Option<i64>,
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
        let text = |value: Option<Text>| value.map(|text| text.0).filter(|text| !text.is_empty());
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                "profiles" if self.0.profiles > 0 => return Err(A::Error::duplicate_field("profiles")),
                "profiles" => map.next_value_seed(Profiles(self.0))?,
                "name" => facts.name = text(map.next_value()?),
                "exporter" => facts.exporter = text(map.next_value()?),
                "activeProfileIndex" => {
                    facts.active_profile = match map.next_value()? {
                        Some(Number::Integer(index)) if index != 0 => Some(index),
                        _ => None,
                    }
                }
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

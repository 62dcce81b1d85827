//! A profile of the file: a thread.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::super::super::import_report::{Note, OUT_OF_RANGE};
use super::super::super::json_scan::{Scan, Scanner};
use super::super::super::json_value::{Number, Text};
use super::super::unit::Unit;
use super::Context;
use super::axis::{self, Column};
use super::events::{Events, Spans};
use super::samples::{Samples, Weights};
use crate::model::{OsId, StackId, Thread, Time};

const UNKNOWN_TYPE: Note = Note { code: "profiles-unknown", message: "profiles of unknown types are left out" };
const TOO_MANY: Note =
    Note { code: "too-many-profiles", message: "more profiles than such a file can have are left out" };
const UNKNOWN_UNIT: Note = Note { code: "units-unknown", message: "values in unknown units are plain numbers" };
const NOT_CLOSED: Note = Note { code: "frames-not-closed", message: "frames that never end do so with their profile" };
const LENGTHS_DIFFER: Note = Note {
    code: "samples-without-weight",
    message: "samples without a weight, and weights without a sample, are left out",
};
const NEGATIVE: Note = Note { code: "weights-negative", message: "times that are negative count as 0" };

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProfileType {
    Evented,
    Sampled,
    #[serde(other)]
    Unknown,
}

/// What a profile says, and the rows that its arrays became.
#[derive(Default)]
struct Parsed {
    r#type: Option<ProfileType>,
    name: Option<String>,
    unit: Option<Unit>,
    start: Option<Number>,
    end: Option<Number>,
    spans: Option<Spans>,
    samples: Option<Vec<Option<StackId>>>,
    weights: Option<Column>,
}

/// A profile, whose keys can be in any order.
pub(super) struct ProfileSeed<'a>(pub &'a mut Context);

impl<'de> DeserializeSeed<'de> for ProfileSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ProfileSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profile")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut parsed = Parsed::default();
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                "type" => parsed.r#type = Some(map.next_value()?),
                "name" => parsed.name = map.next_value::<Option<Text>>()?.map(|text| text.0),
                "unit" => parsed.unit = map.next_value()?,
                "startValue" => parsed.start = map.next_value()?,
                "endValue" => parsed.end = map.next_value()?,
                "events" if parsed.spans.is_none() => parsed.spans = Some(map.next_value_seed(Events(self.0))?),
                "samples" if parsed.samples.is_none() => parsed.samples = Some(map.next_value_seed(Samples(self.0))?),
                "weights" if parsed.weights.is_none() => parsed.weights = Some(map.next_value_seed(Weights(self.0))?),
                "events" => return Err(A::Error::duplicate_field("events")),
                "samples" => return Err(A::Error::duplicate_field("samples")),
                "weights" => return Err(A::Error::duplicate_field("weights")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        self.0.add_profile(parsed);
        self.0.check_room()
    }
}

impl Context {
    /// Reads a profile: the same as a [`ProfileSeed`] reads.
    pub(super) fn scan_profile(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut parsed = Parsed::default();
        scanner.object(|scanner, Text(key)| {
            match &*key {
                "type" => parsed.r#type = Some(scanner.by_serde()?),
                "name" => parsed.name = Option::<Text>::scan(scanner)?.map(|text| text.0),
                "unit" => parsed.unit = scanner.by_serde()?,
                "startValue" => parsed.start = Scan::scan(scanner)?,
                "endValue" => parsed.end = Scan::scan(scanner)?,
                "events" if parsed.spans.is_none() => parsed.spans = Some(self.scan_events(scanner)?),
                "samples" if parsed.samples.is_none() => parsed.samples = Some(self.scan_samples(scanner)?),
                "weights" if parsed.weights.is_none() => parsed.weights = Some(self.scan_weights(scanner)?),
                "events" | "samples" | "weights" => return None,
                _ => _ = scanner.by_serde::<IgnoredAny>()?,
            }
            Some(())
        })?;
        self.add_profile(parsed);
        self.has_room().then_some(())
    }

    fn add_profile(&mut self, parsed: Parsed) {
        let index = self.profiles;
        let place = || format!("profiles[{index}]");
        if index >= self.most_profiles {
            return self.report.note(TOO_MANY, place);
        }
        let unit = parsed.unit.unwrap_or_default();
        if unit == Unit::Unknown {
            self.report.note(UNKNOWN_UNIT, place);
        }
        let implied = if parsed.spans.is_some() { ProfileType::Evented } else { ProfileType::Sampled };
        let (start, stacks, weights) = match parsed.r#type.unwrap_or(implied) {
            ProfileType::Evented => self.evented(parsed.spans.unwrap_or_default(), parsed.start, parsed.end),
            ProfileType::Sampled => {
                let (stacks, weights) =
                    self.sampled(parsed.samples.unwrap_or_default(), parsed.weights.unwrap_or_default());
                (parsed.start, stacks, weights)
            }
            ProfileType::Unknown => {
                self.report.note(UNKNOWN_TYPE, place);
                return;
            }
        };
        let name = self.builder.string(&parsed.name.unwrap_or_default());
        let tid = OsId::Number(i64::try_from(index).map_or(i64::MAX, |index| index + 1));
        let mut thread = Thread::new(self.process, tid, name);
        thread.samples.stack = stacks;
        thread.samples.weight_unit = unit.of_weights();
        let moment = |value: Option<Number>| value.and_then(|value| axis::moment(value, unit));
        match unit.nanos() {
            Some(scale) => {
                let weights = self.not_negative(weights);
                let first = moment(start).unwrap_or(Time::ZERO);
                (thread.samples.time, thread.samples.weight) = weights.into_times(first, scale);
                thread.start = moment(parsed.start);
                thread.end = moment(parsed.end).filter(|end| thread.start.is_none_or(|start| start <= *end));
                if let (Some(start), Some(end)) = (thread.start, thread.end) {
                    let meta = self.builder.meta_mut();
                    meta.recording_start = Some(meta.recording_start.map_or(start, |so_far| so_far.min(start)));
                    meta.recording_end = meta.recording_end.max(Some(end));
                }
                let is_edge = |time: &&Time| [i64::MIN, i64::MAX].contains(&time.0);
                let all = thread.samples.time.iter().chain(&thread.start).chain(&thread.end);
                self.report.count(OUT_OF_RANGE, all.filter(is_edge).count() as u64, place);
            }
            None => {
                thread.timed = false;
                thread.samples.weight = weights.into_values();
            }
        }
        self.builder.add_thread(thread);
    }

    /// Where the spans of an evented profile begin, what was open in each, and how long they are.
    fn evented(
        &mut self,
        mut spans: Spans,
        start: Option<Number>,
        end: Option<Number>,
    ) -> (Option<Number>, Vec<Option<StackId>>, Column) {
        let open = spans.depth();
        if open > 0 {
            let index = self.profiles;
            self.report.count(NOT_CLOSED, open, || format!("profiles[{index}]"));
            if let Some(end) = end {
                spans.pass(end);
            }
        }
        (spans.ends.map(|(first, _)| first).or(start), spans.stacks, spans.lengths)
    }

    fn sampled(&mut self, mut stacks: Vec<Option<StackId>>, mut weights: Column) -> (Vec<Option<StackId>>, Column) {
        let (samples, index) = (stacks.len(), self.profiles);
        let place = || format!("profiles[{index}]: {samples} samples, {} weights", weights.len());
        self.report.count(LENGTHS_DIFFER, samples.abs_diff(weights.len()) as u64, place);
        stacks.truncate(weights.len());
        weights.truncate(samples);
        (stacks, weights)
    }

    /// Lengths of time, none of them negative.
    fn not_negative(&mut self, mut column: Column) -> Column {
        let index = self.profiles;
        let mut negative = |row: usize| self.report.note(NEGATIVE, || format!("profiles[{index}].weights[{row}]"));
        match &mut column {
            Column::Integer(values) => {
                for (row, value) in values.iter_mut().enumerate().filter(|(_, value)| **value < 0) {
                    negative(row);
                    *value = 0;
                }
            }
            Column::Float(values) => {
                for (row, value) in values.iter_mut().enumerate().filter(|(_, value)| **value < 0.0) {
                    negative(row);
                    *value = 0.0;
                }
            }
        }
        column
    }
}

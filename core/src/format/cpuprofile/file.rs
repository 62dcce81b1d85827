//! The outermost object of a file, parsed in one pass.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::head;
use super::node::{Call, Node, Tick};
use crate::format::ReadError;
use crate::format::import_report::{ImportReport, Note};
use crate::format::json_error::{placed_at, syntax_error};
use crate::format::json_keys::top_level_keys;
use crate::format::json_value::{Index, Number, Text};
use crate::format::v8_profile::V8Profile;
use crate::model::{ProfileBuilder, Time};

const NO_DELTA: Note =
    Note { code: "times-wrong", message: "times that are no numbers count as that of the sample before" };

/// What a file says besides nodes and samples.
#[derive(Default)]
pub(super) struct Facts {
    pub start: Option<Number>,
    pub end: Option<Number>,
    pub title: Option<String>,
    /// Whether its nodes stood inside each other.
    pub is_nested: bool,
    /// Whether times of samples are on the same clock as the start's, and not from there.
    pub is_absolute: bool,
}

/// Reads all of `bytes`.
pub(super) fn read(
    bytes: &[u8],
    v8: &mut V8Profile,
    builder: &mut ProfileBuilder,
    report: &mut ImportReport,
) -> Result<Facts, ReadError> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let in_file = |error| placed_at(error, bytes.len() - text.len());
    let mut context = Context { v8, builder, report };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let (mut facts, has_nodes) = File(&mut context)
        .deserialize(&mut deserializer)
        .and_then(|parsed| deserializer.end().map(|()| parsed))
        .map_err(|error| in_file(syntax_error(text, &error)))?;
    if !has_nodes {
        let (_, head) = top_level_keys(text).find(|(key, _)| *key == b"head").ok_or_else(|| ReadError::Value {
            path: "nodes".to_owned(),
            message: "the profile has no nodes".to_owned(),
        })?;
        let start = text.len() - head.len();
        let Context { v8, builder, report } = context;
        head::read(head, v8, builder, report).map_err(|error| in_file(placed_at(error, start)))?;
        facts.is_nested = true;
    }
    Ok(facts)
}

struct Context<'a> {
    v8: &'a mut V8Profile,
    builder: &'a mut ProfileBuilder,
    report: &'a mut ImportReport,
}

/// Gives what is known besides nodes and samples, and whether there were nodes.
struct File<'a, 'b>(&'a mut Context<'b>);

impl<'de> DeserializeSeed<'de> for File<'_, '_> {
    type Value = (Facts, bool);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for File<'_, '_> {
    type Value = (Facts, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a CPU profile")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut facts = Facts::default();
        let mut seen: Vec<&str> = Vec::new();
        let context = self.0;
        while let Some(Text(key)) = map.next_key()? {
            let part = match &*key {
                "nodes" => Part::Nodes,
                "samples" => Part::Samples,
                "timeDeltas" => Part::Deltas,
                "timestamps" => Part::Timestamps,
                "lines" => Part::Lines,
                other => {
                    match other {
                        "startTime" => facts.start = map.next_value()?,
                        "endTime" => facts.end = map.next_value()?,
                        "title" => facts.title = map.next_value::<Option<Text>>()?.map(|title| title.0),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                    continue;
                }
            };
            if seen.contains(&part.name()) {
                return Err(A::Error::duplicate_field(part.name()));
            }
            seen.push(part.name());
            map.next_value_seed(Rows { part, context })?;
        }
        let has = |part: Part| seen.contains(&part.name());
        // With deltas, timestamps say the same again.
        facts.is_absolute = has(Part::Timestamps) && !has(Part::Deltas);
        facts.title = facts.title.filter(|title| !title.is_empty());
        Ok((facts, has(Part::Nodes)))
    }
}

/// An array of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Nodes,
    Samples,
    Deltas,
    Timestamps,
    Lines,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Samples => "samples",
            Self::Deltas => "timeDeltas",
            Self::Timestamps => "timestamps",
            Self::Lines => "lines",
        }
    }
}

/// Reads the rows of an array.
struct Rows<'a, 'b> {
    part: Part,
    context: &'a mut Context<'b>,
}

impl<'de> DeserializeSeed<'de> for Rows<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the array {}", self.part.name())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Context { v8, builder, report } = self.context;
        let mut index = 0_usize;
        match self.part {
            Part::Nodes => {
                while let Some(node) = seq.next_element::<RawNode>()? {
                    node.add(v8, builder, report, || format!("nodes[{index}]"));
                    index += 1;
                }
            }
            Part::Samples => {
                while let Some(node) = seq.next_element()? {
                    v8.add_sample(node);
                }
            }
            Part::Lines => {
                while let Some(line) = seq.next_element()? {
                    v8.add_line(line);
                }
            }
            Part::Deltas | Part::Timestamps => {
                let deltas = self.part == Part::Deltas;
                while let Some(time) = seq.next_element::<Option<Number>>()? {
                    let last = v8.last_time().unwrap_or_default();
                    let place = || format!("{}[{index}]", self.part.name());
                    let time = match time {
                        Some(time) => Time(report.later(if deltas { last.0 } else { 0 }, time, 1_000, place)),
                        None => {
                            report.note(NO_DELTA, place);
                            last
                        }
                    };
                    v8.add_time(time);
                    index += 1;
                }
            }
        }
        Ok(())
    }
}

/// A node of the table. Its keys of the time before `callFrame` are read as well.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawNode {
    #[serde(default)]
    id: Index,
    #[serde(default)]
    hit_count: Index,
    call_frame: Option<Call>,
    #[serde(default)]
    parent: Option<Index>,
    #[serde(default)]
    children: Option<Vec<Index>>,
    #[serde(default)]
    position_ticks: Option<Vec<Tick>>,
    #[serde(default)]
    function_name: Option<Text>,
    #[serde(default)]
    url: Option<Text>,
    #[serde(default)]
    line_number: Option<Number>,
    #[serde(default)]
    column_number: Option<Number>,
}

impl RawNode {
    fn add(
        self,
        v8: &mut V8Profile,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
        place: impl FnOnce() -> String,
    ) {
        let row = v8.announce(None);
        if let Some(parent) = self.parent {
            v8.add_parent(row, parent);
        }
        for child in self.children.into_iter().flatten() {
            v8.add_child(row, child);
        }
        let is_one_based = self.call_frame.is_none();
        let call = self.call_frame.unwrap_or(Call {
            function_name: self.function_name,
            url: self.url,
            line_number: self.line_number,
            column_number: self.column_number,
        });
        let ticks = self.position_ticks.unwrap_or_default();
        Node { id: self.id, hits: self.hit_count, call, is_one_based, ticks }.fill(row, v8, builder, report, place);
    }
}

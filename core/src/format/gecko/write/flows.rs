//! Flows for the Firefox Profiler: markers, and slices as markers, name the flows that pass through them in fields of the formats
//! `flow-id` and `terminating-flow-id`. Markers of Firefox have such fields of their own, of which the flows were read.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::ser::SerializeMap;

use super::layout::Layout;
use super::schema::FileField;
use crate::model::{FlowAnchor, FlowPhase, MarkerSchemaId, Profile};

/// The keys of the first fields of a marker; the others have numbers.
const KEYS: [&str; 2] = ["tv-flow", "tv-flow-end"];
/// More flows of one marker are left out.
const MOST: usize = 32;
const FORMATS: [&str; 2] = ["flow-id", "terminating-flow-id"];
const LABELS: [&str; 2] = ["Flow", "Ended flow"];

/// The kinds of markers of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    Slice,
    Marker(Option<MarkerSchemaId>),
}

/// Which flows pass through what.
#[derive(Default)]
pub(super) struct FlowFields {
    /// By thread and anchor: the strings that go into the fields, those of flows that pass and of those that end.
    ids: FxHashMap<(u32, FlowAnchor), [Vec<u32>; 2]>,
    /// How many fields markers of a kind have.
    counts: FxHashMap<Kind, [usize; 2]>,
}

impl Layout<'_> {
    /// Finds the fields, and adds the strings that they need.
    pub(super) fn place_flows(&mut self) {
        let profile = self.profile;
        let mut fields = FlowFields::default();
        if self.of_firefox {
            return;
        }
        let mut ids = Ids::default();
        let (mut left_out, mut first) = (0, None);
        for flow in 0..profile.flows.len() {
            let id = self.string(&ids.of(profile.string(profile.flows.id[flow])));
            let members = profile.flows.members_of(flow);
            for (place, member) in members.iter().enumerate() {
                let Some(kind) = kind(profile, member.thread.index(), member.anchor) else {
                    left_out += 1;
                    first.get_or_insert_with(|| profile.string(profile.flows.name[flow]).to_owned());
                    continue;
                };
                let ends = usize::from(member.phase == FlowPhase::End && place + 1 == members.len());
                let key = (super::layout::row(member.thread.index()), member.anchor);
                let ids = &mut fields.ids.entry(key).or_default()[ends];
                if ids.contains(&id) {
                    continue;
                }
                if ids.len() == MOST {
                    left_out += 1;
                    first.get_or_insert_with(|| profile.string(profile.flows.name[flow]).to_owned());
                    continue;
                }
                ids.push(id);
                let count = &mut fields.counts.entry(kind).or_default()[ends];
                *count = (*count).max(ids.len());
            }
        }
        let message = "members of flows that are no markers, or are in too many flows, are not shown by other tools";
        self.repaired("flows-not-shown", message, left_out, first);
        self.flows = fields;
    }
}

/// Ids, none twice: whatever has one is of one flow.
#[derive(Default)]
struct Ids<'a> {
    used: FxHashSet<String>,
    /// How often each was asked for.
    next: FxHashMap<&'a str, u64>,
}

impl<'a> Ids<'a> {
    fn of(&mut self, id: &'a str) -> String {
        let next = self.next.entry(id).or_default();
        loop {
            let unique = match (id, *next) {
                ("", number) => format!("flow {number}"),
                (id, 0) => id.to_owned(),
                (id, number) => format!("{id}.{number}"),
            };
            *next += 1;
            if self.used.insert(unique.clone()) {
                return unique;
            }
        }
    }
}

impl FlowFields {
    /// Adds the fields of a marker.
    pub(super) fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        thread: usize,
        anchor: FlowAnchor,
    ) -> Result<(), M::Error> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let Some(ids) = self.ids.get(&(super::layout::row(thread), anchor)) else { return Ok(()) };
        for (first, ids) in KEYS.into_iter().zip(ids) {
            ids.iter().enumerate().try_for_each(|(place, id)| map.serialize_entry(&*key(first, place), id))?;
        }
        Ok(())
    }

    /// The fields of markers of a kind.
    pub(super) fn of_schema(&self, kind: Kind) -> Vec<FileField<'static>> {
        let counts = self.counts.get(&kind).copied().unwrap_or_default();
        let fields = (0..2).flat_map(|which| {
            let keys = (0..counts[which]).map(move |place| key(KEYS[which], place));
            keys.map(move |key| FileField::of(key, LABELS[which], FORMATS[which]))
        });
        fields.collect()
    }
}

fn key(first: &'static str, place: usize) -> Cow<'static, str> {
    if place == 0 { first.into() } else { format!("{first}-{}", place + 1).into() }
}

fn kind(profile: &Profile, thread: usize, anchor: FlowAnchor) -> Option<Kind> {
    match anchor {
        FlowAnchor::Slice(_) => Some(Kind::Slice),
        FlowAnchor::Marker(marker) => Some(Kind::Marker(profile.threads[thread].markers.schema[marker.index()])),
        FlowAnchor::Thread => None,
    }
}

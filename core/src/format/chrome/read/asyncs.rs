//! Work that no single thread does: asynchronous spans, on tracks of their own.
//!
//! * Events of one category, scope and id belong together; a nestable end (`e`) closes the innermost open span of its name, and
//!   the old phases (`S`, `T`, `p`, `F`) go by name too. Ids are paired in order of time: what has ended can begin again.
//! * An `id` is first looked up among those of the event's own process (files of several programs are put together often),
//!   then among all. `id2` says which.
//! * A track is of a process, a category and the name of the outermost spans; of a category with very many such names there
//!   is one track. What runs at the same time lies on lanes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::nest::{self, Nested, Span};
use super::pair::{Closed, OpenSpans};
use super::{Anchor, Reader};
use crate::format::chrome::async_track;
use crate::format::chrome::events::{Scalar, TextId};
use crate::format::chrome::notes;
use crate::model::{OsId, SliceTable, Thread, ThreadId};

/// A category with more names than this is one track.
const MOST_NAMES: usize = 32;

/// What belongs together. `process` is `None` for ids that are global.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    process: Option<u32>,
    category: Option<TextId>,
    scope: Option<TextId>,
    id: Scalar,
    /// The name, for the old phases.
    name: Option<TextId>,
    is_old: bool,
}

/// A track: process, category, name of the outermost spans.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TrackKey {
    process: u32,
    category: Option<TextId>,
    name: Option<TextId>,
}

/// What is open of one id, and since when nothing was.
#[derive(Default)]
struct Chain {
    open: OpenSpans,
    instance: u32,
}

/// All that was found, before it is put on tracks.
#[derive(Default)]
struct Found {
    /// From when something of an id is open until nothing is.
    instances: Vec<TrackKey>,
    spans: Vec<(Span, u32)>,
    /// Instants and steps, by where they go.
    instants: Vec<(TrackKey, u32, &'static str)>,
}

/// A track with its spans, each of an instance, and its instants.
struct Track {
    key: TrackKey,
    spans: Vec<(Span, u32)>,
    instants: Vec<(u32, &'static str)>,
}

/// The chains of all ids.
#[derive(Default)]
struct Chains {
    chains: Vec<Chain>,
    by_key: FxHashMap<Key, u32>,
    /// Of ids that may be global the chain that began last in any process.
    anywhere: FxHashMap<Key, u32>,
}

impl Reader<'_, '_> {
    /// Reads asynchronous events.
    pub(super) fn read_asyncs(&mut self, rows: &mut [u32]) {
        self.sort_by_time(rows);
        let mut chains = Chains::default();
        let mut found = Found::default();
        for row in rows.iter().copied() {
            self.read_async(row, &mut chains, &mut found);
        }
        for chain in &mut chains.chains {
            let instance = chain.instance;
            chain.open.finish(self.end, |span| {
                self.report.note(notes::NEVER_ENDED, || self.table.place(span.begin as usize));
                found.spans.push((span, instance));
            });
        }
        drop(chains);
        self.add_async_tracks(found);
    }

    fn read_async(&mut self, row: u32, chains: &mut Chains, found: &mut Found) {
        let index = row as usize;
        let Some(time) = self.nanos(index) else { return };
        let (key, may_be_global) = self.async_key(index);
        if key.id == Scalar::Missing {
            self.note(notes::ASYNC_WITHOUT_ID, index);
        }
        let name = self.table.name[index];
        let process = self.tracks.process_of(self.thread_of(index));
        let own_track = TrackKey { process, category: key.category, name };
        let everywhere = Key { process: None, ..key };
        match self.table.phase[index] {
            b'b' | b'S' => {
                let next = u32::try_from(chains.chains.len()).expect("fewer ids than events");
                let at = *chains.by_key.entry(key).or_insert(next);
                if at == next {
                    chains.chains.push(Chain::default());
                }
                if may_be_global {
                    chains.anywhere.insert(everywhere, at);
                }
                let chain = &mut chains.chains[at as usize];
                if chain.open.is_empty() {
                    chain.instance = u32::try_from(found.instances.len()).expect("fewer spans than events");
                    found.instances.push(own_track);
                }
                chain.open.begin(row, time, name);
            }
            phase => {
                let is_end = matches!(phase, b'e' | b'F');
                let name = if is_end { self.name_of_end(index) } else { name };
                let fits = |chain: &Chain| match name {
                    Some(name) if is_end => chain.open.has(name),
                    _ => !chain.open.is_empty(),
                };
                let own = chains.by_key.get(&key).copied().filter(|at| fits(&chains.chains[*at as usize]));
                let anywhere = || {
                    let at = chains.anywhere.get(&everywhere).copied().filter(|_| may_be_global);
                    at.filter(|at| fits(&chains.chains[*at as usize]))
                };
                let chain = own.or_else(anywhere).map(|at| &mut chains.chains[at as usize]);
                let track = chain.as_ref().map_or(own_track, |chain| found.instances[chain.instance as usize]);
                match (is_end, chain) {
                    (true, Some(chain)) => match chain.open.end(row, time, name) {
                        Closed::Span(span) | Closed::OtherName(span) => found.spans.push((span, chain.instance)),
                        Closed::Nothing => {}
                    },
                    (true, None) => {
                        self.note(notes::END_WITHOUT_BEGIN, index);
                        found.instants.push((track, row, "end without beginning"));
                    }
                    (false, _) => {
                        let what = if phase == b'n' { "async instant" } else { "step" };
                        found.instants.push((track, row, what));
                    }
                }
            }
        }
    }

    /// What event `row` belongs to, and whether its id may be global.
    fn async_key(&self, row: usize) -> (Key, bool) {
        let table = self.table;
        let more = table.more_ids(row).copied().unwrap_or_default();
        let process = Some(self.tracks.process_of(self.thread_of(row)));
        let id = table.link(row).map_or(Scalar::Missing, |link| link.id);
        let (process, id, may_be_global) = match (more.local, more.global) {
            (Scalar::Missing, Scalar::Missing) => (process, id, id != Scalar::Missing),
            (Scalar::Missing, global) => (None, global, false),
            (local, _) => (process, local, false),
        };
        let is_old = matches!(table.phase[row], b'S' | b'T' | b'p' | b'F');
        let name = if is_old { table.name[row] } else { None };
        (Key { process, category: table.category[row], scope: more.scope, id, name, is_old }, may_be_global)
    }

    fn add_async_tracks(&mut self, mut found: Found) {
        let mut names: FxHashMap<(u32, Option<TextId>), FxHashSet<Option<TextId>>> = FxHashMap::default();
        for key in found.instances.iter().chain(found.instants.iter().map(|(key, ..)| key)) {
            let names = names.entry((key.process, key.category)).or_default();
            if names.len() <= MOST_NAMES {
                names.insert(key.name);
            }
        }
        let merged = |key: &TrackKey| {
            let has_many = names[&(key.process, key.category)].len() > MOST_NAMES;
            TrackKey { name: key.name.filter(|_| !has_many), ..*key }
        };
        let mut tracks: Vec<Track> = Vec::new();
        let mut by_key: FxHashMap<TrackKey, usize> = FxHashMap::default();
        let mut track = |key: TrackKey, tracks: &mut Vec<Track>| {
            *by_key.entry(key).or_insert_with(|| {
                tracks.push(Track { key, spans: Vec::new(), instants: Vec::new() });
                tracks.len() - 1
            })
        };
        for (span, instance) in std::mem::take(&mut found.spans) {
            let at = track(merged(&found.instances[instance as usize]), &mut tracks);
            tracks[at].spans.push((span, instance));
        }
        for (key, row, what) in std::mem::take(&mut found.instants) {
            let at = track(merged(&key), &mut tracks);
            tracks[at].instants.push((row, what));
        }
        let most = crate::format::room::most_threads(self.table.text_len());
        for (count, track) in tracks.into_iter().enumerate() {
            let first = track.spans.first().map(|(span, _)| span.begin).or(track.instants.first().map(|(row, _)| *row));
            let thread = if count < most { self.async_track(track.key) } else { None };
            let Some(thread) = thread else {
                let dropped = track.spans.len() + track.instants.len();
                let place = self.table.place(first.unwrap_or_default() as usize);
                self.report.count(notes::TOO_MANY_THREADS, dropped as u64, || place);
                continue;
            };
            self.add_async_slices(thread, track.spans);
            for (row, what) in track.instants {
                self.add_marker(thread, row as usize, Some(what));
            }
        }
    }

    fn async_track(&mut self, key: TrackKey) -> Option<ThreadId> {
        let process = self.tracks.process(key.process)?;
        let text = |text: Option<TextId>| text.map(|text| self.table.text(text));
        let (category, name) = (text(key.category), text(key.name));
        let tid = async_track::id(category, name);
        let name = self.builder.string(name.or(category).unwrap_or("async"));
        Some(self.builder.add_thread(Thread::new(process, OsId::Text(tid.into()), name)))
    }

    fn add_async_slices(&mut self, thread: ThreadId, mut spans: Vec<(Span, u32)>) {
        spans.sort_unstable_by_key(|(span, _)| (span.start, Reverse(span.end), span.begin));
        let nested = nest_instances(&spans);
        let mut table = SliceTable::default();
        table.reserve(spans.len());
        for ((span, _), nested) in spans.iter().zip(&nested) {
            let id = self.add_slice(&mut table, span, nested);
            self.anchor(span, thread, Anchor::Slice(id));
        }
        self.builder.thread_mut(thread).slices = table;
    }
}

/// Nests the spans of each instance, and gives instances that overlap lanes of their own.
fn nest_instances(spans: &[(Span, u32)]) -> Vec<Nested> {
    let mut order: Vec<u32> = (0..u32::try_from(spans.len()).expect("fewer spans than events")).collect();
    order.sort_by_key(|index| spans[*index as usize].1);
    let mut nested = vec![Nested { parent: None, depth: 0, lane: 0 }; spans.len()];
    // From when to when each lane of each instance is in use; `lane` names one of these until they have lanes.
    let mut blocks: Vec<(i64, i64)> = Vec::new();
    for members in order.chunk_by(|a, b| spans[*a as usize].1 == spans[*b as usize].1) {
        let base = blocks.len();
        let member = |index: &u32| spans[*index as usize].0;
        let of_instance = nest::nest(members.iter().map(|index| (member(index).start, member(index).end)));
        for (index, one) in members.iter().zip(of_instance) {
            let (start, end) = (member(index).start, member(index).end);
            let block = base + one.lane as usize;
            if block >= blocks.len() {
                blocks.resize(block + 1, (start, end));
            }
            blocks[block].1 = blocks[block].1.max(end);
            let parent = one.parent.map(|parent| members[parent as usize]);
            let lane = u32::try_from(block).expect("fewer lanes than spans");
            nested[*index as usize] = Nested { parent, depth: one.depth, lane };
        }
    }
    let lanes = lanes(&blocks);
    for one in &mut nested {
        one.lane = lanes[one.lane as usize];
    }
    nested
}

/// A lane for each block of time, so that those on one lane don't overlap: the lowest that is free.
fn lanes(blocks: &[(i64, i64)]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|block| blocks[*block].0);
    let mut lanes = vec![0; blocks.len()];
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut count = 0;
    for block in order {
        let (start, end) = blocks[block];
        while let Some(Reverse((_, lane))) = busy.peek().copied().filter(|Reverse((end, _))| *end <= start) {
            busy.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or_else(
            || {
                count += 1;
                count - 1
            },
            |Reverse(lane)| lane,
        );
        busy.push(Reverse((end, lane)));
        lanes[block] = lane;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_that_overlap_are_on_different_lanes_and_free_ones_are_used_again() {
        let span = |start, end| Span { start, end, begin: 0, finish: 0, incomplete: false };
        let spans =
            [(span(0, 10), 7), (span(1, 5), 8), (span(2, 9), 7), (span(3, 4), 8), (span(5, 12), 9), (span(10, 11), 7)];
        let nested: Vec<_> = nest_instances(&spans).iter().map(|one| (one.parent, one.depth, one.lane)).collect();
        let expected = [(None, 0, 0), (None, 0, 1), (Some(0), 1, 0), (Some(1), 1, 1), (None, 0, 1), (None, 0, 0)];
        assert_eq!(nested, expected);
    }
}

//! What lies at or around the phases of flows.

use rustc_hash::FxHashMap;

use super::super::{Anchor, Reader};
use super::Bound;
use crate::format::chrome::events::TextId;
use crate::format::chrome::flows::cycles::Station;
use crate::format::chrome::flows::innermost::Innermost;
use crate::format::chrome::flows::{Unbound, means_around};
use crate::model::{FlowPhase, SliceId, ThreadId, Time};

/// What begins at the moments of phases.
#[derive(Default)]
pub(super) struct Places {
    /// By thread and time.
    moments: FxHashMap<(u32, i64), u32>,
    /// By moment and category.
    exact: FxHashMap<(u32, Option<TextId>), Here>,
    /// By moment.
    any: Vec<Here>,
}

/// What begins at a moment on a thread.
#[derive(Clone, Copy, Default)]
struct Here {
    /// The outermost and the innermost slice.
    slices: Option<(Bound, Bound)>,
    /// The first instant in the file.
    instant: Option<Bound>,
    /// The first asynchronous span or instant in the file.
    other: Option<Bound>,
}

impl Here {
    fn add(&mut self, phase: u8, bound: Bound) {
        let (outer, inner) = self.slices.unwrap_or((bound, bound));
        match (phase, bound.1) {
            (b'X' | b'B', Anchor::Slice(slice)) => {
                let is_before = |other: Bound| matches!(other.1, Anchor::Slice(other) if slice < other);
                let is_behind = |other: Bound| matches!(other.1, Anchor::Slice(other) if slice > other);
                let outer = if is_before(outer) { bound } else { outer };
                let inner = if is_behind(inner) { bound } else { inner };
                self.slices = Some((outer, inner));
            }
            (b'i' | b'I' | b'R', _) => self.instant = self.instant.or(Some(bound)),
            (b'b' | b'n' | b'S' | b'N' | b'O' | b'D', _) => self.other = self.other.or(Some(bound)),
            _ => {}
        }
    }

    /// The slice that a phase means: one that enters means the outermost.
    fn slice(&self, is_entry: bool) -> Option<Bound> {
        self.slices.map(|(outer, inner)| if is_entry { outer } else { inner })
    }
}

impl Places {
    /// What each of `stations` is bound to. `anchors` says what became of each event.
    pub(super) fn bind(
        reader: &Reader<'_, '_>,
        anchors: &[Option<Bound>],
        stations: &[Station],
    ) -> Vec<Result<Bound, Unbound>> {
        let places = Self::of(reader, anchors, stations);
        // By thread and time, those for which the slices of their threads must be looked through.
        let mut around: Vec<(ThreadId, i64, usize)> = Vec::new();
        let mut bound: Vec<Result<Bound, Unbound>> = Vec::with_capacity(stations.len());
        for (at, station) in stations.iter().enumerate() {
            let row = station.row as usize;
            let is_entry = is_entry(reader, station);
            let found = if station.is_event { anchors[row] } else { places.at(reader, row, is_entry) };
            bound.push(found.ok_or(if is_entry { Unbound::NoNextSlice } else { Unbound::NoSlice }));
            let Some(thread) = reader.tracks.thread(reader.thread_of(row)) else { continue };
            let Some(time) = reader.nanos(row) else { continue };
            if found.is_some() || station.is_event {
                continue;
            }
            if is_entry {
                let slices = &reader.builder.tables().threads[thread.index()].slices;
                let next = slices.start.partition_point(|start| *start < Time(time));
                if next < slices.len() {
                    bound[at] = Ok((thread, Anchor::Slice(SliceId::new(next))));
                }
            } else {
                around.push((thread, time, at));
            }
        }
        around.sort_unstable();
        for of_thread in around.chunk_by(|a, b| a.0 == b.0) {
            let thread = of_thread[0].0;
            let mut innermost = Innermost::of(&reader.builder.tables().threads[thread.index()].slices);
            for (_, time, at) in of_thread {
                if let Some(slice) = innermost.at(*time) {
                    bound[*at] = Ok((thread, Anchor::Slice(slice)));
                }
            }
        }
        bound
    }

    fn of(reader: &Reader<'_, '_>, anchors: &[Option<Bound>], stations: &[Station]) -> Self {
        let table = reader.table;
        let mut places = Self::default();
        for row in stations.iter().filter(|station| !station.is_event).map(|station| station.row as usize) {
            let next = u32::try_from(places.any.len()).expect("fewer moments than events");
            let moment = *places.moments.entry((reader.thread_of(row), table.time[row])).or_insert(next);
            if moment == next {
                places.any.push(Here::default());
            }
            places.exact.entry((moment, table.category[row])).or_default();
        }
        if places.any.is_empty() {
            return places;
        }
        for (row, bound) in anchors.iter().enumerate() {
            let Some(bound) = *bound else { continue };
            let Some(moment) = places.moments.get(&(reader.thread_of(row), table.time[row])) else { continue };
            places.any[*moment as usize].add(table.phase[row], bound);
            if let Some(exact) = places.exact.get_mut(&(*moment, table.category[row])) {
                exact.add(table.phase[row], bound);
            }
        }
        places
    }

    /// What begins where phase `row` is.
    fn at(&self, reader: &Reader<'_, '_>, row: usize, is_entry: bool) -> Option<Bound> {
        let moment = *self.moments.get(&(reader.thread_of(row), reader.table.time[row]))?;
        let exact = self.exact.get(&(moment, reader.table.category[row])).copied().unwrap_or_default();
        let exact = exact.slice(is_entry).or(exact.instant).or(exact.other);
        let any = self.any[moment as usize];
        exact.or_else(|| any.slice(is_entry)).or(any.instant)
    }
}

/// Whether a phase leads to the slice that starts next. So says the format of ends that don't say otherwise.
fn is_entry(reader: &Reader<'_, '_>, station: &Station) -> bool {
    let table = reader.table;
    let row = station.row as usize;
    let is_old = |category: TextId| means_around(table.text(category));
    station.phase == FlowPhase::End
        && !station.is_event
        && table.link(row).is_none_or(|link| link.binding_point != b'e')
        && !table.category[row].is_some_and(is_old)
}

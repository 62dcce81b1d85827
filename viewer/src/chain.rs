//! What a marker or slice is linked with by flows, as a list in order of time: what came before, how long each step took.

use rustc_hash::FxHashSet;
use traceview_core::analysis::flow_arrival;
use traceview_core::model::{FlowPhase, Nanos, ThreadId, Time};

use crate::document::Document;
use crate::flows::{self, Place, Way};
use crate::selection::Picked;

/// All that something came of and all that came of it, in order of time.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    /// What it is the chain of.
    pub of: Picked,
    /// The places that it passes through.
    pub stations: Vec<Station>,
    /// When the first of them was reached.
    pub start: Time,
    /// When the last of them was reached.
    pub end: Time,
    /// On how many threads they are.
    pub threads: usize,
    /// Whether there are more, which are farther away.
    pub is_cut: bool,
    /// What is not known of the flows at the picked place.
    pub open_ends: Vec<OpenEnd>,
}

/// A place that a chain passes through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Station {
    /// The row of the member of a flow that is there.
    pub member: u32,
    /// When the chain reached it.
    pub time: Time,
    /// The row of the member that it came of, and how long before that was.
    pub came_of: Option<(u32, Nanos)>,
    /// How near it is.
    pub tie: Tie,
}

/// How near a station of a chain is to what was picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tie {
    /// It is the same.
    Picked,
    /// An arrow leads from there to what was picked, or the other way.
    Direct(Way),
    /// It takes several arrows.
    Indirect,
}

/// A flow of which an end is missing in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenEnd {
    /// Its row.
    pub flow: usize,
    /// Which end: [`Way::Back`] its beginning.
    pub way: Way,
}

/// Of longer chains the nearest links are listed.
pub const MOST_LINKS: usize = 100_000;

impl Chain {
    /// The chain of what was picked: time grows with its length, so a job's work. Empty if no flow passes there.
    pub fn of(document: &Document, picked: &Picked) -> Self {
        let (index, table) = (&document.flows, &document.profile.flows);
        let (links, is_cut) = index.chain_of(table, picked, MOST_LINKS);
        let member = |row: u32| &table.members[row as usize];
        let own: FxHashSet<Place> =
            index.members_at(table, picked).iter().map(|row| flows::place(table, *row)).collect();
        let direct = |way| index.direct(table, picked, way).into_iter();
        let before: FxHashSet<Place> = direct(Way::Back).map(|link| flows::place(table, link.from)).collect();
        let after: FxHashSet<Place> = direct(Way::Forward).map(|link| flows::place(table, link.to)).collect();
        let tie = |row: u32| match flows::place(table, row) {
            place if own.contains(&place) => Tie::Picked,
            place if before.contains(&place) => Tie::Direct(Way::Back),
            place if after.contains(&place) => Tie::Direct(Way::Forward),
            _ => Tie::Indirect,
        };
        let station = |row: u32, time: Time, source: Option<u32>| {
            let came_of = source.map(|source| (source, time - member(source).time));
            Station { member: row, time, came_of, tie: tie(row) }
        };
        // Each arrival is a station; a departure is one only where nothing arrived before it.
        let mut stations: Vec<Station> = Vec::with_capacity(links.len() + 1);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        for link in links.iter().filter(|link| seen.insert(link.to)) {
            stations.push(station(link.to, flow_arrival(&document.profile, member(link.to)), Some(link.from)));
        }
        let reached: rustc_hash::FxHashMap<Place, Time> = stations.iter().fold(Default::default(), |mut first, it| {
            let time: &mut Time = first.entry(flows::place(table, it.member)).or_insert(it.time);
            *time = it.time.min(*time);
            first
        });
        let mut departures: Vec<u32> = links.iter().map(|link| link.from).collect();
        departures.sort_unstable_by_key(|row| (member(*row).time, *row));
        let mut left: FxHashSet<Place> = FxHashSet::default();
        for row in departures {
            let (place, time) = (flows::place(table, row), member(row).time);
            if reached.get(&place).is_none_or(|reached| *reached > time) && left.insert(place) {
                stations.push(station(row, time, index.along_thread(table, row, Way::Back).first().copied()));
            }
        }
        stations.sort_unstable_by_key(|station| (station.time, station.member));
        let threads: FxHashSet<ThreadId> = stations.iter().map(|station| member(station.member).thread).collect();
        Self {
            of: *picked,
            start: stations.first().map_or(picked.start, |station| station.time),
            end: stations.last().map_or(picked.start, |station| station.time),
            threads: threads.len(),
            is_cut,
            open_ends: open_ends(document, picked),
            stations,
        }
    }

    /// Which station is what was picked; the first, if the chain comes there several times.
    pub fn position(&self) -> Option<usize> {
        self.stations.iter().position(|station| station.tie == Tie::Picked)
    }
}

fn open_ends(document: &Document, picked: &Picked) -> Vec<OpenEnd> {
    let table = &document.profile.flows;
    let members = document.flows.members_at(table, picked);
    let mut flows: Vec<usize> = members.iter().map(|member| flows::flow_of(table, *member)).collect();
    flows.dedup();
    let ends = |flow: usize| {
        let members = table.members_of(flow);
        let begins = members.first().is_some_and(|member| member.phase == FlowPhase::Start);
        let ends = members.last().is_some_and(|member| member.phase == FlowPhase::End);
        let missing = [(!begins, Way::Back), (!ends, Way::Forward)];
        missing.into_iter().filter(|(is_missing, _)| *is_missing).map(move |(_, way)| OpenEnd { flow, way })
    };
    flows.into_iter().flat_map(ends).collect()
}

#[cfg(test)]
mod tests {
    use traceview_core::model::{FlowAnchor, MarkerId};

    use super::*;
    use crate::testing::{TestProfile, document};

    /// A request from `client` through `server` to `disk` and back to the marker that sent it, besides a flow of no end.
    fn request() -> (std::sync::Arc<Document>, Picked) {
        let mut profile = TestProfile::recorded();
        let threads = ["client", "server", "disk"].map(|name| profile.thread(name));
        let markers: Vec<_> =
            threads.into_iter().map(|thread| (thread, profile.instant(thread, 0, "m", None))).collect();
        let at = |thread: usize, time: i64| (markers[thread].0, time, FlowAnchor::Marker(markers[thread].1));
        profile.flow("ask", &[at(0, 10), at(1, 15)]);
        profile.flow("read", &[at(1, 20), at(2, 50)]);
        profile.flow("answer", &[at(2, 60), at(0, 100)]);
        profile.flow_of_phases("lost", &[(at(1, 21), FlowPhase::Start), (at(2, 30), FlowPhase::Step)]);
        let document = document(profile.finish());
        let thread = ThreadId::new(1);
        let markers = &document.markers[1];
        let picked = markers.spans()[markers.position(MarkerId::new(0))].picked(thread);
        (document, picked)
    }

    #[test]
    fn stations_are_in_order_with_the_time_since_what_they_came_of() {
        let (document, picked) = request();
        let chain = Chain::of(&document, &picked);
        let thread = |row: u32| document.profile.flows.members[row as usize].thread.index();
        let row = |it: &Station| (thread(it.member), it.time.0, it.came_of.map(|(from, late)| (thread(from), late.0)));
        let expected = [
            (0, 10, None),
            (1, 15, Some((0, 5))),
            (2, 30, Some((1, 9))),
            (2, 50, Some((1, 30))),
            (0, 100, Some((2, 40))),
        ];
        assert_eq!(chain.stations.iter().map(row).collect::<Vec<_>>(), expected);
        let ties: Vec<Tie> = chain.stations.iter().map(|it| it.tie).collect();
        let (back, on) = (Tie::Direct(Way::Back), Tie::Direct(Way::Forward));
        // The one who asked is at both ends: an arrow leads from there, wherever it is listed.
        assert_eq!(ties, [back, Tie::Picked, on, on, back]);
        assert_eq!((chain.start, chain.end, chain.threads, chain.is_cut), (Time(10), Time(100), 3, false));
        assert_eq!(chain.position(), Some(1));
        assert_eq!(chain.open_ends, [OpenEnd { flow: 3, way: Way::Forward }]);
    }

    #[test]
    fn a_thread_goes_on_from_what_reached_it() {
        let mut profile = TestProfile::recorded();
        let threads = ["main", "child", "grandchild"].map(|name| profile.thread(name));
        for (parent, time) in [(0, 10), (1, 30)] {
            let ends = [(threads[parent], time, "spawn"), (threads[parent + 1], time + 2, "start")];
            let ends = ends.map(|(thread, time, name)| {
                (thread, time, FlowAnchor::Marker(profile.instant(thread, time, name, None)))
            });
            profile.flow("spawn", &ends);
        }
        let document = document(profile.finish());
        let markers = &document.markers[2];
        let chain = Chain::of(&document, &markers.spans()[0].picked(ThreadId::new(2)));
        let late: Vec<_> = chain.stations.iter().map(|it| (it.time.0, it.came_of.map(|(_, late)| late.0))).collect();
        assert_eq!(late, [(10, None), (12, Some(2)), (30, Some(18)), (32, Some(2))]);
    }

    #[test]
    fn what_no_flow_passes_through_has_no_chain() {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("main");
        profile.instant(thread, 5, "alone", None);
        let document = document(profile.finish());
        let chain = Chain::of(&document, &document.markers[0].spans()[0].picked(thread));
        assert!(chain.stations.is_empty() && chain.open_ends.is_empty());
    }

    #[test]
    fn of_a_chain_without_end_the_nearest_are_listed() {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("main");
        let number = i64::try_from(MOST_LINKS).expect("it fits") * 3 / 2;
        let members: Vec<_> = (0..number)
            .map(|time| (thread, time, FlowAnchor::Marker(profile.instant(thread, time, "m", None))))
            .collect();
        profile.flow("long", &members);
        let document = document(profile.finish());
        let chain = Chain::of(&document, &document.markers[0].spans()[MOST_LINKS].picked(thread));
        assert!(chain.is_cut);
        assert_eq!(chain.stations.len(), MOST_LINKS / 2 + MOST_LINKS / 2);
    }
}

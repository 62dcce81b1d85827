//! What led to what: from a marker or a slice along the flows that it is part of.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashSet;
use traceview_core::model::{
    FlowAnchor, FlowMember, FlowPhase, FlowTable, Nanos, Profile, SliceId, ThreadId, Time, TimeRange,
};

use crate::document::Document;
use crate::selection::{Picked, PickedKind};

/// An index over the flows of a profile.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flows {
    /// All members, those at one marker or slice side by side.
    by_place: Vec<u32>,
    /// By member: the one that leads to it, or [`NONE`].
    source: Vec<u32>,
    /// The members that are not at slices, thread after thread, in order of time.
    by_thread: Vec<u32>,
    /// By place in that: the last member of the thread until there that another one leads to, or [`NONE`].
    arrivals: Vec<u32>,
}

/// From one member of a flow to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Link {
    /// The row of the member that it comes from.
    pub from: u32,
    /// The row of the member that it leads to.
    pub to: u32,
}

/// The way along flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To what came of it.
    Forward,
    /// To what it came of.
    Back,
}

/// No more links are followed: nobody could tell them apart.
pub const MOST_LINKS: usize = 4000;
const NONE: u32 = u32::MAX;

/// Members with the same one are at one marker or slice.
pub(crate) type Place = (ThreadId, u8, usize);

impl Flows {
    /// Indexes the flows of `profile`.
    ///
    /// A step or an end comes from the last start or step before it, so that one start can have several ends. Where there is
    /// none, it comes from whatever is before it: what a file says is shown as far as it goes.
    pub fn of(profile: &Profile) -> Self {
        let flows = &profile.flows;
        let mut by_place: Vec<u32> = (0..).take(flows.members.len()).collect();
        by_place.sort_unstable_by_key(|row| (place(flows, *row), *row));
        let mut source = vec![NONE; flows.members.len()];
        for flow in 0..flows.len() {
            let mut open = None;
            for row in rows_of(flows, flow) {
                let phase = flows.members[row as usize].phase;
                let before = row.checked_sub(1).filter(|before| *before >= flows.first_member[flow]);
                source[row as usize] = match phase {
                    FlowPhase::Start => NONE,
                    FlowPhase::Step | FlowPhase::End => open.or(before).unwrap_or(NONE),
                };
                if phase != FlowPhase::End {
                    open = Some(row);
                }
            }
        }
        let is_at_slice = |row: &u32| matches!(flows.members[*row as usize].anchor, FlowAnchor::Slice(_));
        let mut by_thread: Vec<u32> = (0..).take(flows.members.len()).filter(|row| !is_at_slice(row)).collect();
        by_thread.sort_unstable_by_key(|row| moment(flows, *row));
        let mut last: Option<FlowMember> = None;
        let mut arrival = NONE;
        let arrivals = by_thread.iter().map(|row| {
            let member = flows.members[*row as usize];
            if last.is_some_and(|last| last.thread != member.thread) {
                arrival = NONE;
            }
            last = Some(member);
            if source[*row as usize] != NONE {
                arrival = *row;
            }
            arrival
        });
        let arrivals = arrivals.collect();
        Self { by_place, source, by_thread, arrivals }
    }

    /// The members at what was picked.
    pub fn members_at(&self, flows: &FlowTable, picked: &Picked) -> &[u32] {
        match picked.what {
            PickedKind::Marker(marker) => self.at(flows, place_of(picked.thread, FlowAnchor::Marker(marker), 0)),
            PickedKind::Slice(slice) => self.at(flows, place_of(picked.thread, FlowAnchor::Slice(slice), 0)),
            PickedKind::Station(member) => self.at(flows, place(flows, member)),
            PickedKind::Box(_) | PickedKind::Wait(_) => &[],
        }
    }

    fn at(&self, flows: &FlowTable, wanted: Place) -> &[u32] {
        let start = self.by_place.partition_point(|row| place(flows, *row) < wanted);
        let end = start + self.by_place[start..].partition_point(|row| place(flows, *row) == wanted);
        &self.by_place[start..end]
    }

    /// The links from `member`, one way.
    fn links_of(&self, flows: &FlowTable, member: u32, way: Way) -> impl Iterator<Item = Link> {
        let source = self.source[member as usize];
        let back = (way == Way::Back && source != NONE).then_some(Link { from: source, to: member });
        let rest = match way {
            Way::Forward => member + 1..rows_of(flows, flow_of(flows, member)).end,
            Way::Back => 0..0,
        };
        let forward = rest.take_while(move |row| self.source[*row as usize] == member);
        back.into_iter().chain(forward.map(move |to| Link { from: member, to }))
    }

    /// The links of what was picked with its neighbours, one way, in order of the neighbours' times.
    pub fn direct(&self, flows: &FlowTable, picked: &Picked, way: Way) -> Vec<Link> {
        let members = self.members_at(flows, picked).iter();
        let links = members.flat_map(|member| self.links_of(flows, *member, way)).take(MOST_LINKS);
        let mut links: Vec<Link> = links.collect();
        links.sort_by_key(|link| flows.members[link.end(way) as usize].time);
        links
    }

    /// What a way that has come to `member` goes on with on its thread, besides what is in the same place. What a thread
    /// starts comes of what reached it last, be it its own start, a join or a message.
    pub(crate) fn along_thread(&self, flows: &FlowTable, member: u32, way: Way) -> &[u32] {
        let is_arrival = self.source[member as usize] != NONE;
        let wanted = moment(flows, member);
        let at = self.by_thread.partition_point(|row| moment(flows, *row) < wanted);
        if self.by_thread.get(at) != Some(&member) {
            return &[];
        }
        match way {
            Way::Back if !is_arrival && self.arrivals[at] != NONE => std::slice::from_ref(&self.arrivals[at]),
            Way::Forward if is_arrival => {
                let rest = &self.by_thread[at + 1..];
                let of_it = self.arrivals[at + 1..].iter().zip(rest);
                let thread = flows.members[member as usize].thread;
                let end = of_it
                    .take_while(|(arrival, row)| **arrival == member && flows.members[**row as usize].thread == thread);
                &rest[..end.count()]
            }
            Way::Back | Way::Forward => &[],
        }
    }

    /// All that came of what was picked and all that it came of, also by way of what threads did in between: first its own
    /// links, then those of its neighbours, … No more than [`MOST_LINKS`].
    pub fn chain(&self, flows: &FlowTable, picked: &Picked) -> Vec<Link> {
        self.chain_of(flows, picked, MOST_LINKS).0
    }

    /// The same with at most so many links, and whether there are more.
    pub fn chain_of(&self, flows: &FlowTable, picked: &Picked, most_links: usize) -> (Vec<Link>, bool) {
        let (mut links, mut is_cut) = (Vec::<Link>::new(), false);
        for way in [Way::Back, Way::Forward] {
            let most = if way == Way::Back { most_links / 2 } else { most_links };
            let mut seen: FxHashSet<u32> = self.members_at(flows, picked).iter().copied().collect();
            let mut next: VecDeque<u32> = self.members_at(flows, picked).iter().copied().collect();
            for member in self.members_at(flows, picked) {
                let along = self.along_thread(flows, *member, way).iter();
                next.extend(along.filter(|member| seen.insert(**member)));
            }
            'way: while let Some(member) = next.pop_front() {
                for link in self.links_of(flows, member, way) {
                    if links.len() >= most {
                        is_cut = true;
                        break 'way;
                    }
                    links.push(link);
                    // The other flows there go on from it.
                    let there = self.at(flows, place(flows, link.end(way))).iter();
                    let later = self.along_thread(flows, link.end(way), way).iter();
                    next.extend(there.chain(later).filter(|member| seen.insert(**member)));
                }
            }
        }
        (links, is_cut)
    }

    /// The time of what was picked together with that of its neighbours.
    pub fn range_with_neighbours(&self, flows: &FlowTable, picked: &Picked) -> TimeRange {
        let both = [Way::Back, Way::Forward].into_iter().flat_map(|way| self.direct(flows, picked, way));
        let times = both.flat_map(|link| [link.from, link.to]).map(|member| flows.members[member as usize].time);
        times.fold(picked.range(), |range, time| TimeRange { start: range.start.min(time), end: range.end.max(time) })
    }

    /// Where the key for this way goes from what was picked: the nearest neighbour in time.
    pub fn follow(&self, document: &Document, picked: &Picked, way: Way) -> Option<Picked> {
        let flows = &document.profile.flows;
        let links = self.direct(flows, picked, way);
        let link = if way == Way::Forward { links.first() } else { links.last() };
        link.map(|link| pick(document, link.end(way)))
    }
}

impl Link {
    /// The member that it leads to this way.
    pub fn end(&self, way: Way) -> u32 {
        match way {
            Way::Forward => self.to,
            Way::Back => self.from,
        }
    }
}

/// The flow that a member is of.
pub fn flow_of(flows: &FlowTable, member: u32) -> usize {
    flows.first_member.partition_point(|first| *first <= member) - 1
}

/// What a member is bound to, as something that is selected.
pub fn pick(document: &Document, member: u32) -> Picked {
    let FlowMember { thread, time, anchor, .. } = document.profile.flows.members[member as usize];
    match anchor {
        FlowAnchor::Marker(marker) => {
            let markers = &document.markers[thread.index()];
            markers.spans()[markers.position(marker)].picked(thread)
        }
        FlowAnchor::Slice(slice) => {
            let slices = &document.profile.threads[thread.index()].slices;
            let (start, duration) = (slices.start[slice.index()], slices.duration[slice.index()]);
            Picked { thread, what: PickedKind::Slice(slice), start, duration }
        }
        FlowAnchor::Thread => Picked { thread, what: PickedKind::Station(member), start: time, duration: Nanos::ZERO },
    }
}

fn rows_of(flows: &FlowTable, flow: usize) -> Range<u32> {
    let first = flows.first_member[flow];
    let length = u32::try_from(flows.members_of(flow).len()).expect("a profile has fewer than u32::MAX flow members");
    first..first + length
}

/// The order of members on threads.
fn moment(flows: &FlowTable, member: u32) -> (ThreadId, Time, u32) {
    let FlowMember { thread, time, .. } = flows.members[member as usize];
    (thread, time, member)
}

/// Where a member is.
pub(crate) fn place(flows: &FlowTable, member: u32) -> Place {
    let FlowMember { thread, anchor, .. } = flows.members[member as usize];
    place_of(thread, anchor, member)
}

/// Members that are bound to nothing have places of their own.
fn place_of(thread: ThreadId, anchor: FlowAnchor, member: u32) -> Place {
    match anchor {
        FlowAnchor::Slice(slice) => (thread, 0, SliceId::index(slice)),
        FlowAnchor::Marker(marker) => (thread, 1, marker.index()),
        FlowAnchor::Thread => (thread, 2, member as usize),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use traceview_core::model::MarkerId;

    use super::*;
    use crate::testing::{TestProfile, document};

    /// Three threads, one that starts the next.
    fn chain() -> Arc<Document> {
        let mut profile = TestProfile::recorded();
        let threads = ["main", "child", "grandchild"].map(|name| profile.thread(name));
        for [parent, child] in [[threads[0], threads[1]], [threads[1], threads[2]]] {
            let time = 10 + 10 * i64::try_from(parent.index()).expect("few");
            let ends = [(parent, time, "spawn"), (child, time + 2, "start")].map(|(thread, time, name)| {
                let marker = profile.instant(thread, time, name, None);
                (thread, time, FlowAnchor::Marker(marker))
            });
            profile.flow("spawn", &ends);
        }
        document(profile.finish())
    }

    fn picked(document: &Document, thread: usize, row: usize) -> Picked {
        let markers = &document.markers[thread];
        markers.spans()[markers.position(MarkerId::new(row))].picked(ThreadId::new(thread))
    }

    #[test]
    fn following_goes_there_and_back() {
        let document = chain();
        let spawn = picked(&document, 0, 0);
        let start = document.flows.follow(&document, &spawn, Way::Forward).expect("it has an end");
        assert_eq!((start.thread, start.start), (ThreadId::new(1), Time(12)));
        assert_eq!(document.flows.follow(&document, &start, Way::Back), Some(spawn));
        assert_eq!(document.flows.follow(&document, &start, Way::Forward), None);
        assert_eq!(document.flows.follow(&document, &spawn, Way::Back), None);
    }

    /// Flows `a`: 0 → 1, `b`: 1 → 2 and `c`: 1 → 3, through one marker on each thread.
    fn tree() -> Arc<Document> {
        let mut profile = TestProfile::recorded();
        let stations: Vec<_> = (0..4i64)
            .map(|number| {
                let thread = profile.thread("t");
                let marker = profile.instant(thread, number * 10, "station", None);
                (thread, number * 10, FlowAnchor::Marker(marker))
            })
            .collect();
        for [from, to] in [[0, 1], [1, 2], [1, 3]] {
            profile.flow("f", &[stations[from], stations[to]]);
        }
        document(profile.finish())
    }

    #[test]
    fn a_chain_is_all_that_came_of_it_and_all_that_it_came_of() {
        let document = tree();
        let flows = &document.profile.flows;
        let count = |thread: usize| document.flows.chain(flows, &picked(&document, thread, 0)).len();
        assert_eq!([0, 1, 2, 3].map(count), [3, 3, 2, 2], "a sibling is neither");
        let direct = |thread: usize, way| document.flows.direct(flows, &picked(&document, thread, 0), way).len();
        assert_eq!((direct(0, Way::Forward), direct(1, Way::Back), direct(1, Way::Forward)), (1, 1, 2));
    }

    #[test]
    fn a_chain_goes_on_with_what_a_thread_did_since_it_was_reached() {
        let document = chain();
        let flows = &document.profile.flows;
        let links = |thread: usize, row: usize| {
            let mut links = document.flows.chain(flows, &picked(&document, thread, row));
            links.sort_by_key(|link| link.from);
            links
        };
        let both = [Link { from: 0, to: 1 }, Link { from: 2, to: 3 }];
        assert_eq!([links(0, 0), links(1, 0), links(1, 1), links(2, 0)], [both, both, both, both].map(Vec::from));
    }

    #[test]
    fn what_a_thread_did_before_it_was_reached_is_no_part_of_the_chain() {
        let mut profile = TestProfile::recorded();
        let threads = ["a", "b", "c"].map(|name| profile.thread(name));
        let station = |at: usize, time: i64| (threads[at], time, FlowAnchor::Thread);
        profile.flow("before", &[station(1, 5), station(2, 6)]);
        profile.flow("message", &[station(0, 10), station(1, 11)]);
        profile.flow("after", &[station(1, 15), station(2, 16)]);
        let document = document(profile.finish());
        let links = document.flows.chain(&document.profile.flows, &pick(&document, 2));
        assert_eq!(links, [Link { from: 2, to: 3 }, Link { from: 4, to: 5 }]);
    }

    #[test]
    fn one_start_may_have_several_ends() {
        let mut profile = TestProfile::recorded();
        let threads = ["a", "b", "c"].map(|name| profile.thread(name));
        let stations = [0, 1, 2].map(|at| (threads[at], at as i64 * 10, FlowAnchor::Thread));
        profile.flow_of_phases(
            "release",
            &[(stations[0], FlowPhase::Start), (stations[1], FlowPhase::End), (stations[2], FlowPhase::End)],
        );
        // Its start was lost.
        profile.flow_of_phases("half", &[(stations[0], FlowPhase::End), (stations[2], FlowPhase::End)]);
        let document = document(profile.finish());
        let flows = &document.profile.flows;
        let links = |member: u32| document.flows.direct(flows, &pick(&document, member), Way::Forward);
        assert_eq!(links(0), [Link { from: 0, to: 1 }, Link { from: 0, to: 2 }]);
        assert_eq!((links(1), links(3)), (vec![], vec![Link { from: 3, to: 4 }]));
    }

    #[test]
    fn a_loop_of_flows_ends() {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("t");
        let [a, b] = ["a", "b"].map(|name| FlowAnchor::Marker(profile.instant(thread, 5, name, None)));
        profile.flow("there", &[(thread, 5, a), (thread, 5, b)]);
        profile.flow("and back", &[(thread, 5, b), (thread, 5, a)]);
        let document = document(profile.finish());
        assert_eq!(document.flows.chain(&document.profile.flows, &picked(&document, 0, 0)).len(), 4);
    }

    #[test]
    fn there_is_an_end_to_what_is_followed() {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("t");
        let members: Vec<_> = (0..20_000).map(|time| (thread, time, FlowAnchor::Thread)).collect();
        profile.flow("long", &members);
        let document = document(profile.finish());
        let middle = pick(&document, 10_000);
        let links = document.flows.chain(&document.profile.flows, &middle);
        assert_eq!(links.len(), MOST_LINKS);
        assert!(links.iter().any(|link| link.from == 10_000) && links.iter().any(|link| link.to == 10_000));
    }
}

//! What phases will be bound to when the file is read.

use rustc_hash::FxHashMap;

use super::Placed;
use crate::format::chrome::flows::innermost::Innermost;
use crate::format::chrome::flows::means_around;
use crate::format::chrome::write::markers::time_of;
use crate::format::chrome::write::plan::Plan;
use crate::model::{FlowAnchor, FlowPhase, MarkerId, MarkerTiming, SliceId, SliceTable, StringId, Time};

/// More slices that begin at one moment are not looked through for each phase.
const MOST_AT_ONCE: usize = 1 << 10;

/// What begins at which moments.
pub(super) struct Places<'a> {
    plan: &'a Plan<'a>,
    /// For each thread what stands on it besides slices, in order of time and then of the file.
    others: Vec<Vec<Other>>,
    /// Asynchronous events that were moved to another thread, and what stands there then.
    hosts: FxHashMap<Bound, usize>,
    moved: FxHashMap<(usize, Time, Option<StringId>), Bound>,
}

/// An instant, or something asynchronous.
struct Other {
    time: Time,
    category: Option<StringId>,
    thread: u32,
    anchor: FlowAnchor,
    is_instant: bool,
}

/// What a phase is bound to.
type Bound = (u32, FlowAnchor);

impl<'a> Places<'a> {
    pub(super) fn of(plan: &'a Plan<'a>) -> Self {
        let mut others: Vec<Vec<Other>> = plan.profile.threads.iter().map(|_| Vec::new()).collect();
        for (thread, index) in plan.profile.threads.iter().zip(0_u32..) {
            let Some(host) = plan.host[index as usize] else { continue };
            let is_async = plan.is_async[index as usize];
            let slices = if is_async { thread.slices.len() } else { 0 };
            others[host].extend((0..slices).map(|row| Other {
                time: thread.slices.start[row],
                category: plan.category_name(thread.slices.category[row]),
                thread: index,
                anchor: FlowAnchor::Slice(SliceId::new(row)),
                is_instant: false,
            }));
            others[host].extend((0..thread.markers.len()).map(|row| Other {
                time: time_of(&thread.markers.timing[row]),
                category: plan.category_name(thread.markers.category[row]),
                thread: index,
                anchor: FlowAnchor::Marker(MarkerId::new(row)),
                is_instant: !is_async && matches!(thread.markers.timing[row], MarkerTiming::Instant(_)),
            }));
        }
        others.iter_mut().for_each(|others| others.sort_by_key(|other| other.time));
        Self { plan, others, hosts: FxHashMap::default(), moved: FxHashMap::default() }
    }

    /// Places the members so that they are bound to their anchors, as far as that can be. Gives the threads of asynchronous
    /// events that had to be moved for that.
    pub(super) fn hold(mut self, members: &mut [Placed]) -> FxHashMap<Bound, usize> {
        let mut open: Vec<usize> = (0..members.len()).collect();
        let first: Vec<(Time, bool)> = members.iter().map(|member| (member.time, member.is_around)).collect();
        self.check(members, &mut open);
        if self.move_hosts(members, &open) {
            self.check(members, &mut open);
        }
        for (at_start, is_around) in [(false, false), (true, true), (true, false)] {
            for at in &open {
                let member = &mut members[*at];
                member.time = if at_start { self.start(member).unwrap_or(first[*at].0) } else { first[*at].0 };
                member.is_around = is_around;
            }
            self.check(members, &mut open);
        }
        for at in open {
            (members[at].time, members[at].is_around) = first[at];
        }
        for of_flow in members.chunk_by_mut(|a, b| a.flow == b.flow) {
            self.sort(of_flow);
        }
        self.hosts
    }

    /// Moves asynchronous events that are not found where they stand to threads where they are; `false` if there are none.
    fn move_hosts(&mut self, members: &[Placed], open: &[usize]) -> bool {
        let before = self.hosts.len();
        let profile = self.plan.profile;
        for at in open {
            let member = &members[*at];
            let thread = &profile.threads[member.thread as usize];
            let (time, category, is_instant) = match member.anchor {
                FlowAnchor::Slice(slice) => {
                    (thread.slices.start[slice.index()], thread.slices.category[slice.index()], false)
                }
                FlowAnchor::Marker(marker) => {
                    let timing = &thread.markers.timing[marker.index()];
                    let is_instant = matches!(timing, MarkerTiming::Instant(_));
                    (time_of(timing), thread.markers.category[marker.index()], is_instant)
                }
                FlowAnchor::Thread => continue,
            };
            let is_async = self.plan.is_async[member.thread as usize];
            let is_on_thread = !is_async && (is_instant || matches!(member.anchor, FlowAnchor::Slice(_)));
            let key = (member.thread, member.anchor);
            if is_on_thread || time != member.time || self.hosts.contains_key(&key) {
                continue;
            }
            let category = self.plan.category_name(category);
            if category != self.category(member) {
                continue;
            }
            let can_host = |host: &usize| {
                let is_plain = profile.threads[*host].process == thread.process && !self.plan.is_async[*host];
                is_plain
                    && self.plan.host[member.thread as usize] != Some(*host)
                    && self.exact(*host, time, category, false).is_none()
            };
            if let Some(host) = (0..profile.threads.len()).find(can_host) {
                self.hosts.insert(key, host);
                self.moved.insert((host, time, category), key);
            }
        }
        self.hosts.len() > before
    }

    /// The category of the phases of a member's flow.
    fn category(&self, member: &Placed) -> Option<StringId> {
        let category = self.plan.profile.flows.category[member.flow as usize];
        Some(category).filter(|category| !self.plan.profile.string(*category).is_empty())
    }

    /// Brings members that were moved into order again. What leads a flow starts it.
    fn sort(&self, members: &mut [Placed]) {
        let key = |member: &Placed| (member.time, member.order);
        if !members.is_sorted_by_key(key) {
            members.sort_by_key(key);
            for (index, member) in members.iter_mut().enumerate() {
                member.phase = match (index, member.phase) {
                    (0, _) => FlowPhase::Start,
                    (_, FlowPhase::Start) => FlowPhase::Step,
                    (_, phase) => phase,
                };
            }
            let mut all: Vec<usize> = (0..members.len()).collect();
            members.iter_mut().for_each(|member| member.holds = false);
            self.check(members, &mut all);
        }
    }

    fn start(&self, member: &Placed) -> Option<Time> {
        match member.anchor {
            FlowAnchor::Slice(slice) => {
                Some(self.plan.profile.threads[member.thread as usize].slices.start[slice.index()])
            }
            _ => None,
        }
    }

    /// Looks what those members are bound to that are `open`, and keeps those that are not bound to their anchors.
    fn check(&self, members: &mut [Placed], open: &mut Vec<usize>) {
        let mut around: Vec<(usize, Time, usize)> = Vec::new();
        for at in open.iter().copied() {
            let member = &members[at];
            let moved = self.hosts.get(&(member.thread, member.anchor)).copied();
            let Some(host) = moved.or(self.plan.host[member.thread as usize]) else {
                members[at].holds = true;
                continue;
            };
            let category = self.category(member);
            let is_entry = member.phase == FlowPhase::End
                && !member.is_around
                && !category.is_some_and(|category| means_around(self.plan.profile.string(category)));
            let slices = self.slices(host);
            let found = self.at(host, member.time, category, is_entry).or_else(|| {
                let next = || slices.start.partition_point(|start| *start < member.time);
                Some(next()).filter(|row| is_entry && *row < slices.len()).map(|row| slice(host, row))
            });
            if found.is_none() && !is_entry {
                around.push((host, member.time, at));
            }
            members[at].holds = found == Some((member.thread, member.anchor)) || member.anchor == FlowAnchor::Thread;
        }
        around.sort_unstable();
        for of_host in around.chunk_by(|a, b| a.0 == b.0) {
            let mut innermost = Innermost::of(self.slices(of_host[0].0));
            for (host, time, at) in of_host {
                let found = innermost.at(time.0).map(|found| slice(*host, found.index()));
                members[*at].holds |= found == Some((members[*at].thread, members[*at].anchor));
            }
        }
        open.retain(|at| !members[*at].holds);
    }

    /// The slices that stand on a thread.
    fn slices(&self, host: usize) -> &'a SliceTable {
        &self.plan.profile.threads[host].slices
    }

    /// What begins at a moment that a phase of this category would be bound to.
    fn at(&self, host: usize, time: Time, category: Option<StringId>, is_entry: bool) -> Option<Bound> {
        let any = || self.longest(host, time, is_entry, |_| true).map(|row| slice(host, row));
        let instant = || self.other(host, time, |other| other.is_instant);
        self.exact(host, time, category, is_entry).or_else(any).or_else(instant)
    }

    /// The same, only under the same category.
    fn exact(&self, host: usize, time: Time, category: Option<StringId>, is_entry: bool) -> Option<Bound> {
        let slices = self.slices(host);
        let has_category = |row: usize| self.plan.category_name(slices.category[row]) == category;
        let slice = self.longest(host, time, is_entry, has_category).map(|row| slice(host, row));
        let other = |is_instant: bool| {
            self.other(host, time, |other| other.is_instant == is_instant && other.category == category)
        };
        let moved = || self.moved.get(&(host, time, category)).copied();
        slice.or_else(|| other(true)).or_else(|| other(false)).or_else(moved)
    }

    /// Of the slices that start at a moment and are `meant`, the outermost or the innermost: what is longer is outside, and of
    /// equals the first.
    fn longest(&self, host: usize, time: Time, is_outermost: bool, meant: impl Fn(usize) -> bool) -> Option<usize> {
        let slices = self.slices(host);
        let from = slices.start.partition_point(|start| *start < time);
        let rows = (from..slices.len()).take_while(|row| slices.start[*row] == time).take(MOST_AT_ONCE);
        rows.filter(|row| meant(*row)).reduce(|best, row| {
            let is_longer = slices.duration[row] > slices.duration[best];
            if is_longer == is_outermost { row } else { best }
        })
    }

    /// The first of what else begins at a moment and is `meant`.
    fn other(&self, host: usize, time: Time, meant: impl Fn(&Other) -> bool) -> Option<Bound> {
        let others = &self.others[host];
        let from = others.partition_point(|other| other.time < time);
        let mut here = others[from..].iter().take_while(|other| other.time == time).take(MOST_AT_ONCE);
        let is_here = |other: &&Other| {
            meant(other) && (self.hosts.is_empty() || !self.hosts.contains_key(&(other.thread, other.anchor)))
        };
        here.find(is_here).map(|other| (other.thread, other.anchor))
    }
}

fn slice(host: usize, row: usize) -> Bound {
    (super::index(host), FlowAnchor::Slice(SliceId::new(row)))
}

//! What phases will be bound to when the file is read.

use super::Placed;
use crate::format::chrome::flows::innermost::Innermost;
use crate::format::chrome::flows::means_around;
use crate::format::chrome::write::markers::time_of;
use crate::format::chrome::write::plan::Plan;
use crate::model::{FlowAnchor, FlowPhase, MarkerId, MarkerTiming, SliceId, SliceTable, StringId, ThreadId, Time};

/// More slices that begin at one moment are not looked through for each phase.
const MOST_AT_ONCE: usize = 1 << 10;

/// What begins at which moments.
pub(super) struct Places<'a> {
    plan: &'a Plan<'a>,
    /// For each thread what stands on it besides slices, in order of time and then of the file.
    others: Vec<Vec<Other>>,
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
        Self { plan, others }
    }

    /// Places the members so that they are bound to their anchors, as far as that can be.
    pub(super) fn hold(&self, members: &mut [Placed]) {
        let mut open: Vec<usize> = (0..members.len()).collect();
        let first: Vec<(Time, bool)> = members.iter().map(|member| (member.time, member.is_around)).collect();
        self.check(members, &mut open);
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
            let Some(host) = self.plan.host[member.thread as usize] else {
                members[at].holds = true;
                continue;
            };
            let category = self.plan.profile.flows.category[member.flow as usize];
            let is_entry = member.phase == FlowPhase::End
                && !member.is_around
                && !means_around(self.plan.profile.string(category));
            let category = Some(category).filter(|category| !self.plan.profile.string(*category).is_empty());
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
        let slices = self.slices(host);
        let from = slices.start.partition_point(|start| *start < time);
        let rows = (from..slices.len()).take_while(|row| slices.start[*row] == time).take(MOST_AT_ONCE);
        // What is longer is outside, and of equals the first.
        let better = |row: usize, best: usize| {
            let (length, best) = (slices.duration[row], slices.duration[best]);
            if is_entry { length > best } else { length <= best }
        };
        let (mut exact, mut any): (Option<usize>, Option<usize>) = (None, None);
        for row in rows {
            if self.plan.category_name(slices.category[row]) == category && exact.is_none_or(|best| better(row, best)) {
                exact = Some(row);
            }
            if any.is_none_or(|best| better(row, best)) {
                any = Some(row);
            }
        }
        let others = &self.others[host];
        let from = others.partition_point(|other| other.time < time);
        let here = || others[from..].iter().take_while(|other| other.time == time).take(MOST_AT_ONCE);
        let first = |is_instant: bool, is_exact: bool| {
            let fits = |other: &&Other| other.is_instant == is_instant && (!is_exact || other.category == category);
            here().find(fits).map(|other| (other.thread, other.anchor))
        };
        let exact = exact.map(|row| slice(host, row)).or_else(|| first(true, true)).or_else(|| first(false, true));
        exact.or_else(|| any.map(|row| slice(host, row))).or_else(|| first(true, false))
    }
}

fn slice(host: usize, row: usize) -> Bound {
    let host = u32::try_from(ThreadId::new(host).index()).expect("a profile has fewer than u32::MAX threads");
    (host, FlowAnchor::Slice(SliceId::new(row)))
}

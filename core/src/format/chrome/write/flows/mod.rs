//! Flows, so that they are bound to the same again.
//!
//! * A flow is phases (`s`, `t`, `f`) at the moments of its members, under its own category, name and id. Each must lead back to
//!   what it was bound to: where it would not as it stands, an end says another binding point, or the phase stands where its
//!   slice begins.
//! * A flow that this does not help is written onto the events that it passes through (`bind_id`), if these have no other and
//!   begin at its moments: so are those of Firefox, whose markers have categories of their own.
//! * Flows whose ids other flows have at the same time, or that viewers would not take for numbers, have new ids.
//! * What passes through a thread as such passes through an instant that is put there.

mod ids;
mod places;

use rustc_hash::{FxHashMap, FxHashSet};

use self::places::Places;
use super::markers::time_of;
use super::merge::Source;
use super::plan::Plan;
use super::text::{self, Text};
use crate::model::{FlowAnchor, FlowPhase, MarkerTiming, Profile, StringId, Time};

/// A member of a flow in the file.
#[derive(Clone, Copy, Debug)]
struct Placed {
    flow: u32,
    /// Its place in the flow.
    order: u32,
    thread: u32,
    anchor: FlowAnchor,
    time: Time,
    phase: FlowPhase,
    /// Whether an end is bound to the slice around it.
    is_around: bool,
    /// Whether it is bound to its anchor when it is read.
    holds: bool,
}

/// What events say of flows that pass through them.
#[derive(Default)]
pub(super) struct Binds {
    by_slice: FxHashMap<(u32, u32), Bind>,
    by_marker: FxHashMap<(u32, u32), Bind>,
    /// Asynchronous events that stand on other threads of their process than others of their track, so that phases find them.
    hosts: FxHashMap<(u32, FlowAnchor), usize>,
}

/// A `bind_id` and its directions.
#[derive(Clone)]
struct Bind {
    id: Box<[u8]>,
    goes_in: bool,
    goes_out: bool,
}

/// The flows of a file.
#[derive(Default)]
pub(super) struct Flows {
    /// The phases, in order of time.
    phases: Vec<Placed>,
    /// The id of each flow that has phases, as JSON.
    ids: Vec<Box<[u8]>>,
    pub binds: Binds,
    /// How many flows have other ids than in the profile, and the first of these ids.
    pub changed_ids: (u64, Option<String>),
    /// How many members are bound to something else when they are read, and the name of the first one's flow.
    pub lost: (u64, Option<String>),
}

impl Flows {
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let profile = plan.profile;
        let mut flows = Self::default();
        if profile.flows.is_empty() {
            return flows;
        }
        let mut members = members(profile);
        flows.binds.hosts = Places::of(plan).hold(&mut members);
        let mut ids = ids::Bound::default();
        for of_flow in members.chunk_by(|a, b| a.flow == b.flow) {
            let flow = of_flow[0].flow as usize;
            let lost = of_flow.iter().filter(|member| !member.holds).count() as u64;
            if lost > 0 && flows.bind(profile, of_flow, &mut ids) {
                continue;
            }
            if lost > 0 {
                flows.lost.0 += lost;
                flows.lost.1.get_or_insert_with(|| profile.string(profile.flows.name[flow]).to_owned());
            }
            flows.phases.extend_from_slice(of_flow);
        }
        flows.changed_ids = ids.changed;
        flows.phases.sort_by_key(|phase| (phase.time, phase.flow, phase.order));
        flows.ids = ids::of_phases(profile, &flows.phases, &mut flows.changed_ids);
        flows
    }

    pub(super) fn source<'a>(&'a self, plan: &'a Plan<'a>) -> Phases<'a> {
        Phases { flows: self, plan, next: 0 }
    }

    /// Puts a flow onto its events; `false` if these can't have it.
    fn bind(&mut self, profile: &Profile, members: &[Placed], ids: &mut ids::Bound) -> bool {
        let flow = members[0].flow as usize;
        let mut seen = FxHashSet::default();
        let can_have = |member: &Placed| {
            let (thread, key) = (&profile.threads[member.thread as usize], key(member));
            let (start, is_free) = match member.anchor {
                FlowAnchor::Slice(slice) => (thread.slices.start[slice.index()], !self.by_slice_has(key)),
                FlowAnchor::Marker(marker) => {
                    let timing = &thread.markers.timing[marker.index()];
                    let is_begin = !matches!(timing, MarkerTiming::End(_));
                    (time_of(timing), is_begin && !self.binds.by_marker.contains_key(&key))
                }
                FlowAnchor::Thread => return false,
            };
            let at = profile.flows.members_of(flow)[member.order as usize].time;
            is_free && start == at && seen.insert((member.thread, member.anchor))
        };
        if !members.iter().all(can_have) || head(profile, &members[0]) != of_flow(profile, flow) {
            return false;
        }
        let at = |member: &Placed| profile.flows.members_of(flow)[member.order as usize].time;
        let id = ids.of(profile.string(profile.flows.id[flow]), at(&members[0]), at(&members[members.len() - 1]));
        for (place, member) in members.iter().enumerate() {
            let (goes_in, goes_out) = (place > 0, member.phase != FlowPhase::End || place == 0);
            let bind = Bind { id: id.clone(), goes_in, goes_out };
            match member.anchor {
                FlowAnchor::Slice(_) => drop(self.binds.by_slice.insert(key(member), bind)),
                _ => drop(self.binds.by_marker.insert(key(member), bind)),
            }
        }
        true
    }

    fn by_slice_has(&self, key: (u32, u32)) -> bool {
        self.binds.by_slice.contains_key(&key)
    }
}

impl Binds {
    /// The fields `pid` and `tid` of what is on a thread.
    pub(super) fn ids<'p>(&self, plan: &'p Plan<'_>, thread: usize, anchor: impl Fn() -> FlowAnchor) -> &'p [u8] {
        if self.hosts.is_empty() {
            return &plan.ids[thread];
        }
        let host = self.hosts.get(&(index(thread), anchor()));
        &plan.ids[host.copied().unwrap_or(thread)]
    }

    pub(super) fn write_slice(&self, text: &mut Text<'_>, thread: usize, row: usize) {
        write(&self.by_slice, text, thread, row);
    }

    pub(super) fn write_marker(&self, text: &mut Text<'_>, thread: usize, row: usize) {
        write(&self.by_marker, text, thread, row);
    }
}

fn write(binds: &FxHashMap<(u32, u32), Bind>, text: &mut Text<'_>, thread: usize, row: usize) {
    if binds.is_empty() {
        return;
    }
    let Some(bind) = binds.get(&(index(thread), index(row))) else { return };
    text.raw(",\"bind_id\":");
    text.buffer.extend_from_slice(&bind.id);
    text.raw(if bind.goes_in { ",\"flow_in\":true" } else { "" });
    text.raw(if bind.goes_out { ",\"flow_out\":true" } else { "" });
}

/// Thread and row of what a member is bound to.
fn key(member: &Placed) -> (u32, u32) {
    let row = match member.anchor {
        FlowAnchor::Slice(slice) => slice.index(),
        FlowAnchor::Marker(marker) => marker.index(),
        FlowAnchor::Thread => 0,
    };
    (member.thread, index(row))
}

fn index(row: usize) -> u32 {
    u32::try_from(row).expect("tables have fewer than u32::MAX rows")
}

/// Name and category of what a member is bound to: those of a flow that is written onto events.
fn head(profile: &Profile, member: &Placed) -> (StringId, Option<StringId>) {
    let thread = &profile.threads[member.thread as usize];
    let (name, category) = match member.anchor {
        FlowAnchor::Slice(slice) => (thread.slices.name[slice.index()], thread.slices.category[slice.index()]),
        FlowAnchor::Marker(marker) => (thread.markers.name[marker.index()], thread.markers.category[marker.index()]),
        FlowAnchor::Thread => return (thread.name, None),
    };
    (name, named(profile, profile.categories[category.index()].name))
}

fn of_flow(profile: &Profile, flow: usize) -> (StringId, Option<StringId>) {
    (profile.flows.name[flow], named(profile, profile.flows.category[flow]))
}

/// A category that says something.
fn named(profile: &Profile, category: StringId) -> Option<StringId> {
    Some(category).filter(|category| !matches!(profile.string(*category), "" | "Other"))
}

/// The members of all flows, where they are in the profile.
fn members(profile: &Profile) -> Vec<Placed> {
    let mut placed = Vec::with_capacity(profile.flows.members.len());
    for flow in 0..profile.flows.len() {
        let members = profile.flows.members_of(flow);
        let from = placed.len();
        for (order, member) in (0..).zip(members) {
            let thread = &profile.threads[member.thread.index()];
            let (time, is_around) = match member.anchor {
                FlowAnchor::Slice(slice) => {
                    let start = thread.slices.start[slice.index()];
                    let end = start + thread.slices.duration[slice.index()];
                    let is_before = member.time < start && member.phase == FlowPhase::End;
                    let time = if is_before || (start..=end).contains(&member.time) { member.time } else { start };
                    (time, !is_before)
                }
                FlowAnchor::Marker(marker) => (time_of(&thread.markers.timing[marker.index()]), true),
                FlowAnchor::Thread => (member.time, true),
            };
            placed.push(Placed {
                flow: index(flow),
                order,
                thread: index(member.thread.index()),
                anchor: member.anchor,
                time,
                phase: if member.phase == FlowPhase::Start { FlowPhase::Step } else { member.phase },
                is_around,
                holds: false,
            });
        }
        placed[from..].sort_by_key(|member| (member.time, member.order));
        if let Some(first) = placed.get_mut(from) {
            first.phase = FlowPhase::Start;
        }
    }
    placed
}

/// The phases of all flows.
pub(super) struct Phases<'a> {
    flows: &'a Flows,
    plan: &'a Plan<'a>,
    next: usize,
}

impl Source for Phases<'_> {
    fn time(&self) -> Option<Time> {
        self.flows.phases.get(self.next).map(|phase| phase.time)
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let phase = self.flows.phases[self.next];
        self.next += 1;
        let (profile, flow) = (self.plan.profile, phase.flow as usize);
        let mut category = Vec::new();
        let name = profile.string(profile.flows.category[flow]);
        if !name.is_empty() {
            category.extend_from_slice(b",\"cat\":");
            text::string(&mut category, name);
        }
        let ids = self.flows.binds.ids(self.plan, phase.thread as usize, || phase.anchor);
        let name = profile.string(profile.flows.name[flow]);
        if phase.anchor == FlowAnchor::Thread {
            text.event(b'I', name, &category, ids);
            text.time(phase.time);
            text.raw(",\"s\":\"t\",\"args\":{}");
            text.end();
        }
        let letter = match phase.phase {
            FlowPhase::Start => b's',
            FlowPhase::Step => b't',
            FlowPhase::End => b'f',
        };
        text.event(letter, name, &category, ids);
        text.time(phase.time);
        text.raw(",\"id\":");
        text.buffer.extend_from_slice(&self.flows.ids[flow]);
        if phase.phase == FlowPhase::End && phase.is_around {
            text.raw(",\"bp\":\"e\"");
        }
        text.raw(",\"args\":{}");
        text.end();
    }
}

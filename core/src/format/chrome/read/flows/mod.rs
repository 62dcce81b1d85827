//! Flows: what each phase is bound to, and the flows of the model.
//!
//! A phase belongs to, in this order:
//!
//! 1. what begins on its thread at its time under its category: a slice, else an instant or something asynchronous;
//! 2. the same under any category, if it is a slice or an instant of the thread;
//! 3. the slice that starts next, for an end that does not say `bp:"e"`; for all others the innermost slice around it.
//!
//! An event with a `bind_id` is itself what the flow passes through.

mod places;

#[cfg(test)]
mod brute_force;

use self::places::Places;
use super::{Anchor, Reader};
use crate::format::FlowBinding;
use crate::format::chrome::events::TextId;
use crate::format::chrome::flows::cycles::{Station, cycles};
use crate::format::chrome::flows::{DevToolsFlow, Unbound, devtools};
use crate::model::{FlowAnchor, FlowMember, FlowPhase, StringId, ThreadId, Time};

/// What a phase is bound to.
type Bound = (ThreadId, Anchor);

impl Reader<'_, '_> {
    /// Whether there is something to bind, so that it must be known what events became.
    pub(super) fn has_flows(&self) -> bool {
        let table = self.table;
        let has_bind_id = |row| table.more_ids(row).is_some_and(|more| more.bind != Default::default());
        (0..table.len()).any(|row| matches!(table.phase[row], b's' | b't' | b'f') || has_bind_id(row))
    }

    /// Adds the flows of the trace.
    pub(super) fn read_flows(&mut self, binding: FlowBinding) {
        let Some(anchors) = self.anchors.take() else { return };
        let unbound = match binding {
            FlowBinding::Auto => self.bind_as_meant(&anchors),
            FlowBinding::DevTools => self.bind_as_devtools(&anchors),
        };
        for (row, why) in unbound {
            self.note(why.note(), row as usize);
        }
    }

    fn bind_as_meant(&mut self, anchors: &[Option<Bound>]) -> Vec<(u32, Unbound)> {
        let found =
            cycles(self.table, |row| self.nanos(row).is_some(), |row| self.tracks.process_of(self.thread_of(row)));
        let mut unbound = found.unbound;
        let bound = Places::bind(self, anchors, &found.stations);
        let mut rest = &bound[..];
        let mut flows: Vec<(Vec<FlowMember>, u32)> = Vec::new();
        for stations in found.stations.chunk_by(|a, b| a.flow == b.flow) {
            let (of_flow, behind) = rest.split_at(stations.len());
            rest = behind;
            let members = stations.iter().zip(of_flow);
            let found: Vec<(u32, FlowMember)> = members
                .clone()
                .filter_map(|(station, bound)| Some((station.row, self.member(station, bound.as_ref().ok().copied()?))))
                .collect();
            let is_flow = found.len() > 1;
            for (station, bound) in members {
                match bound {
                    Err(why) => unbound.push((station.row, *why)),
                    Ok(_) if is_flow => {}
                    Ok(_) if stations.len() == 1 => unbound.push((station.row, Unbound::NoEnd)),
                    Ok(_) => unbound.push((station.row, Unbound::Alone)),
                }
            }
            if is_flow {
                flows.push((found.into_iter().map(|(_, member)| member).collect(), stations[0].row));
            }
        }
        flows.sort_by_key(|(members, row)| (members[0].time, *row));
        for (members, row) in &flows {
            self.add_flow(*row, members);
        }
        unbound.sort_unstable();
        unbound
    }

    fn member(&self, station: &Station, (thread, anchor): Bound) -> FlowMember {
        let time = Time(self.nanos(station.row as usize).unwrap_or_default());
        FlowMember { thread, time, phase: station.phase, anchor: flow_anchor(anchor) }
    }

    fn bind_as_devtools(&mut self, anchors: &[Option<Bound>]) -> Vec<(u32, Unbound)> {
        let found = devtools(self.table);
        for DevToolsFlow { start, events } in &found.flows {
            // Events that are on no thread (names of threads that do nothing) have no place here.
            let place = |row: &u32| {
                let index = *row as usize;
                let (thread, anchor) = match anchors[index] {
                    Some((thread, anchor)) => (thread, flow_anchor(anchor)),
                    None => (self.tracks.thread(self.thread_of(index))?, FlowAnchor::Thread),
                };
                Some(FlowMember { thread, time: Time(self.nanos(index)?), phase: FlowPhase::Step, anchor })
            };
            let mut members: Vec<FlowMember> = events.iter().filter_map(place).collect();
            members.sort_by_key(|member| member.time);
            if let [first, .., last] = &mut members[..] {
                first.phase = FlowPhase::Start;
                last.phase = FlowPhase::End;
                self.add_flow(*start, &members);
            }
        }
        found.unbound
    }

    /// Adds a flow that phase `row` starts.
    fn add_flow(&mut self, row: u32, members: &[FlowMember]) {
        let table = self.table;
        let row = row as usize;
        let (more, link) =
            (table.more_ids(row).copied().unwrap_or_default(), table.link(row).copied().unwrap_or_default());
        let ids = [more.bind, more.local, more.global, link.id];
        let id = ids
            .into_iter()
            .find_map(|id| super::tracks::os_id(table, id))
            .map_or_else(String::new, |id| id.to_string());
        let name = self.name(row);
        let (category, id) = (self.string_of(table.category[row]), self.builder.string(&id));
        self.builder.add_flow(name, category, id, members);
    }

    fn string_of(&mut self, text: Option<TextId>) -> StringId {
        self.builder.string(text.map_or("", |text| self.table.text(text)))
    }
}

fn flow_anchor(anchor: Anchor) -> FlowAnchor {
    match anchor {
        Anchor::Slice(slice) => FlowAnchor::Slice(slice),
        Anchor::Marker(marker) => FlowAnchor::Marker(marker),
    }
}

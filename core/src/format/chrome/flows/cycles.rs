//! Phases of flows by what they mean: which start each step and end is of. No slices are looked at.
//!
//! Flows of one category, name and id are told apart by time. What starts is a flow of its own:
//!
//! * An id that starts only once is that flow's: it can have several ends, and steps behind an end.
//! * Of several starts each has one end. Where the starts and ends of an id are out of balance, the ends belong to the
//!   nearest starts before them; what is in balance then ends in the order in which it started.
//! * A `bind_id` has no end of its own: every event with `flow_in` comes from the last one with `flow_out`.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Unbound;
use crate::format::chrome::events::{EventTable, Scalar, TextId};
use crate::model::{FlowPhase, Time};

/// A phase of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::format::chrome) struct Station {
    /// The flow, by a number of its own.
    pub flow: u32,
    /// Its place among the phases of the flow.
    pub order: u32,
    /// The event.
    pub row: u32,
    /// What happens to the flow here.
    pub phase: FlowPhase,
    /// Whether the event itself is what the flow passes through (`bind_id`).
    pub is_event: bool,
}

/// What phases have in common that can be of one flow. The process is that of ids that only it knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    process: Option<u32>,
    category: Option<TextId>,
    name: Option<TextId>,
    scope: Option<TextId>,
    id: Scalar,
    is_global: bool,
    is_event: bool,
}

/// What an event says of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    row: u32,
    time: i64,
    phase: FlowPhase,
}

/// The flows of a trace.
#[derive(Debug, Default)]
pub(in crate::format::chrome) struct Cycles {
    /// Flow after flow, each in order of time.
    pub stations: Vec<Station>,
    /// The phases that are in none.
    pub unbound: Vec<(u32, Unbound)>,
    flows: u32,
}

/// Finds what belongs together of the flows of `table`. `process_of` gives the process of an event; events that have no
/// time by `has_time` are left out.
pub(in crate::format::chrome) fn cycles(
    table: &EventTable<'_>,
    has_time: impl Fn(usize) -> bool,
    process_of: impl Fn(usize) -> u32,
) -> Cycles {
    let mut found = Cycles::default();
    let mut keys: FxHashMap<Key, u32> = FxHashMap::default();
    let mut events: Vec<(u32, Said)> = Vec::new();
    let mut is_event: Vec<bool> = Vec::new();
    let mut ids = Ids::default();
    for row in (0..table.len()).filter(|row| has_time(*row)) {
        let index = u32::try_from(row).expect("fewer events than 2^32");
        let (key, phase) = match said(table, row, &mut ids, || process_of(row)) {
            None => continue,
            Some(Err(why)) => {
                found.unbound.push((index, why));
                continue;
            }
            Some(Ok(found)) => found,
        };
        let next = u32::try_from(keys.len()).expect("fewer ids than events");
        let number = *keys.entry(key).or_insert(next);
        if number == next {
            is_event.push(key.is_event);
        }
        events.push((number, Said { row: index, time: table.time[row], phase }));
    }
    drop(keys);
    events.sort_unstable_by_key(|(key, said)| (*key, said.time, said.row));
    for of_key in events.chunk_by(|a, b| a.0 == b.0) {
        let mut said: Vec<Said> = of_key.iter().map(|(_, said)| *said).collect();
        starts_first(&mut said);
        if is_event[of_key[0].0 as usize] {
            found.add_bound(&said);
        } else {
            found.add_phases(&said);
        }
    }
    found.stations.sort_unstable_by_key(|station| (station.flow, station.order));
    found
}

/// Ids as they are compared: `16`, `"16"` and `"0x10"` are one.
#[derive(Default)]
struct Ids {
    normal: FxHashMap<TextId, Scalar>,
}

impl Ids {
    fn normal(&mut self, table: &EventTable<'_>, id: Scalar) -> Scalar {
        let Scalar::Text(text) = id else { return id };
        *self.normal.entry(text).or_insert_with(|| number_of(table.text(text)).map_or(id, Scalar::Integer))
    }
}

/// The number that the text of an id stands for.
pub(in crate::format::chrome) fn number_of(id: &str) -> Option<i64> {
    match id.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with(['+', '-'])),
        None => id.parse().ok().filter(|number: &i64| number.to_string() == id),
    }
}

/// Which flow each phase of one category, name and id is of, if any. They are in order of time, and in that of their file.
pub(in crate::format::chrome) fn flows_of(phases: &[(Time, FlowPhase)]) -> Vec<Option<u32>> {
    let said = |(row, (time, phase)): (u32, &(Time, FlowPhase))| Said { row, time: time.0, phase: *phase };
    let mut said: Vec<Said> = (0..).zip(phases).map(said).collect();
    starts_first(&mut said);
    let mut found = Cycles::default();
    found.add_phases(&said);
    let mut flows = vec![None; phases.len()];
    for station in found.stations {
        flows[station.row as usize] = Some(station.flow);
    }
    flows
}

/// What event `row` says of which flow, if anything.
fn said(
    table: &EventTable<'_>,
    row: usize,
    ids: &mut Ids,
    process: impl Fn() -> u32,
) -> Option<Result<(Key, FlowPhase), Unbound>> {
    let link = table.link(row).copied().unwrap_or_default();
    let more = table.more_ids(row).copied().unwrap_or_default();
    let phase = match table.phase[row] {
        b's' => FlowPhase::Start,
        b't' => FlowPhase::Step,
        b'f' => FlowPhase::End,
        b'X' | b'B' | b'b' | b'n' | b'i' | b'I' | b'R' if more.bind != Scalar::Missing => {
            let phase = match (link.flow_in, link.flow_out) {
                (false, true) => FlowPhase::Start,
                (true, true) => FlowPhase::Step,
                (true, false) => FlowPhase::End,
                (false, false) => return Some(Err(Unbound::NoDirection)),
            };
            let id = ids.normal(table, more.bind);
            let (process, category, name, is_global, is_event) = (None, None, None, false, true);
            return Some(Ok((Key { process, category, name, scope: more.scope, id, is_global, is_event }, phase)));
        }
        _ => return None,
    };
    let (process, id, is_global) = match (more.local, more.global) {
        (Scalar::Missing, Scalar::Missing) => (None, link.id, false),
        (Scalar::Missing, global) => (None, global, true),
        (local, _) => (Some(process()), local, false),
    };
    if id == Scalar::Missing {
        return Some(Err(Unbound::NoId));
    }
    let (category, name) = (table.category[row], table.name[row]);
    let id = ids.normal(table, id);
    Some(Ok((Key { process, category, name, scope: more.scope, id, is_global, is_event: false }, phase)))
}

/// Of what happens at one moment, puts that which needs a start behind the start, where there is none before.
fn starts_first(said: &mut [Said]) {
    let mut open = 0_usize;
    for now in said.chunk_by_mut(|a, b| a.time == b.time) {
        if now.len() > 1 {
            let mut still_open = open;
            let is_early = |one: &Said| match one.phase {
                FlowPhase::Start => {
                    still_open += 1;
                    false
                }
                FlowPhase::Step => still_open == 0,
                FlowPhase::End => still_open.checked_sub(1).is_none_or(|rest| {
                    still_open = rest;
                    false
                }),
            };
            let early: Vec<bool> = now.iter().map(is_early).collect();
            let mut kept: Vec<Said> = Vec::with_capacity(now.len());
            for wanted in [false, true] {
                kept.extend(now.iter().zip(&early).filter(|(_, early)| **early == wanted).map(|(one, _)| *one));
            }
            now.copy_from_slice(&kept);
        }
        for one in now.iter() {
            match one.phase {
                FlowPhase::Start => open += 1,
                FlowPhase::Step => {}
                FlowPhase::End => open = open.saturating_sub(1),
            }
        }
    }
}

/// A flow while its phases are found.
#[derive(Clone, Copy)]
struct Open {
    flow: u32,
    order: u32,
}

impl Cycles {
    fn start(&mut self, row: u32, is_event: bool) -> Open {
        let mut open = Open { flow: self.flows, order: 0 };
        self.flows += 1;
        self.add(&mut open, row, FlowPhase::Start, is_event);
        open
    }

    fn add(&mut self, open: &mut Open, row: u32, phase: FlowPhase, is_event: bool) {
        self.stations.push(Station { flow: open.flow, order: open.order, row, phase, is_event });
        open.order += 1;
    }

    /// Adds events with a `bind_id`.
    fn add_bound(&mut self, said: &[Said]) {
        let mut source: Option<Open> = None;
        for Said { row, phase, .. } in said.iter().copied() {
            match (phase, &mut source) {
                (FlowPhase::Start, _) | (FlowPhase::Step, None) => source = Some(self.start(row, true)),
                (FlowPhase::Step | FlowPhase::End, Some(open)) => self.add(open, row, phase, true),
                (FlowPhase::End, None) => self.unbound.push((row, Unbound::NoStart)),
            }
        }
    }

    /// Adds the phases of one category, name and id.
    fn add_phases(&mut self, said: &[Said]) {
        let starts = said.iter().filter(|one| one.phase == FlowPhase::Start).count();
        let has_partner = partners(said);
        // Those that will end, the oldest first; and the last one, whether it will or not.
        let mut open: VecDeque<Open> = VecDeque::new();
        let mut last: Option<Open> = None;
        for (Said { row, phase, .. }, has_partner) in said.iter().copied().zip(has_partner) {
            match phase {
                FlowPhase::Start => {
                    let started = self.start(row, false);
                    if starts > 1 && has_partner {
                        open.push_back(started);
                    } else {
                        last = Some(started);
                    }
                }
                FlowPhase::End if starts > 1 => match open.pop_front() {
                    Some(mut flow) => self.add(&mut flow, row, phase, false),
                    None => self.unbound.push((row, Unbound::NoStart)),
                },
                FlowPhase::Step | FlowPhase::End => match open.front_mut().or(last.as_mut()) {
                    Some(flow) => self.add(flow, row, phase, false),
                    None => self.unbound.push((row, Unbound::NoStart)),
                },
            }
        }
    }
}

/// Which starts have an end and which ends a start, each end that of the nearest start before it.
fn partners(said: &[Said]) -> Vec<bool> {
    let mut has_partner = vec![false; said.len()];
    let mut open = Vec::new();
    for (at, one) in said.iter().enumerate() {
        match one.phase {
            FlowPhase::Start => open.push(at),
            FlowPhase::Step => {}
            FlowPhase::End => {
                if let Some(start) = open.pop() {
                    has_partner[start] = true;
                    has_partner[at] = true;
                }
            }
        }
    }
    has_partner
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flows of phases that are given as a letter each, at times 0, 1, …; `|` puts the next one at the same time.
    fn flows(phases: &str) -> (Vec<String>, usize) {
        let mut time = -1;
        let mut said = Vec::new();
        let mut names = Vec::new();
        let mut is_same = false;
        for (place, letter) in phases.char_indices() {
            if letter == '|' {
                is_same = true;
                continue;
            }
            time += i64::from(!std::mem::take(&mut is_same));
            let phase = match letter {
                's' => FlowPhase::Start,
                't' => FlowPhase::Step,
                _ => FlowPhase::End,
            };
            said.push(Said { row: u32::try_from(names.len()).unwrap(), time, phase });
            names.push(place);
        }
        starts_first(&mut said);
        let mut found = Cycles::default();
        found.add_phases(&said);
        found.stations.sort_unstable_by_key(|station| (station.flow, station.order));
        let of_flow = |stations: &[Station]| stations.iter().map(|one| one.row.to_string()).collect();
        (found.stations.chunk_by(|a, b| a.flow == b.flow).map(of_flow).collect(), found.unbound.len())
    }

    #[test]
    fn each_start_is_a_flow() {
        for (phases, expected, unbound) in [
            ("stf", &["012"][..], 0),
            ("sfsf", &["01", "23"], 0),
            ("ssff", &["02", "13"], 0),
            ("ssf", &["0", "12"], 0),
            ("ssfsf", &["0", "12", "34"], 0),
            ("sff", &["012"], 0),
            ("sft", &["012"], 0),
            ("sffsf", &["01", "34"], 1),
            ("tfs", &["2"], 2),
            ("st", &["01"], 0),
            ("stst", &["01", "23"], 0),
            ("stsf", &["01", "23"], 0),
            ("s|f", &["01"], 0),
            ("f|s", &["10"], 0),
            ("sf|s|f", &["01", "23"], 0),
            ("sf|ff", &["0123"], 0),
            ("t|s", &["10"], 0),
        ] {
            let (flows, none) = flows(phases);
            assert_eq!(
                (flows.iter().map(String::as_str).collect::<Vec<_>>(), none),
                (expected.to_vec(), unbound),
                "{phases}"
            );
        }
    }
}

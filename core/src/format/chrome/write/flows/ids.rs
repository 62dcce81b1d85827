//! Ids of flows: those of the profile, as long as they tell one flow from another.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Placed;
use crate::format::chrome::flows::cycles::{flows_of, number_of};
use crate::format::chrome::write::text;
use crate::model::{FlowPhase, Profile, StringId, Time};

/// Ids that others than those of the profile must not be.
#[derive(Default)]
pub(super) struct Bound {
    /// Until when each is in use.
    until: FxHashMap<Box<str>, Time>,
    next: u64,
    pub changed: (u64, Option<String>),
}

impl Bound {
    /// The id of a flow that is written onto its events, which pass from `start` to `end`. Flows come in any order of time.
    pub(super) fn of(&mut self, id: &str, start: Time, end: Time) -> Box<[u8]> {
        let is_free = is_number(id) && self.until.get(id).is_none_or(|until| *until < start);
        if is_free {
            self.until.insert(id.into(), end);
            return json(id);
        }
        changed(&mut self.changed, id);
        // No other program counts from there.
        self.next += 1;
        json(&format!("0x7fee{:012x}", self.next))
    }
}

/// The id of each flow among `phases`, which are in the order of the file.
pub(super) fn of_phases(profile: &Profile, phases: &[Placed], changes: &mut (u64, Option<String>)) -> Vec<Box<[u8]>> {
    let flows = &profile.flows;
    let used: FxHashSet<i64> = flows.id.iter().filter_map(|id| number_of(profile.string(*id))).collect();
    let is_distinct = distinct(profile, phases);
    let mut next = 0;
    let mut id_of = |flow: usize| {
        let id = profile.string(flows.id[flow]);
        if is_distinct[flow] && is_number(id) {
            return json(id);
        }
        changed(changes, id);
        next += 1;
        while used.contains(&next) {
            next += 1;
        }
        json(&next.to_string())
    };
    let mut ids: Vec<Box<[u8]>> = vec![Box::default(); flows.len()];
    let mut in_use: Vec<usize> = phases.iter().map(|phase| phase.flow as usize).collect();
    in_use.sort_unstable();
    in_use.dedup();
    for flow in in_use {
        ids[flow] = id_of(flow);
    }
    ids
}

/// Whether the phases of each flow are found to be of one flow, whatever others have its id.
fn distinct(profile: &Profile, phases: &[Placed]) -> Vec<bool> {
    type Key<'k> = (StringId, StringId, Result<i64, &'k str>);
    let flows = &profile.flows;
    let key = |flow: usize| -> Key<'_> {
        let id = profile.string(flows.id[flow]);
        (flows.category[flow], flows.name[flow], number_of(id).ok_or(id))
    };
    let mut groups: FxHashMap<Key<'_>, Vec<&Placed>> = FxHashMap::default();
    for phase in phases {
        groups.entry(key(phase.flow as usize)).or_default().push(phase);
    }
    let mut is_distinct = vec![true; flows.len()];
    for of_key in groups.into_values() {
        if of_key.iter().all(|phase| phase.flow == of_key[0].flow) {
            continue;
        }
        let said: Vec<(Time, FlowPhase)> = of_key.iter().map(|phase| (phase.time, phase.phase)).collect();
        let found = flows_of(&said);
        let mut pairs: FxHashMap<u32, u32> = FxHashMap::default();
        let mut back: FxHashMap<u32, u32> = FxHashMap::default();
        let is_right = of_key.iter().zip(found).all(|(phase, found)| {
            let Some(found) = found else { return false };
            let (own, other) = (*pairs.entry(phase.flow).or_insert(found), *back.entry(found).or_insert(phase.flow));
            own == found && other == phase.flow
        });
        if !is_right {
            of_key.iter().for_each(|phase| is_distinct[phase.flow as usize] = false);
        }
    }
    is_distinct
}

/// Whether viewers take an id for a number; some take strings for hexadecimal ones, whatever they begin with.
fn is_number(id: &str) -> bool {
    let digits = id.strip_prefix("0x").unwrap_or(id);
    (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn json(id: &str) -> Box<[u8]> {
    let mut value = Vec::new();
    match id.parse::<i64>() {
        Ok(number) if number.to_string() == id => text::integer(&mut value, number),
        _ => text::string(&mut value, id),
    }
    value.into()
}

fn changed(changes: &mut (u64, Option<String>), id: &str) {
    changes.0 += 1;
    changes.1.get_or_insert_with(|| id.to_owned());
}

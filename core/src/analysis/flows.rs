//! How long flows take: from start to end, and from each place to the next.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::Selection;
use crate::model::{FlowAnchor, FlowMember, FlowPhase, MarkerTiming, Nanos, Profile, StringId, Time};

/// The flows that were asked for, and how long they took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlowList {
    /// The slowest first.
    pub chains: Vec<Chain>,
    /// By name of the flow, the slowest first.
    pub by_name: Vec<FlowTimes>,
    /// By name of the flow and names of both ends, the slowest first.
    pub hops: Vec<HopTimes>,
}

/// A flow from its first member to its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain {
    /// Its row.
    pub flow: usize,
    /// How long after the first member the last one came.
    pub duration: Nanos,
}

/// How long flows of one name took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowTimes {
    /// The name.
    pub name: StringId,
    /// How long.
    pub times: Times,
}

/// How long it took from one place to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopTimes {
    /// The name of the flow.
    pub name: StringId,
    /// The name of what the arrow leaves; of a thread where it leaves no slice or marker.
    pub from: StringId,
    /// The name of what it leads to.
    pub to: StringId,
    /// How long.
    pub times: Times,
}

/// Many times in a few numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// How many there are.
    pub count: usize,
    /// Half of them are not longer.
    pub p50: Nanos,
    /// 99 of 100 are not longer.
    pub p99: Nanos,
    /// None is longer.
    pub max: Nanos,
}

impl Times {
    /// Of `times`, of which there must be one.
    fn of(mut times: Vec<Nanos>) -> Self {
        times.sort_unstable_by_key(|time| time.0);
        let at = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        Self { count: times.len(), p50: at(50), p99: at(99), max: at(100) }
    }
}

/// The flows of `profile` that pass through the selected threads in the selected time, and if a `name` is given are called so
/// or pass through something that is. Upper and lower case don't matter, and a part is enough.
pub fn flows(profile: &Profile, selection: &Selection, name: Option<&str>) -> FlowList {
    let mut is_selected = vec![false; profile.threads.len()];
    selection.thread_ids(profile).into_iter().for_each(|thread| is_selected[thread.index()] = true);
    let searched = name.map(|name| Searched::of(profile, name));
    let mut list = FlowList::default();
    let mut by_name: FxHashMap<StringId, Vec<Nanos>> = FxHashMap::default();
    let mut by_hop: FxHashMap<(StringId, StringId, StringId), Vec<Nanos>> = FxHashMap::default();
    for flow in 0..profile.flows.len() {
        let members = profile.flows.members_of(flow);
        let name = profile.flows.name[flow];
        let passes = |member: &FlowMember| is_selected[member.thread.index()] && selection.range.contains(member.time);
        let is_named = |searched: &Searched| {
            searched.has(name) || members.iter().any(|member| searched.has(flow_place(profile, member)))
        };
        if !members.iter().any(passes) || !searched.as_ref().is_none_or(is_named) {
            continue;
        }
        let (Some(first), Some(last)) = (members.first(), members.iter().map(|member| arrival(profile, member)).max())
        else {
            continue;
        };
        let duration = last - first.time;
        list.chains.push(Chain { flow, duration });
        by_name.entry(name).or_default().push(duration);
        for (from, to) in flow_hops(members) {
            let key = (name, flow_place(profile, from), flow_place(profile, to));
            by_hop.entry(key).or_default().push(arrival(profile, to) - from.time);
        }
    }
    list.chains.sort_by_key(|chain| Reverse(chain.duration.0));
    list.by_name = by_name.into_iter().map(|(name, times)| FlowTimes { name, times: Times::of(times) }).collect();
    let text = |id: StringId| profile.string(id);
    list.by_name.sort_by_key(|row| (Reverse((row.times.max.0, row.times.count)), text(row.name)));
    let hop = |((name, from, to), times)| HopTimes { name, from, to, times: Times::of(times) };
    list.hops = by_hop.into_iter().map(hop).collect();
    list.hops.sort_by_key(|row| {
        let names = [row.name, row.from, row.to].map(text);
        (Reverse((row.times.max.0, row.times.count)), names)
    });
    list
}

/// The arrows between members of a flow: to each step and end from the last start or step before it, so that one start can have
/// several ends. Where there is none before, from whatever is.
pub fn flow_hops(members: &[FlowMember]) -> impl Iterator<Item = (&FlowMember, &FlowMember)> {
    let mut source: Option<&FlowMember> = None;
    members.iter().filter_map(move |member| {
        let from = source;
        if member.phase != FlowPhase::End || from.is_none() {
            source = Some(member);
        }
        (member.phase != FlowPhase::Start).then(|| from.map(|from| (from, member))).flatten()
    })
}

/// The name of what a member of a flow is bound to, or of its thread.
pub fn flow_place(profile: &Profile, member: &FlowMember) -> StringId {
    let thread = &profile.threads[member.thread.index()];
    match member.anchor {
        FlowAnchor::Slice(slice) => thread.slices.name[slice.index()],
        FlowAnchor::Marker(marker) => thread.markers.name[marker.index()],
        FlowAnchor::Thread => thread.name,
    }
}

/// When what a member is bound to began; of one that is bound to nothing, its own time.
pub fn flow_anchor_start(profile: &Profile, member: &FlowMember) -> Time {
    let thread = &profile.threads[member.thread.index()];
    match member.anchor {
        FlowAnchor::Slice(slice) => thread.slices.start[slice.index()],
        FlowAnchor::Marker(marker) => match thread.markers.timing[marker.index()] {
            MarkerTiming::Instant(time)
            | MarkerTiming::Interval(time, _)
            | MarkerTiming::Start(time)
            | MarkerTiming::End(time) => time,
        },
        FlowAnchor::Thread => member.time,
    }
}

/// When a flow has come to a member: an end that waits for the next slice has come when that begins.
pub fn arrival(profile: &Profile, member: &FlowMember) -> Time {
    match member.anchor {
        FlowAnchor::Slice(_) => member.time.max(flow_anchor_start(profile, member)),
        FlowAnchor::Marker(_) | FlowAnchor::Thread => member.time,
    }
}

/// Which strings contain what is searched for.
struct Searched {
    found: Vec<bool>,
}

impl Searched {
    fn of(profile: &Profile, part: &str) -> Self {
        let part = part.to_lowercase();
        Self { found: profile.strings.iter().map(|text| text.to_lowercase().contains(&part)).collect() }
    }

    fn has(&self, string: StringId) -> bool {
        self.found[string.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::chrome;
    use crate::model::TimeRange;

    const TRACE: &str = r#"[
        {"name":"A","ph":"X","ts":0,"dur":10,"pid":1,"tid":1},{"name":"B","ph":"X","ts":30,"dur":10,"pid":1,"tid":2},
        {"name":"C","ph":"X","ts":50,"dur":10,"pid":1,"tid":2},{"name":"B","ph":"X","ts":90,"dur":10,"pid":1,"tid":2},
        {"name":"post","ph":"s","ts":5,"pid":1,"tid":1,"id":1},{"name":"post","ph":"f","ts":20,"pid":1,"tid":2,"id":1},
        {"name":"call","ph":"s","ts":6,"pid":1,"tid":1,"id":1},{"name":"call","ph":"t","ts":35,"pid":1,"tid":2,"id":1},
        {"name":"call","ph":"f","ts":60,"bp":"e","pid":1,"tid":2,"id":1},
        {"name":"post","ph":"s","ts":7,"pid":1,"tid":1,"id":2},{"name":"post","ph":"f","ts":90,"pid":1,"tid":2,"id":2}]"#;

    fn list(selection: &Selection, name: Option<&str>) -> (Profile, FlowList) {
        let profile = chrome::read(TRACE.as_bytes()).unwrap();
        let list = flows(&profile, selection, name);
        (profile, list)
    }

    #[test]
    fn times_are_from_the_phase_to_where_the_flow_went_on() {
        let (profile, list) = list(&Selection::default(), None);
        let hop = |row: &HopTimes| {
            let [name, from, to] = [row.name, row.from, row.to].map(|id| profile.string(id));
            (format!("{name}: {from}→{to}"), row.times.count, row.times.p50.0, row.times.max.0)
        };
        let expected = [
            ("post: A→B".to_owned(), 2, 25_000, 83_000),
            ("call: A→B".to_owned(), 1, 29_000, 29_000),
            ("call: B→C".to_owned(), 1, 25_000, 25_000),
        ];
        assert_eq!(list.hops.iter().map(hop).collect::<Vec<_>>(), expected);
        let by_name = list.by_name.iter().map(|row| (profile.string(row.name), row.times.count, row.times.max.0));
        assert_eq!(by_name.collect::<Vec<_>>(), [("post", 2, 83_000), ("call", 1, 54_000)]);
        assert_eq!(list.chains.iter().map(|chain| chain.duration.0).collect::<Vec<_>>(), [83_000, 54_000, 25_000]);
    }

    #[test]
    fn filters_leave_what_passes_through() {
        let count = |selection: &Selection, name| list(selection, name).1.chains.len();
        let range =
            |start, end| Selection { range: TimeRange { start: Time(start), end: Time(end) }, ..Selection::default() };
        assert_eq!(count(&range(0, 6_000), None), 1);
        assert_eq!(count(&range(60_000, 90_000), None), 1);
        assert_eq!(count(&range(100_000, 200_000), None), 0);
        assert_eq!(count(&Selection { threads: Some(Vec::new()), ..Selection::default() }, None), 0);
        assert_eq!(count(&Selection::default(), Some("POST")), 2);
        assert_eq!(count(&Selection::default(), Some("c")), 1);
        assert_eq!(count(&Selection::default(), Some("nothing")), 0);
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times = Times::of((1..=200).rev().map(Nanos).collect());
        assert_eq!(times, Times { count: 200, p50: Nanos(100), p99: Nanos(198), max: Nanos(200) });
        assert_eq!(Times::of(vec![Nanos(7)]), Times { count: 1, p50: Nanos(7), p99: Nanos(7), max: Nanos(7) });
    }
}

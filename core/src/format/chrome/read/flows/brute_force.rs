//! Bound flows against a binder that looks at everything for each phase.

use proptest::prelude::*;

use crate::format::chrome;
use crate::format::chrome::flows::Unbound;
use crate::model::{FlowAnchor, Profile};

/// What happens on a thread, of a category: a slice with its duration, or an instant.
#[derive(Clone, Debug)]
struct Thing {
    thread: u8,
    category: u8,
    time: i64,
    duration: Option<i64>,
}

/// A phase of a flow: `s`, `t`, `f`, or `e` for an `f` with `bp:"e"`.
#[derive(Clone, Debug)]
struct Phase {
    thread: u8,
    category: u8,
    time: i64,
    letter: char,
}

fn thing() -> impl Strategy<Value = Thing> {
    let duration = prop_oneof![4 => (0..8_i64).prop_map(Some), 1 => Just(None)];
    (0..2_u8, 0..2_u8, 0..12_i64, duration).prop_map(|(thread, category, time, duration)| Thing {
        thread,
        category,
        time,
        duration,
    })
}

fn phase(letters: &'static [char]) -> impl Strategy<Value = Phase> {
    (0..2_u8, 0..2_u8, 0..14_i64, prop::sample::select(letters)).prop_map(|(thread, category, time, letter)| Phase {
        thread,
        category,
        time,
        letter,
    })
}

/// Flows, each with a start and what else there is.
fn flow() -> impl Strategy<Value = Vec<Phase>> {
    (phase(&['s']), prop::collection::vec(phase(&['t', 'f', 'e']), 0..4)).prop_map(|(start, mut phases)| {
        // A flow is of one category.
        phases.iter_mut().for_each(|phase| phase.category = start.category);
        phases.insert(phases.len() / 2, start);
        phases
    })
}

/// The trace, in which every thing is called by its number.
fn text(things: &[Thing], flows: &[Vec<Phase>]) -> String {
    let thing = |(name, thing): (usize, &Thing)| {
        let what = thing.duration.map_or(r#""ph":"i""#.to_owned(), |duration| format!(r#""ph":"X","dur":{duration}"#));
        let Thing { thread, category, time, .. } = thing;
        format!(r#"{{"name":"{name}",{what},"ts":{time},"cat":"{category}","pid":1,"tid":{thread}}}"#)
    };
    let phase = |id: usize, phase: &Phase| {
        let Phase { thread, category, time, letter } = phase;
        let (letter, point) = if *letter == 'e' { ('f', r#","bp":"e""#) } else { (*letter, "") };
        let ids = format!(r#""id":{id},"pid":1,"tid":{thread}{point}"#);
        format!(r#"{{"name":"f","ph":"{letter}","ts":{time},"cat":"{category}",{ids}}}"#)
    };
    let things = things.iter().enumerate().map(thing);
    let phases = flows.iter().enumerate().flat_map(|(id, flow)| flow.iter().map(move |one| phase(id, one)));
    format!("[{}]", things.chain(phases).collect::<Vec<_>>().join(","))
}

/// The number of the thing that a phase is bound to.
fn bound(things: &[Thing], phase: &Phase) -> Option<usize> {
    let mut of_thread: Vec<usize> = (0..things.len()).filter(|at| things[*at].thread == phase.thread).collect();
    let duration = |at: usize| things[at].duration;
    of_thread.sort_by_key(|at| (things[*at].time, -duration(*at).unwrap_or(-1)));
    let is_slice = |at: &usize| duration(*at).is_some();
    let enters = phase.letter == 'f';
    for same_category in [true, false] {
        let is_here =
            |at: &usize| things[*at].time == phase.time && (!same_category || things[*at].category == phase.category);
        let here: Vec<usize> = of_thread.iter().copied().filter(is_here).collect();
        let mut slices = here.iter().copied().filter(is_slice);
        let slice = if enters { slices.next() } else { slices.next_back() };
        if let Some(found) = slice.or_else(|| here.iter().copied().filter(|at| !is_slice(at)).min()) {
            return Some(found);
        }
    }
    let mut slices = of_thread.into_iter().filter(is_slice);
    if enters {
        return slices.find(|at| things[*at].time > phase.time);
    }
    let is_around =
        |at: &usize| things[*at].time <= phase.time && phase.time <= things[*at].time + duration(*at).unwrap_or(0);
    slices.rfind(is_around)
}

/// What each flow that has two bound phases passes through, in the order of the profile.
fn expected(things: &[Thing], flows: &[Vec<Phase>]) -> Vec<Vec<usize>> {
    let mut found: Vec<(i64, usize, Vec<usize>)> = Vec::new();
    for (id, flow) in flows.iter().enumerate() {
        let start = flow.iter().find(|phase| phase.letter == 's').expect("each has one");
        let mut phases: Vec<&Phase> = flow.iter().filter(|phase| phase.time >= start.time).collect();
        // At the moment of the start, what has nothing to go on with where it stands in the file comes last.
        let mut is_open = false;
        let comes_last = |phase: &&Phase| {
            if phase.time != start.time {
                return false;
            }
            let had = is_open;
            is_open = match phase.letter {
                's' => true,
                't' => had,
                _ => false,
            };
            phase.letter != 's' && !had
        };
        let last: Vec<bool> = phases.iter().map(comes_last).collect();
        let mut order: Vec<usize> = (0..phases.len()).collect();
        order.sort_by_key(|at| (phases[*at].time, last[*at]));
        phases = order.into_iter().map(|at| phases[at]).collect();
        let members: Vec<(i64, usize)> =
            phases.iter().filter_map(|phase| Some((phase.time, bound(things, phase)?))).collect();
        if members.len() > 1 {
            found.push((members[0].0, id, members.into_iter().map(|(_, name)| name).collect()));
        }
    }
    found.sort();
    found.into_iter().map(|(.., members)| members).collect()
}

fn found(profile: &Profile) -> Vec<Vec<usize>> {
    let of_flow = |flow| {
        let members = profile.flows.members_of(flow).iter().map(|member| {
            let thread = &profile.threads[member.thread.index()];
            let name = match member.anchor {
                FlowAnchor::Slice(slice) => thread.slices.name[slice.index()],
                FlowAnchor::Marker(marker) => thread.markers.name[marker.index()],
                FlowAnchor::Thread => panic!("bound to nothing"),
            };
            profile.string(name).parse().expect("a number")
        });
        members.collect()
    };
    (0..profile.flows.len()).map(of_flow).collect()
}

proptest! {
    #[test]
    fn each_phase_is_bound_as_looking_at_everything_binds_it(
        things in prop::collection::vec(thing(), 0..12),
        flows in prop::collection::vec(flow(), 0..5),
    ) {
        let text = text(&things, &flows);
        let profile = chrome::read(text.as_bytes()).unwrap();
        prop_assert_eq!(found(&profile), expected(&things, &flows), "{}", text);
    }

    #[test]
    fn each_phase_is_in_one_flow_or_counted_once(
        things in prop::collection::vec(thing(), 0..8),
        phases in prop::collection::vec((phase(&['s', 't', 'f', 'e']), 0..3_usize), 0..30),
    ) {
        let mut flows = vec![Vec::new(); 3];
        phases.iter().for_each(|(phase, id)| flows[*id].push(phase.clone()));
        let profile = chrome::read(text(&things, &flows).as_bytes()).unwrap();
        let counted = profile.meta.warnings.iter().filter(|one| Unbound::of(one).is_some()).map(|one| one.count);
        prop_assert_eq!(profile.flows.members.len() as u64 + counted.sum::<u64>(), phases.len() as u64);
        for flow in 0..profile.flows.len() {
            let members = profile.flows.members_of(flow);
            prop_assert!(members.len() > 1 && members.is_sorted_by_key(|member| member.time));
        }
    }
}

#[test]
fn a_hundred_thousand_phases_of_one_moment_or_one_id_take_no_square_time() {
    let mut text = String::from("[");
    for at in 0..50_000 {
        text += &format!(r#"{{"name":"x","ph":"X","ts":0,"dur":{at},"pid":1,"tid":1}},"#);
        text += &format!(r#"{{"ph":"s","ts":0,"pid":1,"tid":1,"id":{}}},"#, at % 2 * at);
        text += &format!(r#"{{"ph":"f","ts":{},"pid":1,"tid":1,"id":{},"bp":"e"}},"#, at % 3 * at, at % 2 * at);
    }
    let profile = chrome::read(text.as_bytes()).unwrap();
    let counted: u64 = profile.meta.warnings.iter().filter(|one| Unbound::of(one).is_some()).map(|one| one.count).sum();
    assert_eq!(profile.flows.members.len() as u64 + counted, 100_000);
    chrome::flows::devtools(&chrome::events::EventTable::read(text.as_bytes()).unwrap());
}

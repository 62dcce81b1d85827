//! The analyses against the plainest computation there is: sample by sample, path by path.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Strategy, any};
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::fixture::Fixture;
use super::{
    FunctionSet, GrowingTree, InvertedTree, Measure, NodeId, Selection, StackValues, Summary, Tree, WaitKind, WaitSum,
    amounts_of, call_tree, callee_tree, functions, stacks_through, thread_list, wait_list,
};
use crate::model::{FunctionId, Nanos, Profile, StackId, ThreadId, Time, TimeRange};

/// What to build a profile of. Small numbers of everything, so that all coincidences occur.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Frames: function and line.
    stacks: Vec<Vec<(u8, u8)>>,
    threads: Vec<ThreadPlan>,
}

#[derive(Clone, Debug)]
struct ThreadPlan {
    with_cpu: bool,
    /// Gap to the one before, stack, CPU time.
    samples: Vec<(u8, Option<u8>, Option<u8>)>,
    /// Gap to the one before, duration, stack, system call.
    waits: Vec<(u8, u8, Option<u8>, bool)>,
}

pub(super) fn plans() -> impl Strategy<Value = Plan> {
    let stacks = vec(vec((0..5_u8, 0..3_u8), 1..9), 1..12);
    let samples = vec((0..5_u8, option::weighted(0.9, any::<u8>()), option::weighted(0.9, 0..4_u8)), 0..30);
    let waits = vec((0..5_u8, 0..5_u8, option::of(any::<u8>()), any::<bool>()), 0..10);
    let thread = (proptest::bool::weighted(0.8), samples, waits).prop_map(|(with_cpu, samples, waits)| ThreadPlan {
        with_cpu,
        samples,
        waits,
    });
    (stacks, vec(thread, 1..4)).prop_map(|(stacks, threads)| Plan { stacks, threads })
}

fn selections() -> impl Strategy<Value = Selection> {
    let range = option::of((-5..60_i64, 0..60_i64)).prop_map(|range| match range {
        Some((start, length)) => TimeRange { start: Time(start), end: Time(start + length) },
        None => TimeRange::ALL,
    });
    let threads = option::of(vec((0..4_usize).prop_map(ThreadId::new), 0..4));
    (range, threads).prop_map(|(range, threads)| Selection { range, threads, label_sets: None })
}

pub(super) fn build(plan: &Plan) -> Profile {
    let mut fixture = Fixture::new();
    let stacks: Vec<StackId> = plan
        .stacks
        .iter()
        .map(|frames| {
            let frames = frames.iter().enumerate().map(|(depth, (function, line))| match (depth, function) {
                (0, 4) => "[cut short]".to_owned(),
                (_, 3) => format!("lib+0x3:{}", line + 1),
                _ => format!("f{function}:{}", line + 1),
            });
            fixture.stack(&frames.collect::<Vec<_>>().join(";"))
        })
        .collect();
    let pick = |index: Option<u8>| index.map(|index| stacks[usize::from(index) % stacks.len()]);
    for (index, plan) in plan.threads.iter().enumerate() {
        let thread = fixture.thread(&format!("t{index}"), i64::try_from(index).expect("few threads"));
        let mut now = 0;
        for (gap, stack, cpu) in &plan.samples {
            now += i64::from(*gap);
            fixture.sample(thread, now, pick(*stack), cpu.filter(|_| plan.with_cpu).map(i64::from));
        }
        now = 0;
        for (gap, duration, stack, reads) in &plan.waits {
            now += i64::from(*gap);
            fixture.wait(thread, now, i64::from(*duration), pick(*stack), if *reads { "read" } else { "futex" });
            now += i64::from(*duration);
        }
    }
    fixture.finish()
}

/// One sample or wait that counts.
struct Seen {
    /// Function names and lines, outermost first.
    frames: Vec<(String, Option<u32>)>,
    /// The system call, for waits.
    wait: Option<String>,
    value: i64,
}

/// All that counts in `selection`, or `None` if it can't be added up.
fn seen(profile: &Profile, selection: &Selection, measure: Measure) -> Vec<Seen> {
    let chosen =
        |index: usize| selection.threads.as_ref().is_none_or(|threads| threads.contains(&ThreadId::new(index)));
    let frames = |stack: Option<StackId>| -> Vec<(String, Option<u32>)> {
        let mut frames: Vec<_> = stack
            .iter()
            .flat_map(|stack| profile.stacks.ancestors(*stack))
            .map(|node| {
                let frame = profile.frames.get(profile.stacks.frame[node.index()]);
                (profile.string(profile.functions.name[frame.function.index()]).to_owned(), frame.line)
            })
            .collect();
        frames.reverse();
        frames
    };
    let threads: Vec<_> =
        profile.threads.iter().enumerate().filter(|(index, _)| chosen(*index)).map(|(_, thread)| thread).collect();
    let any_cpu = threads.iter().any(|thread| thread.samples.cpu.iter().any(|cpu| cpu.get().is_some()));
    let mut all = Vec::new();
    for thread in threads {
        let has_cpu = thread.samples.cpu.iter().any(|cpu| cpu.get().is_some());
        for row in 0..thread.samples.len() {
            if measure == Measure::OffCpu || !selection.range.contains(thread.samples.time[row]) {
                continue;
            }
            let stack = thread.samples.stack[row];
            let value = match (measure, has_cpu) {
                (Measure::Samples, true) => i64::from(thread.samples.cpu_of(row).is_some_and(|cpu| cpu.0 != 0)),
                (Measure::Samples, false) => i64::from(stack.is_some()),
                (_, true) => thread.samples.cpu_of(row).map_or(0, |cpu| cpu.0),
                (Measure::Cpu, false) if !any_cpu => i64::from(stack.is_some()),
                // The interval of the fixture.
                (_, false) => i64::from(stack.is_some()) * 1_000_000,
            };
            if value != 0 {
                all.push(Seen { frames: frames(stack), wait: None, value });
            }
        }
        for wait in thread.waits.iter().filter(|_| matches!(measure, Measure::OffCpu | Measure::Wall)) {
            let value = (0..wait.duration.0).filter(|ns| selection.range.contains(Time(wait.start.0 + ns))).count();
            if value > 0 {
                let label = WaitKind::of(profile, &wait).label(profile).into_owned();
                let value = i64::try_from(value).expect("short waits");
                all.push(Seen { frames: frames(wait.stack), wait: Some(label), value });
            }
        }
    }
    all
}

impl Seen {
    /// The names from the outermost to the innermost, a wait last.
    fn path(&self) -> Vec<String> {
        self.frames.iter().map(|(name, _)| name.clone()).chain(self.wait.clone()).collect()
    }
}

impl Seen {
    /// Where the outermost of these functions stands.
    fn outermost(&self, wanted: &[&str]) -> Option<usize> {
        self.frames.iter().position(|(name, _)| wanted.contains(&name.as_str()))
    }

    /// Whether it was taken in one of these functions.
    fn is_in(&self, wanted: &[&str]) -> bool {
        self.frames.last().is_some_and(|(name, _)| wanted.contains(&name.as_str()))
    }
}

/// (own, total, number) by key.
type Sums<K> = BTreeMap<K, (i64, i64, u64)>;

#[expect(clippy::cast_possible_truncation, reason = "the values of these tests are small whole numbers")]
fn whole_number(value: f64) -> i64 {
    assert_eq!(value.fract().abs(), 0.0, "{value} is whole");
    value as i64
}

fn tree_sums(profile: &Profile, tree: &Tree) -> Sums<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut sums = Sums::new();
    for id in tree.ids() {
        let node = tree.node(id);
        let mut path = node.parent.map_or_else(Vec::new, |parent: NodeId| paths[parent.index()].clone());
        assert_eq!(path.len(), node.depth as usize);
        path.push(node.callee.name(profile).into_owned());
        paths.push(path.clone());
        let old = sums.insert(path, (whole_number(node.own.value), whole_number(node.total.value), node.total.samples));
        assert_eq!(old, None, "a function is one node below each node");
        let siblings: Vec<f64> = tree.children(id).map(|child| tree.node(child).total.value).collect();
        assert!(siblings.is_sorted_by(|left, right| left >= right), "the largest comes first");
        assert!(tree.children(id).all(|child| tree.node(child).parent == Some(id)));
    }
    assert!(tree.roots().all(|root| tree.node(root).parent.is_none()));
    sums
}

fn path_sums(seen: &[Seen], path_of: impl Fn(&Seen) -> Vec<String>, own_at_root: bool) -> Sums<Vec<String>> {
    let mut sums = Sums::new();
    for one in seen {
        let path = path_of(one);
        for length in 1..=path.len() {
            let sum = sums.entry(path[..length].to_vec()).or_default();
            let here = if own_at_root { length == 1 } else { length == path.len() };
            sum.0 += if here { one.value } else { 0 };
            sum.1 += one.value;
            sum.2 += 1;
        }
    }
    sums
}

proptest! {
    #[test]
    fn trees_and_functions_are_what_counting_by_hand_gives(
        plan in plans(),
        selection in selections(),
        measure in proptest::sample::select(vec![Measure::Cpu, Measure::Samples, Measure::OffCpu, Measure::Wall]),
    ) {
        let profile = build(&plan);
        let seen = seen(&profile, &selection, measure);
        let values = StackValues::of(&profile, &selection, measure).expect("all threads count time or samples");
        prop_assert_eq!(whole_number(values.total.value), seen.iter().map(|one| one.value).sum::<i64>());
        prop_assert_eq!(values.total.samples, seen.len() as u64);

        let tree = call_tree(&profile, &values);
        prop_assert_eq!(tree_sums(&profile, &tree), path_sums(&seen, Seen::path, false));

        let mut inverted = InvertedTree::new(&profile, &values);
        inverted.expand_up_to(usize::MAX);
        let reversed = |one: &Seen| one.path().into_iter().rev().collect();
        prop_assert_eq!(tree_sums(&profile, inverted.tree()), path_sums(&seen, reversed, true));

        let list = functions(&profile, &values);
        let mut expected = Sums::new();
        let mut lines: BTreeMap<(String, u32), i64> = BTreeMap::new();
        for one in &seen {
            for name in one.frames.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>() {
                let sum = expected.entry(name).or_default();
                sum.1 += one.value;
                sum.2 += 1;
            }
            if let Some((name, line)) = one.frames.last() {
                expected.get_mut(name).expect("was counted").0 += one.value;
                line.iter().for_each(|line| *lines.entry((name.clone(), *line)).or_default() += one.value);
            }
        }
        let name = |row: &super::FunctionRow| profile.string(profile.functions.name[row.function.index()]).to_owned();
        let found: Sums<String> = list
            .rows
            .iter()
            .map(|row| (name(row), (whole_number(row.own.value), whole_number(row.total.value), row.total.samples)))
            .collect();
        prop_assert_eq!(found, expected);
        for row in &list.rows {
            let best = lines.iter().filter(|((of, _), _)| *of == name(row)).map(|((_, line), own)| (*own, -i64::from(*line))).max();
            prop_assert_eq!(row.hottest.map(|hot| (whole_number(hot.own.value), -i64::from(hot.line))), best);
        }
        let own: f64 = list.rows.iter().map(|row| row.own.value).sum();
        prop_assert_eq!(whole_number(own + list.whole.stackless.value), whole_number(list.whole.total.value));
    }

    #[test]
    fn what_is_retained_is_what_a_look_at_each_stack_finds(
        plan in plans(),
        selection in selections(),
        measure in proptest::sample::select(vec![Measure::Cpu, Measure::Samples, Measure::OffCpu, Measure::Wall]),
        wanted in proptest::sample::subsequence(vec!["f0", "f1", "f2", "lib+0x3", "[cut short]"], 0..=5),
    ) {
        let profile = build(&plan);
        let name = |id: FunctionId| profile.string(profile.functions.name[id.index()]);
        let mut seen = seen(&profile, &selection, measure);
        seen.retain(|one| one.frames.iter().any(|(name, _)| wanted.contains(&name.as_str())));
        let mut values = StackValues::of(&profile, &selection, measure).expect("all threads count time or samples");
        let whole = values.whole();
        values.retain(&profile, |id| wanted.contains(&name(id)));
        prop_assert_eq!(values.whole(), whole);
        prop_assert_eq!(whole_number(values.total.value), seen.iter().map(|one| one.value).sum::<i64>());
        prop_assert_eq!(values.total.samples, seen.len() as u64);
        prop_assert_eq!(tree_sums(&profile, &call_tree(&profile, &values)), path_sums(&seen, Seen::path, false));
        let mut inverted = InvertedTree::new(&profile, &values);
        inverted.expand_up_to(usize::MAX);
        prop_assert!(inverted.tree().ids().all(|id| inverted.is_leaf(id) == (inverted.tree().children(id).len() == 0)));
        let reversed = |one: &Seen| one.path().into_iter().rev().collect();
        prop_assert_eq!(tree_sums(&profile, inverted.tree()), path_sums(&seen, reversed, true));
    }

    #[test]
    fn summaries_are_what_counting_by_hand_gives(plan in plans()) {
        let profile = build(&plan);
        let summary = Summary::of(&profile);
        let seen: Vec<Seen> =
            seen(&profile, &Selection::default(), Measure::Samples).into_iter().filter(|one| !one.frames.is_empty()).collect();
        prop_assert_eq!(summary.rooted.whole, seen.len() as u64);
        let cut = seen.iter().filter(|one| one.frames[0].0 == "[cut short]").count() as u64;
        prop_assert_eq!(summary.rooted.part, seen.len() as u64 - cut);
        prop_assert_eq!(summary.cut.iter().map(|cut| cut.samples).sum::<u64>(), cut);
        let names: Vec<&str> = seen.iter().flat_map(|one| &one.frames).map(|(name, _)| name.as_str()).filter(|name| !name.starts_with('[')).collect();
        prop_assert_eq!(summary.named.whole, names.len() as u64);
        prop_assert_eq!(summary.named.part, names.iter().filter(|name| !name.contains("+0x")).count() as u64);
        prop_assert_eq!(summary.named_own.whole, summary.named.part, "what has names is in the executable, the rest not");
        for (activity, thread) in summary.threads.iter().zip(&plan.threads) {
            let waited: i64 = thread.waits.iter().map(|wait| i64::from(wait.1)).sum();
            prop_assert_eq!(activity.waited().0, waited);
            prop_assert_eq!(activity.waits.iter().map(|waits| waits.count).sum::<u64>(), thread.waits.len() as u64);
        }
    }

    #[test]
    fn callers_and_callees_of_functions_are_those_on_each_stack(
        plan in plans(),
        selection in selections(),
        measure in proptest::sample::select(vec![Measure::Cpu, Measure::Samples, Measure::OffCpu, Measure::Wall]),
        wanted in proptest::sample::subsequence(vec!["f0", "f1", "f2", "lib+0x3", "[cut short]"], 0..=3),
    ) {
        let profile = build(&plan);
        let is_wanted = |row: usize| wanted.contains(&profile.string(profile.functions.name[row]));
        let set = FunctionSet::from_rows((0..profile.functions.len()).map(is_wanted).collect());
        let mut seen = seen(&profile, &selection, measure);
        seen.retain(|one| one.outermost(&wanted).is_some());
        let root = |one: &Seen| one.outermost(&wanted).expect("others are gone");
        let values = StackValues::of(&profile, &selection, measure).expect("all threads count time or samples");

        let tree = callee_tree(&profile, &values, &set);
        let inwards = |one: &Seen| one.path()[root(one)..].to_vec();
        prop_assert_eq!(tree_sums(&profile, &tree), path_sums(&seen, inwards, false));

        let mut callers = InvertedTree::callers(&profile, &values, &set);
        callers.expand_up_to(usize::MAX);
        let outwards = |one: &Seen| one.path()[..=root(one)].iter().rev().cloned().collect::<Vec<_>>();
        let mut expected = path_sums(&seen, outwards, true);
        expected.values_mut().for_each(|sum| sum.0 = 0);
        for one in seen.iter().filter(|one| one.wait.is_none() && one.is_in(&wanted)) {
            expected.get_mut(&outwards(one)[..1]).expect("was counted").0 += one.value;
        }
        prop_assert_eq!(tree_sums(&profile, callers.tree()), expected);

        let (own, total) = amounts_of(&profile, &values, &set);
        let sum = |seen: Vec<&Seen>| (seen.iter().map(|one| one.value).sum::<i64>(), seen.len() as u64);
        prop_assert_eq!((whole_number(total.value), total.samples), sum(seen.iter().collect()));
        let in_them = seen.iter().filter(|one| one.is_in(&wanted)).collect();
        prop_assert_eq!((whole_number(own.value), own.samples), sum(in_them));
    }

    #[test]
    fn waits_and_threads_are_what_counting_by_hand_gives(
        plan in plans(),
        selection in selections(),
        wanted in option::of(proptest::sample::subsequence(vec!["f0", "f1", "f2", "lib+0x3"], 0..=4)),
    ) {
        let profile = build(&plan);
        let name = |id: FunctionId| profile.string(profile.functions.name[id.index()]);
        let kept = wanted.as_ref().map(|wanted| stacks_through(&profile, |id| wanted.contains(&name(id))));
        let seen_in = |selection: &Selection, measure: Measure| {
            let mut seen = seen(&profile, selection, measure);
            seen.retain(|one| wanted.as_ref().is_none_or(|wanted| one.outermost(wanted).is_some()));
            seen
        };
        let waits = seen_in(&selection, Measure::OffCpu);
        let sum = |waits: &[&Seen]| WaitSum {
            count: waits.len() as u64,
            time: Nanos(waits.iter().map(|one| one.value).sum()),
            longest: Nanos(waits.iter().map(|one| one.value).max().unwrap_or(0)),
        };
        let list = wait_list(&profile, &selection, kept.as_deref());
        prop_assert_eq!(list.sum, sum(&waits.iter().collect::<Vec<_>>()));
        let labels: BTreeSet<Option<String>> = waits.iter().map(|one| one.wait.clone()).collect();
        prop_assert_eq!(list.rows.len(), labels.len());
        for row in &list.rows {
            let label = row.kind.label(&profile);
            let of_kind: Vec<&Seen> = waits.iter().filter(|one| one.wait.as_deref() == Some(&*label)).collect();
            prop_assert_eq!(row.sum, sum(&of_kind));
            let mut places = WaitSum::default();
            row.places.iter().for_each(|place| places += place.sum);
            prop_assert_eq!(places, row.sum);
        }

        let rows = thread_list(&profile, &selection, kept.as_deref()).rows;
        let unnamed = |one: &&Seen| one.frames.is_empty();
        for id in selection.thread_ids(&profile) {
            let alone = Selection { threads: Some(vec![id]), ..selection.clone() };
            let row = rows.iter().find(|row| row.thread == id);
            let samples = seen_in(&alone, Measure::Samples);
            let expected = samples.len() - samples.iter().filter(unnamed).count();
            prop_assert_eq!(row.map_or(0, |row| row.samples), expected as u64);
            let waits = seen_in(&alone, Measure::OffCpu);
            prop_assert_eq!(row.map_or(WaitSum::default(), |row| row.waits), sum(&waits.iter().collect::<Vec<_>>()));
            let thread = &profile.threads[id.index()];
            if let Some(cpu) = row.and_then(|row| row.cpu).filter(|_| thread.knows_cpu()) {
                let cpu_seen: i64 = seen_in(&alone, Measure::Cpu).iter().map(|one| one.value).sum();
                prop_assert_eq!(cpu.0, cpu_seen);
            }
        }
    }
}

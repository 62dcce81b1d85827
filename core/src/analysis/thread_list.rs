//! What each thread did: CPU time, samples, waits.

use rustc_hash::FxHashMap;

use super::filter::Selection;
use super::stack_values::is_kept;
use super::summary::{ShortWaits, WaitTotal, cpu_of, short_waits};
use super::wait_list::WaitSum;
use super::waits::WaitKind;
use crate::model::{FunctionKind, Nanos, Profile, StackId, Thread, ThreadId, TimeRange};

/// The threads of a selection, the most CPU time first, then the longest time waited, then in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadList {
    /// Whether the threads are shown with all that they did, and not a part.
    pub is_whole: bool,
    /// The threads.
    pub rows: Vec<ThreadRow>,
}

/// What a thread did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadRow {
    /// Which.
    pub thread: ThreadId,
    /// CPU time: of the whole thread what the kernel accounted where that was recorded, else that of its samples.
    pub cpu: Option<Nanos>,
    /// CPU time in user code, where told apart; of whole threads only.
    pub user: Option<Nanos>,
    /// CPU time in the kernel, where told apart; of whole threads only.
    pub system: Option<Nanos>,
    /// Samples with a stack, but for those that used no CPU.
    pub samples: u64,
    /// Its waits.
    pub waits: WaitSum,
    /// Its waits by kind, the longest time first.
    pub by_kind: Vec<WaitTotal>,
    /// What it waited besides, too short for the recorder to see; of whole threads only.
    pub short_waits: Option<ShortWaits>,
    /// How long it could have run but had no CPU; of whole threads only.
    pub run_queue_wait: Option<Nanos>,
}

/// What the threads of `selection` did at the [stacks](super::stacks_through) that `kept` says; `None`: at all, and without
/// one. Of a part of what happened, threads that have none of it are left out.
pub fn thread_list(profile: &Profile, selection: &Selection, kept: Option<&[bool]>) -> ThreadList {
    let is_whole = selection.range == TimeRange::ALL && selection.label_sets.is_none() && kept.is_none();
    let mask = selection.label_mask(profile);
    let row = |id: ThreadId| {
        let thread = &profile.threads[id.index()];
        let (sampled, samples) = samples(profile, thread, selection, mask.as_deref(), kept);
        let (waits, by_kind) = waits(profile, thread, selection, kept);
        let usage = thread.usage.filter(|_| is_whole);
        ThreadRow {
            thread: id,
            cpu: if is_whole { cpu_of(thread) } else { sampled },
            user: usage.and_then(|usage| usage.user),
            system: usage.and_then(|usage| usage.system),
            samples,
            waits,
            by_kind,
            short_waits: short_waits(profile, thread).filter(|_| is_whole),
            run_queue_wait: usage.map(|usage| usage.run_queue_wait),
        }
    };
    let did_something =
        |row: &ThreadRow| row.samples > 0 || row.waits.count > 0 || row.cpu.is_some_and(|cpu| cpu != Nanos::ZERO);
    let rows = selection.thread_ids(profile).into_iter().map(row);
    let mut rows: Vec<ThreadRow> = rows.filter(|row| is_whole || did_something(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.cpu, row.waits.time)));
    ThreadList { is_whole, rows }
}

/// CPU time of the selected samples, if such times are known, and how many of them have a stack and used CPU.
fn samples(
    profile: &Profile,
    thread: &Thread,
    selection: &Selection,
    mask: Option<&[bool]>,
    kept: Option<&[bool]>,
) -> (Option<Nanos>, u64) {
    let knows_cpu = thread.knows_cpu();
    let samples = &thread.samples;
    let is_seen =
        |stack: StackId| profile.functions.kind[profile.leaf_function(stack).index()] != FunctionKind::Unsampled;
    let (mut cpu, mut count) = (Nanos::ZERO, 0);
    for row in selection.sample_rows(samples, thread.timed) {
        let has_label =
            mask.is_none_or(|mask| samples.labels.get(row).copied().flatten().is_some_and(|set| mask[set.index()]));
        if !has_label || !is_kept(kept, samples.stack[row]) {
            continue;
        }
        let used = samples.cpu_of(row).unwrap_or(Nanos::ZERO);
        cpu += used;
        if samples.stack[row].is_some_and(is_seen) && (!knows_cpu || used != Nanos::ZERO) {
            count += thread.samples_in(row);
        }
    }
    (knows_cpu.then_some(cpu), count)
}

/// The selected waits, all in all and by kind.
fn waits(
    profile: &Profile,
    thread: &Thread,
    selection: &Selection,
    kept: Option<&[bool]>,
) -> (WaitSum, Vec<WaitTotal>) {
    let mut sum = WaitSum::default();
    let mut kinds: FxHashMap<WaitKind, WaitSum> = FxHashMap::default();
    // Waits have no labels to be chosen by.
    let waits = thread.waits.iter().filter(|wait| selection.label_sets.is_none() && is_kept(kept, wait.stack));
    for wait in waits {
        let time = selection.range.overlap(wait.start, wait.duration);
        if time != Nanos::ZERO {
            sum.add(time);
            kinds.entry(WaitKind::of(profile, &wait)).or_default().add(time);
        }
    }
    let total = |(kind, sum): (WaitKind, WaitSum)| WaitTotal { kind, count: sum.count, time: sum.time };
    let mut by_kind: Vec<WaitTotal> = kinds.into_iter().map(total).collect();
    by_kind.sort_by_cached_key(|waits| (std::cmp::Reverse(waits.time), waits.kind.label(profile)));
    (sum, by_kind)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::analysis::stacks_through;
    use crate::model::{ThreadUsage, Time};

    fn profile() -> Profile {
        let mut fixture = Fixture::new();
        let [main, worker] = [("main", 1), ("worker", 2)].map(|(name, tid)| fixture.thread(name, tid));
        fixture.thread("idle", 3);
        fixture.samples(main, &[("main;work", 2), ("main;rest", 1)]);
        fixture.samples(worker, &[("start;work", 5)]);
        let stack = fixture.stack("main;rest");
        fixture.wait(main, 3_000_000, 500_000, Some(stack), "read");
        fixture.wait(main, 4_000_000, 900_000, Some(stack), "futex");
        fixture.builder.thread_mut(main).usage = Some(ThreadUsage {
            cpu: Nanos(9_000_000),
            user: Some(Nanos(8_000_000)),
            run_queue_wait: Nanos(17),
            ..ThreadUsage::default()
        });
        fixture.finish()
    }

    #[test]
    fn whole_threads_have_what_the_kernel_accounted() {
        let profile = profile();
        let list = thread_list(&profile, &Selection::default(), None);
        let cpu = |row: &ThreadRow| (row.thread.index(), row.cpu.map(|cpu| cpu.0), row.samples);
        let expected = [(0, Some(9_000_000), 3), (1, Some(5_000_000), 5), (2, None, 0)];
        assert_eq!(list.rows.iter().map(cpu).collect::<Vec<_>>(), expected);
        let main = &list.rows[0];
        assert_eq!((main.user, main.system, main.run_queue_wait), (Some(Nanos(8_000_000)), None, Some(Nanos(17))));
        assert_eq!(main.waits, WaitSum { count: 2, time: Nanos(1_400_000), longest: Nanos(900_000) });
        let kinds: Vec<_> = main.by_kind.iter().map(|waits| waits.kind.label(&profile)).collect();
        assert_eq!(kinds, ["[wait] futex", "[wait] read"]);
    }

    #[test]
    fn parts_have_what_was_sampled_in_them() {
        let profile = profile();
        let range = TimeRange { start: Time(2_000_000), end: Time(4_100_000) };
        let list = thread_list(&profile, &Selection { range, ..Selection::default() }, None);
        let cpu = |row: &ThreadRow| (row.thread.index(), row.cpu.map(|cpu| cpu.0), row.samples, row.waits.time.0);
        let expected = [(1, Some(3_000_000), 3, 0), (0, Some(1_000_000), 1, 600_000)];
        assert_eq!(list.rows.iter().map(cpu).collect::<Vec<_>>(), expected);
        assert_eq!(list.rows[1].user, None);
        let kept = stacks_through(&profile, |id| profile.string(profile.functions.name[id.index()]) == "rest");
        let list = thread_list(&profile, &Selection::default(), Some(&kept));
        assert_eq!(list.rows.iter().map(cpu).collect::<Vec<_>>(), [(0, Some(1_000_000), 1, 1_400_000)]);
    }
}

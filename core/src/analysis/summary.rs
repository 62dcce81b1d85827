//! What a whole profile comes to: times, threads, waits, and how complete its stacks and names are.

use rustc_hash::FxHashMap;

use super::amount::Share;
use super::filter::Selection;
use super::stack_values::StackValues;
use super::waits::WaitKind;
use crate::model::{
    FunctionKind, LibraryId, Nanos, Profile, StackId, StringId, Thread, ThreadId, ThreadUsage, WaitReason, file_name,
};

/// What a whole profile comes to.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// How long was recorded; `None` when nothing is timed.
    pub wall: Option<Nanos>,
    /// CPU time: what the kernel accounted where that was recorded, else the samples'.
    pub cpu: Option<Nanos>,
    /// CPU time in user code, where told apart.
    pub user: Option<Nanos>,
    /// CPU time in the kernel, where told apart.
    pub system: Option<Nanos>,
    /// CPU time of all samples.
    pub sampled_cpu: Option<Nanos>,
    /// CPU time, as far as known, that belongs to no moment at which a thread was looked at.
    pub unsampled_cpu: Nanos,
    /// Samples with a stack, but for those that used no CPU.
    pub samples: u64,
    /// Of these, how many have a stack up to the root of their thread.
    pub rooted: Share,
    /// Of the frames of their stacks (system calls left out), how many have the name of a function.
    pub named: Share,
    /// The same, only frames in the program's own executable.
    pub named_own: Share,
    /// Stacks that were cut short, by what their roots say, the most frequent first.
    pub cut: Vec<CutStacks>,
    /// Samples that were taken but could not be kept, where known.
    pub lost: Option<u64>,
    /// Share of its CPU time that the program was held for sampling, where known.
    pub stopped_percent: Option<f64>,
    /// What each thread did, by [`ThreadId`].
    pub threads: Vec<ThreadActivity>,
}

/// Stacks that were cut short for the same reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutStacks {
    /// The name of their root, which says why.
    pub reason: StringId,
    /// How many samples have such a stack.
    pub samples: u64,
}

/// What a thread did.
#[derive(Clone, PartialEq, Debug)]
pub struct ThreadActivity {
    /// Which.
    pub thread: ThreadId,
    /// Its CPU time, as [`Summary::cpu`].
    pub cpu: Option<Nanos>,
    /// Its samples, counted as [`Summary::samples`].
    pub samples: u64,
    /// Its waits by kind, the longest time first.
    pub waits: Vec<WaitTotal>,
    /// What it waited besides, in waits too short for the recorder to see; `None` if there was none, or it is not known.
    pub short_waits: Option<ShortWaits>,
}

/// Waits that only the kernel counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortWaits {
    /// How many.
    pub count: u64,
    /// How long in all.
    pub time: Nanos,
}

/// The waits of a thread of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTotal {
    /// What for.
    pub kind: WaitKind,
    /// How many.
    pub count: u64,
    /// How long in all.
    pub time: Nanos,
}

impl ThreadActivity {
    /// How long it waited in all.
    pub fn waited(&self) -> Nanos {
        self.waits.iter().map(|waits| waits.time).sum()
    }
}

impl Summary {
    /// Sums up `profile`.
    pub fn of(profile: &Profile) -> Self {
        let counts = StackValues::sample_counts(profile, &Selection::default());
        let stacks = StackQuality::of(profile, &counts);
        let usage = |part: fn(&ThreadUsage) -> Option<Nanos>| {
            sum_known(profile.threads.iter().map(|thread| thread.usage.as_ref().and_then(part)))
        };
        let cpu = sum_known(profile.threads.iter().map(cpu_of));
        let quality = profile.meta.quality;
        Self {
            wall: wall(profile),
            cpu,
            user: usage(|usage| usage.user),
            system: usage(|usage| usage.system),
            sampled_cpu: sum_known(profile.threads.iter().map(Thread::sampled_cpu)),
            unsampled_cpu: unsampled_cpu(profile),
            samples: stacks.rooted.whole,
            rooted: stacks.rooted,
            named: stacks.named,
            named_own: stacks.named_own,
            cut: stacks.cut,
            lost: quality.map(|quality| quality.lost_samples),
            stopped_percent: quality.zip(cpu).and_then(|(quality, cpu)| {
                (cpu.0 > 0).then(|| quality.stopped.as_secs_f64() * 100.0 / cpu.as_secs_f64())
            }),
            threads: profile
                .threads
                .iter()
                .enumerate()
                .map(|(index, thread)| activity(profile, index, thread))
                .collect(),
        }
    }
}

/// The executable that the profile is of: the library with the file name of the program that was started.
pub fn own_binary(profile: &Profile) -> Option<LibraryId> {
    let of_process = profile.processes.first().and_then(|process| process.command_line.first());
    let programs = [of_process.map(|id| profile.string(*id)), profile.meta.command_line.first().map(String::as_str)];
    let names = programs.into_iter().flatten().chain([profile.meta.name.as_str()]).map(file_name);
    names.filter(|name| !name.is_empty()).find_map(|name| {
        let found = profile.libraries.iter().position(|library| file_name(profile.string(library.path)) == name);
        found.map(LibraryId::new)
    })
}

/// How complete the stacks of samples are.
#[derive(Default)]
struct StackQuality {
    rooted: Share,
    named: Share,
    named_own: Share,
    cut: Vec<CutStacks>,
}

impl StackQuality {
    fn of(profile: &Profile, counts: &StackValues) -> Self {
        let mut quality = Self::default();
        let kind_of = |stack: StackId| profile.functions.kind[profile.leaf_function(stack).index()];
        let mut samples: Vec<u64> = counts.own.iter().map(|own| own.samples).collect();
        let mut roots: Vec<StackId> = Vec::with_capacity(samples.len());
        let mut cut: FxHashMap<StringId, u64> = FxHashMap::default();
        for (row, prefix) in profile.stacks.prefix.iter().enumerate() {
            let stack = StackId::new(row);
            roots.push(prefix.map_or(stack, |prefix| roots[prefix.index()]));
            if kind_of(stack) == FunctionKind::Unsampled {
                // An amount of time, not a stack that was seen.
                samples[row] = 0;
            }
            if samples[row] == 0 {
                continue;
            }
            quality.rooted.whole += samples[row];
            if kind_of(roots[row]) == FunctionKind::Cut {
                let reason = profile.functions.name[profile.leaf_function(roots[row]).index()];
                *cut.entry(reason).or_default() += samples[row];
            } else {
                quality.rooted.part += samples[row];
            }
        }
        quality.count_names(profile, samples);
        quality.cut = cut.into_iter().map(|(reason, samples)| CutStacks { reason, samples }).collect();
        quality.cut.sort_unstable_by(|left, right| {
            let by_name = || profile.string(left.reason).cmp(profile.string(right.reason));
            right.samples.cmp(&left.samples).then_with(by_name)
        });
        quality
    }

    /// `samples`: of each stack; each counts for all frames of its stack.
    fn count_names(&mut self, profile: &Profile, mut samples: Vec<u64>) {
        let own_binary = own_binary(profile);
        for row in (0..samples.len()).rev() {
            let count = samples[row];
            if let Some(prefix) = profile.stacks.prefix[row] {
                samples[prefix.index()] += count;
            }
            let frame = profile.stacks.frame[row].index();
            let kind = profile.functions.kind[profile.frames.function[frame].index()];
            let named = match kind {
                FunctionKind::Native | FunctionKind::Script => count,
                FunctionKind::Unsymbolized => 0,
                FunctionKind::Kernel | FunctionKind::Cut | FunctionKind::Unsampled => continue,
            };
            self.named.whole += count;
            self.named.part += named;
            if own_binary.is_some() && profile.frames.library[frame] == own_binary {
                self.named_own.whole += count;
                self.named_own.part += named;
            }
        }
    }
}

fn wall(profile: &Profile) -> Option<Nanos> {
    match (profile.meta.recording_start, profile.meta.recording_end) {
        (Some(start), Some(end)) => Some(end - start),
        _ => profile.extent().map(|extent| extent.end - extent.start),
    }
}

pub(super) fn cpu_of(thread: &Thread) -> Option<Nanos> {
    thread.usage.map(|usage| usage.cpu).or_else(|| thread.sampled_cpu())
}

/// The sum of what is known; `None` when nothing is.
fn sum_known(amounts: impl Iterator<Item = Option<Nanos>>) -> Option<Nanos> {
    amounts.flatten().reduce(|sum, amount| sum + amount)
}

/// Samples of `thread` with a stack that was seen, but for those that used no CPU.
pub fn samples_of(profile: &Profile, thread: &Thread) -> u64 {
    let seen = |stack: StackId| profile.functions.kind[profile.leaf_function(stack).index()] != FunctionKind::Unsampled;
    let knows_cpu = thread.knows_cpu();
    let rows = thread.samples.stack.iter().enumerate().filter_map(|(row, stack)| Some((row, (*stack)?)));
    let used_cpu = |row: usize| thread.samples.cpu[row].get().is_some_and(|nanos| nanos.0 != 0);
    rows.filter(|(row, stack)| (!knows_cpu || used_cpu(*row)) && seen(*stack))
        .map(|(row, _)| thread.samples_in(row))
        .sum()
}

fn unsampled_cpu(profile: &Profile) -> Nanos {
    let is_unsampled =
        |stack: StackId| profile.functions.kind[profile.leaf_function(stack).index()] == FunctionKind::Unsampled;
    if !profile.functions.kind.contains(&FunctionKind::Unsampled) {
        return Nanos::ZERO;
    }
    let samples = profile.threads.iter().map(|thread| &thread.samples);
    let of_thread = samples.flat_map(|samples| samples.stack.iter().zip(&samples.cpu));
    of_thread.filter(|(stack, _)| stack.is_some_and(is_unsampled)).filter_map(|(_, cpu)| cpu.get()).sum()
}

fn activity(profile: &Profile, index: usize, thread: &Thread) -> ThreadActivity {
    let mut kinds: FxHashMap<WaitKind, (u64, Nanos)> = FxHashMap::default();
    for wait in thread.waits.iter() {
        let (count, time) = kinds.entry(WaitKind::of(profile, &wait)).or_default();
        *count += 1;
        *time += wait.duration;
    }
    let mut waits: Vec<WaitTotal> =
        kinds.into_iter().map(|(kind, (count, time))| WaitTotal { kind, count, time }).collect();
    waits.sort_unstable_by(|left, right| {
        right.time.cmp(&left.time).then_with(|| left.kind.label(profile).cmp(&right.kind.label(profile)))
    });
    ThreadActivity {
        thread: ThreadId::new(index),
        cpu: cpu_of(thread),
        samples: samples_of(profile, thread),
        waits,
        short_waits: short_waits(profile, thread),
    }
}

/// A wait that lasts for so many sampling periods is seen.
const SHORT_WAIT_PERIODS: i64 = 2;

/// What the kernel counted of a thread's waits beyond those that were seen: time that it neither used a CPU, nor queued for
/// one, nor was held.
pub(super) fn short_waits(profile: &Profile, thread: &Thread) -> Option<ShortWaits> {
    let usage = thread.usage.as_ref()?;
    let (mut seen, mut away) = (0, usage.cpu + usage.run_queue_wait + usage.stopped.unwrap_or_default());
    for wait in thread.waits.iter().filter(|wait| wait.reason != WaitReason::Runnable) {
        seen += u64::from(wait.reason == WaitReason::Blocked);
        away += wait.duration;
    }
    let end = thread.end.or(profile.meta.recording_end)?;
    let count = usage.voluntary_switches?.saturating_sub(seen);
    let time = Nanos((end - thread.start?).0 - away.0);
    // What took longer than it takes to be seen was something else: the thread was new, or stopped for another reason.
    let longest = profile.meta.interval.map_or(i64::MAX, |interval| interval.0.saturating_mul(SHORT_WAIT_PERIODS));
    let waits = ShortWaits { count, time };
    (count > 0 && time > Nanos::ZERO && time.0 / i64::try_from(count).unwrap_or(i64::MAX) <= longest).then_some(waits)
}

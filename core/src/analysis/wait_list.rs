//! What threads waited for: by system call and what it was made on, with who waited.

use rustc_hash::FxHashMap;

use super::filter::Selection;
use super::functions::user_frame;
use super::stack_values::is_kept;
use super::summary::{ShortWaits, short_waits};
use super::waits::WaitKind;
use crate::model::{FunctionId, Nanos, Profile, ThreadId, Time, TimeRange};

/// The waits of a selection by kind, the longest time first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WaitList {
    /// All waits.
    pub sum: WaitSum,
    /// Waits too short for the recorder to see, which the kernel counted. `None` where there were none, that is not known, or
    /// a part was selected: only their sums over the recording are known.
    pub short: Option<ShortWaits>,
    /// By kind.
    pub rows: Vec<WaitRow>,
}

/// How many waits there were, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaitSum {
    /// How many.
    pub count: u64,
    /// How long in all.
    pub time: Nanos,
    /// How long the longest of them took.
    pub longest: Nanos,
}

/// The waits of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitRow {
    /// What for.
    pub kind: WaitKind,
    /// All of them.
    pub sum: WaitSum,
    /// When the longest began (in the selected time), and in which thread.
    pub longest: (Time, ThreadId),
    /// By the function that waited, the longest time first.
    pub places: Vec<WaitPlace>,
}

/// The waits of one kind in one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitPlace {
    /// The innermost function of the user's code, or a dependency's, or else the innermost one; `None`: the stack is not known.
    pub function: Option<FunctionId>,
    /// The line in it with the most time.
    pub line: Option<u32>,
    /// The waits.
    pub sum: WaitSum,
}

impl WaitSum {
    pub(super) fn add(&mut self, time: Nanos) {
        *self += Self { count: 1, time, longest: time };
    }
}

impl std::ops::AddAssign for WaitSum {
    fn add_assign(&mut self, rhs: Self) {
        self.count += rhs.count;
        self.time += rhs.time;
        self.longest = self.longest.max(rhs.longest);
    }
}

/// A function, and a line in it.
type Line = (Option<FunctionId>, Option<u32>);

/// Of one kind: the sum, the longest, and the sums by function and line.
#[derive(Default)]
struct OfKind {
    sum: WaitSum,
    longest: Option<(Time, ThreadId)>,
    places: FxHashMap<Line, WaitSum>,
}

/// The waits of `selection` as far as they lie in its time, at the [stacks](super::stacks_through) that `kept` says; `None`: at
/// all, and without one. Samples with labels are no waits.
pub fn wait_list(profile: &Profile, selection: &Selection, kept: Option<&[bool]>) -> WaitList {
    if selection.label_sets.is_some() {
        return WaitList::default();
    }
    let mut kinds: FxHashMap<WaitKind, OfKind> = FxHashMap::default();
    let mut list = WaitList::default();
    for id in selection.thread_ids(profile) {
        let thread = &profile.threads[id.index()];
        for wait in thread.waits.iter().filter(|wait| is_kept(kept, wait.stack)) {
            let time = selection.range.overlap(wait.start, wait.duration);
            if time == Nanos::ZERO {
                continue;
            }
            list.sum.add(time);
            let of_kind = kinds.entry(WaitKind::of(profile, &wait)).or_default();
            if time > of_kind.sum.longest {
                of_kind.longest = Some((wait.start.max(selection.range.start), id));
            }
            of_kind.sum.add(time);
            let frame = wait.stack.map(|stack| user_frame(profile, stack).index());
            let function = frame.map(|frame| profile.frames.function[frame]);
            let line = frame.and_then(|frame| profile.frames.line[frame]);
            of_kind.places.entry((function, line)).or_default().add(time);
        }
        if selection.range == TimeRange::ALL && kept.is_none() {
            list.short = added(list.short, short_waits(profile, thread));
        }
    }
    let row = |(kind, of_kind): (WaitKind, OfKind)| {
        let longest = of_kind.longest?;
        Some(WaitRow { kind, sum: of_kind.sum, longest, places: by_function(profile, of_kind.places) })
    };
    list.rows = kinds.into_iter().filter_map(row).collect();
    list.rows.sort_by_cached_key(|row| (std::cmp::Reverse(row.sum.time), row.kind.label(profile)));
    list
}

/// The sum of what is known.
fn added(left: Option<ShortWaits>, right: Option<ShortWaits>) -> Option<ShortWaits> {
    match (left, right) {
        (Some(left), Some(right)) => Some(ShortWaits { count: left.count + right.count, time: left.time + right.time }),
        (left, right) => left.or(right),
    }
}

/// Puts the lines of each function together.
fn by_function(profile: &Profile, lines: FxHashMap<Line, WaitSum>) -> Vec<WaitPlace> {
    let mut lines: Vec<(Line, WaitSum)> = lines.into_iter().collect();
    lines.sort_unstable_by_key(|((function, line), sum)| (*function, std::cmp::Reverse(sum.time), *line));
    let of_function = lines.chunk_by(|left, right| left.0.0 == right.0.0).map(|same| {
        let mut sum = WaitSum::default();
        same.iter().for_each(|(_, of_line)| sum += *of_line);
        WaitPlace { function: same[0].0.0, line: same[0].0.1, sum }
    });
    let mut places: Vec<WaitPlace> = of_function.collect();
    let name = |place: &WaitPlace| place.function.map(|id| profile.string(profile.functions.name[id.index()]));
    places.sort_by_key(|place| (std::cmp::Reverse(place.sum.time), name(place)));
    places
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::analysis::stacks_through;
    use crate::model::ThreadUsage;

    /// A thread that waits 100 ns in `regex::run` (lines 5 and 6) and 30 ns in `main`, for a lock, and 7 ns for a read.
    fn profile() -> Profile {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("main", 1);
        for (start, duration, stack, syscall) in [
            (0, 40, Some("main:3;regex::run:5;libc.so.6+0x10"), "futex"),
            (50, 60, Some("main:3;regex::run:6;libc.so.6+0x10"), "futex"),
            (200, 30, Some("main:4;[kernel] futex"), "futex"),
            (300, 7, None, "read"),
        ] {
            let stack = stack.map(|stack| fixture.stack(stack));
            fixture.wait(thread, start, duration, stack, syscall);
        }
        fixture.builder.meta_mut().recording_end = Some(Time(1000));
        let thread = fixture.builder.thread_mut(thread);
        thread.start = Some(Time(0));
        thread.usage = Some(ThreadUsage { cpu: Nanos(800), voluntary_switches: Some(9), ..ThreadUsage::default() });
        fixture.finish()
    }

    fn rows(list: &WaitList, profile: &Profile) -> Vec<(String, u64, i64, i64)> {
        let row =
            |row: &WaitRow| (row.kind.label(profile).into_owned(), row.sum.count, row.sum.time.0, row.sum.longest.0);
        list.rows.iter().map(row).collect()
    }

    #[test]
    fn waits_are_summed_by_kind_and_by_who_waited() {
        let profile = profile();
        let list = wait_list(&profile, &Selection::default(), None);
        assert_eq!(list.sum, WaitSum { count: 4, time: Nanos(137), longest: Nanos(60) });
        assert_eq!(
            rows(&list, &profile),
            [("[wait] futex".to_owned(), 3, 130, 60), ("[wait] read".to_owned(), 1, 7, 7)]
        );
        assert_eq!(list.rows[0].longest, (Time(50), ThreadId::new(0)));
        let places = list.rows[0].places.iter().map(|place| {
            let name = place.function.map(|id| profile.string(profile.functions.name[id.index()]));
            (name, place.line, place.sum.count, place.sum.time.0)
        });
        let expected = [(Some("regex::run"), Some(6), 2, 100), (Some("main"), Some(4), 1, 30)];
        assert_eq!(places.collect::<Vec<_>>(), expected);
        assert_eq!(list.rows[1].places[0].function, None);
        let short = list.short.expect("the kernel counted more");
        assert_eq!((short.count, short.time), (5, Nanos(63)));
    }

    #[test]
    fn a_part_has_the_part_of_each_wait() {
        let profile = profile();
        let range = TimeRange { start: Time(70), end: Time(210) };
        let list = wait_list(&profile, &Selection { range, ..Selection::default() }, None);
        assert_eq!(rows(&list, &profile), [("[wait] futex".to_owned(), 2, 50, 40)]);
        assert_eq!(list.rows[0].longest.0, Time(70), "as far as it lies in the part");
        assert_eq!(list.short, None, "known of the whole only");
        let kept = stacks_through(&profile, |id| profile.string(profile.functions.name[id.index()]) == "regex::run");
        let list = wait_list(&profile, &Selection::default(), Some(&kept));
        assert_eq!(rows(&list, &profile), [("[wait] futex".to_owned(), 2, 100, 60)]);
        let none = Selection { threads: Some(Vec::new()), ..Selection::default() };
        assert_eq!(wait_list(&profile, &none, None), WaitList::default());
    }
}

//! Slices by name: how many there are, how long they took, and which one took longest.

use super::Selection;
use crate::model::{CategoryId, Nanos, Profile, SliceId, SliceTable, StringId, ThreadId, TimeRange};

/// What [`slice_list`] gives.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SliceList {
    /// One for each name, the one with the most time of its own first.
    pub rows: Vec<SliceRow>,
    /// The time in slices of all threads: what the rows' own times add up to.
    pub whole: Nanos,
}

/// The slices of one name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SliceRow {
    /// Their name.
    pub name: StringId,
    /// The category of the first one.
    pub category: CategoryId,
    /// How many there are.
    pub count: u64,
    /// The time in them that was in no slice inside them.
    pub own: Nanos,
    /// The time in them. Where one is inside another of the same name, it counts once.
    pub total: Nanos,
    /// Their durations, one inside another of the same name too: [`count`](Self::count) times their mean.
    pub durations: Nanos,
    /// The one that lasts longest, the first of equals: its thread, itself, and its duration, in the range or not.
    pub longest: (ThreadId, SliceId, Nanos),
}

const NO_ROW: u32 = u32::MAX;

/// The slices of the selected threads that are at least in part in the selected time, by name. Times are of what lies in it.
///
/// Time and memory are linear in the slices and strings of `profile`. Sums beyond what [`Nanos`] can hold stay at its end.
#[must_use]
pub fn slice_list(profile: &Profile, selection: &Selection) -> SliceList {
    let mut list = SliceList::default();
    let mut row_of = vec![NO_ROW; profile.strings.len()];
    // By row: how many slices of its name are open at this point of a walk.
    let mut open: Vec<u32> = Vec::new();
    for thread in selection.thread_ids(profile) {
        let slices = &profile.threads[thread.index()].slices;
        // By slice: the time of those directly inside it.
        let mut inner = vec![0_i64; slices.len()];
        for (slice, parent) in slices.parent.iter().enumerate() {
            if let Some(parent) = parent {
                let Nanos(time) = selection.range.overlap(slices.start[slice], slices.duration[slice]);
                inner[parent.index()] = inner[parent.index()].saturating_add(time);
            }
        }
        let mut around: Vec<(SliceId, u32)> = Vec::new();
        for slice in by_lane(slices) {
            while let Some((last, row)) = around.last()
                && slices.parent[slice] != Some(*last)
            {
                open[*row as usize] -= 1;
                around.pop();
            }
            let row = &mut row_of[slices.name[slice].index()];
            if *row == NO_ROW {
                *row = u32::try_from(open.len()).expect("a profile has fewer than u32::MAX strings");
                open.push(0);
                list.rows.push(SliceRow::new(slices, slice));
            }
            let row = *row;
            if is_in(selection.range, slices, slice) {
                let Nanos(time) = selection.range.overlap(slices.start[slice], slices.duration[slice]);
                let own = Nanos(time.saturating_sub(inner[slice]));
                let is_outermost = open[row as usize] == 0;
                list.rows[row as usize].add(Nanos(time), own, is_outermost, (thread, slice, slices.duration[slice]));
                list.whole = sum(list.whole, own);
            }
            open[row as usize] += 1;
            around.push((SliceId::new(slice), row));
        }
        for (_, row) in around {
            open[row as usize] -= 1;
        }
    }
    list.rows.retain(|row| row.count > 0);
    list.rows.sort_by_key(|row| std::cmp::Reverse(row.own));
    list
}

/// The slices of a thread, one lane after the other: on each, those around a slice are the last ones before it.
fn by_lane(slices: &SliceTable) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..slices.len()).collect();
    if slices.lane.iter().any(|lane| *lane != 0) {
        rows.sort_by_key(|row| slices.lane[*row]);
    }
    rows
}

/// Whether a part of a slice is in `range`, or all of it if it is a moment.
fn is_in(range: TimeRange, slices: &SliceTable, slice: usize) -> bool {
    let (start, duration) = (slices.start[slice], slices.duration[slice]);
    if duration == Nanos::ZERO { range.contains(start) } else { range.overlap(start, duration) > Nanos::ZERO }
}

fn sum(Nanos(left): Nanos, Nanos(right): Nanos) -> Nanos {
    Nanos(left.saturating_add(right))
}

impl SliceRow {
    /// Their mean duration.
    #[must_use]
    pub fn mean(&self) -> Nanos {
        Nanos(i64::try_from(self.count).map_or(0, |count| self.durations.0.checked_div(count).unwrap_or(0)))
    }

    fn new(slices: &SliceTable, first: usize) -> Self {
        Self {
            name: slices.name[first],
            category: slices.category[first],
            count: 0,
            own: Nanos::ZERO,
            total: Nanos::ZERO,
            durations: Nanos::ZERO,
            longest: (ThreadId::new(0), SliceId::new(first), Nanos(-1)),
        }
    }

    fn add(&mut self, time: Nanos, own: Nanos, is_outermost: bool, slice: (ThreadId, usize, Nanos)) {
        self.count += 1;
        self.own = sum(self.own, own);
        self.durations = sum(self.durations, time);
        if is_outermost {
            self.total = sum(self.total, time);
        }
        let (thread, slice, duration) = slice;
        if duration > self.longest.2 {
            self.longest = (thread, SliceId::new(slice), duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{OsId, Process, ProfileBuilder, Slice, StandardCategory, Thread, Time};

    /// Name, start, end, row of the parent, lane.
    type Row = (&'static str, i64, i64, Option<usize>, u32);

    fn profile(threads: &[&[Row]]) -> Profile {
        let mut builder = ProfileBuilder::with_standard_categories();
        let name = builder.string("main");
        let (parent, start, end, exit) = (None, None, None, None);
        let process = Process { pid: OsId::Number(1), parent, name, command_line: Vec::new(), start, end, exit };
        let process = builder.add_process(process);
        for (tid, rows) in (1..).zip(threads) {
            let thread = builder.add_thread(Thread::new(process, OsId::Number(tid), name));
            let mut depths: Vec<u32> = Vec::new();
            for (name, from, to, parent, lane) in *rows {
                let depth = parent.map_or(0, |parent: usize| depths[parent] + 1);
                depths.push(depth);
                let slice = Slice {
                    start: Time(*from),
                    duration: Nanos(to - from),
                    name: builder.string(name),
                    category: StandardCategory::Other.id(),
                    parent: parent.map(SliceId::new),
                    depth,
                    lane: *lane,
                    args: None,
                    incomplete: false,
                };
                builder.thread_mut(thread).slices.push(slice);
            }
        }
        builder.finish().expect("a valid profile")
    }

    /// Name, count, own, total, durations, and thread and start of the longest.
    type Counted = (String, u64, i64, i64, i64, (usize, i64));

    fn counted(name: &str, count: u64, times: [i64; 3], longest: (usize, i64)) -> Counted {
        let [own, total, durations] = times;
        (name.to_owned(), count, own, total, durations, longest)
    }

    fn rows(profile: &Profile, range: TimeRange) -> Vec<Counted> {
        let list = slice_list(profile, &Selection { range, ..Selection::default() });
        assert_eq!(list.whole, Nanos(list.rows.iter().map(|row| row.own.0).sum()));
        let mut rows: Vec<_> = list
            .rows
            .iter()
            .map(|row| {
                let (thread, slice, _) = row.longest;
                let start = profile.threads[thread.index()].slices.start[slice.index()].0;
                let name = profile.string(row.name).to_owned();
                (name, row.count, row.own.0, row.total.0, row.durations.0, (thread.index(), start))
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn a_slice_inside_another_of_its_name_counts_once() {
        let first: &[Row] =
            &[("a", 0, 10, None, 0), ("b", 1, 9, Some(0), 0), ("a", 2, 5, Some(1), 0), ("b", 12, 13, None, 0)];
        let second: &[Row] = &[("b", 0, 20, None, 0)];
        let expected = [counted("a", 2, [5, 10, 13], (0, 0)), counted("b", 3, [26, 29, 29], (1, 0))];
        assert_eq!(rows(&profile(&[first, second]), TimeRange::ALL), expected);
    }

    /// Both are on the thread at once; neither is around the other.
    #[test]
    fn lanes_are_beside_each_other() {
        let thread: &[Row] = &[
            ("a", 0, 10, None, 0),
            ("a", 5, 15, None, 1),
            ("b", 6, 9, Some(0), 0),
            ("a", 7, 12, Some(1), 1),
            ("b", 11, 12, None, 0),
        ];
        let expected = [counted("a", 3, [17, 20, 25], (0, 0)), counted("b", 2, [4, 4, 4], (0, 6))];
        assert_eq!(rows(&profile(&[thread]), TimeRange::ALL), expected);
    }

    #[test]
    fn only_what_lies_in_the_range_counts() {
        let thread: &[Row] =
            &[("a", 0, 10, None, 0), ("b", 2, 5, Some(0), 0), ("moment", 6, 6, Some(0), 0), ("late", 8, 9, Some(0), 0)];
        let range = TimeRange { start: Time(4), end: Time(8) };
        let expected = [
            counted("a", 1, [3, 4, 4], (0, 0)),
            counted("b", 1, [1, 1, 1], (0, 2)),
            counted("moment", 1, [0, 0, 0], (0, 6)),
        ];
        assert_eq!(rows(&profile(&[thread]), range), expected);
    }
}

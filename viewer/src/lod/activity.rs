//! How much of a thread's time was used, and by what, in each column of pixels: exact sums at any zoom level.
//!
//! [`Uses`] go in: spans of time, each with an amount that was used evenly over it, and a group that says by what. An
//! [`Activity`] keeps running sums at every eighth of them, so that a query costs a few steps for each column, however
//! many uses lie in it. What lies on both sides of a column's edge is divided there to the nanosecond: columns side by
//! side add up to what they cover, with nothing lost and nothing counted twice.

use traceview_core::model::{Nanos, Time, TimeRange};

use super::uses::Uses;

/// Parts of time of equal width, side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Columns {
    /// Where the first begins.
    pub start: Time,
    /// How wide each is; at least a nanosecond.
    pub width: Nanos,
    /// How many there are.
    pub count: u32,
}

/// An index over [`Uses`].
#[derive(Clone, Debug)]
pub struct Activity<U> {
    uses: U,
    /// Where the last use of each block ends.
    block_ends: Vec<Time>,
    /// The sums of each group before each block, and after the last.
    sums: Vec<i64>,
}

/// Uses between two running sums: few, since a frame looks at half of them for each pixel of each track; enough that the
/// sums of five groups take no more than a third of what samples do.
const BLOCK: usize = 8;

impl Columns {
    /// At most `most + 1` columns that cover `range`. They begin at multiples of their width, so that panning moves them
    /// and changes nothing else. `None` when there is nothing to cover.
    pub fn covering(range: TimeRange, most: u32) -> Option<Self> {
        let length = i128::from(range.end.0) - i128::from(range.start.0);
        if length <= 0 || most == 0 {
            return None;
        }
        let width = i64::try_from((length + i128::from(most) - 1) / i128::from(most)).ok()?;
        let start = range.start.0.div_euclid(width).checked_mul(width)?;
        let covered = i128::from(range.end.0) - i128::from(start);
        let count = u32::try_from((covered + i128::from(width) - 1) / i128::from(width)).ok()?;
        Some(Self { start: Time(start), width: Nanos(width), count })
    }

    /// Where column `column` begins and the one before it ends.
    pub fn edge(&self, column: u32) -> Time {
        self.start + Nanos(self.width.0.saturating_mul(i64::from(column)))
    }

    /// Adds what of `uses` lies in each column to `amounts`: column after column, each with one for each group.
    ///
    /// For a single query, where an index would not pay.
    pub fn add_up(&self, uses: &impl Uses, amounts: &mut [Nanos]) {
        let groups = uses.groups();
        let column_of = |time: Time| (time - self.start).0.div_euclid(self.width.0);
        for it in (0..uses.len()).map(|item| uses.get(item)) {
            // What is used until an edge belongs to the column before it.
            let last = column_of(it.end + Nanos(-1));
            let first = column_of(it.start).clamp(0, last.max(0));
            let mut before = it.amount_before(self.start);
            for column in first..=last.min(i64::from(self.count) - 1) {
                let column = u32::try_from(column).expect("between 0 and the number of columns");
                let until = it.amount_before(self.edge(column + 1));
                amounts[column as usize * groups + usize::from(it.group)] += Nanos(until - before);
                before = until;
            }
        }
    }
}

impl<U: Uses> Activity<U> {
    /// Builds the index.
    pub fn build(uses: U) -> Self {
        let groups = uses.groups();
        let mut block_ends = Vec::with_capacity(uses.len().div_ceil(BLOCK));
        let mut sums = Vec::with_capacity((uses.len().div_ceil(BLOCK) + 1) * groups);
        let mut so_far = vec![0i64; groups];
        let mut item = 0;
        sums.extend_from_slice(&so_far);
        while item < uses.len() {
            let end = uses.len().min(item + BLOCK);
            let mut last = Time(i64::MIN);
            for it in (item..end).map(|item| uses.get(item)) {
                let sum = &mut so_far[usize::from(it.group)];
                *sum = sum.saturating_add(it.amount.0);
                last = it.end;
            }
            block_ends.push(last);
            sums.extend_from_slice(&so_far);
            item = end;
        }
        Self { uses, block_ends, sums }
    }

    /// What it was built over.
    pub fn uses(&self) -> &U {
        &self.uses
    }

    /// How many bytes the index takes, besides the uses.
    pub fn index_bytes(&self) -> usize {
        size_of_val(&*self.block_ends) + size_of_val(&*self.sums)
    }

    /// Puts into `amounts` how much was used in each column: column after column, each with one for each group.
    pub fn query(&self, columns: Columns, amounts: &mut Vec<Nanos>) {
        let groups = self.uses.groups();
        amounts.clear();
        amounts.reserve(columns.count as usize * groups);
        let (mut before, mut until) = (vec![0; groups], vec![0; groups]);
        let mut block = self.block_after(0, columns.start);
        self.sum_up(columns.start, block, &mut before);
        for column in 0..columns.count {
            let edge = columns.edge(column + 1);
            block = self.block_after(block, edge);
            self.sum_up(edge, block, &mut until);
            amounts.extend(until.iter().zip(&before).map(|(until, before)| Nanos(until - before)));
            std::mem::swap(&mut before, &mut until);
        }
    }

    /// The first block from `from` on that does not end before `time`.
    fn block_after(&self, from: usize, time: Time) -> usize {
        // Mostly it is near: the step is doubled until it is too far, then halved.
        let ends = &self.block_ends[from..];
        let mut reach = 1;
        while reach < ends.len() && ends[reach - 1] <= time {
            reach *= 2;
        }
        let (low, high) = (reach / 2, reach.min(ends.len()));
        from + low + ends[low..high].partition_point(|end| *end <= time)
    }

    /// What was used before `time`, which lies in `block` or between it and the one before.
    fn sum_up(&self, time: Time, block: usize, sums: &mut [i64]) {
        sums.copy_from_slice(&self.sums[block * sums.len()..(block + 1) * sums.len()]);
        let first = block * BLOCK;
        for it in (first..self.uses.len().min(first + BLOCK)).map(|item| self.uses.get(item)) {
            let sum = &mut sums[usize::from(it.group)];
            *sum = sum.saturating_add(it.amount_before(time));
            if it.end > time {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop, proptest};

    use super::super::uses::{SpanUses, Use};
    use super::*;

    const GROUPS: usize = 3;

    #[derive(Debug)]
    struct List(Vec<Use>);

    impl Uses for List {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn groups(&self) -> usize {
            GROUPS
        }

        fn get(&self, item: usize) -> Use {
            self.0[item]
        }
    }

    fn lists() -> impl Strategy<Value = List> {
        let part = (0..40i64, 0..60i64, 0..100i64, 0..GROUPS as u8, any::<bool>());
        (-500..500i64, prop::collection::vec(part, 0..200)).prop_map(|(origin, parts)| {
            let mut end = origin;
            let place = |(gap, length, amount, group, far): (i64, i64, i64, u8, bool)| {
                let start = end + if far { gap * 50 } else { gap / 20 };
                end = start + length;
                Use { start: Time(start), end: Time(end), amount: Nanos(amount), group }
            };
            List(parts.into_iter().map(place).collect())
        })
    }

    /// Nanosecond by nanosecond, from what is used before each.
    fn by_definition(list: &List, columns: Columns) -> Vec<Nanos> {
        let used = |from: Time, to: Time, group: usize| -> i64 {
            let of_group = list.0.iter().filter(|it| usize::from(it.group) == group);
            let before = |it: &Use, time: Time| match (it.end.0 - it.start.0, time.0 - it.start.0) {
                (0, since) => it.amount.0 * i64::from(since >= 0),
                (length, since) => it.amount.0 * since.clamp(0, length) / length,
            };
            of_group.map(|it| before(it, to) - before(it, from)).sum()
        };
        let columns = (0..columns.count).map(|it| (columns.edge(it), columns.edge(it + 1)));
        columns.flat_map(|(from, to)| (0..GROUPS).map(move |group| Nanos(used(from, to, group)))).collect()
    }

    proptest! {
        #[test]
        fn columns_have_what_adding_up_each_use_gives(
            list in lists(), start in -1000..8000i64, width in 1..3000i64, count in 0..60u32
        ) {
            let columns = Columns { start: Time(start), width: Nanos(width), count };
            let expected = by_definition(&list, columns);
            let mut added = vec![Nanos::ZERO; count as usize * GROUPS];
            columns.add_up(&list, &mut added);
            assert_eq!(added, expected, "added up");
            let mut found = vec![Nanos(77)];
            Activity::build(list).query(columns, &mut found);
            assert_eq!(found, expected, "by the index");
        }

        #[test]
        fn all_that_was_used_is_in_some_column(list in lists(), most in 1..500u32) {
            let total: Nanos = list.0.iter().map(|it| it.amount).sum();
            let start = list.0.first().map_or(0, |it| it.start.0 - 1);
            let end = list.0.last().map_or(1, |it| it.end.0);
            let range = TimeRange { start: Time(start), end: Time(end) };
            let columns = Columns::covering(range, most).expect("it is not empty");
            assert!(columns.count <= most + 1 && columns.edge(0) <= range.start);
            assert!(columns.edge(columns.count) >= range.end);
            let mut amounts = Vec::new();
            Activity::build(list).query(columns, &mut amounts);
            assert_eq!(amounts.into_iter().sum::<Nanos>(), total);
        }

        #[test]
        fn panning_changes_no_column(list in lists(), start in -500..2000i64, by in 0..2000i64, most in 1..100u32) {
            let range = |start| TimeRange { start: Time(start), end: Time(start + 3000) };
            let index = Activity::build(list);
            let columns = |start| {
                let columns = Columns::covering(range(start), most).expect("it is not empty");
                let mut amounts = Vec::new();
                index.query(columns, &mut amounts);
                let edges = (0..columns.count).map(move |column| columns.edge(column));
                edges.zip(amounts.chunks(GROUPS).map(<[_]>::to_vec).collect::<Vec<_>>()).collect::<Vec<_>>()
            };
            let (here, there) = (columns(start), columns(start + by));
            for (edge, amounts) in &here {
                assert!(there.iter().filter(|it| it.0 == *edge).all(|it| it.1 == *amounts));
            }
        }
    }

    #[test]
    fn spans_that_overlap_are_counted_once() {
        let spans = [(0, 10, 0), (5, 10, 1), (6, 2, 2), (15, 0, 0), (20, -5, 1)];
        let spans = spans.map(|(start, duration, group)| (Time(start), Nanos(duration), group));
        let uses = SpanUses::new(3, spans.into_iter());
        let columns = Columns { start: Time(0), width: Nanos(20), count: 1 };
        let mut amounts = Vec::new();
        Activity::build(uses).query(columns, &mut amounts);
        assert_eq!(amounts, [Nanos(10), Nanos(5), Nanos(0)]);
    }

    #[test]
    fn the_ends_of_time_do_no_harm() {
        let spans = [(i64::MIN, 5), (0, 5), (i64::MAX - 5, i64::MAX)];
        let uses = SpanUses::new(1, spans.into_iter().map(|(start, length)| (Time(start), Nanos(length), 0)));
        let index = Activity::build(uses);
        let mut amounts = Vec::new();
        for start in [i64::MIN, -7, i64::MAX - 7] {
            let columns = Columns { start: Time(start), width: Nanos(i64::MAX / 2), count: 5 };
            index.query(columns, &mut amounts);
            columns.add_up(index.uses(), &mut [Nanos::ZERO; 5]);
        }
        assert_eq!(Columns::covering(TimeRange { start: Time(5), end: Time(5) }, 10), None);
        assert_eq!(Columns::covering(TimeRange { start: Time(0), end: Time(5) }, 0), None);
        Columns::covering(TimeRange::ALL, 1000);
    }
}

//! Which part of a call tree the text has: what is heavy enough, and of that the heaviest, as far as there is room.

use super::calls::Calls;

/// The part of a call tree that is shown.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Kept {
    /// By node: whether it is shown. Where one is, its callers are.
    pub(super) is_kept: Vec<bool>,
    /// What is shown.
    pub(super) shown: Part,
    /// What is too light.
    pub(super) small: Part,
    /// What there was no room for.
    pub(super) over: Part,
}

/// Some nodes of a call tree.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Part {
    /// How many.
    pub(super) nodes: usize,
    /// What was counted in them, not below.
    pub(super) own: f64,
}

/// What a piece of the text takes: letters, and mentions of numbers whose length is known only when all is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cost {
    /// Letters.
    pub(super) chars: usize,
    /// Mentions of nodes.
    pub(super) nodes: usize,
    /// Mentions of files.
    pub(super) files: usize,
}

impl Kept {
    /// The nodes with at least this share.
    pub(super) fn at_least(calls: &Calls<'_>, min_percent: f64) -> Self {
        let mut is_kept: Vec<bool> = Vec::with_capacity(calls.nodes.len());
        for node in &calls.nodes {
            let is_reached = node.parent.is_none_or(|parent| is_kept[parent as usize]);
            is_kept.push(is_reached && calls.percent(node.weight) >= min_percent);
        }
        let (shown, small) = parts(calls, &is_kept, &vec![true; is_kept.len()]);
        Self { is_kept, shown, small, over: Part::default() }
    }

    /// These nodes, the heaviest first. Any number from the beginning are a tree: callers weigh as much as what they called, or
    /// more, and come before it.
    pub(super) fn heaviest_first(&self, calls: &Calls<'_>) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).zip(&self.is_kept).filter(|(_, is_kept)| **is_kept).map(|(at, _)| at).collect();
        order.sort_by(|left, right| {
            let weight = |at: &u32| calls.nodes[*at as usize].weight;
            weight(right).total_cmp(&weight(left))
        });
        order
    }

    /// Of these nodes only `nodes`; for the others there is no room.
    pub(super) fn only(&self, calls: &Calls<'_>, nodes: &[u32]) -> Self {
        let mut is_kept = vec![false; self.is_kept.len()];
        nodes.iter().for_each(|node| is_kept[*node as usize] = true);
        let (shown, over) = parts(calls, &is_kept, &self.is_kept);
        Self { is_kept, shown, small: self.small, over }
    }
}

/// Of `all` nodes those that are kept, and the others.
fn parts(calls: &Calls<'_>, is_kept: &[bool], all: &[bool]) -> (Part, Part) {
    let (mut kept, mut others) = (Part::default(), Part::default());
    for (at, node) in calls.nodes.iter().enumerate().filter(|(at, _)| all[*at]) {
        let part = if is_kept[at] { &mut kept } else { &mut others };
        part.nodes += 1;
        part.own += node.own;
    }
    (kept, others)
}

impl Cost {
    /// The most letters that it can be where numbers of nodes go up to `nodes`, and there are so many files.
    pub(super) fn most(self, nodes: usize, files: usize) -> usize {
        // Each node is named where it stands, and those that are named again are, at worst, the last.
        let named = digits_of_last(nodes, nodes) + digits_of_last(self.nodes.saturating_sub(nodes), nodes);
        self.chars + named + self.files * digits(files.saturating_sub(1))
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, rhs: Self) {
        self.chars += rhs.chars;
        self.nodes += rhs.nodes;
        self.files += rhs.files;
    }
}

/// How long the last `count` numbers up to `end` are together.
fn digits_of_last(count: usize, end: usize) -> usize {
    let (mut sum, mut end, mut left) = (0, end, count.min(end));
    while left > 0 {
        let digits = digits(end);
        let with_as_many = end - (10_usize.pow(u32::try_from(digits - 1).unwrap_or(0)) - 1);
        let taken = with_as_many.min(left);
        sum += taken * digits;
        left -= taken;
        end -= taken;
    }
    sum
}

/// How long a number is.
pub(super) fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_much_as_written_out() {
        for (count, end) in [(0, 0), (0, 5), (1, 1), (5, 5), (3, 12), (12, 12), (1005, 1007), (1234, 1234)] {
            let written: usize = (end - count + 1..=end).map(|number| number.to_string().len()).sum();
            assert_eq!(digits_of_last(count, end), written, "{count} up to {end}");
        }
        assert_eq!([0, 9, 10, 100].map(digits), [1, 1, 2, 3]);
    }
}

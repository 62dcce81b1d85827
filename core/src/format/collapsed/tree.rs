//! Stacks of equal names added up, and put in order.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::measure::Value;

/// Sums by stack.
pub(super) struct Tree {
    /// The caller and the name of each node; a caller has the smaller number.
    nodes: Vec<(Option<u32>, u32)>,
    index: FxHashMap<(Option<u32>, u32), u32>,
    sums: Sums,
    /// Values that are infinite or no numbers.
    pub not_finite: u64,
}

enum Sums {
    Whole(Vec<i128>),
    Fractional(Vec<f64>),
}

/// What became of the sums.
#[derive(Default)]
pub(super) struct Written {
    /// How many stacks add up to less than nothing.
    pub negative: u64,
    /// How many add up to something that is too small to be written.
    pub too_small: u64,
}

impl Tree {
    pub(super) fn new(is_fractional: bool) -> Self {
        let sums = if is_fractional { Sums::Fractional(Vec::new()) } else { Sums::Whole(Vec::new()) };
        Self { nodes: Vec::new(), index: FxHashMap::default(), sums, not_finite: 0 }
    }

    /// The node below `caller` of the frame with the number `name`.
    pub(super) fn node(&mut self, caller: Option<u32>, name: u32) -> u32 {
        *self.index.entry((caller, name)).or_insert_with(|| {
            self.nodes.push((caller, name));
            match &mut self.sums {
                Sums::Whole(sums) => sums.push(0),
                Sums::Fractional(sums) => sums.push(0.0),
            }
            u32::try_from(self.nodes.len() - 1).expect("stacks have fewer than u32::MAX nodes")
        })
    }

    pub(super) fn add(&mut self, node: u32, value: Value) {
        match (&mut self.sums, value) {
            (_, Value::Fraction(value)) if !value.is_finite() => self.not_finite += 1,
            (Sums::Whole(sums), Value::Whole(value)) => sums[node as usize] += i128::from(value),
            (Sums::Fractional(sums), Value::Fraction(value)) => sums[node as usize] += value,
            (Sums::Fractional(sums), Value::Whole(value)) => sums[node as usize] += to_float(value),
            (Sums::Whole(_), Value::Fraction(_)) => unreachable!("whether there are fractions is known beforehand"),
        }
    }

    /// Writes a line for each stack with a sum. Sums are divided by `divisor` and rounded, unless that is 1.
    pub(super) fn write(&self, names: &[String], divisor: i128, out: &mut dyn Write) -> io::Result<Written> {
        let children = self.children(names);
        let mut written = Written::default();
        let mut line = Vec::new();
        // Nodes to visit, each with how much of the line is its caller's.
        let mut next: Vec<(u32, usize)> = children.of(None).rev().map(|node| (node, 0)).collect();
        while let Some((node, callers)) = next.pop() {
            line.truncate(callers);
            if callers > 0 {
                line.push(b';');
            }
            line.extend_from_slice(names[self.nodes[node as usize].1 as usize].as_bytes());
            let len = line.len();
            if self.push_sum(node, divisor, &mut line, &mut written) {
                out.write_all(&line)?;
            }
            next.extend(children.of(Some(node)).rev().map(|child| (child, len)));
        }
        Ok(written)
    }

    /// Adds what ends the line of `node`, if it has one.
    fn push_sum(&self, node: u32, divisor: i128, line: &mut Vec<u8>, written: &mut Written) -> bool {
        let (is_something, rounded, fraction) = match &self.sums {
            Sums::Whole(sums) => {
                let sum = sums[node as usize];
                let half = if sum < 0 { -divisor / 2 } else { divisor / 2 };
                (sum != 0, (sum + half) / divisor, None)
            }
            Sums::Fractional(sums) => {
                let sum = sums[node as usize];
                (sum != 0.0, 0, Some(sum))
            }
        };
        let is_zero = fraction.map_or(rounded == 0, |sum| sum == 0.0);
        written.too_small += u64::from(is_something && is_zero);
        if is_zero {
            return false;
        }
        written.negative += u64::from(rounded < 0 || fraction.is_some_and(|sum| sum < 0.0));
        let text = fraction.map_or_else(|| format!(" {rounded}\n"), |sum| format!(" {sum}\n"));
        line.extend_from_slice(text.as_bytes());
        true
    }

    /// The nodes by caller, callees of one in the order of their names.
    fn children(&self, names: &[String]) -> Children {
        let mut by_name: Vec<u32> = (0..len(names)).collect();
        by_name.sort_unstable_by_key(|name| &names[*name as usize]);
        let mut rank = vec![0; names.len()];
        for (place, name) in (0_u32..).zip(by_name) {
            rank[name as usize] = place;
        }
        let key = |node: &u32| {
            let (caller, name) = self.nodes[*node as usize];
            (caller, rank[name as usize])
        };
        let mut sorted: Vec<u32> = (0..len(&self.nodes)).collect();
        sorted.sort_unstable_by_key(key);
        // One entry for each node and one for no caller, which comes first.
        let mut first = vec![0; self.nodes.len() + 2];
        for (caller, _) in &self.nodes {
            first[Children::row(*caller) + 1] += 1;
        }
        for row in 1..first.len() {
            first[row] += first[row - 1];
        }
        Children { sorted, first }
    }
}

struct Children {
    sorted: Vec<u32>,
    /// Where the callees of each caller begin.
    first: Vec<usize>,
}

impl Children {
    fn row(caller: Option<u32>) -> usize {
        caller.map_or(0, |caller| caller as usize + 1)
    }

    fn of(&self, caller: Option<u32>) -> impl DoubleEndedIterator<Item = u32> {
        let row = Self::row(caller);
        self.sorted[self.first[row]..self.first[row + 1]].iter().copied()
    }
}

fn len<T>(table: &[T]) -> u32 {
    u32::try_from(table.len()).expect("tables have fewer than u32::MAX rows")
}

#[expect(clippy::cast_precision_loss, reason = "weights beyond 2^53 are not exact in any format")]
fn to_float(whole: i64) -> f64 {
    whole as f64
}

//! Stacks with what they add up to, put in order.

use std::io::{self, Write};

use super::measure::Value;

/// The stacks of threads that are written as one, as a tree. Nodes of one caller can have the same name: they are one when
/// it is written.
pub(super) struct Tree {
    callers: Vec<Option<u32>>,
    names: Vec<u32>,
    sums: Sums,
}

enum Sums {
    Whole(Vec<i128>),
    Fractional(Vec<f64>),
}

/// What became of the sums.
#[derive(Default)]
pub(super) struct Written {
    pub lines: u64,
    /// Values that are infinite or no numbers, and are left out.
    pub not_finite: u64,
    /// Values beyond 64 bits, for which the largest number stands.
    pub too_large: u64,
    /// How many stacks add up to less than nothing.
    pub negative: u64,
    /// How many add up to something that is too small to be written.
    pub too_small: u64,
}

/// Nodes that have the same name and callers of the same names.
#[derive(Clone, Copy)]
struct Same {
    /// Where they begin in the list of nodes that are to be visited; they are the last there when their turn comes.
    first: usize,
    /// How much of the line is their callers'.
    callers: usize,
}

impl Tree {
    pub(super) fn new(is_fractional: bool) -> Self {
        let sums = if is_fractional { Sums::Fractional(Vec::new()) } else { Sums::Whole(Vec::new()) };
        Self { callers: Vec::new(), names: Vec::new(), sums }
    }

    /// A new node below `caller` of the frame with the number `name`.
    pub(super) fn push(&mut self, caller: Option<u32>, name: u32) -> u32 {
        self.callers.push(caller);
        self.names.push(name);
        match &mut self.sums {
            Sums::Whole(sums) => sums.push(0),
            Sums::Fractional(sums) => sums.push(0.0),
        }
        u32::try_from(self.names.len() - 1).expect("stacks have fewer than u32::MAX nodes")
    }

    pub(super) fn add(&mut self, node: u32, value: Value, written: &mut Written) {
        match (&mut self.sums, value) {
            (_, Value::Fraction(value)) if !value.is_finite() => written.not_finite += 1,
            (Sums::Whole(sums), Value::Whole(value)) => {
                // So that no number of them is too large for a sum.
                let kept = value.clamp(i64::MIN.into(), i64::MAX.into());
                written.too_large += u64::from(kept != value);
                sums[node as usize] += kept;
            }
            (Sums::Fractional(sums), Value::Fraction(value)) => sums[node as usize] += value,
            (Sums::Fractional(sums), Value::Whole(value)) => sums[node as usize] += to_float(value),
            (Sums::Whole(_), Value::Fraction(_)) => unreachable!("whether there are fractions is known beforehand"),
        }
    }

    /// Writes a line for each stack with a sum, in the order of their frames. Whole sums are divided by `divisor` and
    /// rounded.
    pub(super) fn write(
        &self,
        texts: &[String],
        divisor: i128,
        out: &mut dyn Write,
        written: &mut Written,
    ) -> io::Result<()> {
        let callees = Callees::of(&self.callers);
        let mut line = Vec::new();
        let (mut nodes, mut turns, mut below) = (Vec::new(), Vec::new(), callees.of_caller(None).to_vec());
        self.push_turns(&mut below, texts, 0, (&mut nodes, &mut turns));
        while let Some(Same { first, callers }) = turns.pop() {
            line.truncate(callers);
            if callers > 0 {
                line.push(b';');
            }
            let same = &nodes[first..];
            line.extend_from_slice(texts[self.names[same[0] as usize] as usize].as_bytes());
            let len = line.len();
            if self.push_sum(same, divisor, &mut line, written) {
                out.write_all(&line)?;
                written.lines += 1;
            }
            below.clear();
            same.iter().for_each(|node| below.extend_from_slice(callees.of_caller(Some(*node))));
            nodes.truncate(first);
            self.push_turns(&mut below, texts, len, (&mut nodes, &mut turns));
        }
        Ok(())
    }

    /// Adds callees to what is to be visited, the first name last.
    fn push_turns(
        &self,
        callees: &mut [u32],
        texts: &[String],
        callers: usize,
        (nodes, turns): (&mut Vec<u32>, &mut Vec<Same>),
    ) {
        let name = |node: &u32| self.names[*node as usize];
        callees.sort_by(|a, b| texts[name(b) as usize].cmp(&texts[name(a) as usize]));
        for same in callees.chunk_by(|a, b| name(a) == name(b)) {
            turns.push(Same { first: nodes.len(), callers });
            nodes.extend_from_slice(same);
        }
    }

    /// Adds what ends the line of some nodes, if they add up to something.
    fn push_sum(&self, nodes: &[u32], divisor: i128, line: &mut Vec<u8>, written: &mut Written) -> bool {
        // Memory takes all that is written to it.
        match &self.sums {
            Sums::Whole(sums) => {
                let sum: i128 = nodes.iter().map(|node| sums[*node as usize]).sum();
                let half = if sum < 0 { -divisor / 2 } else { divisor / 2 };
                let rounded = (sum + half) / divisor;
                written.negative += u64::from(rounded < 0);
                written.too_small += u64::from(sum != 0 && rounded == 0);
                rounded != 0 && writeln!(line, " {rounded}").is_ok()
            }
            Sums::Fractional(sums) => {
                let sum: f64 = nodes.iter().map(|node| sums[*node as usize]).sum();
                let sum = sum.clamp(f64::MIN, f64::MAX);
                written.negative += u64::from(sum < 0.0);
                sum != 0.0 && writeln!(line, " {sum}").is_ok()
            }
        }
    }
}

/// The nodes by their callers.
struct Callees {
    sorted: Vec<u32>,
    /// Where those of each caller begin.
    first: Vec<u32>,
}

impl Callees {
    fn of(callers: &[Option<u32>]) -> Self {
        // A place for no caller, one for each caller, and one for the end.
        let mut first = vec![0; callers.len() + 2];
        callers.iter().for_each(|caller| first[Self::row(*caller) + 1] += 1);
        for row in 1..first.len() {
            first[row] += first[row - 1];
        }
        let mut next = first.clone();
        let mut sorted = vec![0; callers.len()];
        for (node, caller) in (0..).zip(callers) {
            let place = &mut next[Self::row(*caller)];
            sorted[*place as usize] = node;
            *place += 1;
        }
        Self { sorted, first }
    }

    fn row(caller: Option<u32>) -> usize {
        caller.map_or(0, |caller| caller as usize + 1)
    }

    fn of_caller(&self, caller: Option<u32>) -> &[u32] {
        let row = Self::row(caller);
        &self.sorted[self.first[row] as usize..self.first[row + 1] as usize]
    }
}

#[expect(clippy::cast_precision_loss, reason = "weights beyond 2^53 are not exact in any format")]
fn to_float(whole: i128) -> f64 {
    whole as f64
}

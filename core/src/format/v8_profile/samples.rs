//! Samples: which stack, when, and for how long.

use rustc_hash::FxHashMap;

use super::tree::Stacks;
use super::{Ticks, V8Profile};
use crate::format::import_report::{ImportReport, Note};
use crate::model::{CpuDelta, Frame, Nanos, ProfileBuilder, SampleTable, StackId, Time, Values};

const NO_NODE: Note =
    Note { code: "samples-without-node", message: "samples whose node is not in the profile have no stack" };
const LENGTHS_DIFFER: Note =
    Note { code: "samples-without-time", message: "samples without a time, and times without a sample, are left out" };
const NO_TIMES: Note = Note { code: "times-missing", message: "samples without times are spread evenly" };
const OUT_OF_ORDER: Note =
    Note { code: "samples-out-of-order", message: "samples are brought in order of their times" };
const ONLY_HITS: Note =
    Note { code: "samples-missing", message: "without samples, nodes count as often as they were hit, at no time" };

/// What a profile came to.
pub(in crate::format) struct Sampled {
    pub samples: SampleTable,
    /// Whether it has times.
    pub timed: bool,
    /// The usual distance of two samples.
    pub interval: Option<Nanos>,
}

impl V8Profile {
    /// The samples of the profile, which ended at `end` from its start.
    pub(in crate::format) fn finish(
        mut self,
        end: Option<Time>,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Sampled {
        self.link(report);
        if self.samples.is_empty() {
            return self.hits(builder, report);
        }
        self.match_times(end, report);
        self.sort(report);
        let interval = mean_distance(&self.times);
        let mut cpu = lengths(&self.times, interval, end);
        let stack = self.stacks(&mut cpu, builder, report);
        Sampled {
            samples: SampleTable { time: self.times, stack, cpu, ..SampleTable::default() },
            timed: true,
            interval,
        }
    }

    /// Without samples: each node with its hits.
    fn hits(self, builder: &mut ProfileBuilder, report: &mut ImportReport) -> Sampled {
        let mut stacks = Stacks::new(&self.tree);
        let (mut stack, mut weights) = (Vec::new(), Vec::new());
        for (row, node) in (0..).zip(&self.tree.nodes) {
            if node.hits > 0 {
                stack.push(stacks.get(&self.tree, row, builder, report));
                weights.push(i64::from(node.hits));
            }
        }
        report.note(ONLY_HITS, || "samples".to_owned());
        let samples = SampleTable { stack, weight: Values::Integer(weights), ..SampleTable::default() };
        Sampled { samples, timed: false, interval: None }
    }

    /// Gives each sample a time.
    fn match_times(&mut self, end: Option<Time>, report: &mut ImportReport) {
        let (samples, times) = (self.samples.len(), self.times.len());
        if times == 0 {
            let end = end.map_or(0, |end| i128::from(end.0.max(0)));
            let time = |row: usize| i64::try_from(end * row as i128 / samples as i128).unwrap_or(i64::MAX);
            self.times = (0..samples).map(|row| Time(time(row))).collect();
            report.note(NO_TIMES, || "timeDeltas".to_owned());
            return;
        }
        let place = || format!("{samples} samples, {times} times");
        report.count(LENGTHS_DIFFER, samples.abs_diff(times) as u64, place);
        self.samples.truncate(times);
        self.times.truncate(samples);
    }

    /// Brings samples in order of time; of those at one time the first stays the first.
    fn sort(&mut self, report: &mut ImportReport) {
        let is_back = |pair: &[Time]| pair[1] < pair[0];
        let Some(first) = self.times.windows(2).position(is_back) else { return };
        let back = self.times.windows(2).filter(|pair| is_back(pair)).count();
        report.count(OUT_OF_ORDER, back as u64, || format!("samples[{}]", first + 1));
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        order.sort_by_key(|row| self.times[*row]);
        self.samples = order.iter().map(|row| self.samples[*row]).collect();
        if !self.lines.is_empty() {
            self.lines = order.iter().map(|row| self.lines.get(*row).copied().unwrap_or(0)).collect();
        }
        self.times.sort_unstable();
    }

    /// The stack of each sample. What was idle used no CPU.
    fn stacks(
        &mut self,
        cpu: &mut [CpuDelta],
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Vec<Option<StackId>> {
        let mut lines = NodeLines::new(std::mem::take(&mut self.ticks));
        let mut stacks = Stacks::new(&self.tree);
        let mut column = Vec::with_capacity(self.samples.len());
        for (index, (id, cpu)) in self.samples.iter().zip(cpu).enumerate() {
            let Some(row) = self.rows.get(id).copied() else {
                report.note(NO_NODE, || format!("samples[{index}]: node {id}"));
                column.push(None);
                continue;
            };
            let mut stack = stacks.get(&self.tree, row, builder, report);
            let code = self.tree.nodes[row as usize].code;
            if code.is_some_and(|code| code.is_idle) {
                *cpu = CpuDelta::new(Nanos::ZERO);
            }
            let given = self.lines.get(index).copied().filter(|line| *line > 0);
            if let (Some(line), Some(code)) = (given.or_else(|| lines.next(row)), code) {
                let caller = stacks.of_caller(&self.tree, row, builder);
                let at_line = Frame { line: Some(line), ..builder.tables().frames.get(code.frame) };
                let frame = builder.frame(at_line);
                stack = Some(builder.stack(caller, frame));
            }
            column.push(stack);
        }
        column
    }
}

/// The lines that nodes were met in, dealt out.
struct NodeLines {
    /// By node.
    ticks: Vec<Ticks>,
    /// The ticks of each node that were not dealt out yet.
    next: FxHashMap<u32, usize>,
}

impl NodeLines {
    fn new(mut ticks: Vec<Ticks>) -> Self {
        ticks.sort_by_key(|ticks| ticks.row);
        let mut next = FxHashMap::default();
        for (index, ticks) in ticks.iter().enumerate() {
            next.entry(ticks.row).or_insert(index);
        }
        Self { ticks, next }
    }

    fn next(&mut self, row: u32) -> Option<u32> {
        let next = self.next.get_mut(&row)?;
        let ticks = self.ticks.get_mut(*next).filter(|ticks| ticks.row == row)?;
        ticks.count -= 1;
        if ticks.count == 0 {
            *next += 1;
        }
        Some(ticks.line)
    }
}

fn mean_distance(times: &[Time]) -> Option<Nanos> {
    let (first, last) = (times.first()?, times.last()?);
    let distances = i64::try_from(times.len() - 1).ok()?;
    let mean = (*last - *first).0.checked_div(distances)?;
    (mean > 0).then_some(Nanos(mean))
}

/// How long each sample lasts.
fn lengths(times: &[Time], mean: Option<Nanos>, end: Option<Time>) -> Vec<CpuDelta> {
    let mut lengths = Vec::with_capacity(times.len());
    lengths.extend(times.windows(2).map(|pair| CpuDelta::new(pair[1] - pair[0])));
    if let Some(last) = times.last() {
        let rest = end.map(|end| end - *last).filter(|rest| *rest > Nanos::ZERO);
        let length = match (mean, rest) {
            (Some(mean), Some(rest)) => mean.min(rest),
            (mean, rest) => mean.or(rest).unwrap_or_default(),
        };
        lengths.push(CpuDelta::new(length));
    }
    lengths
}

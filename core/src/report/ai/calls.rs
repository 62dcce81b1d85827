//! The call tree as the text has it: what reads the same below one caller is one node.

use rustc_hash::FxHashMap;

use super::naming::{Name, Namer, row};
use crate::analysis::{Callee, StackValues, Whole, percent};
use crate::model::Profile;

/// A call tree of which no two siblings read the same.
#[derive(Debug)]
pub(super) struct Calls<'p> {
    /// Callers before what they called.
    pub(super) nodes: Vec<Call>,
    /// What nodes are called.
    pub(super) names: Vec<Name<'p>>,
    /// Source files; of functions without one the crate or library. Escaped.
    pub(super) files: Vec<String>,
    /// The names by what was counted in them alone, the most first.
    pub(super) hottest: Vec<Hot>,
    /// What the weights of nodes are shares of.
    weight: f64,
}

/// What is below each node, the heaviest first, then by name.
#[derive(Debug)]
pub(super) struct Children {
    /// By parent, those without one at the end.
    children: Vec<u32>,
    /// Where those of each begin.
    starts: Vec<u32>,
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Index of its name.
    pub(super) name: u32,
    /// Index of the node around it.
    pub(super) parent: Option<u32>,
    /// What was counted in itself.
    pub(super) own: f64,
    /// What was counted in it and below.
    pub(super) total: f64,
    /// The sum of the absolute values of all that is counted in it and below: what is freed weighs, too.
    pub(super) weight: f64,
    /// Its line with the most of the total; where none is known the line in which the function begins.
    pub(super) line: Option<u32>,
}

/// A name with what was counted in it alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hot {
    /// Index of the name.
    pub(super) name: u32,
    /// How much.
    pub(super) own: f64,
    /// The line with the most of it; where none is known the line in which the function begins.
    pub(super) line: Option<u32>,
}

/// Nodes by what is around them and what they are called.
#[derive(Default)]
struct Finder {
    nodes: Vec<Call>,
    known: FxHashMap<u64, u32>,
}

/// Lines through which amounts passed, by node or name.
type Passed = Vec<(u32, u32, f64)>;

impl<'p> Calls<'p> {
    /// The call tree of `values`: [`call_tree`](crate::analysis::call_tree), but merged by what reads the same.
    pub(super) fn of(profile: &'p Profile, values: &StackValues) -> Self {
        let mut namer = Namer::of(profile);
        let mut finder = Finder::default();
        let (mut of_nodes, mut of_names) = (Passed::new(), Passed::new());
        let totals = values.totals(&profile.stacks);
        let mut node_of_stack: Vec<Option<u32>> = vec![None; totals.len()];
        for (stack, total) in totals.iter().enumerate().filter(|(_, total)| total.samples > 0) {
            let frame = profile.stacks.frame[stack].index();
            let parent = profile.stacks.prefix[stack].and_then(|prefix| node_of_stack[prefix.index()]);
            let name = namer.number(Callee::Function(profile.frames.function[frame]));
            let node = finder.node(parent, name);
            let own = values.own[stack].value;
            finder.nodes[node as usize].own += own;
            node_of_stack[stack] = Some(node);
            if let Some(line) = profile.frames.line[frame] {
                of_nodes.push((node, line, total.value));
                of_names.push((name, line, own));
            }
        }
        for waits in &values.waits {
            let parent = waits.stack.and_then(|stack| node_of_stack[stack.index()]);
            let leaf = finder.node(parent, namer.number(Callee::Wait(values.wait_kinds[waits.kind])));
            finder.nodes[leaf as usize].own += waits.amount.value;
        }
        let mut nodes = finder.nodes;
        let weight = add_up(&mut nodes, &values.whole());
        let (names, files) = namer.finish();
        nodes.iter_mut().for_each(|node| node.line = names[node.name as usize].first_line);
        for (node, line) in busiest(of_nodes) {
            nodes[node as usize].line = Some(line);
        }
        let hottest = hottest(&nodes, &names, of_names);
        Self { nodes, names, files, hottest, weight }
    }

    /// The name of a node.
    pub(super) fn name(&self, node: u32) -> &Name<'p> {
        &self.names[self.nodes[node as usize].name as usize]
    }

    /// The share of a weight in percent.
    pub(super) fn percent(&self, weight: f64) -> f64 {
        percent(weight, self.weight)
    }
}

impl Finder {
    /// The node of this name below `parent`.
    fn node(&mut self, parent: Option<u32>, name: u32) -> u32 {
        let key = parent.map_or(u64::from(u32::MAX), u64::from) << 32 | u64::from(name);
        let nodes = &mut self.nodes;
        *self.known.entry(key).or_insert_with(|| {
            nodes.push(Call { name, parent, own: 0.0, total: 0.0, weight: 0.0, line: None });
            row(nodes.len() - 1)
        })
    }
}

impl Children {
    /// Of the nodes of which `is_kept` says so.
    pub(super) fn of(calls: &Calls<'_>, is_kept: &[bool]) -> Self {
        let nodes = &calls.nodes;
        let kept = || (0..).zip(nodes).zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(node, _)| node);
        let slot_of = |node: &Call| node.parent.map_or(nodes.len(), |parent| parent as usize);
        let mut starts = vec![0; nodes.len() + 2];
        kept().for_each(|(_, node)| starts[slot_of(node) + 1] += 1);
        for slot in 1..starts.len() {
            starts[slot] += starts[slot - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; starts.last().map_or(0, |all| *all as usize)];
        for (index, node) in kept() {
            let slot = &mut next[slot_of(node)];
            children[*slot as usize] = index;
            *slot += 1;
        }
        for ends in starts.windows(2) {
            children[ends[0] as usize..ends[1] as usize].sort_by(|left, right| {
                let by_weight = |node: &u32| nodes[*node as usize].weight;
                let by_name = |node: &u32| &calls.name(*node).text;
                by_weight(right).total_cmp(&by_weight(left)).then_with(|| by_name(left).cmp(by_name(right)))
            });
        }
        Self { children, starts }
    }

    /// The nodes below `parent`, or the outermost ones.
    pub(super) fn below(&self, parent: Option<u32>) -> &[u32] {
        let slot = parent.map_or(self.starts.len() - 2, |parent| parent as usize);
        &self.children[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// Gives nodes their totals and weights; what weights are shares of.
fn add_up(nodes: &mut [Call], whole: &Whole) -> f64 {
    let mut roots = whole.stackless.value.abs();
    for index in (0..nodes.len()).rev() {
        let node = &mut nodes[index];
        node.total += node.own;
        node.weight += node.own.abs();
        let Call { parent, total, weight, .. } = *node;
        match parent {
            Some(parent) => {
                nodes[parent as usize].total += total;
                nodes[parent as usize].weight += weight;
            }
            None => roots += weight,
        }
    }
    // Shares are also of what a search took away.
    roots.max(whole.total.value.abs())
}

/// For each key the line with the most, of equal ones the first; none where nothing was counted.
fn busiest(mut passed: Passed) -> Vec<(u32, u32)> {
    passed.sort_unstable_by_key(|(key, line, _)| (*key, *line));
    let mut best: Vec<(u32, u32, f64)> = Vec::new();
    for same in passed.chunk_by(|left, right| (left.0, left.1) == (right.0, right.1)) {
        let (key, line, _) = same[0];
        let amount = same.iter().map(|(_, _, amount)| amount).sum::<f64>().abs();
        match best.last_mut().filter(|best| best.0 == key) {
            Some(best) if amount > best.2 => *best = (key, line, amount),
            Some(_) => {}
            None => best.push((key, line, amount)),
        }
    }
    best.into_iter().filter(|(_, _, amount)| *amount > 0.0).map(|(key, line, _)| (key, line)).collect()
}

fn hottest(nodes: &[Call], names: &[Name<'_>], passed: Passed) -> Vec<Hot> {
    let hot = |(number, name): (u32, &Name<'_>)| Hot { name: number, own: 0.0, line: name.first_line };
    let mut hottest: Vec<Hot> = (0..).zip(names).map(hot).collect();
    nodes.iter().for_each(|node| hottest[node.name as usize].own += node.own);
    for (name, line) in busiest(passed) {
        hottest[name as usize].line = Some(line);
    }
    hottest.sort_by(|left, right| {
        let by_name = |hot: &Hot| &names[hot.name as usize].text;
        right.own.abs().total_cmp(&left.own.abs()).then_with(|| by_name(left).cmp(by_name(right)))
    });
    hottest
}

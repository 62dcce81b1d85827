//! The call tree as the text has it: what reads the same below one caller is one node.

use rustc_hash::FxHashMap;

use super::naming::{Name, Namer, row};
use crate::analysis::{StackValues, Tree, call_tree, percent};
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
    /// Children by parent, those without one at the end.
    children: Vec<u32>,
    /// Where the children of each begin.
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

/// The nodes by their parent and name.
type Known = FxHashMap<(Option<u32>, u32), u32>;

impl<'p> Calls<'p> {
    /// The call tree of `values`.
    pub(super) fn of(profile: &'p Profile, values: &StackValues) -> Self {
        let tree = call_tree(profile, values);
        let mut namer = Namer::of(profile);
        let mut nodes: Vec<Call> = Vec::with_capacity(tree.len());
        let mut node_of: Vec<u32> = Vec::with_capacity(tree.len());
        let mut known = Known::default();
        for id in tree.ids() {
            let node = tree.node(id);
            let parent = node.parent.map(|parent| node_of[parent.index()]);
            let name = namer.number(node.callee);
            let at = *known.entry((parent, name)).or_insert_with(|| {
                nodes.push(Call { name, parent, own: 0.0, total: 0.0, weight: 0.0, line: None });
                row(nodes.len() - 1)
            });
            nodes[at as usize].own += node.own.value;
            nodes[at as usize].total += node.total.value;
            node_of.push(at);
        }
        let weight = weigh(&mut nodes, &tree);
        let lines = lines(profile, values, &namer, &known);
        let (names, files) = namer.finish();
        for (at, node) in (0..).zip(&mut nodes) {
            node.line = lines.of_nodes.get(&at).copied().or(names[node.name as usize].first_line);
        }
        let hottest = hottest(&nodes, &names, &lines.of_names);
        let mut calls = Self { nodes, names, files, hottest, weight, children: Vec::new(), starts: Vec::new() };
        calls.link();
        calls
    }

    /// The nodes below `parent`, or the outermost ones; the heaviest first.
    pub(super) fn children(&self, parent: Option<u32>) -> &[u32] {
        let slot = parent.map_or(self.nodes.len(), |parent| parent as usize);
        &self.children[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    /// The name of a node.
    pub(super) fn name(&self, node: u32) -> &Name<'p> {
        &self.names[self.nodes[node as usize].name as usize]
    }

    /// The share of a weight in percent.
    pub(super) fn percent(&self, weight: f64) -> f64 {
        percent(weight, self.weight)
    }

    fn link(&mut self) {
        let slot_of = |node: &Call| node.parent.map_or(self.nodes.len(), |parent| parent as usize);
        self.starts = vec![0; self.nodes.len() + 2];
        self.nodes.iter().for_each(|node| self.starts[slot_of(node) + 1] += 1);
        for slot in 1..self.starts.len() {
            self.starts[slot] += self.starts[slot - 1];
        }
        let mut next = self.starts.clone();
        self.children = vec![0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let slot = &mut next[slot_of(node)];
            self.children[*slot as usize] = row(index);
            *slot += 1;
        }
        // They come in the order of their totals, which merging and negative amounts change.
        let nodes = &self.nodes;
        for ends in self.starts.windows(2) {
            let siblings = &mut self.children[ends[0] as usize..ends[1] as usize];
            siblings.sort_by(|left, right| nodes[*right as usize].weight.total_cmp(&nodes[*left as usize].weight));
        }
    }
}

/// Gives nodes their weights; what these are shares of.
fn weigh(nodes: &mut [Call], tree: &Tree) -> f64 {
    let mut roots = tree.whole.stackless.value.abs();
    for index in (0..nodes.len()).rev() {
        nodes[index].weight += nodes[index].own.abs();
        let Call { parent, weight, .. } = nodes[index];
        match parent {
            Some(parent) => nodes[parent as usize].weight += weight,
            None => roots += weight,
        }
    }
    // Shares are also of what a search took away.
    roots.max(tree.whole.total.value.abs())
}

/// Lines in which much was counted.
struct BusyLines {
    /// By node: where most of its total passed.
    of_nodes: FxHashMap<u32, u32>,
    /// By name: where most was counted in itself.
    of_names: FxHashMap<u32, u32>,
}

fn lines(profile: &Profile, values: &StackValues, namer: &Namer<'_>, known: &Known) -> BusyLines {
    let totals = values.totals(&profile.stacks);
    let mut node_of_stack: Vec<Option<u32>> = vec![None; totals.len()];
    let (mut of_nodes, mut of_names) = (Vec::new(), Vec::new());
    for (stack, total) in totals.iter().enumerate().filter(|(_, total)| total.samples > 0) {
        let frame = profile.stacks.frame[stack].index();
        let Some(name) = namer.number_of(profile.frames.function[frame]) else { continue };
        let parent = profile.stacks.prefix[stack].and_then(|prefix| node_of_stack[prefix.index()]);
        let node = known.get(&(parent, name)).copied();
        node_of_stack[stack] = node;
        if let (Some(line), Some(node)) = (profile.frames.line[frame], node) {
            of_nodes.push((node, line, total.value));
            of_names.push((name, line, values.own[stack].value));
        }
    }
    BusyLines { of_nodes: busiest(of_nodes), of_names: busiest(of_names) }
}

/// For each key the line with the most, of equal ones the first; none where nothing was counted.
fn busiest(mut amounts: Vec<(u32, u32, f64)>) -> FxHashMap<u32, u32> {
    amounts.sort_by_key(|(key, line, _)| (*key, *line));
    let mut best: FxHashMap<u32, (u32, f64)> = FxHashMap::default();
    for same in amounts.chunk_by(|left, right| (left.0, left.1) == (right.0, right.1)) {
        let (key, line, _) = same[0];
        let amount = same.iter().map(|(_, _, amount)| amount).sum::<f64>().abs();
        let best = best.entry(key).or_insert((line, 0.0));
        if amount > best.1 {
            *best = (line, amount);
        }
    }
    best.into_iter().filter(|(_, (_, amount))| *amount > 0.0).map(|(key, (line, _))| (key, line)).collect()
}

fn hottest(nodes: &[Call], names: &[Name<'_>], lines: &FxHashMap<u32, u32>) -> Vec<Hot> {
    let hot = |(number, name): (u32, &Name<'_>)| Hot {
        name: number,
        own: 0.0,
        line: lines.get(&number).copied().or(name.first_line),
    };
    let mut hottest: Vec<Hot> = (0..).zip(names).map(hot).collect();
    nodes.iter().for_each(|node| hottest[node.name as usize].own += node.own);
    hottest.sort_by(|left, right| right.own.abs().total_cmp(&left.own.abs()));
    hottest
}

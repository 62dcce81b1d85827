//! The tree that a text has to say, counted the plain way from the samples up.

use std::collections::BTreeMap;

use traceview_core::analysis::{Callee, StackValues, call_tree};
use traceview_core::model::{Profile, StackId};
use traceview_core::report::known_path;

/// A node as it has to be.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) own: f64,
    pub(crate) total: f64,
    /// By line: the total that passed.
    lines: BTreeMap<u32, f64>,
    first_line: Option<u32>,
}

impl Expected {
    /// Lines that may be told: those with the most, else that of the function's start.
    pub(crate) fn may_have(&self, line: Option<u32>) -> bool {
        let most = self.lines.values().fold(0.0, |most: f64, amount| most.max(amount.abs()));
        if most == 0.0 {
            return line == self.first_line;
        }
        line.and_then(|line| self.lines.get(&line)).is_some_and(|amount| (amount.abs() - most).abs() <= most * 1e-9)
    }
}

/// The nodes of the analysis' call tree by their paths: what reads the same is one. Files only: without one of its own a
/// function may be said to be of a crate or library, which `owner` says.
pub(crate) fn tree(profile: &Profile, values: &StackValues) -> BTreeMap<Vec<String>, Expected> {
    let tree = call_tree(profile, values);
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut nodes: BTreeMap<Vec<String>, Expected> = BTreeMap::new();
    for id in tree.ids() {
        let node = tree.node(id);
        let mut path = node.parent.map_or_else(Vec::new, |parent| paths[parent.index()].clone());
        path.push(key(profile, node.callee));
        let expected = nodes.entry(path.clone()).or_default();
        expected.own += node.own.value;
        expected.total += node.total.value;
        if let Callee::Function(function) = node.callee {
            expected.first_line = profile.functions.line[function.index()];
        }
        paths.push(path);
    }
    // Each stack's own amount passes through the lines of all its frames.
    for (stack, own) in values.with_waits().into_iter().enumerate().filter(|(_, own)| own.samples > 0) {
        let mut frames: Vec<StackId> = profile.stacks.ancestors(StackId::new(stack)).collect();
        frames.reverse();
        let mut path = Vec::new();
        for frame in frames {
            path.push(key(profile, Callee::Function(profile.leaf_function(frame))));
            if let Some(line) = profile.frames.line[profile.stacks.frame[frame.index()].index()] {
                let expected = nodes.get_mut(&path).expect("a node of the tree");
                *expected.lines.entry(line).or_default() += own.value;
            }
        }
    }
    nodes
}

/// Name and file.
fn key(profile: &Profile, callee: Callee) -> String {
    let file = match callee {
        Callee::Function(function) => profile.functions.source[function.index()],
        Callee::Wait(_) => None,
    };
    let file = file.map(|source| known_path(profile.string(profile.sources[source.index()].path)));
    format!("{} @ {}", callee.name(profile), file.unwrap_or_default())
}

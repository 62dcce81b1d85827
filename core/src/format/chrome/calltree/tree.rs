//! The tree of the entries of a time: nested by their times, the short and the noisy left out.

use rustc_hash::FxHashMap;

use super::CallTreeError;
use super::entries::Entry;

/// A node, for one entry or for several that are called the same.
#[derive(Debug)]
pub(super) struct Node {
    /// The first entry, by its index.
    pub entry: usize,
    /// In ms.
    pub total: f64,
    /// The total without what the children have.
    pub own: f64,
    /// In the order in which they began.
    pub children: Vec<u32>,
}

/// Nodes; those of the outermost level are in `roots`.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    pub roots: Vec<u32>,
}

/// What the tree is of. Times are doubles in ms.
pub(super) struct Part<'e> {
    pub entries: &'e [Entry],
    /// The first of these that counts.
    pub first: usize,
    pub start: f64,
    pub end: f64,
}

/// Builds the tree of the entries that `accepts` takes, by their indexes. Entries of one parent for which `group` gives the same
/// are one node. One pass: what the entries before left open is on a stack.
pub(super) fn build(
    part: &Part<'_>,
    mut accepts: impl FnMut(usize) -> Result<bool, CallTreeError>,
    mut group: impl FnMut(usize) -> u32,
) -> Result<Tree, CallTreeError> {
    let mut tree = Tree::default();
    // The node of each open entry, and when that ends.
    let mut open: Vec<(u32, f64)> = Vec::new();
    let mut known: FxHashMap<(Option<u32>, u32), u32> = FxHashMap::default();
    let (from, to) = (part.start * 1000.0, part.end * 1000.0);
    for (entry, at) in part.entries.iter().zip(0..).skip(part.first) {
        if entry.end() < from {
            continue;
        }
        // An end of 0 is none.
        if entry.start > to && to != 0.0 {
            break;
        }
        while open.pop_if(|(_, end)| *end != 0.0 && *end <= entry.start).is_some() {}
        if !accepts(at)? {
            continue;
        }
        let duration = match entry.length() {
            0.0 => 0.0,
            _ => (entry.end() / 1000.0).min(part.end) - part.start.max(entry.start / 1000.0),
        };
        let parent = open.last().map(|(node, _)| *node);
        if let Some(parent) = parent {
            tree.nodes[parent as usize].own -= duration;
        }
        let next = u32::try_from(tree.nodes.len()).expect("fewer nodes than entries");
        let node = *known.entry((parent, group(at))).or_insert(next);
        if node == next {
            tree.nodes.push(Node { entry: at, total: 0.0, own: 0.0, children: Vec::new() });
            match parent {
                Some(parent) => tree.nodes[parent as usize].children.push(node),
                None => tree.roots.push(node),
            }
        }
        let data = &mut tree.nodes[node as usize];
        data.total += duration;
        data.own += duration;
        if entry.length() != 0.0 {
            open.push((node, entry.end()));
        }
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::super::entries::What;
    use super::*;

    fn entry(start: f64, duration: f64) -> Entry {
        Entry { start, duration: Some(duration), what: What::Event(0) }
    }

    fn all(entries: &[Entry]) -> Part<'_> {
        Part { entries, first: 0, start: 0.0, end: 100.0 }
    }

    #[test]
    fn what_has_one_parent_and_group_is_one_node() {
        let entries = [entry(0.0, 50e3), entry(0.0, 10e3), entry(10e3, 20e3), entry(12e3, 5e3), entry(60e3, 60e3)];
        let tree = build(&all(&entries), |_| Ok(true), |at| u32::from(at == 0)).unwrap();
        let row = |node: &Node| (node.entry, node.total, node.own, node.children.clone());
        let rows: Vec<_> = tree.nodes.iter().map(row).collect();
        let expected =
            [(0, 50.0, 20.0, vec![1]), (1, 30.0, 25.0, vec![2]), (3, 5.0, 5.0, vec![]), (4, 40.0, 40.0, vec![])];
        assert_eq!((rows, tree.roots), (expected.to_vec(), vec![0, 3]));
    }

    #[test]
    fn a_hundred_thousand_levels_take_no_stack() {
        let entries: Vec<_> = (0..100_000).map(|at| entry(f64::from(at), f64::from(200_000 - 2 * at))).collect();
        let mut count = 0;
        let tree = build(
            &all(&entries),
            |_| Ok(true),
            |_| {
                count += 1;
                count
            },
        )
        .unwrap();
        assert_eq!(tree.nodes.len(), 100_000);
        assert!(tree.nodes[..99_999].iter().all(|node| node.children.len() == 1));
    }
}

//! The two texts of a call tree.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::{CallNode, CallTree};

impl CallTree {
    /// The tree as blocks of lines, one for a node, depth first. Nodes are numbered as they are first named, addresses as they are
    /// first used.
    pub fn serialize(&self) -> String {
        let mut urls = Urls::default();
        let mut nodes = String::new();
        let mut ids: Vec<usize> = vec![0; self.nodes.len()];
        let mut named = 0;
        let mut identifier = |node: u32| {
            let id = &mut ids[node as usize];
            if *id == 0 {
                named += 1;
                *id = named;
            }
            format!("{id} – {}", self.nodes[node as usize].name)
        };
        let mut todo: Vec<u32> = self.roots.iter().rev().copied().collect();
        while let Some(at) = todo.pop() {
            let node = &self.nodes[at as usize];
            let url = urls.index(node);
            push(&mut nodes, format_args!("\n\nNode: {}", identifier(at)));
            if self.selected == Some(at) {
                nodes.push_str("\nSelected: true");
            }
            for (key, time) in [("dur", node.total_ms), ("self", node.self_ms)] {
                if let Some(time) = tenths(time) {
                    push(&mut nodes, format_args!("\n{key}: {time}"));
                }
            }
            if let Some(url) = url {
                push(&mut nodes, format_args!("\nURL #: {url}"));
            }
            if !node.children.is_empty() {
                nodes.push_str("\nChildren:");
            }
            for child in &node.children {
                push(&mut nodes, format_args!("\n  * {}", identifier(*child)));
            }
            todo.extend(node.children.iter().rev());
        }
        format!("{}\n\n# Call tree:{nodes}", urls.table())
    }

    /// The tree as lines `id;name;total;self;address;children`, one for a node, breadth first; `;S` behind the selected one.
    /// Children are `first` or `first-last`, where `last` is one more than the last: what DevTools writes, although nothing
    /// says so.
    pub fn compressed(&self) -> String {
        let mut urls = Urls::default();
        let mut nodes = String::new();
        let mut queue = self.roots.clone();
        let mut at = 0;
        while let Some(node) = queue.get(at).map(|node| &self.nodes[*node as usize]) {
            at += 1;
            let first = queue.len() + 1;
            let [total, own] = [node.total_ms, node.self_ms].map(|time| tenths(time).unwrap_or_default());
            let url = urls.index(node).map_or_else(String::new, |url| url.to_string());
            let children = match node.children.len() {
                0 => String::new(),
                1 => first.to_string(),
                count => format!("{first}-{}", first + count),
            };
            push(&mut nodes, format_args!("\n{at};{};{total};{own};{url};{children}", node.name));
            if node.is_selected {
                nodes.push_str(";S");
            }
            queue.extend(&node.children);
        }
        format!("{}\n\n# Call tree:\n{nodes}", urls.table())
    }
}

/// Addresses in the order of their first use.
#[derive(Default)]
struct Urls<'t> {
    urls: Vec<&'t str>,
    known: FxHashMap<&'t str, usize>,
}

impl<'t> Urls<'t> {
    fn index(&mut self, node: &'t CallNode) -> Option<usize> {
        let url = node.url.as_deref()?;
        let next = self.urls.len();
        let index = *self.known.entry(url).or_insert(next);
        if index == next {
            self.urls.push(url);
        }
        Some(index)
    }

    fn table(&self) -> String {
        let mut out = String::new();
        for (url, index) in self.urls.iter().zip(0..) {
            out.push_str(if index == 0 { "\n# All URL #s:\n\n" } else { "\n" });
            push(&mut out, format_args!("  * {index}: {url}"));
        }
        out
    }
}

/// A time rounded to tenths, halves up, as JavaScript writes it; `None` for no time at all.
fn tenths(time: f64) -> Option<String> {
    if time == 0.0 || time.is_nan() {
        return None;
    }
    let scaled = time * 10.0;
    let whole = scaled.floor();
    let rounded = if scaled - whole >= 0.5 { whole + 1.0 } else { whole };
    // Adding 0 makes 0 of -0.
    Some((rounded / 10.0 + 0.0).to_string())
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, total_ms: f64, url: Option<&str>, children: &[u32]) -> CallNode {
        CallNode {
            name: name.to_owned(),
            url: url.map(str::to_owned),
            total_ms,
            self_ms: 0.0,
            children: children.to_vec(),
            is_selected: false,
        }
    }

    #[test]
    fn nodes_are_numbered_by_first_mention_or_by_level() {
        let nodes = vec![
            node("a", 2.0, None, &[1, 2]),
            node("b", 1.0, Some("x"), &[3]),
            node("c", 0.55, Some("y"), &[]),
            node("d", 0.04, Some("y"), &[]),
        ];
        let tree = CallTree { nodes, roots: vec![0], selected: Some(2) };
        let blocks = "\n# All URL #s:\n\n  * 0: x\n  * 1: y\n\n# Call tree:\n\nNode: 1 – a\ndur: 2\nChildren:\n  * 2 – b\n  * 3 – c\
            \n\nNode: 2 – b\ndur: 1\nURL #: 0\nChildren:\n  * 4 – d\n\nNode: 4 – d\ndur: 0\nURL #: 1\
            \n\nNode: 3 – c\nSelected: true\ndur: 0.6\nURL #: 1";
        assert_eq!(tree.serialize(), blocks);
        let lines =
            "\n# All URL #s:\n\n  * 0: x\n  * 1: y\n\n# Call tree:\n\n1;a;2;;;2-4\n2;b;1;;0;4\n3;c;0.6;;1;\n4;d;0;;1;";
        assert_eq!(tree.compressed(), lines);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_takes_no_stack() {
        let last = 99_999;
        let nodes = (0..=last).map(|at| {
            let children: Vec<u32> = (at < last).then_some(at + 1).into_iter().collect();
            node("n", 1.0, None, &children)
        });
        let mut nodes: Vec<_> = nodes.collect();
        nodes[0].is_selected = true;
        let tree = CallTree { nodes, roots: vec![0], selected: Some(0) };
        assert_eq!(tree.serialize().matches("\nNode: ").count(), 100_000);
        assert!(tree.compressed().ends_with("\n99999;n;1;;;100000\n100000;n;1;;;"));
    }

    #[test]
    fn halves_go_up_also_below_zero() {
        let rounded = [0.05, 0.25, -0.05, -0.25, -0.06, 12.34, 1e-9].map(tenths);
        let expected = ["0.1", "0.3", "0", "-0.2", "-0.1", "12.3", "0"].map(|text| Some(text.to_owned()));
        assert_eq!(rounded, expected);
        assert_eq!([0.0, -0.0].map(tenths), [None, None]);
    }
}

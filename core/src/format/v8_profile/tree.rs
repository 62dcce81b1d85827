//! The tree of nodes, and the stacks that its nodes are.

use super::code::Code;
use crate::format::import_report::{ImportReport, Note};
use crate::model::{ProfileBuilder, StackId};

const CYCLE: Note = Note { code: "nodes-in-a-cycle", message: "nodes that call themselves by others are roots" };

/// All nodes.
#[derive(Default)]
pub(super) struct Tree {
    pub nodes: Vec<NodeRow>,
}

/// A node.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeRow {
    pub code: Option<Code>,
    pub parent: Option<u32>,
    pub hits: u32,
}

/// The stacks of nodes, made as they are asked for.
pub(super) struct Stacks {
    known: Vec<Known>,
    /// The way up to a node whose stack is known.
    way: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    No,
    /// It is on the way.
    Asked,
    Stack(Option<StackId>),
}

impl Stacks {
    pub(super) fn new(tree: &Tree) -> Self {
        Self { known: vec![Known::No; tree.nodes.len()], way: Vec::new() }
    }

    /// The stack of a node.
    pub(super) fn get(
        &mut self,
        tree: &Tree,
        row: u32,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Option<StackId> {
        let mut next = Some(row);
        let mut stack = loop {
            let Some(row) = next else { break None };
            match self.known[row as usize] {
                Known::Stack(stack) => break stack,
                Known::Asked => {
                    report.note(CYCLE, || format!("row {row}"));
                    break None;
                }
                Known::No => {
                    self.known[row as usize] = Known::Asked;
                    self.way.push(row);
                    next = tree.nodes[row as usize].parent;
                }
            }
        };
        while let Some(row) = self.way.pop() {
            // A node that was never described has no frame; what it calls stands below its caller.
            if let Some(code) = tree.nodes[row as usize].code {
                stack = Some(builder.stack(stack, code.frame));
            }
            self.known[row as usize] = Known::Stack(stack);
        }
        stack
    }

    /// The stack of a node's caller. The node's own has been asked for.
    pub(super) fn of_caller(&self, tree: &Tree, row: u32, builder: &ProfileBuilder) -> Option<StackId> {
        match (self.known[row as usize], tree.nodes[row as usize].code) {
            (Known::Stack(Some(stack)), Some(_)) => builder.tables().stacks.prefix[stack.index()],
            (Known::Stack(stack), None) => stack,
            _ => None,
        }
    }
}

//! CPU profiles of V8, wherever they stand: in files of their own, or in pieces inside traces.
//!
//! * A tree of nodes, each a function that was called from the node around it; samples name the innermost node. Nodes, links
//!   between them and samples may come in any order and in many pieces, as long as they come before [`V8Profile::finish`].
//! * A sample lasts until the next one, as in DevTools; the last one as long as samples do on average, but not beyond the
//!   profile's end. V8 samples threads that run: this time counts as CPU time, but for that of `(idle)`.
//! * V8 gives for each node how often which of its lines was met, not in which samples. These lines are dealt out to the node's
//!   samples in order: right in sum.
//! * Nothing that a file says makes a cycle, or loses more than the sample that it is about: see the notes.

mod code;
mod samples;
mod tree;

pub(in crate::format) use code::CallFrame;

use rustc_hash::FxHashMap;

use self::tree::{NodeRow, Tree};
use super::import_report::{ImportReport, Note};
use super::json_value::{Index, Number};
use crate::model::{ProfileBuilder, Time};

const DUPLICATE: Note =
    Note { code: "nodes-duplicate", message: "nodes with an id that another node has are left out" };
const TWO_PARENTS: Note =
    Note { code: "nodes-with-two-callers", message: "nodes below two others stay with the first of them" };
const NO_CHILD: Note = Note { code: "nodes-missing", message: "callees that are not in the profile are left out" };
const NO_PARENT: Note =
    Note { code: "callers-missing", message: "nodes below one that is not in the profile are roots" };

/// A profile while its pieces are read.
#[derive(Default)]
pub(in crate::format) struct V8Profile {
    tree: Tree,
    rows: FxHashMap<u32, u32>,
    /// Links by the ids of callers (their rows) and callees, and the other way round.
    children: Vec<(u32, u32)>,
    parents: Vec<(u32, Index)>,
    /// Line, how often: those of a node follow each other.
    ticks: Vec<Ticks>,
    samples: Vec<u32>,
    /// Nanoseconds from the profile's start.
    times: Vec<Time>,
    lines: Vec<u32>,
}

/// How often a line of a node was met.
#[derive(Clone, Copy)]
struct Ticks {
    row: u32,
    line: u32,
    count: u32,
}

/// A node that was announced and has to be [filled](V8Profile::fill).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::format) struct Row(u32);

impl Row {
    /// Its place among the nodes, in the order in which they were announced.
    pub(in crate::format) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An id that no sample of V8 has.
const NO_ID: u32 = u32::MAX;

impl V8Profile {
    /// A node below `parent`, of which nothing more is known yet.
    pub(in crate::format) fn announce(&mut self, parent: Option<Row>) -> Row {
        let row = u32::try_from(self.tree.nodes.len()).unwrap_or(NO_ID);
        self.tree.nodes.push(NodeRow { parent: parent.map(|parent| parent.0), ..NodeRow::default() });
        Row(row)
    }

    /// What an announced node is. It keeps its place when another node has its id, but no sample is its own then.
    pub(in crate::format) fn fill(
        &mut self,
        row: Row,
        (id, hits): (Index, u32),
        call: &CallFrame<'_>,
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
        place: impl FnOnce() -> String,
    ) {
        let node = &mut self.tree.nodes[row.0 as usize];
        (node.code, node.hits) = (Some(code::add(builder, call)), hits);
        if let Some(id) = id.0 {
            let known = *self.rows.entry(id).or_insert(row.0);
            if known != row.0 {
                report.note(DUPLICATE, || format!("{}: id {id}", place()));
            }
        }
    }

    /// A link from a node to one that it called, which may come later.
    pub(in crate::format) fn add_child(&mut self, parent: Row, child: Index) {
        self.children.push((parent.0, child.0.unwrap_or(NO_ID)));
    }

    /// A link from a node to the one that called it, which may come later.
    pub(in crate::format) fn add_parent(&mut self, child: Row, parent: Index) {
        self.parents.push((child.0, parent));
    }

    /// `count` samples of `row` were met in `line` (counted from 1).
    pub(in crate::format) fn add_ticks(&mut self, row: Row, line: Index, count: u32) {
        if let Some(line) = line.0.filter(|line| *line > 0 && count > 0) {
            self.ticks.push(Ticks { row: row.0, line, count });
        }
    }

    /// The line (counted from 1) that sample `index` was met in, where a file says; 0 where it does not.
    pub(in crate::format) fn add_line(&mut self, line: Index) {
        self.lines.push(line.0.unwrap_or(0));
    }

    /// A sample, by the id of its node.
    pub(in crate::format) fn add_sample(&mut self, node: Index) {
        self.samples.push(node.0.unwrap_or(NO_ID));
    }

    /// How many samples were added.
    pub(in crate::format) fn sample_count(&self) -> usize {
        self.samples.len()
    }

    /// When the next sample was taken that has no time yet, from the profile's start.
    pub(in crate::format) fn add_time(&mut self, time: Time) {
        self.times.push(time);
    }

    /// The time that was added last.
    pub(in crate::format) fn last_time(&self) -> Option<Time> {
        self.times.last().copied()
    }

    /// Brings all times nearer to the profile's start by `earlier`.
    pub(in crate::format) fn shift(&mut self, earlier: Time, report: &mut ImportReport) {
        for (row, time) in self.times.iter_mut().enumerate() {
            *time = Time(
                report.later(time.0, Number::Integer(earlier.0.saturating_neg()), 1, || format!("timestamps[{row}]")),
            );
        }
    }

    /// When the first sample was taken.
    pub(in crate::format) fn first_time(&self) -> Option<Time> {
        self.times.first().copied()
    }

    /// Puts each node below its caller.
    fn link(&mut self, report: &mut ImportReport) {
        for (child, parent) in std::mem::take(&mut self.parents) {
            match parent.0.and_then(|id| self.rows.get(&id)) {
                Some(parent) => self.tree.nodes[child as usize].parent = Some(*parent),
                None => report.note(NO_PARENT, || parent.0.map_or("no id".to_owned(), |id| format!("node {id}"))),
            }
        }
        for (parent, id) in std::mem::take(&mut self.children) {
            let Some(child) = self.rows.get(&id) else {
                report.note(NO_CHILD, || format!("node {id}"));
                continue;
            };
            let known = &mut self.tree.nodes[*child as usize].parent;
            match *known {
                None => *known = Some(parent),
                Some(known) if known != parent => report.note(TWO_PARENTS, || format!("node {id}")),
                Some(_) => {}
            }
        }
    }
}

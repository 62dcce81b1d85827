//! What of a tree is expanded, and which of its rows is selected.

use std::sync::Arc;

use traceview_core::analysis::{Callee, GrowingTree, NodeId};
use traceview_core::model::{FunctionId, Profile};

use super::outline::{
    MOST_EXPANDED, OutlineRow, UNTIL_IT_BRANCHES, WHILE_MOST, heaviest, is_found, open_all, open_heaviest, outline,
};
use super::paths::{PathId, Paths};
use crate::analyses::Tables;
use crate::call_path::CallPath;
use crate::panels::amounts::grouped;
use crate::search::FunctionSet;
use crate::widget::{BranchInput, Sort, TableInput};

/// The state of one direction of the tree. It is kept by paths of functions, whatever becomes of the tree.
#[derive(Debug, Default)]
pub(super) struct Branches {
    paths: Paths,
    selected: Option<PathId>,
    /// What must be brought into view.
    reveal: Option<PathId>,
    shown_once: bool,
    made: Option<Made>,
    notice: Option<String>,
}

/// The rows that are shown, and what they were made of.
#[derive(Debug)]
struct Made {
    tables: Arc<Tables>,
    version: u64,
    sort: Sort,
    rows: Vec<OutlineRow>,
}

impl Branches {
    /// What is expanded when a tree is shown for the first time: its heaviest path. That selects nothing.
    pub(super) fn show_first(&mut self, tree: &mut dyn GrowingTree, inverted: bool) {
        if !std::mem::replace(&mut self.shown_once, true)
            && !inverted
            && let Some(id) = open_heaviest(tree, &mut self.paths, None, UNTIL_IT_BRANCHES)
        {
            self.uncover(tree, id);
        }
    }

    /// Whether the rows are not of `tables` yet.
    pub(super) fn is_of_other_tables(&self, tables: &Arc<Tables>) -> bool {
        self.made.as_ref().is_none_or(|made| !Arc::ptr_eq(&made.tables, tables))
    }

    /// Whether no row of the tree is selected.
    pub(super) fn lacks_selection(&self, tree: &dyn GrowingTree) -> bool {
        self.selected.is_none_or(|path| self.paths.resolve(tree.tree(), path).is_none())
    }

    /// Selects the node of `call`, or else the heaviest one of `function`, if none of these is selected; without a
    /// function, nothing.
    pub(super) fn follow(&mut self, tree: &dyn GrowingTree, call: Option<&CallPath>, function: Option<FunctionId>) {
        if let Some(id) = call.and_then(|call| call.find_in(tree.tree())) {
            if self.selected.and_then(|path| self.paths.resolve(tree.tree(), path)) != Some(id) {
                self.select(tree, id);
            }
            return;
        }
        let Some(function) = function else {
            self.selected = None;
            return;
        };
        let wanted = Callee::Function(function);
        let selected = self.selected.and_then(|path| self.paths.resolve(tree.tree(), path));
        if selected.is_some_and(|id| tree.tree().node(id).callee == wanted) {
            return;
        }
        self.selected = None;
        if let Some(id) = heaviest(tree.tree(), |callee| callee == wanted) {
            self.select(tree, id);
        }
    }

    /// Brings the heaviest node that a search found into view.
    pub(super) fn uncover_found(&mut self, tree: &dyn GrowingTree, found: Option<&FunctionSet>) {
        if found.is_some()
            && let Some(id) = heaviest(tree.tree(), |callee| is_found(found, callee))
        {
            self.uncover(tree, id);
        }
    }

    /// Expands the heaviest path below the selected node, or else of the whole tree, and selects its end.
    fn open_heaviest(&mut self, tree: &mut dyn GrowingTree) {
        let from = self.selected.and_then(|path| self.paths.resolve(tree.tree(), path));
        if let Some(id) = open_heaviest(tree, &mut self.paths, from, WHILE_MOST) {
            self.select(tree, id);
        }
    }

    /// Makes the rows, if anything has changed.
    pub(super) fn outline(&mut self, tree: &mut dyn GrowingTree, tables: &Arc<Tables>, sort: Sort, profile: &Profile) {
        let version = self.paths.version();
        let fits = |made: &Made| Arc::ptr_eq(&made.tables, tables) && (made.version, made.sort) == (version, sort);
        if !self.made.as_ref().is_some_and(fits) {
            let rows = outline(tree, &self.paths, sort, profile);
            self.made = Some(Made { tables: Arc::clone(tables), version, sort, rows });
        }
    }

    pub(super) fn rows(&self) -> &[OutlineRow] {
        self.made.as_ref().map_or(&[], |made| &made.rows)
    }

    pub(super) fn selected_row(&self) -> Option<usize> {
        let selected = self.selected?;
        self.rows().iter().position(|row| row.path == Some(selected))
    }

    /// The row that must be brought into view; once.
    pub(super) fn take_reveal(&mut self) -> Option<usize> {
        let wanted = self.reveal.take()?;
        self.rows().iter().position(|row| row.path == Some(wanted))
    }

    /// What a person must be told.
    pub(super) fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Does what `input` says; if that selects another row, gives its node.
    pub(super) fn apply(&mut self, tree: &mut dyn GrowingTree, input: &TableInput) -> Option<NodeId> {
        let before = self.selected;
        if *input != TableInput::default() {
            self.notice = None;
        }
        if let Some(row) = input.selected.or(input.activated).and_then(|row| self.rows().get(row).copied()) {
            // Where the person looks already: nothing to reveal.
            self.set_selected(tree, row.id);
        }
        if let Some(row) = input.activated {
            self.toggle(tree, row);
        }
        match input.branch {
            Some(BranchInput::Toggle(row)) => self.toggle(tree, row),
            Some(other) => self.change_selected(tree, other),
            None => {}
        }
        let selected = self.selected.filter(|selected| before != Some(*selected))?;
        self.paths.resolve(tree.tree(), selected)
    }

    fn change_selected(&mut self, tree: &mut dyn GrowingTree, input: BranchInput) {
        if input == BranchInput::OpenHeaviest {
            self.open_heaviest(tree);
            return;
        }
        let Some(path) = self.selected else { return };
        let Some(id) = self.paths.resolve(tree.tree(), path) else { return };
        let open = self.paths.is_open(path) && !tree.is_leaf(id);
        match input {
            BranchInput::Open if open => {
                tree.expand(id);
                // The first one as they are sorted: it stands in the next row.
                let next = self.selected_row().and_then(|row| self.rows().get(row + 1)).map(|row| row.id);
                if let Some(child) = next {
                    self.select(tree, child);
                }
            }
            BranchInput::Open => self.paths.set_open(path, !tree.is_leaf(id)),
            BranchInput::Close if open => self.paths.set_open(path, false),
            BranchInput::Close => {
                if let Some(around) = tree.tree().node(id).parent {
                    self.select(tree, around);
                }
            }
            BranchInput::OpenAll => {
                if !open_all(tree, &mut self.paths, id) {
                    let most = grouped(MOST_EXPANDED as u64);
                    self.notice = Some(format!("Expanded {most} rows below the selected one; there are more."));
                }
            }
            BranchInput::OpenHeaviest | BranchInput::Toggle(_) => {}
        }
    }

    fn toggle(&mut self, tree: &dyn GrowingTree, row: usize) {
        let Some(row) = self.rows().get(row).copied() else { return };
        if let Some(expanded) = row.expanded {
            let path = self.paths.of(tree.tree(), row.id);
            self.paths.set_open(path, !expanded);
        }
    }

    fn select(&mut self, tree: &dyn GrowingTree, id: NodeId) {
        self.set_selected(tree, id);
        self.uncover(tree, id);
    }

    /// Brings a node into view.
    fn uncover(&mut self, tree: &dyn GrowingTree, id: NodeId) {
        let path = self.path_of(tree, id);
        self.paths.uncover(path);
        self.reveal = Some(path);
    }

    fn set_selected(&mut self, tree: &dyn GrowingTree, id: NodeId) {
        self.selected = Some(self.path_of(tree, id));
    }

    fn path_of(&mut self, tree: &dyn GrowingTree, id: NodeId) -> PathId {
        let path = self.paths.of(tree.tree(), id);
        // The row may not have had a path so far.
        let rows = self.made.iter_mut().flat_map(|made| &mut made.rows);
        if let Some(row) = rows.into_iter().find(|row| row.id == id) {
            row.path = Some(path);
        }
        path
    }
}

//! The call tree panel: who called whom, from the outermost functions inwards or the other way round.

mod branches;
mod outline;
mod paths;
mod rows;
mod trees;

#[cfg(test)]
mod tests;

use egui::{RichText, Ui};
use traceview_core::analysis::{Callee, GrowingTree, NodeId, Tree};
use traceview_core::model::FunctionId;

use self::branches::Branches;
use self::rows::Rows;
use self::trees::Trees;
use super::{Panel, PanelContext, counted};
use crate::action::Action;
use crate::call_path::CallPath;
use crate::search::SearchQuery;
use crate::widget::{BranchInput, Sort, Table};

/// The panel.
#[derive(Debug)]
pub struct CallTree {
    inverted: bool,
    sort: Sort,
    trees: Trees,
    /// What is expanded and selected in the tree, and in the inverted tree.
    branches: [Branches; 2],
    /// What was selected when the tree last followed it, and whether that was the inverted tree.
    followed: (Option<FunctionId>, Option<CallPath>, bool),
    /// Whether the heaviest path was asked for.
    open_heaviest: bool,
    /// What was searched for when the tree last showed it.
    searched: SearchQuery,
}

impl Default for CallTree {
    fn default() -> Self {
        Self {
            inverted: false,
            sort: Sort { key: "total", descending: true },
            trees: Trees::default(),
            branches: <[Branches; 2]>::default(),
            followed: (None, None, false),
            open_heaviest: false,
            searched: SearchQuery::default(),
        }
    }
}

impl Panel for CallTree {
    /// What is expanded is known by functions, which keep their ids.
    fn forget_stacks(&mut self) {
        self.trees = Trees::default();
    }

    fn head(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        counted::line(ui, context, counted::in_stacks_that_match, |ui| {
            let hint =
                "Expand the heaviest path below the selected row, while most of each row is in the next one (Shift+→)";
            self.open_heaviest = ui.small_button("Heaviest path").on_hover_text(hint).clicked();
            let hint = "Start with the functions that samples were taken in, and below them their callers";
            ui.checkbox(&mut self.inverted, "Inverted").on_hover_text(hint);
        });
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let Some(tables) = counted::listed(ui, context) else { return };
        let document = context.document;
        self.trees.update(document, &tables, self.inverted, context.jobs);
        let Some((tables, mut tree)) = self.trees.shown(self.inverted) else {
            ui.label("Turning the tree around…");
            return;
        };
        let branches = &mut self.branches[usize::from(self.inverted)];
        let selected = context.selection.function;
        branches.show_first(&mut tree, self.inverted);
        let is_new = branches.is_of_other_tables(&tables);
        let call = context.selection.call.clone().filter(|_| !self.inverted);
        let follow = (selected, call, self.inverted);
        if self.followed != follow || (is_new && branches.lacks_selection(&tree)) {
            branches.follow(&tree, follow.1.as_ref(), selected);
            self.followed = follow;
        }
        if self.searched != tables.counted.query {
            self.searched = tables.counted.query.clone();
            branches.uncover_found(&tree, tables.found.as_deref());
        }
        branches.outline(&mut tree, &tables, self.sort, &document.profile);
        if let Some(notice) = branches.notice() {
            ui.label(RichText::new(notice).color(context.theme.weak_text));
        }
        let reveal = branches.take_reveal();
        let found = tables.found.as_deref();
        let rows = Rows::new(document, context.theme, found, tree.tree(), branches.rows(), self.inverted);
        let table = Table {
            name: if self.inverted { "Inverted call tree" } else { "Call tree" },
            selected: branches.selected_row(),
            reveal,
            sort: self.sort,
            query: &tables.counted.query,
            theme: context.theme,
        };
        let mut input = table.show(ui, &rows, context.actions);
        if std::mem::take(&mut self.open_heaviest) {
            input.branch = Some(BranchInput::OpenHeaviest);
        }
        if let Some(sort) = input.sort {
            self.sort = sort;
        }
        if let Some(id) = branches.apply(&mut tree, &input) {
            let path = CallPath::of_node(tree.tree(), id);
            let selected = if self.inverted {
                self.followed = (caller_of(tree.tree(), id), None, true);
                Action::SelectFunction(self.followed.0)
            } else {
                self.followed = (path.function(), Some(path.clone()), false);
                Action::SelectCall(path)
            };
            context.actions.push(selected);
        }
    }
}

/// The function of a node of the inverted tree.
fn caller_of(tree: &Tree, id: NodeId) -> Option<FunctionId> {
    match tree.node(id).callee {
        Callee::Function(function) => Some(function),
        Callee::Wait(_) => None,
    }
}

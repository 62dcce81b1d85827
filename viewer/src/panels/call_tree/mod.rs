//! The call tree panel: who called whom, from the outermost functions inwards or the other way round.

mod branches;
mod outline;
mod paths;
mod rows;
mod trees;

#[cfg(test)]
mod tests;

use egui::{RichText, Ui};
use traceview_core::analysis::GrowingTree;
use traceview_core::model::FunctionId;
use traceview_core::report::format_percent;

use self::branches::Branches;
use self::rows::Rows;
use self::trees::Trees;
use super::{Panel, PanelContext, counted};
use crate::action::Action;
use crate::analyses::Tables;
use crate::search::SearchQuery;
use crate::widget::{Sort, Table};

/// The panel.
#[derive(Debug)]
pub struct CallTree {
    inverted: bool,
    sort: Sort,
    trees: Trees,
    /// What is expanded and selected in the tree, and in the inverted tree.
    branches: [Branches; 2],
    /// What was selected when the tree last followed it.
    followed: Option<FunctionId>,
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
            followed: None,
            searched: SearchQuery::default(),
        }
    }
}

impl Panel for CallTree {
    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let mut open_heaviest = false;
        let was_inverted = self.inverted;
        counted::line(ui, context, found, |ui| {
            let button = ui.button("Heaviest path");
            open_heaviest = button.on_hover_text("Expand the heaviest path below the selected row (Shift+→)").clicked();
            let hint = "Start with the functions that samples were taken in, and below them their callers";
            ui.toggle_value(&mut self.inverted, "Inverted").on_hover_text(hint);
        });
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
        if self.followed != selected || was_inverted != self.inverted || (is_new && branches.has_lost_selection(&tree))
        {
            self.followed = selected;
            branches.follow(&tree, selected);
        }
        if self.searched != tables.counted.query {
            self.searched = tables.counted.query.clone();
            branches.uncover_found(&tree, tables.found.as_deref());
        }
        if open_heaviest {
            branches.open_heaviest(&mut tree);
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
        let input = table.show(ui, &rows, context.actions);
        if let Some(sort) = input.sort {
            self.sort = sort;
        }
        if let Some(function) = branches.apply(&mut tree, &input) {
            self.followed = Some(function);
            context.actions.push(Action::SelectFunction(Some(function)));
        }
    }
}

/// `31.0 % in stacks that match`.
fn found(tables: &Tables) -> String {
    format!("{} in stacks that match", format_percent(tables.whole().percent(tables.kept().value)))
}

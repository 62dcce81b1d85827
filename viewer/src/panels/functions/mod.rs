//! The functions panel: what each function took itself and with all that it called.

mod order;
mod rows;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::Ui;
use traceview_core::model::FunctionId;
use traceview_core::report::format_percent;

use self::order::Ordered;
use self::rows::Rows;
use super::amounts::grouped;
use super::{Panel, PanelContext, counted};
use crate::action::Action;
use crate::analyses::Tables;
use crate::latest::Latest;
use crate::widget::{Sort, Table};

/// The panel.
#[derive(Debug)]
pub struct Functions {
    sort: Sort,
    order: Latest<Ordered>,
    /// The selected function and the row where it was found.
    located: Option<(Arc<Ordered>, FunctionId, Option<usize>)>,
}

impl Default for Functions {
    fn default() -> Self {
        Self { sort: Sort { key: "self", descending: true }, order: Latest::default(), located: None }
    }
}

impl Panel for Functions {
    fn forget_stacks(&mut self) {
        *self = Self { sort: self.sort, ..Self::default() };
    }

    fn head(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        counted::line(ui, context, found, |_| {});
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let Some(tables) = counted::listed(ui, context) else { return };
        order::update(&mut self.order, context.document, &tables, self.sort, context.jobs);
        let Some(ordered) = self.order.newest() else {
            ui.label("Sorting…");
            return;
        };
        let (selected, is_new) = self.locate(&ordered, context.selection.function);
        let rows = Rows::new(context.document, context.theme, &ordered);
        let table = Table {
            name: "Functions",
            selected,
            reveal: selected.filter(|_| is_new),
            sort: self.sort,
            query: &ordered.tables.counted.query,
            theme: context.theme,
        };
        let input = table.show(ui, &rows, context.actions);
        if let Some(sort) = input.sort {
            self.sort = sort;
        }
        if let Some(row) = input.activated.or(input.selected) {
            context.actions.push(Action::SelectFunction(Some(rows.function(row))));
        }
        // Its callers: the call tree follows the selected function.
        if input.activated.is_some() {
            context.actions.push(Action::ShowTable("call-tree"));
        }
    }
}

impl Functions {
    /// The row of the selected function, and whether it has just been selected.
    fn locate(&mut self, ordered: &Arc<Ordered>, function: Option<FunctionId>) -> (Option<usize>, bool) {
        let Some(function) = function else {
            self.located = None;
            return (None, false);
        };
        let before = self.located.as_ref().map(|(_, function, _)| *function);
        let row = match &self.located {
            Some((of, it, row)) if Arc::ptr_eq(of, ordered) && *it == function => *row,
            _ => ordered.row_of(function),
        };
        self.located = Some((Arc::clone(ordered), function, row));
        (row, before != Some(function))
    }
}

/// `12 of 340 functions, 31.0 % of self`.
fn found(tables: &Tables) -> String {
    let share = format_percent(tables.whole().percent(tables.found_own.value));
    let [rows, all] = [tables.found_rows, tables.functions_before_search].map(|number| grouped(number as u64));
    format!("{rows} of {all} functions, {share} of self")
}

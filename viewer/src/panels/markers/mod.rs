//! The markers panel: each marker in the selected threads and time, with what it says.

mod order;
mod rows;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::Ui;

use self::order::{Found, Ordered, Wanted};
use self::rows::Rows;
use super::amounts::grouped;
use super::{Panel, PanelContext, counted};
use crate::action::Action;
use crate::command::Command;
use crate::latest::Latest;
use crate::search::SearchQuery;
use crate::selection::Picked;
use crate::widget::{Sort, Table};

/// The panel.
#[derive(Debug)]
pub struct Markers {
    sort: Sort,
    ordered: Latest<Ordered>,
    /// What was selected in the last frame, and its row in which list.
    located: Option<(Arc<Ordered>, Picked, Option<usize>)>,
}

impl Default for Markers {
    fn default() -> Self {
        Self { sort: Sort { key: "start", descending: false }, ordered: Latest::default(), located: None }
    }
}

impl Panel for Markers {
    /// Markers are the same ones.
    fn forget_stacks(&mut self) {}

    fn head(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        self.update(context);
        let Some(ordered) = self.ordered.newest() else { return };
        let found = &ordered.found;
        let matches = (!ordered.wanted.query.is_empty())
            .then(|| format!("{} of {} markers", grouped(found.rows.len() as u64), grouped(found.all as u64)));
        let part = counted::part(context.document, &ordered.wanted.selection);
        let plural = if found.all == 1 { "" } else { "s" };
        let text = format!("{} marker{plural} · {part}", grouped(found.all as u64));
        counted::plain_line(ui, context, matches, text);
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        self.update(context);
        let Some(ordered) = self.ordered.newest() else {
            ui.label("Sorting…");
            return;
        };
        if ordered.found.all == 0 {
            counted::none_of(context.document, &ordered.wanted.selection, "markers").show(ui, context);
            return;
        }
        if ordered.found.rows.is_empty() {
            let nothing = counted::Nothing::new("No marker here has a name or data that match the search.");
            nothing.or("Clear the search", Action::Search(String::new())).show(ui, context);
            return;
        }
        let (selected, is_new) = self.locate(&ordered, context);
        let rows = Rows::new(context.document, context.theme, &ordered);
        let table = Table {
            name: "Markers",
            selected,
            reveal: selected.filter(|_| is_new),
            sort: self.sort,
            query: &ordered.wanted.query,
            theme: context.theme,
        };
        let input = table.show(ui, &rows, context.actions);
        if let Some(sort) = input.sort {
            self.sort = sort;
        }
        if let Some(row) = input.activated.or(input.selected) {
            context.actions.push(Action::JumpTo(ordered.picked(context.document, row)));
        }
        if input.activated.is_some() {
            context.actions.push(Action::Run(Command::ShowSelected));
        }
    }
}

impl Markers {
    fn update(&mut self, context: &PanelContext<'_>) {
        let selection = context.selection;
        let query = SearchQuery::parse(&selection.search);
        let wanted = Wanted { selection: selection.for_analysis(), query, sort: self.sort };
        let newest = self.ordered.newest();
        let is_wanted = |ordered: &Ordered| ordered.wanted == wanted;
        self.ordered.update(is_wanted, || {
            let (document, wanted) = (Arc::clone(context.document), wanted.clone());
            let found = newest
                .filter(|it| (&it.wanted.selection, &it.wanted.query) == (&wanted.selection, &wanted.query))
                .map(|it| Arc::clone(&it.found));
            context.jobs.start_stoppable("markers", move |progress| {
                let found = match found {
                    Some(found) => found,
                    None => Arc::new(Found::of(&document, &wanted, progress)?),
                };
                progress.go_on()?;
                Some(Ordered::new(&document, found, wanted))
            })
        });
    }

    /// The row of the selected marker, and whether it has just been selected.
    fn locate(&mut self, ordered: &Arc<Ordered>, context: &PanelContext<'_>) -> (Option<usize>, bool) {
        let Some(picked) = context.selection.picked else {
            self.located = None;
            return (None, false);
        };
        let before = self.located.as_ref().map(|(_, picked, _)| *picked);
        let row = match &self.located {
            Some((of, it, row)) if Arc::ptr_eq(of, ordered) && *it == picked => *row,
            _ => ordered.row_of(context.document, &picked),
        };
        self.located = Some((Arc::clone(ordered), picked, row));
        (row, before != Some(picked))
    }
}

//! The slices panel: how many slices of each name there are, and how long they took.

mod order;
mod rows;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::Ui;
use traceview_core::analysis::{SliceList, Unit, slice_list};
use traceview_core::report::format_amount;

use self::order::{Ordered, Wanted};
use self::rows::Rows;
use super::amounts::{float, grouped};
use super::{Panel, PanelContext, counted};
use crate::action::Action;
use crate::latest::Latest;
use crate::search::SearchQuery;
use crate::selection::{Picked, PickedKind};
use crate::widget::{Sort, Table};

/// The panel.
#[derive(Debug)]
pub struct Slices {
    sort: Sort,
    ordered: Latest<Ordered>,
    /// What was selected in the last frame.
    picked: Option<Picked>,
}

impl Default for Slices {
    fn default() -> Self {
        Self { sort: Sort { key: "self", descending: true }, ordered: Latest::default(), picked: None }
    }
}

impl Panel for Slices {
    /// Slices are the same ones.
    fn forget_stacks(&mut self) {}

    fn head(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        self.update(context);
        let Some(ordered) = self.ordered.newest() else { return };
        let list = &ordered.list;
        let matches = (!ordered.wanted.query.is_empty())
            .then(|| format!("{} of {} names", grouped(ordered.len() as u64), grouped(list.rows.len() as u64)));
        let count = list.rows.iter().map(|row| row.count).sum();
        let time = format_amount(float(list.whole), Unit::Nanoseconds);
        let part = counted::part(context.document, &ordered.wanted.selection);
        let text = format!("Time in slices {time} · {part} · {} slices", grouped(count));
        counted::plain_line(ui, context, matches, text);
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        self.update(context);
        let Some(ordered) = self.ordered.newest() else {
            ui.label("Counting…");
            return;
        };
        if ordered.list.rows.is_empty() {
            counted::none_of(context.document, &ordered.wanted.selection, "slices").show(ui, context);
            return;
        }
        if ordered.len() == 0 {
            let nothing = counted::Nothing::new("No slice here has a name that matches the search.");
            nothing.or("Clear the search", Action::Search(String::new())).show(ui, context);
            return;
        }
        let picked = context.selection.picked;
        let selected = picked.and_then(|picked| ordered.row_of(context.document, &picked));
        let rows = Rows::new(context.document, context.theme, &ordered);
        let table = Table {
            name: "Slices",
            selected,
            reveal: selected.filter(|_| self.picked != picked),
            sort: self.sort,
            query: &ordered.wanted.query,
            theme: context.theme,
        };
        self.picked = picked;
        let input = table.show(ui, &rows, context.actions);
        if let Some(sort) = input.sort {
            self.sort = sort;
        }
        if let Some(row) = input.activated.or(input.selected) {
            let longest = ordered.longest(context.document, row);
            // That of this name which is selected stays so.
            if selected != Some(row) || input.activated.is_some() {
                context.actions.push(Action::JumpTo(longest));
            }
            if input.activated.is_some() {
                context.actions.push(Action::Show(longest.range()));
            }
        }
    }
}

impl Slices {
    fn update(&mut self, context: &PanelContext<'_>) {
        let selection = context.selection;
        let query = SearchQuery::parse(&selection.search);
        let wanted = Wanted { selection: selection.for_analysis(), query, sort: self.sort };
        let newest = self.ordered.newest();
        let is_wanted = |ordered: &Ordered| ordered.wanted == wanted;
        self.ordered.update(is_wanted, || {
            let (document, wanted) = (Arc::clone(context.document), wanted.clone());
            let counted = newest.filter(|it| it.wanted.selection == wanted.selection).map(|it| Arc::clone(&it.list));
            context.jobs.start_stoppable("slices", move |progress| {
                let list = || -> Arc<SliceList> { slice_list(&document.profile, &wanted.selection).into() };
                let list = counted.unwrap_or_else(list);
                progress.go_on()?;
                Some(Ordered::new(&document, list, wanted))
            })
        });
    }
}

/// Whether `picked` is a slice.
fn slice_of(picked: &Picked) -> Option<traceview_core::model::SliceId> {
    match picked.what {
        PickedKind::Slice(slice) => Some(slice),
        PickedKind::Box(_) | PickedKind::Wait(_) | PickedKind::Marker(_) | PickedKind::Station(_) => None,
    }
}

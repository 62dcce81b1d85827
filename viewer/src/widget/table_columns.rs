//! The columns of tables and how wide they are.

use egui::{Id, Ui};
use egui_table::{Column, TableState};

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableColumn {
    /// What it is known by.
    pub key: &'static str,
    /// What stands above it.
    pub title: String,
    /// What it is called in copied tables, with its unit.
    pub record_title: String,
    /// What its values mean; empty: that is clear.
    pub hint: String,
    /// How wide it is at first, in points.
    pub width: f32,
    /// What it holds.
    pub kind: ColumnKind,
    /// Whether rows can be sorted by it.
    pub sortable: bool,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// Numbers, at the right.
    Number,
    /// Names. It is as wide as the others leave room for.
    Name,
    /// Text that says less.
    Text,
    /// Text that says much: it shares the room of names with them.
    Wide,
}

impl ColumnKind {
    /// Whether it takes the room that others leave.
    fn takes_rest(self) -> bool {
        matches!(self, Self::Name | Self::Wide)
    }
}

/// Where there is less room the table scrolls sideways.
const NARROWEST_REST: f32 = 200.0;
/// In tables narrower than this, text that says less has less room, so that names have some.
const NARROW: f32 = 1100.0;
const NARROW_TEXT: f32 = 128.0;
/// What the scroll bar covers.
const SCROLL_BAR: f32 = 10.0;

/// Gives the columns their widths: those that the person gave them, and the rest to the one that takes it whenever the
/// table is given another width or other columns.
pub(super) fn fit_columns(ui: &Ui, table: Id, columns: &[TableColumn]) -> Vec<Column> {
    let mut state = TableState::load(ui.ctx(), table).unwrap_or_default();
    let ids: Vec<Id> = columns.iter().map(|column| Id::unique(("column", column.key))).collect();
    let is_narrow = ui.available_width() < NARROW;
    for (id, column) in ids.iter().zip(columns) {
        let shrinks = is_narrow && column.kind == ColumnKind::Text;
        state.col_widths.entry(*id).or_insert(if shrinks { NARROW_TEXT } else { column.width });
    }
    let fitted_to = (ui.available_width(), columns.iter().map(|column| column.key).collect::<Vec<_>>());
    let remembered = table.with("fitted to");
    let as_before = ui.data(|data| data.get_temp::<(f32, Vec<&'static str>)>(remembered)).as_ref() == Some(&fitted_to);
    if !as_before {
        let others: f32 = ids
            .iter()
            .zip(columns)
            .filter(|(_, column)| !column.kind.takes_rest())
            .map(|(id, _)| state.col_widths[id])
            .sum();
        let rest = (fitted_to.0 - SCROLL_BAR - others).max(NARROWEST_REST).floor();
        let taking = || ids.iter().zip(columns).filter(|(_, column)| column.kind.takes_rest());
        #[expect(clippy::cast_precision_loss, reason = "a table has few columns")]
        let each = (rest / taking().count().max(1) as f32).floor();
        for (id, _) in taking() {
            state.col_widths.insert(*id, each);
        }
        ui.data_mut(|data| data.insert_temp(remembered, fitted_to));
    }
    state.store(ui.ctx(), table);
    let column = |(id, column): (&Id, &TableColumn)| Column::new(column.width).range(40.0..=4000.0).id(*id);
    ids.iter().zip(columns).map(column).collect()
}

//! Tables of any number of rows: sorted by a click on a header, walked through with the keyboard, copied as
//! tab-separated values.

use std::borrow::Cow;

use egui::accesskit::{SortDirection, Toggled};
use egui::style::{ScrollAnimation, ScrollStyle};
use egui::{
    Align, Event, EventFilter, Id, Key, Modifiers, Rect, Response, Role, Sense, Style, Ui, UiBuilder, Vec2, WidgetInfo,
    pos2,
};
use egui_table::{CellInfo, HeaderCellInfo, HeaderRow, PrefetchInfo, TableDelegate};

use super::keys::take_key;
use super::table_cell::{Cell, CellPainter, HEADER_HEIGHT, ROW_HEIGHT};
use super::table_columns::{ColumnKind, TableColumn, fit_columns};
use crate::action::Action;
use crate::search::SearchQuery;
use crate::theme::Theme;

/// What a table shows. It is asked only about rows that are visible or copied.
pub trait TableRows {
    /// The columns.
    fn columns(&self) -> &[TableColumn];

    /// How many rows there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is drawn.
    fn cell(&self, row: usize, column: usize) -> Cell<'_>;

    /// What a spreadsheet gets.
    fn record(&self, row: usize, column: usize) -> Cow<'_, str>;

    /// All of the row's name.
    fn name(&self, row: usize) -> Cow<'_, str>;

    /// Where it is in the source code.
    fn place(&self, row: usize) -> Option<String>;

    /// Whether the row says too little to be looked at first.
    fn is_weak(&self, row: usize) -> bool;

    /// What is shown when the pointer rests on the row.
    fn tooltip(&self, ui: &mut Ui, row: usize);

    /// Adds to the menu of the row what only these rows have.
    fn menu(&self, ui: &mut Ui, row: usize, actions: &mut Vec<Action>) {
        let _ = (ui, row, actions);
    }

    /// In trees, how deep the row is, and whether it is expanded, if anything is below it.
    fn branch(&self, row: usize) -> Option<(usize, Option<bool>)>;
}

/// By which column rows are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sort {
    /// The [key](TableColumn::key) of the column.
    pub key: &'static str,
    /// The largest first.
    pub descending: bool,
}

/// A table in a frame.
pub struct Table<'a> {
    /// What it is called for assistive technology.
    pub name: &'a str,
    /// The selected row.
    pub selected: Option<usize>,
    /// The row that must be brought into view, for example because it was selected elsewhere.
    pub reveal: Option<usize>,
    /// How it is sorted.
    pub sort: Sort,
    /// What names are searched for.
    pub query: &'a SearchQuery,
    /// Colours.
    pub theme: &'a Theme,
}

/// What a person did with a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableInput {
    /// The row that was clicked or moved to.
    pub selected: Option<usize>,
    /// The row that was clicked twice, or on which Enter was pressed.
    pub activated: Option<usize>,
    /// How it is to be sorted.
    pub sort: Option<Sort>,
    /// What is to be expanded or collapsed.
    pub branch: Option<BranchInput>,
}

/// What a person did with a row of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BranchInput {
    /// A click on the triangle of this row.
    Toggle(usize),
    /// `→`
    Open,
    /// `←`
    Close,
    /// Shift and `→`: the heaviest path.
    OpenHeaviest,
    /// `*`, or a click with Alt on the triangle of the row, which is selected then.
    OpenAll,
}

impl Table<'_> {
    /// Draws the table into all of the room that `ui` has left, and takes its input.
    pub fn show(self, ui: &mut Ui, rows: &dyn TableRows, actions: &mut Vec<Action>) -> TableInput {
        let rect = whole_rows(ui.available_rect_before_wrap(), rows.len());
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| self.show_in(ui, rect, rows, actions)).inner
    }

    fn show_in(mut self, ui: &mut Ui, rect: Rect, rows: &dyn TableRows, actions: &mut Vec<Action>) -> TableInput {
        let id = ui.scope_id().with(("table", self.name));
        let mut input = TableInput::default();
        let focused = self.take_focus(ui, id, rect, rows);
        if focused {
            self.keys(ui, rect, rows, &mut input, actions);
        }
        self.selected = input.selected.or(self.selected);
        let target = self.target(ui, id, input.selected, rows.len(), visible_rows(rect));
        let mut table = egui_table::Table::new()
            .id_salt(self.name)
            .num_rows(rows.len() as u64)
            .headers([HeaderRow::new(HEADER_HEIGHT)]);
        let columns = fit_columns(ui, table.get_id(ui), rows.columns());
        table = table.columns(columns);
        if let Some((row, align)) = target {
            table = table.scroll_to_row(row as u64, align);
        }
        scroll_style(ui.style_mut());
        ui.visuals_mut().widgets.noninteractive.bg_stroke.color = self.theme.grid;
        let painter = CellPainter::new(ui, self.theme, self.query);
        let mut delegate = Delegate { table: &self, rows, id, focused, painter, input: &mut input, actions };
        table.show(ui, &mut delegate);
        if focused {
            let stroke = egui::Stroke::new(1.0, self.theme.accent);
            ui.painter().rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Inside);
        }
        input
    }

    /// The row to scroll to, and where it is to be. `moved` is where the keyboard went.
    fn target(
        &self,
        ui: &Ui,
        id: Id,
        moved: Option<usize>,
        len: usize,
        visible: usize,
    ) -> Option<(usize, Option<Align>)> {
        let other_rows = self.shows_other_rows(ui, id);
        match (moved, self.reveal.filter(|row| *row < len)) {
            // The keyboard moves no further than it must.
            (Some(row), _) => Some((row, None)),
            // What was selected elsewhere comes to the middle, with a whole row at the top.
            (None, Some(row)) => Some((row.saturating_sub(visible / 2), Some(Align::TOP))),
            // The first rows are the ones that were asked for.
            (None, None) => other_rows.then_some((0, Some(Align::TOP))),
        }
    }

    /// Whether it is sorted in another way than in the last frame, or something else is searched for.
    fn shows_other_rows(&self, ui: &Ui, id: Id) -> bool {
        let remembered = id.with("rows of");
        let before = ui.data(|data| data.get_temp::<(Sort, SearchQuery)>(remembered));
        let is_other = before.as_ref().is_some_and(|(sort, query)| *sort != self.sort || query != self.query);
        if before.is_none() || is_other {
            ui.data_mut(|data| data.insert_temp(remembered, (self.sort, self.query.clone())));
        }
        is_other
    }

    /// Whether the table has the keyboard.
    fn take_focus(&self, ui: &Ui, id: Id, rect: Rect, rows: &dyn TableRows) -> bool {
        let response = ui.interact(rect, id, Sense::focusable_noninteractive());
        let is_tree = !rows.is_empty() && rows.branch(0).is_some();
        let role = if is_tree { Role::TreeGrid } else { Role::Table };
        response.widget_info(|| WidgetInfo::labeled(role, true, self.name));
        ui.accesskit_node_builder(id, |node| {
            node.set_row_count(rows.len());
            if let Some(selected) = self.selected {
                node.set_active_descendant(row_id(id, selected).accesskit_id());
            }
        });
        if response.has_focus() {
            let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        }
        response.has_focus()
    }

    fn keys(&self, ui: &Ui, rect: Rect, rows: &dyn TableRows, input: &mut TableInput, actions: &mut Vec<Action>) {
        let Some(last) = rows.len().checked_sub(1) else { return };
        let pressed = |key: Key| take_key(ui, Modifiers::NONE, key);
        let page = visible_rows(rect).saturating_sub(1).max(1);
        // Without a selection, the first key selects an end.
        let down = pressed(Key::ArrowDown) + pressed(Key::PageDown) * page;
        let up = pressed(Key::ArrowUp) + pressed(Key::PageUp) * page;
        let (home, end) = (pressed(Key::Home) > 0, pressed(Key::End) > 0);
        let from = self.selected.filter(|row| *row <= last);
        let moved = match from {
            _ if home => Some(0),
            _ if end => Some(last),
            Some(from) if down > 0 || up > 0 => Some((from + down).saturating_sub(up).min(last)),
            None if down > 0 || up > 0 => Some(0),
            _ => None,
        };
        input.selected = moved.filter(|moved| from != Some(*moved));
        if pressed(Key::Enter) > 0 {
            input.activated = moved.or(from);
        }
        let heaviest = take_key(ui, Modifiers::SHIFT, Key::ArrowRight) > 0;
        input.branch = if heaviest {
            Some(BranchInput::OpenHeaviest)
        } else if pressed(Key::ArrowRight) > 0 {
            Some(BranchInput::Open)
        } else if pressed(Key::ArrowLeft) > 0 {
            Some(BranchInput::Close)
        } else {
            let typed = |event: &Event| matches!(event, Event::Text(text) if text == "*");
            ui.input(|input| input.events.iter().any(typed)).then_some(BranchInput::OpenAll)
        };
        let copies = ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Copy)));
        if let Some(row) = moved.or(from).filter(|_| copies) {
            actions.push(Action::Copy(record_line(rows, row)));
        }
    }
}

/// All rows with a line of titles, as tab-separated values.
pub fn as_tsv(rows: &dyn TableRows) -> String {
    let titles: Vec<&str> = rows.columns().iter().map(|column| column.record_title.as_str()).collect();
    let mut text = titles.join("\t");
    for row in 0..rows.len() {
        text.push('\n');
        text.push_str(&record_line(rows, row));
    }
    text.push('\n');
    text
}

fn record_line(rows: &dyn TableRows, row: usize) -> String {
    let records = (0..rows.columns().len()).map(|column| rows.record(row, column));
    records.collect::<Vec<_>>().join("\t")
}

/// As much of `rect` as holds whole rows, if there are more of them than fit: none is cut when the table is scrolled to
/// a row or to its end.
#[expect(clippy::cast_precision_loss, reason = "a screen has few rows")]
fn whole_rows(rect: Rect, len: usize) -> Rect {
    let fit = visible_rows(rect);
    if fit == 0 || len <= fit {
        return rect;
    }
    rect.with_max_y(rect.top() + HEADER_HEIGHT + fit as f32 * ROW_HEIGHT)
}

/// A thin bar where there is more to see, and nothing that covers rows.
fn scroll_style(style: &mut Style) {
    style.scroll_animation = ScrollAnimation::none();
    style.spacing.scroll = ScrollStyle { floating_width: 4.0, foreground_color: true, ..ScrollStyle::thin() };
    style.spacing.scroll.fade.strength = 0.0;
    // Scrolling to a row adds it, which would cut the rows at the edges.
    style.spacing.item_spacing = Vec2::ZERO;
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a screen has few rows")]
fn visible_rows(rect: Rect) -> usize {
    ((rect.height() - HEADER_HEIGHT) / ROW_HEIGHT).max(0.0) as usize
}

fn row_id(table: Id, row: usize) -> Id {
    table.with(("row", row))
}

struct Delegate<'a> {
    table: &'a Table<'a>,
    rows: &'a dyn TableRows,
    id: Id,
    focused: bool,
    painter: CellPainter<'a>,
    input: &'a mut TableInput,
    actions: &'a mut Vec<Action>,
}

impl TableDelegate for Delegate<'_> {
    fn prepare(&mut self, info: &PrefetchInfo) {
        // The first one is above those in sight, or at most cut.
        let first = info.visible_rows.start + u64::from(info.visible_rows.start > 0);
        let visible = to_row(first)..to_row(info.visible_rows.end);
        self.painter.indent(visible.filter_map(|row| self.rows.branch(row)).map(|(depth, _)| depth));
    }

    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        let column = &self.rows.columns()[cell.col_range.start];
        let rect = ui.max_rect();
        let response = ui.interact(rect, self.id.with(("header", column.key)), Sense::click());
        let sort = self.table.sort;
        let descending = (sort.key == column.key).then_some(sort.descending);
        response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, &column.title));
        if let Some(descending) = descending {
            let direction = if descending { SortDirection::Descending } else { SortDirection::Ascending };
            ui.accesskit_node_builder(response.id, |node| node.set_sort_direction(direction));
        }
        self.painter.header(ui, rect, column, descending, &response);
        if column.sortable && response.clicked() {
            let descending = descending.map_or(column.kind == ColumnKind::Number, |descending| !descending);
            self.input.sort = Some(Sort { key: column.key, descending });
        }
        if !column.hint.is_empty() {
            response.on_hover_text(column.hint.as_str());
        }
        reserve(ui, column.width);
    }

    fn row_ui(&mut self, ui: &mut Ui, row: u64) {
        // The region of sticky columns, of which there are none, is asked for its rows too.
        if ui.clip_rect().width() <= 0.0 {
            return;
        }
        let row = to_row(row);
        let visible = ui.max_rect().with_max_x(ui.clip_rect().right());
        let response = ui.interact(visible, row_id(self.id, row), Sense::CLICK);
        let selected = self.table.selected == Some(row);
        let theme = self.table.theme;
        let fill = match (selected, response.hovered()) {
            (true, _) => theme.accent.gamma_multiply(if self.focused { 0.42 } else { 0.3 }),
            (false, true) => theme.accent.gamma_multiply(0.1),
            (false, false) if row % 2 == 1 => theme.stripe,
            (false, false) => theme.canvas,
        };
        ui.painter().rect_filled(visible, 0.0, fill);
        self.describe(ui, row, selected, &response);
        self.respond(ui, row, &response);
    }

    fn cell_ui(&mut self, ui: &mut Ui, cell: &CellInfo) {
        let row = to_row(cell.row_nr);
        let column = &self.rows.columns()[cell.col_nr];
        let shown = self.rows.cell(row, cell.col_nr);
        let needed = self.painter.cell(ui, &shown, self.rows.is_weak(row));
        if let Cell::Name(name) = &shown
            && name.expanded.is_some()
        {
            let triangle = self.painter.triangle_rect(ui.max_rect(), name);
            let response = ui.interact(triangle, self.id.with(("triangle", row)), Sense::CLICK);
            if response.clicked() && ui.input(|input| input.modifiers.alt) {
                self.input.selected = Some(row);
                self.input.branch = Some(BranchInput::OpenAll);
            } else if response.clicked() {
                self.input.branch = Some(BranchInput::Toggle(row));
            }
        }
        reserve(ui, if column.kind == ColumnKind::Name { column.width } else { needed });
    }

    fn default_row_height(&self) -> f32 {
        ROW_HEIGHT
    }
}

impl Delegate<'_> {
    /// Tells assistive technology what the row says.
    fn describe(&self, ui: &Ui, row: usize, selected: bool, response: &Response) {
        ui.accesskit_node_builder(response.id, |node| {
            node.set_role(Role::Row);
            node.set_label(describe_row(self.rows, row));
            node.set_row_index(row);
            node.set_selected(selected);
            node.set_bounds(bounds(response.rect));
            node.add_action(egui::accesskit::Action::Click);
            if let Some((level, expanded)) = self.rows.branch(row) {
                node.set_level(level + 1);
                if let Some(expanded) = expanded {
                    node.set_expanded(expanded);
                    node.set_toggled(if expanded { Toggled::True } else { Toggled::False });
                }
            }
        });
    }

    fn respond(&mut self, ui: &Ui, row: usize, response: &Response) {
        if response.clicked() || response.secondary_clicked() {
            self.input.selected = Some(row);
            ui.memory_mut(|memory| memory.request_focus(self.id));
        }
        if response.double_clicked() {
            self.input.activated = Some(row);
        }
        response.context_menu(|ui| row_menu(ui, self.rows, row, self.actions));
        if response.hovered() && !response.context_menu_opened() {
            response.clone().on_hover_ui_at_pointer(|ui| self.rows.tooltip(ui, row));
        }
    }
}

fn row_menu(ui: &mut Ui, rows: &dyn TableRows, row: usize, actions: &mut Vec<Action>) {
    let name = rows.name(row);
    if ui.button("Copy name").clicked() {
        actions.push(Action::Copy(name.clone().into_owned()));
    }
    if let Some(place) = rows.place(row)
        && ui.button("Copy name with file:line").clicked()
    {
        actions.push(Action::Copy(format!("{name} ({place})")));
    }
    if ui.button("Search for this name").clicked() {
        actions.push(Action::Search(name.into_owned()));
    }
    rows.menu(ui, row, actions);
    ui.separator();
    if ui.button("Copy row as TSV").clicked() {
        actions.push(Action::Copy(record_line(rows, row)));
    }
    if ui.button("Copy table as TSV").clicked() {
        actions.push(Action::Copy(as_tsv(rows)));
    }
}

/// The name, then title and value of each other column that has one.
fn describe_row(rows: &dyn TableRows, row: usize) -> String {
    let mut text = rows.name(row).into_owned();
    for (index, column) in rows.columns().iter().enumerate().filter(|(_, column)| column.kind != ColumnKind::Name) {
        let value = rows.cell(row, index).text().trim().to_owned();
        if !value.is_empty() {
            text.push_str(&format!(", {} {value}", column.title));
        }
    }
    text
}

/// In a pass that measures columns, says how wide the content is.
fn reserve(ui: &mut Ui, width: f32) {
    if ui.is_sizing_pass() {
        let left = ui.max_rect().left_center();
        ui.advance_cursor_after_rect(Rect::from_min_max(left, pos2(left.x + width, left.y)));
    }
}

fn bounds(rect: Rect) -> egui::accesskit::Rect {
    let [x0, y0, x1, y1] = [rect.left(), rect.top(), rect.right(), rect.bottom()].map(f64::from);
    egui::accesskit::Rect { x0, y0, x1, y1 }
}

fn to_row(row: u64) -> usize {
    usize::try_from(row).expect("rows are numbered with usize")
}

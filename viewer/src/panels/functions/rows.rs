//! Functions as rows of a table.

use std::borrow::Cow;

use egui::{RichText, Ui};
use traceview_core::analysis::{Callee, FunctionRow};
use traceview_core::model::FunctionId;
use traceview_core::report::{is_guess, known_path, printable};

use super::order::Ordered;
use crate::action::Action;
use crate::document::Document;
use crate::panels::amounts::{Words, count};
use crate::panels::labels;
use crate::theme::Theme;
use crate::transforms::{self, Target};
use crate::widget::{Cell, NameCell, TableColumn, TableRows};

/// The listed functions.
pub(super) struct Rows<'a> {
    document: &'a Document,
    theme: &'a Theme,
    ordered: &'a Ordered,
    words: Words,
    columns: Vec<TableColumn>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(document: &'a Document, theme: &'a Theme, ordered: &'a Ordered) -> Self {
        let words = Words::new(ordered.tables.whole());
        let mut columns = vec![
            words.amount_column("self", "in the function itself"),
            Words::percent_column("self %", "self"),
            words.amount_column("total", "in the function and all that it called"),
            Words::percent_column("total %", "total"),
        ];
        columns.extend(words.count_column("self", "in the function itself"));
        columns.push(labels::name_column("function"));
        columns.push(labels::origin_column());
        let hint =
            "The line of the function with the most of its self; of system calls, the line that they were called from";
        columns.push(labels::text_column("line", "hottest line", hint));
        Self { document, theme, ordered, words, columns }
    }

    pub(super) fn function(&self, row: usize) -> FunctionId {
        self.row(row).function
    }

    fn row(&self, row: usize) -> &FunctionRow {
        self.ordered.function(row)
    }

    fn found(&self, function: FunctionId) -> bool {
        self.ordered.tables.found.as_ref().is_some_and(|found| found.contains(function))
    }

    /// Whether the hottest line is that of a call: system calls have no lines of their own.
    fn is_of_caller(&self, row: &FunctionRow) -> bool {
        row.hottest.is_some_and(|hot| hot.function != row.function)
    }

    fn short_place(&self, row: &FunctionRow) -> String {
        row.hottest.and_then(|hot| labels::short_place(self.document, hot)).unwrap_or_default()
    }
}

impl TableRows for Rows<'_> {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn len(&self) -> usize {
        self.ordered.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let function = self.row(row);
        let number = |text: String| Cell::Number { text, bar: None };
        match self.columns[column].key {
            "self" => Cell::Number { text: self.words.amount(function.own), bar: self.words.bar(function.own) },
            "self %" => number(self.words.percent(function.own)),
            "total" => Cell::Number { text: self.words.amount(function.total), bar: self.words.bar(function.total) },
            "total %" => number(self.words.percent(function.total)),
            "samples" => number(count(function.own.samples)),
            "name" => Cell::Name(NameCell {
                text: self.name(row),
                swatch: labels::swatch(self.document, self.theme, Callee::Function(function.function)),
                depth: 0,
                expanded: None,
                in_tree: false,
                found: self.found(function.function),
            }),
            "crate" => Cell::Origin(labels::origin(self.document, function.function).unwrap_or_default().into()),
            _ => Cell::Place(self.short_place(function).into()),
        }
    }

    fn record(&self, row: usize, column: usize) -> Cow<'_, str> {
        let function = self.row(row);
        match self.columns[column].key {
            "self" => self.words.record(function.own).into(),
            "self %" => self.words.record_percent(function.own).into(),
            "total" => self.words.record(function.total).into(),
            "total %" => self.words.record_percent(function.total).into(),
            "samples" => function.own.samples.to_string().into(),
            "name" => printable(self.document.function_name(function.function)),
            "crate" => labels::origin(self.document, function.function).unwrap_or_default().into(),
            _ => self.short_place(function).into(),
        }
    }

    fn name(&self, row: usize) -> Cow<'_, str> {
        self.document.function_name(self.function(row)).into()
    }

    fn place(&self, row: usize) -> Option<String> {
        let row = self.row(row);
        match row.hottest {
            Some(hot) => labels::full_place(self.document, hot.function, Some(hot.line)),
            None => labels::full_place(self.document, row.function, None),
        }
    }

    fn is_weak(&self, row: usize) -> bool {
        is_guess(self.ordered.tables.whole(), self.row(row).own.samples)
    }

    fn tooltip(&self, ui: &mut Ui, row: usize) {
        let function = self.row(row);
        labels::describe(ui, self.document, self.theme, Callee::Function(function.function));
        if let Some(place) = self.place(row) {
            let called_from = if self.is_of_caller(function) { "called from " } else { "" };
            ui.label(format!("{called_from}{}", known_path(&place)));
        }
        ui.label(format!("self: {}", self.words.sentence(function.own)));
        ui.label(format!("total: {}", self.words.sentence(function.total)));
        if self.is_weak(row) {
            ui.label(RichText::new("Greyed: too few samples to judge its self.").color(self.theme.weak_text));
        }
    }

    fn menu(&self, ui: &mut Ui, row: usize, actions: &mut Vec<Action>) {
        let target = Target { function: self.function(row), place: None };
        transforms::menu(ui, self.document, &target, actions);
    }

    fn branch(&self, _: usize) -> Option<(usize, Option<bool>)> {
        None
    }
}

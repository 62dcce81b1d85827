//! Names of slices as rows of a table.

use std::borrow::Cow;

use egui::{RichText, Ui};
use traceview_core::analysis::{Amount, Measure, SliceRow, Unit, Whole};
use traceview_core::model::Nanos;
use traceview_core::report::{format_duration, printable};

use super::order::Ordered;
use crate::action::Action;
use crate::document::Document;
use crate::panels::amounts::{Words, column, count, float};
use crate::panels::labels;
use crate::theme::Theme;
use crate::transforms;
use crate::widget::{Cell, NameCell, TableColumn, TableRows};

/// The listed names.
pub(super) struct Rows<'a> {
    document: &'a Document,
    theme: &'a Theme,
    ordered: &'a Ordered,
    words: Words,
    columns: Vec<TableColumn>,
}

/// Columns are this wide, in points.
const COUNT: f32 = 84.0;
const DURATION: f32 = 90.0;

impl<'a> Rows<'a> {
    pub(super) fn new(document: &'a Document, theme: &'a Theme, ordered: &'a Ordered) -> Self {
        let words = Words::new(&Whole {
            measure: Measure::Slices,
            unit: Unit::Nanoseconds,
            total: Amount { value: float(ordered.list.whole), samples: 1 },
            unsampled: 0,
            stackless: Amount::default(),
            effective_samples: None,
        });
        let of_slices = |key: &'static str, unit: &str, hint: &str, width: f32| {
            column(key, key, format!("{key}{unit}"), hint.to_owned(), width)
        };
        let columns = vec![
            words.amount_column("self", "and in no slice inside them"),
            Words::percent_column("self %", "self"),
            words.amount_column("total", "of this name; one inside another of its name counts once"),
            Words::percent_column("total %", "total"),
            of_slices("count", "", "Slices of this name", COUNT),
            of_slices("mean", " (ms)", "Mean duration of these slices", DURATION),
            of_slices("longest", " (ms)", "Duration of the longest of them; a click selects it", DURATION),
            labels::name_column("slice"),
            labels::text_column("category", "category", "The category of the first of them"),
        ];
        Self { document, theme, ordered, words, columns }
    }

    fn row(&self, row: usize) -> &SliceRow {
        self.ordered.row(row)
    }

    fn category(&self, row: usize) -> &str {
        let category = self.document.profile.categories[self.row(row).category.index()].name;
        self.document.profile.string(category)
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
        let slices = self.row(row);
        let number = |text: String| Cell::Number { text, bar: None };
        let [own, total] = [slices.own, slices.total].map(|time| amount(time, slices));
        match self.columns[column].key {
            "self" => Cell::Number { text: self.words.amount(own), bar: self.words.bar(own) },
            "self %" => number(self.words.percent(own)),
            "total" => Cell::Number { text: self.words.amount(total), bar: self.words.bar(total) },
            "total %" => number(self.words.percent(total)),
            "count" => number(count(slices.count)),
            "mean" => number(self.words.amount(amount(slices.mean(), slices))),
            "longest" => number(self.words.amount(amount(slices.longest.2, slices))),
            "name" => Cell::Name(NameCell {
                text: self.name(row),
                swatch: self.theme.category(self.document.profile.categories[slices.category.index()].color),
                depth: 0,
                expanded: None,
                in_tree: false,
                found: !self.ordered.wanted.query.is_empty(),
            }),
            _ => Cell::Origin(self.category(row).into()),
        }
    }

    fn record(&self, row: usize, column: usize) -> Cow<'_, str> {
        let slices = self.row(row);
        let time = |time: Nanos| self.words.record(amount(time, slices)).into();
        let percent = |time: Nanos| self.words.record_percent(amount(time, slices)).into();
        match self.columns[column].key {
            "self" => time(slices.own),
            "self %" => percent(slices.own),
            "total" => time(slices.total),
            "total %" => percent(slices.total),
            "count" => slices.count.to_string().into(),
            "mean" => time(slices.mean()),
            "longest" => time(slices.longest.2),
            "name" => printable(self.document.profile.string(slices.name)),
            _ => self.category(row).into(),
        }
    }

    fn name(&self, row: usize) -> Cow<'_, str> {
        self.document.profile.string(self.row(row).name).into()
    }

    fn place(&self, _: usize) -> Option<String> {
        None
    }

    fn is_weak(&self, _: usize) -> bool {
        false
    }

    fn tooltip(&self, ui: &mut Ui, row: usize) {
        let slices = self.row(row);
        ui.label(RichText::new(printable(&self.name(row))).monospace().color(self.theme.text));
        ui.label(RichText::new(self.category(row)).color(self.theme.weak_text));
        ui.label(format!("self: {}", self.words.sentence(amount(slices.own, slices))));
        ui.label(format!("total: {}", self.words.sentence(amount(slices.total, slices))));
        let (thread, _, longest) = slices.longest;
        let thread = printable(self.document.thread_name(thread));
        ui.label(format!("longest: {} on {thread}; a double click shows it", format_duration(longest)));
    }

    fn menu(&self, ui: &mut Ui, row: usize, actions: &mut Vec<Action>) {
        transforms::within_menu(ui, &self.name(row), actions);
    }

    fn branch(&self, _: usize) -> Option<(usize, Option<bool>)> {
        None
    }
}

fn amount(time: Nanos, of: &SliceRow) -> Amount {
    Amount { value: float(time), samples: of.count }
}

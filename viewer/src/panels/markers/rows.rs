//! Markers as rows of a table.

use std::borrow::Cow;

use egui::{RichText, Ui};
use traceview_core::report::{format_duration, printable, shorten};

use super::order::{Entry, Ordered, span_of};
use crate::action::Action;
use crate::describe;
use crate::document::Document;
use crate::panels::amounts::column;
use crate::panels::labels;
use crate::theme::Theme;
use crate::transforms;
use crate::widget::{Cell, ColumnKind, NameCell, TableColumn, TableRows};

/// The listed markers.
pub(super) struct Rows<'a> {
    document: &'a Document,
    theme: &'a Theme,
    ordered: &'a Ordered,
    columns: Vec<TableColumn>,
}

/// Columns are this wide, in points.
const START: f32 = 116.0;
const DURATION: f32 = 92.0;
const NAME: f32 = 200.0;

impl<'a> Rows<'a> {
    pub(super) fn new(document: &'a Document, theme: &'a Theme, ordered: &'a Ordered) -> Self {
        let details = labels::text_column("details", "details", "The marker's data");
        let details = TableColumn { kind: ColumnKind::Wide, width: NAME, ..details };
        let columns = vec![
            column("start", "start", "start (s)".to_owned(), "When it began".to_owned(), START),
            column("duration", "duration", "duration (ms)".to_owned(), "How long it lasted".to_owned(), DURATION),
            labels::name_column("marker"),
            labels::text_column("thread", "thread", "The thread that it was recorded on"),
            details,
            labels::text_column("category", "category", ""),
        ];
        Self { document, theme, ordered, columns }
    }

    fn marker(&self, row: usize) -> (Entry, traceview_core::model::Marker) {
        let entry = self.ordered.entry(row);
        let marker = span_of(self.document, entry).marker;
        (entry, self.document.profile.threads[entry.thread.index()].markers.get(marker.index()))
    }

    fn details(&self, row: usize) -> String {
        let entry = self.ordered.entry(row);
        describe::marker_line(self.document, entry.thread, span_of(self.document, entry).marker)
    }
}

impl TableRows for Rows<'_> {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn len(&self) -> usize {
        self.ordered.found.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (entry, marker) = self.marker(row);
        let span = span_of(self.document, entry);
        let profile = &self.document.profile;
        let category = &profile.categories[marker.category.index()];
        match self.columns[column].key {
            "start" => Cell::Number { text: describe::moment(span.start), bar: None },
            "duration" if span.is_moment => Cell::Number { text: String::new(), bar: None },
            "duration" => Cell::Number { text: format_duration(span.duration), bar: None },
            "name" => Cell::Name(NameCell {
                text: self.name(row),
                swatch: self.theme.category(category.color),
                depth: 0,
                expanded: None,
                in_tree: false,
                found: !self.ordered.wanted.query.is_empty(),
            }),
            "thread" => Cell::Text(describe::short_thread(self.document, entry.thread).into()),
            "details" => Cell::Text(self.details(row).into()),
            _ => Cell::Text(profile.string(category.name).into()),
        }
    }

    fn record(&self, row: usize, column: usize) -> Cow<'_, str> {
        let (entry, marker) = self.marker(row);
        let span = span_of(self.document, entry);
        let profile = &self.document.profile;
        let text = |text: &str| -> Cow<'_, str> { printable(text).into_owned().into() };
        match self.columns[column].key {
            "start" => describe::moment(span.start).trim_end_matches(" s").to_owned().into(),
            "duration" if span.is_moment => "".into(),
            #[expect(clippy::cast_precision_loss, reason = "as exact as other times in spreadsheets")]
            "duration" => format!("{:.6}", span.duration.0 as f64 / 1e6).into(),
            "name" => text(&self.name(row)),
            "thread" => text(&describe::short_thread(self.document, entry.thread)),
            "details" => text(&self.details(row)),
            _ => text(profile.string(profile.categories[marker.category.index()].name)),
        }
    }

    fn name(&self, row: usize) -> Cow<'_, str> {
        self.document.profile.string(self.marker(row).1.name).into()
    }

    fn place(&self, _: usize) -> Option<String> {
        None
    }

    fn is_weak(&self, _: usize) -> bool {
        false
    }

    fn tooltip(&self, ui: &mut Ui, row: usize) {
        const MOST_FACTS: usize = 16;
        const LONGEST: usize = 160;
        let picked = self.ordered.picked(self.document, row);
        ui.label(RichText::new(printable(&shorten(&self.name(row), LONGEST))).monospace().color(self.theme.text));
        let mut facts = describe::time_facts(&picked);
        facts.push(("Thread".into(), describe::thread(self.document, picked.thread)));
        let entry = self.ordered.entry(row);
        facts.extend(describe::marker_facts(self.document, entry.thread, span_of(self.document, entry).marker));
        for (key, value) in facts.iter().take(MOST_FACTS) {
            let line = format!("{key}: {value}");
            ui.label(RichText::new(printable(&shorten(&line, LONGEST))).color(self.theme.weak_text));
        }
        ui.label("A double click shows it");
    }

    fn menu(&self, ui: &mut Ui, row: usize, actions: &mut Vec<Action>) {
        transforms::within_menu(ui, &self.name(row), actions);
    }

    fn branch(&self, _: usize) -> Option<(usize, Option<bool>)> {
        None
    }
}

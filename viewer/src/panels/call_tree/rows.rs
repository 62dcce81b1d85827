//! Nodes of a call tree as rows of a table.

use std::borrow::Cow;

use egui::{RichText, Ui};
use traceview_core::analysis::{Callee, Node, Tree};
use traceview_core::report::{is_guess, printable};

use super::outline::{OutlineRow, is_found};
use crate::action::Action;
use crate::call_path::CallPath;
use crate::document::Document;
use crate::panels::amounts::{Words, count};
use crate::panels::labels;
use crate::search::FunctionSet;
use crate::theme::Theme;
use crate::transforms::{self, Place, Target};
use crate::widget::{Cell, NameCell, TableColumn, TableRows};

/// The rows that are shown of a tree.
pub(super) struct Rows<'a> {
    document: &'a Document,
    theme: &'a Theme,
    found: Option<&'a FunctionSet>,
    tree: &'a Tree,
    outline: &'a [OutlineRow],
    words: Words,
    columns: Vec<TableColumn>,
    inverted: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        document: &'a Document,
        theme: &'a Theme,
        found: Option<&'a FunctionSet>,
        tree: &'a Tree,
        outline: &'a [OutlineRow],
        inverted: bool,
    ) -> Self {
        let words = Words::new(&tree.whole);
        let below = if inverted {
            "in the outermost function here when it was called by those below it"
        } else {
            "in the function and all that it called here"
        };
        let mut columns = vec![
            words.amount_column("total", below),
            Words::percent_column("total %", "total"),
            words.amount_column("self", "in the function itself, here"),
        ];
        columns.extend(words.count_column("total", below));
        columns.push(labels::name_column(if inverted { "function, below it its callers" } else { "function" }));
        columns.push(TableColumn { sortable: false, ..labels::origin_column() });
        Self { document, theme, found, tree, outline, words, columns, inverted }
    }

    fn node(&self, row: usize) -> &Node {
        self.tree.node(self.outline[row].id)
    }

    fn origin(&self, callee: Callee) -> String {
        match callee {
            Callee::Function(function) => labels::origin(self.document, function).unwrap_or_default(),
            Callee::Wait(_) => String::new(),
        }
    }
}

impl TableRows for Rows<'_> {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn len(&self) -> usize {
        self.outline.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let node = self.node(row);
        let number = |text: String| Cell::Number { text, bar: None };
        match self.columns[column].key {
            "total" => Cell::Number { text: self.words.amount(node.total), bar: self.words.bar(node.total) },
            "total %" => number(self.words.percent(node.total)),
            "self" => Cell::Number { text: self.words.amount(node.own), bar: self.words.bar(node.own) },
            "samples" => number(count(node.total.samples)),
            "name" => Cell::Name(NameCell {
                text: self.name(row),
                swatch: labels::swatch(self.document, self.theme, node.callee),
                depth: node.depth as usize,
                expanded: self.outline[row].expanded,
                in_tree: true,
                found: is_found(self.found, node.callee),
            }),
            _ => Cell::Origin(self.origin(node.callee).into()),
        }
    }

    fn record(&self, row: usize, column: usize) -> Cow<'_, str> {
        let node = self.node(row);
        match self.columns[column].key {
            "total" => self.words.record(node.total).into(),
            "total %" => self.words.record_percent(node.total).into(),
            "self" => self.words.record(node.own).into(),
            "samples" => node.total.samples.to_string().into(),
            "name" => {
                const MOST_SPACES: usize = 200;
                let indent = " ".repeat((2 * node.depth as usize).min(MOST_SPACES));
                format!("{indent}{}", printable(&node.callee.name(&self.document.profile))).into()
            }
            _ => self.origin(node.callee).into(),
        }
    }

    fn name(&self, row: usize) -> Cow<'_, str> {
        self.node(row).callee.name(&self.document.profile)
    }

    fn place(&self, row: usize) -> Option<String> {
        match self.node(row).callee {
            Callee::Function(function) => labels::full_place(self.document, function, None),
            Callee::Wait(_) => None,
        }
    }

    fn is_weak(&self, row: usize) -> bool {
        is_guess(&self.tree.whole, self.node(row).total.samples)
    }

    fn tooltip(&self, ui: &mut Ui, row: usize) {
        let node = self.node(row);
        labels::describe_node(ui, self.document, self.theme, node, &self.words);
        ui.label(format!(
            "depth: {} (so many rows are around it; where trees are deep, it stands before the names)",
            node.depth
        ));
        if self.is_weak(row) {
            ui.label(RichText::new("Greyed: too few samples to judge its total.").color(self.theme.weak_text));
        }
    }

    fn menu(&self, ui: &mut Ui, row: usize, actions: &mut Vec<Action>) {
        let Callee::Function(function) = self.node(row).callee else { return };
        let path = CallPath::of_node(self.tree, self.outline[row].id).functions();
        // Above waits there are the calls that waited; in the inverted tree a wait is the innermost.
        let place = if self.inverted { Place::Above(path) } else { Place::Below(path) };
        transforms::menu(ui, self.document, &Target { function, place: Some(place) }, actions);
    }

    fn branch(&self, row: usize) -> Option<(usize, Option<bool>)> {
        Some((self.node(row).depth as usize, self.outline[row].expanded))
    }
}

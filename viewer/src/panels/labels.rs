//! What is said of functions besides their names.

use egui::{Color32, RichText, Ui};
use traceview_core::analysis::{Callee, HotLine, Node};
use traceview_core::model::{FunctionId, FunctionKind, StandardCategory};
use traceview_core::report::{known_path, printable, short_path, shorten};

use super::amounts::Words;
use crate::document::Document;
use crate::theme::Theme;
use crate::widget::{ColumnKind, TableColumn};

/// The crate with its version, or else the library, or that it is the kernel.
pub(super) fn origin(document: &Document, function: FunctionId) -> Option<String> {
    let profile = &document.profile;
    if let Some(origin) = profile.functions.origin[function.index()] {
        let origin = profile.crates[origin.index()];
        let name = profile.string(origin.name);
        return Some(match origin.version {
            Some(version) => format!("{name} {}", profile.string(version)),
            None => name.to_owned(),
        });
    }
    if profile.functions.kind[function.index()] == FunctionKind::Kernel {
        return Some("kernel".to_owned());
    }
    let library = document.facts.library(function)?;
    Some(profile.string(profile.libraries[library.index()].name).to_owned())
}

/// The name of its category.
pub(super) fn category(document: &Document, callee: Callee) -> Option<&str> {
    match callee {
        Callee::Function(function) => {
            let category = document.facts.category(function)?;
            Some(document.profile.string(document.profile.categories[category.index()].name))
        }
        Callee::Wait(_) => Some(StandardCategory::Idle.name()),
    }
}

/// The colour of its category.
pub(super) fn swatch(document: &Document, theme: &Theme, callee: Callee) -> Color32 {
    match callee {
        Callee::Function(function) => theme.category(document.color_of(function)),
        Callee::Wait(kind) => theme.wait(kind.reason),
    }
}

/// `searcher.rs:412`.
pub(super) fn short_place(document: &Document, hot: HotLine) -> Option<String> {
    Some(format!("{}:{}", short_path(source(document, hot.function)?), hot.line))
}

/// `/home/me/tool/src/searcher.rs:412`: the path for other tools, that of the file on this machine if there is one.
pub(super) fn full_place(document: &Document, function: FunctionId, line: Option<u32>) -> Option<String> {
    let path = document.source_file(function)?;
    let line = line.or(document.profile.functions.line[function.index()]);
    Some(line.map_or_else(|| path.to_string(), |line| format!("{path}:{line}")))
}

/// The column of names.
pub(super) fn name_column(title: &str) -> TableColumn {
    TableColumn { width: 300.0, kind: ColumnKind::Name, ..text_column("name", title, "") }
}

/// The column of [`origin`]s.
pub(super) fn origin_column() -> TableColumn {
    text_column("crate", "crate", "The crate, or else the library, that the function is part of")
}

/// A column of other text.
pub(super) fn text_column(key: &'static str, title: &str, hint: &str) -> TableColumn {
    TableColumn {
        key,
        title: title.to_owned(),
        record_title: title.to_owned(),
        hint: hint.to_owned(),
        width: 160.0,
        kind: ColumnKind::Text,
        sortable: true,
    }
}

/// All of a name, and whose code it is.
pub(super) fn describe(ui: &mut Ui, document: &Document, theme: &Theme, callee: Callee) {
    const WIDEST: f32 = 640.0;
    /// Of a full name: more fills the screen.
    const LONGEST: usize = 600;
    ui.set_max_width(WIDEST);
    let name = callee.name(&document.profile);
    ui.label(RichText::new(printable(&name)).monospace().color(theme.text));
    if let Callee::Function(function) = callee
        && let Some(full) = document.profile.functions.full_name[function.index()]
    {
        let full = shorten(document.profile.string(full), LONGEST);
        ui.label(RichText::new(printable(&full)).monospace().small().color(theme.weak_text));
    }
    let origin = match callee {
        Callee::Function(function) => origin(document, function),
        Callee::Wait(_) => None,
    };
    let category = category(document, callee).map(str::to_owned);
    let whose: Vec<String> = [origin, category].into_iter().flatten().collect();
    if !whose.is_empty() {
        ui.label(RichText::new(whose.join(" · ")).color(theme.weak_text));
    }
}

/// What is known of a node of a call tree: its name and place, and how much it and what it called took.
pub(super) fn describe_node(ui: &mut Ui, document: &Document, theme: &Theme, node: &Node, words: &Words) {
    describe(ui, document, theme, node.callee);
    let place = match node.callee {
        Callee::Function(function) => full_place(document, function, None),
        Callee::Wait(_) => None,
    };
    if let Some(place) = place {
        ui.label(known_path(&place));
    }
    ui.label(format!("total: {}", words.sentence(node.total)));
    if node.own.samples > 0 {
        ui.label(format!("self: {}", words.sentence(node.own)));
    }
}

fn source(document: &Document, function: FunctionId) -> Option<&str> {
    let source = document.profile.functions.source[function.index()]?;
    Some(document.profile.string(document.profile.sources[source.index()].path))
}

//! What can be done with a box.

use egui::Ui;
use traceview_core::analysis::{BoxId, Callee};

use super::graph::Part;
use crate::action::Action;
use crate::call_path::CallPath;
use crate::describe;
use crate::document::Document;
use crate::transforms::{self, Place, Target};

/// Shows the context menu of a box.
pub(super) fn show(ui: &mut Ui, document: &Document, part: &Part, id: BoxId, actions: &mut Vec<Action>) {
    let (tree, node) = (&part.graph.tables.tree, part.graph.boxes.node(id));
    let callee = tree.node(node).callee;
    let path = || CallPath::of_node(tree, node);
    let mut entry = |ui: &mut Ui, title: &str, act: &dyn Fn() -> Vec<Action>| {
        if ui.button(title).clicked() {
            actions.extend(act());
            ui.close();
        }
    };
    if part.zoom != Some(id) {
        entry(ui, "Zoom to it", &|| vec![Action::ZoomGraph(Some(path())), Action::SelectCall(path())]);
    }
    if part.zoom.is_some() {
        entry(ui, "Zoom out", &|| vec![Action::ZoomGraph(None)]);
    }
    ui.separator();
    entry(ui, "Copy name", &|| vec![Action::Copy(callee.name(&document.profile).into_owned())]);
    entry(ui, "Copy stack", &|| vec![Action::Copy(describe::call_text(document, tree, node))]);
    ui.separator();
    entry(ui, "Show in call tree", &|| vec![Action::SelectCall(path()), Action::ShowTable("call-tree")]);
    if let Callee::Function(function) = callee {
        entry(ui, "Show in functions", &|| vec![Action::SelectCall(path()), Action::ShowTable("functions")]);
        let place = Some(Place::Below(path().functions()));
        entry(ui, "Search for this function", &|| vec![Action::Search(document.function_name(function).to_owned())]);
        transforms::menu(ui, document, &Target { function, place }, actions);
    }
}

//! What can be done with a box, slice or wait.

use egui::Ui;
use traceview_core::model::{Nanos, Time, TimeRange};

use crate::action::Action;
use crate::call_path::CallPath;
use crate::describe;
use crate::document::Document;
use crate::selection::{Picked, PickedKind};
use crate::transforms::{self, Place, Target};

/// Shows the context menu of `picked`.
pub(super) fn show(ui: &mut Ui, document: &Document, picked: &Picked, actions: &mut Vec<Action>) {
    let mut act = |action: Action, ui: &Ui| {
        actions.push(action);
        ui.close();
    };
    if ui.button("Zoom to it").clicked() {
        act(zoom(picked), ui);
    }
    if ui.button("Select its time").clicked() {
        act(Action::SelectRange(Some(picked.range())), ui);
    }
    ui.separator();
    if ui.button("Copy name").clicked() {
        act(Action::Copy(describe::name(document, picked).into_owned()), ui);
    }
    if let Some(stack) = describe::stack_of(document, picked)
        && ui.button("Copy stack").clicked()
    {
        act(Action::Copy(describe::stack_text(document, stack)), ui);
    }
    if let Some(function) = describe::function_of(document, picked) {
        ui.separator();
        if let PickedKind::Box(stack) = picked.what {
            for (title, table) in [("Show in call tree", "call-tree"), ("Show in flame graph", "flame-graph")] {
                if ui.button(title).clicked() {
                    act(Action::SelectCall(CallPath::of_stack(&document.profile, stack)), ui);
                    act(Action::ShowTable(table), ui);
                }
            }
        }
        if ui.button("Search for this function").clicked() {
            act(Action::Search(document.function_name(function).to_owned()), ui);
        }
        let stack = describe::stack_of(document, picked);
        let place = stack.map(|stack| Place::Below(CallPath::of_stack(&document.profile, stack).functions()));
        transforms::menu(ui, document, &Target { function, place }, actions);
    }
}

/// Shows the time of `picked` with a little room around it.
pub(super) fn zoom(picked: &Picked) -> Action {
    let TimeRange { start, end } = picked.range();
    let room = Nanos((picked.duration.0 / 20).max(1));
    Action::Show(TimeRange { start: Time(start.0.saturating_sub(room.0)), end: end + room })
}

//! The functions panel.

use egui::Ui;

use super::{Panel, PanelContext};

/// The panel.
#[derive(Default)]
pub struct Functions {}

impl Panel for Functions {
    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        ui.label(context.document.name.as_str());
    }
}

//! The menu bar and the tabs of opened files.

use egui::containers::menu::MenuBar;
use egui::{Button, Panel, RichText, ScrollArea, Ui};

use super::{Content, Viewer};
use crate::command::{Command, Menu};

impl Viewer {
    pub(super) fn menu_bar(&mut self, ui: &mut Ui) {
        let mut chosen = None;
        Panel::top("menu bar").show(ui, |ui| {
            MenuBar::new().ui(ui, |ui| {
                for menu in Menu::ALL {
                    ui.menu_button(menu.title(), |ui| {
                        for command in Command::all().filter(|command| command.menu() == menu) {
                            let mut button = Button::new(command.label());
                            if let Some(key) = command.keys().first() {
                                button = button.shortcut_text(key.label());
                            }
                            if ui.add(button).on_hover_text(command.help()).clicked() {
                                chosen = Some(command);
                                ui.close();
                            }
                        }
                    });
                }
                if let Some(Content::Open(open)) = self.tabs.get(self.active).map(|tab| &tab.content) {
                    ui.separator();
                    ui.label(RichText::new(open.headline()).weak());
                }
            });
        });
        if let Some(command) = chosen {
            self.run(command, ui);
        }
    }

    /// The opened files, if there are several.
    pub(super) fn tab_bar(&mut self, ui: &mut Ui) {
        if self.tabs.len() < 2 {
            return;
        }
        let (mut shown, mut closed) = (None, None);
        Panel::top("files").show(ui, |ui| {
            ScrollArea::horizontal().show(ui, |ui| {
                ui.horizontal(|ui| {
                    for (index, tab) in self.tabs.iter().enumerate() {
                        let response = ui.selectable_label(index == self.active, &tab.title);
                        let path =
                            tab.path.as_ref().map_or_else(|| "not saved".to_owned(), |path| path.display().to_string());
                        if response.on_hover_text(path).clicked() {
                            shown = Some(index);
                        }
                        let close = format!("Close {}", tab.title);
                        let button = ui.small_button("x").on_hover_text(&close);
                        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &close));
                        if button.clicked() {
                            closed = Some(index);
                        }
                        ui.separator();
                    }
                });
            });
        });
        if let Some(index) = shown {
            self.active = index;
        }
        if let Some(index) = closed {
            self.close(index);
        }
    }
}

//! Dialogs over the window: opening a file, finding a command, all keys.

use std::path::PathBuf;

use egui::{Grid, Id, Key, Modal, RichText, ScrollArea, TextEdit, Ui};

use super::warnings::WarningList;
use super::{Input, Request, Viewer};
use crate::command::{Command, Menu, Shortcut};
use crate::theme::Theme;

/// A dialog over the window.
pub(super) enum Dialog {
    /// Opening a file by its path.
    Open(String),
    /// Finding a command by its name: what was typed, and which of the found ones is chosen.
    Palette(String, usize),
    /// All keys.
    Keys,
    /// What is to be known of the profile that is shown.
    Warnings(WarningList),
}

/// What a dialog ended with.
pub(super) enum Outcome {
    Run(Command),
    Open(PathBuf),
    ChooseFile,
    Closed,
}

/// What moves in time and is no command: the mouse.
const MOUSE: &[(&str, &str)] = &[
    ("Wheel", "Scroll"),
    ("Ctrl+wheel, pinch", "Zoom at the pointer"),
    ("Shift+wheel", "Move in time"),
    ("Drag", "Move in time"),
    ("Drag on the ruler", "Select a range"),
    ("Shift+drag", "Select a range"),
    ("Click", "Select a box, a marker or a thread"),
    ("Ctrl+click on a thread", "Count it too"),
    ("Double click", "Zoom to the box"),
    ("Right click", "What can be done with it"),
];

impl Dialog {
    pub(super) fn open_file() -> Self {
        Self::Open(String::new())
    }

    pub(super) fn palette() -> Self {
        Self::Palette(String::new(), 0)
    }
}

impl Viewer {
    pub(super) fn dialog(&mut self, ui: &mut Ui, theme: &Theme) {
        let document = self.document().cloned();
        let Some(dialog) = &mut self.dialog else { return };
        let response = Modal::new(Id::unique("dialog")).show(ui, |ui| match dialog {
            Dialog::Open(path) => open_file(ui, path),
            Dialog::Palette(text, chosen) => palette(ui, text, chosen),
            Dialog::Keys => keys(ui),
            Dialog::Warnings(list) => match &document {
                Some(document) => list.ui(ui, theme, &document.profile),
                None => Some(Outcome::Closed),
            },
        });
        let outcome = if response.should_close() { Some(Outcome::Closed) } else { response.inner };
        if outcome.is_some() {
            self.dialog = None;
        }
        match outcome {
            Some(Outcome::Run(command)) => self.run(command, ui),
            Some(Outcome::Open(path)) => self.open(Input::File(path)),
            Some(Outcome::ChooseFile) => self.requests.push(Request::ChooseFile),
            Some(Outcome::Closed) | None => {}
        }
    }
}

fn open_file(ui: &mut Ui, path: &mut String) -> Option<Outcome> {
    ui.set_width(480.0);
    ui.heading("Open a profile");
    let label = ui.label("Path of the file").id;
    let field = ui.add(TextEdit::singleline(path).desired_width(f32::INFINITY)).labelled_by(label);
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if !entered {
        field.request_focus();
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let open = ui.add_enabled(!path.trim().is_empty(), egui::Button::new("Open")).clicked();
        if (open || entered) && !path.trim().is_empty() {
            return Some(Outcome::Open(expand_home(path.trim())));
        }
        if ui.button("Choose…").on_hover_text("The desktop's file dialog").clicked() {
            return Some(Outcome::ChooseFile);
        }
        ui.button("Cancel").clicked().then_some(Outcome::Closed)
    })
    .inner
}

/// `~/x` as people write it.
fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

fn palette(ui: &mut Ui, text: &mut String, chosen: &mut usize) -> Option<Outcome> {
    ui.set_width(480.0);
    let field = ui.add(TextEdit::singleline(text).hint_text("Command").desired_width(f32::INFINITY));
    field.request_focus();
    if field.changed() {
        *chosen = 0;
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let found = find_commands(&words);
    let (down, up, enter) = ui.input(|input| {
        (input.key_pressed(Key::ArrowDown), input.key_pressed(Key::ArrowUp), input.key_pressed(Key::Enter))
    });
    *chosen = match (down, up) {
        (true, _) => *chosen + 1,
        (_, true) => chosen.saturating_sub(1),
        _ => *chosen,
    }
    .min(found.len().saturating_sub(1));
    if found.is_empty() {
        ui.label(RichText::new("No command is called so").weak());
    }
    let mut outcome = None;
    ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
        for (index, command) in found.iter().enumerate() {
            ui.horizontal(|ui| {
                let response = ui.selectable_label(index == *chosen, command.label());
                if response.clicked() || (enter && index == *chosen) {
                    outcome = Some(Outcome::Run(*command));
                }
                if index == *chosen && (up || down) {
                    response.scroll_to_me(None);
                }
                ui.label(RichText::new(command.help()).weak());
                if let Some(key) = command.keys().first() {
                    ui.label(RichText::new(key.label()).monospace());
                }
            });
        }
    });
    outcome
}

/// The commands that contain all of `words`; first those that are called so, then those that are explained so.
fn find_commands(words: &[String]) -> Vec<Command> {
    let contains = |text: String| words.iter().all(|word| text.contains(word));
    let called_so = |command: &Command| contains(command.label().to_lowercase());
    let (mut found, others): (Vec<_>, Vec<_>) = Command::all().partition(called_so);
    let explained = |command: &Command| contains(format!("{} {}", command.label(), command.help()).to_lowercase());
    found.extend(others.into_iter().filter(explained));
    found
}

fn keys(ui: &mut Ui) -> Option<Outcome> {
    ui.heading("Keys");
    ScrollArea::vertical().max_height(520.0).show(ui, |ui| {
        Grid::new("keys").num_columns(2).spacing([24.0, 4.0]).striped(true).show(ui, |ui| {
            for menu in Menu::ALL {
                for command in Command::all().filter(|it| it.menu() == menu && !it.keys().is_empty()) {
                    let labels: Vec<String> = command.keys().iter().map(Shortcut::label).collect();
                    ui.label(RichText::new(labels.join("  ")).monospace());
                    ui.label(command.help());
                    ui.end_row();
                }
            }
            for (what, does) in MOUSE {
                ui.label(RichText::new(*what).monospace());
                ui.label(*does);
                ui.end_row();
            }
        });
    });
    ui.add_space(6.0);
    ui.button("Close").clicked().then_some(Outcome::Closed)
}

//! What the window shows instead of a profile: nothing opened yet, loading, and what went wrong.

use std::path::PathBuf;
use std::time::Duration;

use egui::{Align, Button, Layout, ProgressBar, RichText, Ui, UiBuilder, vec2};

use super::{Request, Settings};
use crate::command::Command;
use crate::loading::Loading;
use crate::theme::Theme;

/// What the person wants to be done about a file that could not be opened.
pub(super) enum Answer {
    Retry,
    Close,
}

const WIDTH: f32 = 460.0;
/// How often progress is shown: more frames would take their time from what is waited for, where software draws them.
const PROGRESS: Duration = Duration::from_millis(200);

/// Nothing is open. Gives the file to open.
pub(super) fn welcome(ui: &mut Ui, theme: &Theme, settings: &Settings, requests: &mut Vec<Request>) -> Option<PathBuf> {
    let mut chosen = None;
    centered(ui, |ui| {
        ui.heading("No profile is open");
        ui.add_space(4.0);
        ui.label("Open a file, drop one here, or record a program:");
        ui.add_space(4.0);
        ui.label(RichText::new("cargo traceview").monospace());
        ui.add_space(12.0);
        if ui.button("Choose a file…").clicked() {
            requests.push(Request::ChooseFile);
        }
        if settings.recent.is_empty() {
            return;
        }
        ui.add_space(16.0);
        ui.label(RichText::new("Recent").color(theme.weak_text));
        for path in &settings.recent {
            let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            let exists = path.exists();
            let button = Button::new(name.as_ref()).frame(false);
            let response = ui.add_enabled(exists, button).on_hover_text(path.display().to_string());
            if response.on_disabled_hover_text(format!("{} is not there any more", path.display())).clicked() {
                chosen = Some(path.clone());
            }
        }
    });
    chosen
}

/// A file is being opened. Whether the person gave it up.
pub(super) fn loading(ui: &mut Ui, loading: &Loading) -> bool {
    let mut cancelled = false;
    centered(ui, |ui| {
        ui.heading(format!("Opening {}", loading.path.display()));
        ui.add_space(8.0);
        match loading.fraction().filter(|done| *done < 1.0) {
            Some(done) => {
                ui.add(ProgressBar::new(done).desired_width(WIDTH).show_percentage());
            }
            None => {
                let size = loading.size.map_or_else(String::new, |bytes| {
                    format!(
                        " ({})",
                        traceview_core::report::format_amount(bytes as f64, traceview_core::analysis::Unit::Bytes)
                    )
                });
                let dots = 1 + (ui.input(|input| input.time) / PROGRESS.as_secs_f64()) as usize % 3;
                ui.label(format!("Reading the profile{size}{}", ".".repeat(dots)));
            }
        }
        ui.request_repaint_after(PROGRESS);
        ui.add_space(8.0);
        cancelled = ui.button("Cancel").clicked();
    });
    cancelled
}

/// A file could not be opened.
pub(super) fn failed(ui: &mut Ui, theme: &Theme, title: &str, message: &str) -> Option<Answer> {
    let mut answer = None;
    centered(ui, |ui| {
        ui.heading(RichText::new(format!("{title} can't be opened")).color(theme.error));
        ui.add_space(6.0);
        ui.label(message);
        ui.add_space(10.0);
        ui.horizontal(|ui| {
            let keys = Command::Reload.keys()[0].label();
            if ui.button("Try again").on_hover_text(keys).clicked() {
                answer = Some(Answer::Retry);
            }
            if ui.button("Close").clicked() {
                answer = Some(Answer::Close);
            }
        });
    });
    answer
}

fn centered(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    egui::CentralPanel::default().show(ui, |ui| {
        let room = ui.max_rect();
        let left = (room.width() - WIDTH).max(0.0) / 2.0;
        let inner = room.shrink2(vec2(left, 0.0));
        let inner = inner.with_min_y(room.top() + room.height() * 0.28);
        ui.scope_builder(UiBuilder::new().max_rect(inner).layout(Layout::top_down(Align::LEFT)), content);
    });
}

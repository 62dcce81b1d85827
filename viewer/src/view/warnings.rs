//! The list of what a profile's reader or recorder has to say of it: what was dropped, repaired or doubtful, how often
//! and where first; and which flows are bound to nothing. Of thousands of entries only those in sight are made.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::text_selection::LabelSelectionState;
use egui::{
    Align2, Button, Event, FontId, Galley, Id, Key, Label, Modifiers, Rect, RichText, Role, ScrollArea, Sense, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};
use traceview_core::model::{Profile, Warning};
use traceview_core::report::printable;

use super::dialogs::Outcome;
use crate::document::is_of_flows;
use crate::panels::grouped;
use crate::theme::Theme;
use crate::widget::take_key;

/// The dialog as a person left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct WarningList {
    /// The row that the keyboard is at, of all rows.
    selected: Option<usize>,
}

/// What stands in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    /// The flows of the profile, of which so many phases are bound to nothing.
    Flows(u64),
    /// All others.
    Others,
    /// The profile's warning of this index.
    Warning(usize),
}

/// The rows and where they are.
struct Rows {
    rows: Vec<Row>,
    /// Where each begins; the last one is where they end.
    tops: Vec<f32>,
}

const WIDTH: f32 = 760.0;
const HEIGHT: f32 = 460.0;
const HEADING: f32 = 30.0;
/// Of a warning: a line that says what happened and one that says where; of a long one, two lines that say what happened.
const SHORT: f32 = 40.0;
const LONG: f32 = 56.0;
/// More letters need two lines. They are about so wide.
const LETTER: f32 = 6.6;
const COUNT: f32 = 74.0;
const GAP: f32 = 8.0;
const SIZE: f32 = 13.0;
const SMALL: f32 = 11.5;
/// Longer text is cut before it is laid out: nothing of it would be seen.
const LONGEST: usize = 1_000;

impl WarningList {
    pub(super) fn ui(&mut self, ui: &mut Ui, theme: &Theme, profile: &Profile) -> Option<Outcome> {
        let screen = ui.ctx().content_rect().size();
        ui.set_width(WIDTH.min(screen.x - 60.0));
        let warnings = &profile.meta.warnings;
        ui.heading("Warnings");
        if warnings.is_empty() {
            ui.label("There are none: nothing was dropped, repaired or doubtful.");
            ui.add_space(6.0);
            return ui.button("Close").clicked().then_some(Outcome::Closed);
        }
        let intro =
            "What was dropped, repaired or doubtful when this profile was recorded or read, and where it came up first";
        ui.label(RichText::new(intro).color(theme.weak_text));
        ui.add_space(4.0);
        let rows = Rows::of(profile, ui.available_width());
        let height = HEIGHT.min(screen.y - 200.0).min(rows.height());
        let moved = self.keys(ui, &rows, warnings, height);
        let area = ScrollArea::vertical().auto_shrink([false, true]).max_height(height);
        area.show_viewport(ui, |ui, seen| {
            ui.set_height(rows.height());
            let (left, top, right) = (ui.max_rect().left(), ui.max_rect().top(), ui.max_rect().right());
            let place = |row: usize| {
                let [start, end] = [rows.tops[row], rows.tops[row + 1]].map(|y| top + y);
                Rect::from_min_max(pos2(left, start), pos2(right, end))
            };
            if let Some(row) = moved {
                ui.scroll_to_rect(place(row), None);
            }
            for row in rows.in_sight(seen.top()..seen.bottom()) {
                self.row(ui, (theme, profile), (row, rows.rows[row]), place(row));
            }
        });
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            if ui.button("Copy all").on_hover_text("All of them as text, one a line").clicked() {
                ui.copy_text(warnings.iter().map(|warning| as_text(warning) + "\n").collect());
            }
            ui.add(Button::new("Close")).clicked().then_some(Outcome::Closed)
        })
        .inner
    }

    /// Takes keys; gives the row that they moved to.
    fn keys(&mut self, ui: &Ui, rows: &Rows, warnings: &[Warning], height: f32) -> Option<usize> {
        let pressed = |key: Key| take_key(ui, Modifiers::NONE, key);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a screen has few rows")]
        let page = ((height / LONG) as usize).max(1);
        let down = pressed(Key::ArrowDown) + pressed(Key::PageDown) * page;
        let up = pressed(Key::ArrowUp) + pressed(Key::PageUp) * page;
        let (home, end) = (pressed(Key::Home) > 0, pressed(Key::End) > 0);
        let is_warning = |row: &usize| matches!(rows.rows[*row], Row::Warning(_));
        let last = rows.rows.len() - 1;
        let meant = match self.selected {
            _ if home => Some(0),
            _ if end => Some(last),
            Some(from) if down > 0 || up > 0 => Some((from + down).saturating_sub(up).min(last)),
            None if down > 0 || up > 0 => Some(0),
            _ => None,
        };
        // Headings are passed over.
        let moved = meant.and_then(|row| {
            let (below, above) = ((row..=last).find(is_warning), (0..=row).rev().find(is_warning));
            if up > down || end { above.or(below) } else { below.or(above) }
        });
        self.selected = moved.or(self.selected);
        let copies = ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Copy)));
        // Marked text is copied by whoever shows it.
        let has_marked_text = || ui.ctx().plugin_or_default::<LabelSelectionState>().lock().has_selection();
        if copies
            && let Some(Row::Warning(index)) = self.selected.map(|row| rows.rows[row])
            && !has_marked_text()
        {
            ui.copy_text(as_text(&warnings[index]));
        }
        moved
    }

    fn row(&mut self, ui: &mut Ui, (theme, profile): (&Theme, &Profile), (index, row): (usize, Row), rect: Rect) {
        let warning = match row {
            Row::Flows(unbound) => return heading(ui, theme, rect, &flows_heading(profile, unbound)),
            Row::Others => return heading(ui, theme, rect, "Others"),
            Row::Warning(warning) => &profile.meta.warnings[warning],
        };
        let selected = self.selected == Some(index);
        let response = ui.interact(rect, Id::unique(("warning", index)), Sense::click());
        response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, selected, as_text(warning)));
        ui.accesskit_node_builder(response.id, |node| node.set_selected(selected));
        if selected {
            ui.painter().rect_filled(rect, 3.0, theme.accent.gamma_multiply(0.3));
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, theme.accent.gamma_multiply(0.1));
        }
        let count = format!("{}×", grouped(warning.count));
        let at = pos2(rect.left() + COUNT - GAP, rect.top() + 6.0);
        ui.painter().text(at, Align2::RIGHT_TOP, count, FontId::monospace(SIZE), theme.text);
        let text = rect.with_min_x(rect.left() + COUNT).shrink2(vec2(2.0, 4.0));
        let mut clicked = response.clicked();
        ui.scope_builder(UiBuilder::new().max_rect(text).id_salt(("text of", index)), |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for (string, font, color, lines) in [
                (warning.message.as_str(), FontId::proportional(SIZE), theme.text, 2),
                (&place_of(warning), FontId::proportional(SMALL), theme.weak_text, 1),
            ] {
                let galley = laid_out(ui, string, TextFormat::simple(font, color), lines);
                let elided = galley.elided || string.len() > LONGEST;
                let response = ui.add(Label::new(galley).selectable(true));
                clicked |= response.clicked();
                if elided {
                    response.on_hover_text(beginning(string));
                }
            }
        });
        if clicked {
            self.selected = Some(index);
        }
    }
}

impl Rows {
    /// First what is said of flows, then the rest, in a list of this width.
    #[expect(clippy::cast_precision_loss, reason = "it is a small number of letters")]
    fn of(profile: &Profile, width: f32) -> Self {
        let of_flows = is_of_flows;
        let warnings = &profile.meta.warnings;
        let indices = |wanted: bool| (0..warnings.len()).filter(move |index| of_flows(&warnings[*index]) == wanted);
        let (about_flows, others) = (indices(true).map(Row::Warning), indices(false).map(Row::Warning));
        let mut rows: Vec<Row> = about_flows.collect();
        if !rows.is_empty() {
            let unbound = warnings.iter().filter(|warning| of_flows(warning)).map(|warning| warning.count);
            rows.insert(0, Row::Flows(unbound.fold(0, u64::saturating_add)));
            if rows.len() <= warnings.len() {
                rows.push(Row::Others);
            }
        }
        rows.extend(others);
        let mut tops = vec![0.0];
        for row in &rows {
            let height = match row {
                Row::Flows(_) | Row::Others => HEADING,
                Row::Warning(index) => {
                    let fits = warnings[*index].message.chars().take(LONGEST).count() as f32 * LETTER <= width - COUNT;
                    if fits { SHORT } else { LONG }
                }
            };
            tops.push(tops[tops.len() - 1] + height);
        }
        Self { rows, tops }
    }

    fn height(&self) -> f32 {
        self.tops[self.rows.len()]
    }

    fn in_sight(&self, seen: Range<f32>) -> Range<usize> {
        let first = self.tops[1..].partition_point(|bottom| *bottom <= seen.start);
        let end = self.tops[..self.rows.len()].partition_point(|top| *top < seen.end);
        first..end.max(first)
    }
}

fn heading(ui: &Ui, theme: &Theme, rect: Rect, text: &str) {
    let at = pos2(rect.left() + 2.0, rect.bottom() - 5.0);
    ui.painter().text(at, Align2::LEFT_BOTTOM, text, FontId::proportional(SIZE), theme.weak_text);
    ui.painter().hline(rect.x_range(), rect.bottom() - 1.0, (1.0, theme.grid));
    let response = ui.interact(rect, Id::unique(("heading", text)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}

fn flows_heading(profile: &Profile, unbound: u64) -> String {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let bound = profile.flows.len() as u64;
    format!(
        "Flows: {} phase{} of them could not be bound to anything; {} flow{} could be, and have arrows",
        grouped(unbound),
        plural(unbound),
        grouped(bound),
        plural(bound)
    )
}

fn laid_out(ui: &Ui, text: &str, format: TextFormat, lines: usize) -> Arc<Galley> {
    let mut job = LayoutJob::default();
    job.append(&beginning(text), 0.0, format);
    job.wrap.max_width = ui.available_width();
    job.wrap.max_rows = lines;
    ui.painter().layout_job(job)
}

fn beginning(text: &str) -> String {
    printable(&text.chars().take(LONGEST).collect::<String>()).into_owned()
}

/// Where it came up first, and what it is known as.
fn place_of(warning: &Warning) -> String {
    match &warning.first {
        Some(first) => format!("first at: {first}  ·  {}", warning.code),
        None => warning.code.clone(),
    }
}

/// `265× phases of flows that lie in no slice are in no flow (first at: byte 16  ·  flow-no-slice)`.
fn as_text(warning: &Warning) -> String {
    format!("{}× {} ({})", grouped(warning.count), warning.message, place_of(warning))
}

#[cfg(test)]
mod tests {
    use egui::{Theme as Colors, vec2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::jobs::Jobs;
    use crate::testing::{TestProfile, harness, press};
    use crate::view::{Input, Settings, Viewer};

    fn window(warnings: Vec<Warning>) -> Harness<'static, Viewer> {
        let mut profile = TestProfile::recorded();
        let thread = profile.thread("main");
        profile.samples(thread, 0..10, "main");
        profile.builder.meta_mut().warnings = warnings;
        let input = Input::Profile { path: None, profile: profile.finish().into() };
        let viewer = Viewer::new(vec![input], Settings::default(), Jobs::immediate());
        harness(vec2(1280.0, 800.0), viewer, Viewer::ui)
    }

    fn warning(code: &str, message: &str, count: u64, first: Option<&str>) -> Warning {
        Warning { code: code.to_owned(), message: message.to_owned(), count, first: first.map(str::to_owned) }
    }

    fn few() -> Vec<Warning> {
        vec![
            warning("never-ended", "slices that never end", 3, Some("byte 554137")),
            warning("flow-no-slice", "phases of flows that lie in no slice are in no flow", 1265, Some("byte 16")),
            warning("no-debug-info", "there is none", 1, None),
        ]
    }

    fn copied(window: &Harness<'_, Viewer>) -> Vec<String> {
        let commands = window.output().platform_output.commands.iter();
        commands
            .filter_map(|command| match command {
                egui::OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_click_on_the_status_bar_lists_them_all_those_of_flows_first() {
        let mut window = window(few());
        window.get_by_label("3 warnings").click();
        window.run();
        window.get_by_label_contains("Flows: 1,265 phases of them could not be bound");
        let rows = ["1,265× phases of flows", "3× slices that never end", "1× there is none"];
        let tops = rows.map(|row| window.get_by_label_contains(row).rect().top());
        assert!(tops.is_sorted(), "{tops:?}");
        window.get_by_label("first at: byte 554137  ·  never-ended");
        window.get_by_label("Close").click();
        window.run();
        assert!(window.query_by_label_contains("Flows: 1,265").is_none());
    }

    #[test]
    fn keys_open_it_walk_through_it_and_copy() {
        let mut window = window(few());
        press(&mut window, Key::I);
        press(&mut window, Key::ArrowDown);
        window.event(Event::Copy);
        window.step();
        let first = "1,265× phases of flows that lie in no slice are in no flow (first at: byte 16  ·  flow-no-slice)";
        assert_eq!(copied(&window), [first]);
        // Over a heading.
        press(&mut window, Key::ArrowDown);
        let row = window
            .get_by_role_and_label(Role::ListItem, "3× slices that never end (first at: byte 554137  ·  never-ended)");
        assert_eq!(egui_kittest::kittest::NodeT::accesskit_node(&row).is_selected(), Some(true));
        press(&mut window, Key::ArrowUp);
        window.event(Event::Copy);
        window.step();
        assert_eq!(copied(&window), [first]);
        press(&mut window, Key::Escape);
        assert!(window.query_by_label("Copy all").is_none());
    }

    #[test]
    fn of_thousands_only_those_in_sight_are_made() {
        let many = (0..5_000).map(|row| warning("w", &format!("number {row}"), 1, None));
        let mut window = window(many.collect());
        press(&mut window, Key::I);
        let rows = window.query_all_by_role(Role::ListItem).count();
        assert!((4..20).contains(&rows), "{rows}");
        press(&mut window, Key::End);
        window.get_by_label("1× number 4999 (w)");
    }

    #[test]
    fn a_profile_without_any_says_so() {
        let mut window = window(Vec::new());
        assert!(window.query_by_label_contains("warning").is_none(), "nothing in the status bar");
        press(&mut window, Key::I);
        window.get_by_label_contains("nothing was dropped, repaired or doubtful");
        window.get_by_label("Close").click();
        window.run();
    }

    #[test]
    fn long_names_fit() {
        let long = "x".repeat(2_000);
        let mut window = window(vec![warning("long", &long, u64::MAX, Some(&long))]);
        window.ctx.set_theme(Colors::Light);
        press(&mut window, Key::I);
        let [row, close] = [window.get_by_label_contains("18,446").rect(), window.get_by_label("Close").rect()];
        assert!(row.bottom() <= close.top() && row.right() <= 1280.0, "{row:?} {close:?}");
    }
}

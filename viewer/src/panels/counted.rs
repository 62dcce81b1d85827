//! The line at the right of the tabs, which says what their tables count, and what stands in their place when there is nothing to list.

use std::sync::Arc;

use egui::{Align, Layout, RichText, Ui};
use traceview_core::analysis::{self, Measure};
use traceview_core::model::{Time, TimeRange};
use traceview_core::report::{format_amount, format_percent};

use super::PanelContext;
use super::amounts::{Words, capital, grouped};
use crate::action::Action;
use crate::analyses::{Refusal, Tables};
use crate::document::Document;

const MEASURES: [(Measure, &str, &str); 4] = [
    (Measure::Cpu, "CPU", "Count CPU time"),
    (Measure::OffCpu, "Off-CPU", "Count the time of waits"),
    (Measure::Wall, "Wall", "Count CPU time and the time of waits"),
    (Measure::Samples, "Samples", "Count samples"),
];

/// Draws the line: what is counted, and at the right what the panel adds and the choice of what to count.
pub(super) fn line(
    ui: &mut Ui,
    context: &mut PanelContext<'_>,
    found: impl FnOnce(&Tables) -> String,
    add: impl FnOnce(&mut Ui),
) {
    let tables = context.analyses.tables().and_then(Result::ok).map(Arc::clone);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        measure_switch(ui, context);
        add(ui);
        let Some(tables) = &tables else { return };
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            // While something is searched for, what was found says most.
            if tables.found.is_some() {
                ui.add(egui::Label::new(RichText::new(found(tables)).color(context.theme.accent)).truncate());
            }
            let text = RichText::new(sentence(context.document, tables)).color(context.theme.weak_text);
            ui.add(egui::Label::new(text).truncate()).on_hover_text(explanation(tables));
        });
    });
}

/// `31.0 % in stacks that match`.
pub(super) fn in_stacks_that_match(tables: &Tables) -> String {
    format!("{} in stacks that match", format_percent(tables.whole().percent(tables.kept().value)))
}

/// The tables, if they have anything to list; otherwise says why not, and what to do about it.
pub(super) fn listed(ui: &mut Ui, context: &mut PanelContext<'_>) -> Option<Arc<Tables>> {
    match tables(context) {
        Ok(tables) => Some(tables),
        Err(nothing) => {
            nothing.show(ui, context);
            None
        }
    }
}

/// The tables, if they have anything to list.
pub(super) fn tables(context: &PanelContext<'_>) -> Result<Arc<Tables>, Nothing> {
    match context.analyses.tables() {
        None => Err(Nothing::new("Counting…")),
        Some(Err(refusal)) => Err(refused(refusal)),
        Some(Ok(tables)) => match why_nothing(context.document, tables) {
            None => Ok(Arc::clone(tables)),
            Some(nothing) => Err(nothing),
        },
    }
}

/// Why nothing is listed.
#[derive(Debug, Default)]
pub(super) struct Nothing {
    /// In a sentence.
    pub(super) reason: String,
    ways_out: Vec<(&'static str, Action)>,
}

impl Nothing {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Self::default() }
    }

    pub(super) fn or(mut self, title: &'static str, action: Action) -> Self {
        self.ways_out.push((title, action));
        self
    }

    /// With ways to what else there is.
    pub(super) fn or_more_than(mut self, selection: &analysis::Selection) -> Self {
        if selection.range != TimeRange::ALL {
            self = self.or("Count the whole time", Action::SelectRange(None));
        }
        if selection.threads.is_some() {
            self = self.or("Count all threads", Action::SelectAllThreads);
        }
        self
    }

    /// Says so where a table would be.
    pub(super) fn show(self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        ui.vertical_centered(|ui| {
            ui.add_space((ui.available_height() / 3.0).min(60.0));
            ui.label(RichText::new(self.reason).size(15.0));
            ui.add_space(6.0);
            for (title, action) in self.ways_out {
                if ui.button(title).clicked() {
                    context.actions.push(action);
                }
            }
        });
    }
}

fn measure_switch(ui: &mut Ui, context: &mut PanelContext<'_>) {
    let has_waits = context.document.profile.threads.iter().any(|thread| !thread.waits.is_empty());
    // One frame around all of them: they are one choice.
    egui::Frame::NONE.stroke((1.0, context.theme.grid)).corner_radius(4.0).show(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        // From the right to the left.
        for (measure, title, hint) in MEASURES.into_iter().rev() {
            let of_waits = matches!(measure, Measure::OffCpu | Measure::Wall);
            let chosen = context.selection.measure == measure;
            let button =
                ui.add_enabled(has_waits || !of_waits || chosen, egui::Button::selectable(chosen, title).small());
            if button.clicked() && !chosen {
                context.actions.push(Action::Measure(measure));
            }
            button.on_hover_text(hint).on_disabled_hover_text("This profile has no waits");
        }
    });
}

fn refused(refusal: &Refusal) -> Nothing {
    let nothing = Nothing::new(capital(&refusal.message) + ".");
    let nothing = match refusal.counted.measure {
        Measure::Cpu | Measure::Samples | Measure::Weights | Measure::Value(_) | Measure::Slices => nothing,
        Measure::Wall | Measure::OffCpu => nothing.or("Count CPU time", Action::Measure(Measure::Cpu)),
    };
    match refusal.counted.measure {
        Measure::Samples => nothing,
        _ => nothing.or("Count samples", Action::Measure(Measure::Samples)),
    }
}

/// Why there is no row in `tables`; `None`: there is.
fn why_nothing(document: &Document, tables: &Tables) -> Option<Nothing> {
    if tables.whole().total.samples == 0 {
        return Some(why_nothing_selected(document, &tables.counted.selection, tables.counted.measure));
    }
    if !tables.functions.rows.is_empty() || !tables.tree.is_empty() {
        return None;
    }
    let Some(found) = &tables.found else {
        return Some(Nothing::new("All of it was seen without a stack: there is no function to list."));
    };
    let reason = if found.is_empty() {
        "No function of this profile matches the search."
    } else {
        "The functions that match the search were not seen in these threads and this time."
    };
    let nothing = Nothing::new(reason).or("Clear the search", Action::Search(String::new()));
    Some(nothing.or_more_than(&tables.counted.selection))
}

fn why_nothing_selected(document: &Document, selection: &analysis::Selection, measure: Measure) -> Nothing {
    let threads = &document.profile.threads;
    if threads.iter().all(|thread| thread.samples.is_empty() && thread.waits.is_empty()) {
        return Nothing::new("This profile has no samples.");
    }
    let things = match measure {
        Measure::Cpu | Measure::Samples | Measure::Weights | Measure::Value(_) => "samples",
        Measure::OffCpu => "waits",
        Measure::Slices => "slices",
        Measure::Wall => "samples or waits",
    };
    let nothing = none_of(document, selection, things);
    match measure {
        Measure::Cpu => nothing,
        _ => nothing.or("Count CPU time", Action::Measure(Measure::Cpu)),
    }
}

/// There are no `things` in what is selected.
pub(super) fn none_of(document: &Document, selection: &analysis::Selection, things: &str) -> Nothing {
    let in_threads = if selection.threads.is_some() { " in the selected threads" } else { "" };
    let nothing = if selection.range == TimeRange::ALL {
        Nothing::new(format!("No {things}{in_threads}."))
    } else {
        let [start, end] = range_ends(selection.range, document.extent);
        Nothing::new(format!("No {things} between {start} and {end}{in_threads}."))
    };
    nothing.or_more_than(selection)
}

/// `CPU time 1.64 s · all 8 threads · 1.20 s – 2.85 s · 14,902 samples`. The window's title says how many samples there
/// are in all of the profile.
fn sentence(document: &Document, tables: &Tables) -> String {
    let whole = tables.whole();
    let selection = &tables.counted.selection;
    let part = part(document, selection);
    let is_all = selection.range == TimeRange::ALL
        && selection.thread_ids(&document.profile).len() == document.profile.threads.len();
    let subject = capital(Words::new(whole).subject());
    let samples = grouped(whole.total.samples);
    match whole.measure {
        Measure::Samples => format!("{subject}: {samples} · {part}"),
        Measure::OffCpu => {
            format!("{subject} {} · {part} · {samples} waits", format_amount(whole.total.value, whole.unit))
        }
        Measure::Wall | Measure::Slices => {
            format!("{subject} {} · {part}", format_amount(whole.total.value, whole.unit))
        }
        Measure::Cpu | Measure::Weights | Measure::Value(_) => {
            let amount = format_amount(whole.total.value, whole.unit);
            if is_all {
                return format!("{subject} {amount} · {part}");
            }
            let plural = if whole.total.samples == 1 { "" } else { "s" };
            format!("{subject} {amount} · {part} · {samples} sample{plural}")
        }
    }
}

/// Draws the line of a table that counts nothing: what was found, while something is searched for, and what there is.
pub(super) fn plain_line(ui: &mut Ui, context: &PanelContext<'_>, found: Option<String>, all: String) {
    // While something is searched for, what was found says most.
    let found = found.map(|found| RichText::new(found).color(context.theme.accent));
    for text in found.into_iter().chain([RichText::new(all).color(context.theme.weak_text)]) {
        ui.add(egui::Label::new(text).truncate());
    }
}

/// Which threads and time are counted: `all 8 threads · 1.20 s – 2.85 s`.
pub(super) fn part(document: &Document, selection: &analysis::Selection) -> String {
    let all = document.profile.threads.len();
    let threads = match selection.thread_ids(&document.profile).as_slice() {
        [one] => format!("thread {}", document.thread_name(*one)),
        some if some.len() == all => format!("all {all} threads"),
        some => format!("{} of {all} threads", some.len()),
    };
    if selection.range == TimeRange::ALL {
        return format!("{threads} · whole time");
    }
    let [start, end] = range_ends(selection.range, document.extent);
    format!("{threads} · {start} – {end}")
}

fn explanation(tables: &Tables) -> String {
    let whole = tables.whole();
    let text = "The tables count this part of the profile; percentages are shares of all of it.";
    if whole.stackless.samples == 0 {
        return text.to_owned();
    }
    format!("{text}\n{} of it was seen without a stack.", format_percent(whole.percent(whole.stackless.value)))
}

/// Both ends of `range` as times of the profile, in one unit and exact enough to differ.
fn range_ends(range: TimeRange, extent: TimeRange) -> [String; 2] {
    let [start, end] = [range.start, range.end].map(|end| end.max(extent.start).min(extent.end));
    let ends = [start, end].map(|end| (end - Time(0)).as_secs_f64());
    let (unit, scale) = match ends[1] {
        end if end >= 1.0 => ("s", 1.0),
        end if end >= 1e-3 => ("ms", 1e3),
        _ => ("µs", 1e6),
    };
    let length = (end - start).as_secs_f64() * scale;
    let decimals = [10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5].iter().take_while(|least| length < **least).count() + 1;
    ends.map(|end| format!("{:.decimals$} {unit}", end * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranges_differ_and_share_a_unit() {
        let extent = TimeRange { start: Time(0), end: Time(20_000_000_000) };
        let ends = |start: i64, end: i64| range_ends(TimeRange { start: Time(start), end: Time(end) }, extent);
        assert_eq!(ends(1_200_000_000, 2_850_000_000), ["1.20 s", "2.85 s"]);
        assert_eq!(ends(-5, 15_000_000_000), ["0.0 s", "15.0 s"]);
        assert_eq!(ends(12_000_000_000, 12_000_010_000), ["12.0000000 s", "12.0000100 s"]);
        assert_eq!(ends(0, 500_000), ["0.0 µs", "500.0 µs"]);
    }
}

//! The details panel: all that is known of what was picked or selected.

mod box_time;
mod chain_list;
mod stack;

#[cfg(test)]
mod tests;

use egui::{RichText, ScrollArea, Ui};
use traceview_core::model::FunctionId;
use traceview_core::report::format_duration;

use super::{Panel, PanelContext};
use crate::action::Action;
use crate::describe::{self, Facts};
use crate::scene::{FONT_SIZE, room_for};
use crate::selection::{Picked, PickedKind};
use box_time::BoxTimes;
use chain_list::ChainList;

/// The panel.
#[derive(Default)]
pub struct Details {
    box_times: BoxTimes,
    chain: ChainList,
}

/// Room on all sides.
const MARGIN: f32 = 8.0;

impl Panel for Details {
    fn forget_stacks(&mut self) {
        // Flows are the same ones.
        self.box_times = BoxTimes::default();
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        egui::Frame::NONE.inner_margin(MARGIN).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.content(ui, context));
        });
    }
}

impl Details {
    fn content(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let picked = context.selection.picked;
        // What was selected after a box was picked, in a table or in its stack, is what is asked about.
        let picked_function = picked.and_then(|picked| describe::function_of(context.document, &picked));
        let function = context.selection.function.filter(|function| Some(*function) != picked_function);
        if let Some(function) = function {
            function_details(ui, context, function);
        }
        if function.is_some() && picked.is_some() {
            ui.add_space(MARGIN);
            ui.separator();
        }
        match picked {
            Some(picked) => self.picked_details(ui, context, &picked),
            None if function.is_none() => {
                let text = "Click a box or a function: its time, callers' stack and source are shown here.";
                ui.label(RichText::new(text).color(context.theme.weak_text));
            }
            None => {}
        }
    }

    fn picked_details(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>, picked: &Picked) {
        let document = context.document;
        let name = describe::name(document, picked).into_owned();
        title(ui, context, &name, describe::kind(document, picked));
        copy_buttons(ui, context, &name, Some(picked));
        let mut facts = describe::time_facts(picked);
        if let PickedKind::Box(_) = picked.what
            && let Some(times) = self.box_times.update(document, picked, context.jobs)
        {
            facts.extend(times.facts());
        }
        facts.push(("Thread".into(), describe::thread(document, picked.thread)));
        facts.push(("Process".into(), describe::process(document, picked.thread)));
        facts_grid(ui, context, "place", &facts);
        self.chain.show(ui, context, picked);
        let facts = match picked.what {
            PickedKind::Box(node) => {
                let (function, frame) = (document.function(node), describe::frame_of(document, node));
                let mut facts = describe::function_facts(document, function, Some(frame));
                facts.extend(describe::counted_facts(context.analyses, function));
                facts.extend(describe::symbol_fact(document, function));
                facts
            }
            PickedKind::Slice(slice) => describe::slice_facts(document, picked.thread, slice),
            PickedKind::Marker(marker) => describe::marker_facts(document, picked.thread, marker),
            PickedKind::Station(_) => Facts::new(),
            PickedKind::Wait(row) => {
                describe::wait_facts(document, &document.profile.threads[picked.thread.index()].waits.get(row))
            }
        };
        facts_grid(ui, context, "picked", &facts);
        if let Some(innermost) = describe::stack_of(document, picked) {
            ui.add_space(MARGIN);
            stack::show(ui, context, innermost);
        }
    }
}

fn function_details(ui: &mut Ui, context: &mut PanelContext<'_>, function: FunctionId) {
    let name = context.document.function_name(function).to_owned();
    title(ui, context, &name, "Function");
    copy_buttons(ui, context, &name, None);
    let document = context.document;
    let mut facts = describe::counted_facts(context.analyses, function);
    match describe::counted_row(context.analyses, function) {
        Some(row) => {
            facts.push(("Samples".into(), format!("{} self, {} total", row.own.samples, row.total.samples)));
            if let Some(hottest) = row.hottest {
                let place = describe::place(document, hottest.function, Some(hottest.line));
                let place = place.unwrap_or_else(|| format!("line {}", hottest.line));
                // System calls have no lines of their own.
                let key = if hottest.function == function { "Hottest line" } else { "Called from" };
                facts.push((key.into(), place));
            }
        }
        None if context.analyses.tables().is_some() && !context.analyses.is_working() => {
            facts.push(("In selection".into(), "not seen".to_owned()));
        }
        None => {}
    }
    facts.extend(describe::function_facts(document, function, None));
    facts.extend(describe::symbol_fact(document, function));
    facts_grid(ui, context, "function", &facts);
}

fn title(ui: &mut Ui, context: &PanelContext<'_>, name: &str, kind: &str) {
    ui.label(RichText::new(kind).color(context.theme.weak_text).small());
    let name = egui::Label::new(RichText::new(name).strong()).wrap().selectable(true);
    ui.add(name);
}

fn copy_buttons(ui: &mut Ui, context: &mut PanelContext<'_>, name: &str, picked: Option<&Picked>) {
    ui.horizontal(|ui| {
        if ui.small_button("Copy name").clicked() {
            context.actions.push(Action::Copy(name.to_owned()));
        }
        let stack = picked.and_then(|picked| describe::stack_of(context.document, picked));
        if let Some(stack) = stack
            && ui.small_button("Copy stack").clicked()
        {
            context.actions.push(Action::Copy(describe::stack_text(context.document, stack)));
        }
    });
    ui.add_space(MARGIN / 2.0);
}

fn facts_grid(ui: &mut Ui, context: &PanelContext<'_>, id: &str, facts: &Facts) {
    const WIDEST_KEY: f32 = 122.0;
    const NARROWEST_KEY: f32 = 72.0;
    // Names take no more room than they need; beside the longest ones there would be none for values.
    let widest = WIDEST_KEY.min(ui.available_width() / 2.0);
    let needed = facts.iter().map(|(key, _)| room_for(key, FONT_SIZE)).filter(|width| *width <= widest);
    let key_width = needed.fold(NARROWEST_KEY.min(widest), f32::max);
    for (index, (key, value)) in facts.iter().enumerate() {
        ui.push_id((id, index), |ui| {
            let key_text = RichText::new(key.as_ref()).color(context.theme.weak_text);
            if room_for(key, FONT_SIZE) > key_width {
                ui.add(egui::Label::new(key_text).wrap());
                ui.indent("value", |ui| ui.add(egui::Label::new(value).wrap().selectable(true)));
                return;
            }
            ui.horizontal_top(|ui| {
                let height = ui.spacing().interact_size.y;
                let layout = egui::Layout::left_to_right(egui::Align::Min);
                ui.allocate_ui_with_layout(egui::vec2(key_width, height), layout, |ui| {
                    ui.set_min_width(key_width);
                    ui.label(key_text);
                });
                ui.add(egui::Label::new(value).wrap().selectable(true));
            });
        });
    }
}

impl box_time::BoxTime {
    fn facts(&self) -> Facts {
        let of = |samples: usize, cpu: Option<traceview_core::model::Nanos>| {
            let samples = if samples == 1 { "1 sample".to_owned() } else { format!("{samples} samples") };
            cpu.map_or_else(|| samples.clone(), |cpu| format!("{} in {samples}", format_duration(cpu)))
        };
        vec![("Total CPU".into(), of(self.samples, self.cpu)), ("Self CPU".into(), of(self.own_samples, self.own_cpu))]
    }
}

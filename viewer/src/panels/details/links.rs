//! What flows link with what was picked: a list to go along.

use egui::text::{LayoutJob, TextFormat};
use egui::{Button, FontId, RichText, TextStyle, Ui};
use traceview_core::report::shorten;

use super::super::PanelContext;
use super::MARGIN;
use crate::action::Action;
use crate::describe;
use crate::flows::{self, Link, Way};
use crate::selection::Picked;

/// More are counted, not listed.
const MOST_ROWS: usize = 100;
/// Longer lines are cut before they are laid out.
const LONGEST: usize = 200;

/// Lists the neighbours of `picked`, those that it came of first; a click goes there.
pub(super) fn show(ui: &mut Ui, context: &mut PanelContext<'_>, picked: &Picked) {
    let (document, table) = (context.document, &context.document.profile.flows);
    let back = document.flows.direct(table, picked, Way::Back);
    let forward = document.flows.direct(table, picked, Way::Forward);
    if back.is_empty() && forward.is_empty() {
        return;
    }
    ui.add_space(MARGIN);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Linked with").color(context.theme.weak_text));
        let mut chain = context.selection.chain;
        let help = "Arrows to all that came of it and to all that it came of, not only to its neighbours";
        if ui.checkbox(&mut chain, "whole chain").on_hover_text(help).changed() {
            context.actions.push(Action::ShowChain(chain));
        }
    });
    for (way, links) in [(Way::Back, &back), (Way::Forward, &forward)] {
        for link in links.iter().take(MOST_ROWS) {
            row(ui, context, *link, way);
        }
        if links.len() > MOST_ROWS {
            let rest = format!("and {} more", links.len() - MOST_ROWS);
            ui.label(RichText::new(rest).color(context.theme.weak_text));
        }
    }
}

fn row(ui: &mut Ui, context: &mut PanelContext<'_>, link: Link, way: Way) {
    let text = describe::link_text(context.document, link, way);
    let (arrow, help) = match way {
        Way::Forward => ("→", "What came of it: go there (])"),
        Way::Back => ("←", "What it came of: go back there ([)"),
    };
    let mut job = LayoutJob::default();
    // The other font has no arrows.
    let in_arrow_color = TextFormat::simple(FontId::monospace(13.0), context.theme.arrow);
    let as_text = TextFormat::simple(TextStyle::Body.resolve(ui.style()), context.theme.text);
    job.append(arrow, 0.0, in_arrow_color);
    job.append(&format!(" {}", shorten(&text, LONGEST)), 0.0, as_text);
    if ui.add(Button::new(job).frame(false).wrap()).on_hover_text(help).clicked() {
        context.actions.push(Action::JumpTo(flows::pick(context.document, link.end(way))));
    }
}

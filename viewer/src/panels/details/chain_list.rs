//! The chain of flows that what was picked is part of: a list to go along. Of any length: only the rows in sight are made.

use std::sync::Arc;

use egui::{Align2, FontId, Rect, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use traceview_core::model::{FlowAnchor, Nanos};
use traceview_core::report::{format_duration, printable, shorten};

use super::super::PanelContext;
use super::MARGIN;
use super::stack::columns;
use crate::action::Action;
use crate::chain::{Chain, Station, Tie};
use crate::command::Command;
use crate::describe;
use crate::document::Document;
use crate::flows::{self, Way};
use crate::latest::Latest;
use crate::panels::grouped;
use crate::selection::Picked;

/// The chain of what was picked last.
#[derive(Default)]
pub(super) struct ChainList {
    chain: Latest<Chain>,
    /// What was shown in the last frame.
    shown: Option<Picked>,
}

/// How high a row is: a line with the name, one with the thread.
const ROW: f32 = 34.0;
/// More rows scroll by themselves, so that what is below them stays near.
const MOST_IN_SIGHT: usize = 9;
/// Where names begin, right of the arrow.
const LEFT: f32 = 18.0;
const SIZE: f32 = 12.5;
const SMALL: f32 = 11.0;
/// Open ends of more flows are counted.
const MOST_OPEN_ENDS: usize = 3;

impl ChainList {
    /// Lists the chain of `picked`; a click on a row goes there.
    pub(super) fn show(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>, picked: &Picked) {
        if context.document.flows.members_at(&context.document.profile.flows, picked).is_empty() {
            return;
        }
        self.chain.update(
            |chain| chain.of == *picked,
            || {
                let (document, picked) = (Arc::clone(context.document), *picked);
                context.jobs.start("chain", move |_| Chain::of(&document, &picked))
            },
        );
        let Some(chain) = self.chain.newest().filter(|chain| chain.of == *picked) else { return };
        ui.add_space(MARGIN);
        head(ui, context, &chain);
        let is_new = self.shown.replace(*picked) != Some(*picked);
        rows(ui, context, &chain, is_new);
        notes(ui, context, &chain);
    }
}

fn head(ui: &mut Ui, context: &mut PanelContext<'_>, chain: &Chain) {
    let count = |number: usize, thing: &str| {
        format!("{} {thing}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
    };
    ui.horizontal_wrapped(|ui| {
        let length = format_duration(chain.end - chain.start);
        let (stations, threads) = (count(chain.stations.len(), "station"), count(chain.threads, "thread"));
        let text = format!("{stations}, {length}");
        let help = format!(
            "What flows link with it, on {threads}, in order of time. At the right of each: how long after what it came of, and \
             since the first"
        );
        ui.label(RichText::new(text).color(context.theme.weak_text)).on_hover_text(help);
        let mut all = context.selection.chain;
        let help = "Arrows to all that came of it and to all that it came of, not only to its neighbours";
        if ui.checkbox(&mut all, "whole chain").on_hover_text(help).changed() {
            context.actions.push(Action::ShowChain(all));
        }
    });
}

#[expect(clippy::cast_precision_loss, reason = "a list has few enough rows")]
fn rows(ui: &mut Ui, context: &mut PanelContext<'_>, chain: &Chain, is_new: bool) {
    let count = chain.stations.len();
    let height = count.min(MOST_IN_SIGHT) as f32 * ROW;
    let mut area = ScrollArea::vertical().id_salt("chain").auto_shrink([false, true]).max_height(height);
    if let Some(picked) = chain.position().filter(|_| is_new && count > MOST_IN_SIGHT) {
        let most = count as f32 * ROW - height;
        area = area.vertical_scroll_offset(((picked as f32 + 0.5) * ROW - height / 2.0).clamp(0.0, most));
    }
    area.show_rows(ui, ROW - ui.spacing().item_spacing.y, count, |ui, seen| {
        let top = ui.max_rect().top();
        for (at, index) in seen.enumerate() {
            let corner = pos2(ui.max_rect().left(), top + at as f32 * ROW);
            let rect = Rect::from_min_size(corner, vec2(ui.available_width(), ROW));
            row(ui, context, chain, index, rect);
        }
    });
}

fn row(ui: &mut Ui, context: &mut PanelContext<'_>, chain: &Chain, index: usize, rect: Rect) {
    let (document, theme) = (context.document, context.theme);
    let station = &chain.stations[index];
    let there = flows::pick(document, station.member);
    let (name, thread) = (name_of(document, station), describe::short_thread(document, there.thread));
    let (mark, color) = match station.tie {
        Tie::Picked => ("", theme.text),
        Tie::Direct(Way::Back) => ("← ", theme.text),
        Tie::Direct(Way::Forward) => ("→ ", theme.text),
        Tie::Indirect => ("", theme.weak_text),
    };
    let later = station.came_of.map_or_else(String::new, |(_, late)| signed(late));
    let since_start = format_duration(station.time - chain.start);
    let response = ui.interact(rect, ui.scope_id().with(("station", index)), Sense::click());
    response.widget_info(|| {
        let label = [&format!("{mark}{name} in {thread}"), &later, &format!("{since_start} since the start")];
        let label: Vec<&str> = label.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        WidgetInfo::selected(Role::ListItem, true, station.tie == Tie::Picked, label.join(", "))
    });
    let painter = ui.painter_at(rect);
    if station.tie == Tie::Picked {
        painter.rect_filled(rect, 2.0, theme.range);
        painter.rect_filled(rect.with_max_x(rect.left() + 3.0), 0.0, theme.accent);
    }
    if response.hovered() || response.has_focus() {
        painter.rect_stroke(rect, 2.0, (1.0, theme.accent), egui::StrokeKind::Inside);
    }
    let font = |size: f32| FontId::proportional(size);
    // The other font has no arrows.
    painter.text(rect.left_top() + vec2(4.0, 3.0), Align2::LEFT_TOP, mark.trim(), FontId::monospace(SIZE), theme.arrow);
    for (top, left, right, size, color) in [
        (3.0, name.as_str(), later.as_str(), SIZE, color),
        (18.0, thread.as_str(), since_start.as_str(), SMALL, theme.weak_text),
    ] {
        let at = rect.right_top() + vec2(-4.0, top);
        let taken = painter.text(at, Align2::RIGHT_TOP, right, font(size), color).width() + 12.0;
        let room = rect.width() - LEFT - taken;
        let clip = Rect::from_min_max(rect.min, pos2(rect.right() - taken + 6.0, rect.bottom()));
        let text = fitted(ui, left, room, font(size));
        painter.with_clip_rect(clip.intersect(painter.clip_rect())).text(
            rect.left_top() + vec2(LEFT, top),
            Align2::LEFT_TOP,
            text,
            font(size),
            color,
        );
    }
    if response.clicked() {
        context.actions.push(Action::JumpTo(there));
    }
    response.on_hover_ui(|ui| tooltip(ui, context, chain, station));
}

/// `text` in at most about so much room: of wide letters there are fewer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a row has few letters"
)]
fn fitted(ui: &Ui, text: &str, room: f32, font: FontId) -> String {
    const FEWEST: f32 = 4.0;
    let letters = columns(room);
    let shortened = printable(&shorten(text, letters)).into_owned();
    let width = ui.painter().layout_no_wrap(shortened.clone(), font, egui::Color32::PLACEHOLDER).size().x;
    if width <= room {
        return shortened;
    }
    let letters = (letters.min(shortened.chars().count()) as f32 * room / width).max(FEWEST) as usize;
    printable(&shorten(text, letters)).into_owned()
}

fn tooltip(ui: &mut Ui, context: &PanelContext<'_>, chain: &Chain, station: &Station) {
    const LONGEST: usize = 300;
    let document = context.document;
    let there = flows::pick(document, station.member);
    ui.label(shorten(&name_of(document, station), LONGEST));
    let mut lines = vec![describe::thread(document, there.thread), describe::moment(station.time)];
    if let Some((from, late)) = station.came_of {
        let before = flows::pick(document, from);
        let (name, place) = (describe::name(document, &before), describe::short_thread(document, before.thread));
        lines.push(format!("{} since {} in {place}", signed(late), shorten(&name, 80)));
    }
    lines.push(format!("{} since the start of the chain", format_duration(station.time - chain.start)));
    lines.push(format!("flow: {}", shorten(describe::flow_name(document, station.member), 80)));
    match station.tie {
        Tie::Direct(Way::Forward) => lines.push("what came of the selected one (])".to_owned()),
        Tie::Direct(Way::Back) => lines.push("what the selected one came of ([)".to_owned()),
        Tie::Picked | Tie::Indirect => {}
    }
    ui.label(RichText::new(lines.join("\n")).color(context.theme.weak_text));
}

/// What is not in the list, and why.
fn notes(ui: &mut Ui, context: &mut PanelContext<'_>, chain: &Chain) {
    let document = context.document;
    let weak = |text: String| RichText::new(text).small().color(context.theme.weak_text);
    if chain.is_cut {
        ui.label(weak("The chain goes on; the nearest of it are listed.".to_owned()));
    }
    for end in chain.open_ends.iter().take(MOST_OPEN_ENDS) {
        let name = document.profile.string(document.profile.flows.name[end.flow]);
        let missing = match end.way {
            Way::Back => "has no beginning that is bound to anything",
            Way::Forward => "has no end that is bound to anything",
        };
        ui.label(weak(format!("The flow “{}” {missing}.", printable(&shorten(name, 40)))));
    }
    if chain.open_ends.len() > MOST_OPEN_ENDS {
        ui.label(weak(format!("So it is with {} more.", chain.open_ends.len() - MOST_OPEN_ENDS)));
    }
    let unbound = document.unbound_phases();
    if unbound > 0 {
        let plural = if unbound == 1 { "" } else { "s" };
        let text = format!("{} phase{plural} of flows in this profile bound to nothing: why", grouped(unbound));
        if ui
            .link(RichText::new(text).small().color(context.theme.accent))
            .on_hover_text(Command::Warnings.help())
            .clicked()
        {
            context.actions.push(Action::Run(Command::Warnings));
        }
    }
}

/// The name of what is there; where a flow passes through nothing, its own.
fn name_of(document: &Document, station: &Station) -> String {
    let name = describe::name(document, &flows::pick(document, station.member)).into_owned();
    match document.profile.flows.members[station.member as usize].anchor {
        FlowAnchor::Thread => format!("{name} (in no slice)"),
        FlowAnchor::Slice(_) | FlowAnchor::Marker(_) => name,
    }
}

/// `+120 µs`. An end may be stamped before its start.
fn signed(late: Nanos) -> String {
    let sign = if late.0 < 0 { "−" } else { "+" };
    format!("{sign}{}", format_duration(Nanos(late.0.saturating_abs())))
}

//! What is under the pointer, in words.

use egui::{RichText, Ui};
use traceview_core::model::TimeRange;
use traceview_core::report::format_percent;

use crate::describe::{self, Facts};
use crate::document::Document;
use crate::panels::PanelContext;
use crate::selection::{Picked, PickedKind};

/// Longer names are cut in a tooltip; the details show all of it.
const LONGEST_NAME: usize = 300;
/// Longer paths lose their beginning.
const LONGEST_PLACE: usize = 48;
/// Arguments of a slice that a tooltip shows.
const MOST_FACTS: usize = 16;
const WIDTH: f32 = 420.0;

/// Shows what is known of `picked`.
pub(super) fn show(ui: &mut Ui, context: &PanelContext<'_>, picked: &Picked) {
    ui.set_max_width(WIDTH);
    let name = describe::name(context.document, picked);
    ui.label(RichText::new(cut(&name)).strong());
    egui::Grid::new("facts").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
        for (key, value) in facts(context, picked) {
            let value =
                if key == "Source" { describe::shorten_place(&value, LONGEST_PLACE) } else { cut(&value).into() };
            ui.label(RichText::new(key).color(context.theme.weak_text));
            ui.label(value.as_ref());
            ui.end_row();
        }
    });
}

/// The facts of a tooltip.
fn facts(context: &PanelContext<'_>, picked: &Picked) -> Facts {
    let document: &Document = context.document;
    let mut facts = describe::time_facts(picked);
    let share = share_of(picked, context.selection.visible);
    facts.insert(1, ("Of the visible time".into(), format_percent(share)));
    facts.push(("Thread".into(), describe::thread(document, picked.thread)));
    match picked.what {
        PickedKind::Box(node) => {
            let (function, frame) = (document.function(node), describe::frame_of(document, node));
            facts.extend(describe::counted_facts(context.analyses, function));
            facts.extend(describe::function_facts(document, function, Some(frame)));
            if describe::is_inlined(document, node) {
                facts.push(("".into(), "(inlined)".to_owned()));
            }
        }
        PickedKind::Slice(slice) => facts.extend(describe::slice_facts(document, picked.thread, slice)),
        PickedKind::Wait(row) => {
            let wait = document.profile.threads[picked.thread.index()].waits.get(row);
            facts.extend(describe::wait_facts(document, &wait));
        }
        PickedKind::Marker(marker) => facts.extend(describe::marker_facts(document, picked.thread, marker)),
        PickedKind::Station(_) => {}
    }
    facts.truncate(MOST_FACTS);
    facts
}

/// How much of `visible` is filled, in percent.
fn share_of(picked: &Picked, visible: TimeRange) -> f64 {
    let whole = (visible.end - visible.start).as_secs_f64();
    traceview_core::analysis::percent(visible.overlap(picked.start, picked.duration).as_secs_f64(), whole)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

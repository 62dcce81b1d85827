//! The stack of what was picked, of any depth: only the rows in sight are made.

use egui::{Rect, RichText, Sense, Ui, pos2, vec2};
use traceview_core::model::StackId;
use traceview_core::report::shorten;

use super::super::PanelContext;
use crate::action::Action;
use crate::describe;

/// How high a row is.
const ROW: f32 = 18.0;
/// Names and places are cut to this before they are laid out: a row shows no more.
const LONGEST: usize = 160;

/// Lists the frames from the innermost on. A click selects the function.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "rows on a screen; casts saturate, which is meant"
)]
pub(super) fn show(ui: &mut Ui, context: &mut PanelContext<'_>, innermost: StackId) {
    let depths = context.document.stack_index.depth(innermost) + 1;
    let frames = if depths == 1 { "1 frame".to_owned() } else { format!("{depths} frames") };
    ui.label(RichText::new(format!("Stack, innermost first ({frames})")).color(context.theme.weak_text));
    let top = ui.cursor().top();
    let (place, _) = ui.allocate_exact_size(vec2(ui.available_width(), depths as f32 * ROW), Sense::hover());
    let seen = ui.clip_rect();
    let first = ((seen.top() - top) / ROW).floor() as u32;
    let end = (((seen.bottom() - top) / ROW).ceil() as u32).min(depths);
    for row in first.min(end)..end {
        let rect = Rect::from_min_size(pos2(place.left(), top + row as f32 * ROW), vec2(place.width(), ROW));
        frame(ui, context, innermost, row, rect);
    }
}

fn frame(ui: &mut Ui, context: &mut PanelContext<'_>, innermost: StackId, row: u32, rect: Rect) {
    let document = context.document;
    let depth = document.stack_index.depth(innermost) - row;
    let node = document.stack_index.at_depth(&document.profile.stacks, innermost, depth);
    let function = document.function(node);
    let line = document.profile.frames.line[describe::frame_of(document, node).index()];
    let place = describe::place(document, function, line);
    let name = document.function_name(function);
    let response = ui.interact(rect, ui.scope_id().with(("frame", row)), Sense::click());
    response.widget_info(|| {
        let selected = context.selection.function == Some(function);
        egui::WidgetInfo::selected(egui::Role::ListItem, true, selected, name)
    });
    let theme = context.theme;
    let painter = ui.painter_at(rect);
    if context.selection.function == Some(function) {
        painter.rect_filled(rect, 2.0, theme.range);
    }
    if response.hovered() || response.has_focus() {
        painter.rect_stroke(rect, 2.0, (1.0, theme.accent), egui::StrokeKind::Inside);
    }
    let color = theme.category(document.color_of(function));
    painter.rect_filled(Rect::from_min_size(rect.min + vec2(2.0, 5.0), vec2(8.0, 8.0)), 1.0, color);
    let inlined = if describe::is_inlined(document, node) { " (inlined)" } else { "" };
    let font = egui::FontId::proportional(12.0);
    let file = place.as_deref().map(|place| place.rsplit(['/', '\\']).next().unwrap_or(place)).unwrap_or_default();
    let place_width = if file.is_empty() {
        0.0
    } else {
        let at = rect.right_center() - vec2(2.0, 0.0);
        let text = shorten(file, 40);
        painter.text(at, egui::Align2::RIGHT_CENTER, text, font.clone(), theme.weak_text).width() + 10.0
    };
    let room = Rect { max: pos2(rect.right() - place_width, rect.bottom()), ..rect };
    let text = format!("{}{inlined}", shorten(name, columns(room.width() - 14.0).saturating_sub(inlined.len())));
    painter.with_clip_rect(room.intersect(painter.clip_rect())).text(
        rect.left_center() + vec2(14.0, 0.0),
        egui::Align2::LEFT_CENTER,
        text,
        font,
        theme.text,
    );
    if response.clicked() {
        context.actions.push(Action::SelectFunction(Some(function)));
    }
    response.on_hover_ui(|ui| {
        ui.label(shorten(name, LONGEST));
        ui.label(RichText::new(place.unwrap_or_default()).color(theme.weak_text));
    });
}

/// How many characters fit about.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row has few characters")]
pub(super) fn columns(width: f32) -> usize {
    ((width / 6.2).max(4.0) as usize).min(LONGEST)
}

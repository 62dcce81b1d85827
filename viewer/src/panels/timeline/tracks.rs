//! The input of the tracks: choosing threads by mouse and keyboard, folding, scrolling, and what is said under the
//! pointer.

use egui::{
    Align2, Color32, FontId, Id, Key, Modifiers, Pos2, Rect, Response, Role, Sense, Shape, Ui, WidgetInfo, pos2, vec2,
};
use traceview_core::model::{Nanos, ProcessId, ThreadId, Time, TimeRange};

use super::Timeline;
use super::layout::{self, HALF_LANE, MARKER_LANE, Row, Rows};
use super::model::Doing;
use super::range::Marked;
use super::{model, text};
use crate::action::Action;
use crate::panels::{PanelContext, SCROLL_BAR};
use crate::selection::Picked;
use crate::theme::Theme;
use crate::widget::{CanvasInput, TimeAxis, TimeView, label_width, take_key};

/// How short its handle is at least.
const SHORTEST_HANDLE: f32 = 24.0;
/// How much nearer a double click goes where it hits nothing with an extent of its own.
const NEARER: f64 = 4.0;
/// Longer lines of a tooltip are cut.
const LONGEST_LINE: usize = 120;

/// How far the wheel scrolls when it is turned over the names.
pub(super) fn gutter_scroll(ui: &Ui, tracks: Rect) -> f32 {
    if ui.rect_contains_pointer(layout::gutter(tracks)) {
        ui.input(|input| -input.smooth_scroll_delta().y)
    } else {
        0.0
    }
}

/// A line through all tracks at the pointer, with its time.
pub(super) fn paint_hover(ui: &Ui, place: &Marked, at: Time, theme: &Theme) {
    let painter = ui.painter().with_clip_rect(place.area);
    let x = place.view.x(at);
    painter.vline(x, place.area.y_range(), (1.0, theme.weak_text));
    let text = TimeAxis::new(place.view).name(at, place.view.duration(1.0));
    let width = label_width(&text) + 6.0;
    let left = (x + 4.0).min(place.area.right() - width);
    let room = Rect::from_min_size(pos2(left, place.ruler.top() + 3.0), vec2(width, place.ruler.height() - 6.0));
    painter.rect_filled(room, 2.0, theme.text);
    painter.text(room.center(), Align2::CENTER_CENTER, text, FontId::proportional(11.0), theme.canvas);
}

impl Timeline {
    /// Takes what was done on the tracks and their names.
    pub(super) fn take_track_input(
        &mut self,
        ui: &Ui,
        area: Rect,
        rows: &Rows,
        input: &CanvasInput,
        context: &mut PanelContext<'_>,
    ) {
        for index in rows.visible(self.scroll, self.scroll + area.height()) {
            self.show_name(ui, area, rows, index, input, context);
        }
        let row_at = |at: Pos2| rows.at(at.y - area.top() + self.scroll);
        if let Some(row) = input.double_clicked.and_then(row_at)
            && let (Row::Thread(thread), Some(at)) = (row, input.double_clicked)
        {
            match self.marker_at(at, area, rows, context).filter(|marker| marker.duration > Nanos::ZERO) {
                Some(marker) => context.actions.push(Action::Show(with_margin(marker.start, marker.duration))),
                None => self.zoom_into(thread, at, area, context),
            }
        } else if let Some(at) = input.clicked
            && let Some(marker) = self.marker_at(at, area, rows, context)
        {
            self.cursor = Some(marker.thread);
            context.actions.push(Action::Pick(Some(marker)));
        } else if let Some(row) = input.clicked.and_then(row_at) {
            self.choose(row, input.modifiers, context.actions);
        }
        if input.response.has_focus() {
            self.take_keys(ui, area, rows, context);
        }
    }

    /// The marker at a point of the tracks.
    fn marker_at(&self, at: Pos2, area: Rect, rows: &Rows, context: &PanelContext<'_>) -> Option<Picked> {
        let y = at.y - area.top() + self.scroll;
        let Some(Row::Thread(thread)) = rows.at(y) else { return None };
        let (_, row) = rows.get(rows.place(thread));
        if (y - row.start - MARKER_LANE).abs() > HALF_LANE + 1.0 {
            return None;
        }
        let lane = self.tracks.get(thread)??.markers.as_ref()?;
        lane.hit(&TimeView::new(context.selection.visible, layout::plot(area)), at.x)
    }

    /// The name of a row, as something to click on, and for assistive technology.
    fn show_name(
        &mut self,
        ui: &Ui,
        area: Rect,
        rows: &Rows,
        index: usize,
        canvas: &CanvasInput,
        context: &mut PanelContext<'_>,
    ) {
        let (row, y) = rows.get(index);
        let [top, bottom] = [y.start, y.end].map(|y| area.top() + y - self.scroll);
        let whole = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), bottom));
        let names = layout::gutter(whole);
        let id = canvas.response.id.with(key(row));
        let sense = if matches!(row, Row::Counter(_)) { Sense::hover() } else { Sense::click() };
        let response = ui.interact(names.intersect(area), id, sense);
        let document = context.document;
        let title = text::title(document, rows, row);
        let selection = context.selection;
        let painter = ui.painter().with_clip_rect(area);
        response.widget_info(|| match row {
            Row::Thread(thread) => {
                let counted = selection.charted == Some(thread)
                    || selection.threads.as_ref().is_some_and(|threads| threads.contains(&thread));
                let name = format!("{title}, {}", text::numbers(document, rows, row));
                WidgetInfo::selected(Role::Button, true, counted, name)
            }
            Row::Process(process) => {
                let open = !self.folding.collapsed.contains(&process);
                WidgetInfo::selected(Role::Button, true, open, &title)
            }
            Row::Counter(counter) => {
                let most = self.counters.get(counter).map(|track| text::counter_numbers(document, counter, track));
                WidgetInfo::labeled(Role::Label, true, format!("{title}, {}", most.unwrap_or_default()))
            }
            Row::MoreCounters => WidgetInfo::selected(Role::Button, true, self.folding.counters_open, &title),
            Row::Empty => WidgetInfo::selected(Role::Button, true, self.folding.empty_open, &title),
        });
        let open = match row {
            Row::Thread(_) | Row::Counter(_) => None,
            Row::MoreCounters => Some(self.folding.counters_open),
            Row::Process(process) => Some(!self.folding.collapsed.contains(&process)),
            Row::Empty => Some(self.folding.empty_open),
        };
        if let Some(open) = open {
            painter.add(triangle(pos2(whole.left() + 10.0, whole.center().y), open, context.theme.weak_text));
        }
        let has_cursor = matches!(row, Row::Thread(thread) if self.cursor == Some(thread));
        if response.has_focus() || (has_cursor && canvas.response.has_focus()) {
            painter.rect_stroke(names.shrink(1.0), 2.0, (1.5, context.theme.accent), egui::StrokeKind::Inside);
        }
        if response.clicked() {
            self.choose(row, canvas.modifiers, context.actions);
            // Arrow keys go on from here.
            ui.memory_mut(|memory| memory.request_focus(canvas.response.id));
        }
        if let Row::Counter(counter) = row {
            let profile = &document.profile;
            response.on_hover_text(profile.string(profile.counters[counter].description));
        } else if let Row::Thread(thread) = row {
            response.on_hover_ui(|ui| show_lines(ui, &text::thread_lines(document, rows, thread)));
        }
    }

    fn choose(&mut self, row: Row, modifiers: Modifiers, actions: &mut Vec<Action>) {
        match row {
            Row::Thread(thread) => {
                self.cursor = Some(thread);
                let toggle = modifiers.command || modifiers.ctrl;
                actions.push(if toggle { Action::ToggleThread(thread) } else { Action::SelectThread(thread) });
            }
            Row::Process(process) => self.fold(process),
            Row::Counter(_) => {}
            Row::MoreCounters => {
                self.folding.counters_open = !self.folding.counters_open;
                self.rows = None;
            }
            Row::Empty => {
                self.folding.empty_open = !self.folding.empty_open;
                self.rows = None;
            }
        }
    }

    fn fold(&mut self, process: ProcessId) {
        if !self.folding.collapsed.remove(&process) {
            self.folding.collapsed.insert(process);
        }
        self.rows = None;
    }

    /// Shows the selected range, the wait or the slice at `at`, or else a part around it.
    fn zoom_into(&self, thread: ThreadId, at: Pos2, area: Rect, context: &mut PanelContext<'_>) {
        let document = context.document;
        if !document.timed {
            return;
        }
        let view = TimeView::new(context.selection.visible, layout::plot(area));
        let time = view.time(at.x);
        let row = &document.profile.threads[thread.index()];
        let doing = match self.tracks.get(thread) {
            Some(Some(track)) => model::doing(document, track, thread, time),
            _ => Doing::Unknown,
        };
        let range = match (context.selection.range.filter(|range| range.contains(time)), doing) {
            (Some(range), _) => range,
            (None, Doing::Waiting(wait)) => with_margin(row.waits.start[wait], row.waits.duration[wait]),
            (None, Doing::Slice(slice)) => with_margin(row.slices.start[slice], row.slices.duration[slice]),
            (None, Doing::Running(_) | Doing::Unknown) => view.zoomed(NEARER, time),
        };
        context.actions.push(Action::Show(range));
    }

    fn take_keys(&mut self, ui: &Ui, area: Rect, rows: &Rows, context: &mut PanelContext<'_>) {
        let pressed = |key| take_key(ui, Modifiers::NONE, key) > 0;
        let from = self.cursor.or(context.selection.charted);
        let moved = match (pressed(Key::ArrowUp), pressed(Key::ArrowDown)) {
            (true, false) => rows.neighbour(from, false),
            (false, true) => rows.neighbour(from, true),
            _ => None,
        };
        if let Some(thread) = moved {
            self.cursor = Some(thread);
            if let Some(index) = rows.position(thread) {
                self.scroll = rows.scroll_to(index, self.scroll, area.height());
            }
        }
        if pressed(Key::Enter)
            && let Some(thread) = self.cursor.or(from)
        {
            context.actions.push(Action::SelectThread(thread));
        }
    }

    /// A scroll bar, when there is something to scroll.
    pub(super) fn show_scroll_bar(&mut self, ui: &Ui, id: Id, area: Rect, rows: &Rows, context: &PanelContext<'_>) {
        let most = rows.most_scroll(area.height());
        if most <= 0.0 {
            return;
        }
        let bar = Rect::from_min_max(pos2(area.right() - SCROLL_BAR, area.top()), area.max);
        let length =
            (area.height() * area.height() / rows.height()).clamp(SHORTEST_HANDLE.min(area.height()), area.height());
        let way = (area.height() - length).max(1.0);
        let response = ui.interact(bar, id.with("scroll bar"), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::ScrollBar, true, "Scroll the threads"));
        if response.dragged() {
            self.scroll_by(response.drag_delta().y / way * most, rows, area);
        } else if let Some(at) = response.interact_pointer_pos().filter(|_| response.clicked()) {
            self.scroll = ((at.y - area.top() - length / 2.0) / way * most).clamp(0.0, most);
        }
        let top = area.top() + self.scroll / most * way;
        let handle = Rect::from_min_size(pos2(bar.left() + 2.0, top), vec2(SCROLL_BAR - 4.0, length));
        let strength = if response.hovered() || response.dragged() { 0.9 } else { 0.5 };
        ui.painter().rect_filled(handle, 3.0, context.theme.weak_text.gamma_multiply(strength));
    }

    pub(super) fn show_tooltip(
        &self,
        response: &Response,
        at: Pos2,
        (area, rows, view): (Rect, &Rows, TimeView),
        context: &PanelContext<'_>,
    ) {
        let row = rows.at(at.y - area.top() + self.scroll);
        if let Some(Row::Counter(counter)) = row
            && let Some(track) = self.counters.get(counter)
        {
            let lines = text::counter_lines(context.document, counter, track, view.time(at.x), &view);
            egui::Tooltip::for_widget(response).at_pointer().gap(14.0).show(|ui| show_lines(ui, &lines));
            return;
        }
        let Some(Row::Thread(thread)) = row else { return };
        let Some(Some(track)) = self.tracks.get(thread) else { return };
        let lines = if let Some(marker) = self.marker_at(at, area, rows, context) {
            text::marker_lines(context.document, &marker, &view)
        } else {
            let mut lines = vec![text::thread_title(context.document, thread)];
            lines.extend(text::moment_lines(context.document, track, thread, view.time(at.x), &view));
            lines
        };
        egui::Tooltip::for_widget(response).at_pointer().gap(14.0).show(|ui| show_lines(ui, &lines));
    }
}

/// What a row's widget is known by.
fn key(row: Row) -> (u8, usize) {
    match row {
        Row::Process(process) => (0, process.index()),
        Row::Thread(thread) => (1, thread.index()),
        Row::Empty => (2, 0),
        Row::Counter(counter) => (3, counter),
        Row::MoreCounters => (4, 0),
    }
}

fn show_lines(ui: &mut Ui, lines: &[String]) {
    for (index, line) in lines.iter().enumerate() {
        let line = traceview_core::report::shorten(line, LONGEST_LINE);
        let text = egui::RichText::new(line.as_ref());
        ui.label(if index == 0 { text.strong() } else { text });
    }
}

/// A part of time with a tenth of it on both sides.
fn with_margin(start: Time, duration: Nanos) -> TimeRange {
    let margin = Nanos(duration.0 / 10 + 1);
    TimeRange { start: start + Nanos(-margin.0), end: start + duration + margin }
}

fn triangle(center: Pos2, open: bool, color: Color32) -> Shape {
    let corners = if open {
        [vec2(-4.0, -2.5), vec2(4.0, -2.5), vec2(0.0, 3.5)]
    } else {
        [vec2(-2.5, -4.0), vec2(3.5, 0.0), vec2(-2.5, 4.0)]
    };
    Shape::convex_polygon(corners.map(|corner| center + corner).to_vec(), color, egui::Stroke::NONE)
}

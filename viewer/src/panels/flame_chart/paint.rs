//! A chart as a scene: boxes, labels, marks, and the names at its left.

use std::ops::Range;
use std::rc::Rc;

use egui::{Color32, Rect, Vec2, pos2, vec2};
use traceview_core::model::{Nanos, Time, TimeRange};
use traceview_core::report::format_duration;

use super::hit::Shown;
use super::layout::{HEADING, MARKS, ROW, Row, Section, SectionKind};
use super::matches::{Emphasis, Matches};
use crate::describe;
use crate::lod::{Cell, Pyramid, Spans};
use crate::panels::box_names::fitting;
use crate::panels::boxes::{Boxes, label};
use crate::panels::legend::Legend;
use crate::panels::{SCROLL_BAR, grouped};
use crate::scene::{Align, Elide, FONT_SIZE, Label, NARROWEST_LABEL, Scene, room_for};
use crate::selection::Picked;
use crate::theme::Theme;
use crate::widget::TimeAxis;

/// How a chart is drawn, besides what is shown of it.
pub(super) struct Look<'a> {
    /// Its colours.
    pub(super) theme: &'a Theme,
    /// What its colours mean.
    pub(super) legend: Rc<Legend>,
    /// What is searched for.
    pub(super) search: Option<Emphasis>,
    /// The selected function.
    pub(super) function: Option<Emphasis>,
}

/// A box that is drawn with its name.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Named {
    /// Where, on the canvas.
    pub(super) rect: Rect,
    /// Its name.
    pub(super) name: String,
    /// What it is.
    pub(super) picked: Picked,
}

/// More labels than this make a frame late; narrow boxes go without.
const MOST_LABELS: usize = 1_000;
/// Boxes of the selected function that get an outline.
const MOST_OUTLINES: usize = 5_000;

/// Draws what is shown, with the boxes that carry their names.
pub(super) fn scene(shown: &Shown<'_>, look: &Look<'_>) -> (Scene, Vec<Named>) {
    let mut painter = Painter::new(shown, look);
    painter.lifetime();
    painter.grid(0.0, shown.height);
    for section in &shown.layout.sections {
        painter.section(section);
    }
    painter.pinned();
    painter.gutter();
    painter.finish()
}

struct Painter<'a> {
    shown: &'a Shown<'a>,
    look: &'a Look<'a>,
    boxes: Boxes,
    named: Vec<(Named, Color32)>,
}

/// What a cell is of.
struct Item {
    color: Color32,
    /// Whether the search has it; `None`: nothing is searched for.
    found: Option<bool>,
}

impl<'a> Painter<'a> {
    fn new(shown: &'a Shown<'a>, look: &'a Look<'a>) -> Self {
        let size = vec2(shown.view.left + shown.view.width + SCROLL_BAR, shown.height);
        let scene = Scene::new(size, look.theme.canvas);
        Self { shown, look, boxes: Boxes::new(scene, 1.0 / shown.pixels_per_point), named: Vec::new() }
    }

    /// Shades the time in which the thread did not exist.
    fn lifetime(&mut self) {
        let thread = &self.shown.document.profile.threads[self.shown.chart.thread.index()];
        let range = self.shown.view.range;
        let before = thread.start.map(|start| (range.start, start));
        let after = thread.end.map(|end| (end, range.end));
        for (start, end) in [before, after].into_iter().flatten().filter(|(start, end)| start < end) {
            let rect = self.rect(start, end, 0.0, self.shown.height);
            self.boxes.quad(rect, self.look.theme.stripe);
        }
    }

    /// Continues the lines of the ruler.
    fn grid(&mut self, top: f32, bottom: f32) {
        for tick in TimeAxis::new(self.shown.view).ticks() {
            let line = Rect::from_min_max(pos2(tick.x, top), pos2(tick.x + self.boxes.pixel, bottom));
            self.boxes.quad(line, self.look.theme.grid);
        }
    }

    fn section(&mut self, section: &Section) {
        let shown = self.shown;
        let rows = shown.layout.visible(section, shown.scroll, shown.height);
        let mut cells = Vec::new();
        match section.kind {
            SectionKind::Slices => {
                shown.chart.rows.slices.query(shown.view.range, shown.pixels(), rows.clone(), &mut cells);
                self.cells(&cells, |row| Row::Of(SectionKind::Slices, row), &(Self::slice, Shown::slice));
            }
            SectionKind::Boxes => {
                let window = shown.chart.window();
                let [first, end] = [rows.start, rows.end].map(|depth| depth.saturating_sub(window.start));
                shown.chart.boxes.query(shown.view.range, shown.pixels(), first..end, &mut cells);
                self.cells(&cells, |row| Row::Of(SectionKind::Boxes, window.start + row), &(Self::box_, Shown::box_));
                if rows.start < window.start || rows.end > window.end {
                    self.message("preparing…");
                }
            }
        }
        self.brought_out(section.kind, &rows);
        if let (Some(heading), Some(top)) = (section.heading, shown.layout.top(Row::Of(section.kind, 0), shown.scroll))
        {
            let rect = Rect::from_min_size(pos2(shown.view.left, top - HEADING), vec2(shown.view.width, HEADING));
            self.boxes.quad(rect, self.look.theme.stripe);
            self.text(rect, heading, self.look.theme.weak_text, Align::Left);
        }
    }

    /// Draws the cells of rows; `of` says how an item is drawn, and what it is.
    fn cells(
        &mut self,
        cells: &[Cell],
        row: impl Fn(u32) -> Row,
        of: &(impl Fn(&Self, u32) -> Item, impl Fn(&Shown<'a>, u32) -> Picked),
    ) {
        for cell in cells {
            let Some(top) = self.shown.layout.top(row(cell.row), self.shown.scroll) else { continue };
            let item = of.0(self, cell.item);
            // What shares a pixel may be of any sort; what of it was found is drawn over it.
            let found = item.found.map(|found| found && cell.exact);
            let theme = self.look.theme;
            let color = if found == Some(false) { theme.dimmed(item.color) } else { item.color };
            let rect = self.rect(cell.start, cell.end(), top, top + ROW - self.boxes.pixel);
            if !cell.exact {
                // Few steps, so that neighbours are alike and are drawn as one.
                let coverage = (cell.coverage() * 8.0).ceil() / 8.0;
                self.boxes.continued(rect, theme.covered(color, coverage));
                continue;
            }
            self.boxes.continued_ends();
            self.boxes.separate(rect, color);
            if found == Some(true) {
                self.boxes.underline(rect, theme.found);
            }
            if rect.width() >= NARROWEST_LABEL {
                let text = if found == Some(false) { theme.weak_text } else { theme.box_text };
                let picked = of.1(self.shown, cell.item);
                let name = describe::name(self.shown.document, &picked).into_owned();
                self.named.push((Named { rect, name, picked }, text));
            }
        }
        self.boxes.continued_ends();
    }

    fn box_(&self, item: u32) -> Item {
        let function = self.shown.chart.function(&self.shown.document.profile, item);
        let color = self.look.theme.category(self.shown.document.color_of(function));
        Item { color, found: self.look.search.as_ref().map(|it| it.wanted.has(function)) }
    }

    fn slice(&self, item: u32) -> Item {
        let (profile, slices) = (&self.shown.document.profile, self.shown.chart.rows.slices.spans().slices());
        let category = &profile.categories[slices.category[item as usize].index()];
        let name = profile.string(slices.name[item as usize]);
        let found = self.look.search.as_ref().map(|it| it.wanted.has_name(name));
        Item { color: self.look.theme.category(category.color), found }
    }

    /// Draws over it what of a section is brought out: what the search found in shared pixels, and the boxes of the
    /// selected function.
    fn brought_out(&mut self, kind: SectionKind, rows: &Range<u32>) {
        let (theme, shown) = (self.look.theme, self.shown);
        let mut cells = Vec::new();
        if let Some(found) = matches_of(self.look.search.as_ref()) {
            let first = self.query(kind, found, rows, &mut cells);
            for cell in cells.iter().filter(|cell| !cell.exact) {
                let Some(top) = shown.layout.top(Row::Of(kind, first + cell.row), shown.scroll) else { continue };
                let color = match kind {
                    SectionKind::Slices => self.slice(found.slices.spans().original(cell.item)).color,
                    SectionKind::Boxes => self.box_(found.boxes.spans().original(cell.item)).color,
                };
                let rect = self.rect(cell.start, cell.end(), top, top + ROW - self.boxes.pixel);
                self.boxes.quad(rect, color);
                self.boxes.underline(rect, theme.found);
            }
        }
        if let (SectionKind::Boxes, Some(of_function)) = (kind, matches_of(self.look.function.as_ref())) {
            cells.clear();
            let first = self.query(kind, of_function, rows, &mut cells);
            for cell in cells.iter().take(MOST_OUTLINES) {
                let Some(top) = shown.layout.top(Row::Of(kind, first + cell.row), shown.scroll) else { continue };
                let rect = self.rect(cell.start, cell.end(), top, top + ROW - self.boxes.pixel);
                self.boxes.outline(rect, of_function_color(theme));
            }
        }
    }

    /// Queries matches for rows of a section; gives the row of the section that is their first.
    fn query(&self, kind: SectionKind, matches: &Matches, rows: &Range<u32>, cells: &mut Vec<Cell>) -> u32 {
        fn all<S: Spans>(of: &Pyramid<S>, shown: &Shown<'_>, rows: Range<u32>, cells: &mut Vec<Cell>) {
            of.query(shown.view.range, shown.pixels(), rows, cells);
        }
        let first = match kind {
            SectionKind::Slices => 0,
            SectionKind::Boxes => self.shown.chart.window().start,
        };
        let rows = rows.start.saturating_sub(first)..rows.end.saturating_sub(first);
        match kind {
            SectionKind::Slices => all(&matches.slices, self.shown, rows, cells),
            SectionKind::Boxes => all(&matches.boxes, self.shown, rows, cells),
        }
        first
    }

    /// The rows that do not scroll: they cover what scrolls under them.
    fn pinned(&mut self) {
        let (shown, theme) = (self.shown, self.look.theme);
        let left = shown.view.left;
        let rect = Rect::from_min_size(pos2(left, 0.0), vec2(shown.view.width, shown.layout.pinned()));
        // Text of a row that is half under them would lie over them.
        self.named.retain(|(named, _)| named.rect.top() >= rect.bottom() - 3.0);
        self.boxes.scene.labels.retain(|label| label.rect.top() >= rect.bottom() - 1.0);
        self.boxes.quad(rect, theme.canvas);
        let mut cells = Vec::new();
        if let Some(found) = matches_of(self.look.search.as_ref()) {
            found.marks.query(shown.view.range, shown.pixels(), 0..1, &mut cells);
            for cell in cells.drain(..) {
                let rect = self.rect(cell.start, cell.end(), 0.0, MARKS - self.boxes.pixel);
                self.boxes.quad(rect, theme.found);
            }
        }
        shown.chart.rows.waits.query(shown.view.range, shown.pixels(), 0..1, &mut cells);
        for cell in cells {
            let picked = shown.wait(cell.item);
            let wait = shown.document.profile.threads[shown.chart.thread.index()].waits.get(cell.item as usize);
            let color = theme.covered(theme.wait(wait.reason), cell.coverage());
            let rect = self.rect(cell.start, cell.end(), MARKS, MARKS + ROW - self.boxes.pixel);
            if !cell.exact {
                self.boxes.continued(rect, color);
                continue;
            }
            self.boxes.continued_ends();
            self.boxes.separate(rect, color);
            if rect.width() >= NARROWEST_LABEL {
                let name = describe::wait_label(&shown.document.profile, &wait).into_owned();
                self.named.push((Named { rect, name, picked }, theme.text));
            }
        }
        self.boxes.continued_ends();
        self.grid(0.0, rect.bottom());
        if shown.layout.sections.is_empty() {
            self.message(&nothing_ran(shown));
        }
    }

    fn gutter(&mut self) {
        let (shown, theme) = (self.shown, self.look.theme);
        let width = shown.view.left;
        if width <= 0.0 {
            return;
        }
        self.boxes.quad(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, shown.height)), theme.canvas);
        self.depths();
        let profile = &shown.document.profile;
        let thread = &profile.threads[shown.chart.thread.index()];
        let pid = &profile.processes[thread.process.index()].pid;
        let room = width - DEPTHS;
        // The process's is in the tooltip of the track too.
        let ids = [format!("pid {pid} · tid {}", thread.tid), format!("tid {}", thread.tid)];
        let ids = ids.into_iter().find(|ids| room_for(ids, FONT_SIZE) <= room - INSET).unwrap_or_default();
        let lines = [
            (shown.document.thread_name(shown.chart.thread).to_owned(), theme.text),
            (ids, theme.weak_text),
            (did(shown), theme.weak_text),
        ];
        let mut top = MARKS;
        for (text, color) in lines.into_iter().filter(|(text, _)| !text.is_empty()) {
            let rect = Rect::from_min_size(pos2(INSET, top), vec2(room - INSET, ROW));
            self.boxes.scene.labels.push(Label { elide: Elide::Middle, ..label(rect, text, color, Align::Left) });
            top += ROW;
        }
        let area = Rect::from_min_max(pos2(INSET, top + INSET), pos2(room, shown.height));
        self.look.legend.paint(&mut self.boxes.scene, area, theme);
        let edge = Rect::from_min_size(pos2(width - self.boxes.pixel, 0.0), vec2(self.boxes.pixel, shown.height));
        self.boxes.quad(edge, theme.grid);
    }

    /// Numbers some of the depths in the gutter.
    fn depths(&mut self) {
        let (shown, theme) = (self.shown, self.look.theme);
        let place = |top: f32| Rect::from_min_size(pos2(shown.view.left - DEPTHS, top), vec2(DEPTHS - 2.0, ROW));
        if shown.layout.waits {
            self.text(place(MARKS), "waits", theme.weak_text, Align::Right);
        }
        for section in &shown.layout.sections {
            for row in shown.layout.visible(section, shown.scroll, shown.height).filter(|row| row % 5 == 0) {
                let Some(top) = shown.layout.top(Row::Of(section.kind, row), shown.scroll) else { continue };
                if top >= shown.layout.pinned() {
                    self.text(place(top), &row.to_string(), theme.weak_text, Align::Right);
                }
            }
        }
    }

    fn finish(mut self) -> (Scene, Vec<Named>) {
        if self.named.len() > MOST_LABELS {
            self.named.sort_by(|a, b| b.0.rect.width().total_cmp(&a.0.rect.width()));
            self.named.truncate(MOST_LABELS);
        }
        for (named, color) in &self.named {
            if let Some((text, elide)) = fitting(&named.name, named.rect.width()) {
                let label = label(named.rect, text.into_owned(), *color, Align::Left);
                self.boxes.scene.labels.push(Label { elide, ..label });
            }
        }
        (self.boxes.scene, self.named.into_iter().map(|(named, _)| named).collect())
    }

    /// A sentence in the middle of what is empty.
    fn message(&mut self, text: &str) {
        let top = self.shown.layout.pinned();
        let rect = Rect::from_min_size(
            pos2(self.shown.view.left, top),
            vec2(self.shown.view.width, (self.shown.height - top).max(ROW)),
        );
        self.text(rect, text, self.look.theme.weak_text, Align::Center);
    }

    fn text(&mut self, rect: Rect, text: &str, color: Color32, align: Align) {
        self.boxes.scene.labels.push(label(rect, text.to_owned(), color, align));
    }

    /// The part of the canvas from `start` to `end`, as far as it is in view, at least a pixel wide.
    fn rect(&self, start: Time, end: Time, top: f32, bottom: f32) -> Rect {
        let view = &self.shown.view;
        let (left, right) = (view.left, view.left + view.width);
        let x0 = view.x(start).min(right - self.boxes.pixel).max(left);
        Rect { min: pos2(x0, top), max: pos2(view.x(end).min(right).max(x0 + self.boxes.pixel), bottom) }
    }
}

/// How far names in the gutter are from its edge.
const INSET: f32 = 5.0;
/// The room for depths at the right of the gutter.
const DEPTHS: f32 = 44.0;

/// The outline of the selected function's boxes: weaker than that of the picked one.
pub(super) fn of_function_color(theme: &Theme) -> Color32 {
    theme.outline.gamma_multiply(0.6)
}

fn matches_of(emphasis: Option<&Emphasis>) -> Option<&Matches> {
    emphasis?.matches.as_deref()
}

/// How much a thread did: its CPU time, where samples say it.
fn did(shown: &Shown<'_>) -> String {
    let totals = shown.document.activity[shown.chart.thread.index()];
    match (totals.samples, totals.slices) {
        (0, 0) => String::new(),
        (0, 1) => "1 slice".to_owned(),
        (0, slices) => format!("{} slices", grouped(slices as u64)),
        _ => format!("CPU {}", format_duration(totals.cpu)),
    }
}

/// Why a thread without samples and slices has no rows.
fn nothing_ran(shown: &Shown<'_>) -> String {
    let waits = &shown.document.profile.threads[shown.chart.thread.index()].waits;
    let waited: Nanos = waits.duration.iter().copied().sum();
    let waited = if waits.is_empty() { String::new() } else { format!("; it waited {}", format_duration(waited)) };
    format!("this thread used no CPU time that was sampled{waited}")
}

/// Where the time axis of a canvas of `size` is.
pub(super) fn time_view(range: TimeRange, size: Vec2) -> crate::widget::TimeView {
    crate::widget::TimeView::new(range, crate::panels::plot(Rect::from_min_size(pos2(0.0, 0.0), size)))
}

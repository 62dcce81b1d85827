//! The picture: the overview and the ruler, and the tracks in view, as scenes.

use std::ops::Range;
use std::sync::Arc;

use egui::{Color32, Rect, Vec2, pos2, vec2};
use traceview_core::model::{Nanos, ThreadId, Time, TimeRange};

use super::arrows::{self, Arrow};
use super::counters::Counters;
use super::graph::Graph;
use super::layout::{self, Areas, Row, Rows};
use super::model::{Overview, Palette, REASONS, Track, Tracks};
use super::text;
use crate::document::Document;
use crate::lod::Columns;
use crate::panels::GUTTER;
use crate::scene::{Align, Elide, FONT_SIZE, Label, Scene, room_for};
use crate::selection::Picked;
use crate::theme::Theme;
use crate::widget::{TimeAxis, TimeView, label_width};

/// What all of the picture depends on, besides its size.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Look {
    pub(super) theme: Theme,
    pub(super) visible: TimeRange,
    pub(super) pixels_per_point: f32,
}

/// Which rows are in view, and how they are marked.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Body {
    pub(super) scroll: f32,
    /// Whether a row stands for the thread of the chart.
    pub(super) charted: Option<ThreadId>,
    /// The threads that are counted; `None`: all.
    pub(super) counted: Option<Vec<ThreadId>>,
    /// What is marked as selected.
    pub(super) picked: Option<Picked>,
    /// What leads to it and from it.
    pub(super) arrows: Arc<Vec<Arrow>>,
}

/// The font size of what is said of a row.
const SMALL: f32 = 10.5;
/// What stays free above a graph.
const HEADROOM: f32 = 4.0;
/// Quads of all tracks together, at most.
const MOST_QUADS: usize = 45_000;
/// A track is not made coarser than this.
const FEWEST_COLUMNS: u32 = 100;
/// Columns of the overview, at most.
const MOST_OVERVIEW_COLUMNS: u32 = 1200;
/// How wide the lines at the edges of the visible part are in the overview.
const FRAME: f32 = 2.0;

/// The overview and the ruler; `counted` is the number of threads that the overview is of, `None` for all.
pub(super) fn header(
    width: f32,
    look: &Look,
    document: &Document,
    (rows, counted): (&Rows, Option<usize>),
    overview: Option<(&Overview, &Palette)>,
) -> Scene {
    let areas = Areas::of(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, 1e4)), document.timed);
    let mut scene = Scene::new(vec2(width, areas.ruler.bottom()), look.theme.canvas);
    let names = indented(layout::gutter(areas.ruler));
    if !document.timed {
        let text = format!("This profile has no times; {}", text::census(document, rows));
        scene.label(indented(areas.ruler), text, look.theme.weak_text);
        scene.quad(hairline(areas.ruler), look.theme.grid);
        return scene;
    }
    scene.quad(areas.overview, look.theme.stripe);
    paint_overview(&mut scene, areas.overview, look, document, (counted, overview));
    small_label(&mut scene, names, text::census(document, rows), look.theme.weak_text, Align::Left);
    paint_ruler(&mut scene, layout::plot(areas.ruler), look);
    for row in [areas.overview, areas.ruler] {
        scene.quad(hairline(row), look.theme.grid);
    }
    scene.quad(pixel_column(GUTTER - 1.0, 0.0..scene.size.y), look.theme.grid);
    scene
}

fn paint_overview(
    scene: &mut Scene,
    area: Rect,
    look: &Look,
    document: &Document,
    (counted, overview): (Option<usize>, Option<(&Overview, &Palette)>),
) {
    let (names, plot) = (indented(layout::gutter(area)), layout::plot(area));
    let theme = &look.theme;
    let title = Rect::from_min_max(names.min, pos2(names.right(), names.center().y + 1.0));
    let whose = counted.map_or("All threads".to_owned(), |threads| text::count(threads, "selected thread"));
    scene.label(title, whose, theme.text);
    if let Some((overview, palette)) = overview {
        let pixels = TimeView::new(document.extent, plot).pixels(look.pixels_per_point).min(MOST_OVERVIEW_COLUMNS);
        let cpus = overview.cpus(pixels);
        let groups = overview.groups();
        let total = |column: &[f32]| column.iter().sum::<f32>();
        let peak = cpus.chunks(groups).map(total).fold(0.0, f32::max);
        // Beside the line of one CPU, unless that would leave too little of the graph.
        let scale = if peak < 0.5 { peak.max(f32::MIN_POSITIVE) } else { peak.max(1.0) };
        let colors: Vec<Color32> = palette.colors.iter().map(|color| theme.category(*color)).collect();
        let graph_area = Rect::from_min_max(plot.min + vec2(0.0, HEADROOM), plot.max - vec2(0.0, 1.0));
        let mut graph = Graph::new(scene, graph_area, look.pixels_per_point, &colors);
        #[expect(clippy::cast_precision_loss, reason = "a screen has few pixels")]
        let x = |pixel: usize| plot.left() + plot.width() * pixel as f32 / pixels as f32;
        for (pixel, column) in cpus.chunks(groups).enumerate() {
            let shares: Vec<f32> = column.iter().map(|cpus| cpus / scale).collect();
            graph.column(x(pixel)..x(pixel + 1), &shares, groups);
        }
        graph.finish();
        if scale >= 1.0 {
            let y = graph_area.bottom() - graph_area.height() / scale;
            scene.quad(Rect::from_min_max(pos2(plot.left(), y), pos2(plot.right(), y)), one_cpu_color(theme));
        }
        let below = Rect::from_min_max(pos2(names.left(), names.center().y), names.max);
        // Of threads that were not sampled it is known how many were in slices, not how many ran.
        let has_slices = document.activity.iter().any(|totals| totals.samples == 0 && totals.slices > 0);
        let of_what = if has_slices { "busy" } else { "CPUs" };
        let use_of_cpus = format!("{:.2} avg · {peak:.1} peak {of_what}", overview.average());
        small_label(scene, below, use_of_cpus, theme.weak_text, Align::Left);
    }
    let view = TimeView::new(document.extent, plot);
    let (start, end) = visible_frame(&view, look.visible);
    let veil = theme.canvas.gamma_multiply(0.7);
    for outside in [plot.left()..start, end..plot.right()] {
        if outside.start < outside.end {
            scene.quad(columns_of(plot, outside), veil);
        }
    }
    for edge in [start..start + FRAME, end - FRAME..end] {
        scene.quad(columns_of(plot, edge), theme.accent);
    }
}

/// The line in the overview where one CPU is busy.
pub(super) fn one_cpu_color(theme: &Theme) -> Color32 {
    theme.text.gamma_multiply(0.35)
}

/// Where the visible part begins and ends in the overview; never so narrow that it can't be seen.
pub(super) fn visible_frame(view: &TimeView, visible: TimeRange) -> (f32, f32) {
    let (left, right) = (view.left, view.left + view.width);
    let start = view.x(visible.start).clamp(left, (right - 2.0 * FRAME).max(left));
    (start, view.x(visible.end).clamp((start + 2.0 * FRAME).min(right), right))
}

fn paint_ruler(scene: &mut Scene, plot: Rect, look: &Look) {
    let theme = &look.theme;
    let view = TimeView::new(look.visible, plot);
    let axis = TimeAxis::new(view);
    for x in axis.minor_ticks() {
        scene.quad(pixel_column(x, plot.bottom() - 4.0..plot.bottom()), theme.grid);
    }
    let mut free_from = plot.left();
    for tick in axis.ticks() {
        scene.quad(pixel_column(tick.x, plot.top() + 6.0..plot.bottom()), theme.weak_text.gamma_multiply(0.6));
        // With a little on both sides.
        let width = label_width(&tick.label) * SMALL / FONT_SIZE + 6.0;
        let (left, before) = (tick.x + 1.0, tick.x - 1.0);
        // A label that was cut would say another time: the last one may have to stand before its tick.
        let (x, align) = if left + width <= plot.right() {
            (left..left + width, Align::Left)
        } else if before - width >= free_from {
            (before - width..before, Align::Right)
        } else {
            continue;
        };
        free_from = x.end;
        small_label(scene, columns_of(plot.with_max_y(plot.bottom() - 2.0), x), tick.label, theme.weak_text, align);
    }
}

/// The tracks in view: with a column a pixel, or fewer where that would be more than can be drawn in a frame.
pub(super) fn tracks(
    size: Vec2,
    look: &Look,
    body: &Body,
    document: &Document,
    (rows, tracks, counters): (&Rows, &Tracks, &Counters),
) -> Scene {
    let mut scene = Scene::new(size, look.theme.canvas);
    let visible = rows.visible(body.scroll, body.scroll + size.y);
    let place = |index: usize| {
        let (row, y) = rows.get(index);
        let rect = Rect::from_min_max(pos2(0.0, y.start - body.scroll), pos2(size.x, y.end - body.scroll));
        (row, rect)
    };
    let view = TimeView::new(look.visible, layout::plot(Rect::from_min_size(pos2(0.0, 0.0), size)));
    for (row, rect) in visible.clone().map(place) {
        paint_ground(&mut scene, row, rect, look, body);
    }
    if document.timed {
        for tick in TimeAxis::new(view).ticks() {
            scene.quad(pixel_column(tick.x, 0.0..size.y), look.theme.grid);
        }
    }
    scene.quad(pixel_column(GUTTER - 1.0, 0.0..size.y), look.theme.grid);
    let mut columns = view.pixels(look.pixels_per_point);
    let end = visible.end;
    for index in visible {
        let (row, rect) = place(index);
        if let Row::Thread(thread) = row
            && document.timed
        {
            let share = MOST_QUADS.saturating_sub(scene.quads.len()) / (end - index);
            // What was too fine for one track is not tried again for those below it.
            columns = paint_track(&mut scene, layout::plot(rect), thread, look, body, (tracks, columns, share));
        }
        if let Row::Counter(counter) = row
            && let Some(track) = counters.get(counter)
        {
            let color = super::counters::color(&document.profile.counters[counter], look);
            track.paint(&mut scene, layout::plot(rect), look, color);
            let numbers = text::counter_numbers(document, counter, track);
            small_label(&mut scene, layout::gutter(rect), numbers, look.theme.weak_text, Align::Right);
        }
        paint_name(&mut scene, row, rect, look, body, (document, rows));
        scene.quad(hairline(rect), look.theme.grid);
    }
    if document.timed {
        arrows::paint(&mut scene, size, look, body, (document, rows));
    }
    scene
}

fn paint_ground(scene: &mut Scene, row: Row, rect: Rect, look: &Look, body: &Body) {
    let theme = &look.theme;
    match row {
        Row::Process(_) | Row::MoreCounters | Row::Empty => scene.quad(rect, theme.stripe),
        Row::Counter(_) => {}
        Row::Thread(thread) => {
            let counted = body.counted.as_ref().is_some_and(|threads| threads.contains(&thread));
            if counted {
                scene.quad(layout::gutter(rect), theme.accent.gamma_multiply(0.18));
            }
            if body.charted == Some(thread) {
                let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
                scene.quad(bar, theme.accent);
            }
        }
    }
}

/// How much wider than estimated short counts in small letters may be, with as much for the name beside them.
const SLACK: f32 = 8.0;

fn paint_name(scene: &mut Scene, row: Row, rect: Rect, look: &Look, body: &Body, (document, rows): (&Document, &Rows)) {
    let theme = &look.theme;
    let names = indented(layout::gutter(rect));
    let title = text::title(document, rows, row);
    let numbers = text::numbers(document, rows, row);
    match row {
        Row::Thread(thread) => {
            let counted = body.counted.as_ref().is_none_or(|threads| threads.contains(&thread));
            let room = |numbers: &str| names.width() - room_for(&title, FONT_SIZE) - room_for(numbers, SMALL);
            // A name says more than how long its share was; that is in the tooltip.
            let slack = if numbers.contains(" · ") { 0.0 } else { SLACK };
            let numbers = if room(&numbers) >= slack { &numbers } else { text::shortened(&numbers) };
            // Both widths are estimates: what the name does not need even so, the numbers may have.
            let spare = (room(numbers) - SLACK).clamp(slack.min(room(numbers)).max(0.0) / 2.0, SLACK);
            let width = room_for(numbers, SMALL) + spare;
            let middle = (names.right() - width).max(names.left());
            let color = if counted { theme.text } else { theme.weak_text };
            let elide = Elide::Middle;
            let name = Label { rect: names.with_max_x(middle), text: title, color, elide, ..name_label() };
            scene.labels.push(name);
            small_label(scene, names.with_min_x(middle), numbers.to_owned(), theme.weak_text, Align::Right);
        }
        Row::Counter(_) => {
            // Its greatest number stands at the right.
            let name = names.with_max_x(f32::midpoint(names.left(), names.right()));
            small_label(scene, name, title, theme.weak_text, Align::Left);
        }
        Row::Process(_) | Row::MoreCounters | Row::Empty => {
            // The triangle before it is drawn over the scene.
            let name = Rect::from_min_max(names.min + vec2(12.0, 0.0), pos2(layout::plot(rect).right(), rect.bottom()));
            let width = label_width(&title) + 12.0;
            scene.label(name, title, theme.text);
            let rest = Rect::from_min_max(pos2(name.left() + width.max(GUTTER - 12.0), name.top()), name.max);
            if rest.width() > 80.0 {
                small_label(scene, rest, numbers, theme.weak_text, Align::Left);
            }
        }
    }
}

/// Paints with at most `most` columns, and with fewer where it would take more than `share` quads. Gives how many.
fn paint_track(
    scene: &mut Scene,
    plot: Rect,
    thread: ThreadId,
    look: &Look,
    body: &Body,
    (tracks, mut most, share): (&Tracks, u32, usize),
) -> u32 {
    let theme = &look.theme;
    let (track, palette) = match (tracks.get(thread), tracks.palette()) {
        (Some(Some(track)), Some(palette)) => (track, palette),
        (Some(None), _) => {
            scene.label(plot, "drawing this failed; that is a fault of traceview", theme.error);
            return most;
        }
        _ => {
            small_label(scene, plot, "…".to_owned(), theme.weak_text, Align::Left);
            return most;
        }
    };
    let counted = body.counted.as_ref().is_none_or(|threads| threads.contains(&thread));
    let shade = |color: Color32| if counted { color } else { theme.dimmed(color) };
    let of_groups = palette.colors.iter().map(|color| theme.category(*color));
    let colors: Vec<Color32> = of_groups.chain(REASONS.map(|reason| theme.wait(reason))).map(shade).collect();
    let mut graph = plot;
    if let Some(markers) = &track.markers {
        markers.paint(scene, plot, look, shade);
        graph.min.y += layout::MARKERS;
    }
    let before = scene.quads.len();
    while let Some(columns) = Columns::covering(look.visible, most) {
        paint_columns(scene, graph, look, (track, &colors), columns);
        if scene.quads.len() - before <= share || most < FEWEST_COLUMNS {
            break;
        }
        scene.quads.truncate(before);
        most = most * 2 / 3;
    }
    most
}

fn paint_columns(scene: &mut Scene, plot: Rect, look: &Look, (track, colors): (&Track, &[Color32]), columns: Columns) {
    let view = TimeView::new(look.visible, plot);
    let groups = colors.len() - REASONS.len();
    let (mut busy, mut waits) = (Vec::new(), Vec::new());
    track.query_busy(columns, &mut busy);
    track.waits.query(columns, &mut waits);
    let area = Rect::from_min_max(plot.min + vec2(0.0, HEADROOM), plot.max - vec2(0.0, 1.0));
    let mut graph = Graph::new(scene, area, look.pixels_per_point, colors);
    let mut shares = vec![0.0; colors.len()];
    for (column, (busy, waits)) in (0..).zip(busy.chunks(groups).zip(waits.chunks(REASONS.len()))) {
        for (share, amount) in shares.iter_mut().zip(busy.iter().chain(waits)) {
            *share = share_of(*amount, columns.width);
        }
        graph.column(x_of(&view, &columns, column), &shares, groups);
    }
    graph.finish();
}

#[expect(clippy::cast_possible_truncation, reason = "for a height on a screen")]
fn share_of(amount: Nanos, width: Nanos) -> f32 {
    (amount.as_secs_f64() / width.as_secs_f64()) as f32
}

fn x_of(view: &TimeView, columns: &Columns, column: u32) -> Range<f32> {
    view.x(columns.edge(column))..view.x(columns.edge(column + 1))
}

/// The selected range over the ruler and the tracks, for pictures.
pub(super) fn mark_range(scene: &mut Scene, area: Rect, range: TimeRange, look: &Look) {
    let view = TimeView::new(look.visible, area);
    let x = |time: Time| view.x(time).clamp(area.left(), area.right());
    scene.quad(columns_of(area, x(range.start)..x(range.end)), look.theme.range);
}

/// `names` without what is kept free at its left.
fn indented(names: Rect) -> Rect {
    names.with_min_x(names.left() + 5.0)
}

fn columns_of(area: Rect, x: Range<f32>) -> Rect {
    Rect::from_min_max(pos2(x.start, area.top()), pos2(x.end, area.bottom()))
}

/// A line a pixel wide: quads are never narrower.
fn pixel_column(x: f32, y: Range<f32>) -> Rect {
    Rect::from_min_max(pos2(x, y.start), pos2(x, y.end))
}

/// A line a pixel high at the bottom of `row`.
fn hairline(row: Rect) -> Rect {
    Rect::from_min_max(pos2(row.left(), row.bottom() - 1.0), row.max)
}

/// What labels of the timeline have in common: all of them begin with what says most.
fn name_label() -> Label {
    Label {
        rect: Rect::ZERO,
        text: String::new(),
        color: Color32::PLACEHOLDER,
        size: FONT_SIZE,
        align: Align::Left,
        elide: Elide::End,
    }
}

fn small_label(scene: &mut Scene, rect: Rect, text: String, color: Color32, align: Align) {
    scene.labels.push(Label { rect, text, color, align, size: SMALL, ..name_label() });
}

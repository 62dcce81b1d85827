//! How the cells of tables are painted.

use std::borrow::Cow;

use egui::epaint::text::{LayoutJob, TextFormat};
use egui::{Align2, Color32, FontId, Rect, Response, Shape, Stroke, Ui, pos2, vec2};
use traceview_core::report::{printable, shorten};

use super::table_columns::{ColumnKind, TableColumn};
use crate::search::SearchQuery;
use crate::theme::Theme;

/// How high a row is, in points. Multiples of it are exact for the first millions of rows.
pub const ROW_HEIGHT: f32 = 20.0;
/// How high the titles are, in points.
pub const HEADER_HEIGHT: f32 = 22.0;

/// How far a row is indented below the one around it.
const INDENT: f32 = 11.0;
/// The room of the triangle of a row that can be expanded.
const TRIANGLE: f32 = 14.0;
const SWATCH: f32 = 8.0;
const PADDING: f32 = 6.0;
const NAME_SIZE: f32 = 12.0;
/// Columns of crates with less room for letters than this do without all versions.
const LEAST_WITH_VERSIONS: usize = 18;

/// What is drawn where a row and a column meet.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell<'a> {
    /// A number, at the right.
    Number {
        /// As text.
        text: String,
        /// How long the bar behind it is, from 0 to 1.
        bar: Option<f32>,
    },
    /// The row's name.
    Name(NameCell<'a>),
    /// A place in the source code: its end is what tells most.
    Place(Cow<'a, str>),
    /// A crate or library, which can do without its version.
    Origin(Cow<'a, str>),
    /// Any text: its beginning is what tells most.
    Text(Cow<'a, str>),
}

/// The name of a row.
#[derive(Clone, PartialEq, Debug)]
pub struct NameCell<'a> {
    /// All of it.
    pub text: Cow<'a, str>,
    /// The colour of its category.
    pub swatch: Color32,
    /// How deep it is in a tree.
    pub depth: usize,
    /// Whether it is expanded, if anything is below it; in trees.
    pub expanded: Option<bool>,
    /// Whether it is in a tree, and leaves room for a triangle.
    pub in_tree: bool,
    /// Whether the search finds it.
    pub found: bool,
}

impl Cell<'_> {
    /// What it says.
    pub fn text(&self) -> &str {
        match self {
            Self::Number { text, .. } => text,
            Self::Name(name) => &name.text,
            Self::Place(text) | Self::Origin(text) | Self::Text(text) => text,
        }
    }
}

/// Paints cells.
pub(super) struct CellPainter<'a> {
    theme: &'a Theme,
    query: &'a SearchQuery,
    font: FontId,
    /// How wide each letter of `font` is.
    letter: f32,
    /// The least and the greatest depth of the rows in sight.
    depths: (usize, usize),
}

/// Where the parts of a name cell are.
struct NameLayout {
    /// The left end of the triangle.
    triangle: f32,
    /// How deep the row is, where it can't be indented that far.
    level: Option<String>,
    /// The left end of the swatch.
    swatch: f32,
    /// The left end of the name.
    text: f32,
}

impl<'a> CellPainter<'a> {
    pub(super) fn new(ui: &Ui, theme: &'a Theme, query: &'a SearchQuery) -> Self {
        let font = FontId::monospace(NAME_SIZE);
        let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
        Self { theme, query, font, letter, depths: (0, 0) }
    }

    /// Indents rows as far as it takes to tell these depths, which are those in sight, apart.
    pub(super) fn indent(&mut self, depths: impl Iterator<Item = usize>) {
        let all = depths.fold(None, |all: Option<(usize, usize)>, depth| {
            let (least, greatest) = all.unwrap_or((depth, depth));
            Some((least.min(depth), greatest.max(depth)))
        });
        self.depths = all.unwrap_or_default();
    }

    /// The title of a column, with an arrow where rows are sorted by it.
    pub(super) fn header(
        &self,
        ui: &Ui,
        rect: Rect,
        column: &TableColumn,
        descending: Option<bool>,
        response: &Response,
    ) {
        let painter = ui.painter();
        let theme = self.theme;
        let fill = if response.hovered() { theme.grid } else { theme.stripe };
        painter.rect_filled(rect, 0.0, fill);
        painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, theme.grid));
        if response.has_focus() {
            painter.rect_stroke(rect, 0.0, Stroke::new(1.0, theme.accent), egui::StrokeKind::Inside);
        }
        let color = if descending.is_some() { theme.text } else { theme.weak_text };
        let galley = painter.layout_no_wrap(column.title.clone(), FontId::proportional(NAME_SIZE), color);
        let arrow = if descending.is_some() { TRIANGLE } else { 0.0 };
        let left = if column.kind == ColumnKind::Number {
            rect.right() - PADDING - galley.size().x - arrow
        } else {
            rect.left() + PADDING
        };
        let top = rect.center().y - galley.size().y / 2.0;
        let end = left + galley.size().x;
        painter.galley(pos2(left, top), galley, color);
        if let Some(descending) = descending {
            let direction = if descending { Direction::Down } else { Direction::Up };
            let center = pos2(end + arrow / 2.0 + 1.0, rect.center().y);
            painter.add(triangle(center, 4.0, direction, theme.accent));
        }
    }

    /// Paints `cell`, greyed if it is `weak`; gives how wide it would like to be.
    pub(super) fn cell(&self, ui: &Ui, cell: &Cell<'_>, weak: bool) -> f32 {
        let rect = ui.max_rect();
        let color = if weak { self.theme.weak_text } else { self.theme.text };
        match cell {
            Cell::Number { text, bar } => {
                if let Some(bar) = bar.filter(|bar| *bar > 0.0) {
                    self.bar(ui, rect, bar);
                }
                let at = rect.right_center() - vec2(PADDING, 0.0);
                ui.painter().text(at, Align2::RIGHT_CENTER, text, self.font.clone(), color);
                self.width_of(text) + 2.0 * PADDING
            }
            Cell::Place(text) => {
                let text = printable(text);
                self.text(ui, rect, &shorten_place(&text, self.letters(rect.width() - 2.0 * PADDING)));
                self.width_of(&text) + 2.0 * PADDING
            }
            Cell::Origin(text) => {
                let text = printable(text);
                self.text(ui, rect, &shorten_origin(&text, self.letters(rect.width() - 2.0 * PADDING)));
                self.width_of(&text) + 2.0 * PADDING
            }
            Cell::Text(text) => {
                let text = printable(text);
                let letters = self.letters(rect.width() - 2.0 * PADDING);
                if text.chars().nth(letters).is_some() {
                    let beginning: String = text.chars().take(letters.saturating_sub(1)).collect();
                    self.text(ui, rect, &format!("{}…", beginning.trim_end()));
                } else {
                    self.text(ui, rect, &text);
                }
                self.width_of(&text) + 2.0 * PADDING
            }
            Cell::Name(name) => self.name(ui, rect, name, weak),
        }
    }

    /// Text that says less than the name.
    fn text(&self, ui: &Ui, rect: Rect, text: &str) {
        let at = rect.left_center() + vec2(PADDING, 0.0);
        ui.painter().text(at, Align2::LEFT_CENTER, text, self.font.clone(), self.theme.weak_text);
    }

    /// Where to click to expand or collapse the row.
    pub(super) fn triangle_rect(&self, rect: Rect, name: &NameCell<'_>) -> Rect {
        let left = self.layout(rect, name).triangle;
        Rect::from_min_size(pos2(left, rect.top()), vec2(TRIANGLE, rect.height()))
    }

    fn bar(&self, ui: &Ui, rect: Rect, fraction: f32) {
        let inner = rect.shrink2(vec2(2.0, 3.0));
        let width = (inner.width() * fraction.clamp(0.0, 1.0)).max(1.0);
        let bar = Rect::from_min_size(inner.min, vec2(width, inner.height()));
        ui.painter().rect_filled(bar, 1.0, self.theme.accent.gamma_multiply(0.28));
    }

    fn name(&self, ui: &Ui, rect: Rect, name: &NameCell<'_>, weak: bool) -> f32 {
        let painter = ui.painter();
        let layout = self.layout(rect, name);
        let middle = rect.center().y;
        if let Some(expanded) = name.expanded {
            let direction = if expanded { Direction::Down } else { Direction::Right };
            let center = pos2(layout.triangle + TRIANGLE / 2.0, middle);
            painter.add(triangle(center, 4.0, direction, self.theme.weak_text));
        }
        if let Some(level) = &layout.level {
            let at = pos2(rect.left() + PADDING + self.level_width(), middle);
            painter.text(at, Align2::RIGHT_CENTER, level, FontId::monospace(NAME_SIZE - 2.0), self.theme.weak_text);
        }
        let swatch = Rect::from_min_size(pos2(layout.swatch, middle - SWATCH / 2.0), vec2(SWATCH, SWATCH));
        painter.rect_filled(swatch, 1.5, name.swatch);
        let text = printable(&name.text);
        let shown = shorten(&text, self.letters(rect.right() - PADDING - layout.text));
        let galley = painter.layout_job(self.name_job(&shown, name.found, weak));
        let at = pos2(layout.text, middle - galley.size().y / 2.0);
        painter.galley(at, galley, self.theme.text);
        layout.text - rect.left() + self.width_of(&text) + PADDING
    }

    fn layout(&self, rect: Rect, name: &NameCell<'_>) -> NameLayout {
        let left = rect.left() + PADDING;
        if !name.in_tree {
            return NameLayout { triangle: left, level: None, swatch: left, text: left + SWATCH + PADDING };
        }
        // Most of the width is left for names. Where the rows in sight are deeper, the shallowest of them starts at the
        // left, and how deep they are is said in numbers.
        let deepest = (rect.width() * 0.3 / INDENT).floor().max(0.0);
        let (least, greatest) = self.depths;
        let numbered = depth_as_float(greatest) > deepest;
        let depth = depth_as_float(if numbered { name.depth.saturating_sub(least) } else { name.depth });
        let level = numbered.then(|| name.depth.to_string());
        let level_width = if numbered { self.level_width() } else { 0.0 };
        let triangle = left + level_width + depth.min(deepest) * INDENT;
        let swatch = triangle + TRIANGLE;
        NameLayout { triangle, level, swatch, text: swatch + SWATCH + PADDING }
    }

    /// The room of depths as numbers.
    fn level_width(&self) -> f32 {
        self.width_of(&self.depths.1.to_string())
    }

    /// A name whose last segment stands out, and in it what is searched for.
    fn name_job(&self, text: &str, found: bool, weak: bool) -> LayoutJob {
        let theme = self.theme;
        let hits = if found { self.query.hits(text) } else { Vec::new() };
        // It was found by what is not in sight: its path, its crate, or what was shortened.
        let all_of_it = found && hits.is_empty();
        let last = if weak { text.len() } else { start_of_last_segment(text) };
        let mut edges: Vec<usize> =
            hits.iter().flat_map(|hit| [hit.start, hit.end]).chain([0, last, text.len()]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut job = LayoutJob::default();
        job.wrap.max_width = f32::INFINITY;
        for edge in edges.windows(2) {
            let (start, end) = (edge[0], edge[1]);
            let hit = hits.iter().any(|hit| hit.contains(&start));
            let color = if start < last { theme.weak_text } else { theme.text };
            let mut format = TextFormat::simple(self.font.clone(), if hit { theme.box_text } else { color });
            if hit {
                format.background = theme.found;
            } else if all_of_it {
                format.underline = Stroke::new(1.0, theme.found);
            }
            job.append(&text[start..end], 0.0, format);
        }
        job
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a screen has few letters")]
    fn letters(&self, room: f32) -> usize {
        (room / self.letter).max(0.0) as usize
    }

    #[expect(clippy::cast_precision_loss, reason = "only for places on a screen")]
    fn width_of(&self, text: &str) -> f32 {
        text.chars().count() as f32 * self.letter
    }
}

/// `regex-automata 0.4.7` in at most `width` letters. In narrow columns all crates go without their versions.
fn shorten_origin(origin: &str, width: usize) -> Cow<'_, str> {
    let (name, version) = origin.split_at(origin.find(' ').unwrap_or(origin.len()));
    let version = if width < LEAST_WITH_VERSIONS { "" } else { version };
    let length = |text: &str| text.chars().count();
    match width.checked_sub(length(version)) {
        Some(room) if length(name) <= room => format!("{name}{version}").into(),
        Some(room) if room > 1 => format!("{}…{version}", beginning(name, room - 1)).into(),
        _ => format!("{}…", beginning(origin, width.saturating_sub(1))).into(),
    }
}

/// `searcher/mod.rs:412` in at most `width` letters: first without its directories, then without the middle of the
/// file's name.
fn shorten_place(place: &str, width: usize) -> Cow<'_, str> {
    let length = place.chars().count();
    if length <= width {
        return place.into();
    }
    let file = &place[place.rfind(['/', '\\']).map_or(0, |at| at + 1)..];
    let length = file.chars().count();
    if length + 2 <= width && file.len() < place.len() {
        return format!("…/{file}").into();
    }
    if length <= width {
        return file.into();
    }
    let kept = width.saturating_sub(1);
    let line = file.rfind(':').map_or(0, |at| file[at..].chars().count());
    let end = (kept / 2).max(line).min(kept);
    let rest = file.char_indices().nth(length - end).map_or("", |(at, _)| &file[at..]);
    format!("{}…{rest}", beginning(file, kept - end)).into()
}

/// The first `letters` letters of `text`.
fn beginning(text: &str, letters: usize) -> &str {
    text.char_indices().nth(letters).map_or(text, |(end, _)| &text[..end])
}

/// Where the function's own name begins: behind the last `::` that is not inside brackets.
pub fn start_of_last_segment(name: &str) -> usize {
    let mut depth = 0_i32;
    let mut start = 0;
    let mut previous = ' ';
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            // An arrow is no bracket.
            '>' if matches!(previous, '-' | '=') => {}
            // What closes here may have been opened in the part that was cut off.
            '>' | ')' | ']' | '}' => depth = (depth - 1).max(0),
            _ => {}
        }
        let behind_path = depth == 0 && name[..at].ends_with("::");
        if behind_path && (c.is_alphabetic() || c == '_') {
            start = at;
        }
        previous = c;
    }
    start
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
    Right,
}

fn triangle(center: egui::Pos2, radius: f32, direction: Direction, color: Color32) -> Shape {
    let r = radius;
    let corners = match direction {
        Direction::Up => [vec2(-r, r * 0.6), vec2(0.0, -r * 0.8), vec2(r, r * 0.6)],
        Direction::Down => [vec2(-r, -r * 0.6), vec2(r, -r * 0.6), vec2(0.0, r * 0.8)],
        Direction::Right => [vec2(-r * 0.6, -r), vec2(r * 0.8, 0.0), vec2(-r * 0.6, r)],
    };
    Shape::convex_polygon(corners.map(|corner| center + corner).to_vec(), color, Stroke::NONE)
}

#[expect(clippy::cast_precision_loss, reason = "only for places on a screen")]
fn depth_as_float(depth: usize) -> f32 {
    depth as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_deep_trees_start_at_the_left() {
        egui::__run_test_ui(|ui| {
            let (theme, query) = (Theme::dark(), SearchQuery::default());
            let rect = Rect::from_min_size(egui::Pos2::ZERO, vec2(300.0, ROW_HEIGHT));
            let layout = |painter: &CellPainter<'_>, depth| {
                let (text, swatch) = ("f".into(), Color32::RED);
                let name = NameCell { text, swatch, depth, expanded: None, in_tree: true, found: false };
                painter.layout(rect, &name)
            };
            let mut painter = CellPainter::new(ui, &theme, &query);
            painter.indent([3, 4, 5].into_iter());
            assert_eq!(layout(&painter, 3).triangle, PADDING + 3.0 * INDENT);
            assert_eq!(layout(&painter, 3).level, None, "that is not deep");
            painter.indent([19, 20, 21].into_iter());
            let left = PADDING + painter.width_of("21");
            assert_eq!(layout(&painter, 19).triangle, left);
            assert_eq!(layout(&painter, 20).triangle, left + INDENT);
            assert_eq!(layout(&painter, 20).level.as_deref(), Some("20"));
        });
    }

    #[test]
    fn crates_of_a_column_have_versions_or_none_has() {
        for (width, origin, short) in [
            (20, "regex-automata 0.4.7", "regex-automata 0.4.7"),
            (18, "regex-automata 0.4.7", "regex-autom… 0.4.7"),
            (17, "regex-automata 0.4.7", "regex-automata"),
            (17, "memchr 2.7.4", "memchr"),
            (13, "regex-automata 0.4.7", "regex-automa…"),
            (13, "core", "core"),
            (0, "core", "…"),
        ] {
            assert_eq!(shorten_origin(origin, width), short, "{width}");
        }
    }

    #[test]
    fn places_keep_the_beginning_of_their_files_names() {
        for (width, place, short) in [
            (19, "searcher/mod.rs:412", "searcher/mod.rs:412"),
            (18, "searcher/mod.rs:412", "…/mod.rs:412"),
            (11, "searcher/mod.rs:412", "mod.rs:412"),
            (15, "hyperlink.rs:673", "hyperli….rs:673"),
            (6, "hyperlink.rs:673", "h…:673"),
            (3, "größe.rs:673", "…73"),
            (0, "größe.rs:673", "…"),
        ] {
            assert_eq!(shorten_place(place, width), short, "{width}");
        }
    }

    #[test]
    fn the_last_segment_of_a_name_is_the_functions_own() {
        for (name, last) in [
            ("memchr::memmem::Finder::find", "find"),
            ("main", "main"),
            ("<alloc::boxed::Box<T> as core::ops::Fn>::call", "call"),
            ("core::iter::map::<impl Fn(u8) -> std::io::Error>", "map::<impl Fn(u8) -> std::io::Error>"),
            ("app::run::{closure#0}", "run::{closure#0}"),
            ("…DFA<…> as regex_automata::dfa::Automaton>::next", "next"),
            ("[wait] futex", "[wait] futex"),
            ("größe::maße", "maße"),
            ("", ""),
        ] {
            assert_eq!(&name[start_of_last_segment(name)..], last, "{name}");
        }
    }
}

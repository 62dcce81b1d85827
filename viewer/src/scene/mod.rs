//! What a canvas shows, as a list of coloured rectangles, lines and labels. It is made once from the level of detail and
//! then painted in a window ([`CachedScene`]) or into a picture file.

mod mesh;
mod shapes;
mod svg;

pub use mesh::CachedScene;
pub use svg::write_svg;

use std::borrow::Cow;

use egui::{Color32, Pos2, Rect, Vec2};
use traceview_core::report::shorten;

/// What a canvas shows. Lengths are points; the origin is the canvas's top left corner, y grows downwards. Quads are
/// painted first, in order, then lines, then labels.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scene {
    /// How large the canvas is.
    pub size: Vec2,
    /// Behind all else.
    pub background: Color32,
    /// Filled rectangles.
    pub quads: Vec<Quad>,
    /// Straight lines.
    pub lines: Vec<Line>,
    /// Text.
    pub labels: Vec<Label>,
}

/// A filled rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quad {
    /// Where.
    pub rect: Rect,
    /// Its fill.
    pub color: Color32,
}

/// A straight line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// One end.
    pub from: Pos2,
    /// The other.
    pub to: Pos2,
    /// How wide.
    pub width: f32,
    /// Its colour.
    pub color: Color32,
}

/// A line of text in a rectangle: shortened to its width, in the middle of its height.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// The room that it has.
    pub rect: Rect,
    /// All of the text.
    pub text: String,
    /// Its colour.
    pub color: Color32,
    /// Its font size.
    pub size: f32,
    /// Where in the width it stands.
    pub align: Align,
    /// What is left out where there is too little room.
    pub elide: Elide,
}

/// Where a label stands in its width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Align {
    /// At the left.
    Left,
    /// In the middle.
    Center,
    /// At the right.
    Right,
}

/// Which end of a text goes where there is too little room.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Elide {
    /// The front: the end of a path says most.
    Front,
    /// The end.
    End,
    /// The middle: names of threads that begin alike end in what tells them apart.
    Middle,
}

/// Labels in narrower rectangles say nothing.
pub const NARROWEST_LABEL: f32 = 30.0;

impl Label {
    /// The text in at most `columns` characters; nothing rather than only dots.
    fn shortened(&self, columns: usize) -> Cow<'_, str> {
        let shortened = match self.elide {
            Elide::Front => shorten(&self.text, columns),
            Elide::End => beginning(&self.text, columns),
            Elide::Middle => both_ends(&self.text, columns),
        };
        let only_dots = shortened.chars().all(|c| c == '…') && *shortened != *self.text;
        if only_dots { "".into() } else { shortened }
    }
}

/// The beginning of `text` in at most `columns` characters, with `…` for the rest.
fn beginning(text: &str, columns: usize) -> Cow<'_, str> {
    if text.chars().count() <= columns {
        return text.into();
    }
    let end = text.char_indices().nth(columns.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    format!("{}…", text[..end].trim_end()).into()
}

/// The beginning and the end of `text` in at most `columns` characters, with `…` for what is between.
fn both_ends(text: &str, columns: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= columns {
        return text.into();
    }
    let end = columns.saturating_sub(1) / 2;
    let start = columns.saturating_sub(1) - end;
    let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    format!("{}…{}", text[..at(start)].trim_end(), text[at(length - end)..].trim_start()).into()
}

impl Scene {
    /// An empty canvas.
    pub fn new(size: Vec2, background: Color32) -> Self {
        Self { size, background, ..Self::default() }
    }

    /// Adds a filled rectangle.
    pub fn quad(&mut self, rect: Rect, color: Color32) {
        self.quads.push(Quad { rect, color });
    }

    /// Adds a label of the usual size at the left of `rect`.
    pub fn label(&mut self, rect: Rect, text: impl Into<String>, color: Color32) {
        self.labels.push(Label {
            rect,
            text: text.into(),
            color,
            size: FONT_SIZE,
            align: Align::Left,
            elide: Elide::Front,
        });
    }
}

/// The font size of labels, in points.
pub const FONT_SIZE: f32 = 12.0;

/// About how wide a label of `text` is in this font size, with what stays free beside it.
pub fn room_for(text: &str, size: f32) -> f32 {
    const FREE: f32 = 6.5;
    let width = |c| match c {
        ' ' | '.' | ',' | ':' | '·' | '(' | ')' | '[' | ']' | 'i' | 'j' | 'l' | 'r' | 't' | 'f' | '-' => 0.3,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.9,
        '0'..='9' => 0.6,
        _ => 0.55,
    };
    text.chars().map(width).sum::<f32>() * size + FREE
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;

    #[test]
    fn a_text_is_cut_at_one_end_and_never_down_to_dots() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(9.0, 9.0));
        let label = |text: &str, elide| {
            let mut scene = Scene::default();
            scene.label(rect, text, Color32::BLACK);
            Label { elide, ..scene.labels.remove(0) }
        };
        for (columns, front, end) in [
            (10, "größe abcd", "größe abcd"),
            (9, "…öße abcd", "größe ab…"),
            (7, "…e abcd", "größe…"),
            (2, "…d", "g…"),
            (1, "", ""),
            (0, "", ""),
        ] {
            assert_eq!(label("größe abcd", Elide::Front).shortened(columns), front);
            assert_eq!(label("größe abcd", Elide::End).shortened(columns), end);
        }
        for (columns, middle) in [(19, "thread 23924 (main)"), (15, "thread…(main)"), (3, "t…)"), (1, "")] {
            assert_eq!(label("thread 23924 (main)", Elide::Middle).shortened(columns), middle);
        }
        assert_eq!(label("…", Elide::End).shortened(1), "…", "what says that something is missing stays");
    }
}

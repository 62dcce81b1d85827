//! What a canvas shows, as a list of coloured rectangles, lines and labels. It is made once from the level of detail and
//! then painted in a window ([`CachedScene`]) or into a picture file.

mod mesh;
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

/// Labels in narrower rectangles say nothing.
pub const NARROWEST_LABEL: f32 = 30.0;

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
        self.labels.push(Label { rect, text: text.into(), color, size: FONT_SIZE, align: Align::Left });
    }
}

/// The font size of labels, in points.
pub const FONT_SIZE: f32 = 12.0;

/// `text` in at most `columns`: without its beginning, or what was cut at its end already, without more of its end.
fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    let fitted = match text.strip_suffix('…') {
        Some(beginning) if text.chars().count() > columns => {
            beginning.chars().take(columns.saturating_sub(1)).chain(['…']).collect::<String>().into()
        }
        _ => shorten(text, columns),
    };
    if fitted.chars().all(|c| c == '…') { "".into() } else { fitted }
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_text_is_cut_at_one_end_and_never_down_to_dots() {
        for (columns, fitted) in [(9, "call_onc…"), (6, "call_…"), (2, "c…"), (1, ""), (0, "")] {
            assert_eq!(fit("call_onc…", columns), fitted, "{columns}");
        }
        for (columns, fitted) in [(9, "call_once"), (6, "…_once"), (2, "…e"), (1, ""), (0, "")] {
            assert_eq!(fit("call_once", columns), fitted, "{columns}");
        }
    }
}

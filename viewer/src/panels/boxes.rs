//! Drawing many boxes into a scene.

use egui::{Color32, Rect, Vec2, pos2, vec2};

use crate::scene::{Align, Elide, FONT_SIZE, Label, Scene};
use crate::theme::Theme;

/// A scene that boxes are drawn into.
pub(super) struct Boxes {
    /// What was drawn so far, but for what [`continued`](Self::continued) still holds back.
    pub(super) scene: Scene,
    /// One pixel in points.
    pub(super) pixel: f32,
    /// Whether quads of a row continue each other: the rectangle and colour that are not in the scene yet.
    pending: Option<(Rect, Color32)>,
}

/// Thinner boxes are marked at their lower edge only.
const NARROWEST_OUTLINE: f32 = 4.0;

impl Boxes {
    /// Draws into `scene`, for a screen on which a pixel is so many points.
    pub(super) fn new(scene: Scene, pixel: f32) -> Self {
        Self { scene, pixel, pending: None }
    }

    pub(super) fn quad(&mut self, rect: Rect, color: Color32) {
        self.scene.quad(rect, color);
    }

    /// Draws a rectangle that stands apart from the next one where it is wide enough.
    pub(super) fn separate(&mut self, mut rect: Rect, color: Color32) {
        if rect.width() >= 3.0 * self.pixel {
            rect.max.x -= self.pixel;
        }
        self.quad(rect, color);
    }

    /// Draws a rectangle as one with those that it continues.
    pub(super) fn continued(&mut self, rect: Rect, color: Color32) {
        if let Some((before, its_color)) = &mut self.pending
            && *its_color == color
            && before.top() == rect.top()
            && rect.left() <= before.right() + self.pixel / 4.0
        {
            before.max.x = before.max.x.max(rect.max.x);
            return;
        }
        self.continued_ends();
        self.pending = Some((rect, color));
    }

    pub(super) fn continued_ends(&mut self) {
        if let Some((rect, color)) = self.pending.take() {
            self.quad(rect, color);
        }
    }

    pub(super) fn underline(&mut self, rect: Rect, color: Color32) {
        let line = Rect { min: pos2(rect.left(), rect.bottom() - 2.0), max: rect.max };
        self.quad(line, color);
    }

    pub(super) fn outline(&mut self, rect: Rect, color: Color32) {
        if rect.width() < NARROWEST_OUTLINE {
            self.underline(rect, color);
            return;
        }
        let size = Vec2::splat(1.0);
        let rect = Rect { max: rect.max - vec2(self.pixel, 0.0), ..rect };
        for edge in [
            Rect { max: pos2(rect.right(), rect.top() + size.y), ..rect },
            Rect { min: pos2(rect.left(), rect.bottom() - size.y), ..rect },
            Rect { max: pos2(rect.left() + size.x, rect.bottom()), ..rect },
            Rect { min: pos2(rect.right() - size.x, rect.top()), ..rect },
        ] {
            self.quad(edge, color);
        }
    }
}

/// Text of the usual size in `rect`, of which the end says most.
pub(super) fn label(rect: Rect, text: String, color: Color32, align: Align) -> Label {
    Label { rect, text, color, size: FONT_SIZE, align, elide: Elide::Front }
}

/// A canvas on which nothing can be drawn: a sentence that says why.
pub(super) fn message_scene(size: Vec2, theme: &Theme, text: &str) -> Scene {
    let mut scene = Scene::new(size, theme.canvas);
    let rect = Rect::from_min_size(pos2(0.0, 0.0), size);
    scene.labels.push(label(rect, text.to_owned(), theme.weak_text, Align::Center));
    scene
}

//! A scene in a window: one mesh for all quads and lines, and laid-out text.

use std::sync::Arc;

use egui::epaint::{Mesh, Vertex, WHITE_UV};
use egui::{Color32, FontId, Galley, Painter, Pos2, Rect, Shape, Vec2, pos2, vec2};
use rustc_hash::FxHashMap;

use super::{Align, Label, Line, Scene};

/// What is on a canvas: painted as it was as long as nothing that it depends on has changed.
///
/// `K` is what the scene is made from: visible time, selection, theme, … Its place and resolution are looked after here.
pub struct CachedScene<K> {
    painted: Option<(K, Place, Painted)>,
    labels: LabelCache,
}

/// Where and how finely a scene is painted, and with which laid-out texts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Place {
    origin: Pos2,
    pixels_per_point: f32,
    generation: u64,
}

/// A scene that is ready to be painted at one place of a window.
struct Painted {
    mesh: Arc<Mesh>,
    texts: Vec<(Pos2, Arc<Galley>, Color32)>,
    /// Whether some labels are still to be laid out.
    incomplete: bool,
}

/// Laying out a text for the first time takes some 20 µs: more than this many would make a frame late. The rest comes
/// with the next frames.
const MOST_NEW_TEXTS: usize = 150;
/// Text keeps this distance from the edges of its rectangle.
const PADDING: f32 = 3.0;
/// The width of a usual character relative to the font size, to guess how many fit.
const CHARACTER_WIDTH: f32 = 0.48;

/// Texts that were laid out, by what they are and how many columns they were shortened to.
#[derive(Default)]
struct LabelCache {
    texts: FxHashMap<LabelKey, Arc<Galley>>,
    /// How many were laid out for this scene.
    new: usize,
    /// egui lays this out anew when it throws its glyphs away, and with them all texts here become wrong.
    probe: Option<Arc<Galley>>,
    /// How often that was.
    generation: u64,
}

#[derive(PartialEq, Eq, Hash)]
struct LabelKey {
    text: String,
    columns: usize,
    size: u32,
}

/// When it holds more texts than this it starts anew.
const MOST_TEXTS: usize = 20_000;

impl<K> Default for CachedScene<K> {
    fn default() -> Self {
        Self { painted: None, labels: LabelCache::default() }
    }
}

impl<K: PartialEq> CachedScene<K> {
    /// Paints the scene that `build` makes of `key`, with its top left corner at `origin`.
    pub fn paint(&mut self, painter: &Painter, origin: Pos2, key: K, build: impl FnOnce(&K) -> Scene) {
        let pixels_per_point = painter.pixels_per_point();
        let place = Place { origin, pixels_per_point, generation: self.labels.begin(painter) };
        let as_before = |it: &(K, Place, Painted)| it.0 == key && it.1 == place && !it.2.incomplete;
        if !self.painted.as_ref().is_some_and(as_before) {
            let painted = Painted::new(&build(&key), origin, painter, &mut self.labels);
            if painted.incomplete {
                painter.ctx().request_repaint();
            }
            self.painted = Some((key, place, painted));
        }
        if let Some((_, _, painted)) = &self.painted {
            painted.paint(painter);
        }
    }
}

impl Painted {
    fn new(scene: &Scene, origin: Pos2, painter: &Painter, cache: &mut LabelCache) -> Self {
        let pixels_per_point = painter.pixels_per_point();
        let mut mesh = Mesh::default();
        mesh.reserve_triangles(2 * scene.quads.len() + 6 * scene.lines.len() + 2);
        mesh.reserve_vertices(4 * scene.quads.len() + 8 * scene.lines.len() + 4);
        let round = |at: f32| (at * pixels_per_point).round() / pixels_per_point;
        let pixel = 1.0 / pixels_per_point;
        if scene.background != Color32::TRANSPARENT {
            mesh.add_colored_rect(Rect::from_min_size(origin, scene.size), scene.background);
        }
        for quad in &scene.quads {
            let min = pos2(round(quad.rect.min.x + origin.x), round(quad.rect.min.y + origin.y));
            // Nothing that is to be seen falls between two pixels.
            let max = pos2(
                round(quad.rect.max.x + origin.x).max(min.x + pixel),
                round(quad.rect.max.y + origin.y).max(min.y + pixel),
            );
            mesh.add_colored_rect(Rect { min, max }, quad.color);
        }
        for line in &scene.lines {
            add_line(&mut mesh, line, origin.to_vec2(), pixel);
        }
        let mut painted =
            Self { mesh: Arc::new(mesh), texts: Vec::with_capacity(scene.labels.len()), incomplete: false };
        for label in &scene.labels {
            let room = label.rect.width() - 2.0 * PADDING;
            match cache.lay_out(label, room, painter) {
                Some(galley) => {
                    let place = place(label, galley.size()) + origin.to_vec2();
                    painted.texts.push((pos2(round(place.x), round(place.y)), galley, label.color));
                }
                None => painted.incomplete = true,
            }
        }
        painted
    }

    fn paint(&self, painter: &Painter) {
        painter.add(Shape::mesh(Arc::clone(&self.mesh)));
        for (place, galley, color) in &self.texts {
            painter.galley(*place, Arc::clone(galley), *color);
        }
    }
}

impl LabelCache {
    /// To be called in every frame; gives the generation of the texts.
    fn begin(&mut self, painter: &Painter) -> u64 {
        let probe =
            painter.layout_no_wrap("0".to_owned(), FontId::proportional(super::FONT_SIZE), Color32::PLACEHOLDER);
        let same = self.probe.as_ref().is_some_and(|before| Arc::ptr_eq(before, &probe));
        if !same || self.texts.len() > MOST_TEXTS {
            self.texts.clear();
            self.generation += 1;
        }
        self.probe = Some(probe);
        self.new = 0;
        self.generation
    }

    /// The text of `label` in `room`; `None` when there were too many new ones already.
    fn lay_out(&mut self, label: &Label, room: f32, painter: &Painter) -> Option<Arc<Galley>> {
        let mut columns = columns_in(room, label.size).min(label.text.chars().count());
        loop {
            let key = LabelKey { text: label.shortened(columns).into_owned(), columns, size: label.size.to_bits() };
            let galley = match self.texts.get(&key) {
                Some(galley) => Arc::clone(galley),
                None if self.new >= MOST_NEW_TEXTS => return None,
                None => {
                    self.new += 1;
                    let font = FontId::proportional(label.size);
                    let galley = painter.layout_no_wrap(key.text.clone(), font, Color32::PLACEHOLDER);
                    self.texts.insert(key, Arc::clone(&galley));
                    galley
                }
            };
            if galley.size().x <= room || columns == 0 {
                return Some(galley);
            }
            columns = fewer(columns, room, galley.size().x);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label has few columns")]
fn columns_in(room: f32, size: f32) -> usize {
    (room / (size * CHARACTER_WIDTH)).max(0.0) as usize
}

/// How many columns to try when `columns` took `width` instead of `room`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a label has few columns"
)]
fn fewer(columns: usize, room: f32, width: f32) -> usize {
    ((columns as f32 * (room / width).max(0.0)) as usize).min(columns - 1)
}

/// Where the text goes in its rectangle.
fn place(label: &Label, size: Vec2) -> Pos2 {
    let x = match label.align {
        Align::Left => label.rect.left() + PADDING,
        Align::Center => label.rect.center().x - size.x / 2.0,
        Align::Right => label.rect.right() - PADDING - size.x,
    };
    pos2(x, label.rect.center().y - size.y / 2.0)
}

/// Adds a line whose sides fade out over a pixel, as nothing else smooths them.
fn add_line(mesh: &mut Mesh, line: &Line, offset: Vec2, pixel: f32) {
    let along = line.to - line.from;
    let length = along.length();
    if length <= f32::EPSILON {
        return;
    }
    let side = vec2(-along.y, along.x) / length;
    let inner = (line.width - pixel).max(0.0) / 2.0;
    let first = u32::try_from(mesh.vertices.len()).expect("a scene has fewer than four billion corners");
    let strips = [
        (inner + pixel, Color32::TRANSPARENT),
        (inner, line.color),
        (-inner, line.color),
        (-inner - pixel, Color32::TRANSPARENT),
    ];
    for (distance, color) in strips {
        for end in [line.from, line.to] {
            mesh.vertices.push(Vertex { pos: end + side * distance + offset, uv: WHITE_UV, color });
        }
    }
    for strip in [first, first + 2, first + 4] {
        mesh.add_triangle(strip, strip + 1, strip + 2);
        mesh.add_triangle(strip + 1, strip + 2, strip + 3);
    }
}

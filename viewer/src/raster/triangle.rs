//! Any triangle: colours and texture positions change evenly across it.

use std::ops::Range;

use egui::{Color32, TextureFilter};

use super::Corner;
use super::blend::{self, Source, over, product};
use super::canvas::{Canvas, center};
use super::textures::Texture;

/// Paints a triangle in either winding order.
pub(super) fn paint(canvas: &mut Canvas<'_>, corners: &[Corner; 3], texture: &Texture) {
    let Some(slopes) = Slopes::of(corners) else { return };
    let [width, height] = texture.size().map(|size| size as f64);
    let u = slopes.plane(|corner| f64::from(corner.uv.x) * width);
    let v = slopes.plane(|corner| f64::from(corner.uv.y) * height);
    let has_one_color = corners.iter().all(|corner| corner.color == corners[0].color);
    let has_one_texel = u.is_flat() && v.is_flat();
    let filter = texture.filter(f64::hypot(u.per_x, v.per_x).max(f64::hypot(u.per_y, v.per_y)));
    let texel = texture.sample(u.start, v.start, filter);
    if has_one_color && has_one_texel && texel == [255.0; 4] {
        for_each_span(canvas, corners, |span, _, _| blend::fill(span, corners[0].color));
        return;
    }
    let colors: [Plane; 4] = std::array::from_fn(|channel| slopes.plane(|corner| f64::from(corner.color[channel])));
    for_each_span(canvas, corners, |span, columns, row| {
        let y = center(row);
        for (pixel, column) in span.iter_mut().zip(columns) {
            let x = center(column);
            let texel = if has_one_texel { texel } else { sample(texture, &u, &v, [x, y], filter) };
            // In a sliver, what is computed at a pixel inside may lie a little beyond the corners' colours.
            let color: Source = std::array::from_fn(|channel| colors[channel].at(x, y).clamp(0.0, 255.0) as f32);
            over(pixel, product(color, texel));
        }
    });
}

fn sample(texture: &Texture, u: &Plane, v: &Plane, [x, y]: [f64; 2], filter: TextureFilter) -> Source {
    texture.sample(u.at(x, y), v.at(x, y), filter)
}

/// Calls `paint` with the pixels of each row whose centres lie in the triangle, with their columns and row.
fn for_each_span(
    canvas: &mut Canvas<'_>,
    corners: &[Corner; 3],
    mut paint: impl FnMut(&mut [Color32], Range<usize>, usize),
) {
    let [mut top, mut middle, mut bottom] = corners.each_ref();
    if middle.y < top.y {
        std::mem::swap(&mut top, &mut middle);
    }
    if bottom.y < middle.y {
        std::mem::swap(&mut middle, &mut bottom);
        if middle.y < top.y {
            std::mem::swap(&mut top, &mut middle);
        }
    }
    let long = Edge::new(top, bottom);
    let upper = Edge::new(top, middle);
    let lower = Edge::new(middle, bottom);
    let turn = (middle.x - top.x) * (bottom.y - top.y) - (bottom.x - top.x) * (middle.y - top.y);
    let middle_is_right = turn > 0.0;
    for row in canvas.rows(top.y, bottom.y) {
        let y = center(row);
        let short = if y < middle.y { &upper } else { &lower };
        let [left, right] = if middle_is_right { [&long, short] } else { [short, &long] };
        let columns = canvas.columns(left.x_at(y), right.x_at(y));
        if !columns.is_empty() {
            paint(canvas.span(row, columns.clone()), columns, row);
        }
    }
}

/// An edge, told from its upper end whichever triangle it belongs to: both find it at the very same place.
struct Edge {
    x: f64,
    y: f64,
    x_per_y: f64,
}

impl Edge {
    fn new(upper: &Corner, lower: &Corner) -> Self {
        Self { x: upper.x, y: upper.y, x_per_y: (lower.x - upper.x) / (lower.y - upper.y) }
    }

    /// Not for horizontal edges, which no row's centre crosses.
    fn x_at(&self, y: f64) -> f64 {
        self.x + (y - self.y) * self.x_per_y
    }
}

/// What is needed to continue values at the corners evenly across the triangle.
struct Slopes<'a> {
    corners: &'a [Corner; 3],
    /// Edges from the first corner, divided by twice the area.
    first: [f64; 2],
    second: [f64; 2],
}

impl<'a> Slopes<'a> {
    /// `None` for a triangle without area, which has no pixels either.
    fn of(corners: &'a [Corner; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let first = [b.x - a.x, b.y - a.y];
        let second = [c.x - a.x, c.y - a.y];
        let area = first[0] * second[1] - second[0] * first[1];
        let divided = |edge: [f64; 2]| edge.map(|length| length / area);
        (area != 0.0).then(|| Self { corners, first: divided(first), second: divided(second) })
    }

    fn plane(&self, value: impl Fn(&Corner) -> f64) -> Plane {
        let [start, first, second] = self.corners.each_ref().map(value);
        let (first, second) = (first - start, second - start);
        Plane {
            x: self.corners[0].x,
            y: self.corners[0].y,
            start,
            per_x: first * self.second[1] - second * self.first[1],
            per_y: second * self.first[0] - first * self.second[0],
        }
    }
}

/// A value that changes evenly: `start` at `x`, `y`.
struct Plane {
    x: f64,
    y: f64,
    start: f64,
    per_x: f64,
    per_y: f64,
}

impl Plane {
    fn at(&self, x: f64, y: f64) -> f64 {
        self.start + (x - self.x) * self.per_x + (y - self.y) * self.per_y
    }

    fn is_flat(&self) -> bool {
        self.per_x == 0.0 && self.per_y == 0.0
    }
}

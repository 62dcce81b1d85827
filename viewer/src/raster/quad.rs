//! Rectangles: two triangles of one colour that fill a rectangle along the axes.
//!
//! They get the pixels that their triangles would get, in a fraction of the time. Where the texture is not one colour,
//! only those are handled whose pixels are texels one to one: glyphs, which are laid out so.

use std::ops::Range;

use egui::Color32;

use super::Corner;
use super::blend::{self, over, product};
use super::canvas::{Canvas, center};
use super::textures::Texture;

/// A rectangle in pixels, and what part of the texture it shows, from 0 to 1.
pub(super) struct Quad {
    x: [f64; 2],
    y: [f64; 2],
    u: [f32; 2],
    v: [f32; 2],
    color: Color32,
}

impl Quad {
    /// The rectangle that two triangles fill without overlap, if they do and have one colour.
    pub(super) fn of(one: &[Corner; 3], other: &[Corner; 3]) -> Option<Self> {
        let color = one[0].color;
        let corners = || one.iter().chain(other);
        if corners().any(|corner| corner.color != color) {
            return None;
        }
        let min_max = |[a, b, c]: [f64; 3]| [a.min(b).min(c), a.max(b).max(c)];
        let x = min_max(one.map(|corner| corner.x));
        let y = min_max(one.map(|corner| corner.y));
        let mut uv = [None; 4];
        // Each triangle must have three different corners of the rectangle, and lack opposite ones.
        let mut lacking = [0b1111_u8; 2];
        for (triangle, lacking) in [one, other].iter().zip(&mut lacking) {
            for corner in *triangle {
                let at = side(corner.x, x)? | side(corner.y, y)? << 1;
                *lacking &= !(1 << at);
                if *uv[at].get_or_insert(corner.uv) != corner.uv {
                    return None;
                }
            }
        }
        let is_filled = lacking.iter().all(|lacking| lacking.count_ones() == 1)
            && lacking[0].trailing_zeros() ^ lacking[1].trailing_zeros() == 0b11;
        if !is_filled {
            return None;
        }
        let [top_left, top_right, bottom_left, bottom_right] = [uv[0]?, uv[1]?, uv[2]?, uv[3]?];
        let is_straight = top_left.x == bottom_left.x
            && top_right.x == bottom_right.x
            && top_left.y == top_right.y
            && bottom_left.y == bottom_right.y;
        is_straight.then_some(Self { x, y, u: [top_left.x, bottom_right.x], v: [top_left.y, bottom_right.y], color })
    }

    /// Paints it, unless it takes the general way: then nothing is done and the answer is `false`.
    pub(super) fn paint(&self, canvas: &mut Canvas<'_>, texture: &Texture) -> bool {
        let columns = canvas.columns(self.x[0], self.x[1]);
        let rows = canvas.rows(self.y[0], self.y[1]);
        if columns.is_empty() || rows.is_empty() {
            return true;
        }
        let [width, height] = texture.size();
        if self.u[0] == self.u[1] && self.v[0] == self.v[1] {
            let (u, v) = (f64::from(self.u[0]) * width as f64, f64::from(self.v[0]) * height as f64);
            let is_white = texture.sample(u, v, texture.filter(0.0)) == [255.0; 4];
            if is_white {
                rows.for_each(|row| blend::fill(canvas.span(row, columns.clone()), self.color));
            }
            return is_white;
        }
        let Some(texel_columns) = texels(&columns, self.x, self.u, width) else { return false };
        let Some(texel_rows) = texels(&rows, self.y, self.v, height) else { return false };
        let color = blend::source(self.color);
        for (row, texel_row) in rows.zip(texel_rows) {
            let texels = &texture.row(texel_row)[texel_columns.clone()];
            for (pixel, texel) in canvas.span(row, columns.clone()).iter_mut().zip(texels) {
                if *texel != Color32::TRANSPARENT {
                    over(pixel, product(color, blend::source(*texel)));
                }
            }
        }
        true
    }
}

/// Which end of a rectangle's side a coordinate is: 0, 1, or neither.
fn side(position: f64, ends: [f64; 2]) -> Option<usize> {
    ends.iter().position(|&end| end == position)
}

/// The texels under `pixels` if each pixel's centre is a texel's, where a side of a rectangle from `ends[0]` to
/// `ends[1]` shows a texture of `size` texels from `shown[0]` to `shown[1]`.
fn texels(pixels: &Range<usize>, ends: [f64; 2], shown: [f32; 2], size: usize) -> Option<Range<usize>> {
    /// What GPUs, too, do not tell apart in a position in a texture.
    const SAME: f64 = 1.0 / 256.0;
    let shown = shown.map(|part| f64::from(part) * size as f64);
    let texel = |pixel: usize| {
        let position = shown[0] + (center(pixel) - ends[0]) * (shown[1] - shown[0]) / (ends[1] - ends[0]) - 0.5;
        let nearest = (position + 0.5).floor();
        ((position - nearest).abs() < SAME && nearest >= 0.0).then_some(nearest as usize)
    };
    let (first, last) = (texel(pixels.start)?, texel(pixels.end - 1)?);
    (first <= last && last - first == pixels.len() - 1 && last < size).then_some(first..last + 1)
}

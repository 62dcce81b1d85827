//! Pictures of what egui draws, made by the CPU: for `--screenshot` and for tests, where there is no display or GPU.
//!
//! [`paint`] does what egui's OpenGL painter does with the same triangles: colours have premultiplied alpha and are
//! multiplied and blended as they are stored (no conversion to linear light), a pixel belongs to the triangle that holds
//! its centre, and of two triangles that share an edge through the centre to the right or lower one, so that neither
//! gaps nor doubly blended lines show where triangles meet. Vertices snap to 1/256 of a pixel as on a GPU.
//!
//! Two things of the OpenGL painter are left out: the noise by less than one level that hides bands in wide gradients,
//! and mipmaps, which none of our textures has. Paint callbacks draw with the GPU only and are skipped.
//!
//! Nearly all of a window is rectangles of one colour and glyphs, which skip the general triangles: see `quad`.

mod blend;
mod canvas;
mod image;
mod quad;
#[cfg(test)]
mod tests;
mod textures;
mod triangle;

use egui::epaint::{ClippedPrimitive, Mesh, Primitive, Vertex};
use egui::{Color32, Pos2};

use canvas::Canvas;
pub use image::Image;
use quad::Quad;
use textures::Texture;
pub use textures::Textures;

/// Paints tessellated shapes in their order over `clear`, on a picture of `size` pixels.
///
/// `pixels_per_point` is the one that the shapes were tessellated for. Meshes whose texture is not in `textures` are not
/// painted, as in a window.
pub fn paint(
    primitives: &[ClippedPrimitive],
    textures: &Textures,
    size: [u32; 2],
    pixels_per_point: f32,
    clear: Color32,
) -> Image {
    let mut image = Image::filled(size, clear);
    for ClippedPrimitive { clip_rect, primitive } in primitives {
        match primitive {
            Primitive::Mesh(mesh) => {
                if let Some(texture) = textures.get(mesh.texture_id) {
                    let mut canvas = Canvas::new(&mut image, *clip_rect, pixels_per_point);
                    paint_mesh(&mut canvas, mesh, texture, pixels_per_point);
                }
            }
            Primitive::Callback(_) => {}
        }
    }
    image
}

/// A vertex in pixels.
#[derive(Clone, Copy)]
struct Corner {
    x: f64,
    y: f64,
    uv: Pos2,
    color: Color32,
}

impl Corner {
    fn new(vertex: &Vertex, pixels_per_point: f64) -> Self {
        let snapped = |points: f32| {
            // In numbers of this magnitude the last bit of an f64 is 1/256: the addition rounds.
            const ROUNDS_TO_256TH: f64 = 1.5 * (1_u64 << 44) as f64;
            (f64::from(points) * pixels_per_point + ROUNDS_TO_256TH) - ROUNDS_TO_256TH
        };
        Self { x: snapped(vertex.pos.x), y: snapped(vertex.pos.y), uv: vertex.uv, color: vertex.color }
    }

    fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.uv.is_finite()
    }
}

fn paint_mesh(canvas: &mut Canvas<'_>, mesh: &Mesh, texture: &Texture, pixels_per_point: f32) {
    if canvas.is_empty() {
        return;
    }
    let pixels_per_point = f64::from(pixels_per_point);
    let triangle_at = |first: usize| -> Option<[Corner; 3]> {
        let &[a, b, c] = mesh.indices.get(first..)?.first_chunk()?;
        let corner = |index: u32| Some(Corner::new(mesh.vertices.get(index as usize)?, pixels_per_point));
        let corners = [corner(a)?, corner(b)?, corner(c)?];
        corners.iter().all(Corner::is_finite).then_some(corners)
    };
    let mut first = 0;
    while first < mesh.indices.len() {
        let triangle = triangle_at(first);
        if let Some(triangle) = &triangle
            && let Some(next) = triangle_at(first + 3)
            && let Some(quad) = Quad::of(triangle, &next)
            && quad.paint(canvas, texture)
        {
            first += 6;
            continue;
        }
        if let Some(triangle) = &triangle {
            triangle::paint(canvas, triangle, texture);
        }
        first += 3;
    }
}

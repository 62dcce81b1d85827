//! The textures that egui's triangles are drawn with: glyphs, and images if there are any.

use std::sync::Arc;

use egui::epaint::textures::TexturesDelta;
use egui::{Color32, ColorImage, ImageData, TextureFilter, TextureId, TextureOptions, TextureWrapMode};
use rustc_hash::FxHashMap;

use super::blend::Source;

/// All textures that are alive, kept up to date by what each frame reports.
#[derive(Default)]
pub struct Textures {
    textures: FxHashMap<TextureId, Texture>,
    freed: Vec<TextureId>,
}

impl Textures {
    /// Takes over the changes of a frame, and leaves `delta` empty.
    ///
    /// What the frame frees can still be painted until the changes of the next one come: its own shapes may use it.
    pub fn apply(&mut self, delta: &mut TexturesDelta) {
        for id in self.freed.drain(..) {
            self.textures.remove(&id);
        }
        for (id, changes) in delta.set.drain() {
            for change in changes {
                let ImageData::Color(image) = change.image;
                match (change.pos, self.textures.get_mut(&id)) {
                    (None, _) => {
                        self.textures.insert(id, Texture { image, options: change.options });
                    }
                    (Some(position), Some(texture)) => texture.update(position, &image, change.options),
                    (Some(position), None) => {
                        debug_assert!(false, "part of texture {id:?} set at {position:?} before the whole");
                    }
                }
            }
        }
        self.freed.extend(delta.free.drain());
    }

    /// The texture, unless it is unknown or has no texels.
    pub(super) fn get(&self, id: TextureId) -> Option<&Texture> {
        self.textures.get(&id).filter(|texture| !texture.image.pixels.is_empty())
    }
}

/// One texture: at least one texel, when it comes from [`Textures::get`].
pub(super) struct Texture {
    image: Arc<ColorImage>,
    options: TextureOptions,
}

impl Texture {
    pub(super) fn size(&self) -> [usize; 2] {
        self.image.size
    }

    /// The texels of a row. Row and columns must be inside of the texture.
    pub(super) fn row(&self, row: usize) -> &[Color32] {
        let width = self.image.width();
        &self.image.pixels[row * width..(row + 1) * width]
    }

    /// How to filter where neighbouring pixels are so many texels apart.
    pub(super) fn filter(&self, texels_per_pixel: f64) -> TextureFilter {
        if texels_per_pixel > 1.0 { self.options.minification } else { self.options.magnification }
    }

    /// The colour at a position in texels; texel centres lie at halves.
    pub(super) fn sample(&self, x: f64, y: f64, filter: TextureFilter) -> Source {
        match filter {
            TextureFilter::Nearest => self.texel(x.floor() as i64, y.floor() as i64).map(f32::from),
            TextureFilter::Linear => {
                let (x, y) = (x - 0.5, y - 0.5);
                let (left, top) = (x.floor(), y.floor());
                let (right_share, lower_share) = ((x - left) as f32, (y - top) as f32);
                let (left, top) = (left as i64, top as i64);
                let (right, lower) = (left.saturating_add(1), top.saturating_add(1));
                let mix = |a: [u8; 4], b: [u8; 4]| -> Source {
                    std::array::from_fn(|i| f32::from(a[i]) * (1.0 - right_share) + f32::from(b[i]) * right_share)
                };
                let upper_row = mix(self.texel(left, top), self.texel(right, top));
                let lower_row = mix(self.texel(left, lower), self.texel(right, lower));
                std::array::from_fn(|i| upper_row[i] * (1.0 - lower_share) + lower_row[i] * lower_share)
            }
        }
    }

    fn texel(&self, x: i64, y: i64) -> [u8; 4] {
        let [width, height] = self.image.size;
        let [x, y] = [wrapped(x, width, self.options.wrap_mode), wrapped(y, height, self.options.wrap_mode)];
        self.image.pixels[y * width + x].to_array()
    }

    /// Replaces a part. What would lie outside of the texture is cut off.
    fn update(&mut self, [x, y]: [usize; 2], part: &ColorImage, options: TextureOptions) {
        let image = Arc::make_mut(&mut self.image);
        let [width, height] = image.size;
        debug_assert!(x + part.width() <= width && y + part.height() <= height, "{part:?} at {x}, {y} in {image:?}");
        let columns = part.width().min(width.saturating_sub(x));
        let rows = part.height().min(height.saturating_sub(y));
        for row in 0..rows {
            let (to, from) = ((y + row) * width + x, row * part.width());
            image.pixels[to..to + columns].copy_from_slice(&part.pixels[from..from + columns]);
        }
        self.options = options;
    }
}

/// The texel that is shown at `index`, which may lie outside of the texture.
fn wrapped(index: i64, size: usize, mode: TextureWrapMode) -> usize {
    let length = size as i64;
    let inside = match mode {
        TextureWrapMode::ClampToEdge => index.clamp(0, length - 1),
        TextureWrapMode::Repeat => index.rem_euclid(length),
        TextureWrapMode::MirroredRepeat => {
            let index = index.rem_euclid(2 * length);
            index.min(2 * length - 1 - index)
        }
    };
    inside as usize
}

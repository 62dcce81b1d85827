//! Blending with premultiplied alpha, as the colours are stored: `source + target · (1 − source's alpha)`.

use egui::Color32;

/// A source colour before it is rounded, each channel from 0 to 255.
pub(super) type Source = [f32; 4];

/// Blends one colour over every pixel of a span.
pub(super) fn fill(span: &mut [Color32], color: Color32) {
    if color.a() == 255 {
        span.fill(color);
    } else if color != Color32::TRANSPARENT {
        let source = color.to_array().map(u32::from);
        let kept = 255 - source[3];
        for pixel in span {
            let target = pixel.to_array();
            *pixel = premultiplied(std::array::from_fn(|channel| {
                let blended = source[channel] + (u32::from(target[channel]) * kept + 127) / 255;
                // Colours that add light have more in a channel than their alpha allows.
                blended.min(255) as u8
            }));
        }
    }
}

/// Blends a colour over one pixel.
pub(super) fn over(pixel: &mut Color32, source: Source) {
    let kept = 1.0 - source[3] / 255.0;
    let target = pixel.to_array();
    // The cast rounds, as half a level is added, and saturates.
    *pixel =
        premultiplied(std::array::from_fn(|channel| (source[channel] + f32::from(target[channel]) * kept + 0.5) as u8));
}

/// A vertex's colour times a texture's.
pub(super) fn product(color: Source, texel: Source) -> Source {
    std::array::from_fn(|channel| color[channel] * texel[channel] * (1.0 / 255.0))
}

/// The colour as it is stored.
pub(super) fn source(color: Color32) -> Source {
    color.to_array().map(f32::from)
}

fn premultiplied([red, green, blue, alpha]: [u8; 4]) -> Color32 {
    Color32::from_rgba_premultiplied(red, green, blue, alpha)
}

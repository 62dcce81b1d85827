//! A picture in memory, and as a PNG file.

use std::io::Write;
use std::ops::Range;

use egui::Color32;

/// A picture: rows of pixels from the top, with premultiplied alpha.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Color32>,
}

impl Image {
    /// A picture of `[width, height]` pixels of one colour.
    pub fn filled(size: [u32; 2], color: Color32) -> Self {
        let [width, height] = size.map(|length| length as usize);
        Self { width, height, pixels: vec![color; width * height] }
    }

    /// A picture of `[width, height]` given pixels, row by row.
    ///
    /// # Panics
    /// If there are not as many as that.
    pub fn from_pixels(size: [u32; 2], pixels: Vec<Color32>) -> Self {
        let [width, height] = size.map(|length| length as usize);
        assert_eq!(pixels.len(), width * height, "a picture of {width} × {height} pixels");
        Self { width, height, pixels }
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The pixel in column `x` of row `y`.
    ///
    /// # Panics
    /// If there is no such pixel.
    pub fn pixel(&self, x: usize, y: usize) -> Color32 {
        assert!(x < self.width && y < self.height, "no pixel {x}, {y} in {self:?}");
        self.pixels[y * self.width + x]
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[Color32] {
        &self.pixels
    }

    /// Writes a PNG file: 8 bits a channel, sRGB, with straight alpha.
    pub fn to_png(&self, file: &mut dyn Write) -> Result<(), png::EncodingError> {
        // A picture larger than a PNG can be is refused with its size, not cut off.
        let [width, height] = [self.width, self.height].map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        let mut encoder = png::Encoder::new(file, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        let bytes = self.pixels.iter().flat_map(Color32::to_srgba_unmultiplied).collect::<Vec<_>>();
        writer.write_image_data(&bytes)?;
        writer.finish()
    }

    /// How many pixels differ by more than `tolerance` in a channel. In pictures of different sizes all do.
    pub fn difference(&self, other: &Self, tolerance: u8) -> usize {
        if (self.width, self.height) != (other.width, other.height) {
            return self.pixels.len().max(other.pixels.len());
        }
        let differs = |(a, b): &(&Color32, &Color32)| {
            a.to_array().iter().zip(b.to_array()).any(|(a, b)| a.abs_diff(b) > tolerance)
        };
        self.pixels.iter().zip(&other.pixels).filter(differs).count()
    }

    pub(super) fn span(&mut self, row: usize, columns: Range<usize>) -> &mut [Color32] {
        let start = row * self.width;
        &mut self.pixels[start + columns.start..start + columns.end]
    }
}

impl std::fmt::Debug for Image {
    /// The size: the pixels would fill the screen of whoever reads a failed test.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({} × {})", self.width, self.height)
    }
}

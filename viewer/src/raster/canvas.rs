//! The part of a picture that a clip rectangle leaves open.

use std::ops::Range;

use egui::{Color32, Rect};

use super::Image;

/// A picture and the pixels of it that may change.
pub(super) struct Canvas<'a> {
    image: &'a mut Image,
    x: Range<usize>,
    y: Range<usize>,
}

impl<'a> Canvas<'a> {
    /// Rounds the clip rectangle, which is in points, to whole pixels as egui's painters do.
    pub(super) fn new(image: &'a mut Image, clip: Rect, pixels_per_point: f32) -> Self {
        let range = |min: f32, max: f32, size: usize| {
            let pixel = |points: f32| (points * pixels_per_point).round().clamp(0.0, size as f32) as usize;
            pixel(min)..pixel(max)
        };
        let x = range(clip.min.x, clip.max.x, image.width());
        let y = range(clip.min.y, clip.max.y, image.height());
        Self { image, x, y }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.x.is_empty() || self.y.is_empty()
    }

    /// The columns whose centres lie in `start..end`, clipped.
    pub(super) fn columns(&self, start: f64, end: f64) -> Range<usize> {
        centers(start, end, &self.x)
    }

    /// The rows whose centres lie in `start..end`, clipped.
    pub(super) fn rows(&self, start: f64, end: f64) -> Range<usize> {
        centers(start, end, &self.y)
    }

    /// The pixels of `row` in `columns`, both from this canvas.
    pub(super) fn span(&mut self, row: usize, columns: Range<usize>) -> &mut [Color32] {
        self.image.span(row, columns)
    }
}

/// Where the centre of a pixel lies.
pub(super) fn center(pixel: usize) -> f64 {
    pixel as f64 + 0.5
}

/// A centre at `start` is in, one at `end` is out: what ends where something else starts shares no pixel with it.
fn centers(start: f64, end: f64, clip: &Range<usize>) -> Range<usize> {
    let first_from = |position: f64| {
        let least = (position - 0.5).clamp(clip.start as f64, clip.end as f64);
        // `ceil`, which without SSE 4.1 is a call.
        let below = least as usize;
        below + usize::from((below as f64) < least)
    };
    first_from(start)..first_from(end)
}

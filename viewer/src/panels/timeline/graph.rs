//! Stacked graphs made of rectangles.

use std::ops::Range;

use egui::{Color32, Rect, pos2};

use crate::scene::Scene;

/// A stacked graph, drawn column by column. Neighbours of one height become one quad.
pub(super) struct Graph<'a> {
    scene: &'a mut Scene,
    area: Rect,
    pixel: f32,
    colors: &'a [Color32],
    /// Of each layer what is not drawn yet.
    open: Vec<Option<Rect>>,
}

impl<'a> Graph<'a> {
    /// Layers have `colors`, from the bottom up.
    pub(super) fn new(scene: &'a mut Scene, area: Rect, pixels_per_point: f32, colors: &'a [Color32]) -> Self {
        Self { scene, area, pixel: 1.0 / pixels_per_point, colors, open: vec![None; colors.len()] }
    }

    /// Adds a column in which each layer has a share of the height. Of the first `busy` layers something stays visible,
    /// however little they have.
    pub(super) fn column(&mut self, x: Range<f32>, shares: &[f32], busy: usize) {
        let (left, right) = (x.start.max(self.area.left()), x.end.min(self.area.right()));
        if left >= right {
            return;
        }
        let height = self.area.height();
        let total: f32 = shares[..busy].iter().sum();
        let least = if total > 0.0 { (self.pixel / height - total).max(0.0) } else { 0.0 };
        let mut largest = 0;
        for layer in 1..busy {
            if shares[layer] > shares[largest] {
                largest = layer;
            }
        }
        let (mut level, mut bottom) = (0.0f32, self.area.bottom());
        for (layer, share) in shares.iter().enumerate() {
            level = (level + share + if layer == largest { least } else { 0.0 }).min(1.0);
            let steps = (level * height / self.pixel).round();
            let top = self.area.bottom() - steps * self.pixel;
            let rect = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
            self.put(layer, (top < bottom).then_some(rect));
            bottom = top.min(bottom);
        }
    }

    fn put(&mut self, layer: usize, rect: Option<Rect>) {
        match (&mut self.open[layer], rect) {
            (Some(open), Some(rect))
                if open.right() >= rect.left() && open.top() == rect.top() && open.bottom() == rect.bottom() =>
            {
                open.max.x = rect.right();
            }
            (open, rect) => {
                if let Some(done) = std::mem::replace(open, rect) {
                    self.scene.quad(done, self.colors[layer]);
                }
            }
        }
    }

    pub(super) fn finish(mut self) {
        for layer in 0..self.open.len() {
            self.put(layer, None);
        }
    }
}

//! Shapes made of straight lines.

use egui::{Color32, Pos2, vec2};

use super::{Line, Scene};

impl Scene {
    /// Adds a straight line.
    pub fn line(&mut self, from: Pos2, to: Pos2, width: f32, color: Color32) {
        self.lines.push(Line { from, to, width, color });
    }

    /// Adds a Bézier curve in so many pieces.
    pub fn curve(&mut self, curve: &[Pos2; 4], pieces: u16, (width, color): (f32, Color32)) {
        let mut from = curve[0];
        for piece in 1..=pieces {
            let to = point_of(curve, f32::from(piece) / f32::from(pieces));
            self.line(from, to, width, color);
            from = to;
        }
    }

    /// Adds a square on its corner, as wide and as high as twice `radius`.
    pub fn diamond(&mut self, center: Pos2, radius: f32, color: Color32) {
        // From the middle of one side to that of the opposite one.
        let half = vec2(radius, radius) / 2.0;
        self.line(center - half, center + half, radius * std::f32::consts::SQRT_2, color);
    }
}

/// The point of a Bézier curve at `t`, from 0 to 1.
fn point_of(curve: &[Pos2; 4], t: f32) -> Pos2 {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    let sum = curve.iter().zip(weights).fold(vec2(0.0, 0.0), |sum, (point, weight)| sum + point.to_vec2() * weight);
    sum.to_pos2()
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;

    #[test]
    fn a_curve_goes_from_its_first_to_its_last_point_without_gaps() {
        let curve = [pos2(0.0, 0.0), pos2(30.0, 0.0), pos2(30.0, 60.0), pos2(60.0, 60.0)];
        let mut scene = Scene::default();
        scene.curve(&curve, 8, (1.5, Color32::WHITE));
        assert_eq!(scene.lines.len(), 8);
        assert!(scene.lines[0].from.distance(curve[0]) < 1e-3 && scene.lines[7].to.distance(curve[3]) < 1e-3);
        assert!(scene.lines.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert!(point_of(&curve, 0.5).distance(pos2(30.0, 30.0)) < 1e-3);
    }

    #[test]
    fn a_diamond_has_its_corners_a_radius_away() {
        let mut scene = Scene::default();
        scene.diamond(pos2(10.0, 10.0), 4.0, Color32::WHITE);
        let line = scene.lines[0];
        let along = line.to - line.from;
        let side = vec2(-along.y, along.x) / along.length() * line.width / 2.0;
        let corners = [line.from + side, line.from - side, line.to + side, line.to - side];
        let expected = [pos2(6.0, 10.0), pos2(10.0, 6.0), pos2(10.0, 14.0), pos2(14.0, 10.0)];
        for corner in expected {
            assert!(corners.iter().any(|it| it.distance(corner) < 1e-3), "{corner:?} in {corners:?}");
        }
    }
}

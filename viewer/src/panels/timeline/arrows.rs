//! Arrows over the tracks: what the selected marker or slice came of, and what came of it.

use std::sync::Arc;

use egui::{Color32, Pos2, Rect, Vec2, pos2, vec2};
use traceview_core::model::{FlowAnchor, FlowMember, ThreadId};

use super::layout::{self, MARKER_LANE, Rows};
use super::paint::{Body, Look};
use crate::document::Document;
use crate::flows::{Link, Way};
use crate::scene::Scene;
use crate::selection::{Picked, PickedKind, Selection};
use crate::widget::TimeView;

/// The links that are drawn, kept as long as the selection is the same.
#[derive(Default)]
pub(super) struct Arrows {
    of: Option<(Picked, bool)>,
    links: Arc<Vec<Arrow>>,
}

/// A link that is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrow {
    link: Link,
    /// Whether it begins or ends at what is selected.
    is_direct: bool,
}

/// More of them are straight, and have no edges that set them off.
const MOST_CURVES: usize = 500;
/// Straight pieces of a curve.
const PIECES: u16 = 20;
const WIDTH: f32 = 1.6;
/// How wide it is with its edges.
const HALO: f32 = 4.2;
/// How far from what it links an arrow begins and ends.
const GAP: f32 = 7.0;
/// How far it bends out.
const BEND: f32 = 14.0;
const MOST_BEND: f32 = 60.0;
/// How long the sides of its head are.
const HEAD: f32 = 7.0;
/// How far from the edge of the tracks it ends when it leads out of them.
const INSET: f32 = 2.0;

impl Arrows {
    /// The arrows of what is selected.
    pub(super) fn update(&mut self, document: &Document, selection: &Selection) -> &Arc<Vec<Arrow>> {
        let of = selection.picked.map(|picked| (picked, selection.chain));
        if self.of != of {
            self.of = of;
            self.links = Arc::new(of.map(|(picked, chain)| arrows_of(document, &picked, chain)).unwrap_or_default());
        }
        &self.links
    }
}

fn arrows_of(document: &Document, picked: &Picked, chain: bool) -> Vec<Arrow> {
    let (flows, table) = (&document.flows, &document.profile.flows);
    let direct = [Way::Back, Way::Forward].into_iter().flat_map(|way| flows.direct(table, picked, way));
    let mut arrows: Vec<Arrow> = direct.map(|link| Arrow { link, is_direct: true }).collect();
    if chain {
        let own = flows.members_at(table, picked);
        let is_own = |link: &Link| own.contains(&link.from) || own.contains(&link.to);
        let others = flows.chain(table, picked).into_iter().filter(|link| !is_own(link));
        arrows.extend(others.map(|link| Arrow { link, is_direct: false }));
    }
    arrows
}

/// Draws `body.arrows` and what they belong to, over tracks of `size`.
pub(super) fn paint(scene: &mut Scene, size: Vec2, look: &Look, body: &Body, (document, rows): (&Document, &Rows)) {
    let plot = layout::plot(Rect::from_min_size(pos2(0.0, 0.0), size));
    let view = TimeView::new(look.visible, plot);
    let theme = &look.theme;
    let members = &document.profile.flows.members;
    let place = |member: u32| {
        let FlowMember { thread, time, anchor, .. } = members[member as usize];
        let in_lane = matches!(anchor, FlowAnchor::Marker(_));
        pos2(view.x(time), height_of(document, rows, thread, in_lane) - body.scroll)
    };
    let simple = body.arrows.len() > MOST_CURVES;
    // Those of the selection itself are drawn last.
    for arrow in body.arrows.iter().rev() {
        let [from, to] = [arrow.link.from, arrow.link.to].map(place);
        let Some(curve) = curve(from, to, plot.shrink(INSET)) else { continue };
        let color = if arrow.is_direct { theme.arrow } else { theme.faint_arrow() };
        if simple {
            scene.line(curve[0], curve[3], WIDTH, color);
        } else {
            scene.curve(&curve, PIECES, (HALO, theme.canvas));
            paint_head(scene, &curve, HALO, theme.canvas);
            scene.curve(&curve, PIECES, (WIDTH, color));
        }
        paint_head(scene, &curve, WIDTH, color);
    }
    if let Some(picked) = body.picked
        && let PickedKind::Marker(_) | PickedKind::Station(_) = picked.what
    {
        let in_lane = matches!(picked.what, PickedKind::Marker(_));
        let y = height_of(document, rows, picked.thread, in_lane) - body.scroll;
        paint_picked(scene, plot, &view, &picked, (look, y));
    }
}

/// How far down the rows a marker of `thread` is, or the middle of its track.
fn height_of(document: &Document, rows: &Rows, thread: ThreadId, in_lane: bool) -> f32 {
    let (_, y) = rows.get(rows.place(thread));
    let has_lane = layout::has_lane(&document.profile, thread) && rows.position(thread).is_some();
    match (has_lane, in_lane) {
        (true, true) => y.start + MARKER_LANE,
        (true, false) => (y.start + layout::MARKERS + y.end) / 2.0,
        (false, _) => f32::midpoint(y.start, y.end),
    }
}

/// The way of an arrow in `area`; where an end is out of sight, to the edge. `None` if nothing of it can be in sight.
fn curve(from: Pos2, to: Pos2, area: Rect) -> Option<[Pos2; 4]> {
    let beyond = |side: fn(Pos2, Rect) -> bool| side(from, area) && side(to, area);
    let sides: [fn(Pos2, Rect) -> bool; 4] = [
        |it, area| it.x < area.left() - INSET,
        |it, area| it.x > area.right() + INSET,
        |it, area| it.y < area.top(),
        |it, area| it.y > area.bottom(),
    ];
    if sides.into_iter().any(beyond) || !area.is_positive() {
        return None;
    }
    let apart = (to - from).abs();
    // Steep ones bend wide too, or their heads would be lost in the bend.
    let reach = (apart.x / 2.0).max(apart.y / 3.0).clamp(BEND, MOST_BEND);
    // On one track it bows out of the line of its markers.
    let bow = if apart.y >= 1.0 {
        0.0
    } else if from.y + BEND > area.bottom() {
        -BEND
    } else {
        BEND
    };
    // It leaves to the right and comes from the left, except where the edge that it runs to is above or below.
    let end = |at: Pos2, side: f32| {
        let inside = at.clamp(area.min, area.max);
        if inside.y == at.y {
            let start = if inside.x == at.x { inside + vec2(side * GAP, 0.0) } else { inside };
            (start, start + vec2(side * reach, bow))
        } else {
            (inside, inside + vec2(0.0, (inside.y - at.y).signum() * reach))
        }
    };
    let ((start, first), (tip, last)) = (end(from, 1.0), end(to, -1.0));
    Some([start, first, last, tip].map(|point| point.clamp(area.min, area.max)))
}

fn paint_head(scene: &mut Scene, curve: &[Pos2; 4], width: f32, color: Color32) {
    let tip = curve[3];
    let before = curve[..3].iter().rev().find(|point| point.distance(tip) > 0.5);
    let Some(back) = before.map(|before| (*before - tip).normalized() * HEAD) else { return };
    for turn in [0.5f32, -0.5] {
        let (sin, cos) = turn.sin_cos();
        let side = vec2(back.x * cos - back.y * sin, back.x * sin + back.y * cos);
        // A little beyond the tip, so that both sides meet there.
        scene.line(tip - side * 0.1, tip + side, width, color);
    }
}

/// A frame around the selected marker.
fn paint_picked(scene: &mut Scene, plot: Rect, view: &TimeView, picked: &Picked, (look, y): (&Look, f32)) {
    let [left, right] = [picked.range().start, picked.range().end].map(|time| view.x(time));
    if right < plot.left() - 1.0 || left > plot.right() + 1.0 {
        return;
    }
    let half = layout::HALF_LANE + 1.5;
    let corners = if right - left < 2.0 {
        let center = pos2(left, y);
        [vec2(-half, 0.0), vec2(0.0, -half), vec2(half, 0.0), vec2(0.0, half)].map(|corner| center + corner)
    } else {
        let [left, right] = [left.max(plot.left()), right.min(plot.right())];
        let rect = Rect::from_min_max(pos2(left, y - half), pos2(right, y + half));
        [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()]
    };
    for (from, to) in (0..4).map(|corner| (corners[corner], corners[(corner + 1) % 4])) {
        scene.line(from, to, 1.5, look.theme.outline);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::*;

    fn area() -> Rect {
        Rect::from_min_max(pos2(100.0, 0.0), pos2(900.0, 300.0))
    }

    fn length(curve: &[Pos2; 4]) -> f32 {
        let mut scene = Scene::default();
        scene.curve(curve, PIECES, (1.0, Color32::WHITE));
        scene.lines.iter().map(|line| line.from.distance(line.to)).sum()
    }

    #[test]
    fn an_arrow_whose_ends_are_in_one_place_can_be_seen() {
        for (from, to) in [
            (pos2(500.0, 50.0), pos2(500.0, 50.0)),
            (pos2(500.0, 299.0), pos2(500.0, 299.0)),
            (pos2(500.0, 50.0), pos2(500.4, 90.0)),
            (pos2(500.0, 50.0), pos2(520.0, 50.0)),
            (pos2(100.0, 0.0), pos2(100.0, 0.0)),
            (pos2(900.0, 300.0), pos2(900.0, 300.0)),
        ] {
            let curve = curve(from, to, area()).expect("it is in sight");
            assert!(length(&curve) > 15.0, "{from:?} to {to:?}: {curve:?}");
        }
    }

    #[test]
    fn what_is_out_of_sight_is_at_the_edge() {
        let below = curve(pos2(500.0, 50.0), pos2(600.0, 9000.0), area()).expect("it begins in sight");
        assert_eq!(below[3], pos2(600.0, 300.0));
        assert!(below[2].y < 300.0 && below[2].x == 600.0, "it points down: {below:?}");
        let later = curve(pos2(500.0, 50.0), pos2(99_000.0, 80.0), area()).expect("it begins in sight");
        assert_eq!(later[3], pos2(900.0, 80.0));
        let across = curve(pos2(-5000.0, 50.0), pos2(5000.0, 80.0), area()).expect("it crosses");
        assert_eq!((across[0].x, across[3].x), (100.0, 900.0));
        for ends in [(-500.0, 50.0), (5000.0, 5000.0)] {
            assert_eq!(curve(pos2(ends.0, 50.0), pos2(ends.1, 80.0), area()), None);
        }
        assert_eq!(curve(pos2(500.0, -5.0), pos2(600.0, -9.0), area()), None);
    }

    proptest! {
        #[test]
        fn no_arrow_leaves_the_tracks(a in -1e5..1e5f32, b in -1e5..1e5f32, c in -1e5..1e5f32, d in -1e5..1e5f32) {
            for scale in [1e-3, 1e-2, 1.0] {
                if let Some(curve) = curve(pos2(a, b) * scale, pos2(c, d) * scale, area()) {
                    assert!(curve.iter().all(|point| area().contains(*point)), "{curve:?}");
                    assert!(length(&curve) > 1.0, "{curve:?}");
                }
            }
        }
    }
}

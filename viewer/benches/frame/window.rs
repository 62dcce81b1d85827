//! A window without a screen, whose frames are timed: what egui and the panels do, and making triangles of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use egui::epaint::{ClippedShape, Primitive, Shape};
use egui::{
    Context, Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, RawInput, Rect, TouchPhase,
    Vec2, pos2, vec2,
};
use traceview_core::model::Profile;
use traceview_viewer::jobs::Jobs;
use traceview_viewer::view::{Input, Settings, Viewer};

use crate::shared::timed;

pub(crate) const SIZE: Vec2 = vec2(1600.0, 1000.0);
const FRAME: f64 = 1.0 / 60.0;

/// The window.
pub(crate) struct Window {
    pub(crate) context: Context,
    pub(crate) viewer: Viewer,
    time: f64,
    modifiers: Modifiers,
}

/// What a frame took and drew.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// CPU time of the thread that draws.
    pub(crate) cpu: Duration,
    /// Quads of charts.
    pub(crate) quads: usize,
    /// Pieces of text.
    pub(crate) texts: usize,
    /// All triangles.
    pub(crate) triangles: usize,
    /// Of all that is drawn.
    pub(crate) hash: u64,
}

impl Window {
    pub(crate) fn open(profile: Profile) -> Self {
        let context = Context::default();
        context.set_theme(egui::Theme::Dark);
        context.all_styles_mut(|style| style.visuals.text_cursor.blink = false);
        let input = Input::Profile { path: None, profile: Arc::new(profile) };
        let viewer = Viewer::new(vec![input], Settings::default(), Jobs::in_background(|| {}));
        Self { context, viewer, time: 0.0, modifiers: Modifiers::NONE }
    }

    /// Runs a frame in which `events` happen.
    pub(crate) fn frame(&mut self, events: Vec<Event>) -> Frame {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SIZE)),
            time: Some(self.time),
            predicted_dt: FRAME as f32,
            events,
            focused: true,
            ..RawInput::default()
        };
        self.time += FRAME;
        let Self { context, viewer, .. } = self;
        let (cpu, (drawn, primitives)) = timed(|| {
            let mut output = context.run_ui(input, |ui| viewer.ui(ui));
            // There is no graphics card to send them to.
            output.textures_delta.clear();
            let drawn = Drawn::of(&output.shapes);
            (drawn, context.tessellate(output.shapes, output.pixels_per_point))
        });
        let (mut hasher, mut triangles) = (DefaultHasher::new(), 0);
        for primitive in &primitives {
            if let Primitive::Mesh(mesh) = &primitive.primitive {
                triangles += mesh.indices.len() / 3;
                for vertex in &mesh.vertices {
                    (vertex.pos.x.to_bits(), vertex.pos.y.to_bits(), vertex.color).hash(&mut hasher);
                }
            }
        }
        Frame { cpu, quads: drawn.quads, texts: drawn.texts, triangles, hash: hasher.finish() }
    }

    /// Runs frames until nothing is computed any more and all is drawn.
    pub(crate) fn settle(&mut self) {
        let mut at_rest = 0;
        while at_rest < 30 {
            self.frame(Vec::new());
            at_rest = if self.viewer.is_idle() { at_rest + 1 } else { 0 };
            if at_rest == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Holds down the Shift key, or lets it go.
    pub(crate) fn hold_shift(&mut self, held: bool) {
        self.modifiers = if held { Modifiers::SHIFT } else { Modifiers::NONE };
        self.frame(vec![Event::ModifiersChanged(self.modifiers)]);
    }

    /// Presses the left button at `at`, or lets it go there.
    pub(crate) fn button(&mut self, at: Pos2, pressed: bool) {
        let button =
            Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers: self.modifiers };
        self.frame(vec![Event::PointerMoved(at), button]);
    }

    pub(crate) fn click(&mut self, at: Pos2) {
        self.button(at, true);
        self.button(at, false);
        // Not the first of two.
        self.time += 1.0;
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.frame(vec![Event::Text(text.to_owned())]);
    }

    pub(crate) fn press(&mut self, key: Key, modifiers: Modifiers) {
        self.frame(vec![Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }]);
    }
}

pub(crate) fn moved(x: f32, y: f32) -> Vec<Event> {
    vec![Event::PointerMoved(pos2(x, y))]
}

pub(crate) fn wheel(points: f32) -> Vec<Event> {
    vec![Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, points),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    }]
}

/// What shapes are made of.
#[derive(Default)]
struct Drawn {
    quads: usize,
    texts: usize,
}

impl Drawn {
    fn of(shapes: &[ClippedShape]) -> Self {
        let mut drawn = Self::default();
        let mut pending: Vec<&Shape> = shapes.iter().map(|clipped| &clipped.shape).collect();
        while let Some(shape) = pending.pop() {
            match shape {
                Shape::Vec(shapes) => pending.extend(shapes),
                Shape::Mesh(mesh) => drawn.quads += mesh.indices.len() / 6,
                Shape::Text(_) => drawn.texts += 1,
                _ => {}
            }
        }
        drawn
    }
}

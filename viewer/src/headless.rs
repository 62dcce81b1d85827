//! A window's contents without a window: frames are run and painted with no display, GPU or clock.
//!
//! For `--screenshot` and for tests of pictures. The same frames make the same picture, byte for byte: time advances by
//! a sixtieth of a second a frame, animations are off and the text cursor does not blink.
//!
//! ```
//! use traceview_viewer::headless::Headless;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut window = Headless::new(egui::vec2(320.0, 200.0), 1.0, egui::Theme::Light);
//! window.settle(|ui| {
//!     ui.label("24 samples");
//! })?;
//! let mut file = Vec::new();
//! window.picture().to_png(&mut file)?;
//! # Ok(())
//! # }
//! ```

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use egui::epaint::ClippedShape;
use egui::style::ScrollAnimation;
use egui::{Context, Event, PlatformOutput, RawInput, Rect, Style, Theme, Ui, Vec2, ViewportCommand, ViewportId};

use crate::raster::{self, Image, Textures};

const FRAMES_PER_SECOND: f64 = 60.0;

/// How many frames a user interface may take to come to rest: many times what egui needs to measure and place things.
const FRAMES_TO_SETTLE: u32 = 100;

/// What stands in for a window: its egui context and what was last drawn.
pub struct Headless {
    context: Context,
    size: [u32; 2],
    native_pixels_per_point: f32,
    /// Frames since the beginning of time, also those that were waited for and not drawn.
    time: u64,
    events: Vec<Event>,
    textures: Textures,
    shapes: Vec<ClippedShape>,
    /// That of `shapes`.
    pixels_per_point: f32,
}

impl Headless {
    /// A window of `size` points, with as many pixels as that comes to when rounded.
    pub fn new(size: Vec2, pixels_per_point: f32, theme: Theme) -> Self {
        let context = Context::default();
        context.set_theme(theme);
        let pixels = (size * pixels_per_point).round();
        Self {
            context,
            size: [pixels.x as u32, pixels.y as u32],
            native_pixels_per_point: pixels_per_point,
            time: 0,
            events: Vec::new(),
            textures: Textures::default(),
            shapes: Vec::new(),
            pixels_per_point,
        }
    }

    /// The context that all frames run in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Has an event happen in the next frame, after those that were sent before.
    pub fn send(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Runs a frame. egui may call `ui` more than once, where things can only be placed when others are measured.
    pub fn step(&mut self, ui: impl FnMut(&mut Ui)) -> Frame {
        // In every frame, since whoever draws may set a style of their own.
        self.context.all_styles_mut(hold_still);
        let input = self.next_input();
        let mut output = self.context.run_ui(input, ui);
        self.time += 1;
        self.textures.apply(&mut output.textures_delta);
        self.shapes = output.shapes;
        self.pixels_per_point = output.pixels_per_point;
        let window = output.viewport_output.remove(&ViewportId::ROOT);
        let (commands, repaint_after) =
            window.map_or((Vec::new(), Duration::MAX), |window| (window.commands, window.repaint_delay));
        Frame { platform: output.platform_output, commands, repaint_after }
    }

    /// Runs frames until no other is asked for, and returns how many. Where one is asked for later, time skips there.
    ///
    /// Jobs on other threads are not waited for: who starts them knows when they have ended.
    pub fn settle(&mut self, mut ui: impl FnMut(&mut Ui)) -> Result<u32, Unsettled> {
        for frames in 1..=FRAMES_TO_SETTLE {
            let delay = self.step(&mut ui).repaint_after;
            if delay == Duration::MAX {
                return Ok(frames);
            }
            let frames_later = (delay.as_secs_f64() * FRAMES_PER_SECOND).ceil() as u64;
            self.time = self.time.saturating_add(frames_later.saturating_sub(1));
        }
        let causes = self.context.repaint_causes().iter().map(ToString::to_string).collect();
        Err(Unsettled { frames: FRAMES_TO_SETTLE, causes })
    }

    /// What the last frame has drawn; before the first one, an empty window.
    pub fn picture(&mut self) -> Image {
        let background = self.context.global_style().visuals.panel_fill;
        if self.shapes.is_empty() {
            return Image::filled(self.size, background);
        }
        let primitives = self.context.tessellate(self.shapes.clone(), self.pixels_per_point);
        raster::paint(&primitives, &self.textures, self.size, self.pixels_per_point, background)
    }

    fn next_input(&mut self) -> RawInput {
        let pixels_per_point = self.native_pixels_per_point * self.context.zoom_factor();
        let [width, height] = self.size.map(|pixels| pixels as f32 / pixels_per_point);
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width, height))),
            time: Some(self.time as f64 / FRAMES_PER_SECOND),
            predicted_dt: (1.0 / FRAMES_PER_SECOND) as f32,
            events: std::mem::take(&mut self.events),
            ..RawInput::default()
        };
        input.viewports.entry(ViewportId::ROOT).or_default().native_pixels_per_point =
            Some(self.native_pixels_per_point);
        input
    }
}

/// What a frame asks of whoever shows the window.
pub struct Frame {
    /// Text for the clipboard, the shape of the mouse cursor, links to open.
    pub platform: PlatformOutput,
    /// Changes to the window, such as its title or that it closes.
    pub commands: Vec<ViewportCommand>,
    /// When to run the next frame, if nothing happens before: [`Duration::MAX`] for never.
    pub repaint_after: Duration,
}

/// A user interface that asks for one frame after another without end.
#[derive(Debug)]
pub struct Unsettled {
    /// How many were run.
    pub frames: u32,
    /// Which code has asked for the last one.
    pub causes: Vec<String>,
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "still asks for another frame after {} of them", self.frames)?;
        if self.causes.is_empty() { Ok(()) } else { write!(f, ": {}", self.causes.join(", ")) }
    }
}

impl std::error::Error for Unsettled {}

/// Takes all that depends on when a picture is taken out of a style.
fn hold_still(style: &mut Style) {
    style.animation_time = 0.0;
    style.scroll_animation = ScrollAnimation::none();
    style.visuals.text_cursor.blink = false;
}

//! Pictures without a display: of the whole window, or of one panel.

use std::io::{self, Write};

use egui::{Sense, Vec2, vec2};
use traceview_core::format::ReadOptions;

use crate::action::State;
use crate::analyses::Analyses;
use crate::document::Document;
use crate::headless::{Headless, Unsettled};
use crate::jobs::Jobs;
use crate::panels::{PANELS, PanelContext, PanelRow, main_panel};
use crate::raster::Image;
use crate::scene::{CachedScene, Scene, write_svg};
use crate::theme::Theme;
use crate::view::{Input, Settings, Viewer};

/// What a picture is to look like.
#[derive(Clone, PartialEq, Debug)]
pub struct PictureOptions {
    /// How large, in points.
    pub size: Vec2,
    /// Pixels for each point.
    pub pixels_per_point: f32,
    /// Light text on a dark ground.
    pub dark: bool,
    /// The panel that is drawn, or in a picture of the window the tab that is shown; `None`: the usual one.
    pub panel: Option<String>,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// No panel has this name.
    #[error("no panel is called `{0}`; there are {names}", names = panel_names().join(", "))]
    NoSuchPanel(String),
    /// The panel is made of widgets.
    #[error("the panel `{0}` can't be drawn alone; these can: {names}", names = drawn_alone().join(", "))]
    NotAlone(String),
    /// The file to draw can't be opened.
    #[error("{file} can't be opened: {message}")]
    Open {
        /// Which.
        file: String,
        /// Why.
        message: String,
    },
    /// The window never came to rest.
    #[error("the picture never got finished: {0}")]
    Unsettled(#[from] Unsettled),
    /// It can't be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It can't be written as a PNG file.
    #[error("{0}")]
    Png(#[from] png::EncodingError),
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { size: vec2(1280.0, 800.0), pixels_per_point: 1.0, dark: true, panel: None }
    }
}

/// The panels that `--panel` can name.
pub fn panel_names() -> Vec<&'static str> {
    PANELS.iter().map(|panel| panel.name).collect()
}

/// The panels that can be drawn alone: those that are not made of widgets.
pub fn drawn_alone() -> Vec<&'static str> {
    use crate::panels::Place::{Middle, Top};
    let is_drawn = |panel: &&PanelRow| matches!(panel.place, Top | Middle) || panel.name == "flame-graph";
    PANELS.iter().filter(is_drawn).map(|panel| panel.name).collect()
}

/// Draws the window as it looks when `inputs` are opened.
///
/// # Errors
/// See [`PictureError`].
pub fn window(inputs: Vec<Input>, read: ReadOptions, options: &PictureOptions) -> Result<Image, PictureError> {
    let mut viewer = Viewer::reading(inputs, read, Settings::default(), Jobs::immediate());
    if let Some(panel) = &options.panel {
        if !panel_names().contains(&panel.as_str()) {
            return Err(PictureError::NoSuchPanel(panel.clone()));
        }
        viewer.show_panel(panel);
    }
    let mut headless = headless(options);
    headless.settle(|ui| viewer.ui(ui))?;
    if let Some((file, message)) = viewer.failure() {
        return Err(PictureError::Open { file: file.to_owned(), message: message.to_owned() });
    }
    Ok(headless.picture())
}

/// The scene of one panel of `document`.
///
/// # Errors
/// See [`PictureError`].
pub fn scene(document: Document, options: &PictureOptions) -> Result<Scene, PictureError> {
    let name = options.panel.as_deref().unwrap_or(main_panel(&document));
    let row = PANELS.iter().find(|row| row.name == name);
    let row = row.ok_or_else(|| PictureError::NoSuchPanel(name.to_owned()))?;
    let document = std::sync::Arc::new(document);
    let state = State::new(&document);
    let (jobs, mut analyses) = (Jobs::immediate(), Analyses::default());
    analyses.update(&document, state.selection(), &jobs);
    let theme = if options.dark { Theme::dark() } else { Theme::light() };
    let mut panel = (row.create)();
    let mut context = PanelContext {
        document: &document,
        selection: state.selection(),
        analyses: &analyses,
        found: None,
        pointer: None,
        pointed: &mut None,
        theme: &theme,
        jobs: &jobs,
        actions: &mut Vec::new(),
    };
    panel.scene(options.size, &mut context).ok_or_else(|| PictureError::NotAlone(name.to_owned()))
}

/// Writes one panel of `document` as an SVG file.
///
/// # Errors
/// See [`PictureError`].
pub fn write_panel_svg(document: Document, options: &PictureOptions, out: &mut dyn Write) -> Result<(), PictureError> {
    let title = document.name.clone();
    Ok(write_svg(&scene(document, options)?, &title, out)?)
}

/// Writes one panel of `document` as a PNG file.
///
/// # Errors
/// See [`PictureError`].
pub fn write_panel_png(document: Document, options: &PictureOptions, out: &mut dyn Write) -> Result<(), PictureError> {
    let scene = scene(document, options)?;
    let options = PictureOptions { size: scene.size, ..options.clone() };
    let mut cached = CachedScene::default();
    let mut headless = headless(&options);
    headless.settle(|ui| {
        let (response, painter) = ui.allocate_painter(scene.size, Sense::hover());
        cached.paint(&painter, response.rect.min, (), |()| scene.clone());
    })?;
    Ok(headless.picture().to_png(out)?)
}

fn headless(options: &PictureOptions) -> Headless {
    let theme = if options.dark { egui::Theme::Dark } else { egui::Theme::Light };
    Headless::new(options.size, options.pixels_per_point, theme)
}

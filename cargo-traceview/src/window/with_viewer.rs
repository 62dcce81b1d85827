//! The viewer's own types on one side, ours on the other.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use traceview_core::format::ReadOptions;
use traceview_core::model::Profile;
use traceview_viewer::app;
use traceview_viewer::loading;
use traceview_viewer::picture::{self, PictureOptions};
use traceview_viewer::view;

use super::Input;
use super::quiet::QuietStderr;
use crate::cli::picture::{PictureKind, PicturePlan};
use crate::error::Cause;
use crate::sampler::SignalGuard;

/// How soon a signal closes the window.
const SIGNAL_CHECK: Duration = Duration::from_millis(200);

pub(super) fn show(inputs: Vec<Input>, read: ReadOptions, signals: &SignalGuard) -> Result<(), Cause> {
    let closed = AtomicBool::new(false);
    let quiet = QuietStderr::begin();
    thread::scope(|scope| {
        let watch = |window: app::WindowHandle| {
            drop(quiet);
            // Without this thread the window closes by its button alone.
            let _started = thread::Builder::new().name("signals".to_owned()).spawn_scoped(scope, || {
                let window = window;
                while !closed.load(Ordering::Relaxed) {
                    if signals.ask_to_end(SIGNAL_CHECK) {
                        window.close();
                    }
                }
            });
        };
        let result = app::run(inputs.into_iter().map(view_input).collect(), read, watch);
        closed.store(true, Ordering::Relaxed);
        result.map_err(Cause::from)
    })
}

pub(super) fn screenshot(
    inputs: Vec<Input>,
    read: ReadOptions,
    plan: &PicturePlan,
    out: &mut dyn Write,
) -> Result<(), Cause> {
    let image = picture::window(inputs.into_iter().map(view_input).collect(), read, &options(plan))?;
    Ok(image.to_png(out)?)
}

pub(super) fn panel(profile: Profile, kind: PictureKind, plan: &PicturePlan, out: &mut dyn Write) -> Result<(), Cause> {
    let document = loading::document(None, Arc::new(profile));
    match kind {
        PictureKind::Svg => picture::write_panel_svg(document, &options(plan), out)?,
        PictureKind::Png => picture::write_panel_png(document, &options(plan), out)?,
    }
    Ok(())
}

fn view_input(input: Input) -> view::Input {
    match input {
        Input::File(path) => view::Input::File(path),
        Input::Profile(profile, path) => view::Input::Profile { path, profile: Arc::new(*profile) },
    }
}

fn options(plan: &PicturePlan) -> PictureOptions {
    PictureOptions {
        size: [plan.size.0, plan.size.1].map(f32::from).into(),
        pixels_per_point: plan.scale,
        dark: plan.dark,
        panel: plan.panel.clone(),
    }
}

//! The door to the viewer. A build without it (`--no-default-features`) has the same door, which says so.

#[cfg(feature = "viewer")]
mod quiet;
#[cfg(feature = "viewer")]
mod with_viewer;
#[cfg(feature = "viewer")]
use with_viewer as viewer;
#[cfg(not(feature = "viewer"))]
mod without_viewer;
#[cfg(not(feature = "viewer"))]
use without_viewer as viewer;

use std::io::Write;
use std::path::PathBuf;

use traceview_core::format::ReadOptions;
use traceview_core::model::Profile;

use crate::cli::picture::{PictureKind, PicturePlan};
use crate::error::Cause;
use crate::sampler::SignalGuard;

/// Something to open.
#[derive(Debug)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// A profile that is in memory already, and where it was saved.
    Profile(Box<Profile>, Option<PathBuf>),
}

/// Shows `inputs`, and what is opened later, read with `read`, in a window until it is closed, or until a signal asks us to end. To be called once, on the main thread.
///
/// # Errors
/// Why there is no window, in a sentence that says what to do about it.
pub fn show(inputs: Vec<Input>, read: ReadOptions, signals: &SignalGuard) -> Result<(), Cause> {
    viewer::show(inputs, read, signals)
}

/// Writes a PNG picture of the window on `inputs`; needs no display.
///
/// # Errors
/// When an input can't be opened, or `out` fails.
pub fn screenshot(inputs: Vec<Input>, read: ReadOptions, plan: &PicturePlan, out: &mut dyn Write) -> Result<(), Cause> {
    viewer::screenshot(inputs, read, plan, out)
}

/// Writes a picture of one panel; needs no display.
///
/// # Errors
/// When the panel can't be drawn alone, or `out` fails.
pub fn panel(profile: Profile, kind: PictureKind, plan: &PicturePlan, out: &mut dyn Write) -> Result<(), Cause> {
    viewer::panel(profile, kind, plan, out)
}

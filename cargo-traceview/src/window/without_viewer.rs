//! What a build without the viewer answers.

use std::io::Write;

use traceview_core::format::ReadOptions;
use traceview_core::model::Profile;

use super::Input;
use crate::cli::picture::{PictureKind, PicturePlan};
use crate::error::Cause;
use crate::sampler::SignalGuard;

const MISSING: &str =
    "this cargo-traceview was built without its viewer; install it again without `--no-default-features`";

pub(super) fn show(_: Vec<Input>, _: ReadOptions, _: &SignalGuard) -> Result<(), Cause> {
    Err(MISSING.into())
}

pub(super) fn screenshot(_: Vec<Input>, _: ReadOptions, _: &PicturePlan, _: &mut dyn Write) -> Result<(), Cause> {
    Err(MISSING.into())
}

pub(super) fn panel(_: Profile, _: PictureKind, _: &PicturePlan, _: &mut dyn Write) -> Result<(), Cause> {
    Err(MISSING.into())
}

//! `info`: what a recording contains, and what is missing.

use traceview_core::model::Profile;
use traceview_core::report::{InfoSource, Style, info_json, write_info};

use crate::cli::args::InfoArgs;

/// What `args` ask for of `profile`, which was read from `source`.
#[must_use]
pub fn render(profile: &Profile, source: &InfoSource, args: &InfoArgs, style: Style) -> String {
    if args.json {
        return info_json(profile, source);
    }
    let mut text = String::new();
    write_info(&mut text, profile, source, style).expect("a String takes any text");
    text
}

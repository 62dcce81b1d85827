//! Whole windows compared with pictures of them that a person has looked at.

use std::sync::Arc;

use egui::{Theme, Vec2, vec2};
use traceview_core::model::ThreadId;

use super::{Input, Settings, Viewer};
use crate::action::Action;
use crate::headless::Headless;
use crate::jobs::Jobs;
use crate::picture::{self, PictureOptions};
use crate::testing::pictures::{MOST_PIXELS, TOLERANCE, assert_expected};
use crate::testing::profiles::{family, lively, marker_named};

#[test]
fn the_window_looks_as_it_was_seen() {
    let size = vec2(960.0, 640.0);
    compare("dark", &PictureOptions { size, ..PictureOptions::default() });
    compare(
        "light_call_tree",
        &PictureOptions { size, dark: false, panel: Some("call-tree".to_owned()), ..PictureOptions::default() },
    );
    compare(
        "dark_fine",
        &PictureOptions { size: vec2(640.0, 400.0), pixels_per_point: 1.5, ..PictureOptions::default() },
    );
}

#[test]
fn markers_arrows_and_counters_look_as_they_were_seen() {
    let size = vec2(1280.0, 800.0);
    for (name, theme, chain) in [("dark_arrows", Theme::Dark, true), ("light_arrows", Theme::Light, false)] {
        let profile = family();
        let tool = ThreadId::new(1);
        let marker = marker_named(&profile, tool, "spawn");
        let input = Input::Profile { path: None, profile: profile.into() };
        let mut viewer = Viewer::new(vec![input], Settings::default(), Jobs::immediate());
        let document = Arc::clone(viewer.document().expect("it is open"));
        let spans = &document.markers[tool.index()];
        let picked = spans.spans()[spans.position(marker)].picked(tool);
        viewer.act(&Action::JumpTo(picked));
        viewer.act(&Action::ShowChain(chain));
        let mut headless = Headless::new(size, 1.0, theme);
        headless.settle(|ui| viewer.ui(ui)).expect("it comes to rest");
        assert_expected(name, &headless.picture());
    }
}

#[test]
fn a_small_window_is_a_window_too() {
    for size in [vec2(120.0, 90.0), vec2(480.0, 320.0), vec2(3000.0, 60.0)] {
        let options = PictureOptions { size, ..PictureOptions::default() };
        let image = picture::window(vec![input()], &options).expect("it can be drawn");
        assert_eq!(vec2(image.width() as f32, image.height() as f32), size);
    }
}

fn input() -> Input {
    Input::Profile { path: None, profile: lively().into() }
}

fn compare(name: &str, options: &PictureOptions) {
    let drawn = picture::window(vec![input()], options).expect("it can be drawn");
    assert_expected(name, &drawn);
}

#[test]
fn a_picture_of_something_else_is_noticed() {
    let size: Vec2 = vec2(960.0, 640.0);
    let dark = picture::window(vec![input()], &PictureOptions { size, ..PictureOptions::default() });
    let empty = picture::window(Vec::new(), &PictureOptions { size, ..PictureOptions::default() });
    let (dark, empty) = (dark.expect("it can be drawn"), empty.expect("it can be drawn"));
    assert!(dark.difference(&empty, TOLERANCE) > 100 * MOST_PIXELS);
}

//! Whole windows compared with pictures of them that a person has looked at.

use egui::{Theme, Vec2, vec2};
use traceview_core::format::ReadOptions;
use traceview_core::model::{MarkerId, ThreadId};

use super::{Input, Settings, Viewer};
use crate::action::Action;
use crate::document::Document;
use crate::headless::Headless;
use crate::jobs::Jobs;
use crate::panels::timeline::Timeline;
use crate::picture::{self, PictureOptions};
use crate::selection::Picked;
use crate::testing::pictures::{MOST_PIXELS, TOLERANCE, assert_expected};
use crate::testing::profiles::{family, lively, marker_named};
use crate::testing::{Window, document};

#[test]
fn the_window_looks_as_it_was_seen() {
    let size = vec2(960.0, 640.0);
    compare("dark", &PictureOptions { size, ..PictureOptions::default() });
    compare(
        "light_call_tree",
        &PictureOptions { size, dark: false, panel: Some("call-tree".to_owned()), ..PictureOptions::default() },
    );
    compare(
        "dark_flame_graph",
        &PictureOptions { size, panel: Some("flame-graph".to_owned()), ..PictureOptions::default() },
    );
    compare(
        "dark_fine",
        &PictureOptions { size: vec2(640.0, 400.0), pixels_per_point: 1.5, ..PictureOptions::default() },
    );
}

#[test]
fn a_selected_marker_looks_as_it_was_seen() {
    let profile = family();
    let spawn = marker_named(&profile, ThreadId::new(1), "spawn");
    let input = Input::Profile { path: None, profile: profile.into() };
    let mut viewer = Viewer::new(vec![input], Settings::default(), Jobs::immediate());
    let spawn = marker(viewer.document().expect("it is open"), ThreadId::new(1), spawn);
    viewer.act(&Action::JumpTo(spawn));
    let mut headless = Headless::new(vec2(1280.0, 800.0), 1.0, Theme::Light);
    headless.settle(|ui| viewer.ui(ui)).expect("it comes to rest");
    assert_expected("light_marker", &headless.picture());
}

#[test]
fn arrows_over_the_timeline_look_as_they_were_seen() {
    for (name, theme, chain) in [("dark_arrows", Theme::Dark, true), ("light_arrows", Theme::Light, false)] {
        let document = document(family());
        let start = marker_named(&document.profile, ThreadId::new(1), "process start");
        let start = marker(&document, ThreadId::new(1), start);
        let mut window = Window::new(document, Timeline::default());
        window.act(&Action::JumpTo(start));
        window.act(&Action::ShowChain(chain));
        let mut headless = Headless::new(vec2(1280.0, 380.0), 1.0, theme);
        headless.settle(|ui| window.ui(ui)).expect("it comes to rest");
        assert_expected(name, &headless.picture());
    }
}

fn marker(document: &Document, thread: ThreadId, marker: MarkerId) -> Picked {
    let markers = &document.markers[thread.index()];
    markers.spans()[markers.position(marker)].picked(thread)
}

#[test]
fn a_small_window_is_a_window_too() {
    for size in [vec2(120.0, 90.0), vec2(480.0, 320.0), vec2(3000.0, 60.0)] {
        let options = PictureOptions { size, ..PictureOptions::default() };
        let image = picture::window(vec![input()], ReadOptions::default(), &options).expect("it can be drawn");
        assert_eq!(vec2(image.width() as f32, image.height() as f32), size);
    }
}

fn input() -> Input {
    Input::Profile { path: None, profile: lively().into() }
}

fn compare(name: &str, options: &PictureOptions) {
    let drawn = picture::window(vec![input()], ReadOptions::default(), options).expect("it can be drawn");
    assert_expected(name, &drawn);
}

#[test]
fn a_picture_of_something_else_is_noticed() {
    let size: Vec2 = vec2(960.0, 640.0);
    let dark =
        picture::window(vec![input()], ReadOptions::default(), &PictureOptions { size, ..PictureOptions::default() });
    let empty =
        picture::window(Vec::new(), ReadOptions::default(), &PictureOptions { size, ..PictureOptions::default() });
    let (dark, empty) = (dark.expect("it can be drawn"), empty.expect("it can be drawn"));
    assert!(dark.difference(&empty, TOLERANCE) > 100 * MOST_PIXELS);
}

/// For people to look at: windows of the file that `PROFILE` names, into the folder that `PICTURES` names. In them is selected
/// what has the most links; then each tab of tables is shown, and the warnings.
#[test]
#[ignore = "for people to look at"]
fn pictures_of_windows() {
    let folder = std::path::PathBuf::from(std::env::var_os("PICTURES").expect("PICTURES names a folder"));
    let path = std::env::var_os("PROFILE").expect("PROFILE names a file").into();
    let mut viewer = Viewer::new(vec![Input::File(path)], Settings::default(), Jobs::immediate());
    let mut first = Headless::new(vec2(1280.0, 800.0), 1.0, Theme::Dark);
    first.settle(|ui| viewer.ui(ui)).expect("it comes to rest");
    let document = std::sync::Arc::clone(viewer.document().expect("it is open"));
    let tabs: Vec<_> = crate::panels::tabs_of(&document).iter().map(|row| row.name).collect();
    let flows = &document.profile.flows;
    let longest = (0..flows.len()).max_by_key(|flow| flows.members_of(*flow).len());
    if let Some(member) = longest.map(|flow| flows.first_member[flow]) {
        viewer.act(&Action::JumpTo(crate::flows::pick(&document, member)));
    }
    let context = egui::Context::default();
    for (look, theme, size, scale) in
        [("dark", Theme::Dark, vec2(1280.0, 800.0), 1.0), ("light", Theme::Light, vec2(1280.0, 800.0), 2.0)]
    {
        let mut headless = Headless::new(size, scale, theme);
        let mut draw = |viewer: &mut Viewer, name: &str| {
            headless.settle(|ui| viewer.ui(ui)).expect("it comes to rest");
            let mut file = Vec::new();
            headless.picture().to_png(&mut file).expect("memory takes it");
            std::fs::create_dir_all(&folder).expect("it can be made");
            std::fs::write(folder.join(format!("window-{look}-{name}.png")), file).expect("it can be written");
        };
        for tab in &tabs {
            viewer.show_panel(tab);
            draw(&mut viewer, tab);
        }
        viewer.run(crate::command::Command::WholeChain, &context);
        viewer.run(crate::command::Command::ShowSelected, &context);
        draw(&mut viewer, "chain");
        viewer.run(crate::command::Command::WholeChain, &context);
        viewer.run(crate::command::Command::Warnings, &context);
        draw(&mut viewer, "warnings");
        viewer.run(crate::command::Command::Cancel, &context);
    }
}

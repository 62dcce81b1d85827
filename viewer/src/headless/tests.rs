//! Frames without a window: what is drawn, at rest, the same each time and at each density of pixels.

use std::time::Duration;

use egui::{Color32, Event, Key, Modifiers, Rect, TextEdit, Theme, Ui, Vec2, ViewportCommand, pos2, vec2};

use super::{FRAMES_TO_SETTLE, Headless};
use crate::raster::Image;

const SIZE: Vec2 = vec2(200.0, 120.0);

/// The pixels that differ from the window's background.
fn drawn(window: &mut Headless) -> Vec<(usize, usize)> {
    let background = window.context().global_style().visuals.panel_fill;
    let picture = window.picture();
    let pixels = (0..picture.height()).flat_map(|y| (0..picture.width()).map(move |x| (x, y)));
    pixels.filter(|&(x, y)| picture.pixel(x, y) != background).collect()
}

fn png(image: &Image) -> Vec<u8> {
    let mut file = Vec::new();
    image.to_png(&mut file).unwrap();
    file
}

/// Something of everything: text, rounded and plain rectangles, lines and circles.
fn gallery(ui: &mut Ui) {
    ui.label("std::thread::scope 12.5 %");
    let _ = ui.button("Zoom out");
    let painter = ui.painter();
    painter.circle_filled(pos2(150.0, 60.0), 20.0, Color32::DARK_GREEN);
    painter.line_segment([pos2(10.0, 100.0), pos2(190.0, 70.0)], (2.0, Color32::RED));
    painter.rect_filled(Rect::from_min_max(pos2(20.0, 60.0), pos2(80.0, 75.0)), 0.0, Color32::BLUE);
}

fn picture_of_gallery(pixels_per_point: f32, theme: Theme) -> Image {
    let mut window = Headless::new(SIZE, pixels_per_point, theme);
    window.settle(gallery).unwrap();
    window.picture()
}

#[test]
fn a_window_before_its_first_frame_is_empty() {
    let mut window = Headless::new(SIZE, 1.5, Theme::Dark);
    let picture = window.picture();
    assert_eq!((picture.width(), picture.height()), (300, 180));
    assert_eq!(drawn(&mut window), []);
}

#[test]
fn text_is_drawn_where_its_label_is() {
    for theme in [Theme::Light, Theme::Dark] {
        for scale in [1.0, 1.5, 2.0] {
            let mut window = Headless::new(SIZE, scale, theme);
            let mut label = Rect::NOTHING;
            window.settle(|ui| label = ui.label("core::fmt::write").rect).unwrap();
            let pixels = drawn(&mut window);
            // A sixth of the area or so is ink in this font; a filled rectangle or a few stray pixels are not text.
            let share = pixels.len() as f32 / (label.area() * scale * scale);
            assert!((0.1..0.6).contains(&share), "{share} of the label is drawn at {scale}, {theme:?}");
            let reach = (label.expand(0.5)) * scale;
            let outside = pixels.iter().find(|&&(x, y)| !reach.contains(pos2(x as f32 + 0.5, y as f32 + 0.5)));
            assert_eq!(outside, None, "drawn outside of {reach:?}");
        }
    }
}

#[test]
fn themes_differ_in_their_background() {
    let [light, dark] = [Theme::Light, Theme::Dark].map(|theme| picture_of_gallery(1.0, theme).pixel(199, 119));
    assert!(light.r() > 200 && dark.r() < 60, "{light:?}, {dark:?}");
}

#[test]
fn the_same_frames_make_the_same_file() {
    for scale in [1.0, 1.25] {
        let [one, other] = [(); 2].map(|()| png(&picture_of_gallery(scale, Theme::Light)));
        assert_eq!(one, other);
    }
}

#[test]
fn twice_the_pixels_show_the_same_picture() {
    let one = picture_of_gallery(1.0, Theme::Light);
    let two = picture_of_gallery(2.0, Theme::Light);
    assert_eq!((two.width(), two.height()), (2 * one.width(), 2 * one.height()));
    // Shapes, which do not depend on pixels as glyphs do, agree in every pixel but those of their edges.
    assert_eq!(one.pixel(50, 67), Color32::BLUE);
    assert_eq!(two.pixel(100, 134), Color32::BLUE);
    let mut far_off = 0;
    let mut levels = [0.0_f64; 2];
    for y in 0..one.height() {
        for x in 0..one.width() {
            let level = f64::from(one.pixel(x, y).g());
            let four =
                [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| f64::from(two.pixel(2 * x + dx, 2 * y + dy).g()));
            let mean = four.iter().sum::<f64>() / 4.0;
            far_off += usize::from((level - mean).abs() > 60.0);
            levels[0] += 255.0 - level;
            levels[1] += 255.0 - mean;
        }
    }
    assert!((levels[0] / levels[1] - 1.0).abs() < 0.02, "darkness {levels:?}");
    assert!(far_off < one.pixels().len() / 100, "{far_off} pixels differ");
}

#[test]
fn a_window_of_any_density_has_the_size_in_points_that_was_asked_for() {
    for scale in [1.0, 1.25, 2.0] {
        let mut window = Headless::new(SIZE, scale, Theme::Light);
        let mut seen = Vec2::ZERO;
        window.step(|ui| seen = ui.ctx().content_rect().size());
        assert_eq!(seen, SIZE, "at {scale}");
    }
}

#[test]
fn zoomed_contents_fill_the_same_pixels() {
    let mut window = Headless::new(SIZE, 1.0, Theme::Light);
    window.context().set_zoom_factor(2.0);
    let mut seen = Vec2::ZERO;
    window.settle(|ui| seen = ui.ctx().content_rect().size()).unwrap();
    assert_eq!(seen, SIZE / 2.0);
    assert_eq!(window.picture().width(), 200);
}

#[test]
fn the_text_cursor_stays_while_time_goes_by() {
    let mut text = String::from("regex");
    let mut window = Headless::new(SIZE, 1.0, Theme::Light);
    let mut edit = |ui: &mut Ui| ui.add(TextEdit::singleline(&mut text)).request_focus();
    window.settle(&mut edit).unwrap();
    let first = window.picture();
    for _ in 0..90 {
        window.step(&mut edit);
        assert_eq!(window.picture().difference(&first, 0), 0);
    }
    let mut unfocused = Headless::new(SIZE, 1.0, Theme::Light);
    unfocused.settle(|ui| drop(ui.add(TextEdit::singleline(&mut text)))).unwrap();
    assert!(first.difference(&unfocused.picture(), 0) > 0, "no cursor to be seen");
}

#[test]
fn events_arrive_in_the_next_frame_only() {
    let mut window = Headless::new(SIZE, 1.0, Theme::Light);
    let key = Event::Key { key: Key::F, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
    window.send(key);
    let mut presses = Vec::new();
    for _ in 0..2 {
        window.step(|ui| presses.push(ui.input(|input| input.key_pressed(Key::F))));
    }
    assert_eq!(presses, [true, false]);
}

#[test]
fn commands_to_the_window_are_handed_on() {
    let mut window = Headless::new(SIZE, 1.0, Theme::Light);
    let frame = window.step(|ui| ui.ctx().send_viewport_cmd(ViewportCommand::Title("a.json".into())));
    assert!(frame.commands.contains(&ViewportCommand::Title("a.json".into())), "{:?}", frame.commands);
}

#[test]
fn time_is_counted_in_frames_and_skips_to_where_a_frame_is_wanted() {
    let mut window = Headless::new(SIZE, 1.0, Theme::Light);
    let mut times = Vec::new();
    for _ in 0..3 {
        window.step(|ui| times.push(ui.input(|input| input.time)));
    }
    assert_eq!(times, [0.0, 1.0 / 60.0, 2.0 / 60.0]);

    let start = 3.0 / 60.0;
    let mut last = 0.0;
    let frames = window.settle(|ui| {
        last = ui.input(|input| input.time);
        if last < start + 5.0 {
            ui.ctx().request_repaint_after(Duration::from_secs(5));
        }
    });
    assert!((start + 5.0..start + 5.1).contains(&last), "{last}");
    assert!(frames.unwrap() < 6);
}

#[test]
fn who_never_settles_is_named() {
    let mut window = Headless::new(SIZE, 1.0, Theme::Light);
    let error = window.settle(|ui| ui.ctx().request_repaint()).unwrap_err();
    assert_eq!(error.frames, FRAMES_TO_SETTLE);
    assert!(error.to_string().contains("tests.rs"), "{error}");
}

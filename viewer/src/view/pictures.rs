//! Whole windows compared with pictures of them that a person has looked at, in `viewer/pictures/expected`.
//!
//! `UPDATE_PICTURES=1 cargo test -p traceview-viewer pictures` writes them anew: look at them before committing.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use egui::{Color32, Vec2, vec2};

use super::Input;
use crate::panels::flame_chart::test_profiles;
use crate::picture::{self, PictureOptions};
use crate::raster::Image;

/// Colours may differ so much, from 0 to 255, and at so many pixels: another compiler rounds text edges differently.
const TOLERANCE: u8 = 12;
const MOST_PIXELS: usize = 150;

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
fn a_small_window_is_a_window_too() {
    for size in [vec2(120.0, 90.0), vec2(480.0, 320.0), vec2(3000.0, 60.0)] {
        let options = PictureOptions { size, ..PictureOptions::default() };
        let image = picture::window(vec![input()], &options).expect("it can be drawn");
        assert_eq!(vec2(image.width() as f32, image.height() as f32), size);
    }
}

fn input() -> Input {
    Input::Profile { path: None, profile: test_profiles::lively().into() }
}

fn compare(name: &str, options: &PictureOptions) {
    let drawn = picture::window(vec![input()], options).expect("it can be drawn");
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("pictures/expected/{name}.png"));
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        write(&drawn, &expected);
        return;
    }
    let different = drawn.difference(&read(&expected), TOLERANCE);
    if different > MOST_PIXELS {
        let found: PathBuf = std::env::temp_dir().join(format!("traceview-{name}.png"));
        write(&drawn, &found);
        panic!("{different} pixels differ: {} was expected, {} found", expected.display(), found.display());
    }
}

fn write(image: &Image, path: &Path) {
    let mut file = Vec::new();
    image.to_png(&mut file).expect("memory takes it");
    fs::create_dir_all(path.parent().expect("it is in a directory")).expect("it can be made");
    fs::write(path, file).expect("it can be written");
}

fn read(path: &Path) -> Image {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("it is a PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it fits into memory")];
    let info = reader.next_frame(&mut bytes).expect("it has a picture");
    assert_eq!(info.color_type, png::ColorType::Rgba);
    let pixels = bytes.chunks_exact(4).map(|it| Color32::from_rgba_unmultiplied(it[0], it[1], it[2], it[3]));
    Image::from_pixels([info.width, info.height], pixels.collect())
}

#[test]
fn a_picture_of_something_else_is_noticed() {
    let size: Vec2 = vec2(960.0, 640.0);
    let dark = picture::window(vec![input()], &PictureOptions { size, ..PictureOptions::default() });
    let empty = picture::window(Vec::new(), &PictureOptions { size, ..PictureOptions::default() });
    let (dark, empty) = (dark.expect("it can be drawn"), empty.expect("it can be drawn"));
    assert!(dark.difference(&empty, TOLERANCE) > 100 * MOST_PIXELS);
}

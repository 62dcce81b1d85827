//! Pictures, to be looked at by people and compared with those that people have looked at.
//!
//! * `PICTURES=/tmp/pictures cargo test --workspace --locked --lib pictures -- --ignored` writes one of each panel in each
//!   of its looks into that folder: of [`lively`], or of the file that `PROFILE` names.
//! * `UPDATE_PICTURES=1 cargo test --workspace --locked --lib pictures` writes anew what is expected, in
//!   `viewer/pictures/expected`: look at it before committing.

use std::env;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Color32, Event, Theme, pos2, vec2};
use traceview_core::format::ReadOptions;
use traceview_core::model::{Nanos, TimeRange};

use super::profiles::lively;
use super::{Window, document};
use crate::action::Action;
use crate::document::Document;
use crate::headless::Headless;
use crate::jobs::Jobs;
use crate::loading::Loading;
use crate::panels::{PANELS, PanelRow, Place};
use crate::raster::Image;
use crate::selection::{Picked, PickedKind};

/// Colours may differ so much, from 0 to 255, and at so many pixels: another compiler rounds text edges differently.
pub(crate) const TOLERANCE: u8 = 12;
pub(crate) const MOST_PIXELS: usize = 150;

/// Compares `drawn` with the expected picture of this name.
pub(crate) fn assert_expected(name: &str, drawn: &Image) {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("pictures/expected/{name}.png"));
    if env::var_os("UPDATE_PICTURES").is_some() {
        write(drawn, &expected);
        return;
    }
    let different = drawn.difference(&read(&expected), TOLERANCE);
    if different > MOST_PIXELS {
        let found: PathBuf = env::temp_dir().join(format!("traceview-{name}.png"));
        write(drawn, &found);
        panic!("{different} pixels differ: {} was expected, {} found", expected.display(), found.display());
    }
}

#[test]
#[ignore = "for people to look at"]
fn pictures_of_panels() {
    let folder = PathBuf::from(env::var_os("PICTURES").expect("PICTURES names a folder"));
    let document = env::var_os("PROFILE").map_or_else(|| document(lively()), |path| opened(path.into()));
    for panel in PANELS {
        for (look, theme, scale) in [("dark", Theme::Dark, 1.0), ("light", Theme::Light, 1.0), ("2x", Theme::Dark, 2.0)]
        {
            let [at_first, at_work] = panel_pictures(panel, &document, theme, scale);
            write(&at_first, &folder.join(format!("{}-{look}.png", panel.name)));
            write(&at_work, &folder.join(format!("{}-{look}-at-work.png", panel.name)));
        }
    }
}

/// A panel as it is at first, and with a part in view, of which a range, a box and a thread are selected, and a search.
fn panel_pictures(panel: &PanelRow, document: &Arc<Document>, theme: Theme, scale: f32) -> [Image; 2] {
    let size = match panel.place {
        Place::Top | Place::Tab => vec2(1280.0, 300.0),
        Place::Middle => vec2(1280.0, 500.0),
        Place::Side => vec2(320.0, 800.0),
    };
    let mut window = Window::new(Arc::clone(document), (panel.create)());
    let mut headless = Headless::new(size, scale, theme);
    headless.settle(|ui| window.ui(ui)).expect("it comes to rest");
    let at_first = headless.picture();
    at_work(document).iter().for_each(|action| window.act(action));
    headless.send(Event::PointerMoved(pos2(size.x * 0.6, 110.0)));
    headless.settle(|ui| window.ui(ui)).expect("it comes to rest");
    [at_first, headless.picture()]
}

/// What somebody does who looks into the busiest thread, around its middle sample.
fn at_work(document: &Document) -> Vec<Action> {
    let TimeRange { start, end } = document.extent;
    let part = |from: i64, until: i64| {
        let at = |percent: i64| start + Nanos((end - start).0 / 100 * percent);
        TimeRange { start: at(from), end: at(until) }
    };
    let mut actions = vec![Action::Show(part(40, 60)), Action::SelectRange(Some(part(45, 55)))];
    let Some(thread) = document.busiest_thread() else { return actions };
    actions.push(Action::SelectThread(thread));
    let samples = &document.profile.threads[thread.index()].samples;
    let middle = samples.time.partition_point(|time| *time < part(50, 50).start);
    if let (Some(start), Some(Some(stack))) = (samples.time.get(middle), samples.stack.get(middle)) {
        let duration = document.profile.meta.interval.unwrap_or(Nanos(1));
        let picked = Picked { thread, what: PickedKind::Box(*stack), start: *start, duration };
        let function = document.function(*stack);
        actions.push(Action::Pick(Some(picked)));
        actions.push(Action::SelectFunction(Some(function)));
        actions.push(Action::Search(document.function_name(function).to_owned()));
    }
    actions
}

fn opened(path: PathBuf) -> Arc<Document> {
    let loading = Loading::start(path, ReadOptions::default(), &Jobs::immediate());
    Arc::new(loading.poll().expect("the job was done at once").expect("PROFILE is a profile"))
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

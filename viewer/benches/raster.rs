//! What a picture costs: `cargo bench -p traceview-viewer --bench raster`.
//!
//! Prints the time to paint a window full of slices without a GPU: many small rectangles, opaque and translucent, and the
//! labels on them. Times are the shortest of several runs, as a shared machine only ever adds to them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::{Duration, Instant};

use egui::{Color32, Mesh, Rect, Shape, Theme, Ui, pos2, vec2};
use traceview_viewer::headless::Headless;

const WIDTH: f32 = 1600.0;
const HEIGHT: f32 = 1000.0;
const ROW: f32 = 16.0;

fn main() {
    // `cargo bench` adds `--bench`, `cargo test --benches` runs it without: then only whether it runs is of interest.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let runs = if is_bench { 20 } else { 1 };
    for (name, rectangles, labels) in
        [("empty", 0, 0), ("50,000 rectangles", 50_000, 0), ("1,000 labels", 0, 1000), ("both", 50_000, 1000)]
    {
        for pixels_per_point in [1.0, 2.0] {
            let mut window = Headless::new(vec2(WIDTH, HEIGHT), pixels_per_point, Theme::Light);
            window.settle(|ui| draw(ui, rectangles, labels)).expect("nothing in it moves");
            let time = shortest(runs, || drop(std::hint::black_box(window.picture())));
            println!("{name}, {WIDTH} × {HEIGHT} points at {pixels_per_point}: {:.1} ms", time.as_secs_f64() * 1e3);
        }
    }
    let mut window = Headless::new(vec2(WIDTH, HEIGHT), 1.0, Theme::Light);
    window.settle(|ui| draw(ui, 50_000, 1000)).expect("nothing in it moves");
    let picture = window.picture();
    let mut bytes = Vec::new();
    let time = shortest(runs, || {
        bytes.clear();
        picture.to_png(&mut bytes).expect("memory takes it");
    });
    println!("the last as PNG: {:.1} ms, {} bytes", time.as_secs_f64() * 1e3, bytes.len());
}

/// Rows of rectangles in one mesh, every third translucent, and labels.
fn draw(ui: &mut Ui, rectangles: usize, labels: usize) {
    let rows = (HEIGHT / ROW) as usize;
    let a_row = rectangles.div_ceil(rows).max(1);
    let width = WIDTH / a_row as f32;
    let mut mesh = Mesh::default();
    for i in 0..rectangles {
        let (row, column) = (i / a_row, i % a_row);
        let min = pos2(column as f32 * width, row as f32 * ROW);
        let color = Color32::from_rgb((i * 37) as u8, (i * 91) as u8, 160);
        let color = if i % 3 == 0 { color.gamma_multiply(0.6) } else { color };
        mesh.add_colored_rect(Rect::from_min_size(min, vec2(width, ROW - 1.0)), color);
    }
    ui.painter().add(Shape::mesh(mesh));
    let columns = labels.div_ceil(rows).max(1);
    for i in 0..labels {
        let position = pos2((i % columns) as f32 * WIDTH / columns as f32, (i / columns) as f32 * ROW);
        let text = format!("alloc::vec::{i}");
        ui.painter().text(position, egui::Align2::LEFT_TOP, text, egui::FontId::proportional(11.0), Color32::BLACK);
    }
}

fn shortest(runs: usize, mut run: impl FnMut()) -> Duration {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().expect("there is a run")
}

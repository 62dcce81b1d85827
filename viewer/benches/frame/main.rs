//! What frames of the whole window cost: `cargo bench -p traceview-viewer --bench frame`.
//!
//! For two profiles, what a frame of 1600 × 1000 points takes while a person does one thing or another: median and worst
//! of the CPU time of the thread that draws, with all that egui and the panels do and with making triangles of it. What
//! a graphics driver does afterwards is not in it. Everything is seeded: two runs draw the same.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod profile;
#[path = "../shared/mod.rs"]
mod shared;
mod window;

use std::time::Duration;

use egui::{Event, Key, Modifiers, Pos2, pos2};
use traceview_viewer::command::Command;

use window::{Frame, Window, moved, wheel};

/// A place in the flame chart, and one in the tables below it.
const CHART: Pos2 = pos2(900.0, 450.0);
const TABLE: Pos2 = pos2(500.0, 850.0);

fn main() {
    // `cargo bench` adds `--bench`, `cargo test --benches` runs it without: then only whether it runs is of interest.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (frames, scale) = if is_bench { (200, 1) } else { (4, 100) };
    for (name, threads, samples) in
        [("16 threads with 20,000 samples each", 16, 20_000), ("a thread with a million samples", 1, 1_000_000)]
    {
        println!("{name}:");
        let mut bench = Bench { window: Window::open(profile::profile(threads, samples / scale)), frames };
        bench.window.settle();
        bench.run();
    }
}

struct Bench {
    window: Window,
    frames: usize,
}

/// Whether frames are to differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Same,
    Changing,
}

impl Bench {
    fn run(&mut self) {
        self.measure("nothing changes", Expect::Same, |_| Vec::new());
        self.measure("pointer moves over the chart", Expect::Changing, |it| {
            moved(400.0 + (it * 5 % 1000) as f32, 360.0 + (it * 3 % 200) as f32)
        });
        self.zoom("zooming in", 1.05);
        self.zoom("zooming out", 1.0 / 1.05);
        for zoom in [1.5, 12.0, 200.0] {
            self.pan(zoom);
        }
        self.select_range();
        self.scroll_tables();
        self.search();
        self.selected();
    }

    fn zoom(&mut self, name: &str, factor: f32) {
        self.window.frame(moved(CHART.x, CHART.y));
        self.measure(name, Expect::Changing, |_| vec![Event::Zoom(factor)]);
    }

    fn pan(&mut self, zoom: f32) {
        self.show_all();
        self.window.frame(moved(CHART.x, CHART.y));
        self.window.frame(vec![Event::Zoom(zoom)]);
        self.window.settle();
        self.drag(&format!("panning, {zoom} × zoomed in"));
    }

    fn drag(&mut self, name: &str) {
        self.window.button(CHART, true);
        let mut at = CHART;
        self.measure(name, Expect::Changing, |it| {
            at.x += if it % 100 < 50 { -5.0 } else { 5.0 };
            moved(at.x, at.y)
        });
        self.window.button(at, false);
    }

    fn select_range(&mut self) {
        self.show_all();
        self.window.hold_shift(true);
        self.drag("selecting a range");
        self.window.hold_shift(false);
        self.window.press(Key::Escape, Modifiers::NONE);
        self.window.settle();
    }

    fn scroll_tables(&mut self) {
        for (name, panel) in [("scrolling the functions", "functions"), ("scrolling the call tree", "call-tree")] {
            self.window.viewer.show_panel(panel);
            self.window.frame(moved(TABLE.x, TABLE.y));
            if panel == "call-tree" {
                // Something to scroll.
                self.window.click(TABLE);
                self.window.type_text("*");
            }
            self.window.settle();
            self.measure(name, Expect::Changing, |it| wheel(if it % 100 < 50 { -30.0 } else { 30.0 }));
        }
        self.window.viewer.show_panel("functions");
        self.window.settle();
    }

    fn search(&mut self) {
        self.window.press(Key::F, Modifiers::COMMAND);
        self.window.frame(Vec::new());
        self.measure("typing a search", Expect::Changing, |it| match it % 4 {
            0 => vec![Event::Text("_".to_owned())],
            2 => vec![Event::Key {
                key: Key::Backspace,
                physical_key: None,
                pressed: true,
                repeat: false,
                modifiers: Modifiers::NONE,
            }],
            _ => Vec::new(),
        });
        self.window.type_text("crate_3");
        self.window.settle();
        self.measure("a search is active, nothing changes", Expect::Same, |_| Vec::new());
        self.pan_at_rest("panning with a search");
        self.window.press(Key::Escape, Modifiers::NONE);
        self.window.press(Key::Escape, Modifiers::NONE);
        self.window.settle();
    }

    /// With a box and so its function picked: details are shown, boxes are outlined.
    fn selected(&mut self) {
        self.window.click(TABLE);
        self.window.click(CHART);
        self.window.settle();
        self.measure("a box and a function are selected, nothing changes", Expect::Same, |_| Vec::new());
        self.pan_at_rest("panning with them");
    }

    fn pan_at_rest(&mut self, name: &str) {
        self.show_all();
        self.window.frame(moved(CHART.x, CHART.y));
        self.window.frame(vec![Event::Zoom(1.5)]);
        self.window.settle();
        self.drag(name);
    }

    fn show_all(&mut self) {
        let context = self.window.context.clone();
        self.window.viewer.run(Command::ShowAll, &context);
        self.window.settle();
    }

    /// Runs frames with the events that `events` gives for each, and prints what they took.
    fn measure(&mut self, name: &str, expect: Expect, mut events: impl FnMut(usize) -> Vec<Event>) {
        let frames: Vec<Frame> = (0..self.frames).map(|number| self.window.frame(events(number))).collect();
        let changed = frames.windows(2).filter(|pair| pair[0].hash != pair[1].hash).count();
        match expect {
            Expect::Same => assert_eq!(changed, 0, "{name}: frames differ"),
            Expect::Changing => assert!(changed > 0, "{name}: frames don't differ"),
        }
        let mut times: Vec<Duration> = frames.iter().map(|frame| frame.cpu).collect();
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let most = |of: fn(&Frame) -> usize| frames.iter().map(of).max().unwrap_or(0);
        println!(
            "  {name}: median {:.2} ms, worst {:.2} ms; {} quads, {} texts, {} triangles at most; {changed} changes",
            ms(times[times.len() / 2]),
            ms(times[times.len() - 1]),
            most(|frame| frame.quads),
            most(|frame| frame.texts),
            most(|frame| frame.triangles),
        );
    }
}

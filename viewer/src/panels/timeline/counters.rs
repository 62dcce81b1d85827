//! Counters of processes: what a number was over time, as a graph in a row of its own.

use std::sync::Arc;

use egui::{Color32, Rect, vec2};
use rustc_hash::FxHashMap;
use traceview_core::analysis::Unit;
use traceview_core::model::{Color, Counter, CounterGraph, Nanos, Profile, Time, TimeRange};
use traceview_core::report::{format_amount, format_percent};

use super::graph::Graph;
use super::paint::Look;
use crate::document::Document;
use crate::jobs::{Job, Jobs, Poll};
use crate::lod::{Columns, Extremes, NumberSteps};
use crate::scene::Scene;
use crate::widget::TimeView;

/// What the row of a counter shows.
#[derive(Debug)]
pub(super) struct CounterTrack {
    steps: NumberSteps,
    graph: CounterGraph,
    /// The bottom and the top of the graph.
    extremes: Extremes,
}

/// The counters that have come into view so far, by their row in the profile.
#[derive(Default)]
pub(super) struct Counters {
    ready: FxHashMap<usize, CounterTrack>,
    job: Option<Job<Vec<(usize, CounterTrack)>>>,
    generation: u64,
}

/// What stays free above a graph.
const HEADROOM: f32 = 4.0;
/// Columns of a graph, at most.
const MOST_COLUMNS: u32 = 1200;

impl CounterTrack {
    fn build(counter: &Counter, profile: &Profile, end: Time) -> Self {
        let times = counter.time.iter().copied();
        let unit = Numbers::of(profile, counter);
        let steps = match counter.display.graph {
            CounterGraph::Accumulated => {
                let sums = counter.delta.iter().scan(0.0, |sum, delta| {
                    *sum += delta;
                    Some(*sum * unit.scale)
                });
                let exit = profile.processes[counter.process.index()].end;
                NumberSteps::new(times.zip(sums), exit.unwrap_or(end).min(end))
            }
            CounterGraph::Rate => {
                // What changed between two samples did so evenly, for all that is known.
                let changes = counter.time.windows(2).zip(counter.delta.iter().skip(1));
                let rates = changes
                    .filter(|(pair, _)| pair[0] < pair[1])
                    .map(|(pair, delta)| (pair[0], delta / (pair[1] - pair[0]).as_secs_f64() * unit.scale));
                NumberSteps::new(rates, counter.time.last().copied().unwrap_or(end))
            }
        };
        let found = steps.all().unwrap_or(Extremes { least: 0.0, greatest: 0.0 });
        let extremes = Extremes { least: found.least.min(0.0), greatest: found.greatest.max(0.0) };
        Self { steps, graph: counter.display.graph, extremes }
    }

    /// Its greatest number.
    pub(super) fn peak(&self) -> f64 {
        self.extremes.greatest
    }

    /// What it is in the pixel at `at`, which is so long: the number, or the mean of a rate.
    pub(super) fn at(&self, at: Time, pixel: Nanos) -> Option<f64> {
        match self.graph {
            CounterGraph::Accumulated => self.steps.at(at),
            CounterGraph::Rate => self.steps.mean(TimeRange { start: at, end: at + Nanos(pixel.0.max(1)) }),
        }
    }

    /// Draws it: up to the least number of each pixel (of a rate: to the mean) in full, to the greatest faintly.
    pub(super) fn paint(&self, scene: &mut Scene, plot: Rect, look: &Look, color: Color32) {
        let view = TimeView::new(look.visible, plot);
        let most = view.pixels(look.pixels_per_point).min(MOST_COLUMNS);
        let height = self.extremes.greatest - self.extremes.least;
        let (Some(columns), true) = (Columns::covering(look.visible, most), height > 0.0) else { return };
        let area = Rect::from_min_max(plot.min + vec2(0.0, HEADROOM), plot.max - vec2(0.0, 1.0));
        let colors = [color, look.theme.covered(color, 0.25)];
        let mut graph = Graph::new(scene, area, look.pixels_per_point, &colors);
        #[expect(clippy::cast_possible_truncation, reason = "for a height on a screen")]
        let share = |number: f64| ((number - self.extremes.least) / height) as f32;
        for column in 0..columns.count {
            let range = TimeRange { start: columns.edge(column), end: columns.edge(column + 1) };
            let Some(Extremes { least, greatest }) = self.steps.extremes(range) else { continue };
            let full = match self.graph {
                CounterGraph::Accumulated => least,
                CounterGraph::Rate => self.steps.mean(range).unwrap_or(least),
            };
            let end = view.x(range.end).min(view.x(self.steps.end()));
            graph.column(view.x(range.start)..end, &[share(full), share(greatest) - share(full)], colors.len());
        }
        graph.finish();
    }
}

impl Counters {
    /// The track of a counter, when it is ready.
    pub(super) fn get(&self, counter: usize) -> Option<&CounterTrack> {
        self.ready.get(&counter)
    }

    /// Changes whenever some have become ready.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Takes what is ready, and has those of `visible` made that are missing.
    pub(super) fn update(&mut self, document: &Arc<Document>, visible: &[usize], jobs: &Jobs) {
        self.receive();
        let missing: Vec<usize> = visible.iter().copied().filter(|it| !self.ready.contains_key(it)).collect();
        if self.job.is_some() || missing.is_empty() {
            return;
        }
        let document = Arc::clone(document);
        self.job = Some(jobs.start("counters", move |progress| {
            let profile = &document.profile;
            let wanted = missing.into_iter().take_while(|_| !progress.is_cancelled());
            let track = |row: usize| CounterTrack::build(&profile.counters[row], profile, document.extent.end);
            wanted.map(|row| (row, track(row))).collect()
        }));
        self.receive();
    }

    fn receive(&mut self) {
        match self.job.as_ref().map(Job::poll) {
            Some(Poll::Ready(tracks)) => self.ready.extend(tracks),
            Some(Poll::Lost) => {}
            Some(Poll::Pending) | None => return,
        }
        self.generation += 1;
        self.job = None;
    }
}

/// How the numbers of a counter are written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Numbers<'a> {
    unit: &'a str,
    graph: CounterGraph,
    /// What numbers of the file, or their change in a second, are multiplied with.
    scale: f64,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(profile: &'a Profile, counter: &Counter) -> Self {
        let (unit, graph) = (profile.string(counter.display.unit), counter.display.graph);
        // CPU time is counted in ns: a CPU has 10^9 of them in a second.
        let scale = match (unit, graph) {
            ("percent", CounterGraph::Accumulated) => 1e2,
            ("percent", CounterGraph::Rate) => 1e2 / 1e9,
            _ => 1.0,
        };
        Self { unit, graph, scale }
    }

    /// A number with its unit: `12.30 MB`, `87.0 %`.
    pub(super) fn format(&self, number: f64) -> String {
        let amount = match self.unit {
            "bytes" => format_amount(number, Unit::Bytes),
            "percent" => return format_percent(number),
            "" => trimmed(number),
            unit => format!("{} {unit}", trimmed(number)),
        };
        if self.graph == CounterGraph::Rate { format!("{amount}/s") } else { amount }
    }
}

/// A number with two digits behind the point where it has any.
fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    match text.strip_suffix(".00") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// What a counter is called.
pub(super) fn title<'a>(profile: &'a Profile, counter: &Counter) -> &'a str {
    match profile.string(counter.display.label) {
        "" => profile.string(counter.name),
        label => label,
    }
}

/// The colour that its graph has on `look`.
pub(super) fn color(counter: &Counter, look: &Look) -> Color32 {
    look.theme.category(counter.display.color.unwrap_or(Color::Grey))
}

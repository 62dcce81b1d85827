//! The parts of the window that show a profile. [`PANELS`] is the one table of them.

pub mod call_tree;
pub mod details;
pub mod flame_chart;
pub mod flame_graph;
pub mod functions;
pub mod markers;
pub mod slices;
pub mod timeline;

pub(crate) mod amounts;
mod box_names;
mod boxes;
mod counted;
mod labels;
mod legend;
mod scroll_bar;

pub(crate) use amounts::grouped;

use std::sync::Arc;

use egui::{Rect, Ui, Vec2, pos2};
use traceview_core::model::Time;

use crate::action::Action;
use crate::analyses::Analyses;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::scene::Scene;
use crate::search::FunctionSet;
use crate::selection::Selection;
use crate::theme::Theme;

/// What a panel is given in each frame.
pub struct PanelContext<'a> {
    /// What is shown.
    pub document: &'a Arc<Document>,
    /// What is selected.
    pub selection: &'a Selection,
    /// The tables.
    pub analyses: &'a Analyses,
    /// The functions that the search matches; `None`: nothing is searched for.
    pub found: Option<&'a FunctionSet>,
    /// Where in time the pointer was in the last frame, whichever canvas it was over.
    pub pointer: Option<Time>,
    /// Where in time it is now: for the panel that it is over to say.
    pub pointed: &'a mut Option<Time>,
    /// Colours.
    pub theme: &'a Theme,
    /// For work that takes longer than a frame.
    pub jobs: &'a Jobs,
    /// What the person did.
    pub actions: &'a mut Vec<Action>,
}

/// A part of the window that shows a profile.
pub trait Panel {
    /// Draws what it has in the line of the tabs, at their right.
    fn head(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>) {
        let _ = (ui, context);
    }

    /// Draws it and takes its input.
    fn ui(&mut self, ui: &mut Ui, context: &mut PanelContext<'_>);

    /// Forgets what it has made of stacks, functions, samples and waits: all of them have other ids from now on.
    fn forget_stacks(&mut self);

    /// The same as a picture of `size` points without a window; `None` if it is made of widgets.
    fn scene(&mut self, size: Vec2, context: &mut PanelContext<'_>) -> Option<Scene> {
        let _ = (size, context);
        None
    }
}

/// Where in the window a panel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At the top, all along the time axis.
    Top,
    /// Below it, along the same axis.
    Middle,
    /// One of the tabs at the bottom.
    Tab,
    /// At the right of the tabs.
    Side,
}

/// A row of [`PANELS`].
pub struct PanelRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// What its tab is called.
    pub title: &'static str,
    /// Where it is.
    pub place: Place,
    /// Whether it has anything to show of a document.
    pub has: fn(&Document) -> bool,
    /// Makes one for a document.
    pub create: fn() -> Box<dyn Panel>,
}

/// All panels, in the order in which they stand in the window.
pub const PANELS: &[PanelRow] = &[
    PanelRow {
        name: "timeline",
        title: "Timeline",
        place: Place::Top,
        // Without times it is of use to choose threads.
        has: |document| document.timed || document.profile.threads.len() > 1,
        create: || Box::<timeline::Timeline>::default(),
    },
    PanelRow {
        name: "flame-chart",
        title: "Flame chart",
        place: Place::Middle,
        has: |document| document.timed,
        create: || Box::<flame_chart::FlameChart>::default(),
    },
    PanelRow {
        name: "functions",
        title: "Functions",
        place: Place::Tab,
        has: has_stacks,
        create: || Box::<functions::Functions>::default(),
    },
    PanelRow {
        name: "call-tree",
        title: "Call tree",
        place: Place::Tab,
        has: has_stacks,
        create: || Box::<call_tree::CallTree>::default(),
    },
    PanelRow {
        name: "flame-graph",
        title: "Flame graph",
        place: Place::Tab,
        has: |document| has_stacks(document) || !document.timed,
        create: || Box::<flame_graph::FlameGraph>::default(),
    },
    PanelRow {
        name: "slices",
        title: "Slices",
        place: Place::Tab,
        has: |document| document.profile.threads.iter().any(|thread| !thread.slices.is_empty()),
        create: || Box::<slices::Slices>::default(),
    },
    PanelRow {
        name: "markers",
        title: "Markers",
        place: Place::Tab,
        has: |document| document.profile.threads.iter().any(|thread| !thread.markers.is_empty()),
        create: || Box::<markers::Markers>::default(),
    },
    PanelRow {
        name: "details",
        title: "Details",
        place: Place::Side,
        has: |_| true,
        create: || Box::<details::Details>::default(),
    },
];

/// The panel in the middle where there are no times to make a flame chart of.
const MIDDLE_WITHOUT_TIMES: &str = "flame-graph";

impl PanelRow {
    /// Where it is in the window of `document`.
    pub fn place_in(&self, document: &Document) -> Place {
        if !document.timed && self.name == MIDDLE_WITHOUT_TIMES { Place::Middle } else { self.place }
    }
}

/// The panel that a picture of `document` is of, unless another one is named.
pub fn main_panel(document: &Document) -> &'static str {
    let middle = |row: &&PanelRow| row.place_in(document) == Place::Middle && (row.has)(document);
    PANELS.iter().find(middle).map_or("", |row| row.name)
}

/// The tabs that have something to show of `document`; the first ones, which say that there is nothing, if none has.
pub fn tabs_of(document: &Document) -> Vec<&'static PanelRow> {
    let tabs = || PANELS.iter().filter(|row| row.place_in(document) == Place::Tab);
    let full: Vec<&PanelRow> = tabs().filter(|row| (row.has)(document)).collect();
    if full.is_empty() { tabs().take(1).collect() } else { full }
}

fn has_stacks(document: &Document) -> bool {
    document.profile.threads.iter().any(|thread| !thread.samples.is_empty() || !thread.waits.is_empty())
}

/// How wide the names at the left of everything with a time axis are, in points.
pub const GUTTER: f32 = 168.0;
/// How wide scroll bars are. At the right of everything with a time axis this is kept free, so that bars cover no time and
/// all of them are equally wide.
pub const SCROLL_BAR: f32 = 10.0;

/// The part of `row` with the time axis, between the names and the scroll bar.
pub fn plot(row: Rect) -> Rect {
    let left = (row.left() + GUTTER).min(row.right() - 1.0);
    let right = (row.right() - SCROLL_BAR).max(left + 1.0);
    Rect::from_min_max(pos2(left, row.top()), pos2(right, row.bottom()))
}

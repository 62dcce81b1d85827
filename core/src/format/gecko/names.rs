//! The words by which files name colours, kinds and units; each list serves both directions.

use crate::model::{Color, CounterGraph, FlowPhase, FunctionKind, ResourceKind, SymbolStatus, WaitReason, WeightUnit};

/// The schema types that the front end treats specially, by code of its own that expects certain fields.
pub(super) const RESERVED_TYPES: [&str; 13] = [
    "Network",
    "CompositorScreenshot",
    "IPC",
    "GCMajor",
    "GCMinor",
    "GCSlice",
    "Log",
    "FileIO",
    "UserTiming",
    "Text",
    "tracing",
    "Jank",
    "BHR-detected hang",
];

/// The views that a marker can be shown in.
pub(super) const MARKER_VIEWS: [&str; 8] = [
    "marker-chart",
    "marker-table",
    "timeline-overview",
    "timeline-memory",
    "timeline-ipc",
    "timeline-fileio",
    "timeline-network",
    "stack-chart",
];

/// The colours of categories.
pub(super) const COLORS: [(Color, &str); 13] = [
    (Color::Transparent, "transparent"),
    (Color::Purple, "purple"),
    (Color::Green, "green"),
    (Color::Orange, "orange"),
    (Color::Yellow, "yellow"),
    (Color::LightBlue, "lightblue"),
    (Color::Blue, "blue"),
    (Color::Brown, "brown"),
    (Color::Magenta, "magenta"),
    (Color::Red, "red"),
    (Color::LightRed, "lightred"),
    (Color::DarkGrey, "darkgrey"),
    (Color::Grey, "grey"),
];

pub(super) const RESOURCE_KINDS: [(ResourceKind, u8); 6] = [
    (ResourceKind::Unknown, 0),
    (ResourceKind::Library, 1),
    (ResourceKind::Addon, 2),
    (ResourceKind::WebHost, 3),
    (ResourceKind::OtherHost, 4),
    (ResourceKind::Url, 5),
];

pub(super) const WEIGHT_UNITS: [(WeightUnit, &str); 3] =
    [(WeightUnit::Samples, "samples"), (WeightUnit::TracingMs, "tracing-ms"), (WeightUnit::Bytes, "bytes")];

pub(super) const COUNTER_GRAPHS: [(CounterGraph, &str); 2] =
    [(CounterGraph::Accumulated, "line-accumulated"), (CounterGraph::Rate, "line-rate")];

pub(super) const FUNCTION_KINDS: [(FunctionKind, u8); 6] = [
    (FunctionKind::Native, 0),
    (FunctionKind::Unsymbolized, 1),
    (FunctionKind::Kernel, 2),
    (FunctionKind::Cut, 3),
    (FunctionKind::Unsampled, 4),
    (FunctionKind::Script, 5),
];

pub(super) const SYMBOL_STATUSES: [(SymbolStatus, u8); 5] = [
    (SymbolStatus::Unknown, 0),
    (SymbolStatus::DebugInfo, 1),
    (SymbolStatus::SymbolTable, 2),
    (SymbolStatus::Stripped, 3),
    (SymbolStatus::Unavailable, 4),
];

pub(super) const WAIT_REASONS: [(WaitReason, u8); 3] =
    [(WaitReason::Blocked, 0), (WaitReason::Runnable, 1), (WaitReason::Stopped, 2)];

pub(super) const FLOW_PHASES: [(FlowPhase, u8); 3] = [(FlowPhase::Start, 0), (FlowPhase::Step, 1), (FlowPhase::End, 2)];

/// The word of `value`.
///
/// # Panics
/// If a list lacks a value; each is tested to be complete by its round trip.
pub(super) fn word<T: PartialEq, W: Copy>(list: &[(T, W)], value: &T) -> W {
    list.iter().find(|(known, _)| known == value).map(|(_, word)| *word).expect("every value has a word")
}

/// The value of `word`, if it is one.
pub(super) fn value<T: Copy, W: PartialEq>(list: &[(T, W)], word: &W) -> Option<T> {
    list.iter().find(|(_, known)| known == word).map(|(value, _)| *value)
}

/// The nearest of the few colours that graphs and markers can have.
pub(super) const fn graph_color(color: Option<Color>) -> &'static str {
    match color {
        Some(Color::Purple) => "purple",
        Some(Color::Green) => "green",
        Some(Color::Orange | Color::Brown) => "orange",
        Some(Color::Yellow) => "yellow",
        Some(Color::LightBlue | Color::Blue) => "blue",
        Some(Color::Magenta) => "magenta",
        Some(Color::Red | Color::LightRed) => "red",
        Some(Color::Grey | Color::DarkGrey | Color::Transparent) | None => "grey",
    }
}

/// The colour that a graph's colour is in the model.
pub(super) fn color_of_graph(name: &str) -> Option<Color> {
    match name {
        "ink" => Some(Color::DarkGrey),
        "teal" => Some(Color::LightBlue),
        _ => value(&COLORS, &name),
    }
}

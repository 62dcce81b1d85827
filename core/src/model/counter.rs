//! Counters: numbers over time that belong to a process.

use super::category::Color;
use super::ids::{ProcessId, StringId, ThreadId};
use super::time::Time;

/// A number over time.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    /// What it is called.
    pub name: StringId,
    /// What sort of number it is; `Memory`, `CPU`, `Bandwidth`, … have their own views in other tools.
    pub category: StringId,
    /// What it means.
    pub description: StringId,
    /// Whose it is.
    pub process: ProcessId,
    /// The thread that it is shown near to.
    pub main_thread: Option<ThreadId>,
    /// How it is drawn.
    pub display: CounterDisplay,
    /// When; ascending.
    pub time: Vec<Time>,
    /// By how much the number changed since the sample before. The first is its change since the counter's start.
    pub delta: Vec<f64>,
    /// How many operations that took. Optional: empty, or one for each sample.
    pub operations: Vec<i64>,
}

/// How a [`Counter`] is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterDisplay {
    /// The number itself, or its change over time.
    pub graph: CounterGraph,
    /// Its unit: `bytes`, `percent`, `pWh`, or empty.
    pub unit: StringId,
    /// Its colour.
    pub color: Option<Color>,
    /// What it is labelled.
    pub label: StringId,
    /// Where it stands among other counters; smaller is higher up.
    pub sort_weight: i64,
}

/// What of a [`Counter`] is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CounterGraph {
    /// The sum of all changes up to a moment.
    Accumulated,
    /// The change over time.
    Rate,
}

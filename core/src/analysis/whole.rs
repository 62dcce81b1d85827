//! The whole that shares are of.

use super::amount::{Amount, Unit, percent};
use super::filter::Measure;
use super::interval::Interval;

/// What was selected, all in all: the 100 % of a list or tree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Whole {
    /// What was counted.
    pub measure: Measure,
    /// In which unit.
    pub unit: Unit,
    /// All of it.
    pub total: Amount,
    /// How many of its samples are none: amounts of CPU time that no look at the thread stands behind
    /// ([`FunctionKind::Unsampled`](crate::model::FunctionKind::Unsampled)).
    pub unsampled: u64,
    /// The part of it that is in no function and no tree, because it was seen without a stack.
    pub stackless: Amount,
    /// The effective number of samples behind the values, to judge shares by. `None` when waits or slices are
    /// among them: these are measured, not sampled.
    pub effective_samples: Option<f64>,
}

impl Whole {
    /// `value` in percent of all; 0 of nothing.
    pub fn percent(&self, value: f64) -> f64 {
        percent(value, self.total.value)
    }

    /// The 95 % interval of the share that `value` has, where it was sampled.
    pub fn interval(&self, value: f64) -> Option<Interval> {
        Interval::of_share(self.percent(value) / 100.0, self.effective_samples?)
    }
}

//! Allocations that a memory profiler sampled.

use super::ids::{StackId, StringId};
use super::sample::{Values, WeightUnit};
use super::time::Time;

/// Allocations of one thread, one a row, in order of time.
///
/// Optional columns are empty when a profile does not have them; a column that is there has one entry for each row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AllocationTable {
    /// When.
    pub time: Vec<Time>,
    /// How much, in [`weight_unit`](Self::weight_unit); negative when it was freed.
    pub weight: Values,
    /// The unit of `weight`, usually bytes.
    pub weight_unit: WeightUnit,
    /// Who allocated or freed it.
    pub stack: Vec<Option<StackId>>,
    /// Where it is in memory, by which allocation and release belong together. Optional.
    pub address: Vec<Option<u64>>,
    /// The id of the thread that did it. Optional.
    pub thread: Vec<Option<u64>>,
    /// Class of a script object. Optional.
    pub class: Vec<Option<StringId>>,
    /// Its type. Optional.
    pub type_name: Vec<Option<StringId>>,
    /// Its coarse type: `Object`, `String`, … Optional.
    pub coarse_type: Vec<Option<StringId>>,
    /// Whether it was allocated among the young objects. Optional.
    pub in_nursery: Vec<bool>,
}

impl AllocationTable {
    /// How many allocations there are.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }
}

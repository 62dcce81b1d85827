//! Pure functions from a profile and a [`Selection`] to what a view or a report shows.
//!
//! The usual way is `Selection` + [`Measure`] → [`StackValues`] (one pass over the samples), of which
//! [`StackValues::retain`] keeps what is searched for → [`call_tree()`], [`InvertedTree`], [`functions()`],
//! [`crate_shares`], [`groups()`] (passes over the stacks, none of them recursive). A [`Transform`],
//! [`fold_async`] and [`slices_as_samples`] come before all that: they make another profile.

mod amount;
mod async_fold;
mod async_names;
mod call_tree;
mod crates;
mod facts;
mod filter;
mod flame_graph;
mod flows;
mod functions;
mod groups;
mod interval;
mod inverted;
mod labels;
mod named;
mod retain;
mod sample_types;
mod search;
mod slice_list;
mod slices;
mod stack_values;
mod summary;
mod thread_list;
mod transform;
mod tree;
mod wait_list;
mod waits;
mod whole;
mod worth;

#[cfg(test)]
mod brute_force;
#[cfg(test)]
pub(crate) mod fixture;

pub use amount::{Amount, Share, Unit, UnitName, percent};
pub use async_fold::fold_async;
pub use call_tree::{call_tree, callee_tree};
pub use crates::{CrateGroup, CrateShare, crate_shares};
pub use facts::FunctionFacts;
pub use filter::{Measure, NoSuchThread, Selection, select_threads};
pub use flame_graph::{BoxId, FlameGraph};
pub use flows::{
    Chain, FlowList, FlowTimes, HopTimes, Times, arrival as flow_arrival, flow_anchor_start, flow_hops, flow_place,
    flows,
};
pub use functions::{FunctionList, FunctionRow, HotLine, functions};
pub use groups::{GroupBy, GroupKey, GroupList, GroupRow, groups, thread_groups};
pub use interval::Interval;
pub use inverted::InvertedTree;
pub use labels::{LabelKey, NoSuchLabel, label_keys, select_labels};
pub use named::{FunctionNameError, amounts_of, functions_named};
pub use retain::stacks_through;
pub(crate) use sample_types::says_weights;
pub use sample_types::{NoSuchSampleType, SampleType, default_measure, sample_type, sample_types};
pub use search::{FunctionSet, SearchQuery};
pub use slice_list::{SliceList, SliceRow, slice_list};
pub use slices::slices_as_samples;
pub use stack_values::{MeasureError, StackValues, StackWaits};
pub use summary::{CutStacks, ShortWaits, Summary, ThreadActivity, WaitTotal, own_binary, samples_of};
pub use thread_list::{ThreadList, ThreadRow, thread_list};
pub use transform::Transform;
pub use tree::{Callee, GrowingTree, Node, NodeId, Tree};
pub use wait_list::{WaitList, WaitPlace, WaitRow, WaitSum, wait_list};
pub use waits::{TargetKind, WaitKind};
pub use whole::Whole;
pub(crate) use worth::{Worth, counts_without_stack};

//! Self and total of functions, counted the plain way: sample by sample, frame by frame.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use traceview_core::model::{Profile, StackId};

/// Self and total by function.
#[derive(Default)]
pub(crate) struct Tops {
    pub(crate) own: BTreeMap<String, f64>,
    pub(crate) total: BTreeMap<String, f64>,
}

impl Tops {
    /// Of the weights of all samples, frames called as `name` says of their nodes.
    pub(crate) fn of(profile: &Profile, name: impl Fn(StackId) -> String) -> Self {
        let mut tops = Self::default();
        for samples in profile.threads.iter().map(|thread| &thread.samples) {
            for (row, stack) in samples.stack.iter().enumerate() {
                let Some(stack) = *stack else { continue };
                let weight = samples.weight.get(row);
                let nodes = profile.stacks.ancestors(stack);
                let names: BTreeSet<String> = nodes.map(&name).collect();
                names.into_iter().for_each(|name| *tops.total.entry(name).or_default() += weight);
                *tops.own.entry(name(stack)).or_default() += weight;
            }
        }
        tops
    }
}

/// The `[[amount, name], …]` of a file of expected values.
pub(crate) fn expected(list: &Value) -> Vec<(String, f64)> {
    let rows = list.as_array().expect("a list").iter();
    rows.map(|row| (row[1].as_str().expect("a name").to_owned(), row[0].as_f64().expect("an amount"))).collect()
}

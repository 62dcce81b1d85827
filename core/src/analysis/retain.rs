//! Values of stacks that contain certain functions, without the others.

use super::amount::Amount;
use super::stack_values::StackValues;
use crate::model::{FunctionId, Profile};

/// For each stack whether a function on it `matches`.
pub fn stacks_through(profile: &Profile, matches: impl Fn(FunctionId) -> bool) -> Vec<bool> {
    let stacks = &profile.stacks;
    // Callers stand before their callees.
    let mut found: Vec<bool> = Vec::with_capacity(stacks.len());
    for (prefix, frame) in stacks.prefix.iter().zip(&stacks.frame) {
        let above = prefix.is_some_and(|prefix| found[prefix.index()]);
        found.push(above || matches(profile.frames.function[frame.index()]));
    }
    found
}

impl StackValues {
    /// Keeps the values of stacks in which a function `matches`, anywhere. What has no stack goes too.
    ///
    /// Shares stay comparable: [`whole`](Self::whole) remains that of the selection, while `total` is what was kept.
    pub fn retain(&mut self, profile: &Profile, matches: impl Fn(FunctionId) -> bool) {
        self.retain_stacks(&stacks_through(profile, matches));
    }

    /// The same for stacks of which `kept` is true, as [`stacks_through`] finds them.
    pub fn retain_stacks(&mut self, kept: &[bool]) {
        for (own, kept) in self.own.iter_mut().zip(kept) {
            if !kept {
                *own = Amount::default();
            }
        }
        self.waits.retain(|waits| waits.stack.is_some_and(|stack| kept[stack.index()]));
        self.without_stack = Amount::default();
        self.total = self.sum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Measure, Selection, call_tree, functions};
    use super::*;

    #[test]
    fn shares_stay_those_of_the_selection() {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("main", 1);
        fixture.samples(thread, &[("main;a;b", 6), ("main;c", 3)]);
        fixture.sample(thread, 20_000_000, None, Some(1_000_000));
        let profile = fixture.finish();
        let is_a = |function: FunctionId| profile.string(profile.functions.name[function.index()]) == "a";
        let mut values = StackValues::of(&profile, &Selection::default(), Measure::Cpu).expect("all have CPU time");
        let whole = values.whole();
        values.retain(&profile, is_a);
        assert_eq!((values.total.value, values.total.samples), (6e6, 6));
        assert_eq!(values.whole(), whole);
        let tree = call_tree(&profile, &values);
        let shares: Vec<f64> = tree.ids().map(|id| tree.whole.percent(tree.node(id).total.value)).collect();
        assert_eq!(shares, [60.0, 60.0, 60.0], "main, a and b");
        assert_eq!(functions(&profile, &values).rows.len(), 3);
    }
}

//! Slices by name, counted in two ways.

use traceview_core::analysis::{Measure, Selection, StackValues, functions, slice_list, slices_as_samples};
use traceview_core::model::TimeRange;

use super::profile;

/// The same times as by way of stacks.
#[test]
fn the_list_of_slices_agrees_with_slices_as_stacks() {
    for path in [
        "catapult/main_thread_has_unclosed_slices.json",
        "devtools/basic-stack.json.gz",
        "generated/viztracer_flow.json",
    ] {
        assert_agrees(path);
    }
}

fn assert_agrees(path: &str) {
    let profile = profile(path);
    let list = slice_list(&profile, &Selection::default());
    let stacks = slices_as_samples(&profile, TimeRange::ALL);
    let values = StackValues::of(&stacks, &Selection::default(), Measure::Slices).expect("times add up");
    let functions = functions(&stacks, &values);
    let mut expected: Vec<(String, f64, f64)> = functions
        .rows
        .iter()
        .map(|row| {
            let name = stacks.string(stacks.functions.name[row.function.index()]).to_owned();
            (name, row.own.value, row.total.value)
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let mut ours: Vec<(String, f64, f64)> = list
        .rows
        .iter()
        .map(|row| (profile.string(row.name).to_owned(), row.own.0 as f64, row.total.0 as f64))
        .collect();
    expected.sort_by(|left, right| left.0.cmp(&right.0));
    ours.sort_by(|left, right| left.0.cmp(&right.0));
    assert!(ours.len() > 10, "{path}: {}", ours.len());
    // What took no time is in no stack.
    ours.retain(|(_, _, total)| *total > 0.0);
    assert_eq!(ours, expected, "{path}");
    let slices: usize = profile.threads.iter().map(|thread| thread.slices.len()).sum();
    assert_eq!(list.rows.iter().map(|row| row.count).sum::<u64>(), slices as u64, "{path}");
}

//! Stacks are complete, through code with and without frame pointers, or say that they are not.

use traceview_tests::firefox::{Frame, is_function};
use traceview_tests::recording::{number, percent, percentage};

use crate::traceview;

#[test]
fn nearly_all_samples_reach_the_root() {
    let traceview = traceview();
    for (name, args) in [("shares", "1"), ("threads", "1"), ("libc_heavy", "1"), ("families", "fork 300")] {
        let recorded = traceview.record("", name, args);
        let rooted = percent(&recorded.info(), "rooted_percent");
        assert!(rooted >= 99.0, "{name} {args}: {rooted} % rooted");
    }
}

#[test]
fn the_functions_that_called_into_libc_are_on_the_stack() {
    const CALLERS: [&str; 4] = ["alloc_work", "fill_work", "move_work", "sort_work"];
    let traceview = traceview();
    let recorded = traceview.record("", "libc_heavy", "2");
    let (truth, file) = (recorded.truth(), recorded.file());
    let in_libc = |frames: &[&Frame]| frames.first().is_some_and(|leaf| leaf.library.starts_with("libc"));
    let below = |frames: &[&Frame]| {
        CALLERS.iter().filter(|caller| frames.iter().any(|f| is_function(&f.function, caller))).count()
    };
    let all = file.cpu_where(in_libc);
    assert!(percentage(all, file.cpu()) > 50.0, "half of the work is in libc, not {all} of {} ns", file.cpu());
    let with_caller = file.cpu_where(|frames| in_libc(frames) && below(frames) == 1);
    assert!(percentage(with_caller, all) >= 99.0, "{with_caller} of {all} ns in libc have exactly one caller");
    for caller in CALLERS {
        let expected = percentage(number(&truth, caller), number(&truth, "total"));
        let sampled = percentage(file.cpu_below(caller), file.cpu());
        // 2,000 samples: the standard error is at most 1.1 points.
        assert!((sampled - expected).abs() < 5.0, "{caller}: {sampled:.1} % sampled, {expected:.1} % in truth");
    }
    // The callback of qsort lies above libc's frames, which lie above the caller.
    let callbacks = file.cpu_where(|frames| {
        frames.iter().any(|f| f.function == "compare_numbers" || is_function(&f.function, "compare_numbers"))
    });
    assert!(callbacks > 0, "the callback was never seen");
}

#[test]
fn a_frame_of_megabytes_is_passed() {
    let traceview = traceview();
    let recorded = traceview.record("", "deep", "frame 0.5");
    let file = recorded.file();
    let order = ["leaf_below_big_frame", "big_frame", "above_big_frame"];
    let complete = file.cpu_where(|frames| {
        let ours = frames.iter().filter_map(|frame| order.iter().find(|&&name| is_function(&frame.function, name)));
        ours.eq(order.iter())
    });
    let expected = number(&recorded.truth(), "cpu_ns");
    let share = percentage(complete, expected);
    assert!(share >= 90.0, "{share:.1} % of {expected} ns have the whole stack");
}

#[test]
fn a_very_deep_stack_is_whole_or_marked_as_cut() {
    const DEPTH: usize = 100_000;
    let traceview = traceview();
    // Each of these samples costs long, and on a busy machine there are few in a second.
    let recorded = traceview.record("", "deep", "recursion 100000 1.5");
    let file = recorded.file();
    let samples = file.threads_named("tv-deep").flat_map(|thread| &thread.samples).filter(|sample| sample.cpu_ns > 0);
    let (mut at_the_bottom, mut whole) = (0, 0);
    for sample in samples {
        if file.frames(sample.stack).any(|frame| is_function(&frame.function, "deep_leaf")) {
            at_the_bottom += 1;
            let levels = file.frames(sample.stack).filter(|frame| is_function(&frame.function, "descend")).count();
            whole += u64::from(levels == DEPTH + 1);
        }
    }
    assert!(at_the_bottom >= 20, "only {at_the_bottom} samples at the bottom");
    let marked = number(&recorded.info(), "truncated");
    assert!(whole + marked >= at_the_bottom, "{at_the_bottom} samples, {whole} whole, {marked} marked as cut");
}

#[test]
fn moderately_deep_stacks_are_whole() {
    let traceview = traceview();
    let recorded = traceview.record("", "deep", "recursion 2000 0.3");
    let file = recorded.file();
    let descends = |frames: &[&Frame]| frames.iter().filter(|frame| is_function(&frame.function, "descend")).count();
    let is_leaf = |frames: &[&Frame]| frames.iter().any(|frame| is_function(&frame.function, "deep_leaf"));
    let all = file.cpu_where(is_leaf);
    let whole = file.cpu_where(|frames| is_leaf(frames) && descends(frames) == 2001);
    assert!(all > 200_000_000, "{all} ns in the leaf");
    assert!(percentage(whole, all) >= 99.0, "{whole} of {all} ns have all 2,001 levels");
}

//! Programs with many stacks and long memory maps.

use traceview_tests::recording::number;

use crate::traceview;

#[test]
fn a_program_with_many_stacks_and_a_long_memory_map_is_not_held_for_long() {
    let traceview = traceview();
    let recorded = traceview.record("", "switches", "20000 64 500");
    assert_eq!(recorded.finished.code, 0, "{}", recorded.finished.stderr);
    let truth = recorded.truth();
    let (wall, cpu) = (number(&truth, "wall_ns"), number(&truth, "cpu_ns"));
    // Reading such a map takes longer than a sampling period; at each sample it would take twenty times as long as alone.
    assert!(wall < 8 * cpu, "{wall} ns for {cpu} ns of work");
}

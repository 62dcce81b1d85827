//! Rows and the parts of the panel.

use super::*;
use crate::testing::profiles::workers;
use crate::testing::{TestProfile, document};

#[test]
fn rows_in_view_are_those_that_are_touched() {
    let rows = Rows::new(&document(workers(5000)), &Folding::default());
    assert_eq!(rows.height(), 5000.0 * TRACK);
    assert_eq!(rows.visible(0.0, 1.0), 0..1);
    assert_eq!(rows.visible(TRACK, 2.0 * TRACK), 1..2);
    assert_eq!(rows.visible(TRACK - 1.0, 2.0 * TRACK + 1.0), 0..3);
    assert_eq!(rows.visible(rows.height() - 1.0, rows.height() + 100.0), 4999..5000);
    assert!(rows.visible(rows.height(), rows.height() + 1.0).is_empty());
    for index in [0, 1, 77, 4999] {
        let (row, y) = rows.get(index);
        assert_eq!(rows.at(y.start), Some(row));
        assert_eq!(rows.at(y.end - 0.5), Some(row));
    }
    assert_eq!((rows.at(-0.5), rows.at(rows.height())), (None, None));
}

#[test]
fn scrolling_to_a_row_goes_no_further_than_needed() {
    let rows = Rows::new(&document(workers(100)), &Folding::default());
    let height = 10.0 * TRACK;
    assert_eq!(rows.scroll_to(5, 0.0, height), 0.0, "it is in view");
    assert_eq!(rows.scroll_to(10, 0.0, height), TRACK);
    assert_eq!(rows.scroll_to(10, 50.0 * TRACK, height), 10.0 * TRACK);
    assert_eq!(rows.scroll_to(99, 0.0, height), rows.most_scroll(height));
    assert_eq!(rows.most_scroll(1e6), 0.0);
}

#[test]
fn neighbours_are_threads_and_end_at_the_ends() {
    let mut profile = TestProfile::new();
    for pid in 0..2 {
        profile.process("p", pid);
        for samples in [2, 1] {
            let thread = profile.thread("t");
            profile.more_samples(thread, samples, "main");
        }
    }
    let rows = Rows::new(&document(profile.finish()), &Folding::default());
    let [first, second, third, last] = [0, 1, 2, 3].map(ThreadId::new);
    assert_eq!(rows.neighbour(None, true), Some(first));
    assert_eq!(rows.neighbour(Some(second), true), Some(third), "over the name of a process");
    assert_eq!(rows.neighbour(Some(third), false), Some(second));
    assert_eq!((rows.neighbour(Some(first), false), rows.neighbour(Some(last), true)), (None, None));
}

#[test]
fn processes_of_one_thread_each_have_no_lines_of_their_own() {
    let mut profile = TestProfile::new();
    for pid in 0..3 {
        profile.process("p", pid);
        let thread = profile.thread("t");
        profile.more_samples(thread, 1, "main");
    }
    let rows = Rows::new(&document(profile.finish()), &Folding::default());
    assert!(rows.single_threads);
    assert_eq!(rows.height(), 3.0 * TRACK);
}

#[test]
fn the_panel_is_as_high_as_its_rows_or_shows_whole_ones() {
    let above = OVERVIEW + RULER;
    let bottoms: Vec<f32> = (1..=500u16).map(|row| f32::from(row) * TRACK).collect();
    assert_eq!(fitting_height(&bottoms[..3], 720.0), above + 3.0 * TRACK);
    assert_eq!(fitting_height(&bottoms, 720.0), above + 10.0 * TRACK, "288 points hold ten tracks");
    assert_eq!(fitting_height(&bottoms, 60.0), above + 2.0 * TRACK);
    assert_eq!(fitting_height(&[], 720.0), above);
}

#[test]
fn parts_of_a_flat_panel_do_not_stick_out() {
    let rect = Rect::from_min_max(pos2(10.0, 20.0), pos2(60.0, 50.0));
    for timed in [false, true] {
        let areas = Areas::of(rect, timed);
        for part in [areas.overview, areas.ruler, areas.tracks] {
            assert!(rect.contains_rect(part), "{part:?}");
            assert!(plot(part).width() >= 1.0 && !gutter(part).is_negative());
        }
    }
}

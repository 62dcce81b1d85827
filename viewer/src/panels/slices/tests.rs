//! What a person sees and does in the slices panel.

use egui::{Key, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use traceview_core::model::{Profile, SliceId, ThreadId, Time, TimeRange};

use super::Slices;
use crate::action::Action;
use crate::selection::{Picked, PickedKind};
use crate::testing::{self, MS, Test, TestProfile, act, press};

type Window = Test<Slices>;

fn open(profile: Profile) -> Window {
    testing::open_with_head(profile, vec2(1280.0, 300.0))
}

/// `frame` 0–10, beside it `draw` 2–5, and `frame` 20–40 on one thread; `draw` 0–30 on another.
fn frames() -> Profile {
    let mut profile = TestProfile::recorded();
    let [first, second] = ["render", "upload"].map(|name| profile.thread(name));
    profile.slice(first, 0..10, "frame");
    profile.slice(first, 2..5, "draw");
    profile.slice(first, 20..40, "frame");
    profile.slice(second, 0..30, "draw");
    profile.finish()
}

/// What the visible rows say.
fn rows(window: &Window) -> Vec<String> {
    let rows = window.root().children_recursive().filter(|node| node.accesskit_node().role() == egui::Role::Row);
    rows.map(|node| node.accesskit_node().label().expect("rows say something")).collect()
}

fn picked(thread: usize, slice: usize, ms: std::ops::Range<i64>) -> Picked {
    let [start, end] = [ms.start, ms.end].map(|ms| Time(ms * MS));
    let (thread, what) = (ThreadId::new(thread), PickedKind::Slice(SliceId::new(slice)));
    Picked { thread, what, start, duration: end - start }
}

#[test]
fn slices_are_listed_by_name() {
    let window = open(frames());
    let expected = [
        "draw, self time 33.0 ms, self % 52.4 %, total time 33.0 ms, total % 52.4 %, count 2, mean 16.5 ms, longest 30.0 ms, \
         category Other",
        "frame, self time 30.0 ms, self % 47.6 %, total time 30.0 ms, total % 47.6 %, count 2, mean 15.0 ms, longest 20.0 \
         ms, category Other",
    ];
    assert_eq!(rows(&window), expected);
    window.get_by_label("Time in slices 63.0 ms · all 2 threads · whole time · 4 slices");
}

#[test]
fn a_click_selects_the_longest_and_what_is_selected_elsewhere_is_marked() {
    let mut window = open(frames());
    window.get_by_label_contains("frame,").click();
    window.run();
    assert_eq!(window.state().actions, [Action::JumpTo(picked(0, 2, 20..40))]);
    press(&mut window, Key::ArrowUp);
    assert_eq!(window.state().actions.last(), Some(&Action::JumpTo(picked(1, 0, 0..30))));

    // The short one, in the chart: its row is marked, and a click on that leaves it selected.
    act(&mut window, &Action::Pick(Some(picked(0, 1, 2..5))));
    let row = window.get_by_label_contains("draw,");
    assert_eq!(row.accesskit_node().is_selected(), Some(true));
    row.click();
    window.run();
    assert_eq!(window.state().actions.len(), 2);
    press(&mut window, Key::Enter);
    let longest = picked(1, 0, 0..30);
    assert_eq!(window.state().actions[2..], [Action::JumpTo(longest), Action::Show(longest.range())]);
}

#[test]
fn a_range_and_a_search_restrict_it() {
    let mut window = open(frames());
    act(&mut window, &Action::Search("RAM".to_owned()));
    assert_eq!(rows(&window).len(), 1);
    window.get_by_label("1 of 2 names");
    act(&mut window, &Action::Search("nowhere".to_owned()));
    window.get_by_label("No slice here has a name that matches the search.");
    window.get_by_label("Clear the search").click();
    window.run();
    assert_eq!(window.state().actions, [Action::Search(String::new())]);

    act(&mut window, &Action::Search(String::new()));
    let range = TimeRange { start: Time(50 * MS), end: Time(60 * MS) };
    act(&mut window, &Action::SelectRange(Some(range)));
    window.get_by_label("No slices between 50.0 ms and 60.0 ms.");
    window.get_by_label("Count the whole time");
}

#[test]
fn a_click_on_a_title_sorts() {
    let mut window = open(frames());
    window.get_by_label("longest").click();
    window.run();
    window.get_by_label("longest").click();
    window.run();
    let first = |window: &Window| rows(window)[0].split(", ").next().map(str::to_owned);
    let ways = ["longest", "longest", "slice", "slice"].map(|title| {
        window.get_by_label(title).click();
        window.run();
        first(&window)
    });
    assert_ne!(ways[0], ways[1]);
    assert_ne!(ways[2], ways[3]);
}

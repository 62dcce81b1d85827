//! The details in a window without a screen.

use egui::vec2;
use egui_kittest::kittest::Queryable;
use traceview_core::model::{FlowAnchor, FlowPhase, Nanos, Profile, SliceId, ThreadId, Time, Warning};

use super::Details;
use crate::action::Action;
use crate::command::Command;
use crate::selection::{Picked, PickedKind};
use crate::testing::profiles::{deep, family, marker_named, simple};
use crate::testing::{self, MS, Test, TestProfile, act};

fn details(profile: Profile) -> Test<Details> {
    testing::open(profile, vec2(1000.0, 400.0))
}

fn pick(test: &mut Test<Details>, thread: usize, what: PickedKind, start: i64, duration: i64) {
    let (start, duration) = (Time(start * MS), Nanos(duration * MS));
    act(test, &Action::Pick(Some(Picked { thread: ThreadId::new(thread), what, start, duration })));
}

fn assert_shows(test: &Test<Details>, texts: &[&str]) {
    for text in texts {
        assert!(test.query_all_by_label(text).next().is_some(), "{text} is missing in {test:?}");
    }
}

#[test]
fn without_a_pick_it_says_what_to_click() {
    let test = details(simple());
    assert!(test.query_by_label_contains("Click a box or a function").is_some());
}

#[test]
fn a_box_is_told_with_its_samples_and_stack() {
    let mut test = details(simple());
    let work = test.state().document.profile.threads[0].samples.stack[50].expect("main;work:14");
    pick(&mut test, 0, PickedKind::Box(work), 40, 20);
    assert_shows(&test, &["work", "Function call", "20.0 ms", "0.040000 s", "20.0 ms in 20 samples", "main (tid 101)"]);
    assert_shows(&test, &["demo (pid 100)", "Workspace", "Stack, innermost first (2 frames)"]);
    test.get_by_label("Copy stack").click();
    test.run();
    assert_eq!(test.state().copied(), Some("work\nmain\n"));
    test.get_by_label("main").click();
    test.run();
    assert_eq!(test.state().selected(), Some("main"));
    // The function stands above the box, and its share of what is counted with it: 80 samples of `main` and 40 of `tracer`.
    assert_shows(&test, &["Function", "120 ms (100.0 %)", "0 self, 120 total"]);
}

#[test]
fn a_function_that_is_selected_in_a_table_is_told() {
    let mut test = details(simple());
    let work = test.state().document.profile.threads[0].samples.stack[50].expect("main;work:14");
    let work = test.state().document.function(work);
    act(&mut test, &Action::SelectFunction(Some(work)));
    assert_shows(&test, &["Function", "work", "Hottest line"]);
    assert!(test.query_by_label_contains("Click a box or a function").is_none());
}

#[test]
fn slices_show_their_arguments_and_waits_their_reason() {
    let mut test = details(simple());
    pick(&mut test, 2, PickedKind::Slice(SliceId::new(0)), 10, 40);
    assert_shows(&test, &["request", "Slice", "url", "http://localhost/", "tracer (tid 103)"]);
    pick(&mut test, 1, PickedKind::Wait(0), 0, 70);
    assert_shows(&test, &["read pipe", "Wait", "System call", "pipe", "Stack, innermost first (2 frames)"]);
}

#[test]
fn a_marker_is_told_with_what_it_is_linked_with() {
    let mut test: Test<Details> = testing::open(family(), vec2(1000.0, 900.0));
    let fork = marker_named(&test.state().document.profile, ThreadId::new(0), "fork");
    let fork =
        Picked { thread: ThreadId::new(0), what: PickedKind::Marker(fork), start: Time(20 * MS), duration: Nanos(0) };
    act(&mut test, &Action::JumpTo(fork));
    assert_shows(&test, &["fork", "Marker", "Time", "0.020000 s", "sh (tid 101)", "Kernel", "child", "200"]);
    assert_shows(&test, &["10 stations, 70.0 ms", "Stack, innermost first (3 frames)"]);
    assert!(test.query_by_label("Duration").is_none(), "a moment has none");
    test.get_by_label("→ process start in tool, +120 µs, 120 µs since the start").click();
    test.run();
    let picked = test.state().selection().picked.expect("the other end");
    assert_eq!((picked.thread, picked.start), (ThreadId::new(1), Time(20 * MS + 120_000)));
    test.get_by_label("← fork in sh, 0 ns since the start").click();
    test.run();
    assert_eq!(test.state().selection().picked, Some(fork));
    test.get_by_label("whole chain").click();
    test.run();
    assert!(test.state().selection().chain);
}

#[test]
fn of_a_deep_stack_only_rows_in_sight_are_made() {
    let mut test = details(deep(100_000, 1));
    let leaf = test.state().document.profile.threads[0].samples.stack[0].expect("it has a stack");
    pick(&mut test, 0, PickedKind::Box(leaf), 0, 1);
    assert_shows(&test, &["Stack, innermost first (100000 frames)"]);
    let rows = test.query_all_by_role(egui::Role::ListItem).count();
    assert!((1..40).contains(&rows), "{rows}");
}

#[test]
fn what_is_missing_in_a_flow_is_said_and_leads_to_the_warnings() {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("main");
    let members: Vec<_> = (0..1_000)
        .map(|at| ((thread, at, FlowAnchor::Marker(profile.instant(thread, at, "hop", None))), FlowPhase::Step))
        .collect();
    profile.flow_of_phases("long", &members);
    profile.builder.meta_mut().warnings = vec![Warning {
        code: "flow-no-slice".to_owned(),
        message: "phases of flows that lie in no slice are in no flow".to_owned(),
        count: 7,
        first: None,
    }];
    let mut test: Test<Details> = testing::open(profile.finish(), vec2(400.0, 900.0));
    let middle = test.state().document.markers[0].spans()[500].picked(thread);
    act(&mut test, &Action::JumpTo(middle));
    let rows = test.query_all_by_role(egui::Role::ListItem).count();
    assert!((5..15).contains(&rows), "{rows}");
    // What is selected is in sight, between its neighbours.
    assert_shows(
        &test,
        &["← hop in main, +1 ns, 499 ns since the start", "hop in main, +1 ns, 500 ns since the start"],
    );
    assert_shows(&test, &["→ hop in main, +1 ns, 501 ns since the start"]);
    assert!(test.query_by_label_contains("“long” has no beginning").is_some());
    assert!(test.query_by_label_contains("“long” has no end").is_some());
    test.get_by_label_contains("7 phases of flows").click();
    test.run();
    assert_eq!(test.state().actions.last(), Some(&Action::Run(Command::Warnings)));
}

//! What a person sees and does in the markers panel.

use std::time::Instant;

use egui::{Event, Key, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use traceview_core::analysis;
use traceview_core::model::{FieldValue, MarkerTiming, Nanos, Profile, ThreadId, Time, TimeRange};

use super::Markers;
use super::order::{Found, Ordered, Wanted};
use crate::action::Action;
use crate::command::Command;
use crate::jobs::Progress;
use crate::search::SearchQuery;
use crate::selection::PickedKind;
use crate::testing::{self, MS, Test, TestProfile, act, document, press};
use crate::widget::Sort;

type Window = Test<Markers>;

fn open(profile: Profile) -> Window {
    testing::open_with_head(profile, vec2(1280.0, 300.0))
}

/// `load` at 5 ms with data and `paint` 20–30 ms on one thread, a `tick` at 10 ms on another.
fn three() -> Profile {
    let mut profile = TestProfile::recorded();
    let [main, other] = ["main", "worker"].map(|name| profile.thread(name));
    profile.marker(main, MarkerTiming::Interval(Time(20 * MS), Time(30 * MS)), "paint", None);
    let load = profile.instant(main, 5 * MS, "load", None);
    let file = FieldValue::Text(profile.builder.string("a.css"));
    profile.marker_data(main, load, &[("file", "string", file), ("took", "duration", FieldValue::Float(1.5))]);
    profile.instant(other, 10 * MS, "tick", None);
    profile.finish()
}

fn rows(window: &Window) -> Vec<String> {
    let rows = window.root().children_recursive().filter(|node| node.accesskit_node().role() == egui::Role::Row);
    rows.map(|node| node.accesskit_node().label().expect("rows say something")).collect()
}

fn names(window: &Window) -> Vec<String> {
    rows(window).iter().map(|row| row.split(", ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn markers_of_all_threads_are_listed_in_order_of_time() {
    let window = open(three());
    let expected = [
        "load, start 0.005000 s, thread main, details file: a.css, took: 1.50 ms, category Kernel",
        "tick, start 0.010000 s, thread worker, category Kernel",
        "paint, start 0.020000 s, duration 10.0 ms, thread main, category Kernel",
    ];
    assert_eq!(rows(&window), expected);
    window.get_by_label("3 markers · all 2 threads · whole time");
}

#[test]
fn titles_sort() {
    let mut window = open(three());
    for (title, expected) in [
        ("duration", ["paint", "tick", "load"]),
        ("duration", ["load", "tick", "paint"]),
        ("marker", ["load", "paint", "tick"]),
        ("thread", ["load", "paint", "tick"]),
        ("details", ["tick", "paint", "load"]),
        ("start", ["paint", "tick", "load"]),
        ("start", ["load", "tick", "paint"]),
    ] {
        window.get_by_label(title).click();
        window.run();
        let found = names(&window);
        if title == "details" {
            assert_eq!(found.last().map(String::as_str), Some("load"), "the only one with any");
        } else {
            assert_eq!(found, expected, "{title}");
        }
    }
}

#[test]
fn what_is_selected_is_the_same_everywhere() {
    let mut window = open(three());
    window.get_by_label_contains("tick,").click();
    window.run();
    let picked = window.state().selection().picked.expect("a marker is selected");
    assert_eq!((picked.thread, picked.start), (ThreadId::new(1), Time(10 * MS)));
    press(&mut window, Key::ArrowDown);
    let picked = window.state().selection().picked.expect("a marker is selected");
    assert_eq!((picked.start, picked.duration), (Time(20 * MS), Nanos(10 * MS)));
    press(&mut window, Key::Enter);
    assert_eq!(window.state().actions.last(), Some(&Action::Run(Command::ShowSelected)));
    window.event(Event::Copy);
    window.run();
    assert_eq!(window.state().copied(), Some("0.020000\t10.000000\tpaint\tmain\t\tKernel"));

    let load = window.state().document.markers[0].spans()[0].picked(ThreadId::new(0));
    act(&mut window, &Action::JumpTo(load));
    assert_eq!(window.get_by_label_contains("load,").accesskit_node().is_selected(), Some(true));
}

#[test]
fn a_search_finds_names_and_data_and_a_range_what_is_in_it() {
    let mut window = open(three());
    act(&mut window, &Action::Search("A.CSS".to_owned()));
    assert_eq!(names(&window), ["load"]);
    window.get_by_label("1 of 3 markers");
    act(&mut window, &Action::Search("nowhere".to_owned()));
    window.get_by_label("Clear the search").click();
    window.run();
    act(&mut window, &Action::Search(String::new()));
    let range = |start: i64, end: i64| TimeRange { start: Time(start * MS), end: Time(end * MS) };
    act(&mut window, &Action::SelectRange(Some(range(10, 22))));
    assert_eq!(names(&window), ["tick", "paint"], "also what is in it in part");
    act(&mut window, &Action::SelectThread(ThreadId::new(1)));
    assert_eq!(names(&window), ["tick"]);
    act(&mut window, &Action::SelectRange(Some(range(40, 50))));
    window.get_by_label("No markers between 40.0 ms and 50.0 ms in the selected threads.");
}

/// A million markers of a hundred names.
fn million() -> Profile {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("main");
    let names: Vec<String> = (0..100).map(|number| format!("name {number}")).collect();
    for row in 0..1_000_000_i64 {
        let name = &names[usize::try_from(row % 100).expect("it is small")];
        profile.instant(thread, row * 90, name, None);
    }
    profile.finish()
}

#[test]
fn of_a_million_only_those_in_sight_are_made() {
    let mut window = open(million());
    assert!((5..30).contains(&rows(&window).len()));
    window.get_by_label_contains("1,000,000 markers");
    let last = window.state().document.markers[0].spans()[999_999].picked(ThreadId::new(0));
    act(&mut window, &Action::JumpTo(last));
    assert!(names(&window).contains(&"name 99".to_owned()));
    let started = Instant::now();
    (0..10).for_each(|_| window.step());
    let frame = started.elapsed() / 10;
    assert!(frame.as_millis() < 300, "a frame of a debug build took {frame:?}");
    assert!(matches!(window.state().selection().picked.map(|it| it.what), Some(PickedKind::Marker(_))));
}

#[test]
fn work_that_is_not_wanted_any_more_stops() {
    let document = document(three());
    let wanted = Wanted {
        selection: analysis::Selection::default(),
        query: SearchQuery::parse("t"),
        sort: Sort { key: "name", descending: true },
    };
    let progress = Progress::default();
    let found = Found::of(&document, &wanted, &progress).expect("it was not cancelled");
    assert_eq!((found.rows.len(), found.all), (3, 3), "`took` is the name of data");
    let ordered = Ordered::new(&document, found.into(), wanted.clone());
    assert_eq!(ordered.picked(&document, 0).start, Time(10 * MS));
    progress.cancel();
    assert!(Found::of(&document, &wanted, &progress).is_none());
}

//! Markers, arrows and counters of the panel as a person meets them.

use std::sync::Arc;

use egui::{Pos2, Rect, pos2, vec2};
use egui_kittest::kittest::Queryable;
use traceview_core::model::{Color, CounterGraph, FlowAnchor, Nanos, Profile, SliceId, ThreadId, Time, TimeRange};

use super::Timeline;
use super::layout::{MARKER_LANE, MARKERS, TRACK};
use crate::action::Action;
use crate::document::Document;
use crate::flows::{self, Way};
use crate::panels::SCROLL_BAR;
use crate::scene::Scene;
use crate::selection::{Picked, PickedKind};
use crate::testing::profiles::{family, marker_named};
use crate::testing::{self, MS, Test, TestProfile, act, click};
use crate::theme::Theme;

type Window = Test<Timeline>;

fn window(profile: Profile) -> Window {
    testing::open(profile, vec2(1168.0 + SCROLL_BAR, 356.0))
}

fn picked(document: &Document, thread: usize, name: &str) -> Picked {
    let thread = ThreadId::new(thread);
    let markers = &document.markers[thread.index()];
    markers.spans()[markers.position(marker_named(&document.profile, thread, name))].picked(thread)
}

/// Where a marker is drawn.
fn place(window: &Window, picked: &Picked, title: &str) -> Pos2 {
    let tracks = window.get_by_label("Timeline").rect();
    let TimeRange { start, end } = window.state().selection().visible;
    let share = (picked.start - start).as_secs_f64() / (end - start).as_secs_f64();
    let row = window.get_by_label_contains(title).rect();
    pos2(tracks.left() + tracks.width() * share as f32, row.top() + MARKER_LANE)
}

fn arrows(scene: &Scene) -> usize {
    scene.lines.iter().filter(|line| line.color == Theme::dark().arrow).count()
}

#[test]
fn a_click_on_a_marker_selects_it_and_elsewhere_the_thread() {
    let mut window = window(family());
    let fork = picked(&window.state().document, 0, "fork");
    let at = place(&window, &fork, "sh (main)");
    click(&mut window, at + vec2(2.0, 1.0));
    assert_eq!(window.state().selection().picked, Some(fork));
    assert_eq!(window.state().selection().threads, None, "it stays one of all");
    click(&mut window, at + vec2(60.0, 0.0));
    assert_eq!(window.state().selection().threads, Some(vec![ThreadId::new(0)]), "beside it there is only the track");
    window.state_mut().act(&Action::SelectAllThreads);
    click(&mut window, at + vec2(0.0, TRACK / 2.0 + MARKERS));
    assert_eq!(window.state().selection().threads, Some(vec![ThreadId::new(0)]), "and below it");
}

#[test]
fn a_marker_is_told_with_its_data_its_stack_and_where_it_leads() {
    let mut window = window(family());
    let fork = picked(&window.state().document, 0, "fork");
    let at = place(&window, &fork, "sh (main)");
    window.hover_at(at);
    window.run_steps(40);
    let lines = [
        "fork",
        "Time: 0.020000 s",
        "Category: Kernel",
        "child: 200",
        "in fork",
        "leads to: process start in tool, 120 µs later",
    ];
    for line in lines {
        assert!(window.query_by_label(line).is_some(), "{line} is missing in {window:?}");
    }
}

#[test]
fn the_arrows_of_the_selected_marker_are_drawn_and_only_those() {
    let mut window = window(family());
    let size = vec2(1168.0 + SCROLL_BAR, 400.0);
    assert_eq!(arrows(&window.state_mut().scene(size)), 0);
    let start = picked(&window.state().document, 1, "process start");
    act(&mut window, &Action::Pick(Some(start)));
    let direct = arrows(&window.state_mut().scene(size));
    assert!(direct > 10, "{direct}");
    let faint = |scene: &Scene| scene.lines.iter().filter(|line| line.color == Theme::dark().faint_arrow()).count();
    assert_eq!(faint(&window.state_mut().scene(size)), 0);
    act(&mut window, &Action::ShowChain(true));
    let scene = window.state_mut().scene(size);
    assert_eq!(arrows(&scene), direct);
    assert!(faint(&scene) >= 4 * direct, "two threads, a join and a wait came of it: {}", faint(&scene));
    let tracks = Rect::from_min_max(pos2(0.0, 60.0), size.to_pos2());
    assert!(scene.lines.iter().all(|line| tracks.contains(line.from) && tracks.contains(line.to)));
}

/// A thread that starts many, which show nothing but their own starts and exits; and two processes.
fn crowd(children: i64) -> Profile {
    let mut profile = TestProfile::recorded();
    let main = profile.main_thread("main");
    profile.samples(main, 0..100, "main");
    for number in 0..children {
        let child = profile.thread(&format!("child-{number}"));
        let time = MS + number * 1000;
        let [from, to] = [(main, time, "spawn"), (child, time + 500, "thread start")].map(|(thread, time, name)| {
            let marker = profile.instant(thread, time, name, None);
            (thread, time, FlowAnchor::Marker(marker))
        });
        profile.flow("thread", &[from, to]);
    }
    profile.finish()
}

#[test]
fn following_an_arrow_brings_a_hidden_track_into_sight() {
    let mut window = window(crowd(200));
    assert!(window.query_by_label("200 threads without samples").is_some(), "a start alone is no work");
    let document = Arc::clone(&window.state().document);
    let last = document.markers[0].spans()[199].picked(ThreadId::new(0));
    act(&mut window, &Action::JumpTo(last));
    let there = document.flows.follow(&document, &last, Way::Forward).expect("it started a thread");
    act(&mut window, &Action::JumpTo(there));
    assert!(window.query_by_label_contains("child-199").is_some(), "it was unfolded and scrolled to");
    let back = document.flows.follow(&document, &there, Way::Back);
    assert_eq!(back, Some(last));
    act(&mut window, &Action::JumpTo(last));
    assert!(window.query_by_label_contains("main, 100 ms").is_some(), "and back");
}

#[test]
fn arrows_to_tracks_out_of_sight_run_to_the_edge() {
    let mut window = window(crowd(200));
    let document = Arc::clone(&window.state().document);
    let last = document.markers[0].spans()[199].picked(ThreadId::new(0));
    let child = document.flows.follow(&document, &last, Way::Forward).expect("it started a thread");
    act(&mut window, &Action::JumpTo(child));
    // Unfolded, but back at the top.
    act(&mut window, &Action::JumpTo(last));
    let scene = window.state_mut().scene(vec2(1168.0 + SCROLL_BAR, 300.0));
    let of_arrow = scene.lines.iter().filter(|line| line.color == Theme::dark().arrow);
    let lowest = of_arrow.map(|line| line.to.y).fold(0.0, f32::max);
    assert!((295.0..=300.0).contains(&lowest), "{lowest}");
}

#[test]
fn thousands_of_arrows_are_not_too_much_to_draw() {
    let mut profile = TestProfile::recorded();
    let thread = profile.main_thread("main");
    profile.samples(thread, 0..100, "main");
    let other = profile.thread("other");
    profile.samples(other, 0..100, "main");
    let members = |at: i64| (if at % 2 == 0 { thread } else { other }, at * 5000, FlowAnchor::Thread);
    let members: Vec<_> = (0..20_000).map(members).collect();
    profile.flow("ping", &members);
    let mut window = window(profile.finish());
    let document = Arc::clone(&window.state().document);
    act(&mut window, &Action::JumpTo(flows::pick(&document, 10_000)));
    act(&mut window, &Action::ShowChain(true));
    let lines = window.state_mut().scene(vec2(1168.0, 300.0)).lines.len();
    assert!((1000..=3 * flows::MOST_LINKS + 200).contains(&lines), "{lines}");
}

#[test]
fn threads_with_markers_only_are_shown_where_nothing_else_is() {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("marked");
    profile.instant(thread, 5 * MS, "tick", None);
    let window = window(profile.finish());
    assert!(window.query_by_label("marked, 1 marker").is_some());
    assert!(window.query_by_label_contains("without samples").is_none());
}

#[test]
fn counters_stand_below_their_process_and_are_told() {
    let mut window = window(family());
    let row = window.get_by_label("Memory (RSS), max 8.68 MB").rect();
    let top = |name: &str| window.get_by_label_contains(name).rect().top();
    assert!(top("tool · 200") < row.top() && row.top() < top("tool (main)"));
    let tracks = window.get_by_label("Timeline").rect();
    window.hover_at(pos2(tracks.left() + tracks.width() * 0.305, row.center().y));
    window.run_steps(3);
    // From 20 ms on, 12.3 MB ÷ 68 for each of eleven milliseconds, and minus that for two of them… at 20 and 27.
    let expected = format!("Memory (RSS): {:.2} MB", 12.3 / 68.0 * (11.0 - 2.0 * 2.0));
    assert!(window.query_by_label(&expected).is_some(), "{expected} is missing in {window:?}");
    let row = window.get_all_by_label_contains("CPU, max 90.0 %").next().expect("that of the shell").rect();
    window.hover_at(pos2(tracks.left() + tracks.width() * 0.15, row.center().y));
    window.run_steps(3);
    assert!(window.query_by_label("CPU: 90.0 %").is_some(), "{window:?}");
    window.hover_at(pos2(tracks.left() + tracks.width() * 0.995, row.center().y));
    window.run_steps(3);
    assert!(window.query_by_label("CPU: not known").is_some(), "the process had ended");
}

#[test]
fn the_graph_of_a_counter_is_as_high_as_its_number() {
    let mut profile = TestProfile::recorded();
    let thread = profile.main_thread("main");
    profile.samples(thread, 0..100, "main");
    let kind = (CounterGraph::Accumulated, "bytes", Some(Color::Purple));
    profile.counter("RSS", kind, &[(0, 25.0), (50, 75.0)]);
    let mut window = window(profile.finish());
    let scene = window.state_mut().scene(vec2(1168.0 + SCROLL_BAR, 200.0));
    let color = Theme::dark().category(Color::Purple);
    let bars: Vec<Rect> = scene.quads.iter().filter(|quad| quad.color == color).map(|quad| quad.rect).collect();
    let [first, second] = bars[..] else { panic!("two steps: {bars:?}") };
    assert!((first.right() - second.left()).abs() < 1.5 && (first.width() - second.width()).abs() < 3.0, "{bars:?}");
    assert!((first.height() / second.height() - 0.25).abs() < 0.04, "{bars:?}");
}

#[test]
fn of_many_processes_the_counters_of_the_busiest_are_shown_first() {
    let mut profile = TestProfile::recorded();
    for pid in 0..9 {
        profile.process("p", pid);
        let thread = profile.main_thread("t");
        profile.samples(thread, 0..10 + pid, "main");
        let kind = (CounterGraph::Accumulated, "", None);
        profile.counter(&format!("number-{pid}"), kind, &[(0, 1.0)]);
    }
    let mut window = testing::open::<Timeline>(profile.finish(), vec2(984.0, 700.0));
    assert!(window.query_by_label_contains("number-4").is_none());
    assert!(window.query_by_label_contains("number-5, max 1").is_some());
    window.get_by_label("5 counters of other processes").click();
    window.run();
    assert!(window.query_by_label_contains("number-0").is_some());
}

#[test]
fn a_slice_of_a_flow_has_arrows_too() {
    let mut profile = TestProfile::recorded();
    let [a, b] = ["a", "b"].map(|name| profile.thread(name));
    profile.slice(a, 10..30, "send");
    profile.slice(b, 50..90, "receive");
    let slice = FlowAnchor::Slice(SliceId::new(0));
    profile.flow("request", &[(a, 20 * MS, slice), (b, 55 * MS, slice)]);
    let mut window = window(profile.finish());
    let (what, start) = (PickedKind::Slice(SliceId::new(0)), Time(10 * MS));
    let duration = Nanos(20 * MS);
    act(&mut window, &Action::Pick(Some(Picked { thread: a, what, start, duration })));
    let scene = window.state_mut().scene(vec2(1168.0 + SCROLL_BAR, 200.0));
    let first = scene.lines.iter().find(|line| line.color == Theme::dark().arrow).expect("there is an arrow");
    let expected = 168.0 + 1000.0 * 0.2 + 7.0;
    assert!((first.from.x - expected).abs() < 1.0, "from the flow's own time, not from an edge: {first:?}");
}

//! The chart in a window without a screen.

use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2, vec2};
use egui_kittest::kittest::Queryable;
use traceview_core::model::{Nanos, Profile, ThreadId, Time, TimeRange};

use super::{FlameChart, Step, request_step};
use crate::action::Action;
use crate::panels::{GUTTER, SCROLL_BAR};
use crate::selection::{Picked, PickedKind};
use crate::testing::profiles::{deep, simple};
use crate::testing::{self, MS, Test, TestProfile, act, click, click_with, double_click, press, turn_wheel};
use crate::theme::Theme;

fn chart(profile: Profile) -> Test<FlameChart> {
    testing::open(profile, vec2(1000.0, 400.0))
}

fn names(test: &Test<FlameChart>) -> Vec<String> {
    test.state().panel.named.iter().map(|named| named.name.clone()).collect()
}

/// The middle of the first box called `name`.
fn box_called(test: &Test<FlameChart>, name: &str) -> Pos2 {
    let named = test.state().panel.named.iter().find(|named| named.name == name);
    named.unwrap_or_else(|| panic!("no box is called {name}: {:?}", names(test))).rect.center()
}

fn picked(test: &Test<FlameChart>) -> Option<(String, i64, i64)> {
    let window = test.state();
    let picked = window.selection().picked?;
    let name = crate::describe::name(&window.document, &picked).into_owned();
    Some((name, picked.start.0 / MS, picked.duration.0 / MS))
}

fn of(name: &str, start: i64, duration: i64) -> Option<(String, i64, i64)> {
    Some((name.to_owned(), start, duration))
}

#[test]
fn boxes_waits_and_their_canvas_have_names() {
    let test = chart(simple());
    test.get_by_label("Flame chart of main");
    let boxes = test.query_all_by_label("main").map(|node| node.value()).collect::<Vec<_>>();
    assert_eq!(boxes, [Some("60.0 ms".to_owned()), Some("20.0 ms".to_owned())]);
    assert_eq!(test.get_by_label("lib::inner").value(), Some("40.0 ms".to_owned()));
    assert_eq!(test.get_by_label("futex").value(), Some("20.0 ms".to_owned()));
    // The root is at the top, below the waits, and the time axis begins behind the gutter.
    let rect = test.get_by_label("work").rect();
    assert_eq!(rect.left(), test.get_by_label("Flame chart of main").rect().left());
    assert!(box_called(&test, "futex").y < box_called(&test, "main").y);
    assert!(box_called(&test, "main").y < rect.center().y);
}

#[test]
fn a_click_picks_a_box_and_its_function() {
    let mut test = chart(simple());
    let at = box_called(&test, "work");
    click(&mut test, at);
    assert_eq!(picked(&test), of("work", 0, 60));
    let selection = test.state().selection().clone();
    let function = selection.function.expect("its function is selected");
    assert_eq!(test.state().document.function_name(function), "work");
    assert_eq!(selection.visible, test.state().document.extent, "a click does not zoom");
    // A wait has no function; nothing is nothing.
    let at = box_called(&test, "futex");
    click(&mut test, at);
    assert_eq!(picked(&test), of("futex", 60, 20));
    assert_eq!(test.state().selection().function, None);
    click(&mut test, pos2(600.0, 390.0));
    assert_eq!(picked(&test), None);
}

#[test]
fn a_click_by_assistive_technology_picks_too() {
    let mut test = chart(simple());
    test.get_by_label("lib::inner").click_accesskit();
    test.run();
    assert_eq!(picked(&test), of("lib::inner", 0, 40));
}

#[test]
fn two_clicks_zoom_to_the_box() {
    let mut test = chart(simple());
    let at = box_called(&test, "lib::rest");
    double_click(&mut test, at);
    let visible = test.state().selection().visible;
    assert_eq!(
        visible,
        TimeRange { start: Time(78 * MS + 1), end: Time(100 * MS + 1) },
        "80 to 100 ms with a little room"
    );
    assert_eq!(names(&test), ["main", "lib::rest", "futex"]);
}

#[test]
fn a_box_that_begins_left_of_the_view_is_named_where_it_is_seen() {
    let mut test = chart(simple());
    act(&mut test, &Action::Show(TimeRange { start: Time(30 * MS), end: Time(50 * MS) }));
    let rect = test.get_by_label("main").rect();
    let canvas = test.get_by_label("Flame chart of main").rect();
    assert_eq!((rect.left(), rect.right()), (canvas.left(), canvas.right()));
}

#[test]
fn the_tooltip_tells_what_is_under_the_pointer() {
    let mut test = chart(simple());
    let at = box_called(&test, "lib::inner");
    test.hover_at(at);
    test.run();
    for text in
        ["Duration", "40.0 ms", "40.0 %", "0.000000 s", "main (tid 101)", "lib 1.2.3", "Dependency", "src/lib.rs:7"]
    {
        assert!(
            test.query_all_by_value(text).next().is_some() || test.query_all_by_label(text).next().is_some(),
            "{text}"
        );
    }
    assert!(test.query_by_label("(inlined)").is_some());
    assert!(test.query_by_label("Self in selection").is_some(), "the tables are at hand");
    // Not under the pointer, and gone while dragging.
    let tooltip = test.get_by_label("Duration").rect();
    assert!(!tooltip.expand(4.0).contains(at), "{tooltip:?} {at:?}");
    let button = PointerButton::Primary;
    test.event(Event::PointerButton { pos: at, button, pressed: true, modifiers: Modifiers::NONE });
    test.event(Event::PointerMoved(at + vec2(40.0, 0.0)));
    test.run_steps(3);
    assert!(test.query_by_label("Duration").is_none());
}

#[test]
fn arrow_keys_walk_over_boxes() {
    let mut test = chart(simple());
    let at = box_called(&test, "work");
    click(&mut test, at);
    let mut after = |key: Key| {
        press(&mut test, key);
        picked(&test)
    };
    assert_eq!(after(Key::ArrowDown), of("lib::inner", 0, 40));
    assert_eq!(after(Key::ArrowDown), of("lib::inner", 0, 40), "nothing is below");
    assert_eq!(after(Key::ArrowUp), of("work", 0, 60));
    assert_eq!(after(Key::ArrowRight), of("lib::rest", 80, 20));
    assert_eq!(after(Key::ArrowUp), of("main", 80, 20));
    assert_eq!(after(Key::ArrowLeft), of("main", 0, 60));
    assert_eq!(after(Key::ArrowRight), of("main", 80, 20));
    assert_eq!(after(Key::ArrowRight), of("main", 80, 20), "it is the last");
    after(Key::Enter);
    let visible = test.state().selection().visible;
    assert_eq!(visible, TimeRange { start: Time(78 * MS + 1), end: Time(100 * MS + 1) });
}

#[test]
fn a_step_can_be_asked_for_from_elsewhere() {
    let mut test = chart(simple());
    request_step(&test.ctx, Step::In);
    test.run();
    assert_eq!(picked(&test), of("main", 0, 60), "without a pick it is the first in sight");
    act(&mut test, &Action::Show(TimeRange { start: Time(0), end: Time(10 * MS) }));
    request_step(&test.ctx, Step::Next);
    test.run();
    assert_eq!(picked(&test), of("main", 80, 20));
    let visible = test.state().selection().visible;
    assert!(visible.contains(Time(80 * MS)), "what is picked is brought into view: {visible:?}");
}

#[test]
fn a_search_dims_what_it_does_not_find() {
    let mut test = chart(simple());
    act(&mut test, &Action::Search("INNER lib".to_owned()));
    let theme = Theme::dark();
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    // At the left is the legend.
    let has = |color| scene.quads.iter().any(|quad| quad.color == color && quad.rect.left() >= GUTTER);
    let dependency = theme.category(traceview_core::model::StandardCategory::Dependency.color());
    let workspace = theme.category(traceview_core::model::StandardCategory::Workspace.color());
    assert!(has(dependency), "lib::inner is bright");
    assert!(has(theme.dimmed(dependency)), "lib::rest is not");
    assert!(has(theme.dimmed(workspace)) && !has(workspace), "nor are main and work");
    let marks: Vec<_> = scene.quads.iter().filter(|quad| quad.color == theme.found && quad.rect.top() == 0.0).collect();
    let [mark] = marks[..] else { panic!("one mark at the top: {marks:?}") };
    assert_eq!(mark.rect.left(), GUTTER);
    assert!((mark.rect.right() - (GUTTER + 0.4 * (1000.0 - GUTTER - SCROLL_BAR))).abs() < 0.1, "0 to 40 ms: {mark:?}");
}

#[test]
fn a_match_among_thousands_in_a_pixel_is_seen() {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("busy");
    let [a, b, rare] = ["main;a", "main;b", "main;rare"].map(|stack| profile.stack(stack));
    // The `rare` box is shorter than its neighbours: it represents no pixel.
    for index in 0..30_000 {
        profile.sample(thread, index * 3_000, if index % 2 == 0 { a } else { b });
        if index == 15_000 {
            profile.sample(thread, index * 3_000 + 2_000, rare);
        }
    }
    let mut test = chart(profile.finish());
    act(&mut test, &Action::Search("rare".to_owned()));
    let theme = Theme::dark();
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    let found: Vec<_> = scene.quads.iter().filter(|quad| quad.color == theme.found).collect();
    assert!(found.iter().any(|quad| quad.rect.top() == 0.0), "a mark at the top");
    assert!(found.iter().any(|quad| quad.rect.top() > 10.0), "and one in its row");
    let at = found[0].rect.center();
    let row = box_called(&test, "main").y + super::layout::ROW;
    click(&mut test, pos2(at.x, row));
    assert_eq!(picked(&test).map(|it| it.0), Some("rare".to_owned()), "and it is what a click there picks");
}

#[test]
fn the_ruler_goes_on_through_the_chart_and_its_waits() {
    let mut test = chart(simple());
    let theme = Theme::dark();
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    let is_line = |quad: &&crate::scene::Quad| quad.color == theme.grid && quad.rect.left() >= GUTTER;
    let lines: Vec<_> = scene.quads.iter().filter(is_line).collect();
    assert!(lines.iter().any(|line| line.rect.height() == 400.0), "{lines:?}");
    let wait = theme.wait(traceview_core::model::WaitReason::Blocked);
    let last_wait = scene.quads.iter().rposition(|quad| quad.color == wait && quad.rect.left() >= GUTTER);
    assert!(scene.quads[last_wait.expect("it waits")..].iter().any(|quad| is_line(&quad)), "over the waits too");
}

#[test]
fn colours_are_explained_beside_the_chart_and_by_a_tooltip() {
    let mut test = chart(simple());
    let names = ["Workspace", "Dependency", "waiting"];
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    for name in names {
        assert!(scene.labels.iter().any(|label| label.text == name && label.rect.right() < GUTTER), "{name}");
    }
    test.get_by_label("Colours: Other, Workspace, Dependency, waiting").hover();
    test.run_steps(60);
    for name in names {
        assert!(test.query_by_label(name).is_some(), "{name}");
    }
}

#[test]
fn the_selected_function_is_outlined_in_all_its_boxes() {
    let mut test = chart(simple());
    let function = test.state().function("main");
    let theme = Theme::dark();
    let outlines = |test: &mut Test<FlameChart>| {
        let scene = test.state_mut().scene(vec2(1000.0, 400.0));
        scene.quads.iter().filter(|quad| quad.color == super::paint::of_function_color(&theme)).count()
    };
    assert_eq!(outlines(&mut test), 0);
    act(&mut test, &Action::SelectFunction(Some(function)));
    assert_eq!(outlines(&mut test), 8, "four edges of two boxes");
}

#[test]
fn nothing_charted_and_nothing_timed_are_said() {
    let mut profile = TestProfile::recorded();
    let test = chart(TestProfile::recorded().finish());
    assert!(test.query_by_label_contains("Click a thread").is_some());
    let thread = profile.thread("collapsed");
    profile.more_samples(thread, 1, "main;work");
    profile.untimed(thread);
    let test = chart(profile.finish());
    assert!(test.query_by_label_contains("have no times; the call tree shows").is_some());
}

#[test]
fn a_thread_that_only_waited_says_so_and_shows_its_waits() {
    let mut test = chart(simple());
    act(&mut test, &Action::Chart(ThreadId::new(1)));
    assert_eq!(names(&test), ["read pipe", "futex"]);
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    let sentence = "this thread used no CPU time that was sampled; it waited 100 ms";
    assert!(scene.labels.iter().any(|label| label.text == sentence));
}

#[test]
fn slices_stand_above_samples_with_headings() {
    let mut test = chart(simple());
    act(&mut test, &Action::Chart(ThreadId::new(2)));
    assert!(box_called(&test, "request").y < box_called(&test, "main").y);
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    for heading in ["Slices", "Samples"] {
        assert!(scene.labels.iter().any(|label| label.text == heading), "{heading}");
    }
    let at = box_called(&test, "answer");
    click(&mut test, at);
    assert_eq!(picked(&test), of("answer", 50, 40));
    act(&mut test, &Action::Search("request".to_owned()));
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    let theme = Theme::dark();
    let grey = theme.category(traceview_core::model::Color::Grey);
    let found = scene.quads.iter().filter(|quad| quad.color == grey && quad.rect.left() >= GUTTER);
    assert_eq!(found.count(), 1, "slices are searched by their names");
}

#[test]
fn one_sample_is_a_chart() {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("short");
    let stack = profile.stack("main;once");
    profile.sample(thread, 2 * MS, stack);
    let test = chart(profile.finish());
    assert!(test.state().panel.scrolled.is_some());
    let scene = { test }.state_mut().scene(vec2(1000.0, 400.0));
    let blue = Theme::dark().category(traceview_core::model::Color::Blue);
    let boxes = scene.quads.iter().filter(|quad| quad.color == blue && quad.rect.left() > GUTTER);
    assert_eq!(boxes.count(), 2, "`main` and `once`");
}

#[test]
fn stacks_100_000_deep_scroll_to_what_is_picked() {
    let mut test = chart(deep(100_000, 30));
    assert_eq!(names(&test).len(), 0, "at this zoom level they are too short for names");
    act(&mut test, &Action::Show(TimeRange { start: Time(98 * MS), end: Time(100 * MS) }));
    assert!(names(&test).contains(&"f0".to_owned()), "{:?}", test.state().selection());
    let document = std::sync::Arc::clone(&test.state().document);
    let leaf = document.profile.threads[0].samples.stack[0].expect("it has a stack");
    let node = document.stack_index.at_depth(&document.profile.stacks, leaf, 70_000);
    let thread = ThreadId::new(0);
    let deep = Picked { thread, what: PickedKind::Box(node), start: Time(99 * MS), duration: Nanos(MS) };
    act(&mut test, &Action::Pick(Some(deep)));
    assert!(names(&test).contains(&"f70000".to_owned()), "{:?}", names(&test));
    let at = box_called(&test, "f70000");
    click(&mut test, at);
    assert_eq!(test.state().selection().picked, Some(deep));
    for _ in 0..40 {
        press(&mut test, Key::ArrowDown);
    }
    assert_eq!(picked(&test).map(|it| it.0), Some("f70040".to_owned()));
    assert!(names(&test).contains(&"f70040".to_owned()));
}

#[test]
fn the_wheel_and_the_scroll_bar_scroll() {
    let mut test = chart(deep(500, 1));
    act(&mut test, &Action::Show(TimeRange { start: Time(98 * MS), end: Time(100 * MS) }));
    let scroll = |test: &Test<FlameChart>| test.state().panel.scrolled.expect("a thread is shown").1;
    assert_eq!(scroll(&test), 0.0);
    turn_wheel(&mut test, pos2(500.0, 200.0), vec2(0.0, -100.0), Modifiers::NONE);
    assert!((scroll(&test) - 100.0).abs() < 1.0, "{}", scroll(&test));
    let bar = test.get_by_label("Depth of the flame chart").rect();
    click(&mut test, bar.center_bottom() - vec2(0.0, 2.0));
    assert!(names(&test).contains(&"f499".to_owned()), "{:?}", names(&test));
}

#[test]
fn long_names_do_not_widen_anything() {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread(&"thread ".repeat(300));
    let name = "very::long::".repeat(170);
    profile.samples(thread, 0..100, &format!("main;{name}end"));
    let mut test = chart(profile.finish());
    let at = box_called(&test, &format!("{name}end"));
    test.hover_at(at);
    test.run();
    let tooltip = test.get_by_label("Duration").rect();
    assert!(tooltip.right() < 1000.0 && tooltip.bottom() < 400.0, "{tooltip:?}");
}

#[test]
fn five_hundred_threads_can_be_looked_through() {
    let mut profile = TestProfile::recorded();
    for index in 0..500 {
        let thread = profile.thread(&format!("worker {index}"));
        profile.samples(thread, index % 50..index % 50 + 30, &format!("main;job{index}"));
    }
    let mut test = chart(profile.finish());
    for index in [0, 499, 17, 250, 0] {
        act(&mut test, &Action::Chart(ThreadId::new(index)));
        test.get_by_label(&format!("Flame chart of worker {index}"));
        assert!(names(&test).contains(&format!("job{index}")), "{:?}", names(&test));
    }
}

#[test]
fn the_context_menu_acts_on_what_was_clicked() {
    let mut test = chart(simple());
    let at = box_called(&test, "lib::inner");
    let open = |test: &mut Test<FlameChart>| click_with(test, at, PointerButton::Secondary, Modifiers::NONE);
    open(&mut test);
    test.get_by_label("Copy stack").click();
    test.run();
    let stack = "lib::inner  src/lib.rs:7\nwork\nmain\n";
    assert_eq!(test.state().copied(), Some(stack));
    open(&mut test);
    test.get_by_label("Select its time").click();
    test.run();
    let range = test.state().selection().range;
    assert_eq!(range, Some(TimeRange { start: Time(0), end: Time(40 * MS) }));
    open(&mut test);
    test.get_by_label("Search for this function").click();
    test.run();
    assert_eq!(test.state().selection().search, "lib::inner");
}

#[test]
fn threads_of_other_processes_say_whose_they_are() {
    let mut profile = TestProfile::recorded();
    profile.thread("main");
    profile.process("child", 4242);
    let thread = profile.thread("child");
    profile.samples(thread, 0..50, "main");
    let mut test = chart(profile.finish());
    let scene = test.state_mut().scene(vec2(1000.0, 400.0));
    assert!(scene.labels.iter().any(|label| label.text == "pid 4242 · tid 102"));
}

#[test]
fn matches_are_stepped_through_in_order_of_time() {
    let mut test = chart(simple());
    act(&mut test, &Action::Search("lib".to_owned()));
    let mut step = |step: Step| {
        request_step(&test.ctx, step);
        test.run();
        picked(&test)
    };
    assert_eq!(step(Step::NextMatch), of("lib::inner", 0, 40));
    assert_eq!(step(Step::NextMatch), of("lib::rest", 80, 20));
    assert_eq!(step(Step::NextMatch), of("lib::rest", 80, 20), "it is the last");
    assert_eq!(step(Step::PreviousMatch), of("lib::inner", 0, 40));
}

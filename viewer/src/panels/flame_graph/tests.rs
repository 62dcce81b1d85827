//! The flame graph in a window without a screen.

use egui::{Event, Key, PointerButton, Pos2, Role, Vec2, pos2, vec2};
use egui_kittest::kittest::Queryable;
use proptest::prelude::{prop, proptest};
use traceview_core::analysis::{BoxId, Measure};
use traceview_core::model::{Nanos, Profile, StackId, ThreadId, Time, TimeRange};

use super::FlameGraph;
use super::layout::{Layout, ROW};
use crate::action::Action;
use crate::call_path::CallPath;
use crate::selection::{Picked, PickedKind};
use crate::testing::profiles::{deep, empty, functions, many_functions, workers};
use crate::testing::{self, Test, TestProfile, act, click, click_with, double_click, press, turn_wheel};

type Window = Test<FlameGraph>;

fn open(profile: Profile) -> Window {
    testing::open_with_head(profile, vec2(1010.0, 300.0))
}

fn names(test: &Window) -> Vec<&str> {
    test.state().panel.named.iter().map(|named| named.name.as_str()).collect()
}

/// Where the first box called `name` begins, from the left edge of all, and how wide it is.
fn span(test: &Window, name: &str) -> (i32, i32) {
    let rect = test.get_by_role_and_label(Role::ListItem, name).rect();
    let left = test.get_by_label("Flame graph").rect().left();
    ((rect.left() - left).round() as i32, rect.width().round() as i32)
}

fn center(test: &Window, name: &str) -> Pos2 {
    test.get_by_role_and_label(Role::ListItem, name).rect().center()
}

fn zoom(test: &Window) -> Option<String> {
    let window = test.state();
    let callee = window.selection().graph_zoom.as_ref()?.innermost()?;
    Some(callee.name(&window.document.profile).into_owned())
}

#[test]
fn boxes_have_names_amounts_and_their_places() {
    let test = open(functions());
    assert_eq!(names(&test), ["main", "io::write", "search::find", "memchr::count"]);
    assert_eq!(test.get_by_label("search::find").value().as_deref(), Some("90.0 ms, 90.0 %"));
    let width = test.get_by_label("Flame graph").rect().width();
    let of_it = |part: f32| (width * part).round() as i32;
    assert_eq!(span(&test, "main"), (0, of_it(1.0)));
    assert_eq!(span(&test, "io::write"), (0, of_it(0.1)));
    assert_eq!(span(&test, "search::find"), (of_it(0.1), of_it(0.9)));
    assert_eq!(span(&test, "memchr::count"), (of_it(0.1), of_it(0.3)));
    let tops = ["main", "search::find", "memchr::count"].map(|name| test.get_by_label(name).rect().top());
    assert!((tops[1] - tops[0] - ROW).abs() < 0.1 && (tops[2] - tops[1] - ROW).abs() < 0.1, "{tops:?}");
    test.get_by_label("CPU time 100 ms · thread main · whole time");
}

#[test]
fn a_click_zooms_and_escape_shows_all_again() {
    let mut test = open(functions());
    let at = center(&test, "memchr::count");
    click(&mut test, at);
    assert_eq!((zoom(&test).as_deref(), test.state().selected()), (Some("memchr::count"), Some("memchr::count")));
    assert_eq!(names(&test), ["main", "search::find", "memchr::count"]);
    let width = test.get_by_label("Flame graph").rect().width().round() as i32;
    for around in ["main", "search::find", "memchr::count"] {
        assert_eq!(span(&test, around), (0, width));
    }
    // One of its callers has more of the picture.
    let at = center(&test, "search::find");
    click(&mut test, at);
    assert_eq!(zoom(&test).as_deref(), Some("search::find"));
    press(&mut test, Key::Escape);
    assert_eq!((zoom(&test), names(&test).len()), (None, 4));
    assert_eq!(test.state().selected(), Some("search::find"), "what was selected stays so");
}

#[test]
fn a_double_click_on_what_fills_the_width_zooms_out() {
    let mut test = open(functions());
    let at = center(&test, "search::find");
    double_click(&mut test, at);
    assert_eq!(zoom(&test).as_deref(), Some("search::find"), "its first click has zoomed in");
    let at = center(&test, "search::find");
    test.run_steps(30);
    double_click(&mut test, at);
    assert_eq!(zoom(&test), None);
    click(&mut test, pos2(500.0, 250.0));
    assert_eq!((zoom(&test), test.state().selected()), (None, None), "beside all boxes nothing is selected");
}

#[test]
fn all_of_it_is_no_zoom() {
    let mut test = open(functions());
    let at = center(&test, "main");
    click(&mut test, at);
    assert_eq!((zoom(&test), test.state().selected()), (None, Some("main")));
}

#[test]
fn a_zoom_outlives_the_selection_of_a_part_without_it() {
    let mut test = open(functions());
    let at = center(&test, "io::write");
    click(&mut test, at);
    // In the first 50 ms it was not seen: its caller is the nearest.
    let range = TimeRange { start: Time(0), end: Time(50_000_000) };
    act(&mut test, &Action::SelectRange(Some(range)));
    assert_eq!(names(&test), ["main", "search::find"]);
    act(&mut test, &Action::SelectRange(None));
    assert_eq!(names(&test), ["main", "io::write"]);
}

#[test]
fn the_button_zooms_out_too() {
    let mut test = open(functions());
    let at = center(&test, "io::write");
    click(&mut test, at);
    test.get_by_label("Zoom out").click();
    test.run();
    assert_eq!(zoom(&test), None);
}

#[test]
fn the_keyboard_walks_through_it() {
    let mut test = open(functions());
    test.get_by_label("Flame graph").focus();
    test.run();
    let mut steps = Vec::new();
    for key in
        [Key::ArrowDown, Key::ArrowDown, Key::ArrowDown, Key::ArrowUp, Key::ArrowLeft, Key::ArrowLeft, Key::ArrowRight]
    {
        press(&mut test, key);
        steps.push(test.state().selected().unwrap_or_default().to_owned());
    }
    let expected = ["main", "search::find", "memchr::count", "search::find", "io::write", "io::write", "search::find"];
    assert_eq!(steps, expected);
    assert_eq!(zoom(&test), None);
    press(&mut test, Key::Enter);
    assert_eq!(zoom(&test).as_deref(), Some("search::find"));
    test.event(Event::Copy);
    test.run();
    assert_eq!(test.state().copied(), Some("search::find"));
}

#[test]
fn upwards_the_outermost_function_is_at_the_lower_edge() {
    let mut test = open(functions());
    test.get_by_label("Upwards").click();
    test.run();
    assert!(test.state().selection().graph_upwards);
    let [main, find] = ["main", "search::find"].map(|name| test.get_by_label(name).rect());
    let canvas = test.get_by_label("Flame graph").rect();
    assert!((canvas.bottom() - main.bottom()).abs() <= 1.0, "{canvas:?} {main:?}");
    assert!(find.bottom() <= main.top() + 0.1);
    let at = center(&test, "memchr::count");
    click(&mut test, at);
    assert_eq!(zoom(&test).as_deref(), Some("memchr::count"));
    press(&mut test, Key::ArrowDown);
    assert_eq!(test.state().selected(), Some("search::find"));
}

#[test]
fn the_menu_says_what_can_be_done() {
    let mut test = open(functions());
    let choose = |test: &mut Window, entry: &str| {
        let at = center(test, "memchr::count");
        click_with(test, at, PointerButton::Secondary, egui::Modifiers::NONE);
        test.get_by_label(entry).click();
        test.run();
    };
    choose(&mut test, "Copy name");
    assert_eq!(test.state().copied(), Some("memchr::count"));
    choose(&mut test, "Copy stack");
    let stack = "memchr::count  src/memchr.rs\nsearch::find  src/search.rs\nmain\n";
    assert_eq!(test.state().copied(), Some(stack));
    choose(&mut test, "Zoom to it");
    assert_eq!(zoom(&test).as_deref(), Some("memchr::count"));
    for (entry, table) in [("Show in call tree", "call-tree"), ("Show in functions", "functions")] {
        choose(&mut test, entry);
        assert_eq!(test.state().actions.last(), Some(&Action::ShowTable(table)));
    }
    choose(&mut test, "Search for this function");
    assert_eq!(test.state().selection().search, "memchr::count");
}

#[test]
fn a_search_leaves_stacks_that_match_and_says_how_much_that_is() {
    let mut test = open(functions());
    act(&mut test, &Action::Search("memchr".to_owned()));
    assert_eq!(names(&test), ["main", "search::find", "memchr::count"]);
    test.get_by_label("30.0 % in stacks that match");
    let found = test.state_mut().scene(vec2(1000.0, 200.0));
    let theme = crate::theme::Theme::dark();
    assert_eq!(found.quads.iter().filter(|quad| quad.color == theme.found).count(), 1, "one box is underlined");
}

#[test]
fn a_click_by_assistive_technology_zooms() {
    let mut test = open(functions());
    test.get_by_label("memchr::count").click_accesskit();
    test.run();
    assert_eq!(zoom(&test).as_deref(), Some("memchr::count"));
}

#[test]
fn the_node_of_a_box_in_the_chart_is_selected() {
    let mut test = open(functions());
    let document = std::sync::Arc::clone(&test.state().document);
    let stack = document.profile.threads[0].samples.stack[70].expect("it has one");
    act(&mut test, &Action::SelectCall(CallPath::of_stack(&document.profile, stack)));
    assert_eq!(test.state().selected(), Some("memchr::count"));
    let (_, _, selected) = test.state().panel.selected.clone().expect("it was looked for");
    let named = test.state().panel.named.iter().find(|named| Some(named.id) == selected);
    assert_eq!(named.map(|named| named.name.as_str()), Some("memchr::count"));
}

#[test]
fn waits_are_boxes_of_wall_time() {
    let mut test = open(functions());
    act(&mut test, &Action::Measure(Measure::Wall));
    assert!(
        names(&test).contains(&"[futex]") || names(&test).iter().any(|name| name.contains("futex")),
        "{:?}",
        names(&test)
    );
}

#[test]
fn nothing_is_explained_with_a_way_out() {
    open(empty()).get_by_label("This profile has no samples.");
    let mut test = open(functions());
    act(&mut test, &Action::Search("xyz".to_owned()));
    test.get_by_label("No function of this profile matches the search.");
    test.get_by_label("Clear the search").click();
    test.run();
    assert_eq!(names(&test).len(), 4);
    act(&mut test, &Action::SelectRange(Some(TimeRange { start: Time(500_000_000), end: Time(600_000_000) })));
    assert!(test.query_by_label("Count the whole time").is_some() || names(&test).len() == 4);
}

#[test]
fn one_sample_fills_the_width() {
    let test = open(deep(2, 1));
    assert_eq!(names(&test), ["f0", "f1"]);
    let width = test.get_by_label("Flame graph").rect().width().round() as i32;
    assert_eq!(span(&test, "f1"), (0, width));
}

#[test]
fn all_threads_are_merged_and_one_can_be_chosen() {
    let mut test = open(workers(20));
    assert_eq!(names(&test), ["main", "work"]);
    let all = test.get_by_label("work").value().expect("it says how much");
    act(&mut test, &Action::SelectThread(ThreadId::new(3)));
    assert_ne!(test.get_by_label("work").value(), Some(all));
}

#[test]
fn stacks_of_any_depth_scroll() {
    let mut test = open(deep(100_000, 1));
    assert!(names(&test).len() < 20, "only what is seen");
    let canvas = test.get_by_label("Flame graph").rect();
    let first = names(&test)[0].to_owned();
    turn_wheel(&mut test, canvas.center(), vec2(0.0, -400.0), egui::Modifiers::NONE);
    assert_ne!(names(&test)[0], first);
    let rows = test.state().document.profile.stacks.prefix.len();
    let innermost = StackId::new(rows - 1);
    let path = CallPath::of_stack(&test.state().document.profile, innermost);
    act(&mut test, &Action::SelectCall(path));
    assert!(names(&test).contains(&"f99999"), "{:?}", names(&test));
    let at = center(&test, "f99999");
    click(&mut test, at);
    assert_eq!(zoom(&test).as_deref(), Some("f99999"));
    assert!(names(&test).contains(&"f99998"), "its callers are around it");
}

#[test]
fn many_narrow_boxes_are_few_rectangles() {
    let mut test = open(many_functions(30_000));
    let scene = test.state_mut().scene(vec2(1000.0, 200.0));
    assert!(scene.quads.len() < 2_500, "{}", scene.quads.len());
    let labels = scene.labels.iter().filter(|label| label.text.contains("function_")).count();
    assert_eq!(labels, 0, "none of them has room for its name");
}

#[test]
fn long_names_stay_in_their_boxes() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    let long = format!("{}::the_end", "segment::".repeat(230));
    profile.samples(thread, 0..3, &format!("main;{long}"));
    profile.samples(thread, 3..4, "main");
    let mut test = open(profile.finish());
    assert!(names(&test).contains(&long.as_str()));
    let scene = test.state_mut().scene(vec2(400.0, 200.0));
    assert!(scene.labels.iter().all(|label| label.rect.right() <= 400.0));
    let at = center(&test, &long);
    test.hover_at(at);
    test.run();
    assert!(test.query_by_label_contains("total: 3.00 ms").is_some());
}

#[test]
fn a_picked_box_of_a_thread_leaves_the_zoom() {
    let mut test = open(functions());
    let at = center(&test, "search::find");
    click(&mut test, at);
    let what = PickedKind::Wait(0);
    let wait = Picked { thread: ThreadId::new(0), what, start: Time(1), duration: Nanos(5) };
    act(&mut test, &Action::Pick(Some(wait)));
    act(&mut test, &Action::SelectFunction(None));
    assert_eq!(zoom(&test).as_deref(), Some("search::find"));
    assert_eq!(test.state().selection().call, None);
}

proptest! {
    #[test]
    fn what_is_drawn_and_hit_is_what_looking_at_all_boxes_finds(
        counts in prop::collection::vec((0..40usize, 0..12usize, 1..40i64), 1..60), size in 20.0..300.0f32, x in 0.0..1.0f32,
        zoomed in 0..30usize, fine in 1..=2u32,
    ) {
        let mut profile = TestProfile::new();
        let thread = profile.thread("main");
        for (outer, inner, count) in counts {
            profile.more_samples(thread, count, &format!("main;f{outer};g{inner}"));
        }
        let mut test = testing::open::<FlameGraph>(profile.finish(), vec2(600.0, 200.0));
        test.run();
        let (_, part) = test.state().panel.part.clone().expect("it was made");
        let graph = std::sync::Arc::clone(&part.graph);
        let zoom = (zoomed < graph.boxes.len()).then(|| BoxId::new(zoomed));
        let part = super::Part::new(graph, zoom, 7);
        let pixel = 1.0 / fine as f32;
        let layout = Layout { part: &part, size: Vec2::new(size, 200.0), scroll: 0.0, upwards: false, has_legend: true, pixel };
        for depth in 0..part.rows() {
            let mut rest = part.row(depth);
            let all: Vec<BoxId> = (rest.start.index()..rest.end.index()).map(BoxId::new).collect();
            let mut seen = Vec::new();
            while !rest.is_empty() {
                let sharing = layout.sharing(&rest);
                assert!(sharing.start == rest.start && !sharing.is_empty());
                let ids: Vec<BoxId> = (sharing.start.index()..sharing.end.index()).map(BoxId::new).collect();
                let wide = ids.iter().any(|id| layout.pixels(part.span(*id).1) >= 1.0);
                assert!(!wide || ids.len() == 1, "a box of a pixel stands alone");
                let [first, last] = [ids[0], ids[ids.len() - 1]].map(|id| layout.pixels(part.span(id).0));
                assert!(last - first <= 1.0, "they share a pixel: {first} {last}");
                seen.extend(ids);
                rest.start = sharing.end;
            }
            assert_eq!(seen, all);
            let at = pos2(x * layout.area().width(), layout.top(depth) + ROW / 2.0);
            let hit = layout.hit(at);
            let inside = all.iter().find(|id| {
                let rect = layout.rect(**id);
                rect.left() <= at.x && at.x < rect.right() && layout.pixels(part.span(**id).1) >= 2.0
            });
            if let Some(inside) = inside {
                assert_eq!(hit, Some(*inside));
            }
            if let Some(hit) = hit {
                assert!(all.contains(&hit));
                assert!(layout.rect(hit).x_range().expand(pixel * 1.01).contains(at.x));
            }
        }
    }
}

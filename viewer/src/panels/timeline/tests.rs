//! The panel as a person meets it.

use egui::{Key, Modifiers, PointerButton, Pos2, pos2, vec2};
use egui_kittest::kittest::Queryable;
use traceview_core::model::{Color, Nanos, Profile, StandardCategory, ThreadId, Time, TimeRange, WaitReason};

use super::Timeline;
use crate::panels::{GUTTER, SCROLL_BAR};
use crate::scene::{Align, Label};
use crate::selection::Selection;
use crate::testing::profiles::workers;
use crate::testing::{self, MS, Test, TestProfile, click, click_with, double_click, drag, press, turn_wheel};
use crate::theme::Theme;

type Window = Test<Timeline>;

fn window(profile: Profile) -> Window {
    testing::open(profile, vec2(984.0 + SCROLL_BAR, 356.0))
}

fn selection(harness: &Window) -> &Selection {
    harness.state().selection()
}

fn tracks(harness: &Window) -> egui::Rect {
    harness.get_by_label("Timeline").rect()
}

fn toggle(harness: &mut Window, at: Pos2) {
    click_with(harness, at, PointerButton::Primary, Modifiers::COMMAND);
}

fn range(start: i64, end: i64) -> TimeRange {
    TimeRange { start: Time(start), end: Time(end) }
}

fn is_near(a: TimeRange, b: TimeRange, ns: i64) -> bool {
    (a.start - b.start).0.abs() <= ns && (a.end - b.end).0.abs() <= ns
}

#[test]
fn nothing_and_one_sample_can_be_looked_at() {
    let empty = window(TestProfile::new().finish());
    assert!(empty.query_by_label("Overview of the profile").is_none(), "without times there is no axis");

    let mut profile = TestProfile::new();
    let thread = profile.main_thread("main");
    let stack = profile.stack("main");
    profile.sample_with_cpu(thread, 5, stack, 1);
    let mut one = window(profile.finish());
    one.get_by_label_contains("main, 1 ns").hover();
    one.hover_at(tracks(&one).center());
    one.run_steps(3);
}

#[test]
fn a_click_chooses_a_thread() {
    let mut harness = window(workers(5));
    harness.get_by_label_contains("worker-2").click();
    harness.run();
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(2)]));
    assert_eq!(selection(&harness).charted, Some(ThreadId::new(2)));
    // The second track from the top, in the graph.
    let at = tracks(&harness).left_top() + vec2(400.0, 33.0);
    toggle(&mut harness, at);
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(2), ThreadId::new(1)]));
    click(&mut harness, at);
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(1)]));
}

#[test]
fn arrow_keys_and_enter_choose_a_thread() {
    let mut harness = window(workers(40));
    harness.get_by_label("Timeline").focus();
    harness.run_steps(2);
    for _ in 0..30 {
        harness.key_press(Key::ArrowDown);
        harness.step();
    }
    press(&mut harness, Key::ArrowUp);
    press(&mut harness, Key::Enter);
    assert_eq!(selection(&harness).charted, Some(ThreadId::new(29)));
    assert!(harness.query_by_label_contains("worker-29,").is_some(), "it was scrolled into view");
}

#[test]
fn the_wheel_scrolls_five_hundred_threads_and_only_those_in_view_are_there() {
    let mut harness = window(workers(500));
    let nodes = |harness: &Window| harness.query_all_by_label_contains("worker-").count();
    assert!((5..16).contains(&nodes(&harness)), "{}", nodes(&harness));
    assert!(harness.query_by_label("Scroll the threads").is_some());
    let at = tracks(&harness).center();
    turn_wheel(&mut harness, at, vec2(0.0, -320.0), Modifiers::NONE);
    assert!(harness.query_by_label_contains("worker-0 (main)").is_none());
    assert!(harness.query_by_label_contains("worker-20,").is_some());
    let names = pos2(GUTTER / 2.0, at.y);
    turn_wheel(&mut harness, names, vec2(0.0, 400.0), Modifiers::NONE);
    assert!(harness.query_by_label_contains("worker-0 (main)").is_some(), "over the names too");
    assert_eq!(selection(&harness).visible, harness.state().document.extent);
    assert!(nodes(&harness) < 16);
}

#[test]
fn ctrl_and_the_wheel_zoom_at_the_pointer() {
    let mut harness = window(workers(3));
    let extent = harness.state().document.extent;
    let tracks = tracks(&harness);
    turn_wheel(&mut harness, tracks.left_center() + vec2(200.0, 0.0), vec2(0.0, 200.0), Modifiers::COMMAND);
    let visible = selection(&harness).visible;
    let length = |range: TimeRange| (range.end - range.start).0 as f64;
    assert!(length(visible) < length(extent) * 0.6, "{visible:?}");
    let share = 200.0 / f64::from(tracks.width());
    let before = extent.start.0 as f64 + length(extent) * share;
    let after = visible.start.0 as f64 + length(visible) * share;
    assert!((before - after).abs() < 1000.0, "{before} stays under the pointer, not {after}");
}

#[test]
fn a_drag_on_the_ruler_selects_a_range_whose_edges_can_be_dragged() {
    let mut harness = window(workers(3));
    let ruler = harness.get_by_label("Time ruler").rect();
    assert!((ruler.width() - 800.0).abs() < 0.5);
    let Time(start) = harness.state().document.extent.start;
    // 99 or 100 ms in 800 points.
    let point = (harness.state().document.extent.end.0 - start) / 800;
    let time = |points: i64| start + points * point;
    let at = |points: f32| ruler.left_center() + vec2(points, 0.0);
    drag(&mut harness, at(200.0), at(600.0));
    let selected = selection(&harness).range.expect("a range is selected");
    assert!(is_near(selected, range(time(200), time(600)), 2 * point), "{selected:?}");

    let tracks = tracks(&harness).center().y;
    drag(&mut harness, pos2(ruler.left() + 600.0, tracks), pos2(ruler.left() + 100.0, tracks));
    let selected = selection(&harness).range.expect("a range is selected");
    assert!(is_near(selected, range(time(100), time(200)), 6 * point), "beyond the other edge: {selected:?}");

    harness.get_by_label("Zoom to the selected range").click();
    harness.run_steps(3);
    assert_eq!(selection(&harness).visible, selected);
    harness.get_by_label("Clear the selected range").click();
    harness.run_steps(3);
    assert_eq!(selection(&harness).range, None);
}

#[test]
fn the_overview_moves_what_is_visible() {
    let mut harness = window(workers(3));
    let overview = harness.get_by_label("Overview of the profile").rect();
    let extent = harness.state().document.extent;
    let at = |share: f32| overview.left_center() + vec2(overview.width() * share, 0.0);
    drag(&mut harness, at(0.25), at(0.5));
    let shown = selection(&harness).visible;
    let length = (extent.end - extent.start).0;
    let part = |start: i64, end: i64| range(extent.start.0 + length * start / 8, extent.start.0 + length * end / 8);
    assert!(is_near(shown, part(2, 4), length / 200), "{shown:?}");
    drag(&mut harness, at(0.375), at(0.625));
    let shown = selection(&harness).visible;
    assert!(is_near(shown, part(4, 6), length / 100), "moved: {shown:?}");
    drag(&mut harness, at(0.75), at(0.875));
    let shown = selection(&harness).visible;
    assert!(is_near(shown, part(4, 7), length / 100), "longer: {shown:?}");
}

#[test]
fn processes_and_threads_without_samples_fold() {
    let mut profile = TestProfile::new();
    for pid in 1..3 {
        profile.process(&format!("program{pid}"), pid);
        let main = profile.main_thread(&format!("main{pid}"));
        profile.samples(main, 1..13, "main");
        profile.thread(&format!("idle{pid}"));
        let busy = profile.thread(&format!("busy{pid}"));
        profile.samples(busy, 1..14, "main");
    }
    let mut harness = window(profile.finish());
    let top = |harness: &Window, name: &str| harness.get_by_label_contains(name).rect().top();
    assert!(top(&harness, "program1 · 1") < top(&harness, "main1,"));
    assert!(top(&harness, "main1,") < top(&harness, "busy1,"), "main thread first");
    assert!(harness.query_by_label_contains("idle1,").is_none());
    harness.get_by_label("2 threads without samples").click();
    harness.run();
    assert!(top(&harness, "idle1,") < top(&harness, "idle2,"));
    harness.get_by_label("program1 · 1").click();
    harness.run();
    assert!(harness.query_by_label_contains("busy1,").is_none());
    assert!(harness.query_by_label_contains("busy2,").is_some());
}

#[test]
fn without_times_threads_can_still_be_chosen() {
    let mut profile = TestProfile::new();
    for name in ["first", "second"] {
        let thread = profile.thread(name);
        profile.samples(thread, 1..4, "main");
        profile.untimed(thread);
    }
    let mut harness = window(profile.finish());
    assert!(harness.query_by_label("Time ruler").is_none());
    harness.get_by_label_contains("second").click();
    harness.run();
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(1)]));
}

#[test]
fn long_names_are_shortened_and_told_in_full() {
    let mut profile = TestProfile::new();
    profile.process(&"p".repeat(2000), 7);
    let name = "n".repeat(2000);
    let thread = profile.main_thread(&name);
    profile.samples(thread, 1..51, &"f::".repeat(1000));
    let mut harness = window(profile.finish());
    harness.get_by_label_contains(&name).hover();
    harness.run_steps(60);
    harness.hover_at(tracks(&harness).left_top() + vec2(300.0, 10.0));
    harness.run_steps(3);
}

#[test]
fn a_double_click_shows_the_wait_under_the_pointer() {
    let mut profile = TestProfile::new();
    let thread = profile.main_thread("main");
    let stack = profile.stack("main");
    profile.sample_with_cpu(thread, 10 * MS, stack, 10 * MS);
    profile.wait(thread, 10..50, "futex", None);
    profile.sample_with_cpu(thread, 100 * MS, stack, 50 * MS);
    let mut harness = window(profile.finish());
    let extent = harness.state().document.extent;
    let share = (30 * MS - extent.start.0) as f32 / (extent.end - extent.start).0 as f32;
    let tracks = tracks(&harness);
    let at = tracks.left_top() + vec2(tracks.width() * share, 15.0);
    double_click(&mut harness, at);
    // With a tenth on both sides.
    assert_eq!(selection(&harness).visible, range(6 * MS - 1, 54 * MS + 1));
}

#[test]
fn a_large_window_of_restless_threads_is_not_too_much_to_draw() {
    let mut profile = TestProfile::new();
    let stacks = StandardCategory::ALL.map(|category| profile.stack_in(category, category.name()));
    for number in 0..60usize {
        let thread = profile.thread("restless");
        for sample in 0..3000usize {
            let mixed = (number * 31 + sample) * 7919 % 1009;
            let time = i64::try_from(sample + 1).expect("few") * MS;
            let cpu = MS / 1009 * i64::try_from(mixed).expect("few");
            profile.sample_with_cpu(thread, time, stacks[mixed % stacks.len()], cpu);
        }
    }
    let quads = window(profile.finish()).state_mut().scene(vec2(3840.0, 2000.0)).quads.len();
    assert!((10_000..=60_000).contains(&quads), "{quads}");
}

#[test]
fn the_picture_holds_what_the_window_shows() {
    let mut profile = TestProfile::new();
    let busy = profile.main_thread("busy");
    profile.samples(busy, 1..101, "main");
    let waiting = profile.thread("waiting");
    profile.wait(waiting, 0..50, "futex", None);
    let tracing = profile.thread("tracing");
    profile.slice(tracing, 20..50, "request");
    let mut harness = window(profile.finish());
    let theme = Theme::dark();
    let scene = harness.state_mut().scene(vec2(1168.0 + SCROLL_BAR, 200.0));
    let area_of = |color: egui::Color32, rows: std::ops::Range<f32>| -> f32 {
        let quads = scene.quads.iter().filter(|quad| quad.color == color && rows.contains(&quad.rect.center().y));
        quads.map(|quad| quad.rect.area()).sum()
    };
    let height = 17.0;
    let [blue, grey] = [StandardCategory::Workspace.color(), Color::Grey].map(|color| theme.category(color));
    let blocked = theme.wait(WaitReason::Blocked);
    let extent = harness.state().document.extent;
    let Nanos(extent) = extent.end - extent.start;
    let points = |ms: i64| 1000.0 * (ms * MS) as f32 / extent as f32;
    for (color, rows, ms) in [(blue, 60.0..82.0, 100), (grey, 82.0..104.0, 30), (blocked, 104.0..126.0, 50)] {
        let (found, expected) = (area_of(color, rows.clone()), points(ms) * height);
        assert!((found - expected).abs() < expected * 0.02, "{found} instead of {expected} at {rows:?}");
    }
    let labels: Vec<&str> = scene.labels.iter().map(|label| label.text.as_str()).collect();
    for text in ["busy (main)", "waiting", "100.0 %", "1 slice", "3 threads", "All threads"] {
        assert!(labels.contains(&text), "{text} in {labels:?}");
    }
    let of_tracks = scene.quads.iter().filter(|quad| quad.rect.top() > 60.0).count();
    assert!(of_tracks < 30, "what does not change is one quad: {of_tracks}");
}

#[test]
fn threads_of_one_name_are_told_apart_by_their_ids() {
    let mut profile = TestProfile::new();
    for name in ["rg", "rg", "rg", "other"] {
        let thread = if name == "rg" { profile.thread(name) } else { profile.main_thread(name) };
        profile.samples(thread, 1..11, "main");
    }
    let mut harness = window(profile.finish());
    let tids: Vec<String> = harness.state().document.profile.threads.iter().map(|it| it.tid.to_string()).collect();
    let scene = harness.state_mut().scene(vec2(1000.0, 200.0));
    let of_the_same_name = tids[..3].iter().map(|tid| format!("rg {tid}"));
    for title in of_the_same_name.chain(["other (main)".to_owned()]) {
        let name = scene.labels.iter().find(|label| label.text == title);
        let name = name.unwrap_or_else(|| panic!("{title} in {:?}", scene.labels));
        let is_beside = |label: &&Label| label.text.ends_with(" %") && label.rect.y_range() == name.rect.y_range();
        let numbers = scene.labels.iter().find(is_beside).expect("its numbers are in the same line");
        assert!(name.rect.right() <= numbers.rect.left() && numbers.rect.right() <= GUTTER);
    }
}

#[test]
fn a_long_name_takes_the_room_of_the_time() {
    let mut profile = TestProfile::new();
    for name in ["io", "tokio-rt-worker"] {
        let thread = profile.thread(name);
        profile.samples(thread, 1..11, "main");
    }
    let scene = window(profile.finish()).state_mut().scene(vec2(1000.0, 200.0));
    for (title, expected) in [("io", "10.0 ms · 50.0 %"), ("tokio-rt-worker", "50.0 %")] {
        let name = scene.labels.iter().find(|label| label.text == title).expect("it has a name");
        let beside = scene.labels.iter().find(|it| it.text.ends_with(" %") && it.rect.y_range() == name.rect.y_range());
        assert_eq!(beside.map(|label| label.text.as_str()), Some(expected));
        assert!(name.rect.width() >= crate::scene::room_for(title, 12.0), "{title} is not cut: {:?}", name.rect);
    }
}

#[test]
fn the_overview_says_how_many_cpus_were_busy() {
    let mut profile = TestProfile::new();
    for name in ["one", "two"] {
        let thread = profile.thread(name);
        profile.samples(thread, 1..101, "main");
    }
    let scene = window(profile.finish()).state_mut().scene(vec2(1000.0, 200.0));
    let labels: Vec<&str> = scene.labels.iter().map(|label| label.text.as_str()).collect();
    assert!(labels.contains(&"2.00 avg · 2.0 peak CPUs"), "{labels:?}");
    let color = super::paint::one_cpu_color(&Theme::dark());
    let line = scene.quads.iter().find(|quad| quad.color == color).expect("there is a line at one CPU");
    let bars = scene.quads.iter().filter(|quad| quad.rect.bottom() == 35.0 && quad.rect.top() < 20.0);
    let top = bars.map(|quad| quad.rect.top()).fold(35.0, f32::min);
    assert!((line.rect.center().y - f32::midpoint(top, 35.0)).abs() < 1.0, "half of two: {line:?}, {top}");
}

#[test]
fn the_last_label_of_the_ruler_is_not_lost() {
    let mut harness = window(workers(1));
    let mut before_their_ticks = 0;
    for width in 400..500u16 {
        let scene = harness.state_mut().scene(vec2(f32::from(width), 200.0));
        let tick_color = Theme::dark().weak_text.gamma_multiply(0.6);
        let in_ruler = |y: f32| (40.0..60.0).contains(&y);
        let ticks = scene.quads.iter().filter(|it| it.color == tick_color && in_ruler(it.rect.center().y)).count();
        let labels = scene.labels.iter().filter(|it| it.rect.left() >= GUTTER && in_ruler(it.rect.center().y));
        let labels: Vec<_> = labels.collect();
        assert!(labels.len() + 1 >= ticks, "at {width}: {labels:?}");
        assert!(labels.windows(2).all(|pair| pair[0].rect.right() <= pair[1].rect.left()), "{labels:?}");
        let last = labels.last().expect("there is a label");
        assert!(last.rect.right() <= f32::from(width) - SCROLL_BAR, "{last:?}");
        before_their_ticks += usize::from(last.align == Align::Right);
    }
    assert!(before_their_ticks > 10, "{before_their_ticks}");
}

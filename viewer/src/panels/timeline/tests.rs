//! The panel as a person meets it.

use std::sync::Arc;

use egui::{Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, TouchPhase, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use traceview_core::model::{Nanos, StandardCategory, ThreadId, Time, TimeRange};

use super::Timeline;
use crate::action::{Action, State};
use crate::analyses::Analyses;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::panels::{GUTTER, Panel, PanelContext};
use crate::selection::Selection;
use crate::test_profiles::{MS, TestProfile, workers};
use crate::theme::Theme;

const SIZE: egui::Vec2 = vec2(984.0, 356.0);

struct Window {
    document: Arc<Document>,
    state: State,
    panel: Timeline,
    said: Vec<Action>,
    time: f64,
}

impl Window {
    fn new(document: &Arc<Document>) -> Self {
        let state = State::new(document);
        Self { document: Arc::clone(document), state, panel: Timeline::default(), said: Vec::new(), time: 0.0 }
    }

    fn ui(&mut self, ui: &mut egui::Ui) {
        let selection = self.state.selection().clone();
        let mut actions = Vec::new();
        let theme = Theme::of(ui.visuals());
        let mut context = PanelContext {
            document: &self.document,
            selection: &selection,
            analyses: &Analyses::default(),
            found: None,
            pointer: None,
            theme: &theme,
            jobs: &Jobs::immediate(),
            actions: &mut actions,
        };
        self.panel.ui(ui, &mut context);
        self.time += 1.0;
        for action in &actions {
            self.state.apply(action, self.time);
        }
        self.said.extend(actions);
    }
}

fn window(document: &Arc<Document>) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(SIZE)
        .with_step_dt(1.0 / 60.0)
        .build_ui_state(|ui, window: &mut Window| window.ui(ui), Window::new(document));
    harness.run();
    harness
}

fn selection<'a>(harness: &'a Harness<'_, Window>) -> &'a Selection {
    harness.state().state.selection()
}

fn tracks(harness: &Harness<'_, Window>) -> egui::Rect {
    harness.get_by_label("Timeline").rect()
}

fn drag(harness: &mut Harness<'_, Window>, from: Pos2, to: Pos2) {
    harness.hover_at(from);
    harness.step();
    harness.drag_at(from);
    harness.step();
    for part in 1..=4u8 {
        harness.hover_at(from + (to - from) * (f32::from(part) / 4.0));
        harness.step();
    }
    harness.drop_at(to);
    harness.run_steps(3);
}

fn turn_wheel(harness: &mut Harness<'_, Window>, at: Pos2, delta: egui::Vec2, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.step();
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta,
        phase: TouchPhase::Move,
        modifiers,
        source: egui::MouseWheelSource::Unknown,
    };
    harness.event_modifiers(wheel, modifiers);
    harness.run_steps(30);
}

fn click(harness: &mut Harness<'_, Window>, at: Pos2, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.step();
    for pressed in [true, false] {
        let event = Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers };
        harness.event_modifiers(event, modifiers);
        harness.step();
    }
    harness.run_steps(2);
}

fn range(start: i64, end: i64) -> TimeRange {
    TimeRange { start: Time(start), end: Time(end) }
}

fn is_near(a: TimeRange, b: TimeRange, ns: i64) -> bool {
    (a.start - b.start).0.abs() <= ns && (a.end - b.end).0.abs() <= ns
}

#[test]
fn nothing_and_one_sample_can_be_looked_at() {
    let empty = window(&TestProfile::new().finish());
    assert!(empty.query_by_label("Overview of the profile").is_none(), "without times there is no axis");

    let mut profile = TestProfile::new();
    let process = profile.process("demo", 7);
    let thread = profile.thread(process, "main");
    let stack = profile.stack(&["main"], StandardCategory::Workspace);
    profile.sample(thread, 5, stack, 1);
    let mut one = window(&profile.finish());
    one.get_by_label_contains("main, 1 ns").hover();
    one.hover_at(tracks(&one).center());
    one.run_steps(3);
}

#[test]
fn a_click_chooses_a_thread() {
    let mut harness = window(&workers(5));
    harness.get_by_label_contains("worker-2").click();
    harness.run();
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(2)]));
    assert_eq!(selection(&harness).charted, Some(ThreadId::new(2)));
    // The second track from the top, in the graph.
    let at = tracks(&harness).left_top() + vec2(400.0, 48.0);
    click(&mut harness, at, Modifiers::COMMAND);
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(2), ThreadId::new(1)]));
    click(&mut harness, at, Modifiers::NONE);
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(1)]));
}

#[test]
fn arrow_keys_and_enter_choose_a_thread() {
    let mut harness = window(&workers(40));
    harness.get_by_label("Timeline").focus();
    harness.run_steps(2);
    for _ in 0..30 {
        harness.key_press(Key::ArrowDown);
        harness.step();
    }
    harness.key_press(Key::ArrowUp);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    assert_eq!(selection(&harness).charted, Some(ThreadId::new(29)));
    assert!(harness.query_by_label_contains("worker-29,").is_some(), "it was scrolled into view");
}

#[test]
fn the_wheel_scrolls_five_hundred_threads_and_only_those_in_view_are_there() {
    let mut harness = window(&workers(500));
    let nodes = |harness: &Harness<'_, Window>| harness.query_all_by_label_contains("worker-").count();
    assert!((5..12).contains(&nodes(&harness)), "{}", nodes(&harness));
    assert!(harness.query_by_label("Scroll the threads").is_some());
    let at = tracks(&harness).center();
    turn_wheel(&mut harness, at, vec2(0.0, -320.0), Modifiers::NONE);
    assert!(harness.query_by_label_contains("worker-0 (main)").is_none());
    assert!(harness.query_by_label_contains("worker-12,").is_some());
    let names = pos2(GUTTER / 2.0, at.y);
    turn_wheel(&mut harness, names, vec2(0.0, 400.0), Modifiers::NONE);
    assert!(harness.query_by_label_contains("worker-0 (main)").is_some(), "over the names too");
    assert_eq!(selection(&harness).visible, harness.state().document.extent);
    assert!(nodes(&harness) < 12);
}

#[test]
fn ctrl_and_the_wheel_zoom_at_the_pointer() {
    let mut harness = window(&workers(3));
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
    let mut harness = window(&workers(3));
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
    let mut harness = window(&workers(3));
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
    let stack = profile.stack(&["main"], StandardCategory::Std);
    for pid in 1..3 {
        let process = profile.process(&format!("program{pid}"), pid);
        for name in ["main", "idle", "busy"] {
            let thread = profile.thread(process, &format!("{name}{pid}"));
            let samples = if name == "idle" { 0 } else { name.len() * 3 + usize::from(name == "busy") };
            profile.samples(thread, stack, samples);
        }
    }
    let mut harness = window(&profile.finish());
    let top = |harness: &Harness<'_, Window>, name: &str| harness.get_by_label_contains(name).rect().top();
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
    let process = profile.process("demo", 7);
    let stack = profile.stack(&["main"], StandardCategory::Std);
    for name in ["first", "second"] {
        let thread = profile.thread(process, name);
        profile.samples(thread, stack, 3);
        let thread = profile.builder.thread_mut(thread);
        thread.timed = false;
        thread.samples.time.clear();
    }
    let mut harness = window(&profile.finish());
    assert!(harness.query_by_label("Time ruler").is_none());
    harness.get_by_label_contains("second").click();
    harness.run();
    assert_eq!(selection(&harness).threads, Some(vec![ThreadId::new(1)]));
}

#[test]
fn long_names_are_shortened_and_told_in_full() {
    let mut profile = TestProfile::new();
    let process = profile.process(&"p".repeat(2000), 7);
    let stack = profile.stack(&[&"f::".repeat(1000)], StandardCategory::Std);
    let name = "n".repeat(2000);
    let thread = profile.thread(process, &name);
    profile.samples(thread, stack, 50);
    let mut harness = window(&profile.finish());
    harness.get_by_label_contains(&name).hover();
    harness.run_steps(60);
    harness.hover_at(tracks(&harness).left_top() + vec2(300.0, 10.0));
    harness.run_steps(3);
}

#[test]
fn a_double_click_shows_the_wait_under_the_pointer() {
    let mut profile = TestProfile::new();
    let process = profile.process("demo", 7);
    let thread = profile.thread(process, "main");
    let stack = profile.stack(&["main"], StandardCategory::Std);
    profile.sample(thread, 10 * MS, stack, 10 * MS);
    profile.wait(thread, 10 * MS, 40 * MS);
    profile.sample(thread, 100 * MS, stack, 50 * MS);
    let mut harness = window(&profile.finish());
    let extent = harness.state().document.extent;
    let share = (30 * MS - extent.start.0) as f32 / (extent.end - extent.start).0 as f32;
    let tracks = tracks(&harness);
    let at = tracks.left_top() + vec2(tracks.width() * share, 15.0);
    for _ in 0..2 {
        click(&mut harness, at, Modifiers::NONE);
    }
    // With a tenth on both sides.
    assert_eq!(selection(&harness).visible, range(6 * MS - 1, 54 * MS + 1));
}

fn picture(document: &Arc<Document>, size: egui::Vec2) -> crate::scene::Scene {
    let state = State::new(document);
    let mut context = PanelContext {
        document,
        selection: state.selection(),
        analyses: &Analyses::default(),
        found: None,
        pointer: None,
        theme: &Theme::light(),
        jobs: &Jobs::immediate(),
        actions: &mut Vec::new(),
    };
    Timeline::default().scene(size, &mut context).expect("it is a picture")
}

#[test]
fn a_large_window_of_restless_threads_is_not_too_much_to_draw() {
    let mut profile = TestProfile::new();
    let process = profile.process("demo", 7);
    let stacks = StandardCategory::ALL.map(|category| profile.stack(&[category.name()], category));
    for number in 0..60usize {
        let thread = profile.thread(process, "restless");
        for sample in 0..3000usize {
            let mixed = (number * 31 + sample) * 7919 % 1009;
            let time = i64::try_from(sample + 1).expect("few") * MS;
            profile.sample(thread, time, stacks[mixed % stacks.len()], MS / 1009 * i64::try_from(mixed).expect("few"));
        }
    }
    let quads = picture(&profile.finish(), vec2(3840.0, 2000.0)).quads.len();
    assert!((10_000..=60_000).contains(&quads), "{quads}");
}

#[test]
fn the_picture_holds_what_the_window_shows() {
    let mut profile = TestProfile::new();
    let process = profile.process("demo", 7);
    let [busy, waiting, tracing] = ["busy", "waiting", "tracing"].map(|name| profile.thread(process, name));
    let stack = profile.stack(&["main"], StandardCategory::Workspace);
    profile.samples(busy, stack, 100);
    profile.wait(waiting, 0, 50 * MS);
    profile.slice(tracing, "request", 20 * MS, 30 * MS);
    let document = profile.finish();
    let theme = Theme::light();
    let scene = picture(&document, vec2(1168.0, 200.0));
    let area_of = |color: egui::Color32, rows: std::ops::Range<f32>| -> f32 {
        let quads = scene.quads.iter().filter(|quad| quad.color == color && rows.contains(&quad.rect.center().y));
        quads.map(|quad| quad.rect.area()).sum()
    };
    let (height, blue) = (27.0, theme.category(StandardCategory::Workspace.color()));
    let grey = theme.wait(traceview_core::model::WaitReason::Blocked);
    let Nanos(extent) = document.extent.end - document.extent.start;
    let points = |ms: i64| 1000.0 * (ms * MS) as f32 / extent as f32;
    for (color, rows, ms) in [(blue, 60.0..92.0, 100), (blue, 92.0..124.0, 30), (grey, 124.0..156.0, 50)] {
        let (found, expected) = (area_of(color, rows.clone()), points(ms) * height);
        assert!((found - expected).abs() < expected * 0.02, "{found} instead of {expected} at {rows:?}");
    }
    let labels: Vec<&str> = scene.labels.iter().map(|label| label.text.as_str()).collect();
    for text in ["busy (main)", "waiting", "100 ms · 100.0 %", "1 slice", "3 threads", "All threads"] {
        assert!(labels.contains(&text), "{text} in {labels:?}");
    }
    let of_tracks = scene.quads.iter().filter(|quad| quad.rect.top() > 60.0).count();
    assert!(of_tracks < 30, "what does not change is one quad: {of_tracks}");
}

/// Writes pictures of a profile's timeline, to be looked at: `TIMELINE_OF=rg.json.gz TIMELINE_TO=/tmp cargo test … -- --ignored`.
#[test]
#[ignore = "for people to look at"]
fn pictures_to_look_at() {
    let path = std::env::var("TIMELINE_OF").expect("TIMELINE_OF names a profile");
    let to = std::path::PathBuf::from(std::env::var("TIMELINE_TO").expect("TIMELINE_TO names a directory"));
    let loading = crate::loading::Loading::start(path.into(), &Jobs::immediate());
    let document = Arc::new(loading.poll().expect("the job was done at once").expect("the profile can be read"));
    for (name, theme, scale) in
        [("dark", egui::Theme::Dark, 1.0), ("light", egui::Theme::Light, 1.0), ("2x", egui::Theme::Dark, 2.0)]
    {
        let mut window = Window::new(&document);
        let mut headless = crate::headless::Headless::new(vec2(1280.0, 300.0), scale, theme);
        headless.settle(|ui| window.ui(ui)).expect("it comes to rest");
        let save = |headless: &mut crate::headless::Headless, what: &str| {
            let mut file =
                std::fs::File::create(to.join(format!("timeline-{name}-{what}.png"))).expect("the directory is there");
            headless.picture().to_png(&mut file).expect("it can be written");
        };
        save(&mut headless, "all");
        let TimeRange { start, end } = document.extent;
        let part = |share: i64| start + Nanos((end - start).0 / 100 * share);
        window.state.apply(&Action::Show(TimeRange { start: part(20), end: part(60) }), 0.0);
        window.state.apply(&Action::SelectRange(Some(TimeRange { start: part(30), end: part(40) })), 0.0);
        if let Some(thread) = document.busiest_thread() {
            window.state.apply(&Action::SelectThread(thread), 0.0);
        }
        headless.send(Event::PointerMoved(pos2(760.0, 110.0)));
        headless.settle(|ui| window.ui(ui)).expect("it comes to rest");
        save(&mut headless, "part");
    }
}

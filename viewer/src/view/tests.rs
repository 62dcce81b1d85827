//! The contents of a window, as a person and as assistive technology meet them.

use std::fs;
use std::path::{Path, PathBuf};

use egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use traceview_core::analysis::{Measure, Transform};
use traceview_core::format::{self, WriteOptions};
use traceview_core::model::{Nanos, Profile, ThreadId, Time, TimeRange};

use super::{Content, Input, Settings, ThemeChoice, Viewer};
use crate::action::Action;
use crate::command::Command;
use crate::describe;
use crate::jobs::Jobs;
use crate::selection::Selection;
use crate::testing::profiles::{family, lively};
use crate::testing::{TestProfile, harness, press, press_with};

pub(super) type Window = Harness<'static, Viewer>;

fn window(inputs: Vec<Input>) -> Window {
    let viewer = Viewer::new(inputs, Settings::default(), Jobs::immediate());
    harness(vec2(1280.0, 800.0), viewer, Viewer::ui)
}

pub(super) fn profile_window(profile: Profile) -> Window {
    window(vec![Input::Profile { path: None, profile: profile.into() }])
}

pub(super) fn selection(window: &Window) -> &Selection {
    let viewer = window.state();
    match &viewer.tabs[viewer.active].content {
        Content::Open(open) => open.selection(),
        Content::Loading(_) | Content::Failed(_) => panic!("no profile is open"),
    }
}

fn saved(directory: &Path, profile: &Profile) -> PathBuf {
    let path = directory.join("saved.json.gz");
    let target = format::by_extension(&path).expect("it is a format's");
    let file = fs::File::create(&path).expect("the directory can be written");
    format::write(profile, target, &WriteOptions::default(), file).expect("it can be written");
    path
}

#[test]
fn without_a_file_it_says_what_to_do() {
    let mut window = window(Vec::new());
    assert!(window.query_by_label("No profile is open").is_some());
    window.get_by_label("Choose a file…").click();
    window.run();
    assert_eq!(window.state_mut().take_requests(), [super::Request::ChooseFile]);
    assert_eq!(window.state().title(), "traceview");
}

#[test]
fn a_file_that_can_not_be_opened_says_why_and_can_be_tried_again() {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let path = directory.path().join("broken.json");
    fs::write(&path, "{\"meta\": 5").expect("it can be written");
    let mut window = window(vec![Input::File(path.clone())]);
    assert!(window.query_by_label("broken.json can't be opened").is_some());
    let viewer = window.state();
    assert!(
        viewer.failure().is_some_and(|(_, why)| why.contains("byte") || why.contains("meta")),
        "{:?}",
        viewer.failure()
    );

    let whole = saved(directory.path(), &lively());
    fs::rename(whole, &path).expect("it can be renamed");
    fs::rename(&path, path.with_extension("json.gz")).expect("it can be renamed");
    fs::copy(path.with_extension("json.gz"), &path).expect("it can be copied");
    window.get_by_label("Try again").click();
    window.run();
    assert!(window.state().document().is_some(), "formats are told by their contents");
}

#[test]
fn a_failed_file_can_be_closed() {
    let mut window = window(vec![Input::File("/nowhere/at/all.json".into())]);
    assert!(window.query_by_label("all.json can't be opened").is_some());
    window.get_by_label("Close").click();
    window.run();
    assert!(window.query_by_label("No profile is open").is_some());
}

#[test]
fn loading_shows_its_file_and_can_be_given_up() {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let path = directory.path().join("slow.json");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
    assert!(made.success());
    // Nobody writes into the pipe, so opening it never ends.
    let viewer = Viewer::new(vec![Input::File(path)], Settings::default(), Jobs::in_background(|| {}));
    let mut window = Harness::builder().build_ui_state(|ui, viewer: &mut Viewer| viewer.ui(ui), viewer);
    // Its progress never comes to rest.
    (0..3).for_each(|_| window.step());
    assert!(window.query_by_label_contains("Opening ").is_some());
    window.get_by_label("Cancel").click();
    (0..3).for_each(|_| window.step());
    assert!(window.query_by_label("No profile is open").is_some());
}

#[test]
fn settings_of_the_last_time_come_after_files_were_opened() {
    let mut viewer = Viewer::new(vec![Input::File("/b".into())], Settings::default(), Jobs::immediate());
    let recent = ["/a", "/b", "/c"].map(Into::into).to_vec();
    viewer.restore(Settings { theme: ThemeChoice::Light, recent, ..Settings::default() });
    assert_eq!(viewer.settings().theme, ThemeChoice::Light);
    assert_eq!(viewer.settings().recent, ["/b", "/a", "/c"].map(PathBuf::from));
}

#[test]
fn keys_zoom_pan_and_go_back() {
    let mut window = profile_window(lively());
    let whole = selection(&window).visible;
    press(&mut window, Key::W);
    let zoomed = selection(&window).visible;
    assert!(zoomed.end - zoomed.start < whole.end - whole.start);
    press(&mut window, Key::D);
    assert!(selection(&window).visible.start > zoomed.start);
    // Keys that follow each other quickly are one step of the history.
    window.run_steps(40);
    press(&mut window, Key::Num0);
    assert_eq!(selection(&window).visible, whole);
    press_with(&mut window, Modifiers::COMMAND, Key::Z);
    let back = selection(&window).visible;
    assert!(back.end - back.start < whole.end - whole.start, "back to where it was zoomed in");
    press_with(&mut window, Modifiers::COMMAND, Key::Y);
    assert_eq!(selection(&window).visible, whole);
}

#[test]
fn a_profile_without_times_opens_with_the_flame_graph() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("all");
    profile.more_samples(thread, 3, "main;work");
    profile.untimed(thread);
    let window = profile_window(profile.finish());
    let rect = window.get_by_label("Flame graph").rect();
    assert!(rect.width() > 1200.0 && rect.height() > 300.0, "it is the main picture: {rect:?}");
    assert!(window.query_by_role_and_label(egui::Role::Tab, "Flame graph").is_none(), "it is no tab then");
    assert!(window.query_by_label_contains("Flame chart of").is_none());
    assert_eq!(window.query_all_by_role_and_label(egui::Role::Tab, "Functions").count(), 1);
}

#[test]
fn keys_show_the_flame_graph_and_turn_it_over() {
    let mut window = profile_window(lively());
    assert!(window.query_by_role_and_label(egui::Role::Canvas, "Flame graph").is_none());
    press(&mut window, Key::G);
    window.get_by_role_and_label(egui::Role::Canvas, "Flame graph");
    press_with(&mut window, Modifiers::SHIFT, Key::G);
    assert!(selection(&window).graph_upwards);
    // A box is selected in the call tree too, and what was zoomed is a step of the history.
    // That of the chart says how long it is.
    let boxes = window.query_all_by_role_and_label(egui::Role::ListItem, "memchr::memmem::Finder::find");
    boxes
        .into_iter()
        .find(|node| node.value().is_some_and(|it| it.ends_with('%')))
        .expect("of the graph")
        .click_accesskit();
    window.run();
    let call = selection(&window).call.clone().expect("it is selected");
    assert_eq!(selection(&window).graph_zoom.as_ref(), Some(&call));
    window.run_steps(40);
    press(&mut window, Key::Backspace);
    assert_eq!((selection(&window).graph_zoom.clone(), selection(&window).call.clone()), (None, None));
}

#[test]
fn async_functions_are_folded_and_shown_in_full_again() {
    let mut profile = TestProfile::recorded();
    let thread = profile.thread("worker");
    let task = "clone3;tokio::runtime::task::raw::poll;app::serve::{closure};app::read::{closure};app::parse";
    profile.samples(thread, 0..20, task);
    let mut window = profile_window(profile.finish());
    let functions = |window: &Window| {
        let document = window.state().document().expect("a profile is open");
        let profile = &document.profile;
        let leaf = profile.threads[0].samples.stack[0].expect("it has a stack");
        let nodes: Vec<_> = profile.stacks.ancestors(leaf).collect();
        let names = nodes.iter().rev().map(|node| document.function_name(document.function(*node)).to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    press(&mut window, Key::T);
    window.run();
    assert_eq!(selection(&window).transforms, [Transform::FoldAsync]);
    assert_eq!(functions(&window), "async app::serve async app::read app::parse");
    assert!(window.query_all_by_label("async app::serve").next().is_some(), "a row of the table");
    // The chip says so, and takes it back.
    window.get_by_label("Async folded  x").click();
    window.run();
    assert_eq!(functions(&window), task.replace(';', " "));
    // It is a change of the view like others.
    press_with(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(selection(&window).transforms, [Transform::FoldAsync]);
    press(&mut window, Key::T);
    assert!(selection(&window).transforms.is_empty());
}

#[test]
fn what_the_tables_count_is_copied_for_an_assistant() {
    let mut window = profile_window(lively());
    let copied = |window: &mut Window| -> String {
        let context = window.ctx.clone();
        window.state_mut().run(Command::CopyForAssistant, &context);
        for _ in 0..4 {
            window.step();
            let commands = &window.output().platform_output.commands;
            let text = commands.iter().find_map(|command| match command {
                egui::OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            });
            if let Some(text) = text {
                return text;
            }
        }
        panic!("nothing was copied");
    };
    let all = copied(&mut window);
    assert!(all.starts_with("# Profile\n") && all.contains("ripgrep::search"), "{all}");
    window.run();
    assert!(window.query_by_label_contains("characters for an AI assistant").is_some());
    // What is searched for and how stacks were changed is said and holds.
    let open = window.state_mut();
    open.act(&Action::Search("fill".to_owned()));
    let main = |document: &crate::document::Document| {
        (0..document.profile.functions.len())
            .map(traceview_core::model::FunctionId::new)
            .find(|function| document.function_name(*function) == "ripgrep::main")
    };
    let function = main(open.document().expect("it is open")).expect("it is on all stacks");
    open.act(&Action::Transform(Transform::FocusFunction(function)));
    window.run();
    let some = copied(&mut window);
    assert!(some.contains("only stacks with `fill`") && some.contains("stacks changed: Focus ripgrep::main"), "{some}");
    assert!(!some.contains("lang_start") && !some.contains("memmem"), "{some}");
    assert!(window.query_by_label_contains("characters for an AI assistant").is_some());
}

#[test]
fn nothing_happens_behind_a_dialog() {
    let mut window = profile_window(lively());
    let before = selection(&window).clone();
    press_with(&mut window, Modifiers::SHIFT, Key::Questionmark);
    for key in [Key::W, Key::D, Key::Num0, Key::Period] {
        press(&mut window, key);
    }
    press_with(&mut window, Modifiers::COMMAND, Key::W);
    press(&mut window, Key::Escape);
    assert_eq!(*selection(&window), before, "and the tab is still open");
}

#[test]
fn closing_a_tab_keeps_the_one_that_is_shown() {
    let mut window = profile_window(lively());
    window.state_mut().open(Input::File("/nowhere/b.json".into()));
    window.run();
    window.get_by_label("Close profile").click();
    window.run();
    assert!(window.query_by_label("b.json can't be opened").is_some());
    assert_eq!(window.state().tabs.len(), 1);
}

#[test]
fn the_status_bar_says_which_part_is_shown() {
    let mut window = profile_window(lively());
    window.get_by_label_contains("whole recording · 20.3 s");
    let range = TimeRange { start: Time(5_159_400_000), end: Time(6_549_400_000) };
    let viewer = window.state_mut();
    let Content::Open(open) = &mut viewer.tabs[0].content else { panic!("a profile is open") };
    open.act(&Action::Show(range));
    window.run();
    window.get_by_label("1.39 s from 5.159 s");
}

#[test]
fn keys_go_from_marker_to_marker_and_along_arrows() {
    let mut window = profile_window(family());
    let picked = |window: &Window| {
        let picked = selection(window).picked.expect("a marker is selected");
        let name = describe::name(window.state().document().expect("it is open"), &picked).into_owned();
        (picked.thread.index(), name)
    };
    let is = |window: &Window, thread: usize, name: &str| assert_eq!(picked(window), (thread, name.to_owned()));
    let busiest = selection(&window).charted.expect("a thread is shown");
    assert_eq!(busiest, ThreadId::new(3));
    press(&mut window, Key::N);
    is(&window, 3, "thread start");
    press(&mut window, Key::OpenBracket);
    is(&window, 1, "spawn");
    press(&mut window, Key::Comma);
    is(&window, 1, "spawn");
    press(&mut window, Key::CloseBracket);
    is(&window, 2, "thread start");
    press(&mut window, Key::Period);
    is(&window, 2, "thread exit");
    press(&mut window, Key::CloseBracket);
    is(&window, 2, "thread exit");
    press_with(&mut window, Modifiers::SHIFT, Key::N);
    is(&window, 2, "thread start");
    press(&mut window, Key::F);
    let TimeRange { start, end } = selection(&window).visible;
    let (spawned, started) = (Time(38_000_000), Time(38_090_000));
    assert_eq!((start, end), (spawned + Nanos(-9_000), started + Nanos(9_000)), "its arrow with a tenth on both sides");
    press(&mut window, Key::C);
    assert!(selection(&window).chain);
    for _ in 0..4 {
        press(&mut window, Key::Backspace);
    }
    assert_eq!((picked(&window).0, selection(&window).chain), (2, false));
    press(&mut window, Key::Escape);
    assert_eq!(selection(&window).picked, None);
}

#[test]
fn the_timeline_shows_whole_tracks_and_as_wide_as_the_chart() {
    let mut profile = TestProfile::recorded();
    for threads in 0..3 {
        let thread = profile.thread(&format!("worker {threads}"));
        profile.samples(thread, 1..101, "main;work");
    }
    let window = profile_window(profile.finish());
    assert!(window.query_by_label("Scroll the threads").is_none());
    let tracks = window.get_by_label("Timeline").rect();
    assert!((64.0..=68.0).contains(&tracks.height()), "three tracks: {tracks:?}");
    for other in ["Time ruler", "Overview of the profile", "Flame chart of worker 0"] {
        assert_eq!(window.get_by_label(other).rect().x_range(), tracks.x_range(), "{other}");
    }
}

#[test]
fn typing_searches_and_does_not_move() {
    let mut window = profile_window(lively());
    let whole = selection(&window).visible;
    press_with(&mut window, Modifiers::COMMAND, Key::F);
    for letter in ["w", "a", "s", "d"] {
        window.event(egui::Event::Text(letter.to_owned()));
        let key = Key::from_name(&letter.to_uppercase()).expect("a letter is a key");
        window.key_press(key);
    }
    window.run();
    assert_eq!((selection(&window).search.as_str(), selection(&window).visible), ("wasd", whole));
    press(&mut window, Key::Escape);
    assert_eq!(selection(&window).search, "", "Escape clears it");
}

#[test]
fn the_palette_finds_and_runs_commands() {
    let mut window = profile_window(lively());
    press_with(&mut window, Modifiers { shift: true, ..Modifiers::COMMAND }, Key::P);
    window.event(egui::Event::Text("wall".to_owned()));
    window.run();
    press(&mut window, Key::Enter);
    assert_eq!(selection(&window).measure, Measure::Wall);
    assert!(window.query_by_label("Count the time that code ran or waited").is_none(), "it is closed");
}

#[test]
fn the_palette_prefers_names_to_explanations() {
    let mut window = profile_window(lively());
    press(&mut window, Key::F1);
    window.event(egui::Event::Text("light".to_owned()));
    window.run();
    press(&mut window, Key::Enter);
    assert_eq!(window.state().settings().theme, ThemeChoice::Light, "`System` says \"light\" in its explanation");
}

#[test]
fn themes_are_switched_and_remembered() {
    let mut window = profile_window(lively());
    window.get_by_label("View").click();
    window.run();
    window.get_by_label_contains("Light colours").click();
    window.run();
    assert_eq!(window.state().settings().theme, ThemeChoice::Light);
    assert!(!window.ctx.style_of(egui::Theme::Light).visuals.dark_mode && window.ctx.theme() == egui::Theme::Light);
    assert!(window.state_mut().take_requests().contains(&super::Request::SaveSettings));
}

#[test]
fn all_keys_can_be_looked_up() {
    let mut window = profile_window(lively());
    press_with(&mut window, Modifiers::SHIFT, Key::Questionmark);
    assert!(window.query_by_label("Zoom in at the pointer").is_some());
    assert!(window.query_by_label("Ctrl+wheel, pinch").is_some());
    press(&mut window, Key::Escape);
    assert!(window.query_by_label("Ctrl+wheel, pinch").is_none());
}

#[test]
fn several_files_are_tabs() {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let path = saved(directory.path(), &lively());
    let mut window = window(vec![Input::File(path.clone()), Input::File("/nowhere/b.json".into())]);
    assert!(window.state().document().is_some(), "the first one is shown");
    press_with(&mut window, Modifiers::CTRL, Key::Tab);
    assert!(window.query_by_label("b.json can't be opened").is_some());
    press_with(&mut window, Modifiers::COMMAND, Key::W);
    assert!(window.state().document().is_some());
    assert_eq!(window.state().settings().recent, [PathBuf::from("/nowhere/b.json"), path]);
}

#[test]
fn restrictions_are_chips_that_can_be_taken_away() {
    let mut window = profile_window(lively());
    let thread = selection(&window).charted.expect("there are threads");
    let viewer = window.state_mut();
    let Content::Open(open) = &mut viewer.tabs[0].content else { panic!("it is open") };
    open.act(&Action::SelectThread(thread));
    let visible = open.selection().visible;
    open.act(&Action::SelectRange(Some(visible)));
    window.run();
    let name = window.state().document().expect("it is open").thread_name(thread).to_owned();
    window.get_by_label(&format!("thread {name}  x")).click();
    window.run();
    assert_eq!(selection(&window).threads, None);
    press(&mut window, Key::Escape);
    assert_eq!(selection(&window).range, None);
}

#[test]
fn the_command_line_names_the_program_without_its_directory() {
    let mut profile = TestProfile::recorded();
    profile.builder.meta_mut().command_line = ["/home/me/release/rg", "-c", "a/b"].map(str::to_owned).to_vec();
    let window = profile_window(profile.finish());
    assert!(window.query_by_label_contains("rg -c a/b: ").is_some());
    assert!(window.query_by_label_contains("/home/me").is_none());
}

#[test]
fn a_picture_shows_the_tables_whatever_panel_it_is_of() {
    let mut window = profile_window(lively());
    for (panel, shown) in [("call-tree", "call-tree"), ("timeline", "call-tree"), ("functions", "functions")] {
        window.state_mut().show_panel(panel);
        assert_eq!(window.state().settings().table, shown, "after {panel}");
    }
}

#[test]
fn tabs_and_what_is_counted_stand_in_one_line() {
    let mut window = profile_window(lively());
    let tab = |window: &Window, title: &str| {
        let tab = window.get_by_role_and_label(egui::Role::Tab, title);
        (tab.rect(), tab.accesskit_node().is_selected())
    };
    assert_eq!(tab(&window, "Functions").1, Some(true));
    window.get_by_role_and_label(egui::Role::Tab, "Call tree").click();
    window.run();
    assert!(window.query_by_role_and_label(egui::Role::TreeGrid, "Call tree").is_some());
    let (rect, selected) = tab(&window, "Call tree");
    assert_eq!((selected, tab(&window, "Functions").1), (Some(true), Some(false)));
    for label in ["CPU", "Off-CPU", "Heaviest path", "Inverted"] {
        let in_line = window.query_all_by_label(label).any(|node| rect.y_range().contains(node.rect().center().y));
        assert!(in_line, "{label}");
    }
}

//! What a person sees and does with changes of stacks.

use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use traceview_core::analysis::Transform;
use traceview_core::model::FunctionId;

use super::tests::{Window, profile_window, selection};
use super::{Settings, Viewer};
use crate::action::Action;
use crate::command::Command;
use crate::document::Document;
use crate::jobs::Jobs;
use crate::testing::profiles::{family, functions, lively};
use crate::testing::{click_with, press, press_with};

fn document(window: &Window) -> &Document {
    window.state().document().expect("a profile is open")
}

fn function(window: &Window, name: &str) -> FunctionId {
    let document = document(window);
    let mut all = (0..document.profile.functions.len()).map(FunctionId::new);
    all.find(|function| document.function_name(*function) == name).expect("the profile has it")
}

fn act(window: &mut Window, action: &Action) {
    window.state_mut().act(action);
    window.run();
}

/// The functions of all samples of the first thread that have a stack, each with how many those are.
fn stacks(window: &Window) -> Vec<(String, usize)> {
    let document = document(window);
    let profile = &document.profile;
    let mut stacks: Vec<(String, usize)> = Vec::new();
    for stack in profile.threads[0].samples.stack.iter().flatten() {
        let mut names: Vec<&str> =
            profile.stacks.ancestors(*stack).map(|node| document.function_name(document.function(node))).collect();
        names.reverse();
        let text = names.join(" ");
        match stacks.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => stacks.push((text, 1)),
        }
    }
    stacks
}

fn of(list: &[(&str, usize)]) -> Vec<(String, usize)> {
    list.iter().map(|(text, count)| ((*text).to_owned(), *count)).collect()
}

const ALL: [(&str, usize); 3] =
    [("main search::find", 60), ("main search::find memchr::count", 30), ("main io::write", 10)];

#[test]
fn keys_change_the_stacks_of_the_selected_function() {
    let mut window = profile_window(functions());
    press_with(&mut window, Modifiers::ALT, Key::M);
    assert_eq!(stacks(&window), of(&ALL), "nothing is selected");
    let find = function(&window, "search::find");
    act(&mut window, &Action::SelectFunction(Some(find)));
    press_with(&mut window, Modifiers::ALT, Key::F);
    assert_eq!(stacks(&window), of(&[("search::find", 60), ("search::find memchr::count", 30)]));
    assert_eq!(selection(&window).function, Some(find), "it is still selected");
    press_with(&mut window, Modifiers::ALT, Key::C);
    assert_eq!(stacks(&window), of(&[("search::find", 90)]));
    // Chips in order: each takes itself back and what came after it.
    window.get_by_label("Collapse search::find  x");
    window.get_by_label("Focus search::find  x").click();
    window.run();
    assert_eq!(stacks(&window), of(&ALL));
    press_with(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(stacks(&window), of(&[("search::find", 90)]));
    press_with(&mut window, Modifiers::ALT, Key::Num0);
    assert_eq!((stacks(&window), selection(&window).transforms.len()), (of(&ALL), 0));
}

#[test]
fn the_menu_of_a_row_offers_them() {
    let mut window = profile_window(functions());
    window.get_by_role_and_label(egui::Role::Tab, "Call tree").click();
    window.run();
    let at = window.get_by_label_contains("memchr::count,").rect().center();
    let open = |window: &mut Window| {
        click_with(window, at, egui::PointerButton::Secondary, Modifiers::NONE);
        window.get_by_label("Change stacks").click();
        window.run();
    };
    open(&mut window);
    window.get_by_label("Leave this node out").click();
    window.run();
    assert_eq!(stacks(&window), of(&[("main search::find", 90), ("main io::write", 10)]));
    let path = ["main", "search::find", "memchr::count"].map(|name| function(&window, name)).to_vec();
    assert_eq!(selection(&window).transforms, [Transform::MergeNode(path)]);
    press_with(&mut window, Modifiers::COMMAND, Key::Z);
    open(&mut window);
    window.get_by_label_contains("Drop samples with function").click();
    window.run();
    assert_eq!(stacks(&window), of(&[("main search::find", 60), ("main io::write", 10)]));
    let dropped = document(&window).profile.threads[0].samples.stack.iter().filter(|stack| stack.is_none());
    assert_eq!(dropped.count(), 30, "as moments at which nothing ran");
}

#[test]
fn what_the_person_arranged_stays() {
    let mut window = profile_window(family());
    window.get_by_label("tool · 200").click();
    window.run();
    assert!(window.query_by_label_contains("worker-1").is_none(), "its threads are hidden");
    press(&mut window, Key::T);
    assert_eq!(selection(&window).transforms, [Transform::FoldAsync]);
    assert!(window.query_by_label_contains("worker-1").is_none(), "still");
}

/// Everything can be asked for in any order, whatever is picked and shown, also while other stacks are being made.
#[test]
fn nothing_of_other_stacks_is_asked_for() {
    for jobs in [Jobs::immediate(), Jobs::in_background(|| {})] {
        let input = super::Input::Profile { path: None, profile: lively().into() };
        let viewer = Viewer::new(vec![input], Settings::default(), jobs);
        let mut window = crate::testing::harness(egui::vec2(1280.0, 800.0), viewer, Viewer::ui);
        let tabs = ["Functions", "Call tree"];
        let commands: Vec<Command> =
            Command::all().filter(|command| command.menu() == crate::command::Menu::Stacks).collect();
        let mut row = 0;
        for (step, command) in commands.iter().cycle().take(3 * commands.len()).enumerate() {
            window.get_by_role_and_label(egui::Role::Tab, tabs[step % 2]).click();
            window.run_steps(2);
            let functions = document(&window).profile.functions.len();
            row = (row + 5) % functions;
            act_in_steps(&mut window, &Action::SelectFunction(Some(FunctionId::new(row))));
            press(&mut window, Key::Period);
            if let Some(key) = command.keys().first() {
                window.key_press_modifiers(key.modifiers, key.key);
                window.run_steps(1);
            }
            if step % 5 == 4 {
                window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
                window.run_steps(1);
            }
        }
    }
}

fn act_in_steps(window: &mut Window, action: &Action) {
    window.state_mut().act(action);
    window.run_steps(1);
}

#[test]
fn slices_and_markers_keep_what_happened_within_them() {
    let mut window = profile_window(family());
    window.get_by_role_and_label(egui::Role::Tab, "Markers").click();
    window.run();
    let row =
        window.get_all_by_label_contains("process start").find(|node| node.accesskit_node().role() == egui::Role::Row);
    let at = row.expect("a marker of that name is listed").rect().center();
    click_with(&mut window, at, egui::PointerButton::Secondary, Modifiers::NONE);
    window.get_by_label("Only within these").click();
    window.run();
    assert_eq!(selection(&window).transforms, [Transform::Within("process start".to_owned())]);
    assert_eq!(stacks(&window), of(&[]), "it is a moment");
}

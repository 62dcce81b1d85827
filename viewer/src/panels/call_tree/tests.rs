//! What a person sees and does in the call tree.

use egui::{Event, Key, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use proptest::collection::vec;
use proptest::{prop_assert_eq, proptest};
use traceview_core::analysis::{GrowingTree, InvertedTree, Measure, NodeId, Selection, StackValues, call_tree};
use traceview_core::model::Profile;

use super::CallTree;
use super::outline::{MOST_EXPANDED, open_all, outline};
use super::paths::Paths;
use crate::action::Action;
use crate::testing::profiles::{empty, functions, many_functions};
use crate::testing::{self, Test, TestProfile, act, press};
use crate::widget::Sort;

type Window = Test<CallTree>;

const BY_TOTAL: Sort = Sort { key: "total", descending: true };

fn open(profile: Profile) -> Window {
    testing::open_with_head(profile, vec2(1280.0, 300.0))
}

/// The visible rows: depth, name, and `+` or `-` where something can be expanded or collapsed.
fn rows(harness: &Window) -> Vec<String> {
    let rows = harness.root().children_recursive().filter(|node| node.accesskit_node().role() == egui::Role::Row);
    rows.map(|node| {
        let node = node.accesskit_node();
        let label = node.label().expect("rows say something");
        let name = label.split(", ").next().expect("at least one").to_owned();
        let sign = node.data().is_expanded().map_or("", |expanded| if expanded { "-" } else { "+" });
        format!("{} {name}{sign}", node.level().expect("rows of trees have levels"))
    })
    .collect()
}

fn selected(harness: &Window) -> Option<String> {
    let row = harness.query_by(|node| node.role() == egui::Role::Row && node.is_selected() == Some(true))?;
    Some(row.accesskit_node().label()?.split(", ").next()?.to_owned())
}

#[test]
fn it_opens_with_the_heaviest_path_down_to_where_it_branches() {
    let harness = open(functions());
    assert_eq!(rows(&harness), ["1 main-", "2 search::find-", "3 memchr::count", "2 io::write"]);
    assert_eq!(selected(&harness), None, "that is no choice of the person's");
    assert_eq!(harness.state().selected(), None);
}

#[test]
fn the_keyboard_walks_through_the_tree() {
    let mut harness = open(functions());
    harness.get_by_label_contains("search::find,").click();
    harness.run();
    assert_eq!(harness.state().selected(), Some("search::find"));
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(rows(&harness), ["1 main-", "2 search::find+", "2 io::write"]);
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(harness.state().selected(), Some("main"), "a collapsed row: to the one around it");
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(rows(&harness), ["1 main+"]);
    press(&mut harness, Key::ArrowRight);
    assert_eq!(rows(&harness), ["1 main-", "2 search::find+", "2 io::write"]);
    press(&mut harness, Key::ArrowRight);
    assert_eq!(harness.state().selected(), Some("search::find"));
    press(&mut harness, Key::Enter);
    assert_eq!(rows(&harness).len(), 4);
    press(&mut harness, Key::Home);
    press(&mut harness, Key::ArrowLeft);
    harness.event(Event::Text("*".to_owned()));
    harness.run();
    assert_eq!(rows(&harness).len(), 4);
    harness.event(Event::Copy);
    harness.run();
    assert_eq!(harness.state().copied(), Some("100.000000\t100.00\t0.000000\t100\tmain\tdemo"));
}

#[test]
fn it_follows_what_is_selected_elsewhere() {
    let mut harness = open(functions());
    press(&mut harness, Key::Tab);
    let wanted = harness.state().function("memchr::count");
    act(&mut harness, &Action::SelectFunction(Some(wanted)));
    assert_eq!(selected(&harness).as_deref(), Some("memchr::count"));
    harness.get_by_label("Inverted").click();
    harness.run();
    assert_eq!(rows(&harness), ["1 search::find+", "1 memchr::count+", "1 io::write+"]);
    assert_eq!(selected(&harness).as_deref(), Some("memchr::count"));
    harness.get_by_label("Heaviest path").click();
    harness.run();
    assert_eq!(rows(&harness), ["1 search::find+", "1 memchr::count-", "2 search::find-", "3 main", "1 io::write+"]);
}

#[test]
fn the_heaviest_path_goes_on_while_most_is_in_the_next_row() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for (stack, samples) in [("main;run;read", 6), ("main;run;write", 4), ("main", 2)] {
        profile.more_samples(thread, samples, stack);
    }
    let mut harness = open(profile.finish());
    assert_eq!(rows(&harness), ["1 main-", "2 run-", "3 read", "3 write"], "it branches in `run`");
    harness.get_by_label_contains("main,").click();
    harness.run();
    press(&mut harness, Key::ArrowLeft);
    harness.get_by_label("Heaviest path").click();
    harness.run();
    assert_eq!(rows(&harness), ["1 main-", "2 run-", "3 read", "3 write"]);
    assert_eq!(selected(&harness).as_deref(), Some("read"), "it has 60 % of `run`");
    assert_eq!(harness.state().selected(), Some("read"), "all panels show what is highlighted");
    harness.state_mut().act(&Action::SelectFunction(None));
    harness.run();
    assert_eq!(selected(&harness), None);
}

#[test]
fn a_wait_selects_the_function_that_waits() {
    let mut harness = open(functions());
    harness.state_mut().act(&Action::Measure(Measure::OffCpu));
    let write = harness.state().function("io::write");
    harness.state_mut().act(&Action::SelectFunction(Some(write)));
    harness.run();
    press(&mut harness, Key::Tab);
    harness.get_by_label_contains("io::write,").click();
    harness.run();
    press(&mut harness, Key::ArrowRight);
    press(&mut harness, Key::ArrowDown);
    assert_eq!(selected(&harness).as_deref(), Some("[wait] futex"));
    assert_eq!(harness.state().selected(), Some("io::write"));
}

#[test]
fn what_is_expanded_stays_so_when_it_is_counted_anew() {
    let mut harness = open(functions());
    harness.get_by_label_contains("search::find,").click();
    harness.run();
    press(&mut harness, Key::ArrowLeft);
    let before = rows(&harness);
    act(&mut harness, &Action::Measure(Measure::Samples));
    assert_eq!(rows(&harness), before);
    assert_eq!(selected(&harness).as_deref(), Some("search::find"));
    act(&mut harness, &Action::Measure(Measure::OffCpu));
    assert_eq!(rows(&harness), ["1 main-", "2 io::write+"]);
    act(&mut harness, &Action::Measure(Measure::Cpu));
    assert_eq!(rows(&harness), before);
}

#[test]
fn waits_are_leaves() {
    let mut harness = open(functions());
    act(&mut harness, &Action::Measure(Measure::Wall));
    let write = harness.state().function("io::write");
    act(&mut harness, &Action::SelectFunction(Some(write)));
    harness.get_by_label_contains("io::write,").click();
    harness.run();
    press(&mut harness, Key::ArrowRight);
    assert!(rows(&harness).contains(&"3 [wait] futex".to_owned()), "{:?}", rows(&harness));
}

#[test]
fn a_search_keeps_stacks_that_match_and_shows_the_match() {
    let mut harness = open(functions());
    act(&mut harness, &Action::Search("io::wr".to_owned()));
    assert_eq!(rows(&harness), ["1 main-", "2 io::write"]);
    assert_eq!(selected(&harness), None, "a search selects nothing");
    harness.get_by_label("10.0 % in stacks that match");
}

#[test]
fn a_click_on_a_title_sorts_siblings() {
    let mut harness = open(functions());
    harness.get_by_label("function").click();
    harness.run();
    assert_eq!(rows(&harness), ["1 main-", "2 io::write", "2 search::find-", "3 memchr::count"]);
    harness.get_by_label("CPU self").click();
    harness.run();
    assert_eq!(rows(&harness), ["1 main-", "2 search::find-", "3 memchr::count", "2 io::write"]);
}

#[test]
fn nothing_is_said() {
    open(empty()).get_by_label("This profile has no samples.");
}

#[test]
fn a_hundred_thousand_levels_are_no_problem() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    profile.more_samples(thread, 20, &["even;odd"; 50_000].join(";"));
    let mut harness = open(profile.finish());
    assert_eq!(rows(&harness).last().map(String::as_str), Some("100000 odd"));
    harness.get_by_label_contains("odd, CPU total 20.0 ms, total % 100.0 %, CPU self 20.0 ms").click();
    harness.run();
    press(&mut harness, Key::Home);
    assert_eq!(rows(&harness).first().map(String::as_str), Some("1 even-"));
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(rows(&harness), ["1 even+"]);
    harness.event(Event::Text("*".to_owned()));
    harness.run();
    harness.get_by_label("Inverted").click();
    harness.run();
    assert_eq!(rows(&harness), ["1 odd+"]);
}

#[test]
fn expanding_all_stops_in_time_and_says_so() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for index in 0..MOST_EXPANDED + 1 {
        profile.more_samples(thread, 1, &format!("main;f{index};leaf"));
    }
    let mut harness = open(profile.finish());
    harness.get_by_label_contains("main,").click();
    harness.run();
    harness.event(Event::Text("*".to_owned()));
    harness.run();
    harness.get_by_label("Expanded 5,000 rows below the selected one; there are more.");
}

#[test]
fn wide_trees_draw_only_what_is_visible() {
    let harness = open(many_functions(100_000));
    assert!(rows(&harness).len() < 20);
}

/// The rows below `id`, the plainest way.
fn all_rows(tree: &mut dyn GrowingTree, id: NodeId, rows: &mut Vec<NodeId>) {
    rows.push(id);
    tree.expand(id);
    for child in tree.tree().children(id) {
        all_rows(tree, child, rows);
    }
}

proptest! {
    #[test]
    fn outlines_are_what_recursion_gives(stacks in vec(vec(0..4_u8, 1..8), 1..12), closed in 0..40_usize) {
        let mut profile = TestProfile::new();
        let thread = profile.thread("main");
        for (stack, count) in stacks.iter().zip(1..) {
            let names: Vec<String> = stack.iter().map(|name| format!("f{name}")).collect();
            profile.more_samples(thread, count, &names.join(";"));
        }
        let profile = profile.finish();
        let values = StackValues::of(&profile, &Selection::default(), Measure::Cpu).expect("all have CPU time");
        let mut top_down = call_tree(&profile, &values);
        let mut inverted = InvertedTree::new(&profile, &values);
        for tree in [&mut top_down as &mut dyn GrowingTree, &mut inverted] {
            let mut paths = Paths::default();
            let mut expected = Vec::new();
            for root in tree.tree().roots() {
                all_rows(tree, root, &mut expected);
                prop_assert_eq!(open_all(tree, &mut paths, root), true);
            }
            let ids = |tree: &mut dyn GrowingTree, paths: &Paths| -> Vec<NodeId> {
                outline(tree, paths, BY_TOTAL, &profile).iter().map(|row| row.id).collect()
            };
            prop_assert_eq!(&ids(tree, &paths), &expected);
            // What is below a collapsed row is gone, and all else stays.
            let closed = expected[closed % expected.len()];
            let path = paths.of(tree.tree(), closed);
            prop_assert_eq!(paths.resolve(tree.tree(), path), Some(closed));
            paths.set_open(path, false);
            let mut below = Vec::new();
            all_rows(tree, closed, &mut below);
            expected.retain(|id| *id == closed || !below.contains(id));
            prop_assert_eq!(&ids(tree, &paths), &expected);
        }
    }
}

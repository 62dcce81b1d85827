//! What a person sees and does in the functions panel.

use egui::{Event, Key, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use traceview_core::analysis::Measure;
use traceview_core::model::{CpuDelta, Profile, Time, TimeRange, WeightUnit};

use super::Functions;
use crate::action::Action;
use crate::testing::profiles::{empty, functions, many_functions};
use crate::testing::{self, Test, TestProfile, act, press};

type Window = Test<Functions>;

fn open(profile: Profile) -> Window {
    testing::open_with_head(profile, vec2(1280.0, 300.0))
}

/// What the visible rows say.
fn rows(harness: &Window) -> Vec<String> {
    let rows = harness.root().children_recursive().filter(|node| node.accesskit_node().role() == egui::Role::Row);
    rows.map(|node| node.accesskit_node().label().expect("rows say something")).collect()
}

fn first_names(harness: &Window) -> Vec<String> {
    rows(harness).iter().map(|row| row.split(", ").next().expect("at least one").to_owned()).collect()
}

#[test]
fn functions_are_listed_with_their_numbers() {
    let harness = open(functions());
    assert_eq!(
        rows(&harness),
        [
            "search::find, CPU self 60.0 ms, self % 60.0 %, CPU total 90.0 ms, total % 90.0 %, self samples 60, crate search \
             1.2.3, hottest line search.rs:7",
            "memchr::count, CPU self 30.0 ms, self % 30.0 %, CPU total 30.0 ms, total % 30.0 %, self samples 30, crate \
             memchr 1.2.3, hottest line memchr.rs:7",
            "io::write, CPU self 10.0 ms, self % 10.0 %, CPU total 10.0 ms, total % 10.0 %, self samples 10, crate io 1.2.3, \
             hottest line io.rs:7",
            "main, CPU total 100 ms, total % 100.0 %, crate demo",
        ]
    );
    harness.get_by_label("CPU time 100 ms · thread main · whole time");
}

#[test]
fn a_part_of_the_profile_says_how_many_samples_it_has() {
    let mut harness = open(functions());
    let range = TimeRange { start: Time(0), end: Time(20_000_001) };
    harness.state_mut().act(&Action::SelectRange(Some(range)));
    harness.run();
    harness.get_by_label_contains("· thread main · 0.0 ms – 20.0 ms · 20 samples");
}

#[test]
fn a_click_on_a_title_sorts_and_another_one_turns_it_around() {
    let mut harness = open(functions());
    harness.get_by_label("function").click();
    harness.run();
    assert_eq!(first_names(&harness), ["io::write", "main", "memchr::count", "search::find"]);
    harness.get_by_label("function").click();
    harness.run();
    assert_eq!(first_names(&harness), ["search::find", "memchr::count", "main", "io::write"]);
    let title = harness.get_by_label("function");
    assert_eq!(title.accesskit_node().sort_direction(), Some(egui::accesskit::SortDirection::Descending));
    harness.get_by_label("CPU total").click();
    harness.run();
    assert_eq!(first_names(&harness), ["main", "search::find", "memchr::count", "io::write"]);
    harness.get_by_label("crate").click();
    harness.run();
    assert_eq!(first_names(&harness), ["main", "io::write", "memchr::count", "search::find"]);
}

#[test]
fn the_keyboard_moves_the_selection_and_copies_it() {
    let mut harness = open(functions());
    harness.get_by_label_contains("search::find,").click();
    harness.run();
    assert_eq!(harness.state().selected(), Some("search::find"));
    press(&mut harness, Key::ArrowDown);
    assert_eq!(harness.state().selected(), Some("memchr::count"));
    press(&mut harness, Key::End);
    assert_eq!(harness.state().selected(), Some("main"));
    press(&mut harness, Key::ArrowDown);
    assert_eq!(harness.state().selected(), Some("main"), "nothing is below");
    press(&mut harness, Key::Home);
    press(&mut harness, Key::PageDown);
    assert_eq!(harness.state().selected(), Some("main"), "a page is more than there is");
    press(&mut harness, Key::ArrowUp);
    harness.event(Event::Copy);
    harness.run();
    assert_eq!(harness.state().copied(), Some("10.000000\t10.00\t10.000000\t10.00\t10\tio::write\tio 1.2.3\tio.rs:7"),);
}

#[test]
fn the_menu_copies_and_searches() {
    let mut harness = open(functions());
    for (entry, copied) in [
        ("Copy name", "memchr::count"),
        ("Copy name with file:line", "memchr::count (src/memchr.rs:7)"),
        ("Copy row as TSV", "30.000000\t30.00\t30.000000\t30.00\t30\tmemchr::count\tmemchr 1.2.3\tmemchr.rs:7"),
    ] {
        harness.get_by_label_contains("memchr::count,").click_secondary();
        harness.run();
        harness.get_by_label(entry).click();
        harness.run();
        assert_eq!(harness.state().copied(), Some(copied));
    }
    harness.get_by_label_contains("memchr::count,").click_secondary();
    harness.run();
    harness.get_by_label("Copy table as TSV").click();
    harness.run();
    let table: Vec<&str> = harness.state().copied().expect("it was copied").lines().collect();
    assert_eq!(table[0], "CPU self (ms)\tself %\tCPU total (ms)\ttotal %\tself samples\tfunction\tcrate\thottest line");
    assert_eq!(table.len(), 5);
    harness.get_by_label_contains("memchr::count,").click_secondary();
    harness.run();
    harness.get_by_label("Search for this name").click();
    harness.run();
    assert_eq!(harness.state().selection().search, "memchr::count");
    assert_eq!(first_names(&harness), ["memchr::count"]);
    harness.get_by_label("1 of 4 functions, 30.0 % of self");
}

#[test]
fn shares_stay_those_of_everything_while_searching() {
    let mut harness = open(functions());
    act(&mut harness, &Action::Search("COUNT".to_owned()));
    assert!(rows(&harness)[0].starts_with("memchr::count, CPU self 30.0 ms, self % 30.0 %"));
}

#[test]
fn nothing_is_explained_with_a_way_out() {
    let harness = open(empty());
    harness.get_by_label("This profile has no samples.");

    let mut harness = open(functions());
    act(&mut harness, &Action::Search("xyz".to_owned()));
    harness.get_by_label("No function of this profile matches the search.");
    harness.get_by_label("Clear the search").click();
    harness.run();
    assert_eq!(rows(&harness).len(), 4);

    let range = TimeRange { start: Time(20_100_000), end: Time(20_200_000) };
    act(&mut harness, &Action::SelectRange(Some(range)));
    harness.get_by_label("No samples between 20.100 ms and 20.200 ms.");
    harness.get_by_label("Count the whole time").click();
    harness.run();
    assert_eq!(harness.state().selection().range, None);
    assert_eq!(rows(&harness).len(), 4);
}

#[test]
fn the_measure_can_be_chosen_and_titles_follow() {
    let mut harness = open(functions());
    harness.get_by_label("Off-CPU").click();
    harness.run();
    assert_eq!(harness.state().selection().measure, Measure::OffCpu);
    assert_eq!(
        rows(&harness)[0],
        "io::write, off-CPU self 5.00 ms, self % 100.0 %, off-CPU total 5.00 ms, total % 100.0 %, self waits 1, crate io \
         1.2.3, hottest line io.rs:7"
    );
    harness.get_by_label("Samples").click();
    harness.run();
    assert!(rows(&harness)[0].starts_with("search::find, self samples 60, self % 60.0 %, total samples 90"));
    assert!(harness.query_by_label("self waits").is_none());
}

#[test]
fn what_does_not_add_up_is_said_with_a_way_out() {
    let mut profile = TestProfile::new();
    for unit in [WeightUnit::Samples, WeightUnit::Bytes] {
        let thread = profile.thread("t");
        profile.more_samples(thread, 3, "main");
        let samples = &mut profile.builder.thread_mut(thread).samples;
        samples.cpu.fill(CpuDelta::UNKNOWN);
        samples.weight_unit = unit;
    }
    let mut harness = open(profile.finish());
    harness.get_by_label(
        "The samples of these threads count different things (samples and bytes); choose threads that count the same.",
    );
    harness.get_by_label("Count samples").click();
    harness.run();
    assert!(rows(&harness)[0].starts_with("main, self samples 6, self % 100.0 %"), "{:?}", rows(&harness));
}

#[test]
fn names_with_few_samples_are_greyed_and_say_how_sure_they_are() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for (name, count) in [("often", 96), ("seldom", 4)] {
        profile.more_samples(thread, count, name);
    }
    let mut harness = open(profile.finish());
    harness.get_by_label_contains("seldom,").hover();
    harness.run_steps(60);
    harness.get_by_label_contains("self: 4.00 ms, 4.0 % (1.6 % to 9.8 % with 95 % certainty, 4 samples)");
    harness.get_by_label("Greyed: too few samples to judge its self.");
    harness.get_by_label_contains("often,").hover();
    harness.run_steps(60);
    assert!(harness.query_by_label("Greyed: too few samples to judge its self.").is_none());
}

#[test]
fn one_sample_is_a_table_too() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    profile.more_samples(thread, 1, "main");
    let harness = open(profile.finish());
    assert_eq!(first_names(&harness), ["main"]);
}

#[test]
fn of_a_hundred_thousand_functions_only_visible_ones_are_drawn() {
    let mut harness = open(many_functions(100_000));
    let shown = first_names(&harness);
    assert!(shown.len() < 20, "{}", shown.len());
    assert_eq!(shown[0], "krate::function_099999", "the one with the most");
    // Selected elsewhere: the table goes there.
    let wanted = Some(harness.state().function("krate::function_050000"));
    act(&mut harness, &Action::SelectFunction(wanted));
    assert!(first_names(&harness).iter().any(|name| name == "krate::function_050000"));
}

#[test]
fn rows_are_never_cut_when_the_table_goes_to_one() {
    let mut harness = open(many_functions(1_000));
    let document = std::sync::Arc::clone(&harness.state().document);
    harness.get_by_label_contains("krate::function_000999,").click();
    harness.run();
    for name in ["krate::function_000500", "krate::function_000998", "krate::function_000003"] {
        let mut functions = (0..document.profile.functions.len()).map(traceview_core::model::FunctionId::new);
        let wanted = functions.find(|id| document.function_name(*id) == name);
        harness.state_mut().act(&Action::SelectFunction(wanted));
        for key in [None, Some(Key::ArrowDown), Some(Key::End)] {
            key.into_iter().for_each(|key| press(&mut harness, key));
            harness.run();
            let header = harness.get_by_label("function").rect().bottom();
            let tops = harness.query_all_by_role(egui::Role::Row).map(|row| (row.rect().top() - header) / 20.0);
            let cut = tops.filter(|rows| (rows - rows.round()).abs() > 0.01).count();
            assert_eq!(cut, 0, "{name}, {key:?}");
        }
    }
}

#[test]
fn crates_say_that_rows_are_the_kernels_and_tooltips_that_lines_are_of_calls() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    profile.samples(thread, 0..50, "app::main:7;[kernel] read");
    let mut harness = open(profile.finish());
    assert!(rows(&harness)[0].ends_with("crate kernel, hottest line app.rs:7"), "{:?}", rows(&harness));
    harness.get_by_label_contains("[kernel] read,").hover();
    harness.run_steps(60);
    harness.get_by_label("called from src/app.rs:7");
}

#[test]
fn names_of_any_length_keep_their_ends() {
    let mut profile = TestProfile::new();
    let thread = profile.thread("main");
    for end in ["first", "second"] {
        profile.more_samples(thread, 20, &format!("{}::{end}", "long::".repeat(332) + "segment"));
    }
    let harness = open(profile.finish());
    assert_eq!(rows(&harness).len(), 2);
    for row in rows(&harness) {
        assert!(row.len() > 2_000, "assistive technology gets all of it");
    }
}

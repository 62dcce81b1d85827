//! Examples of transforms, and what they do to samples with and without times.

use super::super::fixture::Fixture;
use super::super::{Measure, Selection, StackValues, call_tree};
use super::*;
use crate::model::{
    Marker, MarkerTiming, Nanos, Slice, StackId, StandardCategory, Time, ValueColumn, ValueType, Values,
};

fn function(profile: &Profile, name: &str) -> FunctionId {
    let is_it = |row: &usize| profile.string(profile.functions.name[*row]) == name;
    FunctionId::new((0..profile.functions.len()).find(is_it).expect("the profile has it"))
}

/// Each node of the tree as `depth name total`.
fn tree(profile: &Profile, measure: Measure) -> Vec<String> {
    let values = StackValues::of(profile, &Selection::default(), measure).expect("values add up");
    let tree = call_tree(profile, &values);
    let row = |id| {
        let node = tree.node(id);
        format!("{} {} {}", node.depth, node.callee.name(profile), node.total.value)
    };
    let mut rows: Vec<String> = tree.ids().map(row).collect();
    rows.sort();
    rows
}

/// 6 ms of a parser that calls itself, 3 ms of I/O, 1 ms of neither.
fn recursive() -> Profile {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    fixture.samples(
        thread,
        &[("main;parse;list;parse;list;parse;memchr", 4), ("main;parse;list", 2), ("main;load;[read]", 3), ("main", 1)],
    );
    fixture.finish()
}

fn after(profile: &Profile, transforms: &[Transform]) -> Vec<String> {
    let profile = transforms.iter().fold(profile.clone(), |profile, transform| transform.apply(&profile));
    tree(&profile, Measure::Samples)
}

#[test]
fn one_after_the_other() {
    let profile = recursive();
    let [parse, list, load] = ["parse", "list", "load"].map(|name| function(&profile, name));
    let once = [Transform::CollapseRecursion(parse)];
    assert_eq!(after(&profile, &once), ["0 main 10", "1 load 3", "1 parse 6", "2 [read] 3", "2 list 2", "2 memchr 4"]);
    // `list` is next to itself once `parse` is gone.
    let merged = [Transform::MergeFunction(parse), Transform::CollapseDirectRecursion(list)];
    assert_eq!(after(&profile, &merged), ["0 main 10", "1 list 6", "1 load 3", "2 [read] 3", "2 memchr 4"]);
    let focused = [Transform::FocusFunction(parse), Transform::CollapseFunction(list)];
    assert_eq!(after(&profile, &focused), ["0 parse 6", "1 list 6"]);
    assert_eq!(after(&profile, &[Transform::DropFunction(parse), Transform::FocusSelf(vec![load])]), [""; 0]);
    let inverted = Transform::FocusSelf(vec![function(&profile, "memchr"), parse, list]);
    assert_eq!(after(&profile, std::slice::from_ref(&inverted)).len(), 7);
    assert_eq!(inverted.title(&profile), ("Callers from", "list"));
}

#[test]
fn a_library_or_a_category_becomes_one_or_all() {
    let profile = recursive();
    let demo = LibraryId::new(0);
    let joined = Transform::CollapseLibrary(demo);
    assert_eq!(after(&profile, std::slice::from_ref(&joined)), ["0 demo 10", "1 [read] 3"]);
    assert_eq!(joined.title(&profile), ("Collapse", "demo"));
    let kernel = StandardCategory::Kernel.id();
    assert_eq!(after(&profile, &[Transform::DropCategory(kernel)]).first().map(String::as_str), Some("0 main 7"));
    assert_eq!(after(&profile, &[Transform::FocusCategory(kernel)]), ["0 [read] 3"]);
    // What is not theirs keeps its time, without a stack.
    let values = |profile: &Profile| StackValues::of(profile, &Selection::default(), Measure::Cpu).expect("CPU time");
    let only = values(&Transform::FocusCategory(kernel).apply(&profile));
    assert_eq!((only.total, only.without_stack.value), (values(&profile).total, 7e6));
    assert_eq!(values(&Transform::DropCategory(kernel).apply(&profile)).total.value, 7e6);
}

#[test]
fn what_is_dropped_leaves_the_time_of_others_as_it_is() {
    let profile = recursive();
    let dropped = Transform::DropFunction(function(&profile, "parse")).apply(&profile);
    let (before, samples) = (&profile.threads[0].samples, &dropped.threads[0].samples);
    assert_eq!((samples.len(), &samples.time), (10, &before.time));
    let cpu: Vec<Option<i64>> = (0..10).map(|row| samples.cpu_of(row).map(|cpu| cpu.0)).collect();
    let ms = Some(1_000_000);
    assert_eq!(cpu, [vec![Some(0); 6], vec![ms; 4]].concat());
}

#[test]
fn without_times_dropped_samples_are_gone_from_all_columns() {
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let stacks: Vec<Option<StackId>> = ["a;b", "a", "a;b;c"].map(|text| Some(fixture.stack(text))).to_vec();
    let [name, unit] = ["space", "bytes"].map(|text| fixture.builder.string(text));
    let value_type = fixture.builder.value_type(ValueType { name, unit });
    let thread = fixture.builder.thread_mut(thread);
    thread.timed = false;
    thread.samples.stack = stacks.into_iter().chain([None]).collect();
    thread.samples.weight = Values::Integer(vec![1, 20, 300, 4000]);
    let values = Values::Float(vec![0.5, 1.5, 2.5, 3.5]);
    thread.samples.values.push(ValueColumn { value_type, values });
    let profile = fixture.finish();
    let b = function(&profile, "b");
    let columns = |transform: Transform| {
        let profile = transform.apply(&profile);
        let samples = &profile.threads[0].samples;
        (samples.weight.clone(), samples.values[0].values.clone(), samples.len())
    };
    let kept = columns(Transform::DropFunction(b));
    assert_eq!(kept, (Values::Integer(vec![20, 4000]), Values::Float(vec![1.5, 3.5]), 2), "no stack: not through b");
    let kept = columns(Transform::FocusFunction(b));
    assert_eq!(kept, (Values::Integer(vec![1, 300]), Values::Float(vec![0.5, 2.5]), 2));
    assert_eq!(columns(Transform::Within(String::new())).2, 0, "nothing has a time");
}

#[test]
fn what_lies_within_markers_and_slices_stays() {
    let mut fixture = Fixture::new();
    let [thread, other] = ["main", "other"].map(|name| fixture.thread(name, 1));
    let (stack, category) = (fixture.stack("main;work"), StandardCategory::Other.id());
    for thread in [thread, other] {
        (0..10).for_each(|time| fixture.sample(thread, time * 10, Some(stack), Some(10)));
        fixture.wait(thread, 15, 100, Some(stack), "read");
    }
    let [request, batch] = ["Request /index", "batch of REQUESTS"].map(|text| fixture.builder.string(text));
    let main = fixture.builder.thread_mut(thread);
    for timing in [MarkerTiming::Interval(Time(20), Time(39)), MarkerTiming::Instant(Time(90))] {
        main.markers.push(Marker { name: request, timing, category, schema: None, payload: None, stack: None });
    }
    main.slices.push(Slice {
        start: Time(60),
        duration: Nanos(10),
        name: batch,
        category,
        parent: None,
        depth: 0,
        lane: 0,
        args: None,
        incomplete: false,
    });
    let profile = Transform::Within("request".to_owned()).apply(&fixture.finish());
    let ran = |row: usize| {
        let samples = &profile.threads[row].samples;
        (0..samples.len()).filter(|row| samples.stack[*row].is_some()).map(|row| samples.time[row].0).collect()
    };
    let (of_main, of_other): (Vec<i64>, Vec<i64>) = (ran(0), ran(1));
    assert_eq!((of_main, of_other), (vec![20, 30, 60, 70], vec![]));
    let waits: Vec<(i64, i64)> = profile.threads[0].waits.iter().map(|wait| (wait.start.0, wait.duration.0)).collect();
    assert_eq!(waits, [(20, 19), (60, 10)]);
    assert!(profile.threads[1].waits.is_empty());
}

#[test]
fn deep_recursion_takes_linear_time() {
    const DEPTH: usize = 200_000;
    let mut fixture = Fixture::new();
    let thread = fixture.thread("main", 1);
    let text = vec!["f"; DEPTH].join(";");
    let stack = fixture.stack(&text);
    (0..DEPTH).for_each(|at| fixture.sample(thread, at as i64, Some(StackId::new(at)), Some(1)));
    assert_eq!(stack, StackId::new(DEPTH - 1));
    let profile = fixture.finish();
    let f = function(&profile, "f");
    let half = vec![f; DEPTH / 2];
    let stacks = |transform: Transform| transform.apply(&profile).stacks.len();
    assert_eq!(stacks(Transform::MergeNode(half.clone())), DEPTH - 1);
    assert_eq!(stacks(Transform::FocusNode(half.clone())), DEPTH / 2 + 1);
    assert_eq!(stacks(Transform::FocusSelf(half)), DEPTH);
    assert_eq!(stacks(Transform::CollapseRecursion(f)), 1);
    assert_eq!(stacks(Transform::MergeFunction(f)), 0);
}

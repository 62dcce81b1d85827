//! Texts for AI assistants: read back, they are the call tree that the analysis has, whatever the profile and its names.

mod hostile;
mod parse;
mod plain;

use serde_json::Value;
use traceview_core::analysis::{
    Measure, Selection, StackValues, call_tree, default_measure, functions, slices_as_samples,
};
use traceview_core::model::{Profile, TimeRange};
use traceview_core::report::{AiForm, AiOptions, AiSubject, AiTextError, TreeLimits, ai_text, top_json, tree_json};

use self::parse::Text;
use super::fixtures;

const FORMS: [AiForm; 2] = [AiForm::Blocks, AiForm::Lines];
/// Numbers are rounded to a thousandth of the whole, or better.
const ROUNDING: f64 = 1e-3;

fn text(profile: &Profile, values: &StackValues, options: AiOptions) -> Result<String, AiTextError> {
    let subject = AiSubject { selection: &Selection::default(), range: TimeRange::ALL, file: None, filters: &[] };
    ai_text(profile, values, &subject, options)
}

fn all(form: AiForm) -> AiOptions {
    AiOptions { form, min_percent: 0.0, budget: None }
}

fn values(profile: &Profile, measure: Measure) -> StackValues {
    StackValues::of(profile, &Selection::default(), measure).expect("it can be added up")
}

/// How many ns (bytes, …) the unit of the text is.
fn factor(unit: &str) -> f64 {
    match unit.split(' ').next().unwrap_or_default() {
        "µs" | "kB" => 1e3,
        "ms" | "MB" | "million" => 1e6,
        "GB" | "billion" => 1e9,
        _ => 1.0,
    }
}

/// Both texts, with all nodes, say the tree of `values`.
fn assert_says_tree(profile: &Profile, values: &StackValues, what: &str) {
    let expected = plain::tree(profile, values);
    let json: Value =
        serde_json::from_str(&tree_json(profile, &mut call_tree(profile, values), None, TreeLimits::NONE))
            .expect("the report's JSON");
    for form in FORMS {
        let text = text(profile, values, all(form)).expect("a text");
        let read = Text::of(&text);
        let factor = factor(&read.unit);
        let tolerance = ROUNDING * values.total.value.abs().max(1e-9);
        let is_near = |number: f64, exact: f64| (number * factor - exact).abs() <= tolerance;
        let found = read.paths();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what} {form:?}");
        for (path, node) in &found {
            let expected = &expected[path];
            let is_right = is_near(node.total, expected.total) && is_near(node.own, expected.own);
            assert!(is_right, "{what} {form:?} {path:?}: {node:?}, expected {expected:?}");
            let has_place = node.merged > 1 || node.file.is_none() || expected.may_have(node.line);
            assert!(has_place, "{what} {form:?} {path:?}: {node:?}, expected {expected:?}");
        }
        // What is shown and what has no stack is what JSON has as a total.
        let sum = read.parts.iter().map(|(_, own)| own).sum::<f64>() + read.stackless;
        let total = json["total"].as_f64().expect("a total");
        assert!((sum * factor - total).abs() <= 4.0 * tolerance, "{what} {form:?}: {sum} {}, {total}", read.unit);
        assert_eq!(read.parts[0].0, read.nodes.len(), "{what} {form:?}");
        assert_eq!(text, self::text(profile, values, all(form)).expect("a text"), "{what}: equal each time");
    }
}

fn read(path: &str) -> Profile {
    fixtures::read(path).unwrap_or_else(|error| panic!("{path}: {error}")).profile
}

#[test]
fn the_texts_say_the_call_tree_of_files_of_other_tools() {
    for path in [
        "pprof/golang/inline_hot.pprof",
        "pprof/google-pprof/report__sample.cpu",
        "pprof/synth/negative.pb.gz",
        "gecko/samply-0.13-c-threads.json.gz",
        "gecko/samply-v41-ls-linux.json",
        "gecko/v70-rich.json",
        "gecko/v70-inline-native-symbols.json",
        "gecko/v70-native-allocations-balanced.json",
        "perf/srcline.perf",
        "cpuprofile/primes.cpuprofile",
        "speedscope/simple.speedscope.json",
    ] {
        let profile = read(path);
        assert_says_tree(&profile, &values(&profile, default_measure(&profile)), path);
    }
}

#[test]
fn the_texts_say_the_call_tree_of_slices() {
    for path in ["trace/devtools/basic-stack.json.gz", "trace/catapult/main_thread_has_unclosed_slices.json"] {
        let profile = slices_as_samples(&read(path), TimeRange::ALL);
        assert_says_tree(&profile, &values(&profile, Measure::Slices), path);
    }
}

#[test]
fn the_hottest_functions_are_those_of_the_report() {
    let profile = read("gecko/samply-0.13-c-threads.json.gz");
    let values = values(&profile, default_measure(&profile));
    let json: Value = serde_json::from_str(&top_json(&profile, &functions(&profile, &values), None, 10)).expect("JSON");
    let read = Text::of(&text(&profile, &values, all(AiForm::Lines)).expect("a text"));
    let expected: Vec<(f64, &str)> = json["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["self"].as_f64().expect("self"), row["name"].as_str().expect("a name")))
        .collect();
    let factor = factor(&read.unit);
    for ((own, name), (expected, expected_name)) in read.hottest.iter().zip(&expected) {
        let is_near = (own * factor - expected).abs() <= ROUNDING * values.total.value;
        assert!(is_near && (name == expected_name || own * factor == *expected), "{own} {name}, {expected}");
    }
    assert_eq!(read.hottest.len(), 10);
}

/// Weights are totals where nothing is negative: what is kept weighs no less than what is not.
fn assert_budget(profile: &Profile, values: &StackValues, budget: usize, what: &str) {
    for form in FORMS {
        let options = AiOptions { budget: Some(budget), ..all(form) };
        let found = match text(profile, values, options) {
            Ok(found) => found,
            Err(AiTextError::NoRoom { needed, .. }) => {
                assert!(needed > budget, "{what}: {needed} and {budget}");
                let found = text(profile, values, AiOptions { budget: Some(needed), ..options }).expect("it is enough");
                // Where all has room nothing is said to be left out.
                assert!(found.chars().count() <= needed, "{what}: {needed}");
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        let chars = found.chars().count();
        assert!(chars <= budget, "{what} {form:?}: {chars} of {budget}");
        let (read, whole) = (Text::of(&found), Text::of(&text(profile, values, all(form)).expect("a text")));
        let (kept, whole) = (read.paths(), whole.paths());
        let lightest = read.nodes.iter().map(|node| node.total).fold(f64::INFINITY, f64::min);
        for (path, node) in &whole {
            match kept.get(path) {
                // Of several of one name some can be left out.
                _ if node.merged > 1 => {}
                Some(kept) => assert_eq!((kept.total, kept.own), (node.total, node.own), "{what}"),
                None => assert!(node.total <= lightest, "{what} {form:?} {budget}: {path:?} is left out"),
            }
        }
        let count = read.parts.iter().map(|(count, _)| count).sum::<usize>();
        assert_eq!(count, call_tree_nodes(&whole), "{what}");
        let sum = read.parts.iter().map(|(_, own)| own).sum::<f64>() + read.stackless;
        let is_all = (sum * factor(&read.unit) - values.total.value).abs() <= 4.0 * ROUNDING * values.total.value;
        assert!(is_all, "{what} {form:?} {budget}: {sum} {} of {}", read.unit, values.total.value);
        let left_out = read.parts[2].0 > 0;
        assert_eq!(left_out, read.nodes.len() < call_tree_nodes(&whole), "{what} {form:?} {budget}");
    }
}

fn call_tree_nodes(paths: &std::collections::BTreeMap<Vec<String>, parse::Node>) -> usize {
    paths.values().map(|node| node.merged).sum()
}

#[test]
fn a_budget_keeps_the_heaviest_and_is_never_exceeded() {
    let profile = read("gecko/samply-0.13-c-threads.json.gz");
    let values = values(&profile, default_measure(&profile));
    for budget in (0..40).map(|step| step * 97).chain((10..30).map(|step| step * 701)) {
        assert_budget(&profile, &values, budget, "samply");
    }
    for form in FORMS {
        let whole = text(&profile, &values, all(form)).expect("a text");
        let chars = whole.chars().count();
        let options = |budget| AiOptions { budget: Some(budget), ..all(form) };
        assert_eq!(text(&profile, &values, options(chars + 20)).as_ref(), Ok(&whole), "room for all");
        let less = text(&profile, &values, options(chars / 2)).expect("a text").chars().count();
        assert!(less > chars / 2 - 400, "{less} of {}: room is used", chars / 2);
    }
}

#[test]
fn light_nodes_are_left_out_with_their_amounts() {
    let profile = read("gecko/samply-0.13-c-threads.json.gz");
    let values = values(&profile, default_measure(&profile));
    let whole = plain::tree(&profile, &values);
    for min_percent in [0.5, 2.0, 10.0, 100.0] {
        let options = AiOptions { min_percent, ..all(AiForm::Lines) };
        let read = Text::of(&text(&profile, &values, options).expect("a text"));
        let least = values.total.value * min_percent / 100.0;
        let factor = factor(&read.unit);
        let heavy = whole.values().filter(|node| node.total >= least * (1.0 - 1e-12)).count();
        assert_eq!((read.nodes.len(), read.parts[1].0), (heavy, whole.len() - heavy), "{min_percent}");
        let sum = read.parts.iter().map(|(_, own)| own).sum::<f64>() + read.stackless;
        assert!((sum * factor - values.total.value).abs() <= 4.0 * ROUNDING * values.total.value, "{min_percent}");
    }
}

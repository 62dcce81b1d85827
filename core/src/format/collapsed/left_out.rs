//! What a profile has and the file has no place for.

use super::super::WriteOptions;
use super::measure::{Measure, is_unsampled};
use super::names::Names;
use super::tree::Written;
use crate::model::{Profile, Thread, Warning};

const NO_PLACE: &str = "a collapsed file has no place for them";

pub(super) fn warnings(
    profile: &Profile,
    options: &WriteOptions,
    measure: Measure,
    names: &Names,
    written: &Written,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut add = |code: &str, [what, why]: [&str; 2], count: u64, first: Option<String>| {
        if count > 0 {
            let message = format!("{what} ({count}): {why}");
            warnings.push(Warning { code: code.to_owned(), message, count, first });
        }
    };
    let mut of_threads = |code, texts, count: &dyn Fn(&Thread) -> usize| {
        let mut with = profile.threads.iter().filter(|thread| count(thread) > 0).peekable();
        let first = with.peek().map(|thread| format!("thread {}", profile.string(thread.name)));
        add(code, texts, with.map(|thread| count(thread) as u64).sum(), first);
    };
    if !options.off_cpu || measure != Measure::Time {
        let why = "a collapsed file counts samples, unless `export --off-cpu` makes it count time";
        of_threads("waits-left-out", ["waits are left out", why], &|thread| thread.waits.len());
    }
    let why = "they count something else than those that are written, or their time is not known";
    of_threads("samples-left-out", ["samples are left out", why], &|thread| match measure.counted(profile, thread) {
        Some(_) if measure == Measure::Time && thread.knows_cpu() => {
            thread.samples.cpu.iter().filter(|cpu| cpu.get().is_none()).count()
        }
        Some(_) => 0,
        None => thread.samples.len(),
    });
    if matches!(measure, Measure::Weights(_)) {
        let why = "no sample was taken of them";
        of_threads("unsampled-left-out", ["amounts of CPU time are left out", why], &|thread| {
            thread.samples.stack.iter().flatten().filter(|stack| is_unsampled(profile, **stack)).count()
        });
    }
    if measure != Measure::Time {
        let why = "they are not what is counted; `export --off-cpu` writes times";
        of_threads("cpu-left-out", ["CPU times of samples are left out", why], &|thread| {
            if thread.knows_cpu() { thread.samples.len() } else { 0 }
        });
    }
    let why = "a collapsed file has one number for each stack";
    of_threads("values-left-out", ["columns of values are left out", why], &|thread| {
        let is_written = |id| matches!(measure, Measure::Column(written, ..) if written == id);
        thread.samples.values.iter().filter(|column| !is_written(column.value_type)).count()
    });
    of_threads("labels-left-out", ["labels of samples are left out", NO_PLACE], &|thread| {
        thread.samples.labels.iter().flatten().count()
    });
    of_threads("slices-left-out", ["slices are left out", NO_PLACE], &|thread| thread.slices.len());
    of_threads("markers-left-out", ["markers are left out", NO_PLACE], &|thread| thread.markers.len());
    let name = |id| profile.string(id).to_owned();
    let flow = (!profile.flows.is_empty()).then(|| name(profile.flows.name[0]));
    add("flows-left-out", ["flows are left out", NO_PLACE], profile.flows.len() as u64, flow);
    let counter = profile.counters.first().map(|counter| name(counter.name));
    add("counters-left-out", ["counters are left out", NO_PLACE], profile.counters.len() as u64, counter);
    let why = "`;`, ends of lines, spaces around a name and a number behind a space cannot be in a line's name";
    add("names-changed", ["names are changed", why], names.changed, names.first_changed.clone());
    add("values-not-finite", ["values are left out", "they are infinite or no numbers"], written.not_finite, None);
    add("sums-too-small", ["stacks are left out", "they are less than half a microsecond"], written.too_small, None);
    let why = "flame graph tools skip such lines";
    add("sums-negative", ["stacks have a negative sum", why], written.negative, None);
    warnings
}

//! What a profile has and the file has no place for.

use super::super::WriteOptions;
use super::super::omissions::Omissions;
use super::measure::{Measure, is_unsampled};
use super::names::Names;
use super::tree::Written;
use crate::model::{Profile, Warning};

const NO_PLACE: &str = "a collapsed file has no place for them";

pub(super) fn warnings(
    profile: &Profile,
    options: &WriteOptions,
    measure: Measure,
    names: &Names,
    written: &Written,
) -> Vec<Warning> {
    let mut omissions = Omissions::of(profile);
    if !options.off_cpu || measure != Measure::Time {
        let why = "a collapsed file counts samples, unless `export --off-cpu` makes it count time";
        omissions.of_threads("waits-left-out", ["waits are left out", why], |thread| thread.waits.len());
    }
    let why = "they count something else than those that are written, or their time is not known";
    omissions.of_threads("samples-left-out", ["samples are left out", why], |thread| {
        match measure.counted(profile, thread) {
            Some(_) if measure == Measure::Time && thread.knows_cpu() => {
                thread.samples.cpu.iter().filter(|cpu| cpu.get().is_none()).count()
            }
            Some(_) => 0,
            None => thread.samples.len(),
        }
    });
    if matches!(measure, Measure::Weights(_)) {
        let why = "no sample was taken of them";
        omissions.of_threads("unsampled-left-out", ["amounts of CPU time are left out", why], |thread| {
            thread.samples.stack.iter().flatten().filter(|stack| is_unsampled(profile, **stack)).count()
        });
    }
    if measure != Measure::Time {
        let why = "they are not what is counted; `export --off-cpu` writes times";
        omissions.of_threads("cpu-left-out", ["CPU times of samples are left out", why], |thread| {
            if thread.knows_cpu() { thread.samples.len() } else { 0 }
        });
    }
    let why = "a collapsed file has one number for each stack";
    omissions.of_threads("values-left-out", ["columns of values are left out", why], |thread| {
        let is_written = |id| matches!(measure, Measure::Column(written, ..) if written == id);
        thread.samples.values.iter().filter(|column| !is_written(column.value_type)).count()
    });
    omissions.of_threads("labels-left-out", ["labels of samples are left out", NO_PLACE], |thread| {
        thread.samples.labels.iter().flatten().count()
    });
    omissions.all_but_samples(NO_PLACE);
    let why = "`;`, ends of lines, spaces around a name and a number behind a space cannot be in a line's name";
    omissions.add("names-changed", ["names are changed", why], names.changed, names.first_changed.clone());
    omissions.add(
        "values-not-finite",
        ["values are left out", "they are infinite or no numbers"],
        written.not_finite,
        None,
    );
    let why = "they do not fit into 64 bits; the largest number stands for them";
    omissions.add("values-too-large", ["values are cut off", why], written.too_large, None);
    omissions.add(
        "sums-too-small",
        ["stacks are left out", "they are less than half a microsecond"],
        written.too_small,
        None,
    );
    let why = "flame graph tools skip such lines";
    omissions.add("sums-negative", ["stacks have a negative sum", why], written.negative, None);
    omissions.into_warnings()
}

//! What the samples of a profile count: the kinds of value that a person can choose from.

use super::amount::{Unit, UnitName};
use super::filter::{Measure, name_some};
use crate::model::{Meta, Profile, Thread, ValueTypeId, Values, WeightUnit};

/// A kind of value that samples have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SampleType {
    /// Its name, for example `alloc_space`.
    pub name: String,
    /// The name of its unit, as the file has it.
    pub unit: String,
    /// How it is counted.
    pub measure: Measure,
}

/// A name that is that of no sample type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no sample type is called `{name}`; there are {known}")]
pub struct NoSuchSampleType {
    /// What was looked for.
    pub name: String,
    /// Those that there are, as text.
    pub known: String,
}

/// The kinds of value that the samples of `profile` have. The names are those that a pprof file of it has.
pub fn sample_types(profile: &Profile) -> Vec<SampleType> {
    let sampled = || profile.threads.iter().filter(|thread| !thread.samples.is_empty());
    let mut types: Vec<SampleType> = Vec::new();
    let mut add = |name: &str, unit: &str, measure| {
        types.push(SampleType { name: name.to_owned(), unit: unit.to_owned(), measure });
    };
    let weights = [
        (WeightUnit::Samples, "samples", UnitName::COUNT),
        (WeightUnit::TracingMs, "time", "nanoseconds"),
        (WeightUnit::Bytes, "space", "bytes"),
    ];
    for (weight_unit, name, unit) in weights {
        if sampled().any(|thread| thread.samples.weight_unit == weight_unit && says_weights(thread)) {
            add(name, unit, Measure::Weights);
        }
    }
    if sampled().any(Thread::knows_cpu) {
        add("cpu", "nanoseconds", Measure::Cpu);
    }
    for (index, value_type) in profile.value_types.iter().enumerate() {
        let id = ValueTypeId::new(index);
        if sampled().any(|thread| thread.samples.values.iter().any(|column| column.value_type == id)) {
            add(profile.string(value_type.name), profile.string(value_type.unit), Measure::Value(id));
        }
    }
    types
}

/// The sample type called `name`.
///
/// # Errors
/// If there is none; the message lists those that there are.
pub fn sample_type(profile: &Profile, name: &str) -> Result<SampleType, NoSuchSampleType> {
    let types = sample_types(profile);
    let known = || name_some(types.iter().map(|each| &*each.name));
    let found = types.iter().find(|each| each.name == name).cloned();
    found.ok_or_else(|| NoSuchSampleType { name: name.to_owned(), known: known() })
}

/// What is counted of `profile` where nothing else is said: CPU time if it is known, else the sample type that its file
/// shows first, else the weights.
pub fn default_measure(profile: &Profile) -> Measure {
    if profile.threads.iter().any(Thread::knows_cpu) {
        return Measure::Cpu;
    }
    let default = profile.meta.extra_of(Meta::DEFAULT_SAMPLE_TYPE).and_then(|name| sample_type(profile, name).ok());
    match default.map(|default| default.measure) {
        Some(measure @ Measure::Value(_)) => measure,
        // Without CPU times these are the weights.
        _ => Measure::Cpu,
    }
}

/// Whether the weights of a thread say anything: rows without times, times and weights only have other values.
pub(crate) fn says_weights(thread: &Thread) -> bool {
    let samples = &thread.samples;
    samples.weight != Values::Ones || thread.timed || (samples.cpu.is_empty() && samples.values.is_empty())
}

impl Measure {
    /// What it counts in `profile`, by the name and unit of its sample type; `None` if that goes without saying.
    pub(crate) fn value_unit(self, profile: &Profile) -> Option<(Unit, i64)> {
        let Self::Value(id) = self else { return None };
        Some(Unit::scaled(profile.string(profile.value_types.get(id.index())?.unit)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Selection, StackValues};
    use super::*;
    use crate::model::{Label, LabelValue, ValueColumn, ValueType};

    /// A heap profile: two rows, of 3 and 1 objects of 400 and 20 kilobytes.
    fn heap() -> Profile {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("heap", 1);
        let stacks = ["main;push", "main;new"].map(|text| fixture.stack(text));
        let names = ["objects", "count", "space", "kb", "request", "big"].map(|text| fixture.builder.string(text));
        let [objects, count, space, kb, request, big] = names;
        let types = [(objects, count), (space, kb)];
        let [objects, space] = types.map(|(name, unit)| fixture.builder.value_type(ValueType { name, unit }));
        let labels = fixture.builder.label_set(vec![Label { key: request, value: LabelValue::Text(big) }]);
        let row = fixture.builder.thread_mut(thread);
        row.timed = false;
        row.samples.stack = stacks.map(Some).to_vec();
        row.samples.labels = vec![Some(labels), None];
        let values =
            |value_type, values: [i64; 2]| ValueColumn { value_type, values: Values::Integer(values.to_vec()) };
        row.samples.values = vec![values(objects, [3, 1]), values(space, [400, 20])];
        let extra = (Meta::DEFAULT_SAMPLE_TYPE.to_owned(), "space".to_owned());
        fixture.builder.meta_mut().extra.push(extra);
        fixture.finish()
    }

    #[test]
    fn a_heap_profile_is_counted_by_any_of_its_types() {
        let profile = heap();
        let types: Vec<_> = sample_types(&profile).into_iter().map(|each| (each.name, each.unit)).collect();
        assert_eq!(types, [("objects", "count"), ("space", "kb")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        let total = |measure| {
            let values = StackValues::of(&profile, &Selection::default(), measure).expect("it adds up");
            (values.total.value, values.unit)
        };
        let objects = sample_type(&profile, "objects").expect("it has it").measure;
        assert_eq!(total(objects), (4.0, Unit::Named(UnitName::new("count"))));
        assert_eq!(default_measure(&profile), sample_type(&profile, "space").expect("it has it").measure);
        assert_eq!(total(default_measure(&profile)), (420.0 * 1024.0, Unit::Bytes));
        let error = sample_type(&profile, "alloc_space").expect_err("it has not");
        assert_eq!(error.to_string(), "no sample type is called `alloc_space`; there are `objects`, `space`");
    }

    #[test]
    fn labels_choose_samples() {
        let profile = heap();
        let count = |pattern: &str| {
            let label_sets = super::super::select_labels(&profile, &[pattern.to_owned()])?;
            let selection = Selection { label_sets, ..Selection::default() };
            Ok(StackValues::of(&profile, &selection, default_measure(&profile)).expect("it adds up").total.samples)
        };
        assert_eq!(count("request=big"), Ok::<_, super::super::NoSuchLabel>(1));
        let refused = |pattern| count(pattern).expect_err(pattern).to_string();
        assert_eq!(refused("request=small"), "no sample has the label `request=small`; `request` is `big`");
        assert_eq!(refused("user=x"), "no sample has the label `user=x`; there are `request`");
    }

    #[test]
    fn recordings_have_samples_and_cpu_time() {
        let mut fixture = Fixture::new();
        let thread = fixture.thread("main", 1);
        fixture.samples(thread, &[("main", 3)]);
        let profile = fixture.finish();
        let names: Vec<_> = sample_types(&profile).into_iter().map(|each| each.name).collect();
        assert_eq!((names, default_measure(&profile)), (vec!["samples".to_owned(), "cpu".to_owned()], Measure::Cpu));
        let weights = StackValues::of(&profile, &Selection::default(), Measure::Weights).expect("it adds up");
        assert_eq!((weights.total.value, weights.unit), (3.0, Unit::Samples));
    }
}

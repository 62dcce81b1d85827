//! The rules that readers of the format hold files to. pprof's own check, and what Parca, Pyroscope and speedscope need
//! besides, made anew: decoding alone finds none of these.

use std::collections::BTreeSet;

use super::super::schema::{Location, Profile};

/// The rules that are broken.
pub(super) fn violations(profile: &Profile) -> Vec<String> {
    let mut check = Check { profile, broken: Vec::new() };
    check.texts();
    check.tables();
    check.samples();
    check.nothing_is_unused();
    check.broken
}

struct Check<'a> {
    profile: &'a Profile,
    broken: Vec<String>,
}

impl Check<'_> {
    fn rule(&mut self, holds: bool, rule: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(rule());
        }
    }

    fn is_text(&self, row: i64) -> bool {
        usize::try_from(row).is_ok_and(|row| row < self.profile.string_table.len())
    }

    fn texts(&mut self) {
        let texts = &self.profile.string_table;
        self.rule(texts.first().is_some_and(Vec::is_empty), || "text 0 is empty".to_owned());
        let distinct: BTreeSet<&Vec<u8>> = texts.iter().collect();
        self.rule(distinct.len() == texts.len(), || "texts are distinct".to_owned());
        self.rule(texts.iter().all(|text| str::from_utf8(text).is_ok()), || "texts are UTF-8".to_owned());
        let profile = self.profile;
        let mut rows = vec![profile.default_sample_type];
        rows.extend(profile.sample_type.iter().chain(&profile.period_type).flat_map(|each| [each.r#type, each.unit]));
        rows.extend(&profile.comment);
        for function in &profile.function {
            rows.extend([function.name, function.system_name, function.filename]);
        }
        rows.extend(profile.mapping.iter().flat_map(|mapping| [mapping.filename, mapping.build_id]));
        for label in profile.sample.iter().flat_map(|sample| &sample.label) {
            rows.extend([label.key, label.str, label.num_unit]);
        }
        let missing = rows.into_iter().find(|row| !self.is_text(*row));
        self.rule(missing.is_none(), || format!("text {missing:?} is in the table"));
        let types: Vec<i64> = profile.sample_type.iter().map(|each| each.r#type).collect();
        let distinct: BTreeSet<&i64> = types.iter().collect();
        self.rule(distinct.len() == types.len(), || "sample types are distinct".to_owned());
        self.rule(types.contains(&profile.default_sample_type), || "the default is a sample type".to_owned());
    }

    fn tables(&mut self) {
        let profile = self.profile;
        let dense = |ids: &mut dyn Iterator<Item = u64>| ids.zip(1..).all(|(id, expected)| id == expected);
        self.rule(dense(&mut profile.mapping.iter().map(|row| row.id)), || "mappings are numbered from 1".to_owned());
        self.rule(dense(&mut profile.location.iter().map(|row| row.id)), || "locations are numbered from 1".to_owned());
        self.rule(dense(&mut profile.function.iter().map(|row| row.id)), || "functions are numbered from 1".to_owned());
        for function in &profile.function {
            self.rule(function.name != 0, || format!("{function:?} has a name"));
            self.rule(function.name != function.system_name, || format!("{function:?} has two different names"));
        }
        let distinct: BTreeSet<_> =
            profile.function.iter().map(|row| (row.name, row.system_name, row.filename, row.start_line)).collect();
        self.rule(distinct.len() == profile.function.len(), || "functions are distinct".to_owned());
        let first = profile.mapping.first();
        self.rule(first.is_none_or(|row| row.filename != 0 && row.has_functions), || "the program is known".to_owned());
        for mapping in &profile.mapping {
            self.rule(mapping.memory_start <= mapping.memory_limit, || format!("{mapping:?} ends after it starts"));
        }
        for location in &profile.location {
            self.location(location);
        }
    }

    fn location(&mut self, location: &Location) {
        let (mappings, functions) = (self.profile.mapping.len() as u64, self.profile.function.len() as u64);
        let id = location.mapping_id;
        self.rule((1..=mappings).contains(&id), || format!("mapping of {location:?}"));
        self.rule(!location.line.is_empty(), || format!("{location:?} has a line"));
        let known = location.line.iter().all(|line| (1..=functions).contains(&line.function_id));
        self.rule(known, || format!("functions of {location:?}"));
        let mapping = self.profile.mapping.iter().find(|mapping| mapping.id == id);
        let inside = mapping.is_none_or(|row| {
            location.address == 0 || (row.memory_start..row.memory_limit).contains(&location.address)
        });
        self.rule(inside, || format!("{location:?} lies in {mapping:?}"));
    }

    fn samples(&mut self) {
        let (types, locations) = (self.profile.sample_type.len(), self.profile.location.len() as u64);
        self.rule(types > 0, || "there is a sample type".to_owned());
        let mut keys = BTreeSet::new();
        for sample in &self.profile.sample {
            self.rule(sample.value.len() == types, || format!("{sample:?} has a value of each type"));
            self.rule(sample.value.iter().any(|value| *value != 0), || format!("{sample:?} counts something"));
            self.rule(!sample.location_id.is_empty(), || format!("{sample:?} has a stack"));
            let known = sample.location_id.iter().all(|id| (1..=locations).contains(id));
            self.rule(known, || format!("locations of {sample:?}"));
            let names: BTreeSet<i64> = sample.label.iter().map(|label| label.key).collect();
            self.rule(names.len() == sample.label.len() && !names.contains(&0), || format!("label keys of {sample:?}"));
            for label in &sample.label {
                let is_text = label.str != 0;
                let is_number = label.num != 0 || label.num_unit != 0;
                self.rule(is_text != is_number, || format!("{label:?} is either text or number"));
            }
            let labels = sample.label.iter().map(|label| (label.key, label.str, label.num, label.num_unit));
            let is_new = keys.insert((sample.location_id.clone(), labels.collect::<Vec<_>>()));
            self.rule(is_new, || format!("{sample:?} is there once"));
        }
    }

    fn nothing_is_unused(&mut self) {
        let profile = self.profile;
        let used: BTreeSet<u64> = profile.sample.iter().flat_map(|sample| &sample.location_id).copied().collect();
        self.rule(used.len() == profile.location.len(), || "locations are of samples".to_owned());
        let lines = profile.location.iter().flat_map(|location| &location.line);
        let used: BTreeSet<u64> = lines.map(|line| line.function_id).collect();
        self.rule(used.len() == profile.function.len(), || "functions are of locations".to_owned());
    }
}

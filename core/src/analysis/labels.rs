//! Labels of samples: which there are, and samples chosen by them.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::name_some;
use crate::model::{Label, LabelSetId, LabelValue, Profile, StringId};

/// A label that no sample has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no sample has the label `{pattern}`; {known}")]
pub struct NoSuchLabel {
    /// What was looked for, as `KEY=VALUE`.
    pub pattern: String,
    /// What there is, as text.
    pub known: String,
}

/// A key of labels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LabelKey {
    /// Which.
    pub key: StringId,
    /// How many different values it has.
    pub values: usize,
}

/// The keys of all labels, by name.
pub fn label_keys(profile: &Profile) -> Vec<LabelKey> {
    let mut values: BTreeMap<&str, (StringId, BTreeSet<String>)> = BTreeMap::new();
    for label in profile.label_sets.sets.iter().flatten() {
        let (_, values) = values.entry(profile.string(label.key)).or_insert((label.key, BTreeSet::new()));
        values.insert(value_text(profile, label));
    }
    values.into_values().map(|(key, values)| LabelKey { key, values: values.len() }).collect()
}

/// The sets of labels that have every one of `patterns`, each a `KEY=VALUE`: the samples that carry one of them are meant.
/// `None` when nothing was asked for. The value of a number is its digits, with or without its unit behind them.
///
/// # Errors
/// The pattern that no label matches; it would only hide a typing mistake.
pub fn select_labels(profile: &Profile, patterns: &[String]) -> Result<Option<Vec<LabelSetId>>, NoSuchLabel> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let sets = &profile.label_sets.sets;
    let mut selected = vec![true; sets.len()];
    for pattern in patterns {
        let (key, value) = pattern.split_once('=').unwrap_or((pattern, ""));
        let is_meant = |label: &Label| {
            profile.string(label.key) == key && {
                let text = value_text(profile, label);
                let bare = matches!(label.value, LabelValue::Number(number, _) if number.to_string() == value);
                text == value || bare
            }
        };
        let has: Vec<bool> = sets.iter().map(|set| set.iter().any(is_meant)).collect();
        if !has.contains(&true) {
            return Err(NoSuchLabel { pattern: pattern.clone(), known: known(profile, key) });
        }
        selected.iter_mut().zip(has).for_each(|(selected, has)| *selected &= has);
    }
    Ok(Some((0..sets.len()).filter(|set| selected[*set]).map(LabelSetId::new).collect()))
}

/// The value of a label as text: a number is followed by its unit.
fn value_text(profile: &Profile, label: &Label) -> String {
    match label.value {
        LabelValue::Text(text) => profile.string(text).to_owned(),
        LabelValue::Number(number, None) => number.to_string(),
        LabelValue::Number(number, Some(unit)) => format!("{number}{}", profile.string(unit)),
    }
}

/// The values that `key` has, or the keys that there are.
fn known(profile: &Profile, key: &str) -> String {
    let labels = profile.label_sets.sets.iter().flatten();
    let of_key = labels.filter(|label| profile.string(label.key) == key);
    let values: BTreeSet<String> = of_key.map(|label| value_text(profile, label)).collect();
    if values.is_empty() {
        let keys = label_keys(profile);
        return format!("there are {}", name_some(keys.iter().map(|each| profile.string(each.key))));
    }
    format!("`{key}` is {}", name_some(values.iter().map(String::as_str)))
}

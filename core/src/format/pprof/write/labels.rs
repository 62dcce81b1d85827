//! Labels of samples: the thread, and what the model has.

use prost::encoding::message;
use rustc_hash::FxHashMap;

use super::super::names::{PID, PROCESS_NAME, THREAD_NAME, TID};
use super::super::schema::Label;
use super::mappings::program_name;
use super::strings::Strings;
use crate::model::{LabelSetId, LabelValue, OsId, Profile, StringId, ThreadId};

/// The unit of numbers that are names; tools show them bare.
const NAME_UNIT: &str = "id";
/// The field of a sample that has its labels.
const LABEL: u32 = 3;

/// Threads whose samples carry the same labels: systems use ids again.
pub(super) struct Group {
    pub threads: Vec<ThreadId>,
    pub labels: Vec<Label>,
}

/// All threads in groups, in order of their first threads.
pub(super) fn groups(profile: &Profile, strings: &mut Strings<'_>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let program = program_name(profile);
    let mut index: FxHashMap<(StringId, &OsId, &OsId, StringId), usize> = FxHashMap::default();
    for (row, thread) in profile.threads.iter().enumerate() {
        let process = &profile.processes[thread.process.index()];
        let pid = &process.pid;
        let group = *index.entry((thread.name, &thread.tid, pid, process.name)).or_insert_with(|| {
            let mut labels = Vec::new();
            // What has neither an id nor a name of its own is all that a file has, and no thread that anybody knows.
            if thread.tid != OsId::Text("".into()) || thread.name != process.name {
                labels.extend(text_label(strings.text(THREAD_NAME), strings.id(thread.name)));
            }
            labels.extend(os_id(TID, &thread.tid, strings));
            labels.extend(os_id(PID, pid, strings));
            if profile.string(process.name) != program {
                labels.extend(text_label(strings.text(PROCESS_NAME), strings.id(process.name)));
            }
            groups.push(Group { threads: Vec::new(), labels });
            groups.len() - 1
        });
        groups[group].threads.push(ThreadId::new(row));
    }
    groups
}

/// Labels of samples, encoded.
pub(super) struct Labels<'a> {
    profile: &'a Profile,
    /// Those of the samples of a group that have none of their own.
    of_group: Vec<u8>,
    /// Those of a sample that has this set of labels.
    of_set: Vec<u8>,
    set: Option<LabelSetId>,
    /// How many labels of that set have no place.
    left_out_of_set: u64,
    /// How many the format has no place for.
    pub left_out: u64,
}

impl<'a> Labels<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        Self { profile, of_group: Vec::new(), of_set: Vec::new(), set: None, left_out_of_set: 0, left_out: 0 }
    }

    /// From here on, samples are of `group`.
    pub(super) fn begin(&mut self, group: &Group) {
        self.set = None;
        self.of_group.clear();
        encode(&group.labels, &mut self.of_group);
    }

    /// The labels of a sample with this set: those of `group`, with which was [begun](Self::begin), then those of the model.
    /// A key stands once, or one of its values would be lost by chance.
    pub(super) fn of(&mut self, group: &Group, set: Option<LabelSetId>, strings: &mut Strings<'_>) -> &[u8] {
        let Some(id) = set else { return &self.of_group };
        // Neighbours often have the same.
        if self.set != set {
            self.set = set;
            self.encode_set(group, id, strings);
        }
        self.left_out += self.left_out_of_set;
        &self.of_set
    }

    fn encode_set(&mut self, group: &Group, set: LabelSetId, strings: &mut Strings<'_>) {
        let profile = self.profile;
        let mut labels = group.labels.clone();
        self.left_out_of_set = 0;
        for label in &profile.label_sets.sets[set.index()] {
            let key = strings.id(label.key);
            let encoded = match label.value {
                LabelValue::Text(text) => text_label(key, strings.id(text)),
                LabelValue::Number(num, unit) => Some(number_label(key, num, unit.map_or(0, |unit| strings.id(unit)))),
            };
            match encoded.filter(|_| key != 0 && labels.iter().all(|known| known.key != key)) {
                Some(label) => labels.push(label),
                None => self.left_out_of_set += 1,
            }
        }
        self.of_set.clear();
        encode(&labels, &mut self.of_set);
    }
}

/// Adds fields of a sample.
fn encode(labels: &[Label], to: &mut Vec<u8>) {
    for label in labels {
        message::encode(LABEL, label, to);
    }
}

fn os_id(key: &str, id: &OsId, strings: &mut Strings<'_>) -> Option<Label> {
    let key = strings.text(key);
    match id {
        OsId::Number(num) => Some(number_label(key, *num, strings.text(NAME_UNIT))),
        OsId::Text(text) => text_label(key, strings.text(text)),
    }
}

/// An empty text can't be told from none.
fn text_label(key: i64, text: i64) -> Option<Label> {
    (text != 0).then_some(Label { key, str: text, ..Label::default() })
}

/// A zero without a unit would be passed over; tools take the key for the unit of numbers without one.
fn number_label(key: i64, num: i64, unit: i64) -> Label {
    let num_unit = if num == 0 && unit == 0 { key } else { unit };
    Label { key, num, num_unit, ..Label::default() }
}

//! What is written, decoded again and checked: the rules of the format on every file, then what is in it.

mod code;
mod reading;
mod samples;
mod validity;

use std::collections::BTreeMap;

use prost::Message as _;

use super::schema;
use super::write;
use crate::format::WriteOptions;
use crate::model::{Profile, Warning};

/// A file that was written, and keeps the rules.
struct File {
    root: schema::Profile,
    warnings: Vec<Warning>,
}

const WITH_WAITS: WriteOptions = WriteOptions { off_cpu: true, measure: None };

fn written(profile: &Profile) -> File {
    written_with(profile, &WriteOptions::default())
}

fn written_with(profile: &Profile, options: &WriteOptions) -> File {
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    let warnings = write(profile, options, &mut bytes).expect("memory does not fail");
    write(profile, options, &mut again).expect("memory does not fail");
    assert!(bytes == again, "the same profile gives the same bytes");
    assert!(super::sniff(&bytes) && super::begins(&bytes));
    let root = schema::Profile::decode(&*bytes).expect("a message");
    assert_eq!(validity::violations(&root), [""; 0]);
    File { root, warnings }
}

impl File {
    fn text(&self, row: i64) -> &str {
        str::from_utf8(&self.root.string_table[usize::try_from(row).expect("a row")]).expect("UTF-8")
    }

    fn location(&self, id: u64) -> &schema::Location {
        self.root.location.iter().find(|location| location.id == id).expect("checked")
    }

    fn function(&self, id: u64) -> &schema::Function {
        self.root.function.iter().find(|function| function.id == id).expect("checked")
    }

    fn mapping_of(&self, location: &schema::Location) -> &schema::Mapping {
        self.root.mapping.iter().find(|mapping| mapping.id == location.mapping_id).expect("checked")
    }

    /// The sample types as `name/unit`.
    fn types(&self) -> Vec<String> {
        let types = self.root.sample_type.iter();
        types.map(|each| format!("{}/{}", self.text(each.r#type), self.text(each.unit))).collect()
    }

    /// The names of a sample's functions, the innermost first, parted by `;`, those of one location by `+`.
    fn stack(&self, sample: &schema::Sample) -> String {
        let name = |line: &schema::Line| self.text(self.function(line.function_id).name).to_owned();
        let names = |id: &u64| self.location(*id).line.iter().map(name).collect::<Vec<_>>().join("+");
        sample.location_id.iter().map(names).collect::<Vec<_>>().join(";")
    }

    /// The values by stack; those of samples that differ in their labels added.
    fn values(&self) -> BTreeMap<String, Vec<i64>> {
        let mut values: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for sample in &self.root.sample {
            let sums = values.entry(self.stack(sample)).or_insert_with(|| vec![0; sample.value.len()]);
            sums.iter_mut().zip(&sample.value).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        }
        values
    }

    /// The labels of a sample as `key=text` or `key=number unit`.
    fn labels(&self, sample: &schema::Sample) -> Vec<String> {
        let value = |label: &schema::Label| match label.str {
            0 => format!("{} {}", label.num, self.text(label.num_unit)),
            text => self.text(text).to_owned(),
        };
        sample.label.iter().map(|label| format!("{}={}", self.text(label.key), value(label))).collect()
    }

    fn warning(&self, code: &str) -> Option<u64> {
        self.warnings.iter().find(|warning| warning.code == code).map(|warning| warning.count)
    }
}

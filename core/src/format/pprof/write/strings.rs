//! The file's table of texts.

use rustc_hash::FxHashMap;

use crate::model::{Profile, StringId};

/// Distinct texts in the order of their first use, the empty one first. Those of the profile are not copied.
pub(super) struct Strings<'a> {
    profile: &'a Profile,
    rows: Vec<Text>,
    /// The row of each of the profile's strings, [`UNUSED`] without one.
    row_of: Vec<u32>,
    /// The rows of all others.
    added: FxHashMap<String, u32>,
}

enum Text {
    Of(StringId),
    Added(Box<str>),
}

const UNUSED: u32 = u32::MAX;

impl<'a> Strings<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let mut strings = Self {
            profile,
            rows: Vec::new(),
            row_of: vec![UNUSED; profile.strings.len()],
            added: FxHashMap::default(),
        };
        strings.text("");
        strings
    }

    /// The row of a string of the profile.
    pub(super) fn id(&mut self, id: StringId) -> i64 {
        let row = &mut self.row_of[id.index()];
        if *row == UNUSED {
            *row = next(&self.rows);
            self.rows.push(Text::Of(id));
        }
        i64::from(*row)
    }

    /// The row of any text.
    pub(super) fn text(&mut self, text: &str) -> i64 {
        if let Some(id) = self.profile.strings.find(text) {
            return self.id(id);
        }
        if let Some(row) = self.added.get(text) {
            return i64::from(*row);
        }
        let row = next(&self.rows);
        self.rows.push(Text::Added(text.into()));
        self.added.insert(text.to_owned(), row);
        i64::from(row)
    }

    /// All texts in order of their rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|text| match text {
            Text::Of(id) => self.profile.string(*id),
            Text::Added(text) => text,
        })
    }
}

fn next(rows: &[Text]) -> u32 {
    u32::try_from(rows.len()).expect("a profile has fewer than u32::MAX strings")
}

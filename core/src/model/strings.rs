//! The profile's one table of distinct strings.

use rustc_hash::FxHashMap;

use super::ids::StringId;

/// Distinct strings in the order of their first use.
///
/// Names of functions, files, markers, threads: whatever repeats is a [`StringId`] elsewhere.
#[derive(Clone, Debug, Default)]
pub struct StringTable {
    strings: Vec<std::sync::Arc<str>>,
    index: FxHashMap<std::sync::Arc<str>, StringId>,
}

impl StringTable {
    /// The string of `id`.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn get(&self, id: StringId) -> &str {
        &self.strings[id.index()]
    }

    /// The id of `string`, if the table has it.
    pub fn find(&self, string: &str) -> Option<StringId> {
        self.index.get(string).copied()
    }

    /// The id of `string`, added at the end if new.
    pub fn intern(&mut self, string: &str) -> StringId {
        if let Some(id) = self.find(string) {
            return id;
        }
        let id = StringId::new(self.strings.len());
        let shared: std::sync::Arc<str> = string.into();
        self.strings.push(shared.clone());
        self.index.insert(shared, id);
        id
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// All strings in order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.strings.iter().map(|string| &**string)
    }
}

impl PartialEq for StringTable {
    fn eq(&self, other: &Self) -> bool {
        self.strings == other.strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_an_id_and_order_is_of_first_use() {
        let mut table = StringTable::default();
        let b = table.intern("b");
        let a = table.intern("a");
        assert_eq!(table.intern("b"), b);
        assert_eq!(table.iter().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(table.find("a"), Some(a));
        assert_eq!(table.find("c"), None);
    }
}

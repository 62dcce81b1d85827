//! The profile's one table of distinct strings.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::ids::StringId;

/// Distinct strings in the order of their first use.
///
/// Names of functions, files, markers, threads: whatever repeats is a [`StringId`] elsewhere. All stand in one text, so that
/// a million of them cost little more than their letters.
#[derive(Clone, Debug, Default)]
pub struct StringTable {
    text: String,
    /// Where each ends; the one before (or the beginning) begins it.
    ends: Vec<usize>,
    /// By hash, in the place that it says or the next free one behind: index + 1, or 0 where there is none. A power of two.
    slots: Vec<u32>,
}

impl StringTable {
    /// The string of `id`.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn get(&self, id: StringId) -> &str {
        self.at(id.index())
    }

    /// The id of `string`, if the table has it.
    pub fn find(&self, string: &str) -> Option<StringId> {
        match self.slots.get(self.slot_of(string)) {
            None | Some(0) => None,
            Some(row) => Some(StringId::new(*row as usize - 1)),
        }
    }

    /// The id of `string`, added at the end if new.
    pub fn intern(&mut self, string: &str) -> StringId {
        if self.slots.len() * 3 <= (self.len() + 1) * 4 {
            self.grow();
        }
        let slot = self.slot_of(string);
        if self.slots[slot] != 0 {
            return StringId::new(self.slots[slot] as usize - 1);
        }
        let id = StringId::new(self.len());
        self.text.push_str(string);
        self.ends.push(self.text.len());
        self.slots[slot] = u32::try_from(self.len()).expect("tables have fewer than u32::MAX rows");
        id
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many bytes of memory they take.
    pub(super) fn memory(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>() + self.slots.len() * size_of::<u32>()
    }

    /// All strings in order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|row| self.at(row))
    }

    fn at(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }

    /// The slot that `string` has or would get; 0 in a table without slots.
    fn slot_of(&self, string: &str) -> usize {
        let Some(mask) = self.slots.len().checked_sub(1) else { return 0 };
        let mut slot = hash(string) & mask;
        while self.slots[slot] != 0 && self.at(self.slots[slot] as usize - 1) != string {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(16);
        self.slots.clear();
        self.slots.resize(slots, 0);
        for row in 0..self.len() {
            let mut slot = hash(self.at(row)) & (slots - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = u32::try_from(row + 1).expect("tables have fewer than u32::MAX rows");
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower bits choose the slot")]
fn hash(string: &str) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(string.as_bytes());
    hasher.finish() as usize
}

impl PartialEq for StringTable {
    fn eq(&self, other: &Self) -> bool {
        self.ends == other.ends && self.text == other.text
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
        assert_eq!(StringTable::default().find(""), None);
    }

    #[test]
    fn many_strings_keep_their_ids() {
        let mut table = StringTable::default();
        let names: Vec<String> = (0..10_000).map(|number| "x".repeat(number % 7) + &number.to_string()).collect();
        let ids: Vec<StringId> = names.iter().map(|name| table.intern(name)).collect();
        assert_eq!(table.len(), names.len());
        for (name, id) in names.iter().zip(ids) {
            assert_eq!((table.find(name), table.get(id)), (Some(id), &**name));
        }
        assert_eq!(table.intern(""), StringId::new(names.len()));
        assert_eq!(table.get(StringId::new(names.len())), "");
    }
}

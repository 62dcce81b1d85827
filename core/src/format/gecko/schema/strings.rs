//! Tables of strings.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::Str;
use crate::format::json_scan::{Scan, Scanner};

/// What the entries of any table may take, and how many times its text besides. An empty string is three bytes of a file
/// and eight times that here: strings that programs have are longer.
const LEAST: usize = 32 << 20;
const FACTOR: usize = 3;

/// A table of strings, which are not all too short.
#[derive(Debug, Default)]
pub(in super::super) struct Strings<'a>(Vec<Option<Str<'a>>>);

/// How much text a table has so far.
#[derive(Default)]
struct Size {
    entries: usize,
    bytes: usize,
}

impl Size {
    /// Adds an entry; `false` if there are too many for so little text.
    fn add(&mut self, entry: Option<&Str<'_>>) -> bool {
        // With quotes and comma, or `null` and comma.
        self.bytes += entry.map_or("null,".len(), |text| text.0.len() + "\"\",".len());
        self.entries += 1;
        self.entries * size_of::<Option<Str<'_>>>() <= self.bytes.saturating_mul(FACTOR).saturating_add(LEAST)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Strings<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Strings<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of strings")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Strings<'de>, A::Error> {
                let (mut strings, mut size) = (Vec::new(), Size::default());
                while let Some(entry) = seq.next_element::<Option<Str<'de>>>()? {
                    if !size.add(entry.as_ref()) {
                        let Size { entries, bytes } = size;
                        let message = format_args!("there are {entries} strings in a table of only {bytes} bytes");
                        return Err(A::Error::custom(message));
                    }
                    strings.push(entry);
                }
                Ok(Strings(strings))
            }
        }

        deserializer.deserialize_seq(Entries)
    }
}

impl<'a> Scan<'a> for Strings<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let (mut strings, mut size) = (Vec::new(), Size::default());
        scanner.array(|scanner| {
            let entry = Option::<Str<'a>>::scan(scanner)?;
            // What is too much is refused where serde reads it again.
            let fits = size.add(entry.as_ref());
            strings.push(entry);
            fits.then_some(())
        })?;
        // Other tables will be made before this one goes.
        strings.shrink_to_fit();
        Some(Self(strings))
    }
}

impl<'a> From<Vec<Option<Str<'a>>>> for Strings<'a> {
    fn from(strings: Vec<Option<Str<'a>>>) -> Self {
        Self(strings)
    }
}

impl<'s, 'a> IntoIterator for &'s Strings<'a> {
    type Item = &'s Option<Str<'a>>;
    type IntoIter = std::slice::Iter<'s, Option<Str<'a>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> Deref for Strings<'a> {
    type Target = Vec<Option<Str<'a>>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Strings<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::json_scan::{from_str, scan_all};

    #[test]
    fn many_strings_of_little_text_are_refused() {
        let table = |entry: &str, count: usize| format!("[{}]", vec![entry; count].join(","));
        // 24 bytes for each, of which 9 are its own.
        let most = LEAST / (24 - 9);
        assert_eq!(from_str::<Strings<'_>>(&table(r#""""#, most)).expect("as many as can be").len(), most);
        let error = from_str::<Strings<'_>>(&table(r#""""#, most + 1)).expect_err("one too many").to_string();
        assert!(error.starts_with(&format!("there are {} strings", most + 1)), "{error}");
        let (long, many) = (table(r#""main.rs""#, 2 * most), table("null", most));
        assert_eq!(scan_all::<Strings<'_>>(&long).expect("plain").len(), 2 * most);
        assert!(scan_all::<Strings<'_>>(&many).expect("plain").iter().all(Option::is_none));
    }
}

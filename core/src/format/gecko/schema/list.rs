//! Lists of objects.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::format::json_scan::{Scan, Scanner};

/// What the entries of a list take at most. An object is two bytes of a file where it is empty, and hundreds here, be it
/// empty or not: a list that is longer than this is none that a program wrote.
const MOST_BYTES: usize = 64 << 20;

/// A list of objects of the file, which is not too long.
#[derive(Debug)]
pub(in super::super) struct List<T>(pub Vec<T>);

impl<T> List<T> {
    const MOST: usize = MOST_BYTES / if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let most = List::<T>::MOST;
                let mut list = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    if list.len() == most {
                        return Err(A::Error::custom(format_args!("there are more than {most} objects in an array")));
                    }
                    list.push(entry);
                }
                Ok(List(list))
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

impl<'a, T: Scan<'a>> Scan<'a> for List<T> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let mut list = Vec::new();
        scanner.array(|scanner| {
            list.push(T::scan(scanner)?);
            // One that is too long is refused where serde reads it again.
            (list.len() <= Self::MOST).then_some(())
        })?;
        // Others will be made before this one goes.
        list.shrink_to_fit();
        Some(Self(list))
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(list: Vec<T>) -> Self {
        Self(list)
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut List<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

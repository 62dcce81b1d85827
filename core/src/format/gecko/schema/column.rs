//! The entries of columns. Files of other tools hold nulls, −1 and odd values where the format has numbers; an entry takes
//! any JSON value, and what it could not take is told apart from what was not there, so that it can be reported.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::format::json_scan::{Scalar, Scan, Scanner};

/// The number of a row of another table, or another small number: a line, a depth, a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Row(pub u32);

/// A number; NaN where there is none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in super::super) struct Real(pub f64);

/// An address relative to a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Address(pub i64);

/// A truth value; false where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct Flag(pub bool);

/// A size or address of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct Wide(pub Option<u64>);

/// A column of numbers of one kind: whole ones until the first that is not.
#[derive(Clone, PartialEq, Debug)]
pub(in super::super) enum Numbers {
    /// [`Numbers::NONE`] where there is none.
    Whole(Vec<i64>),
    /// NaN where there is none. With the rows of whole numbers that a double cannot hold, ascending.
    Real(Vec<f64>, Vec<(usize, i64)>),
}

impl Row {
    /// Null, −1, or a column that ended before.
    pub(in super::super) const NONE: Self = Self(u32::MAX);
    /// What is no number of a row.
    pub(in super::super) const BAD: Self = Self(u32::MAX - 1);

    /// The number, unless it is missing or none.
    pub(in super::super) fn get(self) -> Option<u32> {
        (self.0 < Self::BAD.0).then_some(self.0)
    }
}

impl Default for Row {
    fn default() -> Self {
        Self::NONE
    }
}

impl Default for Real {
    fn default() -> Self {
        Self(f64::NAN)
    }
}

impl Address {
    pub(in super::super) const NONE: Self = Self(-1);
    pub(in super::super) const BAD: Self = Self(i64::MIN);
}

impl Default for Address {
    fn default() -> Self {
        Self::NONE
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Whole(Vec::new())
    }
}

impl Numbers {
    pub(in super::super) const NONE: i64 = i64::MIN;

    pub(in super::super) fn len(&self) -> usize {
        match self {
            Self::Whole(values) => values.len(),
            Self::Real(values, _) => values.len(),
        }
    }

    /// Entry `row`, if it is a number.
    #[expect(clippy::cast_precision_loss, reason = "numbers of the file are doubles to all other tools")]
    pub(in super::super) fn get(&self, row: usize) -> Option<f64> {
        match self {
            Self::Whole(values) => values.get(row).filter(|value| **value != Self::NONE).map(|value| *value as f64),
            Self::Real(values, _) => values.get(row).copied().filter(|value| !value.is_nan()),
        }
    }

    /// Entry `row`, if it is a whole number.
    #[expect(clippy::cast_possible_truncation, reason = "whole, and what a double cannot hold is listed")]
    pub(in super::super) fn whole(&self, row: usize) -> Option<i64> {
        match self {
            Self::Whole(values) => values.get(row).copied(),
            Self::Real(values, exact) => match exact.binary_search_by_key(&row, |(row, _)| *row) {
                Ok(listed) => Some(exact[listed].1),
                Err(_) => values.get(row).filter(|value| value.fract() == 0.0).map(|value| *value as i64),
            },
        }
    }

    fn push(&mut self, number: Number) {
        match number {
            Number::Whole(value) => self.push_whole(value),
            Number::Real(value) => self.push_real(value),
        }
    }

    fn push_whole(&mut self, value: i64) {
        match self {
            Self::Whole(values) => values.push(value),
            Self::Real(values, exact) => {
                if is_beyond_doubles(value) {
                    exact.push((values.len(), value));
                }
                values.push(real(value));
            }
        }
    }

    fn push_real(&mut self, value: f64) {
        match self {
            Self::Whole(values) => {
                let listed = values.iter().copied().enumerate().filter(|(_, value)| is_beyond_doubles(*value));
                let listed = listed.collect();
                let mut reals: Vec<f64> = Vec::with_capacity(values.capacity());
                reals.extend(values.iter().map(|value| real(*value)));
                reals.push(value);
                *self = Self::Real(reals, listed);
            }
            Self::Real(values, _) => values.push(value),
        }
    }
}

fn is_beyond_doubles(value: i64) -> bool {
    value.unsigned_abs() > 1 << 53
}

#[expect(clippy::cast_precision_loss, reason = "numbers of the file are doubles to all other tools")]
fn real(value: i64) -> f64 {
    if value == Numbers::NONE { f64::NAN } else { value as f64 }
}

/// How many rows a column has.
pub(in super::super) fn stored_numbers(column: Option<&Numbers>) -> Option<usize> {
    column.map(Numbers::len)
}

/// What an entry makes of the values that JSON has.
trait Entry: Sized {
    fn whole(value: i64) -> Self;
    fn large(value: u64) -> Self;
    fn real(value: f64) -> Self;
    fn null() -> Self;
    fn bool(value: bool) -> Self;
    fn other() -> Self;
}

struct Entries<T>(std::marker::PhantomData<T>);

impl<'de, T: Entry> Visitor<'de> for Entries<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry of a column")
    }

    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(i64::try_from(value).map_or_else(|_| T::large(value), T::whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(T::real(value))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::null())
    }

    fn visit_str<E>(self, _value: &str) -> Result<T, E> {
        Ok(T::other())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<T, A::Error> {
        while entries.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::other())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<T, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::other())
    }
}

macro_rules! entries {
    ($($name:ident)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Entries(std::marker::PhantomData))
            }
        }

        impl<'a> Scan<'a> for $name {
            #[inline]
            fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
                match scanner.scalar() {
                    Some(Scalar::Whole(value)) => Some(<Self as Entry>::whole(value)),
                    Some(Scalar::Real(value)) => Some(<Self as Entry>::real(value)),
                    Some(Scalar::Null) => Some(<Self as Entry>::null()),
                    Some(Scalar::Bool(value)) => Some(<Self as Entry>::bool(value)),
                    None => scanner.by_serde(),
                }
            }
        }
    )*};
}

entries! { Row Real Address Flag Wide }

impl Entry for Row {
    fn whole(value: i64) -> Self {
        match value {
            -1 => Self::NONE,
            _ => u32::try_from(value).ok().filter(|row| *row < Self::BAD.0).map_or(Self::BAD, Self),
        }
    }

    fn large(_value: u64) -> Self {
        Self::BAD
    }

    #[expect(clippy::cast_possible_truncation, reason = "only whole numbers of the range stay what they are")]
    fn real(value: f64) -> Self {
        if value.fract() == 0.0 { Self::whole(value as i64) } else { Self::BAD }
    }

    fn null() -> Self {
        Self::NONE
    }

    fn bool(_value: bool) -> Self {
        Self::BAD
    }

    fn other() -> Self {
        Self::BAD
    }
}

impl Entry for Real {
    fn whole(value: i64) -> Self {
        Self(real(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of the file are doubles to all other tools")]
    fn large(value: u64) -> Self {
        Self(value as f64)
    }

    fn real(value: f64) -> Self {
        Self(value)
    }

    fn null() -> Self {
        Self::default()
    }

    fn bool(_value: bool) -> Self {
        Self::default()
    }

    fn other() -> Self {
        Self::default()
    }
}

impl Entry for Address {
    fn whole(value: i64) -> Self {
        if value < -1 { Self::BAD } else { Self(value) }
    }

    fn large(_value: u64) -> Self {
        Self::BAD
    }

    #[expect(clippy::cast_possible_truncation, reason = "only whole numbers of the range stay what they are")]
    fn real(value: f64) -> Self {
        if value.fract() == 0.0 { Self::whole(value as i64) } else { Self::BAD }
    }

    fn null() -> Self {
        Self::NONE
    }

    fn bool(_value: bool) -> Self {
        Self::BAD
    }

    fn other() -> Self {
        Self::BAD
    }
}

impl Entry for Flag {
    fn whole(value: i64) -> Self {
        Self(value != 0)
    }

    fn large(_value: u64) -> Self {
        Self(true)
    }

    fn real(value: f64) -> Self {
        Self(value != 0.0)
    }

    fn null() -> Self {
        Self(false)
    }

    fn bool(value: bool) -> Self {
        Self(value)
    }

    fn other() -> Self {
        Self(false)
    }
}

impl Entry for Wide {
    fn whole(value: i64) -> Self {
        Self(u64::try_from(value).ok())
    }

    fn large(value: u64) -> Self {
        Self(Some(value))
    }

    #[expect(clippy::cast_possible_truncation, reason = "only whole numbers of the range stay what they are")]
    fn real(value: f64) -> Self {
        if value.fract() == 0.0 { Self::whole(value as i64) } else { Self(None) }
    }

    fn null() -> Self {
        Self(None)
    }

    fn bool(_value: bool) -> Self {
        Self(None)
    }

    fn other() -> Self {
        Self(None)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Column;

        impl<'de> Visitor<'de> for Column {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a column of numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Numbers, A::Error> {
                let mut numbers = Numbers::default();
                while let Some(entry) = entries.next_element::<Number>()? {
                    numbers.push(entry);
                }
                Ok(numbers)
            }
        }

        deserializer.deserialize_seq(Column)
    }
}

impl<'a> Scan<'a> for Numbers {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let mut numbers = Self::default();
        scanner.array(|scanner| {
            numbers.push(Number::scan(scanner)?);
            Some(())
        })?;
        match &mut numbers {
            Self::Whole(values) => values.shrink_to_fit(),
            Self::Real(values, _) => values.shrink_to_fit(),
        }
        Some(numbers)
    }
}

#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

entries! { Number }

impl Entry for Number {
    fn whole(value: i64) -> Self {
        Self::Whole(value)
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond i64 only the double is left")]
    fn large(value: u64) -> Self {
        Self::Real(value as f64)
    }

    fn real(value: f64) -> Self {
        Self::Real(value)
    }

    fn null() -> Self {
        Self::Whole(Numbers::NONE)
    }

    fn bool(_value: bool) -> Self {
        Self::null()
    }

    fn other() -> Self {
        Self::null()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_take_any_value_and_tell_missing_from_odd() {
        let rows: Vec<Row> =
            serde_json::from_str(r#"[0, 7, -1, null, -2, 1.5, 3.0, "x", [1, [2]], {"a": 1}, true, 1e30, 4294967295]"#)
                .expect("entries");
        let (none, bad) = (Row::NONE, Row::BAD);
        assert_eq!(rows, [Row(0), Row(7), none, none, bad, bad, Row(3), bad, bad, bad, bad, bad, bad]);
        let addresses: Vec<Address> =
            serde_json::from_str("[5, -1, null, -2, 2e3, 18446744073709551615]").expect("entries");
        assert_eq!(addresses, [Address(5), Address::NONE, Address::NONE, Address::BAD, Address(2000), Address::BAD]);
        let wide: Vec<Wide> = serde_json::from_str("[18446744073709551615, -1, null]").expect("entries");
        assert_eq!(wide, [Wide(Some(u64::MAX)), Wide(None), Wide(None)]);
    }

    #[test]
    fn a_column_stays_whole_until_a_fraction_comes() {
        let whole: Numbers = serde_json::from_str("[1, null, -5]").expect("numbers");
        assert_eq!(whole, Numbers::Whole(vec![1, Numbers::NONE, -5]));
        assert_eq!((whole.get(0), whole.get(1), whole.get(9)), (Some(1.0), None, None));
        let Numbers::Real(real, _) = serde_json::from_str("[1, null, 0.5, 2]").expect("numbers") else {
            panic!("has a fraction")
        };
        let mixed: Numbers =
            serde_json::from_str("[9007199254740993, 0.5, 9223372036854775807, 3.0]").expect("numbers");
        let exact = [Some(9_007_199_254_740_993), None, Some(i64::MAX), Some(3)];
        assert_eq!([0, 1, 2, 3].map(|row| mixed.whole(row)), exact);
        assert!(real[1].is_nan());
        assert_eq!((real[0], real[2], real[3]), (1.0, 0.5, 2.0));
    }
}

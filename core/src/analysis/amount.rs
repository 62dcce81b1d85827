//! Amounts: what samples and waits add up to.

use std::ops::AddAssign;

/// What a set of samples (or waits) adds up to.
///
/// The value is a float because weights of foreign files can be fractional or negative. Nanoseconds and counts are
/// whole numbers and exact up to 2^53, which is 104 days of CPU time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Amount {
    /// In the [`Unit`] of whoever gives the amount.
    pub value: f64,
    /// How many samples or waits had a part in it.
    pub samples: u64,
}

impl Amount {
    /// Counts one sample or wait.
    pub fn add_one(&mut self, value: f64) {
        self.value += value;
        self.samples += 1;
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, rhs: Self) {
        self.value += rhs.value;
        self.samples += rhs.samples;
    }
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |mut sum, amount| {
            sum += amount;
            sum
        })
    }
}

/// What the values of [amounts](Amount) count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Time.
    Nanoseconds,
    /// Samples, or what stands for them in a file without CPU times.
    Samples,
    /// Memory.
    Bytes,
    /// Anything else that a file counts: objects, contentions, instructions.
    Named(UnitName),
}

/// The name of a unit, as a file has it. Names are a word, so what is longer than some is cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnitName {
    len: u8,
    bytes: [u8; MOST_BYTES],
}

const MOST_BYTES: usize = 22;

impl Unit {
    /// Its name in machine-readable output.
    pub fn name(&self) -> &str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Samples => "samples",
            Self::Bytes => "bytes",
            Self::Named(name) => name.as_str(),
        }
    }

    /// The unit that values of `name` are added up in, and how many of it one of them is.
    pub fn scaled(name: &str) -> (Self, i64) {
        let singular = |name: &'static str| move |text: &str| text.strip_suffix('s').unwrap_or(text) == name;
        let text = name.to_ascii_lowercase();
        let is = |short: &[&str], long: &'static str| short.contains(&&*text) || singular(long)(&text);
        let times: [(&[&str], &'static str, i64); 6] = [
            (&["ns"], "nanosecond", 1),
            (&["us", "µs", "μs"], "microsecond", 1_000),
            (&["ms"], "millisecond", 1_000_000),
            (&["s", "sec"], "second", 1_000_000_000),
            (&["min"], "minute", 60_000_000_000),
            (&["h", "hr"], "hour", 3_600_000_000_000),
        ];
        let sizes: [(&[&str], &'static str, i64); 4] = [
            (&["b"], "byte", 1),
            (&["kb", "kib"], "kilobyte", 1 << 10),
            (&["mb", "mib"], "megabyte", 1 << 20),
            (&["gb", "gib"], "gigabyte", 1 << 30),
        ];
        let of = |table: &[(&[&str], &'static str, i64)]| {
            table.iter().find(|(short, long, _)| is(short, long)).map(|(_, _, factor)| *factor)
        };
        match (of(&times), of(&sizes)) {
            (Some(factor), _) => (Self::Nanoseconds, factor),
            (None, Some(factor)) => (Self::Bytes, factor),
            (None, None) => (Self::Named(UnitName::new(name)), 1),
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl UnitName {
    /// Counts of things, the unit that goes without saying.
    pub const COUNT: &str = "count";

    /// The unit called `name`; without a name it is a count.
    pub fn new(name: &str) -> Self {
        let name = if name.is_empty() { Self::COUNT } else { name };
        let end = (0..=MOST_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
        let mut bytes = [0; MOST_BYTES];
        bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
        Self { len: u8::try_from(end).unwrap_or_default(), bytes }
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.len.into()]).unwrap_or_default()
    }
}

impl std::fmt::Debug for UnitName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self.as_str(), f)
    }
}

/// How many of how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// How many.
    pub part: u64,
    /// Of how many.
    pub whole: u64,
}

impl Share {
    /// In percent; `None` of nothing.
    #[expect(clippy::cast_precision_loss, reason = "counts of samples stay far below 2^53")]
    pub fn percent(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 * 100.0 / self.whole as f64)
    }
}

/// `part` in percent of `whole`; 0 where there is no whole to have a part of.
pub fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part * 100.0 / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_files_are_known_by_their_names() {
        for (name, unit, factor) in [
            ("nanoseconds", Unit::Nanoseconds, 1),
            ("ms", Unit::Nanoseconds, 1_000_000),
            ("Microsecond", Unit::Nanoseconds, 1_000),
            ("s", Unit::Nanoseconds, 1_000_000_000),
            ("kb", Unit::Bytes, 1024),
            ("bytes", Unit::Bytes, 1),
        ] {
            assert_eq!(Unit::scaled(name), (unit, factor), "{name}");
        }
        for (name, shown) in [("count", "count"), ("", "count"), ("GCU", "GCU"), ("ééééééééééééééé", "ééééééééééé")]
        {
            assert_eq!(Unit::scaled(name).0.name(), shown, "{name}");
        }
    }
}

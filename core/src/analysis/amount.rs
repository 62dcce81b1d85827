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
}

impl Unit {
    /// Its name in machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Samples => "samples",
            Self::Bytes => "bytes",
        }
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

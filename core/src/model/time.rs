//! Time in integer nanoseconds. Pixels and milliseconds are computed from these at the edges, never stored.

use std::ops::{Add, AddAssign, Sub};

/// A moment, in ns from the start of the profile. Negative before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub i64);

/// A length of time (wall or CPU), in ns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nanos(pub i64);

impl Time {
    /// The start of the profile.
    pub const ZERO: Self = Self(0);

    /// This moment in milliseconds, the unit of Firefox profiles. Exact to the ns for 104 days.
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The moment `millis` ms from the profile's start, rounded half to even; `None` if not a finite number that fits.
    pub fn from_millis_f64(millis: f64) -> Option<Self> {
        nanos_of_millis(millis).map(Self)
    }
}

impl Nanos {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// This length in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        Time(self.0).as_millis_f64()
    }

    /// This length in seconds.
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The length of `millis` ms, rounded half to even; `None` if not a finite number that fits.
    pub fn from_millis_f64(millis: f64) -> Option<Self> {
        nanos_of_millis(millis).map(Self)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(nanos: f64) -> Option<i64> {
    // Doubles from here to twice this are the whole numbers. What is added to it is rounded to one of them, without the
    // call that rounding takes on processors of the oldest kind.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let nanos = if (0.0..WHOLE).contains(&nanos) { (nanos + WHOLE) - WHOLE } else { nanos.round_ties_even() };
    (nanos.abs() < 9.2e18).then_some(nanos as i64)
}

fn nanos_of_millis(millis: f64) -> Option<i64> {
    whole(millis * 1e6)
}

impl Add<Nanos> for Time {
    type Output = Self;

    fn add(self, rhs: Nanos) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl Sub for Time {
    type Output = Nanos;

    fn sub(self, rhs: Self) -> Nanos {
        Nanos(self.0.saturating_sub(rhs.0))
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// A half-open range of time `[start, end)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeRange {
    /// The first moment inside.
    pub start: Time,
    /// The first moment outside.
    pub end: Time,
}

impl TimeRange {
    /// All of time.
    pub const ALL: Self = Self { start: Time(i64::MIN), end: Time(i64::MAX) };

    /// Whether `time` lies inside.
    pub fn contains(self, time: Time) -> bool {
        self.start <= time && time < self.end
    }

    /// How long `[start, start + duration)` overlaps this range.
    pub fn overlap(self, start: Time, duration: Nanos) -> Nanos {
        let end = (start + duration).min(self.end);
        Nanos((end - start.max(self.start)).0.max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_keep_every_nanosecond() {
        for nanos in [0, 1, -1, 999_999, 1_234_567_891, 8_000_000_000_000_001] {
            assert_eq!(Time::from_millis_f64(Time(nanos).as_millis_f64()), Some(Time(nanos)));
        }
    }

    #[test]
    fn halves_of_nanoseconds_go_to_the_even_one() {
        let halves: [f64; 9] = [0.0, 0.5, 1.5, 2.5, 4_503_599_627_370_495.5, 4_503_599_627_370_497.0, -0.5, -1.5, 1e18];
        for nanos in halves {
            let expected = nanos.round_ties_even() as i64;
            assert_eq!(whole(nanos), Some(expected), "{nanos}");
        }
    }

    #[test]
    fn odd_milliseconds_are_refused_not_invented() {
        assert_eq!(Time::from_millis_f64(f64::NAN), None);
        assert_eq!(Time::from_millis_f64(f64::INFINITY), None);
        assert_eq!(Time::from_millis_f64(1e300), None);
        assert_eq!(Time::from_millis_f64(0.000_000_5), Some(Time(0)), "half to even");
    }

    #[test]
    fn overlap_is_clipped_to_the_range() {
        let range = TimeRange { start: Time(10), end: Time(20) };
        assert_eq!(range.overlap(Time(5), Nanos(10)), Nanos(5));
        assert_eq!(range.overlap(Time(12), Nanos(3)), Nanos(3));
        assert_eq!(range.overlap(Time(19), Nanos(30)), Nanos(1));
        assert_eq!(range.overlap(Time(25), Nanos(3)), Nanos(0));
        assert_eq!(TimeRange::ALL.overlap(Time(-5), Nanos(10)), Nanos(10));
    }
}

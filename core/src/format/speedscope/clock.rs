//! A moment that lengths are added to one by one. Reader and writer share it, so that equal lengths give equal moments.

use crate::format::json_value::Number;
use crate::model::{Nanos, Time};

/// A moment with a fraction: sums of lengths that are not whole stay exact for longer than those of doubles do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Up to the fraction.
    pub now: Time,
    /// Less than 1.
    pub fraction: f64,
}

impl Clock {
    pub(super) const fn at(now: Time) -> Self {
        Self { now, fraction: 0.0 }
    }

    pub(super) fn pass(&mut self, length: Number) {
        match length {
            Number::Integer(length) => self.now = self.now + Nanos(length),
            Number::Float(length) => {
                let passed = self.fraction + length;
                self.fraction = passed - passed.floor();
                self.now = self.now + Nanos(whole(passed.floor()));
            }
        }
    }

    /// The nearest whole moment.
    pub(super) fn rounded(self) -> Time {
        if self.fraction >= 0.5 { self.ceiling() } else { self.now }
    }

    /// The first whole moment that is not before.
    pub(super) fn ceiling(self) -> Time {
        if self.fraction > 0.0 { self.now + Nanos(1) } else { self.now }
    }
}

/// `value` without its fraction, or the nearest that there is.
#[expect(clippy::cast_possible_truncation, reason = "casts saturate")]
pub(super) fn whole(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_add_up() {
        let mut clock = Clock::at(Time(1 << 60));
        for _ in 0..6 {
            clock.pass(Number::Float(0.25));
        }
        assert_eq!((clock.now, clock.rounded(), clock.fraction), (Time((1 << 60) + 1), Time((1 << 60) + 2), 0.5));
        clock.pass(Number::Integer(i64::MAX));
        assert_eq!(clock.ceiling(), Time(i64::MAX));
    }
}

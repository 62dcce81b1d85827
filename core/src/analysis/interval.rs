//! How sure a share is that was estimated from samples.

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// An interval is worth showing when it is wider than this, in points of percent.
const WIDTH_THAT_MATTERS: f64 = 0.5;

/// The 95 % interval of a share, as fractions of 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Wilson's interval of `share` (of 1), estimated from `samples` equal samples. Where their weights differ, give
    /// the effective number `(Σw)² / Σw²`. `None` without samples.
    pub fn of_share(share: f64, samples: f64) -> Option<Self> {
        if !(samples > 0.0 && share.is_finite()) {
            return None;
        }
        // Negative weights can push a share out of bounds.
        let share = share.clamp(0.0, 1.0);
        let z2_by_n = Z * Z / samples;
        let center = (share + z2_by_n / 2.0) / (1.0 + z2_by_n);
        let spread = (share * (1.0 - share) / samples + z2_by_n / (4.0 * samples)).sqrt();
        let half = Z * spread / (1.0 + z2_by_n);
        Some(Self { low: (center - half).max(0.0), high: (center + half).min(1.0) })
    }

    /// Half its width, in points of percent: the `±` of a table.
    pub fn half_width_points(self) -> f64 {
        (self.high - self.low) * 50.0
    }

    /// Whether it is wide enough to be shown.
    pub fn matters(self) -> bool {
        self.half_width_points() * 2.0 > WIDTH_THAT_MATTERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(share: f64, samples: f64) -> (f64, f64) {
        let interval = Interval::of_share(share, samples).expect("there are samples");
        ((interval.low * 1e4).round() / 1e2, (interval.high * 1e4).round() / 1e2)
    }

    #[test]
    fn intervals_are_those_of_the_textbook() {
        // Wilson 1927 by hand for p = 0.5, n = 100: 0.5 ± 1.96 · √(0.0025 + 0.0000960) / 1.0384.
        assert_eq!(points(0.5, 100.0), (40.38, 59.62));
        assert_eq!(points(0.0, 10.0), (0.0, 27.75));
        assert_eq!(points(1.0, 10.0), (72.25, 100.0));
        assert_eq!(points(0.312, 14_902.0), (30.46, 31.95));
    }

    #[test]
    fn it_matters_while_samples_are_few() {
        assert!(Interval::of_share(0.3, 10_000.0).is_some_and(Interval::matters));
        assert!(!Interval::of_share(0.3, 1_000_000.0).is_some_and(Interval::matters));
    }

    #[test]
    fn nothing_gives_no_interval() {
        assert_eq!(Interval::of_share(0.5, 0.0), None);
        assert_eq!(Interval::of_share(f64::NAN, 5.0), None);
    }
}

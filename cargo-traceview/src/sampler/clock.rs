//! When to look: absolute deadlines, at random distances.

/// Gives the moments at which the sampler looks at the program.
///
/// Each deadline is set from the one before, so that work done late does not slow the rate. Their distances are between half
/// of the period and one and a half, with the period as their mean, and say nothing of where in a period they end: a sample is
/// charged with the time since the last one, so if those that come late in each millisecond were charged with more (as when
/// the moments of a fixed grid are shifted), a program in step with the clock would seem to be in some places too often.
#[derive(Debug)]
pub(crate) struct Ticker {
    period_ns: i64,
    next_slot: i64,
    deadline: i64,
    last_deadline: i64,
    random: u64,
    missed: u64,
}

impl Ticker {
    /// A ticker with `rate` ticks a second, the first one period after `now_ns`.
    pub(crate) fn new(rate: u32, now_ns: i64) -> Self {
        let period_ns = 1_000_000_000 / i64::from(rate.max(1));
        // Any odd seed will do; the time makes runs differ.
        let random = now_ns.cast_unsigned() | 1;
        let mut ticker =
            Self { period_ns, next_slot: now_ns + period_ns, deadline: 0, last_deadline: now_ns, random, missed: 0 };
        ticker.deadline = ticker.jittered();
        ticker
    }

    /// Whether it is time to look. If so, the next deadline is set; slots that passed altogether are counted as missed.
    pub(crate) fn is_due(&mut self, now_ns: i64) -> bool {
        if now_ns < self.deadline {
            return false;
        }
        self.last_deadline = self.deadline;
        self.next_slot = self.deadline + self.period_ns;
        let behind = (now_ns - self.next_slot).div_euclid(self.period_ns);
        if behind > 0 {
            self.missed += behind.cast_unsigned();
            self.next_slot += behind * self.period_ns;
        }
        self.deadline = self.jittered();
        true
    }

    /// There was nobody to look at until `now_ns`: the slots until then are not missed. How many they are.
    pub(crate) fn pass(&mut self, now_ns: i64) -> u64 {
        if now_ns < self.next_slot {
            return 0;
        }
        // With the one that is to come next: the deadline in it could be over.
        let passed = (now_ns - self.next_slot) / self.period_ns + 2;
        self.next_slot += passed * self.period_ns;
        self.deadline = self.jittered();
        passed.cast_unsigned()
    }

    /// When to look next.
    pub(crate) const fn deadline(&self) -> i64 {
        self.deadline
    }

    /// Time between two slots.
    pub(crate) const fn period_ns(&self) -> i64 {
        self.period_ns
    }

    /// The deadline that was due last.
    pub(crate) const fn last_deadline(&self) -> i64 {
        self.last_deadline
    }

    /// Slots in which nobody looked.
    pub(crate) const fn missed(&self) -> u64 {
        self.missed
    }

    fn jittered(&mut self) -> i64 {
        // xorshift64: even enough for a period.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let shift = (self.random % self.period_ns.cast_unsigned()).cast_signed() - self.period_ns / 2;
        self.next_slot + shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_keep_the_rate_whatever_the_work_takes() {
        let mut ticker = Ticker::new(1000, 0);
        let mut now = 0;
        let mut ticks = 0;
        while now < 1_000_000_000 {
            now = now.max(ticker.deadline());
            assert!(ticker.is_due(now));
            assert!(!ticker.is_due(now), "one tick a deadline");
            // Work that takes most of a period does not slow it.
            now += 400_000;
            ticks += 1;
        }
        assert!((960..=1040).contains(&ticks), "{ticks}");
        assert_eq!(ticker.missed(), 0);
    }

    /// Of the time, no more is charged to one part of each millisecond than it lasts.
    #[test]
    fn the_time_between_deadlines_says_nothing_of_their_place_in_a_period() {
        const TICKS: i64 = 100_000;
        let mut ticker = Ticker::new(1000, 0);
        let (mut last, mut gaps, mut charged) = (0, Vec::new(), [0; 4]);
        for _ in 0..TICKS {
            let due = ticker.deadline();
            assert!(ticker.is_due(due));
            gaps.push(due - last);
            charged[usize::try_from(due % 1_000_000 / 250_000).unwrap()] += due - last;
            last = due;
        }
        let (low, high) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!((500_000..501_000).contains(low) && (1_499_000..=1_500_000).contains(high), "{low} to {high}");
        assert!((last / TICKS - 1_000_000).abs() < 5_000, "{last} ns");
        for part in charged {
            assert!((part * 400 / last - 100).abs() <= 3, "{charged:?}");
        }
    }

    #[test]
    fn slots_that_passed_are_counted() {
        let mut ticker = Ticker::new(1000, 0);
        assert!(ticker.is_due(10_300_000));
        assert!((7..=8).contains(&ticker.missed()), "{}", ticker.missed());
        assert!(ticker.deadline() - 10_300_000 < 2_000_000);
    }

    #[test]
    fn slots_without_anybody_to_look_at_are_not_missed() {
        let mut ticker = Ticker::new(1000, 0);
        assert_eq!(ticker.pass(400_000), 0, "the first slot is to come");
        assert_eq!(ticker.pass(10_300_000), 11);
        assert!((10_300_001..13_000_000).contains(&ticker.deadline()), "{}", ticker.deadline());
        let due = ticker.deadline();
        assert!(ticker.is_due(due));
        assert_eq!((ticker.missed(), ticker.last_deadline()), (0, due));
    }
}

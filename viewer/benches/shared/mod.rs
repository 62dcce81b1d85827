//! What the benches share: a clock that other programs don't disturb, and random numbers that are the same in every run.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that this thread has used so far.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |part: i64| part.unsigned_abs();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// The CPU time that `run` takes on this thread.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = cpu_time();
    let value = run();
    (cpu_time() - start, value)
}

/// A xorshift generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// From 0 to less than `limit`.
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.unsigned_abs()).cast_signed()
    }
}

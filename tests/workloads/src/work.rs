//! Work for the CPU, and how much of it fits in a time.

use std::hint::black_box;

use crate::clock::thread_cpu_ns;

/// Does `steps` steps of arithmetic that can't be shortened. Always inlined, so that the time belongs to the function
/// that calls it.
#[inline(always)]
#[must_use]
pub fn churn(seed: u64, steps: u64) -> u64 {
    let mut x = seed | 1;
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x = black_box(x);
    }
    x
}

/// Works until this thread has used `cpu_ns` more of CPU time. Always inlined, as [`churn`] is; the clock is asked about
/// every 100 µs, so nearly all of the time is spent in the caller's own code. Callers in one program need different
/// seeds, or the compiler makes one function of them, which then has one of their names.
#[inline(always)]
pub fn churn_for(seed: u64, cpu_ns: u64) {
    let end = thread_cpu_ns() + cpu_ns;
    let mut x = seed;
    while thread_cpu_ns() < end {
        x = churn(x, 50_000);
    }
    black_box(x);
}

/// Steps of [`churn`] that take a microsecond of CPU time here, as measured now.
#[must_use]
pub fn steps_per_us() -> u64 {
    let mut best = 1;
    for _ in 0..5 {
        let start = thread_cpu_ns();
        black_box(churn(start, 500_000));
        best = best.max(500_000_000 / (thread_cpu_ns() - start).max(1));
    }
    best
}

/// A small random number generator: the same numbers in every run.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, from `low` up to but not including `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (self.0 >> 33) % (high - low)
    }
}

/// Seconds as nanoseconds.
#[must_use]
pub fn seconds(seconds: f64) -> u64 {
    u64::try_from(std::time::Duration::from_secs_f64(seconds).as_nanos()).expect("workloads run for seconds")
}

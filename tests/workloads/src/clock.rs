//! Clocks as numbers of nanoseconds.
#![expect(unsafe_code, reason = "the clocks of threads and processes are only reachable through libc")]

use std::mem::MaybeUninit;
use std::time::Duration;

/// CPU time that the calling thread has used.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time that all threads of this process have used, the finished ones too.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Time that passes evenly.
#[must_use]
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// User and system CPU time of this process, or of its children that were waited for.
#[must_use]
pub fn usage_ns(children: bool) -> u64 {
    let who = if children { libc::RUSAGE_CHILDREN } else { libc::RUSAGE_SELF };
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the whole structure that the pointer is valid for; success is checked before it is read.
    let usage = unsafe {
        assert_eq!(libc::getrusage(who, usage.as_mut_ptr()), 0, "getrusage failed");
        usage.assume_init()
    };
    [usage.ru_utime, usage.ru_stime]
        .iter()
        .map(|time| time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000)
        .sum()
}

/// The time as the kernel takes it.
#[must_use]
pub fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(duration.as_secs()).expect("workloads don't wait for centuries"),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel fills the whole structure that the pointer is valid for; success is checked before it is read.
    let time = unsafe {
        assert_eq!(libc::clock_gettime(clock, time.as_mut_ptr()), 0, "clock {clock} can't be read");
        time.assume_init()
    };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

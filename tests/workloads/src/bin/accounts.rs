//! Known truth about where time goes, measured by the program itself, by mode:
//! - `accounts off_cpu ROUNDS`: waits in turn for a sleep (`sleep_ns`), a pipe (`pipe_ns`) and a lock (`lock_ns`), 10, 20 and
//!   10 ms long, and works 1 ms between rounds
//! - `accounts crowd THREADS MS`: so many threads, `tv-crowd-0` and so on, work for so many milliseconds of wall time; prints
//!   the CPU nanoseconds of each under its name
//! - `accounts locks ROUNDS`: waits of 50 µs; prints how often the kernel says that the thread gave up its CPU (`switches`)
//! - `accounts kernel MS`: works in `in_user` and in system calls of `in_kernel` by turns; prints `user_ns`, `system_ns`
//! - `accounts in_step MS`: of each millisecond of the clock the first 300 µs in `first_part`, the rest in `second_part`;
//!   prints the CPU time of each under its name
//! - `accounts bursts MS`: four threads sleep for 3 ms (`between_bursts`) and work for 150 µs (`burst`); prints the CPU time
//!   of all bursts as `burst`, and of all threads as `total`
#![expect(unsafe_code, reason = "getrusage has no safe wrapper")]

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use traceview_workloads::clock::{monotonic_ns, process_cpu_ns, thread_cpu_ns};
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn, churn_for};
use traceview_workloads::{arg_or, mode};

fn main() {
    let truth = match mode("off_cpu, crowd, locks, kernel, in_step, bursts").as_str() {
        "off_cpu" => off_cpu(arg_or(2, 50)),
        "crowd" => crowd(arg_or(2, 16), arg_or(3, 2_000)),
        "locks" => locks(arg_or(2, 10_000)),
        "kernel" => kernel(arg_or(2, 1_000)),
        "in_step" => in_step(arg_or(2, 2_000)),
        "bursts" => bursts(arg_or(2, 2_000)),
        other => panic!("unknown mode `{other}`"),
    };
    truth.number("total", process_cpu_ns()).print();
}

fn timed(total: &mut u64, wait: impl FnOnce()) {
    let start = monotonic_ns();
    wait();
    *total += monotonic_ns() - start;
}

fn off_cpu(rounds: u64) -> Truth {
    let (unit, twice) = (Duration::from_millis(10), Duration::from_millis(20));
    let (mut reader, mut writer) = io::pipe().expect("pipes can be made");
    let (wish, wishes) = channel::<()>();
    let feeder = thread::spawn(move || {
        for () in wishes {
            thread::sleep(twice);
            writer.write_all(b"x").expect("the reader is there");
        }
    });
    let (lock, never) = (Mutex::new(()), Condvar::new());
    let (mut sleep_ns, mut pipe_ns, mut lock_ns) = (0, 0, 0);
    for _ in 0..rounds {
        churn_for(1, 1_000_000);
        timed(&mut sleep_ns, || thread::sleep(unit));
        timed(&mut pipe_ns, || {
            wish.send(()).expect("the feeder is there");
            reader.read_exact(&mut [0]).expect("the writer is there");
        });
        timed(&mut lock_ns, || {
            drop(never.wait_timeout(lock.lock().expect("nobody panics"), unit).expect("nobody panics"));
        });
    }
    drop(wish);
    feeder.join().expect("it doesn't panic");
    Truth::new().number("sleep_ns", sleep_ns).number("pipe_ns", pipe_ns).number("lock_ns", lock_ns)
}

fn crowd(threads: u64, milliseconds: u64) -> Truth {
    let end = monotonic_ns() + milliseconds * 1_000_000;
    let name = |index: u64| format!("tv-crowd-{index}");
    let threads: Vec<_> = (0..threads)
        .map(|index| {
            let thread = thread::Builder::new().name(name(index)).spawn(move || {
                while monotonic_ns() < end {
                    black_box(churn(index, 50_000));
                }
                thread_cpu_ns()
            });
            thread.expect("threads can be started")
        })
        .collect();
    (0..).zip(threads).fold(Truth::new(), |truth, (index, thread)| {
        truth.number(&name(index), thread.join().expect("it doesn't panic"))
    })
}

fn usage(who: i32) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the whole structure that the pointer is valid for; success is checked before it is read.
    unsafe {
        assert_eq!(libc::getrusage(who, usage.as_mut_ptr()), 0, "getrusage failed");
        usage.assume_init()
    }
}

fn locks(rounds: u64) -> Truth {
    let (lock, never) = (Mutex::new(()), Condvar::new());
    let mut guard = lock.lock().expect("nobody panics");
    for _ in 0..rounds {
        guard = never.wait_timeout(guard, Duration::from_micros(50)).expect("nobody panics").0;
    }
    drop(guard);
    Truth::new().number("waits", rounds).number("switches", usage(libc::RUSAGE_THREAD).ru_nvcsw.unsigned_abs())
}

#[inline(never)]
fn in_user() {
    black_box(churn(2, 200_000));
}

#[inline(never)]
fn in_kernel(source: &mut impl Read, buffer: &mut [u8]) {
    for _ in 0..100 {
        source.read_exact(buffer).expect("/dev/zero has enough");
    }
}

fn kernel(milliseconds: u64) -> Truth {
    let mut zeros = std::fs::File::open("/dev/zero").expect("/dev is there");
    let mut buffer = vec![0; 16 << 10];
    let end = thread_cpu_ns() + milliseconds * 1_000_000;
    while thread_cpu_ns() < end {
        in_user();
        in_kernel(&mut zeros, &mut buffer);
    }
    let usage = usage(libc::RUSAGE_SELF);
    let ns = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000;
    Truth::new().number("user_ns", ns(usage.ru_utime)).number("system_ns", ns(usage.ru_stime))
}

#[inline(never)]
fn first_part(until: u64) {
    while monotonic_ns() < until {
        black_box(churn(3, 2_000));
    }
}

#[inline(never)]
fn second_part(until: u64) {
    while monotonic_ns() < until {
        black_box(churn(4, 2_000));
    }
}

fn in_step(milliseconds: u64) -> Truth {
    let (mut first, mut second) = (0, 0);
    let mut next = (monotonic_ns() / 1_000_000 + 1) * 1_000_000;
    second_part(next);
    let end = next + milliseconds * 1_000_000;
    while next < end {
        let start = thread_cpu_ns();
        first_part(next + 300_000);
        let middle = thread_cpu_ns();
        second_part(next + 1_000_000);
        first += middle - start;
        second += thread_cpu_ns() - middle;
        // Whatever was missed, in step again.
        next = monotonic_ns() / 1_000_000 * 1_000_000;
    }
    Truth::new().number("first_part", first).number("second_part", second)
}

#[inline(never)]
fn burst() {
    churn_for(5, 150_000);
}

#[inline(never)]
fn between_bursts() {
    thread::sleep(Duration::from_millis(3));
    black_box(());
}

fn bursts(milliseconds: u64) -> Truth {
    let end = monotonic_ns() + milliseconds * 1_000_000;
    let work = move || {
        let mut in_bursts = 0;
        while monotonic_ns() < end {
            between_bursts();
            let start = thread_cpu_ns();
            burst();
            in_bursts += thread_cpu_ns() - start;
        }
        in_bursts
    };
    let threads = [(); 4].map(|()| thread::spawn(work));
    let in_bursts: u64 = threads.into_iter().map(|thread| thread.join().expect("it doesn't panic")).sum();
    Truth::new().number("burst", in_bursts)
}

//! How long unwinding takes for each frame: of a stack of some functions with frames of several sizes, again and again,
//! and when each walk has to look up the rules of all of them first.
//!
//! `cargo bench -p traceview-tests --bench unwind [-- WALKS]`
#![expect(unsafe_code, reason = "the thread must sleep in a function that does not need a frame pointer: libc's own")]

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, thread};

use cargo_traceview::unwind::OwnStack;

const ROUNDS_OF_CALLS: u64 = 100;

macro_rules! chain {
    ($($name:ident $size:literal $next:ident,)*) => {
        $(#[inline(never)]
        fn $name(rounds: u64) -> u64 {
            let mut room = [rounds; $size];
            black_box(&mut room);
            $next(rounds) + room[0]
        })*
    };
}

chain! {
    first 1 second,
    second 2 third,
    third 5 fourth,
    fourth 12 fifth,
    fifth 3 sixth,
    sixth 30 seventh,
    seventh 7 eighth,
    eighth 100 next_round,
}

#[inline(never)]
fn next_round(rounds: u64) -> u64 {
    match rounds {
        0 => sleep(),
        _ => black_box(first(rounds - 1)) + 1,
    }
}

#[inline(never)]
fn sleep() -> u64 {
    // SAFETY: numbers only; it ends with the process.
    let result = unsafe { libc::pause() };
    u64::from(result == 0)
}

fn main() -> io::Result<()> {
    let walks: u32 = env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(20_000);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // SAFETY: it only returns a number.
        let _main_gone = sender.send(unsafe { libc::gettid() });
        black_box(first(ROUNDS_OF_CALLS));
    });
    let tid = receiver.recv().map_err(io::Error::other)?;
    let mut stack = loop {
        if let Some(stack) = OwnStack::of_sleeper(tid) {
            break stack;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let frames = stack.walk();
    let warm = per_frame(walks, || stack.walk());
    let cold = per_frame(walks / 100 + 1, || {
        stack.forget_rules();
        stack.walk()
    });
    let mut out = io::stdout().lock();
    writeln!(out, "{frames} frames, {walks} walks: {warm:.1} ns a frame")?;
    writeln!(out, "when each walk looks its rules up anew: {cold:.1} ns a frame")
}

/// Nanoseconds that a frame takes.
fn per_frame(walks: u32, mut walk: impl FnMut() -> usize) -> f64 {
    let start = Instant::now();
    let frames: usize = (0..walks).map(|_| black_box(walk())).sum();
    start.elapsed().as_secs_f64() * 1e9 / frames.max(1) as f64
}

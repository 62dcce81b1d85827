//! Known truth: three functions, `seventy`, `twenty` and `ten`, use about those percentages of the CPU time of one
//! thread. The nanoseconds of each are printed; `total` is all that the thread used.
//!
//! They take turns in rounds whose lengths vary by a factor of four, so that no sampling interval can run in step. Short
//! rounds make each sample independent of the one before (the error is that of a fair draw); in rounds of several
//! milliseconds most samples follow another one in the same function, and the error is a third of that.
//!
//! The thread's clock is read before and after, not between the turns: reading it is a system call in which the
//! scheduler likes to switch threads on a busy machine, so a sampler would rightly find the thread there. Instead, the
//! time of all rounds is shared out by the steps that each function did and what a step of it costs, which is measured
//! beforehand.
//!
//! Usage: `shares [SECONDS OF CPU TIME, default 3] [MICROSECONDS OF A ROUND ON AVERAGE, default 400]`

use std::hint::black_box;

use traceview_workloads::arg_or;
use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{Random, churn, seconds, steps_per_us};

/// A name, its tenths of each round, and the function.
type Function = (&'static str, u64, fn(u64) -> u64);

const FUNCTIONS: [Function; 3] = [("seventy", 7, seventy), ("twenty", 2, twenty), ("ten", 1, ten)];
/// How often the clock is read to see whether it is time to end.
const CHECK_US: u64 = 100_000;

#[inline(never)]
fn seventy(steps: u64) -> u64 {
    black_box(churn(7, steps))
}

#[inline(never)]
fn twenty(steps: u64) -> u64 {
    black_box(churn(2, steps))
}

#[inline(never)]
fn ten(steps: u64) -> u64 {
    black_box(churn(1, steps))
}

fn main() {
    let end = seconds(arg_or(1, 3.0));
    let round_us: u64 = arg_or(2, 400);
    let steps_per_us = steps_per_us();
    let costs = FUNCTIONS.map(|(_, _, function)| cost_of_step(function, 2_000 * steps_per_us));
    let mut random = Random::new(1);
    let mut steps = [0; 3];
    let start = thread_cpu_ns();
    while thread_cpu_ns() < end {
        for _ in 0..(CHECK_US / round_us).max(1) {
            let tenth = steps_per_us * round_us * random.between(40, 160) / 1000;
            for ((_, tenths, function), steps) in FUNCTIONS.iter().zip(&mut steps) {
                black_box(function(tenths * tenth));
                *steps += tenths * tenth;
            }
        }
    }
    let rounds_ns = (thread_cpu_ns() - start) as f64;
    let weights: Vec<f64> = costs.iter().zip(steps).map(|(cost, steps)| cost * steps as f64).collect();
    let all: f64 = weights.iter().sum();
    let truth = FUNCTIONS
        .iter()
        .zip(weights)
        .fold(Truth::new(), |truth, ((name, _, _), weight)| truth.number(name, (rounds_ns * weight / all) as u64));
    truth.number("total", thread_cpu_ns()).print();
}

/// Nanoseconds that a step of the function costs: the least of some tries, the others having been disturbed.
fn cost_of_step(function: fn(u64) -> u64, steps: u64) -> f64 {
    let tries = (0..5).map(|_| {
        let start = thread_cpu_ns();
        black_box(function(steps));
        (thread_cpu_ns() - start) as f64 / steps as f64
    });
    tries.fold(f64::INFINITY, f64::min)
}
